//! What a write makes of the items, as the reference store applies it: the
//! same guards, all or nothing.

use super::catalog::{ActionRef, Catalog, DecisionRef, EventRef, ResourceRef, at};
use super::mutant::{Slip, Stored};
use super::scenario::TICK;
use super::world::{Paper, Round};
use crate::memory::{Expiry, Tables};
use sekali::ids::Generation;
use sekali::key::{EventHash, EventKey};
use sekali::payload::Payload;
use sekali::ports::Write;
use sekali::protocol::action::{Action, ActionGuard, ActionStatus, EffectResult};
use sekali::protocol::event::{ContentFacts, Event};
use sekali::protocol::resource::{Resource, ResourceGuard};
use sekali::protocol::transition::{ActionWrite, ResourceWrite, Transition};
use sekali::time::{ExpiresAt, UnixMillis};
use std::time::Duration;

/// The items that a transition names, and what they become.
pub(super) type Items = (Option<EventRef>, Option<ActionRef>, Option<ResourceRef>);

impl Catalog {
    /// Applies a decided transition to the items it names. `None`: a guard
    /// refused it.
    #[expect(clippy::expect_used, reason = "the model's items are small")]
    pub fn apply(&mut self, decision: DecisionRef, items: Items) -> Option<Items> {
        if let Some(known) = self.applied.get(&(decision, items)) {
            return *known;
        }
        let mut transition = self.transition(decision)?.clone();
        let event = items.0.map(|number| self.event(number).clone());
        let action = items.1.map(|number| self.action(number).clone());
        let resource = items.2.map(|number| self.resource(number).clone());
        if let Some(forge) = self.protocol.forge {
            let stored =
                Stored { event: event.as_ref(), action: action.as_ref(), resource: resource.as_ref() };
            forge(&mut transition, stored);
        }
        let mut tables = laid_out(event, action, resource);
        let written = tables.apply(&transition).expect("small items");
        let end = (written == Write::Applied).then(|| self.read_back(&tables));
        self.applied.insert((decision, items), end);
        end
    }

    fn read_back(&mut self, tables: &Tables) -> Items {
        (
            tables.events().next().cloned().map(|event| self.number_event(event)),
            tables.actions().next().cloned().map(|action| self.number_action(action)),
            tables.resources().next().cloned().map(|resource| self.number_resource(resource)),
        )
    }

    /// A settled action without its request and result. `None`: it is not settled.
    pub fn emptied(&mut self, number: ActionRef) -> Option<ActionRef> {
        let mut action = self.action(number).clone();
        if !matches!(action.status, ActionStatus::Done | ActionStatus::Rejected) {
            return None;
        }
        action.request.body.clear();
        let erased = EffectResult("erased".to_owned());
        action.result = action.result.map(|_| erased);
        Some(self.number_action(action))
    }

    /// Counts a duplicate, or a conflict.
    pub fn count(&mut self, stored: EventRef, conflict: Option<&EventHash>) -> Option<EventRef> {
        let event = self.event(stored).clone();
        let (key, now) = (event.key.clone(), event.received_at);
        let mut tables = laid_out(Some(event), None, None);
        match conflict {
            Some(hash) => tables.record_conflict(&key, hash, now),
            None => {
                tables.count_duplicate(&key, None, now);
            }
        }
        self.read_back(&tables).0
    }

    /// Adopts other content, on what was seen of the event.
    pub fn adopt(
        &mut self,
        stored: EventRef,
        seen: EventRef,
        mut to: ContentFacts,
        at: UnixMillis,
    ) -> Option<EventRef> {
        let (stored, mut seen) = (self.event(stored).clone(), self.event(seen).clone());
        if self.protocol.slip == Some(Slip::AdoptWithoutItsTtl) {
            seen.progress.expires = stored.progress.expires;
        }
        if self.protocol.slip == Some(Slip::AdoptKeepsTheType) {
            to.event_type = stored.event_type.clone();
        }
        let mut tables = laid_out(Some(stored), None, None);
        match tables.adopt(&seen, &to, at) {
            Write::Refused => None,
            Write::Applied => self.read_back(&tables).0,
        }
    }
}

