//! A destination was asked whether an effect happened.

use super::step::At;
use super::{Decision, End, Then};
use crate::config::InDoubt;
use crate::ports::Found;
use crate::protocol::action::{Action, ActionStatus};
use crate::protocol::policy::EffectPolicy;
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::transition::Transition;
use crate::time::UnixMillis;
use std::time::Duration;

/// How long a call may still take effect at a destination that is gone from
/// the configuration: nobody knows any more what it promised, so rather long.
const SETTLING_OF_A_GONE_DESTINATION: Duration = Duration::from_secs(3600);

/// Can the destination be asked what became of a call?
pub(super) fn can_ask(policy: Option<&EffectPolicy>) -> bool {
    policy.is_some_and(|policy| policy.in_doubt == InDoubt::Probe)
}

/// From when on nothing of the last call is on its way any more: before, nobody
/// can say that it did not happen (INV-2).
pub fn quiet_from(action: &Action, policy: Option<&EffectPolicy>) -> UnixMillis {
    let settled = policy.map_or(SETTLING_OF_A_GONE_DESTINATION, |policy| policy.timeout + policy.settling);
    action.lease_until.plus(settled)
}

/// Settles the action by what its destination says. Every write is on the
/// action as it was read before the question: whoever took it over, or settled
/// it, meanwhile knows better (INV-5).
pub(super) fn settle(
    action: &Action,
    policy: Option<&EffectPolicy>,
    (found, asked_at): (&Found, UnixMillis),
    at: At<'_>,
) -> Decision {
    let open = match action.status {
        ActionStatus::Begun => at.now >= action.lease_until,
        ActionStatus::InDoubt => true,
        ActionStatus::Ready | ActionStatus::Done | ActionStatus::Rejected => false,
    };
    if !open {
        return Decision::End(End::Wait(action.lease_until.max(at.now)));
    }
    let write = |to: Action| Decision::write(Transition::action(action.as_read(), to), Then::Decide);
    match found {
        Found::Done(result) => write(Action {
            status: ActionStatus::Done,
            result: Some(result.clone()),
            reason: None,
            settled_at: Some(at.now),
            ..action.clone()
        }),
        // Until lease, deadline and settling time were over when the question
        // was asked, the effect could still come: not yet is not never (INV-6).
        Found::NotDone(_) if asked_at < quiet_from(action, policy) => {
            Decision::End(End::Wait(quiet_from(action, policy)))
        }
        Found::NotDone(cause) => write(not_done(action, cause, at)),
        // Asked again after a while; the sweeper's bounds end the asking.
        Found::Unknown(_) => Decision::End(End::Wait(at.now.plus(at.limits.first_sweep))),
    }
}

/// It certainly did not happen, and nothing of it is on its way: the doubt is
/// over, and whoever claims may begin it again. What was marked in doubt never
/// goes back (INV-3): it is rejected, and a human may send it round again.
fn not_done(action: &Action, cause: &str, at: At<'_>) -> Action {
    let reason = Some(Reason::with(Slug::NotStarted, cause));
    match action.status {
        ActionStatus::InDoubt => {
            Action { status: ActionStatus::Rejected, reason, settled_at: Some(at.now), ..action.clone() }
        }
        _ => Action { status: ActionStatus::Ready, doubted: false, reason, ..action.clone() },
    }
}
