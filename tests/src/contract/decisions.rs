//! What humans decide: on record with what it changes, or not at all; other
//! content in the place of the first; pauses.

use super::sample::{NOW, Sample, content, facts, progress};
use super::{read_event, write_to_its_end};
use futures_util::future::join_all;
use sekali::ids::Generation;
use sekali::key::EventKey;
use sekali::pause::{Drain, Pauses};
use sekali::ports::{Create, HistoryRecord, PauseRecord, Store, StoreError, Write};
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::protocol::history::{Decided, History, HistoryWrite};
use sekali::protocol::transition::{Content, EventWrite, Transition};

/// A failed event that somebody sends round again, for this reason.
fn redrive(event: &Event, history: &History, why: &str) -> Transition {
    let to = Progress { generation: event.progress.generation.next(), ..progress(EventStatus::Received) };
    let write = EventWrite { key: event.key.clone(), from: event.guard(), to, content: None };
    let decided = Decided {
        at: NOW,
        who: "alice".into(),
        what: "redrive".to_owned(),
        about: None,
        why: why.to_owned(),
        from: event.progress.status,
        generation: event.progress.generation,
    };
    Transition { history: Some(history.with(&event.key, decided)), ..Transition::event(write) }
}

async fn failed(store: &impl Store) -> anyhow::Result<Event> {
    let sample = Sample::new();
    let event = Event { progress: progress(EventStatus::Failed), ..sample.event("evt_1") };
    store.create_event(&event).await?;
    Ok(event)
}

async fn reasons(store: &impl HistoryRecord, key: &EventKey) -> anyhow::Result<Vec<String>> {
    Ok(store.history(key).await?.decisions.into_iter().map(|decided| decided.why).collect())
}

/// An event about which nobody has decided anything has an empty history.
pub async fn a_decision_is_recorded_in_one_with_what_it_changes(
    store: &(impl Store + HistoryRecord),
) -> anyhow::Result<()> {
    let event = failed(store).await?;
    assert_eq!(store.history(&event.key).await?, History::default());
    let written = redrive(&event, &History::default(), "mended");
    assert_eq!(store.write(&written).await?, Write::Applied);
    assert_eq!(
        store.history(&event.key).await?,
        written.history.as_ref().map(|write| write.to.clone()).unwrap_or_default()
    );
    assert_eq!(read_event(store, &event.key).await?.progress.generation, Generation::FIRST.next());
    Ok(())
}

/// Neither without the other: an event that moved leaves no record, and a
/// record that grew leaves the event.
pub async fn a_refused_decision_leaves_neither_record_nor_change(
    store: &(impl Store + HistoryRecord),
) -> anyhow::Result<()> {
    let event = failed(store).await?;
    let first = redrive(&event, &History::default(), "first");
    assert_eq!(store.write(&first).await?, Write::Applied);
    let moved = redrive(&event, &store.history(&event.key).await?, "of an old event");
    assert_eq!(store.write(&moved).await?, Write::Refused);
    let event = read_event(store, &event.key).await?;
    let forgotten = redrive(&event, &History::default(), "of an old record");
    assert_eq!(store.write(&forgotten).await?, Write::Refused);
    assert_eq!(reasons(store, &event.key).await?, ["first"]);
    assert_eq!(read_event(store, &event.key).await?, event);
    Ok(())
}

/// The answer to the first try was lost.
pub async fn an_own_retried_decision_counts_as_applied(
    store: &(impl Store + HistoryRecord),
) -> anyhow::Result<()> {
    let event = failed(store).await?;
    let written = redrive(&event, &History::default(), "mended");
    for _ in 0..2 {
        assert_eq!(store.write(&written).await?, Write::Applied);
    }
    assert_eq!(reasons(store, &event.key).await?, ["mended"]);
    Ok(())
}

/// Two people, or one who says it twice.
pub async fn of_many_decisions_at_once_one_is_recorded(
    store: &(impl Store + HistoryRecord),
) -> anyhow::Result<()> {
    let event = failed(store).await?;
    let each: Vec<Transition> =
        (0..10).map(|number| redrive(&event, &History::default(), &number.to_string())).collect();
    let ends = join_all(each.iter().map(|written| write_to_its_end(store, written))).await;
    let applied = ends.into_iter().filter(|end| *end == Ok(Write::Applied)).count();
    assert_eq!((applied, store.history(&event.key).await?.written), (1, 1));
    Ok(())
}

