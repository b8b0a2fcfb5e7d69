//! The claim: one transaction in which the resource moves, the action is begun
//! and the event remembers it. After it only the action counts.

use super::begin::{Asks, Begin};
use super::probe::can_ask;
use super::step::At;
use super::{Decision, End, Intent, Late, Read, Then, Wanted, follow};
use crate::config::InDoubt;
use crate::ids::Version;
use crate::protocol::action::{Action, ActionStatus};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::order::{Move, Verdict, judge};
use crate::protocol::policy::{EffectPolicy, Lease, Stamp, Worker};
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::resource::{Resource, ResourceGuard};
use crate::protocol::transition::{ActionWrite, ResourceWrite, Transition};
use crate::time::UnixMillis;
use std::time::Duration;

/// An event that nothing is bound to, and all that its claim names.
pub(super) struct Planned<'a> {
    pub event: &'a Event,
    pub intent: &'a Intent<'a>,
    pub resource: Option<&'a Resource>,
    pub action: Option<&'a Action>,
    pub stamp: Stamp,
    pub worker: &'a Worker,
}

/// An event that has won its move, and its action.
pub(super) struct Bound<'a> {
    pub event: &'a Event,
    pub action: Option<&'a Action>,
    pub policy: Option<&'a EffectPolicy>,
    pub intent: Option<&'a Intent<'a>>,
    pub stamp: Stamp,
    pub worker: &'a Worker,
}

/// Decides what becomes of an unclaimed event under today's rules.
pub(super) fn from_intent(planned: &Planned<'_>, at: At<'_>) -> Decision {
    let event = planned.event;
    let end_as =
        |status, reason| Decision::write(at.event_to(event, status, Some(reason)), Then::End(End::Drop));
    let (moves, wanted) = match planned.intent {
        // A missing payload is a wait: its delivery may still be writing it,
        // or the vendor's retry brings it.
        Intent::PayloadMissing => return Decision::End(End::Wait(at.now.plus(at.limits.first_sweep))),
        Intent::Nothing(reason) => return end_as(EventStatus::Ignored, reason.clone()),
        Intent::Hold(reason) => return end_as(EventStatus::Held, reason.clone()),
        Intent::Unknown { reason, not_before } => return ask_again(event, reason, *not_before, at),
        Intent::Unknowable(reason) => return at.fail(event, reason.clone(), Some(planned.stamp.stamped_at)),
        Intent::Act { moves, action } => (moves.as_ref(), action.as_ref()),
    };
    let verdict = moves.map(|wanted| judge(wanted, planned.resource, at.now));
    match (verdict, wanted) {
        (Some(Verdict::TooFarAhead), _) => end_as(EventStatus::Held, Reason::bare(Slug::FarFuture)),
        (Some(Verdict::Outdated), _) => {
            let cause = "the answer is older than an earlier one";
            ask_again(event, &Reason::with(Slug::TruthOlder, cause), None, at)
        }
        (Some(Verdict::UnknownStatus), _) => end_as(EventStatus::Held, Reason::bare(Slug::UnknownStatus)),
        (Some(Verdict::Late), None) => end_as(EventStatus::Ignored, Reason::bare(Slug::Late)),
        (Some(Verdict::Late), Some(wanted)) if wanted.late == Late::Skip => {
            end_as(EventStatus::Ignored, Reason::bare(Slug::Late))
        }
        (_, None) => {
            let mut transition = at.event_to(event, EventStatus::Processed, None);
            transition.resource = moved(planned, moves, verdict, at);
            Decision::write(transition, Then::End(End::Drop))
        }
        (_, Some(wanted)) => {
            let resource = moved(planned, moves, verdict, at);
            meet(planned, wanted, resource, at)
        }
    }
}

/// The vendor's API is asked again later. Why stands in the event, so that
/// people see what it waits for; the same reason is not written twice.
fn ask_again(event: &Event, reason: &Reason, not_before: Option<Duration>, at: At<'_>) -> Decision {
    let end = End::AskAgain { not_before };
    if event.progress.reason.as_ref() == Some(reason) {
        return Decision::End(end);
    }
    let mut transition = at.event_to(event, EventStatus::Received, Some(reason.clone()));
    if let Some(write) = &mut transition.event {
        write.to.due = Some(at.later_due(event));
    }
    Decision::write(transition, Then::End(end))
}

/// The resource's part of the claim.
fn moved(
    planned: &Planned<'_>,
    moves: Option<&Move<'_>>,
    verdict: Option<Verdict>,
    at: At<'_>,
) -> Option<ResourceWrite> {
    let wanted = moves.filter(|_| matches!(verdict, Some(Verdict::Moves | Verdict::Confirms)))?;
    let to = Resource {
        key: wanted.resource.clone(),
        status: wanted.to.clone(),
        order: wanted.order.clone(),
        version: planned.resource.map_or(Version::FIRST, |resource| resource.version.next()),
        moved_by: planned.event.key.clone(),
        moved_at: at.now,
    };
    Some(ResourceWrite { from: ResourceGuard::of(planned.resource), to })
}

