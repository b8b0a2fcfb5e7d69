//! Mistakes about how events end, begin again, and what they keep.

use super::{Decided, action_of, event_of, on_write, with_action, with_event};
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::decide::{Decision, End, Input, State, decide};
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::protocol::policy::{Limits, MOVED_AFTER, Stamp};
use sekali::protocol::transition::PayloadTtl;
use sekali::time::UnixMillis;
use std::time::Duration;

/// At a bound the event fails whatever its action does.
pub(super) fn fails_over_begun(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (action_of(&state), input) {
        (Some(action), Input::Sweep) if action.status == ActionStatus::Begun => {
            let ready = Action { status: ActionStatus::Ready, ..action.clone() };
            on_write(decide(with_action(state, &ready), input, now, limits), |transition| {
                transition.action = None;
            })
        }
        _ => decide(state, input, now, limits),
    }
}

/// The next generation forgets what the event had won.
pub(super) fn forgets_its_action(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let before = event_of(&state).map(|event| event.progress.generation);
    on_write(decide(state, input, now, limits), |transition| {
        if let Some(write) = &mut transition.event
            && before.is_some_and(|generation| generation < write.to.generation)
        {
            (write.to.action, write.to.action_generation) = (None, None);
        }
    })
}

/// Any message that is younger than the failure opens a round.
pub(super) fn late_message_redrives(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match input {
        Input::Message { stamp, worker } => {
            let written_at = stamp.stamped_at.minus(MOVED_AFTER + Duration::from_secs(1));
            let stamp = Stamp { written_at, ..stamp };
            decide(state, Input::Message { stamp, worker }, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// A moved message sends an event in doubt round.
pub(super) fn redrives_doubt(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (state, input) {
        (State::Stored(event), Input::Message { stamp, .. })
            if stamp.moved() && event.progress.status == EventStatus::InDoubt =>
        {
            let failed_at = Some(UnixMillis(0));
            let progress = Progress { status: EventStatus::Failed, failed_at, ..event.progress.clone() };
            let failed = Event { progress, ..event.clone() };
            on_write(decide(State::Stored(&failed), input, now, limits), |transition| {
                if let Some(write) = &mut transition.event {
                    write.from.status = EventStatus::InDoubt;
                }
            })
        }
        _ => decide(state, input, now, limits),
    }
}

/// An event in doubt is left alone.
pub(super) fn doubt_does_not_follow(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let in_doubt = event_of(&state).is_some_and(|event| event.progress.status == EventStatus::InDoubt);
    match input {
        Input::Message { .. } | Input::Sweep if in_doubt => Ok(Decision::End(End::Drop)),
        _ => decide(state, input, now, limits),
    }
}

/// An event in doubt over an older generation waits for one that is not its own.
pub(super) fn waits_for_a_strange_generation(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (event_of(&state), action_of(&state)) {
        (Some(event), Some(action)) if event.progress.status == EventStatus::InDoubt => {
            let action_generation = Some(action.generation);
            let progress = Progress { action_generation, ..event.progress.clone() };
            let strange = Event { progress, ..event.clone() };
            decide(with_event(state, &strange), input, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

pub(super) fn no_bound_of_sweeps(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    decide(state, input, now, &Limits { sweeps: u32::MAX, ..limits.clone() })
}

/// A round over a rejected action is swept for ever.
pub(super) fn no_bound_over_rejected(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match action_of(&state) {
        Some(action) if action.status == ActionStatus::Rejected => {
            no_bound_of_sweeps(state, input, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// What is in doubt keeps its TTL.
pub(super) fn doubt_expires(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    keeps_ttl(state, input, (now, limits), EventStatus::InDoubt)
}

/// What failed keeps its TTL.
pub(super) fn failure_expires(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    keeps_ttl(state, input, (now, limits), EventStatus::Failed)
}

fn keeps_ttl(
    state: State<'_>,
    input: Input<'_>,
    (now, limits): (UnixMillis, &Limits),
    status: EventStatus,
) -> Decided {
    let expires = event_of(&state).and_then(|event| event.progress.expires);
    on_write(decide(state, input, now, limits), |transition| {
        if let Some(write) = &mut transition.event
            && write.to.status == status
        {
            write.to.expires = expires;
            transition.payload = PayloadTtl::Unchanged;
        }
    })
}

/// The payload keeps its TTL where its event loses it.
pub(super) fn payload_expires(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    on_write(decide(state, input, now, limits), |transition| {
        if matches!(transition.payload, PayloadTtl::KeepBefore(..)) {
            transition.payload = PayloadTtl::Unchanged;
        }
    })
}
