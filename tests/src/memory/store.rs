//! The store in memory: the tables behind a lock, with the ledger and an index
//! that the test can let fall behind.

use super::expiry::Removal;
use super::ledger::{Footprint, Ledger, StoreCall};
use super::lock;
use super::tables::{Expiry, Tables};
use sekali::ids::Generation;
use sekali::key::{ActionKey, EventHash, EventKey, ResourceKey};
use sekali::pause::Pauses;
use sekali::payload::Payload;
use sekali::ports::{
    Captured, Create, DuePage, Erasure, HistoryRecord, IndexShard, PauseRecord, Store, StoreError, Write,
};
use sekali::protocol::action::Action;
use sekali::protocol::event::{ContentFacts, Event};
use sekali::protocol::history::{History, HistoryWrite};
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::{ActionWrite, Transition};
use sekali::time::{ExpiresAt, UnixMillis};
use std::sync::{Arc, Mutex};

/// A handle to one set of tables; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Shelf>>);

#[derive(Debug, Default)]
struct Shelf {
    tables: Tables,
    ledger: Ledger,
    /// What the index still shows, where it has fallen behind.
    stale: Option<Tables>,
}

impl MemoryStore {
    /// A store that begins with these tables.
    pub fn with(tables: Tables) -> Self {
        Self(Arc::new(Mutex::new(Shelf { tables, ..Shelf::default() })))
    }

    /// A copy of everything stored.
    pub fn tables(&self) -> Tables {
        lock(&self.0).tables.clone()
    }

    /// Looks at the tables without copying them.
    pub fn look<T>(&self, at: impl FnOnce(&Tables) -> T) -> T {
        at(&lock(&self.0).tables)
    }

    /// Changes the tables behind the protocol's back, e.g. loses an item.
    pub fn tamper<T>(&self, with: impl FnOnce(&mut Tables) -> T) -> T {
        with(&mut lock(&self.0).tables)
    }

    /// What the calls cost so far.
    pub fn ledger(&self) -> Ledger {
        lock(&self.0).ledger.clone()
    }

    /// Removes what has expired, as DynamoDB would by then; returns how many
    /// items went.
    pub fn remove_expired(&self, now: UnixMillis, removal: Removal) -> usize {
        lock(&self.0).tables.remove_expired(now, removal)
    }

    /// From now on the index shows things as they stand at this moment.
    pub fn hold_index_back(&self) {
        let mut shelf = lock(&self.0);
        shelf.stale = Some(shelf.tables.clone());
    }

    /// The index catches up.
    pub fn let_index_catch_up(&self) {
        lock(&self.0).stale = None;
    }

    /// Whether, and when, a payload may be removed.
    pub fn payload_expiry(&self, key: &EventKey, hash: &EventHash) -> Expiry {
        lock(&self.0).tables.payload_expiry(key, hash)
    }

    fn on_event<T>(&self, call: StoreCall, key: &EventKey, act: impl FnOnce(&mut Tables) -> T) -> T {
        let mut shelf = lock(&self.0);
        let before = shelf.tables.event_footprint(key);
        let end = act(&mut shelf.tables);
        let after = shelf.tables.event_footprint(key);
        shelf.ledger.wrote(call, &[(before, after)]);
        end
    }

    fn on_payload<T>(
        &self,
        call: StoreCall,
        key: &EventKey,
        hash: &EventHash,
        act: impl FnOnce(&mut Tables) -> T,
    ) -> T {
        let mut shelf = lock(&self.0);
        let before = shelf.tables.payload_footprint(key, hash);
        let end = act(&mut shelf.tables);
        let after = shelf.tables.payload_footprint(key, hash);
        shelf.ledger.wrote(call, &[(before, after)]);
        end
    }

    fn read<T: Clone>(
        &self,
        call: StoreCall,
        find: impl FnOnce(&Tables) -> Option<&T>,
        footprint: impl FnOnce(&T) -> Footprint,
    ) -> Option<T> {
        let mut shelf = lock(&self.0);
        let found = find(&shelf.tables).cloned();
        let bytes = found.as_ref().map_or(0, |item| footprint(item).bytes);
        shelf.ledger.read(call, bytes);
        found
    }
}

impl Tables {
    fn event_footprint(&self, key: &EventKey) -> Footprint {
        self.event(key).map(Footprint::of_event).unwrap_or_default()
    }

    fn payload_footprint(&self, key: &EventKey, hash: &EventHash) -> Footprint {
        self.payload(key, hash).map(|payload| Footprint::of_payload(key, hash, payload)).unwrap_or_default()
    }

    /// The footprints of every item that a transition names.
    fn footprints(&self, transition: &Transition) -> Vec<Footprint> {
        let event = transition.event.as_ref().map(|write| self.event_footprint(&write.key));
        let action = transition.action.as_ref().map(|write| match write {
            ActionWrite::Put { to, .. } => &to.key,
            ActionWrite::Check { action } => &action.key,
        });
        let action = action.map(|key| self.action(key).map(Footprint::of_action).unwrap_or_default());
        let resource = transition.resource.as_ref();
        let resource =
            resource.map(|write| self.resource(write.key()).map(Footprint::of_resource).unwrap_or_default());
        let history = transition.history.as_ref();
        let history =
            history.map(|write| self.history(&write.key).map(Footprint::of_history).unwrap_or_default());
        [event, action, resource, history].into_iter().flatten().collect()
    }
}