/// The wanted action meets the action as it stands.
fn meet(planned: &Planned<'_>, wanted: &Wanted, resource: Option<ResourceWrite>, at: At<'_>) -> Decision {
    let event = planned.event;
    let begin = Begin { event, asks: Asks::of(wanted), worker: planned.worker };
    let (mut transition, then) = match planned.action {
        None => match begin.first(wanted, at) {
            Ok(transition) => (transition, Then::Call),
            Err(end) => return Decision::End(end),
        },
        Some(action) if action.status == ActionStatus::Ready => match begin.again(action, false, at) {
            Ok(transition) => (transition, Then::Call),
            Err(end) => return Decision::End(end),
        },
        Some(action) => match follow::end(event, action, Some(planned.stamp.stamped_at), at) {
            Some(transition) => (transition, Then::End(end_of(action))),
            None if action.status == ActionStatus::Rejected => match begin.anew(action, at) {
                Ok(transition) => (transition, Then::Call),
                Err(end) => return Decision::End(end),
            },
            // Begun by another: the resource moves, the event waits for that
            // action without a lease of its own.
            None => (bind(event, action, at), Then::End(End::Wait(action.lease_until))),
        },
    };
    transition.resource = resource;
    if planned.action.is_some_and(|action| action.input != wanted.input) {
        show_other_input(&mut transition);
    }
    Decision::write(transition, then)
}

/// The action is the one that was asked for first; that this event asked with
/// other values is shown where the event itself goes on.
fn show_other_input(transition: &mut Transition) {
    if let Some(write) = &mut transition.event
        && matches!(write.to.status, EventStatus::Processing | EventStatus::Processed)
    {
        write.to.reason = Some(Reason::bare(Slug::OtherInput));
    }
}

/// How the message ends when its event follows this settled action.
fn end_of(action: &Action) -> End {
    if action.status == ActionStatus::Rejected { End::Fail } else { End::Drop }
}

/// The event shares an action that another event's worker holds.
fn bind(event: &Event, action: &Action, at: At<'_>) -> Transition {
    let mut transition = at.event_to(event, EventStatus::Processing, None);
    if let Some(write) = &mut transition.event {
        write.to.action = Some(action.key.clone());
        write.to.action_generation = Some(action.generation);
    }
    transition
}

/// Decides for an event that has won its move: only its action counts.
pub(super) fn bound(bound: &Bound<'_>, at: At<'_>) -> Decision {
    let event = bound.event;
    let stamped_at = Some(bound.stamp.stamped_at);
    let Some(action) = bound.action else {
        return gone(event, at);
    };
    if let Some(transition) = follow::end(event, action, stamped_at, at) {
        return Decision::write(transition, Then::End(end_of(action)));
    }
    if event.progress.status == EventStatus::InDoubt {
        return Decision::End(End::Drop);
    }
    match action.status {
        // Our own claim is as good as a call that has begun; nothing else begins.
        ActionStatus::Ready | ActionStatus::Rejected if at.is_paused() => at.wait_for_the_pause(),
        ActionStatus::Begun
            if at.is_paused() && action.owner != bound.worker.owner && repeats(bound, action, at) =>
        {
            at.wait_for_the_pause()
        }
        ActionStatus::Ready if at.exhausted(event) => {
            at.fail_while_standing(event, action, exhausted(action), stamped_at)
        }
        // Another version may know whom to call.
        ActionStatus::Ready if bound.policy.is_none() && at.takes_over(event) => {
            Decision::End(End::AskAgain { not_before: None })
        }
        ActionStatus::Ready if bound.policy.is_none() => {
            at.fail_while_standing(event, action, destination_gone(action), stamped_at)
        }
        ActionStatus::Ready => {
            let begin = Begin { event, asks: Asks::again(action), worker: bound.worker };
            claimed(begin.again(action, false, at))
        }
        // Our own claim, whose answer was lost: the nonce is drawn anew for
        // each look, so nobody has called under it yet.
        ActionStatus::Begun if action.owner == bound.worker.owner => Decision::Call,
        ActionStatus::Begun if at.now < action.lease_until => Decision::End(End::Wait(action.lease_until)),
        ActionStatus::Begun => expired(bound, action, at),
        // Rejected before this round was opened: a human wants it anew. The
        // bytes are today's where the rules still name the same action.
        ActionStatus::Rejected => match (bound.intent, bound.policy) {
            (_, None) => at.fail(event, destination_gone(action), stamped_at),
            (None, Some(_)) => Decision::Read(Read::Intent),
            // What would be frozen for the next generation is not known.
            (Some(Intent::Unknown { not_before, .. }), Some(_)) => {
                Decision::End(End::AskAgain { not_before: *not_before })
            }
            (Some(Intent::Unknowable(reason)), Some(_)) => at.fail(event, reason.clone(), stamped_at),
            (Some(intent), Some(_)) => match same_action(intent, action).or_else(|| Asks::anew(action)) {
                Some(asks) => claimed(Begin { event, asks, worker: bound.worker }.anew(action, at)),
                None => {
                    let cause = "what was sent before was erased, and today's rules name another action";
                    at.fail(event, Reason::with(Slug::Rejected, cause), stamped_at)
                }
            },
        },
        ActionStatus::Done | ActionStatus::InDoubt => Decision::End(End::Drop),
    }
}

