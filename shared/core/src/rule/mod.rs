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