fn brought(event: &Event, history: &History, why: &str) -> HistoryWrite {
    let decided = Decided {
        at: NOW,
        who: "alice".into(),
        what: "reconcile".to_owned(),
        about: None,
        why: why.to_owned(),
        from: event.progress.status,
        generation: event.progress.generation,
    };
    history.with(&event.key, decided)
}

/// It comes back as it was, and nobody who brings it again goes on record.
pub async fn an_event_is_created_in_one_with_who_brought_it(
    store: &(impl Store + HistoryRecord),
) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    let record = brought(&event, &History::default(), "never came");
    assert_eq!(store.create_recorded(&event, &record).await?, Create::Created);
    assert_eq!(read_event(store, &event.key).await?, event);
    for history in [History::default(), record.to.clone()] {
        let again = store.create_recorded(&event, &brought(&event, &history, "again")).await?;
        assert_eq!(again, Create::Exists(Box::new(event.clone())));
    }
    assert_eq!(reasons(store, &event.key).await?, ["never came"]);

    // On record from before, as the history of an event that expired is.
    let other = Sample::new().event("evt_2");
    let record = brought(&event, &store.history(&event.key).await?, "x");
    let unread = HistoryWrite { key: other.key.clone(), ..record };
    assert_eq!(store.create_recorded(&other, &unread).await, Err(StoreError::Contended));
    assert_eq!((store.event(&other.key).await?, store.history(&other.key).await?.written), (None, 0));
    Ok(())
}

/// Whoever is first, the others find it there.
pub async fn of_a_delivery_and_people_who_bring_the_event_one_creates_it(
    store: &(impl Store + HistoryRecord),
) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    let bring = async |number: usize| loop {
        let event = Event { put_nonce: format!("put-{number}").as_str().into(), ..event.clone() };
        let end = match number % 2 {
            0 => store.create_event(&event).await,
            _ => store.create_recorded(&event, &brought(&event, &History::default(), "x")).await,
        };
        match end {
            Ok(create) => break create == Create::Created,
            Err(StoreError::Contended) => {}
            Err(error) => panic!("{error}"),
        }
    };
    let created = join_all((0..10).map(bring)).await.into_iter().filter(|created| *created).count();
    assert_eq!(created, 1);
    let event = read_event(store, &event.key).await?;
    let by_hand = u64::from(!event.put_nonce.as_str().ends_with(['0', '2', '4', '6', '8']));
    assert_eq!(store.history(&event.key).await?.written, by_hand);
    Ok(())
}

/// The content and what is read off it move with the progress, and what else
/// was seen stays.
pub async fn an_accepted_content_takes_the_place_of_the_first(
    store: &(impl Store + HistoryRecord),
) -> anyhow::Result<()> {
    let event = failed(store).await?;
    store.record_conflict(&event.key, &content("other"), NOW).await?;
    let event = read_event(store, &event.key).await?;
    let to = Progress { generation: event.progress.generation.next(), ..progress(EventStatus::Received) };
    let mut from = event.guard();
    from.hash = Some(event.hash.clone());
    let taken = Content { facts: facts("other"), conflicts: vec![event.hash.clone()] };
    let write = EventWrite { key: event.key.clone(), from, to: to.clone(), content: Some(taken) };
    for _ in 0..2 {
        assert_eq!(store.write(&Transition::event(write.clone())).await?, Write::Applied);
    }
    let mut expected = Event { progress: to, ..event.clone() }.with(&facts("other"));
    expected.seen.conflict_hashes = vec![event.hash];
    assert_eq!(read_event(store, &event.key).await?, expected);
    Ok(())
}

/// Of two people who read the same, one writes.
pub async fn pauses_are_written_only_from_the_version_that_was_read(
    store: &(impl Store + PauseRecord),
) -> anyhow::Result<()> {
    assert_eq!(store.pauses().await?, Pauses::default());
    let who = "alice".into();
    let paused = Pauses::default().pausing(&"stripe".into(), &who, "an outage", NOW);
    for _ in 0..2 {
        assert_eq!(store.set_pauses(0, &paused).await?, Write::Applied);
    }
    assert_eq!(store.pauses().await?, paused);
    let stale = Pauses::default().pausing(&"shop".into(), &who, "another", NOW);
    assert_eq!(store.set_pauses(0, &stale).await?, Write::Refused);
    let drain = Drain { at: NOW, who, per_minute: 60, over: None };
    let resumed = paused.resuming(&"stripe".into(), drain).unwrap_or_default();
    assert_eq!(store.set_pauses(paused.version, &resumed).await?, Write::Applied);
    assert_eq!(store.pauses().await?, resumed);
    Ok(())
}