/// What today's rules would freeze for the very same action.
pub(super) fn same_action<'a>(intent: &'a Intent<'_>, action: &Action) -> Option<Asks<'a>> {
    match intent {
        Intent::Act { action: Some(wanted), .. } if wanted.key == action.key => Some(Asks::of(wanted)),
        _ => None,
    }
}

/// A begun action whose lease has run out: expiry alone never runs an effect
/// again (INV-2); the destination's policy decides.
fn expired(bound: &Bound<'_>, action: &Action, at: At<'_>) -> Decision {
    let event = bound.event;
    if repeats(bound, action, at) && !at.exhausted(event) {
        let begin = Begin { event, asks: Asks::again(action), worker: bound.worker };
        return claimed(begin.again(action, true, at));
    }
    // Asking repeats nothing, so only the round's age bounds it.
    if can_ask(bound.policy) && !at.too_old(event) {
        return match bound.worker.lease {
            Lease::Until(_) => Decision::Probe,
            Lease::TooLittleTime => Decision::End(End::Wait(at.now)),
        };
    }
    if bound.policy.is_none() && at.takes_over(event) {
        return Decision::End(End::AskAgain { not_before: None });
    }
    doubt(event, action, at)
}

/// Would this worker's lease still allow to repeat the call?
fn repeats(bound: &Bound<'_>, action: &Action, at: At<'_>) -> bool {
    let until = match bound.worker.lease {
        Lease::Until(until) => until,
        Lease::TooLittleTime => at.now,
    };
    bound.policy.is_some_and(|policy| may_repeat(policy, action, until))
}

/// May a call be repeated with a lease until then? Only where the destination
/// honours the key, and only within the time it says, from the first begin.
pub(super) fn may_repeat(policy: &EffectPolicy, action: &Action, until: UnixMillis) -> bool {
    policy.in_doubt == InDoubt::Retry
        && policy.honours_key_for.is_some_and(|honours| until <= action.first_begun_at.plus(honours))
}

/// Action and event go in doubt together. The token stays, so that the
/// owner's late evidence still settles the action; and `doubted` stays as it
/// is: the answer of the only caller is no less certain for being late (INV-6).
pub(super) fn doubt(event: &Event, action: &Action, at: At<'_>) -> Decision {
    let reason = action.reason.clone().unwrap_or(Reason::bare(Slug::LeaseExpired));
    let marked = Action {
        status: ActionStatus::InDoubt,
        reason: Some(reason.clone()),
        settled_at: Some(at.now),
        ..action.clone()
    };
    let mut transition = at.event_to(event, EventStatus::InDoubt, Some(reason));
    transition.action = Some(ActionWrite::Put { from: action.as_read(), to: Box::new(marked) });
    Decision::write(transition, Then::End(End::Drop))
}

/// The event was bound to an action that is no longer there: it was durably
/// begun once (INV-6), so what became of it is unknown.
pub(super) fn gone(event: &Event, at: At<'_>) -> Decision {
    if event.progress.status == EventStatus::InDoubt {
        return Decision::End(End::Drop);
    }
    let reason = Reason::bare(Slug::ActionGone);
    Decision::write(at.event_to(event, EventStatus::InDoubt, Some(reason)), Then::End(End::Drop))
}

/// The store will never take what was to be written for a bound event: the
/// next generation's request is too large. Over a begun action nothing is
/// known to have failed but this message.
pub(super) fn refused(
    event: &Event,
    action: Option<&Action>,
    cause: &str,
    stamp: Stamp,
    at: At<'_>,
) -> Decision {
    match action {
        Some(action) if matches!(action.status, ActionStatus::Ready | ActionStatus::Rejected) => {
            let reason = Reason::with(Slug::StoreRefused, cause);
            at.fail_while_standing(event, action, reason, Some(stamp.stamped_at))
        }
        _ => Decision::End(End::Fail),
    }
}

pub(super) fn exhausted(action: &Action) -> Reason {
    let cause = action.reason.as_ref().and_then(|reason| reason.cause.clone());
    Reason { slug: Slug::AttemptsExhausted, cause }
}

pub(super) fn destination_gone(action: &Action) -> Reason {
    Reason::with(Slug::DestinationGone, format!("no destination `{}`", action.request.destination))
}

fn claimed(transition: Result<Transition, End>) -> Decision {
    match transition {
        Ok(transition) => Decision::write(transition, Then::Call),
        Err(end) => Decision::End(end),
    }
}
