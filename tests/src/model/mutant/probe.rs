//! Mistakes about what a destination says of a call.

use super::{Decided, action_of};
use sekali::ports::Found;
use sekali::protocol::action::ActionStatus;
use sekali::protocol::decide::{Input, State, decide};
use sekali::protocol::policy::Limits;
use sekali::time::UnixMillis;
use std::time::Duration;

/// What did not happen so far never will, however early it was asked about.
pub(super) fn not_yet_is_never(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    asked_at(now.plus(Duration::from_secs(1_000_000)), state, input, (now, limits))
}

/// The time of the answer stands for that of the question.
pub(super) fn asked_when_answered(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    asked_at(now, state, input, (now, limits))
}

fn asked_at(
    asked_at: UnixMillis,
    state: State<'_>,
    input: Input<'_>,
    (now, limits): (UnixMillis, &Limits),
) -> Decided {
    match input {
        Input::Probed { found, .. } => decide(state, Input::Probed { found, asked_at }, now, limits),
        _ => decide(state, input, now, limits),
    }
}

/// A destination that does not answer has not acted.
pub(super) fn silence_is_not_done(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match input {
        Input::Probed { found: Found::Unknown(cause), asked_at } => {
            let found = Found::NotDone(cause.clone());
            decide(state, Input::Probed { found: &found, asked_at }, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// A destination that never answers is asked without a bound.
pub(super) fn asks_for_ever(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    let begun = action_of(&state).is_some_and(|action| action.status == ActionStatus::Begun);
    let sweeps = if begun { u32::MAX } else { limits.sweeps };
    decide(state, input, now, &Limits { sweeps, ..limits.clone() })
}
