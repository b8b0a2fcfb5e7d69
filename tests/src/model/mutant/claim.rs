//! Mistakes about claims.

use super::{Decided, action_of, event_of, on_write, with_action, with_event};
use sekali::ids::Generation;
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::decide::{Decision, End, Input, Intent, Read, State, Then, decide};
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::protocol::policy::Limits;
use sekali::protocol::reason::{Reason, Slug};
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::{ActionWrite, EventWrite, Transition};
use sekali::rule::OrderValue;
use sekali::time::UnixMillis;

/// A takeover does not take the next token.
pub(super) fn keeps_the_token(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let read = action_of(&state).map(|action| action.token);
    on_write(decide(state, input, now, limits), |transition| {
        if let (Some(ActionWrite::Put { to, .. }), Some(token)) = (&mut transition.action, read)
            && to.status == ActionStatus::Begun
        {
            to.token = token;
        }
    })
}

/// The event is processed as soon as its action is begun.
pub(super) fn done_when_begun(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    on_write(decide(state, input, now, limits), |transition| {
        if let Some(write) = &mut transition.event
            && write.to.status == EventStatus::Processing
        {
            write.to.status = EventStatus::Processed;
        }
    })
}

/// Waiting for another's claim counts as an attempt.
pub(super) fn waiting_is_an_attempt(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let decided = decide(state, input, now, limits);
    match (&decided, event_of(&state)) {
        (Ok(Decision::End(End::Wait(until))), Some(event)) => {
            let attempts = event.progress.attempts + 1;
            let to = Progress { attempts, ..event.progress.clone() };
            let write = EventWrite { key: event.key.clone(), from: event.guard(), to, content: None };
            let then = Then::End(End::Wait(*until));
            Ok(Decision::Write { transition: Box::new(Transition::event(write)), then })
        }
        _ => decided,
    }
}

pub(super) fn no_bound_of_tries(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    decide(state, input, now, &Limits { attempts: u32::MAX, ..limits.clone() })
}

/// What the resource says counts for nothing: every event moves it.
pub(super) fn moves_anyway(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    let State::Planned { event, intent, resource: Some(resource), action } = state else {
        return decide(state, input, now, limits);
    };
    let young = Resource { status: "pending".into(), order: OrderValue::Rank, ..resource.clone() };
    decide(State::Planned { event, intent, resource: Some(&young), action }, input, now, limits)
}

/// A missing payload is nothing to do.
pub(super) fn ignores_without_payload(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let nothing = Intent::Nothing(Reason::bare(Slug::NoRule));
    match state {
        State::Planned { event, intent: Intent::PayloadMissing, resource, action } => {
            decide(State::Planned { event, intent: &nothing, resource, action }, input, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// The rules are asked again although the event has won its move.
pub(super) fn asks_again(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    match decide(state, input, now, limits) {
        Ok(Decision::Read(Read::Action(_))) if matches!(input, Input::Message { .. }) => {
            Ok(Decision::Read(Read::Intent))
        }
        decided => decided,
    }
}

/// An event that came to its end is begun again from the action alone.
pub(super) fn begins_an_ended_event(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (event_of(&state), state) {
        (Some(event), State::Bound { .. }) if event.progress.status.is_at_rest() => {
            let progress = Progress { status: EventStatus::Processing, ..event.progress.clone() };
            let open = Event { progress, ..event.clone() };
            on_write(decide(with_event(state, &open), input, now, limits), |transition| {
                if let Some(write) = &mut transition.event {
                    write.from.status = event.progress.status;
                }
            })
        }
        _ => decide(state, input, now, limits),
    }
}

/// A redriven event begins a done action anew.
pub(super) fn begins_after_done(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let redriven = event_of(&state).is_some_and(|event| event.progress.generation > Generation::FIRST);
    match action_of(&state) {
        Some(action) if redriven && action.status == ActionStatus::Done => {
            let over =
                Action { status: ActionStatus::Rejected, settled_at: Some(UnixMillis(0)), ..action.clone() };
            decide(with_action(state, &over), input, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}
