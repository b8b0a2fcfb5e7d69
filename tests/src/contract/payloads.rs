//! Payloads and their TTL (INV-9).

use super::sample::{Sample, content, event_write, expires, noise, payload, progress, shrinking};
use super::{Inspected, read_event};
use crate::memory::Expiry;
use futures_util::future::join_all;
use sekali::ids::Generation;
use sekali::json::JsonText;
use sekali::payload::Payload;
use sekali::ports::{Store, Write};
use sekali::protocol::event::EventStatus;
use sekali::protocol::transition::{PayloadTtl, Transition};
use sekali::source::Source;

/// The bytes decide over signature and hash: any change of one is another
/// payload.
pub async fn a_payload_comes_back_byte_for_byte<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let context = [
        (Source::parse("header:X-Topic")?, JsonText::from_text("a\"b\u{1f4e6}")),
        (Source::parse("query:empty")?, JsonText::from_text("")),
    ];
    let payloads = [
        Payload::new(br#"{"n": 9007199254740993,  "t":"\u0040"}"#.to_vec(), context),
        payload(b""),
        payload(&(0..=255).collect::<Vec<u8>>()),
        payload("\u{feff}{}\r\n".as_bytes()),
        payload(&b"0123456789".repeat(30_000)),
    ];
    for (number, payload) in payloads.into_iter().enumerate() {
        let (key, hash) = (sample.event_key(&number.to_string()), content("first"));
        store.put_payload(&key, &hash, &payload, expires(60)).await?;
        assert_eq!(store.payload(&key, &hash).await?, Some(payload));
    }
    Ok(())
}

/// A conflict never overwrites the content that came first.
pub async fn payloads_of_two_contents_stand_side_by_side<S: Store>(store: &S) -> anyhow::Result<()> {
    let key = Sample::new().event_key("evt_1");
    for text in ["first", "second"] {
        store.put_payload(&key, &content(text), &payload(text.as_bytes()), expires(60)).await?;
    }
    for text in ["first", "second"] {
        assert_eq!(store.payload(&key, &content(text)).await?, Some(payload(text.as_bytes())));
    }
    Ok(())
}

/// INV-7: an event and its payloads have keys that cannot meet.
pub async fn a_payload_is_never_taken_for_its_event<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.put_payload(&event.key, &event.hash, &payload(b"{}"), expires(60)).await?;
    assert_eq!(store.event(&event.key).await?, None);
    store.create_event(&event).await?;
    assert_eq!(store.payload(&event.key, &event.hash).await?, Some(payload(b"{}")));
    assert_eq!(read_event(store, &event.key).await?, event);
    Ok(())
}

/// Until its event says otherwise a payload goes with the window.
pub async fn an_absent_payload_is_written_with_its_ttl<S: Inspected>(store: &S) -> anyhow::Result<()> {
    let (key, hash) = (Sample::new().event_key("evt_1"), content("first"));
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Absent);
    store.put_payload(&key, &hash, &payload(b"{}"), expires(60)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(60)));
    Ok(())
}

/// The TTL of a payload never lies before that of an event which points to
/// it, even where two deliveries' clocks disagree.
pub async fn a_repeated_delivery_puts_a_ttl_off_and_never_brings_it_forward<S: Inspected>(
    store: &S,
) -> anyhow::Result<()> {
    let (key, hash) = (Sample::new().event_key("evt_1"), content("first"));
    for (asked, stands) in [(60, 60), (90, 90), (90, 90), (30, 90), (91, 91)] {
        store.put_payload(&key, &hash, &payload(b"{}"), expires(asked)).await?;
        assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(stands)));
    }
    store.expire_payload(&key, &hash, Generation::FIRST, expires(40)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(91)));
    assert_eq!(store.payload(&key, &hash).await?, Some(payload(b"{}")));
    Ok(())
}

/// A duplicate never restores the TTL of what a human needs.
pub async fn a_kept_payload_is_left_alone_by_repeated_deliveries<S: Inspected>(
    store: &S,
) -> anyhow::Result<()> {
    let (key, hash) = (Sample::new().event_key("evt_1"), content("first"));
    store.put_payload(&key, &hash, &payload(b"first"), expires(60)).await?;
    store.keep_payload(&key, &hash, Generation::FIRST).await?;
    store.put_payload(&key, &hash, &payload(b"again"), expires(9_999)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Kept);
    assert_eq!(store.payload(&key, &hash).await?, Some(payload(b"first")));
    Ok(())
}

/// `false` tells the caller that the event points to nothing.
pub async fn keeping_a_payload_says_whether_there_is_one<S: Inspected>(store: &S) -> anyhow::Result<()> {
    let (key, hash) = (Sample::new().event_key("evt_1"), content("first"));
    assert!(!store.keep_payload(&key, &hash, Generation::FIRST).await?);
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Absent);
    store.put_payload(&key, &hash, &payload(b"{}"), expires(60)).await?;
    assert!(store.keep_payload(&key, &hash, Generation::FIRST).await?);
    assert!(store.keep_payload(&key, &hash, Generation::FIRST).await?, "a retry of the same");
    assert!(!store.keep_payload(&key, &content("other"), Generation::FIRST).await?);
    Ok(())
}

/// After its event got a TTL the payload gets one, too.
pub async fn a_kept_payload_gets_a_ttl_again<S: Inspected>(store: &S) -> anyhow::Result<()> {
    let (key, hash) = (Sample::new().event_key("evt_1"), content("first"));
    store.put_payload(&key, &hash, &payload(b"{}"), expires(60)).await?;
    store.keep_payload(&key, &hash, Generation::FIRST).await?;
    store.expire_payload(&key, &hash, Generation::FIRST, expires(30)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(30)));
    assert_eq!(store.payload(&key, &hash).await?, Some(payload(b"{}")));
    Ok(())
}

