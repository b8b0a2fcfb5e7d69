//! Conditional writes of an action (INV-2, INV-4, INV-5).

use super::sample::{NOW, Sample, event_write, progress};
use super::{read_event, write_to_its_end};
use anyhow::Context;
use futures_util::future::join_all;
use sekali::ids::{Generation, OwnerNonce, Token};
use sekali::ports::{Store, StoreError, Write};
use sekali::protocol::action::{Action, ActionGuard, ActionStatus, EffectResult};
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::{Reason, Slug};
use sekali::protocol::transition::{ActionWrite, Transition};
use std::time::Duration;

async fn begin(store: &impl Store, action: &Action) -> anyhow::Result<()> {
    let write = store.write(&Transition::action(ActionGuard::Absent, action.clone())).await?;
    assert_eq!(write, Write::Applied);
    Ok(())
}

async fn read(store: &impl Store, action: &Action) -> anyhow::Result<Action> {
    store.action(&action.key).await?.context("the action is gone")
}

/// Writes `to` over the stored action under each guard in turn, and puts the
/// stored one back.
async fn try_guards(
    store: &impl Store,
    stored: &Action,
    to: &Action,
    guards: impl IntoIterator<Item = (ActionGuard, Write)>,
) -> anyhow::Result<()> {
    for (guard, expected) in guards {
        let write = store.write(&Transition::action(guard.clone(), to.clone())).await?;
        assert_eq!(write, expected, "{guard:?}");
        let stands = if write == Write::Applied { to } else { stored };
        assert_eq!(read(store, stored).await?, *stands, "{guard:?}");
        if write == Write::Applied {
            let back = store.write(&Transition::action(to.as_read(), stored.clone())).await?;
            assert_eq!(back, Write::Applied);
        }
    }
    Ok(())
}

/// Every repeat sends the same bytes: they come back as they were frozen.
pub async fn an_action_comes_back_with_every_field<S: Store>(store: &S) -> anyhow::Result<()> {
    let action = Sample::new().full_action("order_1");
    begin(store, &action).await?;
    assert_eq!(read(store, &action).await?, action);
    Ok(())
}

/// What has not happened is absent, and is absent again in a next generation.
pub async fn an_action_comes_back_without_what_has_not_happened<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let mut bare = sample.action("order_1");
    bare.request.body = Vec::new();
    begin(store, &bare).await?;
    assert_eq!(read(store, &bare).await?, bare);
    for to in [sample.full_action("order_1"), bare] {
        let stored = read(store, &to).await?;
        let write = store.write(&Transition::action(stored.as_read(), to.clone())).await?;
        assert_eq!((write, read(store, &to).await?), (Write::Applied, to));
    }
    Ok(())
}

/// INV-2: fifty workers find no action, and one begins it.
pub async fn an_absent_action_is_begun_by_one_of_fifty<S: Store>(store: &S) -> anyhow::Result<()> {
    let action = Sample::new().action("order_1");
    let claims: Vec<_> = (0..50)
        .map(|number| Action { owner: OwnerNonce::new(format!("owner-{number}")), ..action.clone() })
        .map(|action| (action.owner.clone(), Transition::action(ActionGuard::Absent, action)))
        .collect();
    let ends = join_all(claims.iter().map(|(_, claim)| write_to_its_end(store, claim))).await;
    let mut owners = Vec::new();
    for ((owner, _), end) in claims.iter().zip(ends) {
        owners.extend((end? == Write::Applied).then(|| owner.clone()));
    }
    assert_eq!(owners, [read(store, &action).await?.owner]);
    Ok(())
}

/// INV-5: a claim is of the action as it was read.
pub async fn a_claim_names_the_status_generation_and_token_it_read<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let (status, generation, token) =
        (ActionStatus::Ready, Generation::from_stored(2), Token::from_stored(5));
    let stored = Action { status, generation, token, ..Sample::new().action("order_1") };
    begin(store, &stored).await?;
    let to = Action {
        status: ActionStatus::Begun,
        token: token.next(),
        owner: "owner-2".into(),
        ..stored.clone()
    };
    let statuses = ActionStatus::ALL.map(|status| {
        let expected = if status == ActionStatus::Ready { Write::Applied } else { Write::Refused };
        (ActionGuard::AsRead { status, generation, token }, expected)
    });
    let others = [
        ActionGuard::AsRead { status, generation: Generation::FIRST, token },
        ActionGuard::AsRead { status, generation: generation.next(), token },
        ActionGuard::AsRead { status, generation, token: Token::from_stored(4) },
        ActionGuard::AsRead { status, generation, token: token.next() },
        ActionGuard::Absent,
    ];
    let refused = others.map(|guard| (guard, Write::Refused));
    try_guards(store, &stored, &to, statuses.into_iter().chain(refused)).await
}

/// INV-5: the late write of a worker whose action was taken over is refused.
pub async fn an_owner_writes_only_under_its_own_token<S: Store>(store: &S) -> anyhow::Result<()> {
    let stored = Action { token: Token::from_stored(5), ..Sample::new().action("order_1") };
    begin(store, &stored).await?;
    let to = Action { result: Some(EffectResult("task_9".to_owned())), ..stored.clone() };
    let held =
        |owner: &str, token: u64| ActionGuard::Held { owner: owner.into(), token: Token::from_stored(token) };
    let guards = [
        (held("owner-1", 5), Write::Applied),
        (held("owner-1", 4), Write::Refused),
        (held("owner-1", 6), Write::Refused),
        (held("owner-2", 5), Write::Refused),
        (held("", 5), Write::Refused),
    ];
    try_guards(store, &stored, &to, guards).await?;
    let absent = Sample::new().action("order_none");
    let write = store.write(&Transition::action(absent.held(), absent.clone())).await?;
    assert_eq!((write, store.action(&absent.key).await?), (Write::Refused, None));
    Ok(())
}

