//! What a redrive would do now: the protocol is asked as ever, first as the
//! human and then as the message that would follow, and nothing is written. No
//! second set of rules can say otherwise than what then happens.

use super::{Decision, Input, Intent, Operator, Read, State, Then, Undecidable, decide};
use crate::ids::{DestinationName, OwnerNonce};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::policy::{Lease, Limits, Stamp, Worker};
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::transition::ActionWrite;
use crate::time::UnixMillis;
use std::time::Duration;

/// What a redrive of an event would do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prospect {
    /// It goes round, and its action begins: this destination is called, unless
    /// it is switched off, which the protocol does not know.
    Acts(DestinationName),
    /// It goes round and waits: for another's call, for the end of a pause, or
    /// for the vendor's API.
    Waits,
    /// It goes round and ends at once as this, without an effect.
    Ends(EventStatus, Option<Reason>),
    /// Nothing to reopen: somebody did already, or it never failed.
    UnderWay,
    /// Nothing to do: it is processed or ignored.
    Finished(EventStatus),
    /// Nothing, until a human has said what happened.
    InDoubt,
    /// Nothing: it is held, and is released or discarded.
    Held,
    /// Nothing by itself: a human decided against it.
    Discarded,
    /// It would wait for a delivery that brings its content again: that is not
    /// stored.
    NoPayload,
    /// There is no such event.
    NoEvent,
}

impl Prospect {
    /// Does a redrive bring it on? Where it ends without an effect, a rule, an
    /// endpoint or a destination is gone, and that is to be mended first.
    pub fn goes_round(&self) -> bool {
        matches!(self, Self::Acts(_) | Self::Waits | Self::Ends(EventStatus::Processed, _))
    }
}

/// What is found, or what must be read before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// Read this, then ask again.
    Read(Read),
    /// That is what it would do.
    Is(Prospect),
}

/// Long enough to claim with; nothing is claimed.
const IMAGINED_LEASE: Duration = Duration::from_secs(60);

/// Says what a redrive of the event would do now, and what a message of it
/// would do after that.
///
/// # Errors
/// As [`decide`]: a bug in the shell that asked.
pub fn prospect(state: State<'_>, now: UnixMillis, limits: &Limits) -> Result<Outlook, Undecidable> {
    let event = match state {
        State::Missing => return Ok(Outlook::Is(Prospect::NoEvent)),
        State::Planned { intent: Intent::PayloadMissing, .. } => {
            return Ok(Outlook::Is(Prospect::NoPayload));
        }
        State::Stored(event) | State::Bound { event, .. } | State::Planned { event, .. } => event,
    };
    if event.is_discarded() {
        return Ok(Outlook::Is(Prospect::Discarded));
    }
    let is = |found| Ok(Outlook::Is(found));
    let bug = || Undecidable { state: state.name(), input: "prospect" };
    let redriven = decide(State::Stored(event), Input::Operator(&Operator::Redrive), now, limits)?;
    let Decision::Write { transition, .. } = redriven else {
        return as_it_stands(event.progress.status).map(Outlook::Is).ok_or_else(bug);
    };
    let Some(write) = transition.event else { return Ok(Outlook::Is(Prospect::UnderWay)) };
    let reopened = Event { progress: write.to, ..event.clone() };
    let worker = Worker { owner: OwnerNonce::new("nobody"), lease: Lease::Until(now.plus(IMAGINED_LEASE)) };
    let stamp = Stamp { written_at: now, stamped_at: now };
    let input = Input::Message { stamp, worker: &worker };
    match decide(of(state, &reopened), input, now, limits)? {
        Decision::Read(read) => Ok(Outlook::Read(read)),
        Decision::Write { transition, then: Then::Call } => match transition.action {
            Some(ActionWrite::Put { to, .. }) => is(Prospect::Acts(to.request.destination)),
            _ => Err(bug()),
        },
        // Whoever only imagines a claim owns no action.
        Decision::Call => Err(bug()),
        Decision::Write { transition, .. } => is(match transition.event.map(|write| write.to) {
            Some(to) if !matches!(to.status, EventStatus::Received | EventStatus::Processing) => {
                Prospect::Ends(to.status, to.reason)
            }
            _ => Prospect::Waits,
        }),
        Decision::Probe | Decision::End(_) => is(Prospect::Waits),
    }
}

/// The same reading, of the event as a redrive leaves it.
fn of<'a>(state: State<'a>, reopened: &'a Event) -> State<'a> {
    match state {
        State::Missing => State::Missing,
        State::Stored(_) => State::Stored(reopened),
        State::Bound { action, policy, intent, .. } => {
            State::Bound { event: reopened, action, policy, intent }
        }
        State::Planned { intent, resource, action, .. } => {
            State::Planned { event: reopened, intent, resource, action }
        }
    }
}

fn as_it_stands(status: EventStatus) -> Option<Prospect> {
    match status {
        EventStatus::Received | EventStatus::Processing => Some(Prospect::UnderWay),
        EventStatus::Processed | EventStatus::Ignored => Some(Prospect::Finished(status)),
        EventStatus::InDoubt => Some(Prospect::InDoubt),
        EventStatus::Held => Some(Prospect::Held),
        // A failed event is always redriven.
        EventStatus::Failed => None,
    }
}

impl Event {
    /// Did a human decide that this failed event stays failed?
    pub fn is_discarded(&self) -> bool {
        self.progress.status == EventStatus::Failed
            && matches!(self.slug(), Some(Slug::Discarded | Slug::Erased))
    }

    /// Was its content erased? Then it never goes round again.
    pub fn is_erased(&self) -> bool {
        self.slug() == Some(Slug::Erased)
    }

    /// Is nothing more to be done for it, by anybody?
    pub fn has_ended(&self) -> bool {
        self.progress.status.is_finished() || self.is_discarded()
    }

    fn slug(&self) -> Option<Slug> {
        self.progress.reason.as_ref().map(|reason| reason.slug)
    }
}
