//! Mistakes about pauses.

use super::{Decided, action_of, event_of, on_write};
use sekali::protocol::action::ActionStatus;
use sekali::protocol::decide::{Input, State, decide};
use sekali::protocol::policy::{Gate, Limits};
use sekali::time::UnixMillis;

fn unpaused(limits: &Limits) -> Limits {
    Limits { gate: Gate::Open, ..limits.clone() }
}

/// A message begins its action whatever a human said.
pub(super) fn begins_anyway(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    match input {
        Input::Message { .. } => decide(state, input, now, &unpaused(limits)),
        _ => decide(state, input, now, limits),
    }
}

/// Only what was never begun waits for the pause to end.
pub(super) fn begins_what_is_ready(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (action_of(&state), input) {
        (Some(action), Input::Message { .. }) if action.status == ActionStatus::Ready => {
            decide(state, input, now, &unpaused(limits))
        }
        _ => decide(state, input, now, limits),
    }
}

/// The sweeper counts, and ends what has waited for long.
pub(super) fn sweeps_anyway(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    match input {
        Input::Sweep => decide(state, input, now, &unpaused(limits)),
        _ => decide(state, input, now, limits),
    }
}

/// A look at what waits leaves its TTL as it is.
pub(super) fn keeps_ttl(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    if limits.gate != Gate::Paused {
        return decide(state, input, now, limits);
    }
    let expires = event_of(&state).and_then(|event| event.progress.expires);
    on_write(decide(state, input, now, limits), |transition| {
        if let Some(write) = &mut transition.event {
            write.to.expires = expires;
            transition.payload = sekali::protocol::transition::PayloadTtl::Unchanged;
        }
    })
}

/// A look at what waits takes it out of the index.
pub(super) fn forgets_the_turn(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    if limits.gate != Gate::Paused {
        return decide(state, input, now, limits);
    }
    on_write(decide(state, input, now, limits), |transition| {
        if let Some(write) = &mut transition.event {
            write.to.due = None;
        }
    })
}
