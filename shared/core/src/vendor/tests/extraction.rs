//! What a delivery says of its events, and what is stored of them.

use super::*;

fn only(vendor: &Vendor, request: &Request, wanted: &[Source]) -> Facts {
    let mut events = vendor.events(request, wanted).unwrap();
    assert_eq!(events.len(), 1);
    events.remove(0)
}

#[test]
fn a_field_that_the_vendor_changes_makes_no_conflict_and_any_other_does() {
    let vendor = builtin_vendor("stripe");
    let of = |body: &str| only(&vendor, &request(&[], body.as_bytes()), &[]).hash;
    let first = of(r#"{"id":"evt_1","type":"a","pending_webhooks":3}"#);
    assert_eq!(first, of(r#"{"id":"evt_1","type":"a","pending_webhooks":1}"#));
    assert_ne!(first, of(r#"{"id":"evt_1","type":"b","pending_webhooks":3}"#));
}

#[test]
fn an_unreadable_body_is_held_where_a_header_names_the_event() {
    let vendor = builtin_vendor("standard-webhooks");
    let body = b"{\"n\":\"\xff\"}";
    match vendor.events(&request(&[("webhook-id", "msg_1")], body), &[]) {
        Err(Unreadable::Content { outside: Some(facts) }) => {
            assert_eq!(facts.identity, Identity::Id(vec![Some("msg_1".into())]));
            assert_eq!(facts.payload.body(), body);
        }
        other => panic!("{other:?}"),
    }
    let stripe = builtin_vendor("stripe").events(&request(&[], body), &[]);
    assert_eq!(stripe, Err(Unreadable::Content { outside: None }));
}

#[test]
fn stored_is_the_own_part_and_what_the_rules_read_around_it() {
    let vendor = builtin_vendor("line");
    let body = br#"{"destination":"U1","other":9,"events":[{"webhookEventId":"e1","type":"a"},{"webhookEventId":"e2","type":"b"}]}"#;
    let wanted = ["/type", "shared:/destination", "header:X-Extra"].map(|text| Source::parse(text).unwrap());
    let events = vendor.events(&request(&[("X-Extra", "x"), ("X-Not", "n")], body), &wanted).unwrap();
    assert_eq!(events.len(), 2);
    let (stored, context) = events[1].payload.to_parts();
    assert_eq!(stored, br#"{"webhookEventId":"e2","type":"b"}"#);
    assert_eq!(context, r#"{"header:x-extra":"x","shared:/destination":"U1"}"#);
    let values = events[1].payload.read(&wanted).unwrap();
    let shown: Vec<_> = values.iter().flatten().map(JsonText::as_json).collect();
    assert_eq!(shown, ["\"b\"", "\"U1\"", "\"x\""]);
}

// INV-7: an absent part is not an empty one, and an empty one is absent.
#[test]
fn only_parts_that_may_be_absent_are() {
    let vendor = described(
        "confirmed = true\n[[scheme]]\nkind = \"none\"\n[[event]]\nid = [\"/a\", \"/b?\"]\nrequired = \"/r\"\n",
    );
    let events = |body: &str| vendor.events(&request(&[], body.as_bytes()), &[]);
    let facts = events(r#"{"a":"x","b":null,"r":0}"#).unwrap().remove(0);
    assert_eq!(facts.identity, Identity::Id(vec![Some("x".into()), None]));
    assert_eq!(events(r#"{"a":"","b":"y","r":0}"#), Err(Unreadable::NoEventId));
    assert_eq!(events(r#"{"a":{},"r":0}"#), Err(Unreadable::NoEventId));
    let required = Source::parse("/r").unwrap();
    assert_eq!(events(r#"{"a":"x","r":null}"#), Err(Unreadable::Missing(required)));
}

#[test]
fn an_item_of_no_known_shape_is_not_dropped() {
    let vendor = builtin_vendor("meta-whatsapp");
    let delivery = |changes: &str| {
        let body = format!(r#"{{"object":"w","entry":[{{"id":"1","changes":[{changes}]}}]}}"#);
        vendor.events(&request(&[], body.as_bytes()), &[]).map(|events| events.len())
    };
    let message = r#"{"field":"messages","value":{"messages":[{"id":"m1","type":"text"}]}}"#;
    assert_eq!(delivery(message), Ok(1));
    assert_eq!(delivery(&format!(r#"{message},{{"field":"account_update","value":{{}}}}"#)), Ok(2));
    let nothing = r#"{"field":"messages","value":{"messages":[]}}"#;
    assert_eq!(delivery(&format!("{message},{nothing}")), Err(Unreadable::NoEventId));
}

#[test]
fn without_an_id_the_digest_identifies_weakly_where_the_description_says_so() {
    let vendor = builtin_vendor("generic-hmac");
    let facts = only(&vendor, &request(&[], br#"{"type":"a"}"#), &[]);
    assert_eq!(facts.identity, Identity::Weak(vec![Some(facts.hash.as_str().to_owned())]));
    let facts = only(&vendor, &request(&[("X-Event-Id", "e1")], b"{}"), &[]);
    assert_eq!(facts.identity, Identity::Id(vec![Some("e1".into())]));
}

#[test]
fn a_media_type_that_the_vendor_never_sends_is_refused() {
    let vendor = builtin_vendor("stripe");
    let typed = |media: &str| vendor.takes(&request(&[("Content-Type", media)], b"{}"));
    assert!(typed("application/json; charset=utf-8") && typed("Application/JSON"));
    assert!(!typed("text/html") && !typed("application/jsonx"));
    assert!(vendor.takes(&request(&[], b"{}")));
}

#[test]
fn a_form_is_read_as_fields_or_as_the_json_within() {
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("X-GitHub-Delivery", "d1")];
    let github = only(&builtin_vendor("github"), &request(&form, b"payload=%7B%22a%22%3A1%7D"), &[]);
    assert_eq!(github.payload.body(), br#"{"a":1}"#);
    let mollie = only(&builtin_vendor("mollie-classic"), &request(&form[..1], b"id=tr_1"), &[]);
    assert_eq!((mollie.identity, mollie.resource.as_deref()), (Identity::None, Some("tr_1")));
}
