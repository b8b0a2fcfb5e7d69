//! Every distinct event, action, resource and decision has a number, so that a
//! state of the model is a handful of numbers while `decide` and the guards
//! see the real values. What was asked or applied once is remembered.

use super::apply::Items;
use super::ask::Ask;
use super::mutant::Protocol;
use super::scenario::{EVENTS, SLOTS, Slice, TICK};
use super::story::event_key;
use super::world::Act;
use sekali::ids::{EventType, Generation, PutNonce};
use sekali::key::{ActionKey, EventHash, EventKey, ResourceKey};
use sekali::protocol::action::Action;
use sekali::protocol::decide::{Decision, Then, Undecidable};
use sekali::protocol::event::{ContentFacts, Event};
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::{ActionWrite, PayloadTtl, Transition};
use sekali::time::{ExpiresAt, UnixMillis};
use std::collections::HashMap;
use std::fmt::Debug;
use std::num::NonZeroU16;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) struct $name(NonZeroU16);

        impl $name {
            fn index(self) -> usize {
                usize::from(self.0.get()) - 1
            }
        }
    )+};
}

numbers! {
    /// An event as it stood once.
    EventRef,
    /// An action as it stood once.
    ActionRef,
    /// A resource as it stood once.
    ResourceRef,
    /// Something that was decided.
    DecisionRef
}

/// Distinct values, numbered from 1, and what must be known of them fast.
struct Pool<T, F> {
    items: Vec<(T, F)>,
    /// By their debug form, since not every value hashes.
    places: HashMap<String, NonZeroU16>,
}

impl<T: Debug, F> Pool<T, F> {
    fn new() -> Self {
        Self { items: Vec::new(), places: HashMap::new() }
    }

    fn known(&self, item: &T) -> Result<NonZeroU16, String> {
        let form = format!("{item:?}");
        self.places.get(&form).copied().ok_or(form)
    }

    #[expect(clippy::expect_used, reason = "a slice with more values than this is not small")]
    fn add(&mut self, form: String, item: T, facts: F) -> NonZeroU16 {
        self.items.push((item, facts));
        let number = u16::try_from(self.items.len()).ok().and_then(NonZeroU16::new);
        let number = number.expect("fewer than 65,536 values");
        self.places.insert(form, number);
        number
    }
}

/// Where an event belongs in a state.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventFacts {
    pub place: usize,
    /// Which of its two contents it carries.
    pub content: usize,
    /// Where the resource and the action that it asks for belong.
    pub shelf: Option<usize>,
    pub wanted: Option<usize>,
    /// Where the action that it is bound to belongs.
    pub bound: Option<usize>,
    /// The business effect that it asks for.
    pub effect: Option<u8>,
    /// The step of its resource's course that it is a signal of.
    pub signal: Option<u8>,
}

/// Where an action belongs in a state.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActionFacts {
    pub slot: usize,
    /// Its generation; there are few.
    pub generation: u8,
    /// The number of its owner's nonce, where that is a worker's.
    pub nonce: Option<u8>,
}

/// What a decided write touches.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecisionFacts {
    pub place: Option<usize>,
    pub slot: Option<usize>,
    pub shelf: Option<usize>,
    /// Event and content of the payload whose TTL goes, or is set to a tick.
    pub paper: Option<(usize, usize, Generation, Option<ExpiresAt>)>,
    /// What follows the write; `None` where nothing is written.
    pub then: Option<Then>,
}

/// The numbered values of one search.
pub(super) struct Catalog {
    pub slice: Slice,
    pub protocol: Protocol,
    events: Pool<Event, EventFacts>,
    actions: Pool<Action, ActionFacts>,
    resources: Pool<Resource, ()>,
    decisions: Pool<Decision, DecisionFacts>,
    action_keys: Vec<ActionKey>,
    resource_keys: Vec<ResourceKey>,
    requests: Pool<(String, Vec<u8>), ()>,
    pub asked: HashMap<Ask, Result<DecisionRef, Undecidable>>,
    pub applied: HashMap<(DecisionRef, Items), Option<Items>>,
    /// New events by place, arrival, attempt and tick.
    pub arrived: HashMap<(usize, usize, u8, u8), EventRef>,
}

impl Catalog {
    pub fn new(slice: Slice, protocol: Protocol) -> Self {
        Self {
            slice,
            protocol,
            events: Pool::new(),
            actions: Pool::new(),
            resources: Pool::new(),
            decisions: Pool::new(),
            action_keys: Vec::new(),
            resource_keys: Vec::new(),
            requests: Pool::new(),
            asked: HashMap::new(),
            applied: HashMap::new(),
            arrived: HashMap::new(),
        }
    }

    pub fn event(&self, number: EventRef) -> &Event {
        &self.events.items[number.index()].0
    }

    pub fn event_facts(&self, number: EventRef) -> EventFacts {
        self.events.items[number.index()].1
    }

    pub fn action(&self, number: ActionRef) -> &Action {
        &self.actions.items[number.index()].0
    }

    pub fn action_facts(&self, number: ActionRef) -> ActionFacts {
        self.actions.items[number.index()].1
    }

    pub fn resource(&self, number: ResourceRef) -> &Resource {
        &self.resources.items[number.index()].0
    }

    pub fn decision(&self, number: DecisionRef) -> &Decision {
        &self.decisions.items[number.index()].0
    }

    pub fn decision_facts(&self, number: DecisionRef) -> DecisionFacts {
        self.decisions.items[number.index()].1
    }

