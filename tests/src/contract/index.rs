//! The index of what is open or needs a human. It may be stale, so each case
//! asks until the index has caught up, within a bound.

use super::read_event;
use super::sample::{NOW, Sample, event_write, progress};
use sekali::key::EventKey;
use sekali::ports::{Due, INDEX_SHARDS, IndexShard, Store, Write, index_shard};
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::time::UnixMillis;
use std::collections::BTreeSet;

/// Questions until an index has caught up: far more than any takes, and each
/// is a call over the network.
pub(super) const QUESTIONS: usize = 500;

const EVER: UnixMillis = UnixMillis(i64::MAX);

type Entry = (EventKey, UnixMillis);

/// Every entry of one shard, page by page. Pages hold no more than `limit`,
/// the oldest first.
pub(super) async fn entries(
    store: &impl Store,
    shard: IndexShard,
    until: UnixMillis,
    limit: usize,
) -> anyhow::Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut after = None;
    loop {
        let page = store.due(shard, until, after.as_ref(), limit).await?;
        assert!(page.events.len() <= limit, "{} on a page of {limit}", page.events.len());
        entries.extend(page.events);
        assert!(entries.is_sorted_by_key(|(_, due)| *due), "{entries:?}");
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(entries),
        }
    }
}

/// The whole index: which event stands where, and when it is due.
async fn standing(store: &impl Store) -> anyhow::Result<BTreeSet<(Entry, &'static str, u8)>> {
    let mut standing = BTreeSet::new();
    for class in Due::ALL {
        for shard in 0..INDEX_SHARDS {
            let entries = entries(store, IndexShard { class, shard }, EVER, 100).await?;
            let count = standing.len() + entries.len();
            standing.extend(entries.into_iter().map(|entry| (entry, class.as_str(), shard)));
            assert_eq!(standing.len(), count, "an entry is named twice");
        }
    }
    Ok(standing)
}

/// Asks until these events stand there, each in the shard of its key, and
/// nothing stands anywhere else.
async fn comes_to_stand(store: &impl Store, expected: &[(&EventKey, Due, UnixMillis)]) -> anyhow::Result<()> {
    let expected =
        expected.iter().map(|(key, class, due)| (((*key).clone(), *due), class.as_str(), index_shard(key)));
    let expected: BTreeSet<_> = expected.collect();
    let mut found = standing(store).await?;
    for _ in 0..QUESTIONS {
        if found == expected {
            break;
        }
        found = standing(store).await?;
    }
    assert_eq!(found, expected);
    Ok(())
}

async fn move_to(store: &impl Store, key: &EventKey, to: Progress) -> anyhow::Result<()> {
    let guard = read_event(store, key).await?.guard();
    assert_eq!(store.write(&event_write(key, guard, to)).await?, Write::Applied);
    Ok(())
}

/// INV-1: something will pick it up; INV-8: a human sees it. What is finished
/// costs nothing.
pub async fn an_event_stands_where_its_status_says<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    comes_to_stand(store, &[(&event.key, Due::Open, NOW)]).await?;
    for status in EventStatus::ALL {
        move_to(store, &event.key, Progress { due: Some(NOW), ..progress(status) }).await?;
        let expected = Due::of(status).map(|class| (&event.key, class, NOW));
        comes_to_stand(store, expected.as_slice()).await?;
    }
    Ok(())
}

/// A status alone is no place: nobody could say when to look.
pub async fn an_event_without_a_due_time_stands_nowhere<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    comes_to_stand(store, &[(&event.key, Due::Open, NOW)]).await?;
    move_to(store, &event.key, Progress { due: None, ..event.progress.clone() }).await?;
    comes_to_stand(store, &[]).await?;
    move_to(store, &event.key, event.progress.clone()).await?;
    comes_to_stand(store, &[(&event.key, Due::Open, NOW)]).await
}

/// A sweeper that reads every shard finds every event once.
pub async fn an_event_stands_only_in_its_own_shard<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let events: Vec<Event> = (0..12).map(|number| sample.event(&format!("evt_{number}"))).collect();
    for event in &events {
        store.create_event(event).await?;
    }
    let expected: Vec<_> = events.iter().map(|event| (&event.key, Due::Open, NOW)).collect();
    comes_to_stand(store, &expected).await?;
    let shards: BTreeSet<_> = events.iter().map(|event| index_shard(&event.key)).collect();
    assert!(shards.len() > 1, "twelve keys fell into one shard");
    Ok(())
}

/// Twelve events of one shard, due one after the other, in no order of their keys.
async fn queue_up(store: &impl Store) -> anyhow::Result<(IndexShard, Vec<Entry>)> {
    let sample = Sample::new();
    let shard = index_shard(&sample.event_key("evt_0"));
    let ids = (0..).map(|number| format!("evt_{number}"));
    let ids = ids.filter(|id| index_shard(&sample.event_key(id)) == shard).take(12);
    let mut entries = Vec::new();
    for (number, id) in (0..12).zip(ids) {
        // Two of them are due at the same time.
        let due = UnixMillis(NOW.0 - (number * 7 % 12).max(1));
        let event = sample.event(&id);
        let event = Event { progress: Progress { due: Some(due), ..event.progress.clone() }, ..event };
        store.create_event(&event).await?;
        entries.push((event.key, due));
    }
    let expected: Vec<_> = entries.iter().map(|(key, due)| (key, Due::Open, *due)).collect();
    comes_to_stand(store, &expected).await?;
    Ok((IndexShard { class: Due::Open, shard }, entries))
}

/// Nothing is looked at before its time.
pub async fn the_index_names_what_is_due_up_to_and_including_a_time<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let (shard, queued) = queue_up(store).await?;
    for until in [NOW.0 - 100, NOW.0 - 11, NOW.0 - 6, NOW.0 - 1, NOW.0].map(UnixMillis) {
        let named: BTreeSet<_> = entries(store, shard, until, 100).await?.into_iter().collect();
        let due: BTreeSet<_> = queued.iter().filter(|(_, due)| *due <= until).cloned().collect();
        assert_eq!(named, due);
    }
    Ok(())
}

/// A sweeper that stops after any page goes on behind it.
pub async fn pages_of_any_size_name_everything_once_and_the_oldest_first<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let (shard, queued) = queue_up(store).await?;
    let queued: BTreeSet<_> = queued.into_iter().collect();
    for limit in [1, 2, 5, 12, 13] {
        let named = entries(store, shard, NOW, limit).await?;
        assert_eq!(named.len(), queued.len(), "pages of {limit}");
        assert_eq!(named.into_iter().collect::<BTreeSet<_>>(), queued, "pages of {limit}");
    }
    Ok(())
}

/// Sent again later and later.
pub async fn a_changed_due_time_moves_the_event_within_the_index<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    for due in [NOW.0 + 60_000, NOW.0 - 60_000].map(UnixMillis) {
        move_to(store, &event.key, Progress { due: Some(due), ..event.progress.clone() }).await?;
        comes_to_stand(store, &[(&event.key, Due::Open, due)]).await?;
    }
    Ok(())
}
