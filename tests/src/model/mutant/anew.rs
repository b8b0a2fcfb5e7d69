//! Mistakes about what a human wants once more.

use super::{Decided, action_of, event_of, on_write, with_action, with_event};
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::decide::{Input, Operator, State, decide};
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::protocol::policy::Limits;
use sekali::protocol::transition::ActionWrite;
use sekali::time::UnixMillis;

/// Decides as if the event were processed; the guard still names what was read.
fn as_if_processed(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    let Some(event) = event_of(&state) else { return decide(state, input, now, limits) };
    let progress = Progress { status: EventStatus::Processed, ..event.progress.clone() };
    let processed = Event { progress, ..event.clone() };
    on_write(decide(with_event(state, &processed), input, now, limits), |transition| {
        if let Some(write) = &mut transition.event {
            write.from.status = event.progress.status;
        }
    })
}

/// `again` is granted whatever its action does.
pub(super) fn while_under_way(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (input, action_of(&state)) {
        (Input::Operator(Operator::Again { .. }), None) => as_if_processed(state, input, now, limits),
        (Input::Operator(Operator::Again { .. }), Some(action)) => {
            let done = Action { status: ActionStatus::Done, ..action.clone() };
            on_write(as_if_processed(with_action(state, &done), input, now, limits), |transition| {
                if let Some(ActionWrite::Put { from, .. }) = &mut transition.action {
                    *from = action.as_read();
                }
            })
        }
        _ => decide(state, input, now, limits),
    }
}

/// A replay is granted whatever the event does.
pub(super) fn replays_under_way(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match input {
        Input::Operator(Operator::Replay { .. }) => as_if_processed(state, input, now, limits),
        _ => decide(state, input, now, limits),
    }
}

/// The action does not know which of its generations was done.
pub(super) fn forgets_what_was_done(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    on_ready_anew(state, input, (now, limits), |_, to| to.last_done = None)
}

/// The effect happens again under the key of the first.
pub(super) fn keeps_the_generation(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    on_ready_anew(state, input, (now, limits), |read, to| to.generation = read.generation)
}

fn on_ready_anew(
    state: State<'_>,
    input: Input<'_>,
    (now, limits): (UnixMillis, &Limits),
    change: impl FnOnce(&Action, &mut Action),
) -> Decided {
    let read = action_of(&state);
    on_write(decide(state, input, now, limits), |transition| {
        if let (Some(read), Some(ActionWrite::Put { to, .. })) = (read, &mut transition.action)
            && read.status == ActionStatus::Done
        {
            change(read, to);
        }
    })
}
