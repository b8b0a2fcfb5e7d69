//! The three tables as pure state. Each call applies exactly the guards that
//! the core defines, all or nothing; this is what every other store is
//! compared with.

use sekali::ids::{EndpointName, Generation};
use sekali::key::{ActionKey, EventHash, EventKey, ResourceKey};
use sekali::pause::Pauses;
use sekali::payload::Payload;
use sekali::ports::{Captured, Create, StoreError, Write};
use sekali::protocol::action::{Action, ActionStatus, EffectResult};
use sekali::protocol::event::{CONFLICTS_LISTED, ContentFacts, Event};
use sekali::protocol::history::{History, HistoryWrite};
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::{ActionWrite, EventWrite, ResourceWrite, Transition};
use sekali::time::{ExpiresAt, UnixMillis};
use std::collections::BTreeMap;

use super::ledger::Footprint;

/// DynamoDB takes no larger item.
const LARGEST_ITEM: usize = 400 * 1024;

/// A payload as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredPayload {
    pub(super) payload: Payload,
    pub(super) expires: Option<ExpiresAt>,
    /// The newest generation that took its TTL off or set it.
    pub(super) generation: Option<Generation>,
}

/// Whether, and when, DynamoDB may remove a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// There is no such payload.
    Absent,
    /// It stays until somebody gives it a TTL.
    Kept,
    /// It may be removed after this.
    At(ExpiresAt),
}

/// Everything stored. Two equal values are the same state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    pub(super) events: BTreeMap<EventKey, Event>,
    pub(super) payloads: BTreeMap<(EventKey, EventHash), StoredPayload>,
    pub(super) actions: BTreeMap<ActionKey, Action>,
    pub(super) resources: BTreeMap<ResourceKey, Resource>,
    pub(super) captured: BTreeMap<EndpointName, Captured>,
    pub(super) histories: BTreeMap<EventKey, History>,
    pub(super) pauses: Pauses,
}

