//! What a sender's bytes make us do grows like the bytes do (INV-8): twice as
//! many cost about twice the steps, whatever they say.

use super::*;
use crate::steps::taken_by;

/// Asserts that the steps for `many` pieces are about half of those for twice
/// as many. `piece` counts, so that no loop ends before it began.
fn grows_with_its_size(what: &str, many: usize, mut work: impl FnMut(usize)) {
    let mut steps = |many| taken_by(|| work(many));
    let (once, twice) = (steps(many), steps(2 * many));
    assert!(once >= 8, "{what}: only {once} steps, nothing was measured");
    assert!(twice <= 2 * once + once / 8 + 64, "{what}: {once} steps, then {twice} for twice as much");
}

/// The same for work that the size of what is sent must not touch.
fn is_bounded(what: &str, many: usize, mut work: impl FnMut(usize)) {
    let mut steps = |many| taken_by(|| work(many));
    let (once, twice) = (steps(many), steps(2 * many));
    assert_eq!(once, twice, "{what}");
}

/// Repeats `piece` with its number up to about so many bytes.
fn pieces(many: usize, piece: impl Fn(usize) -> String) -> String {
    (0..many).map(piece).collect()
}

fn keys_of(vendor: &Vendor) -> Keys {
    let forms = ["invented-secret-of-32-characters", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
    let usable = forms.into_iter().find_map(|text| vendor.keys(&[secret(text)]).ok());
    usable.unwrap_or_else(|| vendor.keys(&[]).unwrap())
}

fn refused(vendor: &Vendor, request: &Request) {
    assert!(vendor.verify(request, &keys_of(vendor), &params(), NOW).is_err());
}

/// Twice as many of the smallest elements are a megabyte.
const MANY: usize = 1 << 17;

#[test]
fn a_signature_header_of_a_megabyte_is_read_once() {
    for (vendor, header, piece) in [
        ("stripe", "Stripe-Signature", "a=b,"),
        ("stripe", "Stripe-Signature", "v1=,"),
        ("stripe", "Stripe-Signature", "t=1,"),
        ("standard-webhooks", "webhook-signature", "v1,A "),
        ("standard-webhooks", "webhook-signature", ",    "),
        ("twilio", "X-Twilio-Webhooks-Signature-Settings", "a=b,"),
    ] {
        let vendor = builtin_vendor(vendor);
        grows_with_its_size(piece, MANY, |many| {
            let value = piece.repeat(many);
            let headers =
                [(header, value.as_str()), ("webhook-id", "m"), ("webhook-timestamp", "1772000000")];
            refused(&vendor, &request(&headers, b"{}"));
        });
    }
}

#[test]
fn any_number_of_headers_is_looked_through_once_for_each_place() {
    for vendor in ["stripe", "github", "docusign", "contentful", "twilio"] {
        let vendor = builtin_vendor(vendor);
        grows_with_its_size("headers", 1 << 13, |many| {
            let named: Vec<String> =
                (0..many).map(|number| format!("X-DocuSign-Signature-{number}")).collect();
            let headers: Vec<(&str, &str)> = named.iter().map(|name| (name.as_str(), "AAAA")).collect();
            refused(&vendor, &request(&headers, b"{}"));
        });
    }
}

#[test]
fn a_list_of_signed_headers_that_is_too_long_is_not_followed() {
    let vendor = builtin_vendor("contentful");
    is_bounded("listed headers", 1 << 12, |many| {
        let listed = "a,".repeat(many) + "x-contentful-signed-headers,x-contentful-timestamp";
        let headers = [
            ("a", "1"),
            ("x-contentful-signed-headers", listed.as_str()),
            ("x-contentful-timestamp", "1772000000000"),
            ("x-contentful-signature", "00"),
        ];
        refused(&vendor, &request(&headers, b"{}"));
    });
}

#[test]
fn signatures_that_cost_much_are_tried_a_few_times_only() {
    let vendor = builtin_vendor("svix-v1a");
    let key = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
    let keys = vendor.keys(&[secret(key)]).unwrap();
    let tried = |many: usize| {
        let signature = format!("v1a,{}== ", "A".repeat(86)).repeat(many);
        let headers = [
            ("webhook-id", "m"),
            ("webhook-timestamp", "1772000000"),
            ("webhook-signature", signature.as_str()),
        ];
        let delivery = request(&headers, b"{}");
        let steps = taken_by(|| {
            assert_eq!(vendor.verify(&delivery, &keys, &params(), NOW), Err(Refusal::Mismatch));
        });
        // One for each element of the list, which has to be read.
        steps - u64::try_from(many).unwrap()
    };
    assert!(tried(2) < tried(20));
    assert_eq!(tried(20), tried(2_000));
}

const FORMS: &str = r#"confirmed = false
[[scheme]]
kind = "none"
[body]
content_types = "*"
form = ["payload", "*"]
[[event]]
id = "/id"
type = "query:type?"
"#;

#[test]
fn a_form_and_a_query_are_read_once_whatever_their_fields_are_called() {
    let vendor = described(FORMS);
    for field in [|number: usize| format!("f{number}=1&"), |_| "id=1&".to_owned(), |_| "&%3D=&".to_owned()] {
        grows_with_its_size("form", 1 << 15, |many| {
            let body = pieces(many, field) + "id=e";
            let form = request(&[("Content-Type", "application/x-www-form-urlencoded")], body.as_bytes());
            let _ = vendor.events(&form, &[]);
        });
        grows_with_its_size("query", 1 << 15, |many| {
            let delivery = Request { query: pieces(many, field), ..request(&[], br#"{"id":"e"}"#) };
            assert!(vendor.events(&delivery, &[]).is_ok());
        });
    }
}

const BATCHES: &str = r#"confirmed = false
[[scheme]]
kind = "none"
[[event]]
each = "/entry/*/changes/*"
id = ["shared:/entry/*/id", "/id"]
scope = "shared:/account?"
volatile = "/sent"
[[event]]
each = "/*_events/*"
id = "/id"
"#;

#[test]
fn a_body_is_read_a_few_times_whatever_it_nests_or_repeats() {
    let vendor = described(BATCHES);
    let item = |number: usize| format!(r#"{{"id":{number},"sent":{number},"sent":0}},"#);
    let shapes: [(&str, &dyn Fn(usize) -> String); 9] = [
        ("items", &|many| {
            format!(r#"{{"entry":[{{"id":1,"changes":[{}{{"id":0}}]}}]}}"#, pieces(many, item))
        }),
        ("entries", &|many| {
            let entry = |number: usize| format!(r#"{{"id":{number},"changes":[{{"id":{number}}}]}},"#);
            format!(r#"{{"entry":[{}{{"id":1,"changes":[]}}]}}"#, pieces(many, entry))
        }),
        ("entries and a member that is there again and again", &|many| {
            let entry = |number: usize| format!(r#"{{"id":{number},"changes":[{{"id":{number}}}]}},"#);
            let again = r#""entry":0,"#.repeat(many);
            format!(r#"{{{again}"entry":[{}{{"id":1,"changes":[]}}]}}"#, pieces(many, entry))
        }),
        ("members that fit a pattern", &|many| {
            let members = pieces(many, |number| format!(r#""m{number}_events":[{{"id":{number}}}],"#));
            format!(r#"{{{members}"n":0}}"#)
        }),
        ("members that fit a pattern, in turn again and again", &|many| {
            let members = pieces(many, |number| format!(r#""m{}_events":[{{"id":{number}}}],"#, number % 64));
            format!(r#"{{{members}"n":0}}"#)
        }),
        ("other members", &|many| {
            let members = pieces(many, |number| format!(r#""m{number}":[],"#));
            format!(r#"{{{members}"a_events":[{{"id":1}}]}}"#)
        }),
        ("one member again and again", &|many| {
            format!(r#"{{{}"a_events":[{{"id":1}}]}}"#, r#""a_events":[{"id":1}],"#.repeat(many))
        }),
        ("deep lists", &|many| {
            format!(r#"{{"x":{}{},"a_events":{}}}"#, "[".repeat(many), "]".repeat(many), list(many))
        }),
        ("deep objects", &|many| {
            let deep = r#"{"entry":"#.repeat(many) + "0" + &"}".repeat(many);
            format!(r#"{{"x":{deep},"a_events":{}}}"#, list(many))
        }),
    ];
    for (what, shape) in shapes {
        grows_with_its_size(what, 1 << 10, |many| {
            let delivery = request(&[], shape(many).as_bytes());
            assert!(vendor.events(&delivery, &[]).is_ok(), "{what}");
        });
    }
}

/// So many small events.
fn list(many: usize) -> String {
    format!("[{}{{\"id\":0}}]", r#"{"id":1},"#.repeat(many))
}

// What nests deeper than anybody looks is not climbed into.
#[test]
fn a_path_into_a_deep_body_ends_where_the_description_does() {
    let vendor = described(BATCHES);
    for opening in ["[", r#"{"entry":"#, r#"{"entry":[{"changes":["#] {
        let body = opening.repeat(100_000);
        let delivery = request(&[], body.as_bytes());
        assert!(matches!(vendor.events(&delivery, &[]), Err(Unreadable::Content { .. })), "{opening}");
    }
}