    /// The transition of a decision to write.
    pub fn transition(&self, number: DecisionRef) -> Option<&Transition> {
        match self.decision(number) {
            Decision::Write { transition, .. } => Some(transition),
            _ => None,
        }
    }

    /// Numbers an event. Of what ingest counts only the counts are kept, and
    /// the conflicts where somebody may take one: nothing looks at the rest.
    pub fn number_event(&mut self, mut event: Event) -> EventRef {
        event.seen.last_at = event.received_at;
        if !self.slice.wishes.contains(&Act::Accept) {
            event.seen.conflict_hashes.clear();
        }
        let form = match self.events.known(&event) {
            Ok(number) => return EventRef(number),
            Err(form) => form,
        };
        let (resource, action, effect) = self.asks_for(&event);
        let facts = EventFacts {
            place: place_of(&event.key).unwrap_or(0),
            content: content(&event.hash),
            shelf: resource.map(|key| self.shelf(&key)),
            wanted: action.map(|key| self.slot(&key)),
            bound: event.progress.action.clone().map(|key| self.slot(&key)),
            effect,
            signal: self.content(&event).signal,
        };
        EventRef(self.events.add(form, event, facts))
    }

    pub fn number_action(&mut self, action: Action) -> ActionRef {
        let form = match self.actions.known(&action) {
            Ok(number) => return ActionRef(number),
            Err(form) => form,
        };
        let facts = ActionFacts {
            slot: self.slot(&action.key),
            generation: u8::try_from(action.generation.get()).unwrap_or(u8::MAX),
            nonce: action.owner.as_str().parse().ok(),
        };
        ActionRef(self.actions.add(form, action, facts))
    }

    pub fn number_resource(&mut self, resource: Resource) -> ResourceRef {
        ResourceRef(match self.resources.known(&resource) {
            Ok(number) => number,
            Err(form) => self.resources.add(form, resource, ()),
        })
    }

    pub fn number_decision(&mut self, decision: Decision) -> DecisionRef {
        let form = match self.decisions.known(&decision) {
            Ok(number) => return DecisionRef(number),
            Err(form) => form,
        };
        let facts = self.facts_of(&decision);
        DecisionRef(self.decisions.add(form, decision, facts))
    }

    fn facts_of(&mut self, decision: &Decision) -> DecisionFacts {
        let Decision::Write { transition, then } = decision else {
            return DecisionFacts { place: None, slot: None, shelf: None, paper: None, then: None };
        };
        let action = transition.action.as_ref().map(|write| match write {
            ActionWrite::Put { to, .. } => &to.key,
            ActionWrite::Check { action } => &action.key,
        });
        let paper = match &transition.payload {
            PayloadTtl::Unchanged => None,
            PayloadTtl::KeepBefore(key, hash, generation) => Some((key, hash, *generation, None)),
            PayloadTtl::ExpireAfter(key, hash, generation, expires) => {
                Some((key, hash, *generation, Some(*expires)))
            }
        };
        DecisionFacts {
            place: transition.event.as_ref().and_then(|write| place_of(&write.key)),
            slot: action.map(|key| self.slot(key)),
            shelf: transition.resource.as_ref().map(|write| self.shelf(write.key())),
            paper: paper.and_then(|(key, hash, generation, expires)| {
                Some((place_of(key)?, content(hash), generation, expires))
            }),
            then: Some(*then),
        }
    }

    /// A small number for what a call carries.
    pub fn number_request(&mut self, key: &str, body: &[u8]) -> u8 {
        let request = (key.to_owned(), body.to_owned());
        let number = match self.requests.known(&request) {
            Ok(number) => number,
            Err(form) => self.requests.add(form, request, ()),
        };
        u8::try_from(number.get()).unwrap_or(u8::MAX)
    }

    fn slot(&mut self, key: &ActionKey) -> usize {
        place(&mut self.action_keys, key)
    }

    fn shelf(&mut self, key: &ResourceKey) -> usize {
        place(&mut self.resource_keys, key)
    }
}

fn place<K: PartialEq + Clone>(keys: &mut Vec<K>, key: &K) -> usize {
    let place = keys.iter().position(|known| known == key).unwrap_or_else(|| {
        keys.push(key.clone());
        keys.len() - 1
    });
    // A mutant may make more keys than a state has room for; the last is shared.
    place.min(SLOTS - 1)
}

fn place_of(key: &EventKey) -> Option<usize> {
    (0..EVENTS).find(|place| event_key(*place) == key)
}

/// What time it is at a tick.
pub(super) fn at(tick: u8) -> UnixMillis {
    UnixMillis(1_800_000_000_000).plus(TICK * u32::from(tick))
}

/// The hash of an event's content.
pub(super) fn hash(content: usize) -> EventHash {
    EventHash::of([[b'a' + u8::try_from(content).unwrap_or(0)].as_slice()])
}

/// A content and what is read off it: its type, by which a rule is chosen.
pub(super) fn facts(content: usize) -> ContentFacts {
    ContentFacts {
        hash: hash(content),
        event_type: Some(EventType::new(content.to_string())),
        version: None,
        occurred_at: None,
        sequence: None,
    }
}

/// The other of an event's two contents.
pub(super) fn other(content: usize) -> usize {
    1 - content.min(1)
}

pub(super) fn content(of: &EventHash) -> usize {
    usize::from(*of != hash(0))
}

/// The put nonce of a delivery's try.
pub(super) fn put_nonce(delivery: usize, attempt: u8) -> PutNonce {
    PutNonce::new(format!("put-{delivery}-{attempt}"))
}
