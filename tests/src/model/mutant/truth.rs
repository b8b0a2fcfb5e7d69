//! Mistakes about what a vendor's API says.

use super::{Decided, event_of};
use sekali::protocol::decide::{Decision, End, Input, Intent, State, Then, decide};
use sekali::protocol::event::{EventStatus, Progress};
use sekali::protocol::order::Move;
use sekali::protocol::policy::Limits;
use sekali::protocol::reason::Slug;
use sekali::protocol::transition::{EventWrite, Transition};
use sekali::rule::OrderValue;
use sekali::time::UnixMillis;

/// The number of an answer counts for nothing: the latest heard is the latest.
pub(super) fn takes_what_was_overtaken(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    let State::Planned { event, intent, resource, action } = state else {
        return decide(state, input, now, limits);
    };
    let Intent::Act { moves: Some(wanted), action: asked } = intent else {
        return decide(state, input, now, limits);
    };
    let moves = Some(Move { order: OrderValue::Rank, ..wanted.clone() });
    let intent = Intent::Act { moves, action: asked.clone() };
    decide(State::Planned { event, intent: &intent, resource, action }, input, now, limits)
}

/// Where the API is asked again, the event is written as this makes it.
fn instead_of_asking(decided: Decided, state: &State<'_>, change: impl FnOnce(&mut Progress)) -> Decided {
    let asks = match &decided {
        Ok(Decision::End(End::AskAgain { .. })) => true,
        Ok(Decision::Write { then, .. }) => matches!(then, Then::End(End::AskAgain { .. })),
        _ => false,
    };
    match event_of(state).filter(|_| asks) {
        Some(event) => {
            let mut to = event.progress.clone();
            change(&mut to);
            let write = EventWrite { key: event.key.clone(), from: event.guard(), to, content: None };
            let then = Then::End(End::AskAgain { not_before: None });
            Ok(Decision::Write { transition: Box::new(Transition::event(write)), then })
        }
        None => decided,
    }
}

/// A question without an answer is counted like a try at the effect.
pub(super) fn asking_is_an_attempt(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    instead_of_asking(decide(state, input, now, limits), &state, |to| to.attempts += 1)
}

/// No answer is taken for nothing to do.
pub(super) fn silence_is_the_end(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Decided {
    instead_of_asking(decide(state, input, now, limits), &state, |to| {
        (to.status, to.due) = (EventStatus::Processed, None);
    })
}

/// What the API did not say yet has no bound.
pub(super) fn asks_for_ever(state: State<'_>, input: Input<'_>, now: UnixMillis, limits: &Limits) -> Decided {
    let reason = event_of(&state).and_then(|event| event.progress.reason.as_ref());
    let unread = reason.is_some_and(|reason| reason.slug == Slug::TruthUnread);
    let sweeps = if unread { u32::MAX } else { limits.sweeps };
    decide(state, input, now, &Limits { sweeps, ..limits.clone() })
}
