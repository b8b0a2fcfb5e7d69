//! Creating and reading events.

use super::read_event;
use super::sample::{NOW, Sample, WINDOW, content};
use anyhow::bail;
use futures_util::future::join_all;
use sekali::ids::{CorrelationId, Generation, PutNonce, Tenant};
use sekali::key::{DedupScope, EventKey};
use sekali::ports::{Create, Store, StoreError};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::{Reason, Slug};
use sekali::time::{ExpiresAt, UnixMillis};
use std::collections::BTreeSet;
use std::time::Duration;

async fn comes_back(store: &impl Store, event: &Event) -> anyhow::Result<()> {
    assert_eq!(store.create_event(event).await?, Create::Created);
    assert_eq!(read_event(store, &event.key).await?, *event);
    Ok(())
}

/// Nothing that an event can say is lost in the store.
pub async fn an_event_comes_back_with_every_field<S: Store>(store: &S) -> anyhow::Result<()> {
    comes_back(store, &Sample::new().full_event("evt_1")).await
}

/// What is absent stays absent, and never becomes an empty text or a zero.
pub async fn an_event_comes_back_without_what_the_vendor_does_not_say<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    event.progress.expires = None;
    event.progress.due = None;
    comes_back(store, &event).await
}

/// An absent item is no error.
pub async fn what_was_never_written_is_absent<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let key = sample.event_key("evt_none");
    assert_eq!(store.event(&key).await?, None);
    assert_eq!(store.payload(&key, &content("first")).await?, None);
    assert_eq!(store.action(&sample.action_key("order_none")).await?, None);
    assert_eq!(store.resource(&sample.resource_key("pay_none")).await?, None);
    Ok(())
}

/// INV-1: the put alone decides; a loser learns what is stored, counters and all.
pub async fn the_first_create_wins_and_the_others_see_what_it_wrote<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let first = Sample::new().full_event("evt_1");
    store.create_event(&first).await?;
    let second = Event { put_nonce: PutNonce::from("put-2"), hash: content("other"), ..first.clone() };
    assert_eq!(store.create_event(&second).await?, Create::Exists(Box::new(first.clone())));
    assert_eq!(read_event(store, &first.key).await?, first);
    Ok(())
}

/// INV-1: concurrent first deliveries, each with a nonce of its own.
pub async fn of_fifty_first_deliveries_at_once_one_creates_the_event<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let sample = Sample::new();
    let deliveries: Vec<Event> = (0..50)
        .map(|number| Event { put_nonce: PutNonce::new(format!("put-{number}")), ..sample.event("evt_1") })
        .collect();
    let ends = join_all(deliveries.iter().map(|event| store.create_event(event))).await;
    let mut winners = Vec::new();
    let mut seen = BTreeSet::new();
    for (event, end) in deliveries.iter().zip(ends) {
        match end? {
            Create::Created => winners.push(event.put_nonce.clone()),
            Create::Exists(stored) => {
                seen.insert(stored.put_nonce.clone());
            }
        }
    }
    let [winner] = &winners[..] else { bail!("{} deliveries created the event", winners.len()) };
    assert_eq!(seen, BTreeSet::from([winner.clone()]));
    assert_eq!(read_event(store, &sample.event_key("evt_1")).await?.put_nonce, *winner);
    Ok(())
}

/// A put whose answer was lost and that is sent again is told apart from
/// another's by its nonce.
pub async fn a_retried_create_finds_its_own_nonce<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let Create::Exists(stored) = store.create_event(&event).await? else { bail!("created twice") };
    assert_eq!(*stored, event);
    Ok(())
}

/// INV-9: the window is a minimum. One outcome, always: while an expired item
/// is there it is a duplicate.
pub async fn an_event_past_its_ttl_is_a_duplicate_for_as_long_as_it_is_there<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    event.progress.expires = Some(ExpiresAt(1_700_000_000));
    store.create_event(&event).await?;
    assert_eq!(store.create_event(&event).await?, Create::Exists(Box::new(event.clone())));
    assert_eq!(
        store.count_duplicate(&event.key, None, NOW).await?.map(|event| event.seen.deliveries),
        Some(2)
    );
    Ok(())
}

