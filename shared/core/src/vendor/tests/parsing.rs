//! Problems of descriptions: all at once, each with its place.

use super::*;
use proptest::prelude::*;

fn problems(text: &str) -> Vec<String> {
    match Vendor::parse("acme", "acme.toml", text) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    }
}

const GOOD: &str = r#"confirmed = true

[[scheme]]
kind = "hmac"
alg = "sha256"
signature = { from = "header:X-Sig", items = ",", pair = "=", pick = "v1" }
message = "{element:t}.{body}"
timestamp = { from = "element:t", unit = "s", past = "300s" }

[[event]]
id = "/id"
"#;

#[test]
fn every_problem_is_found_at_once_with_its_place_and_remedy() {
    let text = r#"confirmd = true
[body]
content_typs = "application/json"
[[scheme]]
kind = "hmca"
signature = { from = "X-Sig", encodng = "hex" }
mesage = "{bdy}"
[[event]]
id = "id"
time = { from = "/t", unit = "sec" }
[retry]
horizon = "3 days"
"#;
    let found = problems(text);
    for (place, part) in [
        ("1:1", "did you mean `confirmed`?"),
        ("3:1", "did you mean `content_types`?"),
        ("5:8", "did you mean \"hmac\"?"),
        ("6:22", "names no place"),
        ("6:31", "did you mean `encoding`?"),
        ("7:1", "did you mean `message`?"),
        ("9:6", "names no place"),
        ("10:30", "is no `unit`"),
        ("12:11", "span of time"),
    ] {
        let prefix = format!("acme.toml:{place}:");
        assert!(
            found.iter().any(|shown| shown.starts_with(&prefix) && shown.contains(part)),
            "{place}: {found:#?}"
        );
    }
    assert!(found.iter().any(|shown| shown.contains("`confirmed` is missing")), "{found:#?}");
}

#[test]
fn what_cannot_be_right_is_known_before_any_delivery_comes() {
    assert_eq!(problems(GOOD), Vec::<String>::new());
    let scheme = |scheme: &str| format!("confirmed = true\n[[scheme]]\n{scheme}\n[[event]]\nid = \"/id\"\n");
    for (text, part) in [
        // A time that nobody signed can be changed by anybody.
        (GOOD.replace("{element:t}.", ""), "not among what is signed"),
        (GOOD.replace(r#", items = ",", pair = "=", pick = "v1""#, ""), "needs a signature that is a list"),
        (GOOD.replace(r#", pick = "v1""#, ""), "`items`, `pair` and `pick`"),
        (GOOD.replace("id = \"/id\"", ""), "`id` is missing"),
        (GOOD.replace("id = \"/id\"", "id = \"/id\"\norder = \"time\""), "needs `time`"),
        (GOOD.replace("id = \"/id\"", "id = \"matched:1\""), "as many `*`"),
        (GOOD.replace("id = \"/id\"", "id = \"element:t\""), "not part of an event"),
        (GOOD.replace("id = \"/id\"", "each = \"/items\"\nid = \"/id\""), "names no place"),
        (GOOD.replace("{body}", "{body}{param:who}"), "not declared"),
        (GOOD.replace("{body}", "{body}{secret}"), "kind = \"hash\" only"),
        (
            scheme(
                "kind = \"hash\"\nalg = \"sha256\"\nsignature = { from = \"header:S\" }\nmessage = \"{body}\"",
            ),
            "proves nothing",
        ),
        (
            scheme("kind = \"hmac\"\nsignature = { from = \"header:S\" }\nmessage = \"{body}\""),
            "`alg` is missing",
        ),
        (scheme("kind = \"hmac\"\nalg = \"sha256\"\nmessage = \"{body}\""), "`signature.from` is missing"),
        (scheme("kind = \"token\"\nsignature = { from = \"header:S\" }\nmessage = \"{body}\""), "no meaning"),
        (scheme("kind = \"jwt\"\nalg = \"none\"\nsignature = { from = \"header:S\" }"), "no algorithm"),
        (
            scheme(
                "kind = \"rsa-pkcs1\"\nalg = \"sha256\"\nsignature = { from = \"header:S\" }\nmessage = \"{body}\"\nkey = { url_from = \"header:U\" }",
            ),
            "needs `key.hosts`",
        ),
        (GOOD.replace("kind = ", "name = \"sekali.list\"\nkind = "), "are our own"),
        ("confirmed = true\n[[event]]\nid = \"/id\"".to_owned(), "no `[[scheme]]`"),
        ("confirmed = true\n[[scheme]]\nkind = \"none\"".to_owned(), "no `[[event]]`"),
    ] {
        let found = problems(&text);
        assert!(found.iter().any(|shown| shown.contains(part)), "{part}: {found:#?}\n{text}");
    }
}

#[test]
fn a_description_can_lower_what_it_proves_and_not_raise_it() {
    let assurance = |text: &str| Vendor::parse("a", "a", text).unwrap().assurance();
    assert_eq!(assurance(GOOD), Assurance::High);
    assert_eq!(assurance(&GOOD.replace("kind = ", "assurance = \"low\"\nkind = ")), Assurance::Low);
    let token = "confirmed = true\n[[scheme]]\nkind = \"token\"\nassurance = \"high\"\nsignature = { from = \"header:S\" }\n[[event]]\nid = \"/id\"";
    assert_eq!(assurance(token), Assurance::Low);
}

proptest! {
    #[test]
    fn no_change_to_a_description_makes_the_parser_panic(
        at in 0_usize..GOOD.len(),
        length in 0_usize..20,
        put in "[a-z\\[\\]{}=\".:/ \n]{0,6}",
    ) {
        let end = (at + length).min(GOOD.len());
        if let (Some(before), Some(after)) = (GOOD.get(..at), GOOD.get(end..)) {
            let _ = problems(&format!("{before}{put}{after}"));
        }
    }

    #[test]
    fn no_delivery_makes_reading_or_verifying_panic(
        body in prop::collection::vec(any::<u8>(), 0..80),
        header in "[a-z0-9=,. v]{0,30}",
        query in "[a-z0-9=&%+]{0,20}",
        name in prop::sample::select(vec![
            "stripe", "github", "slack", "adyen", "aws-sns", "meta-whatsapp", "plaid", "mailgun", "cloudevents",
        ]),
    ) {
        let vendor = builtin_vendor(name);
        let names = ["stripe-signature", "x-hub-signature-256", "x-slack-signature", "plaid-verification", "webhook-id"];
        let headers: Vec<_> = names.iter().map(|name| (*name, header.as_str())).collect();
        let delivery = Request { query: query.clone(), ..request(&headers, &body) };
        let _ = vendor.events(&delivery, &[]);
        let _ = vendor.handshake(&delivery, None, &params(), None);
        if let Ok(keys) = vendor.keys(&[secret("00112233445566778899aabbccddeeff")]) {
            prop_assert!(vendor.verify(&delivery, &keys, &params(), NOW).is_err());
        }
    }
}
