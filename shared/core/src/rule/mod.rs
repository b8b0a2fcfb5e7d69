//! What a team's rules ask for when an event comes: a move of a resource, an
//! action, both, or nothing. Pure: ingest asks, to hold an event early, and
//! the processor asks again, from the stored payload, and gets the same; where
//! a rule reads what the vendor's API says, the processor alone can tell.

mod envelope;
mod guard;
mod hold;
mod order;
mod plan;
#[cfg(test)]
mod tests;
mod truth;
mod values;

pub use crate::sequence::Sequence;
pub use envelope::envelope;
pub use guard::{event_guard, network_guard};
pub use hold::{Hold, KeyOf, NoKeyPart};
pub use order::OrderValue;
pub use plan::{InputDigest, Plan, Planned, PlannedAction, PlannedMove, Question, Subject, plan, sources};
pub use truth::{SETTLED_AFTER, Truth};

use crate::config::Endpoint;
use crate::ids::EventType;

/// Whether a rule of the endpoint is for events of this type, whatever else it
/// asks for.
pub fn names(endpoint: &Endpoint, event_type: Option<&EventType>) -> bool {
    endpoint.rules.iter().any(|rule| plan::of_type(&rule.types, event_type))
}