/// Empty, long, in any script and with any character that text can have.
pub async fn texts_of_every_kind_come_back_as_they_were<S: Store>(store: &S) -> anyhow::Result<()> {
    let long = "0123456789abcdef".repeat(1024);
    let texts = [
        "",
        " ",
        "null",
        "\u{0}\t\r\n\u{7f}",
        "\u{e9} e\u{301} \u{202e}\u{fffd}",
        "\u{1f4e6}\u{10ffff}",
        "\"\\`'${:#}",
        &long,
    ];
    let sample = Sample::new();
    for (number, text) in texts.into_iter().enumerate() {
        let mut event = sample.full_event(&format!("evt_{number}"));
        event.id = text.to_owned();
        event.tenant = Some(Tenant::new(text));
        event.event_type = Some(text.into());
        event.version = Some(text.to_owned());
        event.sequence = Some(text.to_owned());
        event.correlation = CorrelationId::new(text);
        event.put_nonce = PutNonce::new(text);
        event.signature.scheme = text.to_owned();
        event.progress.reason = Some(Reason::with(Slug::Unreadable, text));
        comes_back(store, &event).await?;
    }
    Ok(())
}

/// Numbers keep every digit: beyond 2^53 a float would not.
pub async fn the_largest_and_smallest_numbers_come_back<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    for (time, number) in [(i64::MAX, u64::MAX), (i64::MIN, 0), (-1, (1 << 53) + 1), (0, 1)] {
        let mut event = sample.full_event(&format!("evt_{time}"));
        event.occurred_at = Some(UnixMillis(time));
        event.received_at = UnixMillis(time);
        event.sequence = Some(format!("-{number}.000"));
        event.seen.deliveries = number;
        event.seen.conflicts = number;
        event.progress.generation = Generation::from_stored(number);
        event.progress.opened_at = UnixMillis(time);
        event.progress.attempts = u32::MAX;
        event.progress.expires = Some(ExpiresAt(time));
        event.progress.due = Some(UnixMillis(time));
        comes_back(store, &event).await?;
    }
    Ok(())
}

/// INV-7: a store compares keys byte by byte: no case folding, no trimming, no
/// normalisation; and a key too long to be readable is still one of its own.
pub async fn keys_that_look_alike_are_different_events<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let scope = DedupScope(sample.event_key("").to_string());
    let tenant = Tenant::from("a");
    let long = "x".repeat(3_000);
    let ids: &[(Option<&Tenant>, &[Option<&str>])] = &[
        (None, &[Some("ab"), Some("c")]),
        (None, &[Some("a"), Some("bc")]),
        (None, &[Some("AB"), Some("c")]),
        (None, &[Some("ab"), Some("c ")]),
        (None, &[Some("ab"), Some("c"), None]),
        (None, &[Some("ab"), Some("c"), Some("")]),
        (Some(&tenant), &[Some("ab"), Some("c")]),
        (None, &[Some("\u{e9}")]),
        (None, &[Some("e\u{301}")]),
        (None, &[Some("9007199254740992")]),
        (None, &[Some("9007199254740993")]),
        (None, &[Some(&long)]),
        (None, &[Some(&long[1..])]),
    ];
    let keys: Vec<EventKey> = ids.iter().map(|(tenant, id)| EventKey::new(&scope, *tenant, id)).collect();
    for (number, key) in keys.iter().enumerate() {
        let event = Event { key: key.clone(), id: number.to_string(), ..sample.event("") };
        assert_eq!(store.create_event(&event).await?, Create::Created, "{key}");
    }
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(read_event(store, key).await?.id, number.to_string(), "{key}");
    }
    Ok(())
}

/// What the store will never take is told apart from what may be tried again.
pub async fn an_event_larger_than_an_item_is_refused_for_good<S: Store>(store: &S) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    event.progress.status = EventStatus::Held;
    event.progress.reason = Some(Reason::with(Slug::Unreadable, "x".repeat(410_000)));
    event.progress.expires = Some(NOW.plus(Duration::from_secs(1)).expires_after(WINDOW));
    let end = store.create_event(&event).await;
    assert!(matches!(end, Err(StoreError::Invalid(_))), "{end:?}");
    assert_eq!(store.event(&event.key).await?, None);
    Ok(())
}
