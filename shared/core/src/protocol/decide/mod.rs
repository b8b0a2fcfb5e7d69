//! `decide` owns the protocol. It reads nothing, writes nothing and knows no
//! time of its own: whoever holds a state and an input asks it what to do,
//! does it, and asks again. The functions, the sweeper, the command line, the
//! model and the simulation all ask the same function.

mod anew;
mod begin;
mod claim;
mod delivery;
mod follow;
mod intent;
mod message;
mod operator;
mod outcome;
mod probe;
mod prospect;
mod step;
mod sweep;
#[cfg(test)]
mod tests;

pub use delivery::{Delivery, Presence};
pub use intent::{Intent, Late, Wanted};
pub use operator::Operator;
pub use probe::quiet_from;
pub use prospect::{Outlook, Prospect, prospect};

use crate::key::ActionKey;
use crate::ports::{Found, Outcome};
use crate::protocol::action::Action;
use crate::protocol::event::Event;
use crate::protocol::policy::{EffectPolicy, Limits, Stamp, Worker};
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::resource::Resource;
use crate::protocol::transition::Transition;
use crate::time::UnixMillis;
use std::time::Duration;
use thiserror::Error;

/// What was read.
#[derive(Debug, Clone, Copy)]
pub enum State<'a> {
    /// There is no such event.
    Missing,
    /// The event alone.
    Stored(&'a Event),
    /// An event that has won its move and the action it owns or shares.
    Bound {
        /// The event.
        event: &'a Event,
        /// The action it remembers, if it is still there.
        action: Option<&'a Action>,
        /// What the action's destination promises, if it is still configured.
        policy: Option<&'a EffectPolicy>,
        /// What today's rules want, where that was read.
        intent: Option<&'a Intent<'a>>,
    },
    /// An event that nothing is bound to, what today's rules want of it, and
    /// the items that they name.
    Planned {
        /// The event.
        event: &'a Event,
        /// What the rules want.
        intent: &'a Intent<'a>,
        /// The resource as read.
        resource: Option<&'a Resource>,
        /// The action as read.
        action: Option<&'a Action>,
    },
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A delivery met a stored event.
    Delivery(&'a Delivery),
    /// A message names the event.
    Message {
        /// The message's journey.
        stamp: Stamp,
        /// Who looks at it.
        worker: &'a Worker,
    },
    /// The worker's own call ended.
    Outcome {
        /// How.
        outcome: &'a Outcome,
    },
    /// The destination was asked whether the effect in doubt happened.
    Probed {
        /// What it said.
        found: &'a Found,
        /// When the question was asked; what is not done counts from then.
        asked_at: UnixMillis,
    },
    /// The store will never take what was to be written for this event.
    StoreRefused {
        /// Why, in the store's words.
        cause: &'a str,
        /// The message's journey.
        stamp: Stamp,
    },
    /// The sweeper found the event due.
    Sweep,
    /// A human decided.
    Operator(&'a Operator),
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Read this, then ask again.
    Read(Read),
    /// Write this; if it is refused, read all again and ask again.
    Write {
        /// What to write.
        transition: Box<Transition>,
        /// What to do once it is durable.
        then: Then,
    },
    /// The action is ours already (the answer to our claim was lost): call.
    Call,
    /// Ask the action's destination whether the effect happened; nothing is
    /// written for that, so that its owner's late evidence still counts.
    Probe,
    /// Nothing to write.
    End(End),
}

/// What must be read before anything can be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// The action that the event is bound to.
    Action(ActionKey),
    /// The payload, what today's rules want of it, and the resource and
    /// action that they name. Where they want to know what the vendor's API
    /// says, the resource is read *before* it is asked: the claim names that
    /// reading, so an answer that was overtaken is refused (INV-3).
    Intent,
    /// Whether the payload that the event points to is there.
    FirstPayload,
}

/// What to do after a write was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Make the call: the action is ours.
    Call,
    /// Ask again.
    Decide,
    /// That was all.
    End(End),
}

