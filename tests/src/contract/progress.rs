//! Conditional writes of an event alone (INV-3, INV-5).

use super::sample::{NOW, Sample, content, event_write, full_progress, progress};
use super::{read_event, write_to_its_end};
use futures_util::future::join_all;
use sekali::ids::Generation;
use sekali::ports::{Create, Store, Write};
use sekali::protocol::event::{Counted, Event, EventGuard, EventStatus, Progress};
use sekali::time::UnixMillis;
use std::collections::BTreeSet;
use std::time::Duration;

/// Creates the event, tries a write under each guard, and says how it ended.
/// A refused write has changed nothing.
async fn try_guards(
    store: &impl Store,
    event: &Event,
    guards: impl IntoIterator<Item = (EventGuard, Write)>,
) -> anyhow::Result<()> {
    for (number, (guard, expected)) in guards.into_iter().enumerate() {
        let id = format!("evt_{number}");
        let event = Event { key: Sample::new().event_key(&id), ..event.clone() };
        assert_eq!(store.create_event(&event).await?, Create::Created);
        let to = progress(EventStatus::Processing);
        let write = store.write(&event_write(&event.key, guard.clone(), to.clone())).await?;
        assert_eq!(write, expected, "{guard:?}");
        let stands = if write == Write::Applied { to } else { event.progress.clone() };
        assert_eq!(read_event(store, &event.key).await?, Event { progress: stands, ..event }, "{guard:?}");
    }
    Ok(())
}

/// INV-5: every other status refuses it.
pub async fn an_event_write_names_the_status_it_comes_from<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    let guards = EventStatus::ALL.map(|status| {
        let expected = if status == event.progress.status { Write::Applied } else { Write::Refused };
        (EventGuard { status, ..event.guard() }, expected)
    });
    try_guards(store, &event, guards).await
}

/// INV-5: neither an older nor a newer generation is the one that was read.
pub async fn an_event_write_names_the_generation_it_comes_from<S: Store>(store: &S) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    event.progress.generation = Generation::from_stored(2);
    let guards = [(1, Write::Refused), (2, Write::Applied), (3, Write::Refused)].map(|(number, expected)| {
        (EventGuard { generation: Generation::from_stored(number), ..event.guard() }, expected)
    });
    try_guards(store, &event, guards).await
}

/// INV-5: while the event is unclaimed the content counts; later it does not.
pub async fn an_event_write_names_the_content_where_its_guard_says_so<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    let guards = [
        (Some(content("first")), Write::Applied),
        (Some(content("other")), Write::Refused),
        (None, Write::Applied),
    ]
    .map(|(hash, expected)| (EventGuard { hash, ..event.guard() }, expected));
    try_guards(store, &event, guards).await
}

/// INV-8: of several sweepers that read the same due time one sends.
pub async fn an_event_write_names_the_due_time_where_its_guard_says_so<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    let later = UnixMillis(NOW.0 + 1);
    let guards = [(Some(NOW), Write::Applied), (Some(later), Write::Refused), (None, Write::Applied)]
        .map(|(due, expected)| (EventGuard { due, ..event.guard() }, expected));
    try_guards(store, &event, guards).await?;
    let mut undue = event.clone();
    undue.progress.due = None;
    try_guards(store, &undue, [(EventGuard { due: Some(NOW), ..event.guard() }, Write::Refused)]).await
}

/// INV-9: a delivery that was counted meanwhile, of either kind, refuses a
/// write that names the counts, and only that.
pub async fn an_event_write_names_what_was_counted_where_its_guard_says_so<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    (event.seen.deliveries, event.seen.conflicts) = (2, 1);
    let counted = |deliveries, conflicts| Some(Counted { deliveries, conflicts });
    let guards = [
        (counted(2, 1), Write::Applied),
        (counted(1, 1), Write::Refused),
        (counted(2, 0), Write::Refused),
        (None, Write::Applied),
    ]
    .map(|(counted, expected)| (EventGuard { counted, ..event.guard() }, expected));
    try_guards(store, &event, guards).await
}

/// Which moves are allowed is the protocol's business; the store makes each.
pub async fn an_event_goes_from_every_status_to_every_other<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    for from in EventStatus::ALL {
        let event = Event { progress: progress(from), ..sample.event(from.as_str()) };
        store.create_event(&event).await?;
        for to in EventStatus::ALL {
            let there = store.write(&event_write(&event.key, event.guard(), progress(to))).await?;
            let moved = read_event(store, &event.key).await?;
            let back = store.write(&event_write(&event.key, moved.guard(), progress(from))).await?;
            assert_eq!((there, back), (Write::Applied, Write::Applied), "{from:?} {to:?}");
        }
        assert_eq!(read_event(store, &event.key).await?, event);
    }
    Ok(())
}

/// From nothing optional to everything and back: no part of an earlier
/// progress stays, and nothing else of the event is touched.
pub async fn a_write_replaces_all_of_the_progress_and_nothing_else<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let sample = Sample::new();
    let bare = Progress { expires: None, due: None, ..progress(EventStatus::Received) };
    let event = Event { progress: bare.clone(), ..sample.full_event("evt_1") };
    store.create_event(&event).await?;
    let full = full_progress(sample.action_key("order_1"));
    for to in [full, bare] {
        let stored = read_event(store, &event.key).await?;
        let write = store.write(&event_write(&event.key, stored.guard(), to.clone())).await?;
        assert_eq!(write, Write::Applied);
        assert_eq!(read_event(store, &event.key).await?, Event { progress: to, ..event.clone() });
    }
    Ok(())
}

/// A write whose answer was lost and that is sent again was applied; one that
/// wanted something else was not.
pub async fn an_own_retried_event_write_counts_as_applied<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let to = progress(EventStatus::Ignored);
    let write = event_write(&event.key, event.guard(), to.clone());
    assert_eq!(store.write(&write).await?, Write::Applied);
    store.count_duplicate(&event.key, None, NOW).await?;
    assert_eq!(store.write(&write).await?, Write::Applied);
    let other = event_write(&event.key, event.guard(), Progress { sweeps: 1, ..to });
    assert_eq!(store.write(&other).await?, Write::Refused);
    Ok(())
}

/// An update must not create an event that consists of its progress alone.
pub async fn a_write_of_an_event_that_is_not_there_makes_none<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    let write = store.write(&event_write(&event.key, event.guard(), event.progress.clone())).await?;
    assert_eq!(write, Write::Refused);
    assert_eq!(store.event(&event.key).await?, None);
    Ok(())
}

/// INV-5: twenty workers read the same event and write what each decided.
pub async fn of_many_writes_from_one_reading_one_is_applied<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let writes: Vec<_> = (0..20)
        .map(|number| {
            let due = Some(NOW.plus(Duration::from_secs(number)));
            event_write(&event.key, event.guard(), Progress { due, ..progress(EventStatus::Processing) })
        })
        .collect();
    let ends = join_all(writes.iter().map(|write| write_to_its_end(store, write))).await;
    let mut applied = BTreeSet::new();
    for (write, end) in writes.iter().zip(ends) {
        if end? == Write::Applied {
            applied.extend(write.event.as_ref().and_then(|write| write.to.due));
        }
    }
    assert_eq!(applied.len(), 1, "{applied:?}");
    let due = read_event(store, &event.key).await?.progress.due;
    assert_eq!(applied.into_iter().next(), due);
    Ok(())
}
