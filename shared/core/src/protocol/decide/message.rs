//! A message names an event.

use super::step::At;
use super::{Decision, End, Read, Then};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::policy::Stamp;

/// One read decides most messages: a duplicate of a finished event ends here.
pub(super) fn looks_at(event: &Event, stamp: Stamp, at: At<'_>) -> Decision {
    match (event.progress.status, &event.progress.action) {
        (EventStatus::Processed | EventStatus::Ignored | EventStatus::Held, _) => Decision::End(End::Drop),
        (EventStatus::Failed, _) if redriven(event, stamp) => Decision::write(at.reopen(event), Then::Decide),
        (EventStatus::Failed, _) => Decision::End(End::Fail),
        // The pause may be long: the sweeper brings it back, and its message goes.
        (EventStatus::Received, None) if at.is_paused() => at.wait_for_the_pause(),
        (_, Some(action)) => Decision::Read(Read::Action(action.clone())),
        (EventStatus::Received, None) => Decision::Read(Read::Intent),
        // Neither is ever written without an action: let people see it.
        (EventStatus::Processing | EventStatus::InDoubt, None) => Decision::End(End::Fail),
    }
}

/// A moved message that SQS stamped after the failure is a human's redrive, by
/// whatever means: the console, the API, or ours. What was erased has nothing
/// to go round with.
fn redriven(event: &Event, stamp: Stamp) -> bool {
    !event.is_erased()
        && stamp.moved()
        && event.progress.failed_at.is_some_and(|failed| stamp.stamped_at > failed)
}
