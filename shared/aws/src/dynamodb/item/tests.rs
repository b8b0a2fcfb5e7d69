//! What is written is what is read, and what a newer version wrote stays.

use super::attribute::{self, Item, number, text};
use super::{action, event, payload, resource};
use aws_sdk_dynamodb::types::AttributeValue;
use sekali::ids::{ActionName, EndpointName, Generation, Token, Version};
use sekali::key::{ActionKey, DedupScope, EventHash, EventKey, ResourceKey};
use sekali::payload::Payload;
use sekali::ports::{StoreError, index_shard};
use sekali::protocol::action::{Action, ActionStatus, EffectResult, FrozenRequest};
use sekali::protocol::event::{Event, EventStatus, Progress, Seen, SignatureFacts};
use sekali::protocol::reason::{Reason, Slug};
use sekali::protocol::resource::Resource;
use sekali::rule::{InputDigest, OrderValue};
use sekali::secret::{SecretPlace, Stage};
use sekali::time::{ExpiresAt, UnixMillis};

pub(crate) fn event_key() -> EventKey {
    EventKey::new(&DedupScope("stripe".into()), None, &[Some("evt_1")])
}

/// An event of which every field says something.
pub(crate) fn full_event() -> Event {
    Event {
        key: event_key(),
        endpoint: EndpointName::from("stripe"),
        vendor: "stripe".into(),
        tenant: Some("acct_1".into()),
        id: "evt_1".into(),
        event_type: Some("checkout.session.completed".into()),
        version: Some("2024-06-20".into()),
        occurred_at: Some(UnixMillis(1_700_000_000_000)),
        sequence: Some("90071992547409931.50".into()),
        received_at: UnixMillis(1_700_000_000_500),
        put_nonce: "put".into(),
        correlation: "correlation".into(),
        signature: SignatureFacts {
            secret: Some(SecretPlace { position: 1, stage: Stage::Previous }),
            scheme: "v1".into(),
            signed_at: Some(UnixMillis(7)),
        },
        hash: EventHash::from_stored("hash"),
        seen: Seen {
            deliveries: 3,
            last_at: UnixMillis(9),
            conflicts: 2,
            conflict_hashes: vec![EventHash::from_stored("b"), EventHash::from_stored("a")],
            repeated_as: Some(EventHash::from_stored("c")),
        },
        progress: Progress {
            status: EventStatus::InDoubt,
            generation: Generation::FIRST.next(),
            opened_at: UnixMillis(10),
            attempts: 4,
            sweeps: 5,
            action: Some(ActionKey::from_stored("action|4:pack")),
            action_generation: Some(Generation::FIRST),
            let_go: vec![ActionKey::from_stored("action|4:sent")],
            reason: Some(Reason::with(Slug::NoAnswer, "no answer in time")),
            failed_at: Some(UnixMillis(11)),
            expires: Some(ExpiresAt(12)),
            due: Some(UnixMillis(13)),
            waits: true,
        },
    }
}

/// An event as a first delivery writes it, with nothing that is optional.
pub(crate) fn bare_event() -> Event {
    let full = full_event();
    Event {
        tenant: None,
        event_type: None,
        version: None,
        occurred_at: None,
        sequence: None,
        signature: SignatureFacts { secret: None, signed_at: None, ..full.signature },
        seen: Seen { conflict_hashes: Vec::new(), repeated_as: None, ..full.seen },
        progress: Progress {
            status: EventStatus::Received,
            action: None,
            action_generation: None,
            let_go: Vec::new(),
            reason: None,
            failed_at: None,
            expires: None,
            due: None,
            waits: false,
            ..full.progress
        },
        ..full
    }
}

pub(crate) fn full_action() -> Action {
    Action {
        key: ActionKey::from_fields(&ActionName::from("pack"), None, &["order_1"]),
        name: "pack".into(),
        status: ActionStatus::Done,
        generation: Generation::FIRST,
        token: Token::FIRST.next(),
        owner: "owner".into(),
        lease_until: UnixMillis(20),
        first_begun_at: UnixMillis(21),
        request: FrozenRequest {
            destination: "packing".into(),
            body: b"{\"order\":1.0}\xff".to_vec(),
            resource: Some(ResourceKey::from_stored("resource|7:payment|-|4:pi_1")),
        },
        begun_by: event_key(),
        input: InputDigest::from_stored("digest-1"),
        doubted: true,
        result: Some(EffectResult(String::new())),
        reason: Some(Reason::bare(Slug::Rejected)),
        settled_at: Some(UnixMillis(22)),
        last_done: Some(Generation::FIRST),
    }
}

pub(crate) fn full_resource() -> Resource {
    Resource {
        key: ResourceKey::new(&"payment".into(), None, "pi_1"),
        status: "paid".into(),
        order: OrderValue::Time(UnixMillis(30)),
        version: Version::FIRST.next(),
        moved_by: event_key(),
        moved_at: UnixMillis(31),
    }
}

fn action_item(action: &Action) -> Item {
    attribute::whole(action.key.as_str(), action::attributes(action).unwrap())
}

#[test]
fn an_event_comes_back_as_it_was_written() {
    for written in [full_event(), bare_event()] {
        assert_eq!(event::decode(&event::encode(&written)), Ok(written));
    }
}

#[test]
fn an_action_comes_back_as_it_was_written() {
    let bare = Action {
        result: None,
        reason: None,
        settled_at: None,
        last_done: None,
        doubted: false,
        ..full_action()
    };
    for written in [full_action(), bare] {
        assert_eq!(action::decode(&action_item(&written)), Ok(written));
    }
}

