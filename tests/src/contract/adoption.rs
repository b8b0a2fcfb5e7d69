//! Adopting another delivery's content where the first one's payload never
//! became durable (INV-1).

use super::sample::{NOW, Sample, content, event_write, facts, full_progress, progress};
use super::{read_event, write_to_its_end};
use futures_util::future::join;
use sekali::ids::Generation;
use sekali::ports::{Store, Write};
use sekali::protocol::event::{CONFLICTS_LISTED, ContentFacts, Event, EventStatus, Progress};
use sekali::time::UnixMillis;

const LATER: UnixMillis = UnixMillis(NOW.0 + 5);

/// The conflict stays on record, the other way round.
pub async fn an_adopted_content_replaces_the_old_which_is_kept_as_a_conflict<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    assert_eq!(store.adopt(&event, &facts("other"), LATER).await?, Write::Applied);
    event = event.with(&facts("other"));
    event.seen.conflicts = 1;
    event.seen.conflict_hashes = vec![content("first")];
    event.seen.last_at = LATER;
    assert_eq!(read_event(store, &event.key).await?, event);
    Ok(())
}

/// What is read off a content goes with it, also where the new one does not
/// say it: the rule of another type, or another time, is never put to it.
pub async fn an_adopted_content_brings_its_own_facts<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let bare = sample.event("evt_1");
    store.create_event(&bare).await?;
    let full = sample.full_event("evt_1").facts();
    for to in [ContentFacts { hash: content("full"), ..full }, bare.facts()] {
        let seen = read_event(store, &bare.key).await?;
        assert_ne!(seen.event_type, to.event_type);
        assert_eq!(store.adopt(&seen, &to, LATER).await?, Write::Applied);
        assert_eq!(read_event(store, &bare.key).await?.facts(), to);
    }
    Ok(())
}

/// It stays failed, without a TTL, until a human redrives it.
pub async fn a_failed_event_adopts_and_keeps_its_progress<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let failed = Progress {
        action: None,
        action_generation: None,
        expires: None,
        ..full_progress(sample.action_key("order_1"))
    };
    let event = Event { progress: failed.clone(), ..sample.event("evt_1") };
    store.create_event(&event).await?;
    assert_eq!(store.adopt(&event, &facts("other"), LATER).await?, Write::Applied);
    let adopted = read_event(store, &event.key).await?;
    assert_eq!((adopted.progress, adopted.hash), (failed, content("other")));
    Ok(())
}

/// INV-5: content, status and generation as seen, or nothing; INV-9: and a TTL
/// if and only if there was one.
pub async fn an_adoption_names_everything_that_was_seen<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    let second = Progress { generation: Generation::from_stored(2), ..event.progress.clone() };
    let kept = Progress { expires: None, ..event.progress.clone() };
    let seen_otherwise = [
        Event { hash: content("another"), ..event.clone() },
        Event { progress: progress(EventStatus::Failed), ..event.clone() },
        Event { progress: second, ..event.clone() },
        Event { progress: kept, ..event.clone() },
    ];
    for seen in seen_otherwise {
        assert_eq!(store.adopt(&seen, &facts("other"), LATER).await?, Write::Refused, "{seen:?}");
        assert_eq!(read_event(store, &event.key).await?, event);
    }
    Ok(())
}

/// Once an action is bound, what it was decided on stays.
pub async fn a_claimed_event_adopts_nothing<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let mut event = sample.event("evt_1");
    event.progress.action = Some(sample.action_key("order_1"));
    store.create_event(&event).await?;
    let mut seen = event.clone();
    for action in [event.progress.action.clone(), None] {
        seen.progress.action = action;
        assert_eq!(store.adopt(&seen, &facts("other"), LATER).await?, Write::Refused);
        assert_eq!(read_event(store, &event.key).await?, event);
    }
    Ok(())
}

/// An adoption whose answer was lost and that is sent again was applied, and
/// is not counted twice.
pub async fn an_own_retried_adoption_counts_as_applied<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    assert_eq!(store.adopt(&event, &facts("other"), LATER).await?, Write::Applied);
    let adopted = read_event(store, &event.key).await?;
    assert_eq!(store.adopt(&event, &facts("other"), LATER).await?, Write::Applied);
    assert_eq!(read_event(store, &event.key).await?, adopted);
    assert_eq!(store.adopt(&event, &facts("third"), LATER).await?, Write::Refused);
    Ok(())
}

/// INV-5: nobody claims an event whose content was exchanged under them, and
/// nobody exchanges the content of a claimed event. Adoption changes neither
/// status nor generation: only the content's hash tells them apart.
pub async fn of_an_adoption_and_a_claim_on_the_old_content_one_is_applied<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let sample = Sample::new();
    let mut claimed = progress(EventStatus::Received);
    claimed.action = Some(sample.action_key("order_1"));
    for number in 0..10 {
        let event = sample.event(&format!("evt_{number}"));
        store.create_event(&event).await?;
        let claim = event_write(&event.key, event.guard(), claimed.clone());
        let other = facts("other");
        let (claim, adoption) =
            join(write_to_its_end(store, &claim), store.adopt(&event, &other, LATER)).await;
        let stored = read_event(store, &event.key).await?;
        let ends = (claim?, adoption?, stored.progress.action.is_some(), stored.facts() == other);
        let one_was_applied = matches!(
            ends,
            (Write::Applied, Write::Refused, true, false) | (Write::Refused, Write::Applied, false, true)
        );
        assert!(one_was_applied, "{ends:?}");
    }
    Ok(())
}

/// INV-8: the list is bounded here, too; and an old content that is listed
/// already is not listed twice.
pub async fn an_adoption_lists_no_more_conflicts_than_allowed<S: Store>(store: &S) -> anyhow::Result<()> {
    let mut event = Sample::new().event("evt_1");
    store.create_event(&event).await?;
    for text in ["second", "first", "third", "fourth", "first"] {
        let event = read_event(store, &event.key).await?;
        store.adopt(&event, &facts(text), LATER).await?;
    }
    event = read_event(store, &event.key).await?;
    assert_eq!(event.seen.conflicts, 5);
    assert_eq!(event.seen.conflict_hashes.len(), CONFLICTS_LISTED);
    assert_eq!(event.seen.conflict_hashes, ["first", "second", "third"].map(content));
    assert_eq!(event.hash, content("first"));
    Ok(())
}

/// An update must not create an event that consists of a hash alone.
pub async fn an_event_that_is_not_there_adopts_nothing<S: Store>(store: &S) -> anyhow::Result<()> {
    let event = Sample::new().event("evt_none");
    assert_eq!(store.adopt(&event, &facts("other"), LATER).await?, Write::Refused);
    assert_eq!(store.event(&event.key).await?, None);
    Ok(())
}
