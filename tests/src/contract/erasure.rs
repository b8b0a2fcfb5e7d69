//! What is erased: content goes, and what is still to be sent stays.

use super::sample::{Sample, content, expires, noise};
use sekali::ports::{Erasure, Store, Write};
use sekali::protocol::action::{Action, ActionGuard, ActionStatus, EffectResult};
use sekali::protocol::transition::Transition;

/// Small enough to lie in its action, and not.
const SIZES: [usize; 2] = [200, 2_000];

fn settled(key: &str, size: usize) -> Action {
    let mut action = Sample::new().action(key);
    action.status = ActionStatus::Done;
    action.request.body = vec![b'a'; size];
    action.result = Some(EffectResult("r".repeat(size)));
    action
}

fn next(action: &Action) -> Action {
    Action {
        status: ActionStatus::Ready,
        generation: action.generation.next(),
        token: action.token.next(),
        result: None,
        ..action.clone()
    }
}

async fn read_action(store: &impl Store, action: &Action) -> anyhow::Result<Action> {
    store.action(&action.key).await?.ok_or_else(|| anyhow::anyhow!("no such action"))
}

async fn written(store: &impl Store, from: ActionGuard, to: &Action) -> anyhow::Result<()> {
    assert_eq!(store.write(&Transition::action(from, to.clone())).await?, Write::Applied);
    Ok(())
}

/// It still says what became of it.
pub async fn a_settled_action_is_emptied_and_still_reads(
    store: &(impl Store + Erasure),
) -> anyhow::Result<()> {
    for size in SIZES {
        let action = settled(&size.to_string(), size);
        written(store, ActionGuard::Absent, &action).await?;
        for _ in 0..2 {
            let read = read_action(store, &action).await?;
            assert!(store.erase_request(&read).await?);
            let emptied = read_action(store, &action).await?;
            assert_eq!(emptied.status, ActionStatus::Done);
            assert!(emptied.request.body.is_empty());
            assert_eq!(emptied.result, Some(EffectResult("erased".to_owned())));
        }
    }
    Ok(())
}

/// What may still be sent, or nobody knows about, is needed.
pub async fn what_is_not_settled_is_not_emptied(store: &(impl Store + Erasure)) -> anyhow::Result<()> {
    for status in [ActionStatus::Ready, ActionStatus::Begun, ActionStatus::InDoubt] {
        let action = Action { status, result: None, ..settled(status.as_str(), 2_000) };
        written(store, ActionGuard::Absent, &action).await?;
        assert!(!store.erase_request(&action).await?);
        assert_eq!(read_action(store, &action).await?.request.body.len(), 2_000);
    }
    Ok(())
}

/// INV-2: whoever decided to erase what was settled empties nothing of what a
/// human wanted again meanwhile.
pub async fn an_erasure_from_an_older_reading_is_refused(
    store: &(impl Store + Erasure),
) -> anyhow::Result<()> {
    for size in SIZES {
        let action = settled(&size.to_string(), size);
        written(store, ActionGuard::Absent, &action).await?;
        let again = next(&action);
        written(store, action.as_read(), &again).await?;
        assert!(!store.erase_request(&action).await?);
        assert_eq!(read_action(store, &action).await?.request.body.len(), size);
    }
    Ok(())
}

/// INV-2, INV-4: the same bytes are sent once more, and the same answer comes.
pub async fn bytes_that_were_erased_once_are_frozen_whole_again(
    store: &(impl Store + Erasure),
) -> anyhow::Result<()> {
    for size in SIZES {
        let action = settled(&size.to_string(), size);
        written(store, ActionGuard::Absent, &action).await?;
        assert!(store.erase_request(&action).await?);
        let again = next(&action);
        written(store, action.as_read(), &again).await?;
        assert_eq!(read_action(store, &action).await?.request.body, action.request.body);
        let done = Action { status: ActionStatus::Done, result: action.result.clone(), ..again.clone() };
        written(store, again.as_read(), &done).await?;
        assert_eq!(read_action(store, &action).await?, done);
    }
    Ok(())
}

/// In however many items it lies; the others of its event stay.
pub async fn an_erased_payload_is_gone_and_its_neighbour_is_not(
    store: &(impl Store + Erasure),
) -> anyhow::Result<()> {
    for size in [100, 900_000] {
        let key = Sample::new().event_key(&size.to_string());
        let payload = noise(size);
        for hash in ["first", "second"] {
            store.put_payload(&key, &content(hash), &payload, expires(60)).await?;
        }
        store.erase_payload(&key, &content("first")).await?;
        assert_eq!(store.payload(&key, &content("first")).await?, None);
        assert!(store.payload(&key, &content("second")).await? == Some(payload));
        store.erase_payload(&key, &content("first")).await?;
    }
    Ok(())
}
