//! The sweeper found an event due. It calls nothing itself: it enqueues again,
//! or at a bound writes the end that a human will see.

use super::claim::{doubt, exhausted, gone, may_repeat};
use super::probe::can_ask;
use super::step::{At, apart};
use super::{Decision, End, Read, Then, follow};
use crate::protocol::action::{Action, ActionStatus};
use crate::protocol::event::{Event, EventStatus, Progress};
use crate::protocol::policy::EffectPolicy;
use crate::protocol::reason::{Reason, Slug};

/// Decides on the event alone where that is enough.
pub(super) fn looks_at(event: &Event, at: At<'_>) -> Decision {
    let progress = &event.progress;
    match (progress.status, &progress.action) {
        // The index was stale, or another sweeper was here.
        _ if !at.is_due(event) => Decision::End(End::Drop),
        (EventStatus::Received | EventStatus::Processing | EventStatus::InDoubt, Some(action)) => {
            Decision::Read(Read::Action(action.clone()))
        }
        (EventStatus::Received | EventStatus::Processing, None) if at.turn(event).is_some() => {
            wait(event, at)
        }
        (EventStatus::Received | EventStatus::Processing, None) if reached(event, at) => {
            Decision::write(at.failed(event, bound_reached(event), None), Then::End(End::Drop))
        }
        (EventStatus::Received | EventStatus::Processing, None) => later(event, Then::End(End::Send), at),
        (EventStatus::InDoubt, None) => later(event, Then::End(End::Drop), at),
        (EventStatus::Processed | EventStatus::Ignored | EventStatus::Failed | EventStatus::Held, _) => {
            Decision::End(End::Drop)
        }
    }
}

/// Decides for an event that has won its move.
pub(super) fn bound(
    event: &Event,
    action: Option<&Action>,
    policy: Option<&EffectPolicy>,
    at: At<'_>,
) -> Decision {
    let Some(action) = action else {
        return match event.progress.status {
            EventStatus::InDoubt => later(event, Then::End(End::Drop), at),
            _ => gone(event, at),
        };
    };
    if let Some(transition) = follow::end(event, action, None, at) {
        return Decision::write(transition, Then::End(End::Drop));
    }
    match (event.progress.status, action.status) {
        (EventStatus::InDoubt, _) => later(event, Then::End(End::Drop), at),
        (_, ActionStatus::Ready | ActionStatus::Rejected) if at.turn(event).is_some() => wait(event, at),
        (_, ActionStatus::Ready | ActionStatus::Rejected) if reached(event, at) => {
            drop_instead_of_fail(at.fail_while_standing(event, action, exhausted(action), None))
        }
        // Begun: the lease first, then the destination's policy, ending in doubt.
        (_, ActionStatus::Begun) if at.now >= action.lease_until => {
            let repeatable = policy.is_some_and(|policy| may_repeat(policy, action, at.now));
            // Of asking the sweeps are the bound, not the tries.
            let unknown = policy.is_none() && at.takes_over(event);
            let askable = (can_ask(policy) || unknown) && !swept_out(event, at);
            if repeatable && at.turn(event).is_some() {
                wait(event, at)
            } else if (repeatable && !reached(event, at)) || askable {
                later(event, Then::End(End::Send), at)
            } else {
                doubt(event, action, at)
            }
        }
        (_, ActionStatus::Begun) => later(event, Then::End(End::Drop), at),
        (_, ActionStatus::Ready | ActionStatus::Rejected | ActionStatus::Done | ActionStatus::InDoubt) => {
            later(event, Then::End(End::Send), at)
        }
    }
}

/// How often it was tried, and what it waited for.
fn bound_reached(event: &Event) -> Reason {
    let swept = format!("swept {} times", event.progress.sweeps);
    let waited = event.progress.reason.as_ref().map(|reason| {
        let cause = reason.cause.as_deref().unwrap_or("no cause");
        format!("{swept}; {}: {cause}", reason.slug.as_str())
    });
    Reason::with(Slug::BoundReached, waited.unwrap_or(swept))
}

/// Has this round reached a bound at which the sweeper itself ends it?
fn reached(event: &Event, at: At<'_>) -> bool {
    event.progress.sweeps >= at.limits.sweeps || at.exhausted(event)
}

/// The same, whatever was tried.
fn swept_out(event: &Event, at: At<'_>) -> bool {
    event.progress.sweeps >= at.limits.sweeps || at.too_old(event)
}

/// The next look, at a growing interval. Written before anything is sent: of
/// several sweepers with one reading one sends, and a crash between leaves the
/// event to the next look.
fn later(event: &Event, then: Then, at: At<'_>) -> Decision {
    let sweeps = event.progress.sweeps.saturating_add(1);
    let due = Some(apart(event, at.limits.next_sweep(sweeps, at.now)));
    goes_on(event, Progress { sweeps, due, waits: false, ..event.progress.clone() }, then, at)
}

/// It waits at the gate, which is no sweep (INV-8).
fn wait(event: &Event, at: At<'_>) -> Decision {
    let to = Progress { due: at.turn(event), waits: true, ..event.progress.clone() };
    goes_on(event, to, Then::End(End::Drop), at)
}

fn goes_on(event: &Event, mut to: Progress, then: Then, at: At<'_>) -> Decision {
    // Nothing open can reach its TTL (INV-9): what will have used half of its
    // window by the next look loses it, and gets a new one when it is finished.
    // The next look is hours off at most, half a window more than that: by then
    // the delivery that created the event has put its payload, or is dead.
    let next = to.due.map_or(at.now, |due| due.max(at.now));
    let half = next.plus(at.limits.window / 2);
    if event.progress.expires.is_some_and(|expires| expires.as_millis() <= half) {
        to.expires = None;
    }
    Decision::write(at.event_with(event, to), then)
}

/// The sweeper has no record to fail.
fn drop_instead_of_fail(decision: Decision) -> Decision {
    match decision {
        Decision::Write { transition, .. } => Decision::Write { transition, then: Then::End(End::Drop) },
        other => other,
    }
}
