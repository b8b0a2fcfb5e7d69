//! Releases side by side: while a deployment takes over step by step, or goes
//! back, items of one release are read by the other. `tests/releases` keeps the
//! items of each release as they were written; once a release is out, its file is
//! never changed.

use super::attribute::{Item, SCHEMA, SCHEMA_WRITTEN, bytes, flag, number, text};
use super::tests::{bare_event, event_key, full_action, full_event, full_resource};
use super::{action, attribute, event, payload, resource};
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_types::base64;
use sekali::key::EventHash;
use sekali::payload::Payload;
use sekali::time::ExpiresAt;
use serde_json::{Map, Value, json};

/// What each release wrote for the items of [`written`].
const RELEASES: &[(&str, &str)] = &[("0.1", include_str!("../../../../../tests/releases/0.1/items.json"))];

fn body() -> Payload {
    Payload::new(b"{\"id\":\"evt_1\"}".to_vec(), [])
}

/// One item of each kind, as this release writes it.
fn written() -> Vec<(&'static str, Item)> {
    let (act, res) = (full_action(), full_resource());
    let laid = payload::lay_out(&event_key(), &EventHash::from_stored("hash"), &body(), ExpiresAt(12));
    vec![
        ("event", event::encode(&full_event())),
        ("event_bare", event::encode(&bare_event())),
        ("action", attribute::whole(act.key.as_str(), action::attributes(&act).unwrap())),
        ("resource", attribute::whole(res.key.as_str(), resource::attributes(&res))),
        ("payload", laid.head),
    ]
}

/// DynamoDB's own JSON.
fn shown(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(number) => json!({ "N": number }),
        AttributeValue::Bool(flag) => json!({ "BOOL": flag }),
        AttributeValue::B(bytes) => json!({ "B": base64::encode(bytes.as_ref()) }),
        AttributeValue::L(all) => json!({ "L": all.iter().map(shown).collect::<Vec<_>>() }),
        AttributeValue::M(members) => {
            json!({ "M": members.iter().map(|(name, value)| (name.clone(), shown(value))).collect::<Map<_, _>>() })
        }
        other => panic!("no item has a {other:?}"),
    }
}

fn read(value: &Value) -> AttributeValue {
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "S" => text(value.as_str().unwrap()),
        "N" => number(value.as_str().unwrap()),
        "BOOL" => flag(value.as_bool().unwrap()),
        "B" => bytes(&base64::decode(value.as_str().unwrap()).unwrap()),
        "L" => AttributeValue::L(value.as_array().unwrap().iter().map(read).collect()),
        "M" => {
            let members = value.as_object().unwrap().iter();
            AttributeValue::M(members.map(|(name, value)| (name.clone(), read(value))).collect())
        }
        other => panic!("no item has a {other}"),
    }
}

fn as_json(item: &Item) -> Value {
    let members: std::collections::BTreeMap<_, _> =
        item.iter().map(|(name, value)| (name.clone(), shown(value))).collect();
    json!(members)
}

/// The items of a release, by kind.
fn released(file: &str) -> Vec<(String, Item)> {
    let all: Map<String, Value> = serde_json::from_str(file).unwrap();
    let item = |value: &Value| -> Item {
        value.as_object().unwrap().iter().map(|(name, value)| (name.clone(), read(value))).collect()
    };
    all.iter().map(|(kind, value)| (kind.clone(), item(value))).collect()
}

/// This release's reader.
fn assert_reads(kind: &str, item: &Item, of: &str) {
    match kind {
        "event" => assert_eq!(event::decode(item), Ok(full_event()), "{of}"),
        "event_bare" => assert_eq!(event::decode(item), Ok(bare_event()), "{of}"),
        "action" => assert_eq!(action::decode(item), Ok(full_action()), "{of}"),
        "resource" => assert_eq!(resource::decode(item), Ok(full_resource()), "{of}"),
        "payload" => assert_eq!(payload::decode(item), Ok(body()), "{of}"),
        other => panic!("{of} has an unknown kind of item: {other}"),
    }
}

#[test]
fn what_every_release_wrote_is_read_as_it_was_meant() {
    for (release, file) in RELEASES {
        let items = released(file);
        assert_eq!(items.len(), written().len(), "{release}");
        for (kind, item) in items {
            assert_reads(&kind, &item, release);
        }
    }
}

/// An earlier reader asks for the attributes that it wrote itself and passes
/// over others. So it reads an item of ours where each of them is there, in the
/// same form and with the same meaning.
#[test]
fn what_every_release_reads_is_still_written_and_in_the_form_that_it_knows() {
    for (release, file) in RELEASES {
        let old = released(file);
        for (kind, item) in written() {
            let (_, known) = old.iter().find(|(known, _)| known == kind).unwrap();
            for (name, value) in known.iter().filter(|(name, _)| *name != SCHEMA) {
                let now = item.get(name).map(shown);
                assert_eq!(now.as_ref(), Some(&shown(value)), "{release} needs {name} of {kind}");
            }
        }
    }
}

/// The last file is this form: whoever changes what is written raises the
/// number and adds a file, and the two tests above say whether a rollback holds.
#[test]
fn a_form_that_no_release_has_written_has_a_number_and_a_file_of_its_own() {
    let (release, file) = RELEASES.last().unwrap();
    let kept: Value = serde_json::from_str(file).unwrap();
    let items: Map<String, Value> =
        written().iter().map(|(kind, item)| ((*kind).to_owned(), as_json(item))).collect();
    let now = Value::Object(items);
    assert_eq!(kept, now, "not what {release} wrote; raise SCHEMA_WRITTEN and keep this:\n{now}");
    for kind in ["event", "event_bare", "action", "resource", "payload"] {
        assert_eq!(kept[kind][SCHEMA]["N"], SCHEMA_WRITTEN.to_string(), "{kind}");
    }
}

/// After a rollback: a number that is higher and attributes that nobody here
/// knows change nothing of what is read. That they stay where they are when the
/// item is written, `expression` has its own tests for.
#[test]
fn a_newer_item_is_read_as_far_as_it_is_known_whatever_its_kind() {
    for (kind, mut item) in written() {
        item.insert(SCHEMA.to_owned(), number(SCHEMA_WRITTEN + 1));
        item.insert("added_later".to_owned(), text("x"));
        assert_reads(kind, &item, "a newer release");
    }
}
