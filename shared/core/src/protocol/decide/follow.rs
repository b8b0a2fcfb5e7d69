//! An event follows its action: whoever finds the action settled writes the
//! event's end. Repairs a crash between the two writes.

use super::step::At;
use crate::protocol::action::{Action, ActionStatus};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::transition::Transition;
use crate::time::UnixMillis;

/// The end that a settled action gives the event; `None` while it is not
/// settled, or where this event's round may begin the action anew.
pub(super) fn end(
    event: &Event,
    action: &Action,
    stamped_at: Option<UnixMillis>,
    at: At<'_>,
) -> Option<Transition> {
    let follow = |mut transition: Transition| {
        if let Some(write) = &mut transition.event {
            write.to.action = Some(action.key.clone());
            write.to.action_generation = Some(action.generation);
        }
        Some(transition)
    };
    let follows_an_earlier =
        action.last_done.is_some() && event.progress.action_generation <= action.last_done;
    match action.status {
        // A human began another after the one that this event belongs to was done.
        _ if event.progress.action_generation.is_some() && follows_an_earlier => {
            Some(at.event_to(event, EventStatus::Processed, None))
        }
        // INV-4: processed only where the action was seen done.
        ActionStatus::Done => follow(at.event_to(event, EventStatus::Processed, None)),
        ActionStatus::Rejected if !opened_after(event, action) => {
            let reason = action.reason.clone().unwrap_or(Reason::bare(Slug::Rejected));
            follow(at.failed(event, reason, stamped_at))
        }
        ActionStatus::InDoubt if event.progress.status != EventStatus::InDoubt => {
            let reason = action.reason.clone().unwrap_or(Reason::bare(Slug::NoAnswer));
            follow(at.event_to(event, EventStatus::InDoubt, Some(reason)))
        }
        // Its own generation was rejected, or no other would have begun: what
        // was in doubt did not happen. The next belongs to another event.
        ActionStatus::Ready if in_doubt_over_an_older(event, action) => {
            Some(at.failed(event, Reason::bare(Slug::Rejected), stamped_at))
        }
        _ => None,
    }
}

fn in_doubt_over_an_older(event: &Event, action: &Action) -> bool {
    event.progress.status == EventStatus::InDoubt
        && event.progress.action_generation.is_some_and(|own| own < action.generation)
}

/// Was this round of the event opened after the action was rejected? Then a
/// human wants the action's next generation.
pub(super) fn opened_after(event: &Event, action: &Action) -> bool {
    event.progress.status == EventStatus::Received
        && event.progress.generation > crate::ids::Generation::FIRST
        && action.settled_at.is_some_and(|settled| event.progress.opened_at > settled)
}
