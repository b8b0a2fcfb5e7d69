//! Mistakes about calls and their outcomes.

use super::{Decided, action_of, on_write, with_action};
use sekali::config::InDoubt;
use sekali::ports::Outcome;
use sekali::protocol::action::{Action, ActionStatus, EffectResult};
use sekali::protocol::decide::{Input, State, decide};
use sekali::protocol::policy::{EffectPolicy, Limits};
use sekali::protocol::transition::ActionWrite;
use sekali::time::UnixMillis;
use std::time::Duration;

const FOR_EVER: Duration = Duration::from_secs(1_000_000);

/// Expiry alone runs the effect again, however long the destination knows the key.
pub(super) fn again_on_expiry(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let State::Bound { event, action, policy: Some(policy), intent } = state else {
        return decide(state, input, now, limits);
    };
    let policy = EffectPolicy { in_doubt: InDoubt::Retry, honours_key_for: Some(FOR_EVER), ..policy.clone() };
    decide(State::Bound { event, action, policy: Some(&policy), intent }, input, now, limits)
}

pub(super) fn not_started_is_parked(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let unknown = Outcome::unknown("not started");
    match input {
        Input::Outcome { outcome: Outcome::NotStarted { .. } } => {
            decide(state, Input::Outcome { outcome: &unknown }, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

pub(super) fn silence_is_done(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let done = Outcome::Done(EffectResult("task".to_owned()));
    match input {
        Input::Outcome { outcome: Outcome::Unknown { .. } } => {
            decide(state, Input::Outcome { outcome: &done }, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// A silent call is tried again as if it had certainly not begun.
pub(super) fn silence_is_not_started(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let not_started = Outcome::NotStarted { cause: "timeout".to_owned(), not_before: None, decisive: false };
    match input {
        Input::Outcome { outcome: Outcome::Unknown { .. } } => {
            decide(state, Input::Outcome { outcome: &not_started }, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// Nothing makes an outcome doubtful.
pub(super) fn a_no_is_certain(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (action_of(&state), input) {
        (Some(action), Input::Outcome { .. }) => {
            let certain = Action { doubted: false, ..action.clone() };
            decide(with_action(state, &certain), input, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// A mark of doubt spoils the owner's late answer.
pub(super) fn doubt_spoils(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    on_write(decide(state, input, now, limits), |transition| {
        if let Some(ActionWrite::Put { to, .. }) = &mut transition.action
            && to.status == ActionStatus::InDoubt
        {
            to.doubted = true;
        }
    })
}

/// A takeover freezes its request anew.
pub(super) fn freezes_anew(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    let generation = action_of(&state).map(|action| action.generation);
    on_write(decide(state, input, now, limits), |transition| {
        if let Some(ActionWrite::Put { to, .. }) = &mut transition.action
            && to.status == ActionStatus::Begun
            && Some(to.generation) == generation
        {
            to.request.body.push(0);
        }
    })
}

/// A human is believed while the call may still take effect.
pub(super) fn believes_too_soon(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (action_of(&state), input) {
        (Some(action), Input::Operator(_)) => {
            let long_over = Action { lease_until: UnixMillis(0), ..action.clone() };
            decide(with_action(state, &long_over), input, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}
