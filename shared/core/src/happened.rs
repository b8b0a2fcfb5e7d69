//! What happened to events and actions while they were looked at, for whoever
//! prints metrics: read off the writes that were applied, so that nothing is
//! counted that was not durable.

use crate::ids::{ActionName, DestinationName, EndpointName};
use crate::ports::Outcome;
use crate::protocol::action::{Action, ActionStatus};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::reason::Slug;
use crate::protocol::transition::{ActionWrite, Transition};
use crate::time::{UnixMillis, whole_millis};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// An event came to rest, or in doubt.
    Ended {
        /// Of which endpoint.
        endpoint: EndpointName,
        /// How it stands now.
        status: EventStatus,
        /// Why.
        reason: Option<Slug>,
        /// Since it was received, or a later generation of it began.
        after: Duration,
    },
    /// A destination was called.
    Called {
        /// Which one.
        destination: DestinationName,
        /// How the call ended.
        end: CallEnd,
        /// It was not the first call of the event's round.
        again: bool,
        /// How long it took.
        took: Duration,
    },
    /// An event asked for an action that was done or under way (INV-2).
    Prevented(ActionName),
    /// Nobody knows whether an effect at this destination happened.
    InDoubt(DestinationName),
}

/// How a call ended, without the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallEnd {
    /// It happened.
    Done,
    /// It certainly will not happen.
    Rejected,
    /// It certainly has not begun.
    NotStarted,
    /// Nobody knows.
    Unknown,
}

impl CallEnd {
    /// Its word in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Rejected => "rejected",
            Self::NotStarted => "not_started",
            Self::Unknown => "unknown",
        }
    }
}

impl From<&Outcome> for CallEnd {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done(_) => Self::Done,
            Outcome::Rejected { .. } => Self::Rejected,
            Outcome::NotStarted { .. } => Self::NotStarted,
            Outcome::Unknown { .. } => Self::Unknown,
        }
    }
}

/// What happened in one invocation. Records of a batch are looked at side by
/// side, and one that panics takes nothing from it.
#[derive(Debug, Default)]
pub struct Happenings(Mutex<Vec<Happened>>);

impl Happenings {
    /// Adds one.
    pub fn add(&self, happened: Happened) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(happened);
    }

    /// A write was applied to an event, and perhaps to its action, as read.
    pub fn applied(&self, transition: &Transition, event: &Event, action: Option<&Action>, now: UnixMillis) {
        if let Some(ended) = ended(transition, event, now) {
            log(transition, event, &ended);
            self.add(ended);
        }
        if let Some(destination) = doubted(transition, action) {
            self.add(Happened::InDoubt(destination));
        }
    }

    /// All that happened, in its order.
    pub fn into_all(self) -> Vec<Happened> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ended(transition: &Transition, event: &Event, now: UnixMillis) -> Option<Happened> {
    let to = &transition.event.as_ref()?.to;
    let rests = to.status.is_at_rest() || to.status == EventStatus::InDoubt;
    let moved = (to.status, to.generation) != (event.progress.status, event.progress.generation);
    (rests && moved).then(|| Happened::Ended {
        endpoint: event.endpoint.clone(),
        status: to.status,
        reason: to.reason.as_ref().map(|reason| reason.slug),
        after: now.since(to.opened_at),
    })
}

/// One line for each end of an event, whoever brought it there.
fn log(transition: &Transition, event: &Event, ended: &Happened) {
    let Happened::Ended { status, reason, after, .. } = ended else { return };
    tracing::info!(
        event.key = %event.key,
        correlation.id = %event.correlation,
        endpoint.name = %event.endpoint,
        vendor.name = %event.vendor,
        event.status = status.as_str(),
        event.reason = reason.map(Slug::as_str),
        event.age_ms = whole_millis(*after),
        resource.key = transition.resource.as_ref().map(|write| write.key().as_str()),
        "event ended"
    );
}

fn doubted(transition: &Transition, action: Option<&Action>) -> Option<DestinationName> {
    let ActionWrite::Put { to, .. } = transition.action.as_ref()? else { return None };
    let was = action.filter(|action| action.generation == to.generation).map(|action| action.status);
    let doubted = to.status == ActionStatus::InDoubt && was != Some(ActionStatus::InDoubt);
    doubted.then(|| to.request.destination.clone())
}
