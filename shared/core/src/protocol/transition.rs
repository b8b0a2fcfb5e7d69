//! Transitions are data: what is written, and from where. One file of the
//! DynamoDB adapter turns them into expressions; the in-memory store applies
//! the same guards.

use crate::ids::Generation;
use crate::key::{ActionKey, EventHash, EventKey, ResourceKey};
use crate::protocol::action::{Action, ActionGuard};
use crate::protocol::event::{ContentFacts, Event, EventGuard, EventStatus, Progress};
use crate::protocol::history::HistoryWrite;
use crate::protocol::resource::{Resource, ResourceGuard};
use crate::time::ExpiresAt;

/// One atomic write of up to four items: all or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transition {
    /// The event moves.
    pub event: Option<EventWrite>,
    /// The action moves, or is only looked at.
    pub action: Option<ActionWrite>,
    /// The resource moves.
    pub resource: Option<ResourceWrite>,
    /// The TTL of the event's payload goes with the event's.
    pub payload: PayloadTtl,
    /// Who decided it and why, where a human did.
    pub history: Option<HistoryWrite>,
}

/// What happens to the TTL of the event's payload (INV-9). It is taken off
/// *before* the event's and set again only *after* the event's, each in a call
/// of its own that names the generation which the write makes or leaves: one
/// that comes late changes nothing that a newer generation has settled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PayloadTtl {
    /// Stays as it is.
    #[default]
    Unchanged,
    /// Taken off before the write: a human will need it.
    KeepBefore(EventKey, EventHash, Generation),
    /// Set after the write: nobody needs it beyond this.
    ExpireAfter(EventKey, EventHash, Generation, ExpiresAt),
}

/// A conditional write of an event's progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWrite {
    /// Which event.
    pub key: EventKey,
    /// Where it comes from.
    pub from: EventGuard,
    /// All of its progress afterwards.
    pub to: Progress,
    /// Other content in the place of what it has, where a human accepts it.
    pub content: Option<Content>,
}

/// The content of an event after a human accepted another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its hash, and what is read off it.
    pub facts: ContentFacts,
    /// The conflicts that are listed then: without this, with the old one.
    pub conflicts: Vec<EventHash>,
}

/// A conditional write of an action, or only its condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionWrite {
    /// Writes the action.
    Put {
        /// Where it comes from.
        from: ActionGuard,
        /// The whole action afterwards.
        to: Box<Action>,
    },
    /// Writes nothing, but fails the transition where the action has moved.
    Check {
        /// Which action, as read.
        action: Box<Action>,
    },
}

/// A conditional write of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceWrite {
    /// Where it comes from.
    pub from: ResourceGuard,
    /// The whole resource afterwards.
    pub to: Resource,
}

impl EventWrite {
    /// The content that the event has afterwards, as far as the write says.
    pub fn hash(&self) -> Option<&EventHash> {
        self.content.as_ref().map(|content| &content.facts.hash).or(self.from.hash.as_ref())
    }
}

impl ResourceWrite {
    /// Which resource.
    pub fn key(&self) -> &ResourceKey {
        &self.to.key
    }
}

impl Transition {
    /// The action that an event asked for and that was done, in doubt or under
    /// way already: this write binds the event to it and begins nothing. So
    /// often an effect was prevented from happening twice (INV-2).
    pub fn joins(&self, event: &Event) -> Option<&ActionKey> {
        let write = self.event.as_ref().filter(|_| self.action.is_none())?;
        let unfailed = matches!(
            write.to.status,
            EventStatus::Processing | EventStatus::Processed | EventStatus::InDoubt
        );
        write.to.action.as_ref().filter(|_| unfailed && event.progress.action.is_none())
    }

    /// A write of the event alone.
    pub fn event(write: EventWrite) -> Self {
        Self { event: Some(write), ..Self::default() }
    }

    /// A write of the action alone.
    pub fn action(from: ActionGuard, to: Action) -> Self {
        let action = Some(ActionWrite::Put { from, to: Box::new(to) });
        Self { action, ..Self::default() }
    }
}
