//! Mutants: the protocol with one mistake in it. A search that does not catch
//! a mutant checks nothing; each is therefore kept, and caught, as a test.

mod anew;
mod call;
mod claim;
mod content;
mod end;
mod guard;
mod list;
mod pause;
mod probe;
mod truth;

pub use list::MUTANTS;

use super::scenario::Slice;
use sekali::protocol::action::Action;
use sekali::protocol::decide::{Decision, Input, State, Undecidable, decide};
use sekali::protocol::event::Event;
use sekali::protocol::policy::Limits;
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::Transition;
use sekali::time::UnixMillis;

type Decided = Result<Decision, Undecidable>;
type Decide = fn(State<'_>, Input<'_>, UnixMillis, &Limits) -> Decided;
type Forge = fn(&mut Transition, Stored<'_>);

/// The items that a transition meets.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub event: Option<&'a Event>,
    pub action: Option<&'a Action>,
    pub resource: Option<&'a Resource>,
}

/// What a search runs: the protocol itself, or a mutant of it.
#[derive(Clone, Copy)]
pub(super) struct Protocol {
    /// Decides.
    pub decide: Decide,
    /// Leaves out part of a guard, given the items as they stand.
    pub forge: Option<Forge>,
    /// A mistake in the shell around `decide`.
    pub slip: Option<Slip>,
}

/// Mistakes in the shells around `decide`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slip {
    AckBeforePut,
    DuplicateUnseen,
    AdoptBeforePut,
    BringsAnyway,
    BringsUnseen,
    AdoptWithoutItsTtl,
    AdoptKeepsTheType,
    DuplicateRestoresTtl,
    DuplicateForgetsTtl,
    DedupByDeliveryId,
    PayloadExpiresFirst,
    TtlOfAnyGeneration,
    TakesWhatIsOlder,
    AsksBeforeReading,
    NoSweeper,
    CallAfterLease,
    CallKeyPerAttempt,
    ComparesAgain,
    KeyWithoutTenant,
    KeyWithoutName,
    KeyPartsRunTogether,
    KeyPerRound,
    KeyPerAttempt,
}

impl Protocol {
    /// The protocol as it is.
    pub const REAL: Self = Self { decide, forge: None, slip: None };
}

/// The protocol with one mistake.
#[derive(Clone, Copy)]
pub struct Mutant {
    /// The mistake, as a sentence.
    pub name: &'static str,
    pub(super) protocol: Protocol,
    pub(super) slice: Slice,
}

/// The event of a state.
fn event_of<'a>(state: &State<'a>) -> Option<&'a Event> {
    match state {
        State::Missing => None,
        State::Stored(event) | State::Bound { event, .. } | State::Planned { event, .. } => Some(*event),
    }
}

/// The action of a state.
fn action_of<'a>(state: &State<'a>) -> Option<&'a Action> {
    match state {
        State::Bound { action, .. } | State::Planned { action, .. } => *action,
        State::Missing | State::Stored(_) => None,
    }
}

/// The same state with another event.
fn with_event<'a>(state: State<'a>, event: &'a Event) -> State<'a> {
    match state {
        State::Missing => State::Missing,
        State::Stored(_) => State::Stored(event),
        State::Bound { action, policy, intent, .. } => State::Bound { event, action, policy, intent },
        State::Planned { intent, resource, action, .. } => State::Planned { event, intent, resource, action },
    }
}

/// The same state with another action.
fn with_action<'a>(state: State<'a>, action: &'a Action) -> State<'a> {
    match state {
        State::Missing | State::Stored(_) => state,
        State::Bound { event, policy, intent, .. } => {
            State::Bound { event, action: Some(action), policy, intent }
        }
        State::Planned { event, intent, resource, .. } => {
            State::Planned { event, intent, resource, action: Some(action) }
        }
    }
}

/// Changes what is written, where something is.
fn on_write(decided: Decided, change: impl FnOnce(&mut Transition)) -> Decided {
    decided.map(|decision| match decision {
        Decision::Write { mut transition, then } => {
            change(&mut transition);
            Decision::Write { transition, then }
        }
        other => other,
    })
}
