//! How a payload lies in its table: in as few write units as it takes, and
//! read back whole or not at all.

use super::attribute::{Item, bytes, number, size_of, text, whole, write_units};
use super::payload::{Manifest, decode, key, lay_out};
use super::tests::event_key;
use sekali::json::JsonText;
use sekali::key::EventHash;
use sekali::payload::Payload;
use sekali::ports::StoreError;
use sekali::source::Source;
use sekali::time::ExpiresAt;

/// DynamoDB takes no larger item.
const LARGEST_ITEM: usize = 400 * 1024;

fn hash() -> EventHash {
    EventHash::of([b"content".as_slice()])
}

fn laid(payload: &Payload) -> (Vec<Item>, Item) {
    let laid = lay_out(&event_key(), &hash(), payload, ExpiresAt(1_930_000_000));
    (laid.parts, laid.head)
}

fn read(parts: &[Item], head: &Item) -> Result<Payload, StoreError> {
    match Manifest::of(head)? {
        None => decode(head),
        Some(manifest) => {
            let keys: Vec<_> = parts.iter().map(|part| part["pk"].as_s().unwrap().clone()).collect();
            assert_eq!(manifest.keys(), keys);
            manifest.join(parts)
        }
    }
}

fn around(body: Vec<u8>) -> Payload {
    let topic = Source::parse("header:X-Topic").unwrap();
    Payload::new(body, [(topic, JsonText::from_text("orders/paid"))])
}

/// Like a vendor's JSON: it shrinks.
fn json(size: usize) -> Payload {
    let line = br#"{"object":"line_item","description":"Invented parcel","amount_total":4900},"#;
    around(line.iter().copied().cycle().take(size).collect())
}

/// Like an archive: it does not.
fn noise(size: usize) -> Payload {
    let mut state = 88_172_645_463_325_252_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    };
    around((0..size).map(|_| draw()).collect())
}

#[test]
fn a_payload_of_any_size_comes_back_and_every_item_fits() {
    for size in [0, 1, 700, 1_000, 2_000, 100_000, 398_000, 399_000, 399_361, 401_000, 1_100_000, 4_600_000] {
        for payload in [json(size), noise(size)] {
            let (parts, head) = laid(&payload);
            assert_eq!(read(&parts, &head), Ok(payload), "{size}");
            let largest = parts.iter().chain([&head]).map(size_of).max().unwrap();
            assert!(largest < LARGEST_ITEM, "{size}: an item of {largest} bytes");
        }
    }
}

#[test]
fn what_costs_one_unit_lies_as_it_came_and_people_can_read_it() {
    let (parts, head) = laid(&json(700));
    assert_eq!((parts.len(), write_units(size_of(&head))), (0, 1));
    assert!(head.contains_key("body") && head.contains_key("context"));
}

#[test]
fn a_body_is_deflated_where_that_saves_a_unit_and_only_there() {
    let (_, head) = laid(&json(2_000));
    assert!(head.contains_key("deflated"));
    assert_eq!(write_units(size_of(&head)), 1);
    let (_, head) = laid(&noise(2_000));
    assert!(head.contains_key("body"));
}

#[test]
fn parts_lie_under_keys_of_their_own_and_all_carry_the_ttl() {
    let (parts, head) = laid(&noise(1_000_000));
    let expiry = |item: &Item| item["expires_at"].clone();
    assert_eq!(parts.len(), 3);
    assert!(parts.iter().all(|part| expiry(part) == expiry(&head)));
    // INV-7: the same bytes of another event are other parts.
    let other = sekali::key::EventKey::from_stored("event|1:b");
    let theirs = lay_out(&other, &hash(), &noise(1_000_000), ExpiresAt(1_930_000_000));
    assert!(theirs.parts.iter().all(|part| parts.iter().all(|ours| ours["pk"] != part["pk"])));
}

#[test]
fn deliveries_that_differ_in_a_volatile_field_never_mix_their_parts() {
    let (mut parts, head) = laid(&noise(1_000_000));
    let mut body = noise(1_000_000).body().to_vec();
    body[999_999] ^= 1;
    let (others, _) = laid(&around(body));
    assert_ne!(parts[2]["pk"], others[2]["pk"]);
    parts[2] = others[2].clone();
    let manifest = Manifest::of(&head).unwrap().unwrap();
    assert!(matches!(manifest.join(&parts), Err(StoreError::Unreadable(_))));
}

// An item as it was written before anything was deflated or divided.
#[test]
fn a_payload_that_an_older_version_wrote_is_read() {
    let attributes = vec![
        ("body", Some(bytes(&b"{}".repeat(150_000)))),
        ("context", Some(text("{}"))),
        ("expires_at", Some(number(1))),
    ];
    let item = whole(&key(&event_key(), &hash()), attributes);
    assert_eq!(read(&[], &item), Ok(Payload::new(b"{}".repeat(150_000), [])));
}

#[test]
fn what_is_not_as_it_says_is_unreadable_and_inflates_nothing() {
    let (_, whole) = laid(&json(20_000));
    for (name, value) in [
        ("deflated", bytes(b"nothing of the kind")),
        ("deflated", text("x")),
        ("size", number(19_000)),
        ("size", number(1_u64 << 40)),
        ("size", number(-1)),
    ] {
        let mut item = whole.clone();
        item.insert(name.to_owned(), value);
        assert!(matches!(decode(&item), Err(StoreError::Unreadable(_))), "{name}");
    }
    let (_, mut head) = laid(&noise(1_000_000));
    head.insert("form".to_owned(), text("folded"));
    assert!(matches!(Manifest::of(&head), Err(StoreError::Unreadable(_))));
}