#[test]
fn a_resource_comes_back_as_it_was_written() {
    let item = attribute::whole(full_resource().key.as_str(), resource::attributes(&full_resource()));
    assert_eq!(resource::decode(&item), Ok(full_resource()));
}

#[test]
fn a_payload_comes_back_as_it_was_written() {
    let hash = EventHash::from_stored("hash");
    let written = Payload::new(vec![0, 0xff, b'\r', b'\n'], []);
    let laid = payload::lay_out(&event_key(), &hash, &written, ExpiresAt(1));
    assert_eq!((laid.parts.len(), payload::decode(&laid.head)), (0, Ok(written)));
}

// INV-7: a payload is never taken for an event, nor for another's payload.
#[test]
fn the_keys_of_payloads_keep_event_and_hash_apart() {
    let key =
        |event: &str, hash: &str| payload::key(&EventKey::from_stored(event), &EventHash::from_stored(hash));
    assert_ne!(key("a|b", "c"), key("a", "b|c"));
    assert!(!key("event|1:a", "c").starts_with("event"));
}

// INV-8: the index says where an event stands, and nothing else.
#[test]
fn an_event_stands_in_the_index_exactly_while_it_is_open_and_due() {
    let shard = index_shard(&event_key());
    for status in EventStatus::ALL {
        for due in [None, Some(UnixMillis(13))] {
            let mut written = full_event();
            written.progress.status = status;
            written.progress.due = due;
            let expected = match status {
                _ if due.is_none() => None,
                EventStatus::Received | EventStatus::Processing => Some(format!("open#{shard}")),
                EventStatus::InDoubt => Some(format!("in_doubt#{shard}")),
                EventStatus::Failed => Some(format!("failed#{shard}")),
                EventStatus::Held => Some(format!("held#{shard}")),
                EventStatus::Processed | EventStatus::Ignored => None,
            };
            let item = event::encode(&written);
            assert_eq!(item.get("open"), expected.map(text).as_ref(), "{status:?} {due:?}");
        }
    }
}

// INV-9: DynamoDB reads the TTL in seconds; leases are in milliseconds.
#[test]
fn the_ttl_is_a_number_of_seconds() {
    assert_eq!(event::encode(&full_event())["expires_at"], AttributeValue::N("12".into()));
    assert!(!event::encode(&bare_event()).contains_key("expires_at"));
}

#[test]
fn an_item_of_a_newer_version_is_read_as_far_as_it_is_known() {
    let mut item = event::encode(&full_event());
    item.insert("schema".into(), number(2));
    item.insert("something_new".into(), text("x"));
    assert_eq!(event::decode(&item), Ok(full_event()));
}

#[test]
fn a_word_or_number_that_is_not_known_makes_an_item_unreadable_and_names_it() {
    for (name, value) in [
        ("status", text("paused")),
        ("attempts", number(-1)),
        ("attempts", text("4")),
        ("conflict_hashes", AttributeValue::L(vec![number(1)])),
        ("hash", AttributeValue::Null(true)),
    ] {
        let mut item = event::encode(&full_event());
        item.insert(name.into(), value);
        let Err(StoreError::Unreadable(error)) = event::decode(&item) else { panic!("{name} was read") };
        assert!(error.contains(name) && error.contains(event_key().as_str()), "{error}");
    }
}

#[test]
fn a_missing_attribute_is_not_guessed() {
    let whole = event::encode(&bare_event());
    for name in whole.keys().filter(|name| *name != "schema") {
        let mut item = whole.clone();
        item.remove(name);
        assert!(event::decode(&item).is_err(), "{name}");
    }
}

// INV-2: whoever takes over sends the same bytes.
#[test]
fn a_large_request_lies_apart_under_its_digest_and_the_action_stays_small() {
    let mut large = full_action();
    large.request.body = vec![b'a'; action::LARGEST_INLINE_BODY + 1];
    let item: Item = attribute::whole(large.key.as_str(), action::attributes(&large).unwrap());
    assert!(!item.contains_key("body"));
    assert_eq!(action::names_apart(&item).unwrap(), action::apart(&large).as_deref());
    assert!(action::stands(&item, &large).unwrap());
    let mut other = large.clone();
    other.request.body.push(b'a');
    assert!(!action::stands(&item, &other).unwrap());
}

// INV-4: an effect that happened can always be recorded.
#[test]
fn a_request_that_would_leave_no_room_for_its_result_is_refused_before_it_is_begun() {
    let sized = |size: usize| {
        let mut action = full_action();
        action.request.body = vec![b'a'; size];
        action::attributes(&action).map(drop)
    };
    assert_eq!(sized(action::LARGEST_FROZEN_BODY), Ok(()));
    assert!(matches!(sized(action::LARGEST_FROZEN_BODY + 1), Err(StoreError::Invalid(_))));
}

// After a rollback what a newer version wrote is read, and still says so.
#[test]
fn a_reason_of_a_newer_version_is_shown_and_not_guessed() {
    let mut item = event::encode(&full_event());
    item.insert("reason".into(), text("boredom"));
    let read = |item: &Item| event::decode(item).unwrap().progress.reason.unwrap();
    assert_eq!(read(&item), Reason::with(Slug::NewerVersion, "boredom: no answer in time"));
    item.remove("cause");
    assert_eq!(read(&item), Reason::with(Slug::NewerVersion, "boredom"));
}