impl Store for MemoryStore {
    async fn create_event(&self, event: &Event) -> Result<Create, StoreError> {
        self.on_event(StoreCall::CreateEvent, &event.key, |tables| tables.create_event(event))
    }

    async fn put_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        payload: &Payload,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        self.on_payload(StoreCall::PutPayload, key, hash, |tables| {
            tables.put_payload(key, hash, payload, expires);
        });
        Ok(())
    }

    async fn keep_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
    ) -> Result<bool, StoreError> {
        Ok(self.on_payload(StoreCall::KeepPayload, key, hash, |tables| {
            tables.keep_payload(key, hash, generation)
        }))
    }

    async fn expire_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        self.on_payload(StoreCall::ExpirePayload, key, hash, |tables| {
            tables.expire_payload(key, hash, generation, expires);
        });
        Ok(())
    }

    async fn payload(&self, key: &EventKey, hash: &EventHash) -> Result<Option<Payload>, StoreError> {
        let footprint = |payload: &Payload| Footprint::of_payload(key, hash, payload);
        Ok(self.read(StoreCall::ReadPayload, |tables| tables.payload(key, hash), footprint))
    }

    async fn event(&self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        Ok(self.read(StoreCall::ReadEvent, |tables| tables.event(key), Footprint::of_event))
    }

    async fn action(&self, key: &ActionKey) -> Result<Option<Action>, StoreError> {
        Ok(self.read(StoreCall::ReadAction, |tables| tables.action(key), Footprint::of_action))
    }

    async fn resource(&self, key: &ResourceKey) -> Result<Option<Resource>, StoreError> {
        Ok(self.read(StoreCall::ReadResource, |tables| tables.resource(key), Footprint::of_resource))
    }

    async fn write(&self, transition: &Transition) -> Result<Write, StoreError> {
        let mut shelf = lock(&self.0);
        let before = shelf.tables.footprints(transition);
        let end = shelf.tables.apply(transition);
        let after = shelf.tables.footprints(transition);
        let items: Vec<_> = before.into_iter().zip(after).collect();
        shelf.ledger.wrote(StoreCall::Write, &items);
        end
    }

    async fn count_duplicate(
        &self,
        key: &EventKey,
        other: Option<&EventHash>,
        at: UnixMillis,
    ) -> Result<Option<Event>, StoreError> {
        Ok(self.on_event(StoreCall::CountDuplicate, key, |tables| tables.count_duplicate(key, other, at)))
    }

    async fn record_conflict(
        &self,
        key: &EventKey,
        hash: &EventHash,
        at: UnixMillis,
    ) -> Result<(), StoreError> {
        self.on_event(StoreCall::RecordConflict, key, |tables| tables.record_conflict(key, hash, at));
        Ok(())
    }

    async fn adopt(&self, seen: &Event, to: &ContentFacts, at: UnixMillis) -> Result<Write, StoreError> {
        Ok(self.on_event(StoreCall::Adopt, &seen.key, |tables| tables.adopt(seen, to, at)))
    }

    async fn capture(&self, captured: &Captured) -> Result<Write, StoreError> {
        let mut shelf = lock(&self.0);
        let end = shelf.tables.capture(captured);
        let footprint = Footprint::of_captured(captured);
        shelf.ledger.wrote(StoreCall::Capture, &[(footprint, footprint)]);
        Ok(end)
    }

    async fn due(
        &self,
        shard: IndexShard,
        until: UnixMillis,
        after: Option<&(EventKey, UnixMillis)>,
        limit: usize,
    ) -> Result<DuePage, StoreError> {
        let mut shelf = lock(&self.0);
        let page = shelf.stale.as_ref().unwrap_or(&shelf.tables).due(shard, until, after, limit);
        let bytes = page.events.iter().map(|(key, _)| key.as_str().len()).sum();
        shelf.ledger.read(StoreCall::Due, bytes);
        Ok(page)
    }
}

impl PauseRecord for MemoryStore {
    async fn pauses(&self) -> Result<Pauses, StoreError> {
        Ok(self
            .read(StoreCall::ReadPauses, |tables| Some(tables.pauses()), Footprint::of_pauses)
            .unwrap_or_default())
    }

    async fn set_pauses(&self, from: u64, to: &Pauses) -> Result<Write, StoreError> {
        Ok(lock(&self.0).tables.set_pauses(from, to))
    }
}

impl HistoryRecord for MemoryStore {
    async fn history(&self, key: &EventKey) -> Result<History, StoreError> {
        Ok(lock(&self.0).tables.history(key).cloned().unwrap_or_default())
    }

    async fn create_recorded(&self, event: &Event, record: &HistoryWrite) -> Result<Create, StoreError> {
        self.on_event(StoreCall::CreateEvent, &event.key, |tables| tables.create_recorded(event, record))
    }
}

impl Erasure for MemoryStore {
    async fn erase_payload(&self, key: &EventKey, hash: &EventHash) -> Result<(), StoreError> {
        self.on_payload(StoreCall::ErasePayload, key, hash, |tables| tables.lose_payload(key, hash));
        Ok(())
    }

    async fn erase_request(&self, action: &Action) -> Result<bool, StoreError> {
        let mut shelf = lock(&self.0);
        let before = Footprint::of_action(action);
        let emptied = shelf.tables.erase_request(action);
        let after = shelf.tables.action(&action.key).map(Footprint::of_action).unwrap_or_default();
        shelf.ledger.wrote(StoreCall::EraseRequest, &[(before, after)]);
        Ok(emptied)
    }
}