/// Tables that hold these items.
#[expect(clippy::expect_used, reason = "the model's items are small")]
fn laid_out(event: Option<Event>, action: Option<Action>, resource: Option<Resource>) -> Tables {
    let mut tables = Tables::default();
    if let Some(event) = event {
        tables.create_event(&event).expect("a small event");
    }
    let transition = Transition {
        action: action.map(|to| ActionWrite::Put { from: ActionGuard::Absent, to: Box::new(to) }),
        resource: resource.map(|to| ResourceWrite { from: ResourceGuard::Absent, to }),
        ..Transition::default()
    };
    if transition.action.is_some() || transition.resource.is_some() {
        tables.apply(&transition).expect("small items");
    }
    tables
}

impl Paper {
    /// Does something to a payload as the reference store does.
    fn after(self, act: impl FnOnce(&mut Tables, &EventKey, &EventHash, &Payload)) -> Self {
        let (key, hash, payload) =
            (EventKey::from_stored("event"), EventHash::from_stored("hash"), Payload::default());
        let mut tables = Tables::default();
        let mut put = |expires| tables.put_payload(&key, &hash, &payload, expires);
        let end = |tick| at(tick).expires_after(Duration::ZERO);
        match self {
            Self::Absent => {}
            Self::Expires(tick, None) => put(end(tick)),
            Self::Expires(tick, Some(round)) => {
                let generation = Generation::from_stored(round.into());
                put(ExpiresAt(0));
                tables.keep_payload(&key, &hash, generation);
                tables.expire_payload(&key, &hash, generation, end(tick));
            }
            Self::Kept(round) => {
                let generation = Generation::from_stored(round.into());
                put(ExpiresAt(0));
                tables.keep_payload(&key, &hash, generation);
            }
        }
        act(&mut tables, &key, &hash, &payload);
        let round = tables.payload_settled_by(&key, &hash).map(round);
        match (tables.payload_expiry(&key, &hash), round) {
            (Expiry::Kept, Some(round)) => Self::Kept(round),
            (Expiry::At(expires), round) => Self::Expires(ticks(expires), round),
            (Expiry::Absent | Expiry::Kept, _) => Self::Absent,
        }
    }

    /// There, with this TTL.
    pub fn until(expires: ExpiresAt) -> Self {
        Self::Expires(ticks(expires), None)
    }

    /// Put by a delivery.
    pub fn put(self, expires: ExpiresAt) -> Self {
        self.after(|tables, key, hash, payload| tables.put_payload(key, hash, payload, expires))
    }

    /// Its TTL taken off.
    pub fn keep(self, generation: Generation) -> Self {
        self.after(|tables, key, hash, _| {
            tables.keep_payload(key, hash, generation);
        })
    }

    /// Given a TTL again.
    pub fn expire(self, generation: Generation, expires: ExpiresAt) -> Self {
        self.after(|tables, key, hash, _| tables.expire_payload(key, hash, generation, expires))
    }

    pub fn is_there(self) -> bool {
        self != Self::Absent
    }

    /// The newest generation that kept it or let it go.
    pub fn settled_by(self) -> Option<Generation> {
        match self {
            Self::Kept(round) | Self::Expires(_, Some(round)) => Some(Generation::from_stored(round.into())),
            Self::Absent | Self::Expires(_, None) => None,
        }
    }
}

fn ticks(expires: ExpiresAt) -> u8 {
    let ticks = expires.as_millis().since(at(0)).as_secs() / TICK.as_secs();
    u8::try_from(ticks).unwrap_or(u8::MAX)
}

/// A generation, small.
pub(super) fn round(generation: Generation) -> Round {
    u8::try_from(generation.get()).unwrap_or(u8::MAX)
}