impl Tables {
    /// Every event, by key.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.values()
    }

    /// Every action, by key.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.actions.values()
    }

    /// Every resource, by key.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.resources.values()
    }

    /// One event.
    pub fn event(&self, key: &EventKey) -> Option<&Event> {
        self.events.get(key)
    }

    /// One action.
    pub fn action(&self, key: &ActionKey) -> Option<&Action> {
        self.actions.get(key)
    }

    /// One resource.
    pub fn resource(&self, key: &ResourceKey) -> Option<&Resource> {
        self.resources.get(key)
    }

    /// The secret that was handed over for an endpoint.
    pub fn captured(&self, endpoint: &EndpointName) -> Option<&Captured> {
        self.captured.get(endpoint)
    }

    /// See [`Store::capture`](sekali::ports::Store::capture).
    pub fn capture(&mut self, captured: &Captured) -> Write {
        let kept = self.captured.entry(captured.endpoint.clone()).or_insert_with(|| captured.clone());
        if kept.secret == captured.secret { Write::Applied } else { Write::Refused }
    }

    /// What humans decided about an event.
    pub fn history(&self, key: &EventKey) -> Option<&History> {
        self.histories.get(key)
    }

    /// Every pause on record.
    pub fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    /// See [`PauseRecord::set_pauses`](sekali::ports::PauseRecord::set_pauses).
    pub fn set_pauses(&mut self, from: u64, to: &Pauses) -> Write {
        if self.pauses.version == from {
            self.pauses = to.clone();
        }
        // Otherwise an earlier try of the same may have been applied.
        if self.pauses == *to { Write::Applied } else { Write::Refused }
    }

    /// One payload.
    pub fn payload(&self, key: &EventKey, hash: &EventHash) -> Option<&Payload> {
        self.payloads.get(&(key.clone(), hash.clone())).map(|stored| &stored.payload)
    }

    /// Loses a payload, as if its TTL had passed or somebody had erased it.
    pub fn lose_payload(&mut self, key: &EventKey, hash: &EventHash) {
        self.payloads.remove(&(key.clone(), hash.clone()));
    }

    /// See [`Erasure::erase_request`](sekali::ports::Erasure::erase_request).
    pub fn erase_request(&mut self, read: &Action) -> bool {
        let settled = matches!(read.status, ActionStatus::Done | ActionStatus::Rejected);
        let stored = self.actions.get_mut(&read.key);
        let Some(stored) = stored.filter(|stored| settled && read.as_read().admits(Some(stored))) else {
            return false;
        };
        stored.request.body.clear();
        let erased = || "erased".to_owned();
        stored.result = stored.result.as_ref().map(|_| EffectResult(erased()));
        if let Some(cause) = stored.reason.as_mut().and_then(|reason| reason.cause.as_mut()) {
            *cause = erased();
        }
        true
    }

    /// Whether, and when, a payload may be removed.
    pub fn payload_expiry(&self, key: &EventKey, hash: &EventHash) -> Expiry {
        match self.payloads.get(&(key.clone(), hash.clone())) {
            None => Expiry::Absent,
            Some(stored) => stored.expires.map_or(Expiry::Kept, Expiry::At),
        }
    }

    /// The newest generation that settled a payload's TTL.
    pub fn payload_settled_by(&self, key: &EventKey, hash: &EventHash) -> Option<Generation> {
        self.payloads.get(&(key.clone(), hash.clone())).and_then(|stored| stored.generation)
    }

    /// See [`Store::create_event`](sekali::ports::Store::create_event).
    ///
    /// # Errors
    /// `Invalid`: the event is larger than an item may be.
    pub fn create_event(&mut self, event: &Event) -> Result<Create, StoreError> {
        fits(&Footprint::of_event(event))?;
        if let Some(stored) = self.events.get(&event.key) {
            return Ok(Create::Exists(Box::new(stored.clone())));
        }
        self.events.insert(event.key.clone(), event.clone());
        Ok(Create::Created)
    }

    /// See [`HistoryRecord::create_recorded`](sekali::ports::HistoryRecord::create_recorded).
    pub fn create_recorded(&mut self, event: &Event, record: &HistoryWrite) -> Result<Create, StoreError> {
        if !self.events.contains_key(&event.key) && !record.admits(self.histories.get(&record.key)) {
            return Err(StoreError::Contended);
        }
        let created = self.create_event(event)?;
        if created == Create::Created {
            self.histories.insert(record.key.clone(), record.to.clone());
        }
        Ok(created)
    }

    /// See [`Store::put_payload`](sekali::ports::Store::put_payload).
    pub fn put_payload(&mut self, key: &EventKey, hash: &EventHash, payload: &Payload, expires: ExpiresAt) {
        // INV-9: a repeated delivery never restores a TTL, and never brings one forward.
        let takes = match self.payload_expiry(key, hash) {
            Expiry::Absent => true,
            Expiry::Kept => false,
            Expiry::At(stored) => stored < expires,
        };
        if takes {
            let stored = StoredPayload { payload: payload.clone(), expires: Some(expires), generation: None };
            self.payloads.insert((key.clone(), hash.clone()), stored);
        }
    }

    /// See [`Store::keep_payload`](sekali::ports::Store::keep_payload).
    pub fn keep_payload(&mut self, key: &EventKey, hash: &EventHash, generation: Generation) -> bool {
        let Some(stored) = self.payloads.get_mut(&(key.clone(), hash.clone())) else { return false };
        if stored.generation <= Some(generation) {
            (stored.expires, stored.generation) = (None, Some(generation));
        }
        true
    }

    /// See [`Store::expire_payload`](sekali::ports::Store::expire_payload).
    pub fn expire_payload(
        &mut self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
        expires: ExpiresAt,
    ) {
        let Some(stored) = self.payloads.get_mut(&(key.clone(), hash.clone())) else { return };
        let later = stored.expires.is_none_or(|earlier| earlier < expires);
        // INV-9: a late call changes nothing that a newer generation kept.
        if later && stored.generation <= Some(generation) {
            (stored.expires, stored.generation) = (Some(expires), Some(generation));
        }
    }

    /// See [`Store::count_duplicate`](sekali::ports::Store::count_duplicate).
    pub fn count_duplicate(
        &mut self,
        key: &EventKey,
        other: Option<&EventHash>,
        at: UnixMillis,
    ) -> Option<Event> {
        let event = self.events.get_mut(key)?;
        if event.seen.repeated_as.is_none() {
            event.seen.repeated_as = other.cloned();
        }
        event.seen.deliveries = event.seen.deliveries.saturating_add(1);
        event.seen.last_at = at;
        Some(event.clone())
    }

    /// See [`Store::record_conflict`](sekali::ports::Store::record_conflict).
    pub fn record_conflict(&mut self, key: &EventKey, hash: &EventHash, at: UnixMillis) {
        if let Some(event) = self.events.get_mut(key) {
            note_conflict(event, hash, at);
        }
    }

    /// See [`Store::adopt`](sekali::ports::Store::adopt).
    pub fn adopt(&mut self, seen: &Event, to: &ContentFacts, at: UnixMillis) -> Write {
        let Some(stored) = self.events.get_mut(&seen.key) else { return Write::Refused };
        let unmoved = stored.progress.status == seen.progress.status
            && stored.progress.generation == seen.progress.generation
            && stored.progress.expires.is_some() == seen.progress.expires.is_some()
            && stored.progress.action.is_none();
        if !unmoved || (stored.hash != seen.hash && stored.hash != to.hash) {
            return Write::Refused;
        }
        // Otherwise an earlier try of the same adoption was applied.
        if stored.hash == seen.hash {
            *stored = stored.clone().with(to);
            note_conflict(stored, &seen.hash, at);
        }
        Write::Applied
    }

    /// See [`Store::write`](sekali::ports::Store::write): all or nothing, each
    /// item on its guard (INV-3, INV-5). One without an item is applied.
    ///
    /// # Errors
    /// `Invalid`: an item is larger than it may be.
    pub fn apply(&mut self, transition: &Transition) -> Result<Write, StoreError> {
        self.check_sizes(transition)?;
        if self.admits(transition) {
            self.put(transition);
            return Ok(Write::Applied);
        }
        // A refused write that finds all of it as it wanted was applied by an
        // earlier try of the same.
        Ok(if self.stands_as_wanted(transition) { Write::Applied } else { Write::Refused })
    }

    fn check_sizes(&self, transition: &Transition) -> Result<(), StoreError> {
        let Transition { event, action, resource, payload: _, history: _ } = transition;
        if let Some(ActionWrite::Put { to, .. }) = action {
            fits(&Footprint::of_action(to))?;
        }
        if let Some(stored) = event.as_ref().and_then(|write| Some((self.events.get(&write.key)?, write))) {
            let (stored, write) = stored;
            let to = Event { progress: write.to.clone(), ..stored.clone() };
            let to = match &write.content {
                Some(content) => to.with(&content.facts),
                None => to,
            };
            fits(&Footprint::of_event(&to))?;
        }
        resource.as_ref().map_or(Ok(()), |write| fits(&Footprint::of_resource(&write.to)))
    }

    fn admits(&self, transition: &Transition) -> bool {
        let event = transition.event.as_ref().is_none_or(|EventWrite { key, from, .. }| {
            self.events.get(key).is_some_and(|stored| from.admits(stored))
        });
        let action = transition.action.as_ref().is_none_or(|write| match write {
            ActionWrite::Put { from, to } => from.admits(self.actions.get(&to.key)),
            ActionWrite::Check { action } => action.as_read().admits(self.actions.get(&action.key)),
        });
        let resource = transition
            .resource
            .as_ref()
            .is_none_or(|write: &ResourceWrite| write.from.admits(self.resources.get(write.key())));
        let history =
            transition.history.as_ref().is_none_or(|write| write.admits(self.histories.get(&write.key)));
        event && action && resource && history
    }

    fn put(&mut self, transition: &Transition) {
        if let Some(write) = &transition.event
            && let Some(stored) = self.events.get_mut(&write.key)
        {
            stored.progress = write.to.clone();
            if let Some(content) = &write.content {
                *stored = stored.clone().with(&content.facts);
                stored.seen.conflict_hashes.clone_from(&content.conflicts);
            }
        }
        if let Some(ActionWrite::Put { to, .. }) = &transition.action {
            self.actions.insert(to.key.clone(), (**to).clone());
        }
        if let Some(write) = &transition.resource {
            self.resources.insert(write.key().clone(), write.to.clone());
        }
        if let Some(write) = &transition.history {
            self.histories.insert(write.key.clone(), write.to.clone());
        }
    }

    /// Every item that would be written already is what it should become; a
    /// transition that only looks is never its own retry.
    fn stands_as_wanted(&self, transition: &Transition) -> bool {
        let event = transition.event.as_ref().map(|write| {
            self.events.get(&write.key).is_some_and(|stored| {
                stored.progress == write.to && write.hash().is_none_or(|hash| *hash == stored.hash)
            })
        });
        let action = match &transition.action {
            Some(ActionWrite::Put { to, .. }) => Some(self.actions.get(&to.key) == Some(&**to)),
            Some(ActionWrite::Check { .. }) | None => None,
        };
        let resource =
            transition.resource.as_ref().map(|write| self.resources.get(write.key()) == Some(&write.to));
        let history =
            transition.history.as_ref().map(|write| self.histories.get(&write.key) == Some(&write.to));
        let written: Vec<bool> = [event, action, resource, history].into_iter().flatten().collect();
        !written.is_empty() && written.into_iter().all(|as_wanted| as_wanted)
    }
}

fn note_conflict(event: &mut Event, hash: &EventHash, at: UnixMillis) {
    let seen = &mut event.seen;
    seen.conflicts = seen.conflicts.saturating_add(1);
    seen.last_at = at;
    if seen.conflict_hashes.len() < CONFLICTS_LISTED && !seen.conflict_hashes.contains(hash) {
        seen.conflict_hashes.push(hash.clone());
    }
}

fn fits(footprint: &Footprint) -> Result<(), StoreError> {
    match footprint.bytes {
        0..=LARGEST_ITEM => Ok(()),
        bytes => Err(StoreError::Invalid(format!("an item of {bytes} bytes"))),
    }
}
