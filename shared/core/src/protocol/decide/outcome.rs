//! A call ended: one write on owner and token.

use super::claim::may_repeat;
use super::probe::can_ask;
use super::step::At;
use super::{Decision, End, Then};
use crate::ports::Outcome;
use crate::protocol::action::{Action, ActionStatus};
use crate::protocol::event::Event;
use crate::protocol::policy::EffectPolicy;
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::transition::Transition;
use std::time::Duration;

/// Settles the action that this worker owns; the event follows.
pub(super) fn settle(
    event: &Event,
    action: &Action,
    policy: Option<&EffectPolicy>,
    outcome: &Outcome,
    at: At<'_>,
) -> Decision {
    let write = |to: Action, then: Then| Decision::write(Transition::action(action.held(), to), then);
    match outcome {
        Outcome::Done(result) => {
            let done = Action {
                status: ActionStatus::Done,
                result: Some(result.clone()),
                reason: None,
                settled_at: Some(at.now),
                ..action.clone()
            };
            write(done, Then::Decide)
        }
        // INV-6: after a call that nobody knows the end of, a later no is not
        // certain, unless the destination declares it decisive.
        Outcome::Rejected { cause, decisive: false } if action.doubted => {
            unknown(event, action, policy, (cause, None), at)
        }
        Outcome::NotStarted { cause, not_before, decisive: false } if action.doubted => {
            unknown(event, action, policy, (cause, *not_before), at)
        }
        Outcome::Rejected { cause, .. } => {
            let rejected = Action {
                status: ActionStatus::Rejected,
                reason: Some(Reason::with(Slug::Rejected, cause)),
                settled_at: Some(at.now),
                ..action.clone()
            };
            write(rejected, Then::Decide)
        }
        Outcome::NotStarted { cause, not_before, .. } => not_started(event, action, (cause, *not_before), at),
        Outcome::Unknown { cause, not_before } => unknown(event, action, policy, (cause, *not_before), at),
    }
}

/// Ready again, while it is still begun. What was marked in doubt meanwhile
/// never goes back (INV-3): it certainly did not happen, so it is over, and a
/// human may send it round again.
fn not_started(
    event: &Event,
    action: &Action,
    (cause, not_before): (&str, Option<Duration>),
    at: At<'_>,
) -> Decision {
    let reason = Some(Reason::with(Slug::NotStarted, cause));
    let (to, then) = if action.status == ActionStatus::InDoubt {
        let status = ActionStatus::Rejected;
        (Action { status, reason, settled_at: Some(at.now), ..action.clone() }, Then::Decide)
    } else {
        let status = ActionStatus::Ready;
        (Action { status, reason, ..action.clone() }, retry_or_decide(event, not_before, at))
    };
    // As read: the token is this owner's alone, and `held` would let the write
    // pass over a mark of doubt.
    Decision::write(Transition::action(action.as_read(), to), then)
}

/// Another try, or at the bound the decision that ends it.
fn retry_or_decide(event: &Event, not_before: Option<Duration>, at: At<'_>) -> Then {
    if at.exhausted(event) {
        return Then::Decide;
    }
    Then::End(End::Retry { attempts: event.progress.attempts, not_before })
}

/// Nobody knows: still begun where the destination honours the key or can be
/// asked (the lease is given back, so that the next look need not wait for
/// it), else in doubt.
fn unknown(
    event: &Event,
    action: &Action,
    policy: Option<&EffectPolicy>,
    (cause, not_before): (&str, Option<Duration>),
    at: At<'_>,
) -> Decision {
    if action.status == ActionStatus::InDoubt {
        // Marked already, and this is no evidence.
        return Decision::End(End::Drop);
    }
    let reason = Some(Reason::with(Slug::NoAnswer, cause));
    let doubted = Action { doubted: true, reason, ..action.clone() };
    let repeats = policy.is_some_and(|policy| may_repeat(policy, action, at.now)) && !at.exhausted(event);
    if repeats || can_ask(policy) {
        let begun = Action { lease_until: at.now, ..doubted };
        let then = Then::End(End::Retry { attempts: event.progress.attempts, not_before });
        return Decision::write(Transition::action(action.as_read(), begun), then);
    }
    let marked = Action { status: ActionStatus::InDoubt, settled_at: Some(at.now), ..doubted };
    Decision::write(Transition::action(action.as_read(), marked), Then::Decide)
}