/// A worker's TTL may come late, when a human has opened the event anew: it is
/// refused, and so is an older generation's wish to keep what a newer one let
/// go. In one item, and in several.
pub async fn an_older_generation_changes_no_ttl_of_a_newer_one<S: Inspected>(
    store: &S,
) -> anyhow::Result<()> {
    let (sample, hash, [first, second, third]) = (Sample::new(), content("first"), generations());
    for (id, body) in [("evt_1", payload(b"{}")), ("evt_2", noise(900_000))] {
        let key = sample.event_key(id);
        store.put_payload(&key, &hash, &body, expires(60)).await?;
        assert!(store.keep_payload(&key, &hash, second).await?);
        store.expire_payload(&key, &hash, first, expires(90)).await?;
        assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Kept, "{id}");
        store.expire_payload(&key, &hash, second, expires(90)).await?;
        assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(90)), "{id}");
        assert!(store.keep_payload(&key, &hash, first).await?, "it is there");
        assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(90)), "{id}");
        assert!(store.keep_payload(&key, &hash, third).await?);
        assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Kept, "{id}");
        assert!(store.payload(&key, &hash).await? == Some(body), "{id}");
    }
    Ok(())
}

fn generations() -> [Generation; 3] {
    let first = Generation::FIRST;
    [first, first.next(), first.next().next()]
}

/// A TTL alone is no payload.
pub async fn a_ttl_for_an_absent_payload_makes_none<S: Inspected>(store: &S) -> anyhow::Result<()> {
    let (key, hash) = (Sample::new().event_key("evt_1"), content("first"));
    store.expire_payload(&key, &hash, Generation::FIRST, expires(60)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Absent);
    assert_eq!(store.payload(&key, &hash).await?, None);
    Ok(())
}

/// The TTL is taken off before the write and set after it, by the caller: in
/// one transaction with it the order could not be kept.
pub async fn a_write_leaves_the_ttl_of_the_payload_to_its_caller<S: Inspected>(
    store: &S,
) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    let (key, hash) = (&event.key, &event.hash);
    store.create_event(&event).await?;
    store.put_payload(key, hash, &payload(b"{}"), expires(60)).await?;
    let keep = PayloadTtl::KeepBefore(key.clone(), hash.clone(), Generation::FIRST);
    let failed = event_write(key, event.guard(), progress(EventStatus::Failed));
    let write = store.write(&Transition { payload: keep, ..failed }).await?;
    assert_eq!(write, Write::Applied);
    assert_eq!(store.payload_expiry(key, hash).await?, Expiry::At(expires(60)));
    Ok(())
}

/// Concurrent deliveries of the same content leave one payload, whole, with
/// the latest TTL.
pub async fn fifty_puts_of_one_payload_at_once_leave_one<S: Inspected>(store: &S) -> anyhow::Result<()> {
    let (key, hash, payload) = (Sample::new().event_key("evt_1"), content("first"), payload(b"{}"));
    let puts = (0..50).map(|second| store.put_payload(&key, &hash, &payload, expires(second)));
    for end in join_all(puts).await {
        end?;
    }
    assert_eq!(store.payload(&key, &hash).await?, Some(payload));
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(49)));
    Ok(())
}

/// Bodies around every limit that a store may have inside: a unit, a message,
/// an item, several items; those that shrink and those that do not.
pub async fn a_payload_of_any_size_comes_back_byte_for_byte<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    for size in [0, 1_000, 255_000, 257_000, 399_000, 401_000, 1_100_000, 4_400_000] {
        for (kind, payload) in [("json", shrinking(size)), ("noise", noise(size))] {
            let (key, hash) = (sample.event_key(&format!("{kind}-{size}")), content("first"));
            store.put_payload(&key, &hash, &payload, expires(60)).await?;
            assert!(store.payload(&key, &hash).await? == Some(payload), "{kind} of {size} bytes");
        }
    }
    Ok(())
}

/// INV-9: nothing of it goes before its event, however many items it lies in.
pub async fn the_ttl_of_a_payload_larger_than_an_item_is_one<S: Inspected>(store: &S) -> anyhow::Result<()> {
    let (key, hash) = (Sample::new().event_key("evt_1"), content("first"));
    let (first, again) = (noise(900_000), noise(900_001));
    store.put_payload(&key, &hash, &first, expires(60)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(60)));
    // Later, and other in a volatile field.
    store.put_payload(&key, &hash, &again, expires(90)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(90)));
    assert!(store.payload(&key, &hash).await? == Some(again.clone()));
    store.put_payload(&key, &hash, &first, expires(70)).await?;
    assert!(store.keep_payload(&key, &hash, Generation::FIRST).await?);
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Kept);
    store.put_payload(&key, &hash, &first, expires(9_999)).await?;
    assert!(store.keep_payload(&key, &hash, Generation::FIRST).await?, "a retry of the same");
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::Kept);
    store.expire_payload(&key, &hash, Generation::FIRST, expires(40)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(40)));
    store.expire_payload(&key, &hash, Generation::FIRST, expires(30)).await?;
    assert_eq!(store.payload_expiry(&key, &hash).await?, Expiry::At(expires(40)));
    assert!(store.payload(&key, &hash).await? == Some(again));
    Ok(())
}
