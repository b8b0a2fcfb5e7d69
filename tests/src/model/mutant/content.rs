//! Mistakes about what a human takes in the place of content, or does away with.

use super::{Decided, event_of, on_write, with_event};
use sekali::protocol::decide::{Delivery, Input, Operator, State, decide};
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::protocol::policy::Limits;
use sekali::protocol::reason::{Reason, Slug};
use sekali::protocol::transition::PayloadTtl;
use sekali::time::UnixMillis;

/// An event that takes other content goes on with the action of the first.
pub(super) fn accepts_with_its_action(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let read = event_of(&state).map(|event| event.progress.clone());
    on_write(decide(state, input, now, limits), |transition| {
        if let (Input::Operator(Operator::Accept { .. }), Some(read), Some(write)) =
            (input, read, &mut transition.event)
        {
            (write.to.action, write.to.action_generation) = (read.action, read.action_generation);
        }
    })
}

/// What is taken is put to the rule of what was given up.
pub(super) fn accepts_with_the_type(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let read = event_of(&state).map(Event::facts);
    on_write(decide(state, input, now, limits), |transition| {
        let content = transition.event.as_mut().and_then(|write| write.content.as_mut());
        if let (Some(read), Some(content)) = (read, content) {
            content.facts.event_type = read.event_type;
        }
    })
}

/// A content that a human must look at first goes on in the place of another.
pub(super) fn adopts_what_would_be_held(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match input {
        Input::Delivery(delivery) => {
            let taken = Delivery { held: false, ..delivery.clone() };
            decide(state, Input::Delivery(&taken), now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// What is taken keeps the TTL with which it was put.
pub(super) fn accepts_with_a_ttl(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    on_write(decide(state, input, now, limits), |transition| {
        if matches!(input, Input::Operator(Operator::Accept { .. })) {
            transition.payload = PayloadTtl::Unchanged;
        }
    })
}

/// What failed is erased before anybody has given it up.
pub(super) fn erases_what_failed(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    match (input, event_of(&state)) {
        (Input::Operator(Operator::Erase), Some(event)) if event.progress.status == EventStatus::Failed => {
            let reason = Some(Reason::bare(Slug::Discarded));
            let given_up = Event { progress: Progress { reason, ..event.progress.clone() }, ..event.clone() };
            decide(with_event(state, &given_up), input, now, limits)
        }
        _ => decide(state, input, now, limits),
    }
}

/// What a human gave up stays in the list of what needs one.
pub(super) fn given_up_stays_due(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let due = event_of(&state).and_then(|event| event.progress.due);
    on_write(decide(state, input, now, limits), |transition| {
        if let (Input::Operator(Operator::Discard), Some(write)) = (input, &mut transition.event) {
            write.to.due = due;
        }
    })
}
