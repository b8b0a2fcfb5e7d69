//! Rules: event type and conditions, to a status and at most one action.

mod read;

pub(super) use read::{Fetched, KEYS, OfEndpoint, ResourceOf, conditions, read, source, types};

use crate::ids::{ActionName, DestinationName, EventType, FieldName, Status};
use crate::json::Literal;
use crate::problem::Place;
use crate::source::Source;

/// One rule of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The event types it is for.
    pub types: Types,
    /// What else must hold, all of it, in the order of the file.
    pub when: Vec<Condition>,
    /// What the event says about the resource.
    pub status: Option<StatusFrom>,
    /// What it asks for.
    pub action: Option<RuleAction>,
    /// What to do with the action of a late event. There exactly where the
    /// endpoint has a resource and the rule an action.
    pub late: Option<Late>,
    /// Where the rule stands.
    pub place: Place,
    pub(in crate::config) sound: Sound,
}

/// Which part of a rule was read whole. What was not is left out of it, so
/// that the rest can still be judged; such a rule never runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::config) struct Sound {
    /// For which events it is.
    pub(in crate::config) condition: bool,
    /// What it asks for.
    pub(in crate::config) outcome: bool,
}

/// The event types that a rule is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Types {
    /// `type = "*"`: every event, also one that has no type.
    Every,
    /// These and no others.
    These(Vec<EventType>),
}

/// Who says which status the resource has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusFrom {
    /// The rule: whatever it matches says this.
    Rule(Status),
    /// What the vendor's API answers, in the words of the resource's moves.
    Fetched(Source),
}

/// A value of the delivery that must equal a literal, compared as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Where the value is.
    pub source: Source,
    /// What it must be.
    pub literal: Literal,
}

/// An action as a rule asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleAction {
    /// Which one.
    pub name: ActionName,
    /// Its fields, in the order of the file.
    pub fields: Vec<Field>,
    /// The fields that are its key, in the order in which the action declares
    /// them. `None`: once per event.
    pub key: Option<Vec<Field>>,
    /// Where it happens.
    pub to: DestinationName,
}

/// A named field of an action and where its value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The name, as key and destination know it.
    pub name: FieldName,
    /// Where the value is.
    pub source: Source,
}

/// What to do with the action of an event that is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Late {
    /// Claim the action all the same, without a move.
    Act,
    /// Ignore the event, with the reason.
    Skip,
}
