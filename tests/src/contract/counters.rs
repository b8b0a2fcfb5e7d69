//! What ingest counts about repeated deliveries.

use super::read_event;
use super::sample::{NOW, Sample, content, event_write, progress};
use futures_util::future::join_all;
use sekali::ports::{Store, Write};
use sekali::protocol::event::{CONFLICTS_LISTED, Event, EventStatus};
use sekali::time::UnixMillis;
use std::collections::BTreeSet;

/// The present and `millis` more.
fn later(millis: i64) -> UnixMillis {
    UnixMillis(NOW.0 + millis)
}

/// The caller gets the event as it stands after the count: what it answers
/// depends on it.
pub async fn repeated_deliveries_are_counted_and_the_last_is_dated<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let mut event = Sample::new().full_event("evt_1");
    event.seen.deliveries = 1;
    store.create_event(&event).await?;
    for number in 2..5 {
        event.seen.deliveries += 1;
        event.seen.last_at = later(number);
        assert_eq!(store.count_duplicate(&event.key, None, later(number)).await?, Some(event.clone()));
    }
    assert_eq!(read_event(store, &event.key).await?, event);
    Ok(())
}

/// Under it lies what an erasure must find.
pub async fn the_first_other_hash_of_a_repeated_delivery_stays<S: Store>(store: &S) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    for (number, other) in [(1, None), (2, Some("a webhook")), (3, None), (4, Some("another"))] {
        let other = other.map(content);
        store.count_duplicate(&event.key, other.as_ref(), later(number)).await?;
    }
    event.seen.deliveries += 4;
    event.seen.last_at = later(4);
    event.seen.repeated_as = Some(content("a webhook"));
    assert_eq!(read_event(store, &event.key).await?, event);
    Ok(())
}

/// Counting is no reading and writing back.
pub async fn of_fifty_counts_at_once_none_is_lost<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let counts = join_all((0..50).map(|number| store.count_duplicate(&event.key, None, later(number)))).await;
    let mut seen = BTreeSet::new();
    for end in counts {
        seen.extend(end?.map(|event| event.seen.deliveries));
    }
    assert_eq!(seen, (2..=51).collect());
    assert_eq!(read_event(store, &event.key).await?.seen.deliveries, 51);
    Ok(())
}

/// An update must not create an event that consists of its counters alone.
pub async fn counting_an_event_that_is_not_there_makes_none<S: Store>(store: &S) -> anyhow::Result<()> {
    let key = Sample::new().event_key("evt_none");
    assert_eq!(store.count_duplicate(&key, None, NOW).await?, None);
    store.record_conflict(&key, &content("other"), NOW).await?;
    assert_eq!(store.event(&key).await?, None);
    Ok(())
}

/// INV-8: no list without end.
pub async fn three_conflicts_are_listed_and_all_are_counted<S: Store>(store: &S) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let hashes: Vec<_> = (0..5).map(|number| content(&format!("conflict {number}"))).collect();
    for (number, hash) in (1..).zip(&hashes) {
        store.record_conflict(&event.key, hash, later(number)).await?;
    }
    event.seen.conflicts = 5;
    event.seen.conflict_hashes = hashes[..CONFLICTS_LISTED].to_vec();
    event.seen.last_at = later(5);
    assert_eq!(read_event(store, &event.key).await?, event);
    Ok(())
}

/// The same other content sent again and again does not fill the list.
pub async fn a_repeated_conflict_is_listed_once<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    for text in ["a", "a", "b", "a", "b", "c", "c", "d"] {
        store.record_conflict(&event.key, &content(text), NOW).await?;
    }
    let seen = read_event(store, &event.key).await?.seen;
    assert_eq!((seen.conflicts, seen.deliveries), (8, 1));
    assert_eq!(seen.conflict_hashes, ["a", "b", "c"].map(content));
    Ok(())
}

/// The bound holds where conflicts race.
pub async fn of_ten_conflicts_at_once_three_are_listed_and_all_are_counted<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let hashes: Vec<_> = (0..10).map(|number| content(&format!("conflict {number}"))).collect();
    let records = hashes.iter().map(|hash| store.record_conflict(&event.key, hash, NOW));
    for end in join_all(records).await {
        end?;
    }
    let seen = read_event(store, &event.key).await?.seen;
    assert_eq!(seen.conflicts, 10);
    let listed: BTreeSet<_> = seen.conflict_hashes.iter().collect();
    assert_eq!((listed.len(), seen.conflict_hashes.len()), (CONFLICTS_LISTED, CONFLICTS_LISTED));
    assert!(listed.into_iter().all(|hash| hashes.contains(hash)));
    Ok(())
}

/// Deliveries that come while a worker decides cost it nothing: they touch
/// nothing that its claim compares.
pub async fn counters_never_break_a_write_that_was_decided_before<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let mut guard = event.guard();
    guard.due = event.progress.due;
    store.count_duplicate(&event.key, None, later(1)).await?;
    store.record_conflict(&event.key, &content("other"), later(2)).await?;
    let write = event_write(&event.key, guard, progress(EventStatus::Processing));
    assert_eq!(store.write(&write).await?, Write::Applied);
    Ok(())
}

/// And the worker's write leaves them alone.
pub async fn a_write_never_takes_back_what_was_counted<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    store.record_conflict(&event.key, &content("other"), later(1)).await?;
    let counted = store.count_duplicate(&event.key, None, later(2)).await?;
    let to = progress(EventStatus::Processing);
    let write = store.write(&event_write(&event.key, event.guard(), to.clone())).await?;
    assert_eq!(write, Write::Applied);
    let expected = counted.map(|counted| Event { progress: to, ..counted });
    assert_eq!(store.event(&event.key).await?, expected);
    Ok(())
}