/// How a look at an event ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The message has done its work, or there is none: delete it.
    Drop,
    /// Nothing to do until then. Waiting is not an attempt (INV-8): a short
    /// wait returns the message, a long one leaves the event to the sweeper.
    Wait(UnixMillis),
    /// Try again after a backoff that grows with the attempts; not before the
    /// span that the destination asked for.
    Retry {
        /// Tries so far.
        attempts: u32,
        /// What the destination asked for.
        not_before: Option<Duration>,
    },
    /// Ask the vendor's API again: soon while the message is young, then with
    /// the sweeper. Waiting is not an attempt (INV-8).
    AskAgain {
        /// What the API asked for.
        not_before: Option<Duration>,
    },
    /// The event failed: fail the record with visibility 0, so that SQS itself
    /// moves the message to the dead-letter queue, where it can be redriven.
    Fail,
    /// Enqueue the event again.
    Send,
    /// The delivery is our own retried put: go on as new.
    AsNew,
    /// The delivery repeats a known event.
    Duplicate {
        /// The payload that the event points to must be durable before 2xx,
        /// and without a TTL where the event has none (INV-1, INV-9).
        unfinished: bool,
        /// It was received longer than the grace time ago and nobody has
        /// begun it: enqueue it again.
        enqueue: bool,
    },
    /// The delivery has a known id and other content; the first goes on.
    Conflict,
    /// The first content never became durable: take this one in its place.
    Adopt,
    /// Refuse what the human asked, for the reason.
    Refuse(&'static str),
}

/// A combination that cannot occur: a bug in the shell that asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the protocol has no answer to {input} in state {state}")]
pub struct Undecidable {
    /// The state's name.
    pub state: &'static str,
    /// The input's name.
    pub input: &'static str,
}

/// The protocol (one function, one match, the last arm an error).
pub fn decide(
    state: State<'_>,
    input: Input<'_>,
    now: UnixMillis,
    limits: &Limits,
) -> Result<Decision, Undecidable> {
    let at = step::At { now, limits };
    Ok(match (state, input) {
        // A message without an event goes to the dead-letter queue, never away (INV-1).
        (State::Missing, Input::Message { .. }) => Decision::End(End::Fail),
        (State::Missing, Input::Sweep) => Decision::End(End::Drop),
        (State::Missing, Input::Operator(_)) => Decision::End(End::Refuse("there is no such event")),

        (State::Stored(event), Input::Delivery(delivery)) => delivery::meets(event, delivery, at),
        (State::Stored(event), Input::Message { stamp, .. }) => message::looks_at(event, stamp, at),
        (State::Stored(event), Input::Sweep) => sweep::looks_at(event, at),
        (State::Stored(event), Input::Operator(operator)) => operator::on_event(event, operator, at),

        (State::Planned { event, intent, resource, action }, Input::Message { stamp, worker }) => {
            claim::from_intent(&claim::Planned { event, intent, resource, action, stamp, worker }, at)
        }
        // The event may have come to its end after it was bound, while its
        // worker was calling: then only its own status counts (INV-3).
        (State::Bound { event, .. }, Input::Message { stamp, .. }) if event.progress.status.is_at_rest() => {
            message::looks_at(event, stamp, at)
        }
        (State::Bound { event, action, policy, intent }, Input::Message { stamp, worker }) => {
            claim::bound(&claim::Bound { event, action, policy, intent, stamp, worker }, at)
        }
        (State::Bound { event, action: Some(action), policy, .. }, Input::Outcome { outcome }) => {
            outcome::settle(event, action, policy, outcome, at)
        }
        (State::Bound { action: Some(action), policy, .. }, Input::Probed { found, asked_at }) => {
            probe::settle(action, policy, (found, asked_at), at)
        }
        (State::Planned { event, .. } | State::Stored(event), Input::StoreRefused { cause, stamp }) => {
            at.fail(event, Reason::with(Slug::StoreRefused, cause), Some(stamp.stamped_at))
        }
        (State::Bound { event, action, .. }, Input::StoreRefused { cause, stamp }) => {
            claim::refused(event, action, cause, stamp, at)
        }
        (State::Bound { event, action, policy, .. }, Input::Sweep) => sweep::bound(event, action, policy, at),
        (State::Bound { event, action, policy, intent }, Input::Operator(operator)) => {
            operator::on_action((event, action), policy, intent, operator, at)
        }

        (state, input) => return Err(Undecidable { state: state.name(), input: input.name() }),
    })
}

impl State<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Stored(_) => "stored",
            Self::Bound { .. } => "bound",
            Self::Planned { .. } => "planned",
        }
    }
}

impl Input<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Delivery(_) => "delivery",
            Self::Message { .. } => "message",
            Self::Outcome { .. } => "outcome",
            Self::Probed { .. } => "probed",
            Self::StoreRefused { .. } => "store_refused",
            Self::Sweep => "sweep",
            Self::Operator(_) => "operator",
        }
    }
}

impl Decision {
    fn write(transition: Transition, then: Then) -> Self {
        Self::Write { transition: Box::new(transition), then }
    }
}