/// Marking in doubt keeps the token, so the owner's late evidence counts.
pub async fn an_owner_still_settles_what_was_marked_in_doubt<S: Store>(store: &S) -> anyhow::Result<()> {
    let begun = Sample::new().action("order_1");
    begin(store, &begun).await?;
    let doubted = Action {
        status: ActionStatus::InDoubt,
        doubted: true,
        reason: Some(Reason::bare(Slug::LeaseExpired)),
        settled_at: Some(NOW),
        ..begun.clone()
    };
    let done = Action { status: ActionStatus::Done, ..doubted.clone() };
    let mark = store.write(&Transition::action(begun.as_read(), doubted)).await?;
    let settle = store.write(&Transition::action(begun.held(), done.clone())).await?;
    assert_eq!((mark, settle), (Write::Applied, Write::Applied));
    assert_eq!(read(store, &begun).await?, done);
    Ok(())
}

/// INV-4: one recorded effect per generation. Ready, done and rejected are
/// nobody's any more.
pub async fn nobody_settles_what_is_settled<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    for status in [ActionStatus::Ready, ActionStatus::Done, ActionStatus::Rejected] {
        let stored = Action { status, ..sample.action(status.as_str()) };
        begin(store, &stored).await?;
        let to = Action { status: ActionStatus::InDoubt, settled_at: Some(NOW), ..stored.clone() };
        try_guards(store, &stored, &to, [(stored.held(), Write::Refused)]).await?;
    }
    Ok(())
}

/// A claim whose answer was lost is told from another's by the owner alone.
pub async fn an_own_retried_claim_counts_as_applied_and_anothers_does_not<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let action = Sample::new().action("order_1");
    begin(store, &action).await?;
    let lease_until = action.lease_until.plus(Duration::from_secs(30));
    let takeover = |owner: &str| Action {
        owner: owner.into(),
        token: action.token.next(),
        lease_until,
        doubted: true,
        ..action.clone()
    };
    let claims = ["owner-2", "owner-3"].map(|owner| Transition::action(action.as_read(), takeover(owner)));
    assert_eq!(store.write(&claims[0]).await?, Write::Applied);
    assert_eq!(store.write(&claims[1]).await?, Write::Refused);
    assert_eq!(store.write(&claims[0]).await?, Write::Applied);
    assert_eq!(read(store, &action).await?, takeover("owner-2"));
    // Nor does the very first claim, now that it was taken over.
    let first = Transition::action(ActionGuard::Absent, action);
    assert_eq!(store.write(&first).await?, Write::Refused);
    Ok(())
}

/// A request that fits into no item is told apart from what may be tried again.
pub async fn a_frozen_request_larger_than_an_item_is_refused_for_good<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let mut action = Sample::new().action("order_1");
    action.request.body = vec![b'x'; 410_000];
    let end = store.write(&Transition::action(ActionGuard::Absent, action.clone())).await;
    assert!(matches!(end, Err(StoreError::Invalid(_))), "{end:?}");
    assert_eq!(store.action(&action.key).await?, None);
    Ok(())
}

/// A transition that only looks at the action, beside a write of the event.
fn looking(event: Transition, action: &Action) -> Transition {
    Transition { action: Some(ActionWrite::Check { action: Box::new(action.clone()) }), ..event }
}

/// An event follows its action without touching it.
pub async fn a_look_at_an_action_passes_as_read_and_writes_nothing<S: Store>(
    store: &S,
) -> anyhow::Result<()> {
    let sample = Sample::new();
    let (event, action) = (sample.event("evt_1"), sample.action("order_1"));
    store.create_event(&event).await?;
    begin(store, &action).await?;
    // What a look compares is where the action stands, not who holds it.
    let as_read = Action { owner: "owner-other".into(), ..action.clone() };
    let write = event_write(&event.key, event.guard(), progress(EventStatus::Processing));
    assert_eq!(store.write(&looking(write, &as_read)).await?, Write::Applied);
    assert_eq!(read(store, &action).await?, action);
    assert_eq!(read_event(store, &event.key).await?.progress, progress(EventStatus::Processing));
    Ok(())
}

/// INV-4: nobody is processed on the strength of an action that has moved.
pub async fn a_look_at_an_action_that_moved_stops_the_whole_write<S: Store>(store: &S) -> anyhow::Result<()> {
    let sample = Sample::new();
    let (event, action) = (sample.event("evt_1"), sample.action("order_1"));
    store.create_event(&event).await?;
    begin(store, &action).await?;
    let moved = [
        Action { status: ActionStatus::Done, ..action.clone() },
        Action { generation: Generation::from_stored(2), ..action.clone() },
        Action { token: Token::from_stored(2), ..action.clone() },
        sample.action("order_none"),
    ];
    for as_read in moved {
        let write = event_write(&event.key, event.guard(), progress(EventStatus::Processed));
        assert_eq!(store.write(&looking(write, &as_read)).await?, Write::Refused, "{as_read:?}");
        assert_eq!(read_event(store, &event.key).await?, event);
    }
    assert_eq!(read(store, &action).await?, action);
    assert_eq!(store.action(&sample.action_key("order_none")).await?, None);
    Ok(())
}
