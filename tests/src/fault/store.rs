//! The store as a worker sees it when things go wrong.

use super::kind::{PortCall, Trouble};
use super::worker::Faulty;
use crate::memory::StoreCall;
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
use sekali::protocol::transition::Transition;
use sekali::time::{ExpiresAt, UnixMillis};
use std::future::Future;

fn instead(trouble: Trouble) -> StoreError {
    match trouble {
        Trouble::Throttled => StoreError::Throttled,
        Trouble::Contended => StoreError::Contended,
        Trouble::Unanswered => StoreError::Unknown("the request was lost".to_owned()),
        Trouble::Invalid => StoreError::Invalid("refused by the test".to_owned()),
        Trouble::Unreadable => StoreError::Unreadable("made unreadable by the test".to_owned()),
    }
}

fn lost() -> StoreError {
    StoreError::Unknown("the answer was lost".to_owned())
}

impl<S: Store> Faulty<S> {
    async fn ask<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        call: StoreCall,
        act: impl Fn() -> F,
    ) -> Result<T, StoreError> {
        self.pass(PortCall::Store(call), act, |trouble| Err(instead(trouble)), || Err(lost())).await
    }
}

impl<S: Store> Store for Faulty<S> {
    async fn create_event(&self, event: &Event) -> Result<Create, StoreError> {
        self.ask(StoreCall::CreateEvent, || self.port.create_event(event)).await
    }

    async fn put_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        payload: &Payload,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        self.ask(StoreCall::PutPayload, || self.port.put_payload(key, hash, payload, expires)).await
    }

    async fn keep_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
    ) -> Result<bool, StoreError> {
        self.ask(StoreCall::KeepPayload, || self.port.keep_payload(key, hash, generation)).await
    }

    async fn expire_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        self.ask(StoreCall::ExpirePayload, || self.port.expire_payload(key, hash, generation, expires)).await
    }

    async fn payload(&self, key: &EventKey, hash: &EventHash) -> Result<Option<Payload>, StoreError> {
        self.ask(StoreCall::ReadPayload, || self.port.payload(key, hash)).await
    }

    async fn event(&self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        self.ask(StoreCall::ReadEvent, || self.port.event(key)).await
    }

    async fn action(&self, key: &ActionKey) -> Result<Option<Action>, StoreError> {
        self.ask(StoreCall::ReadAction, || self.port.action(key)).await
    }

    async fn resource(&self, key: &ResourceKey) -> Result<Option<Resource>, StoreError> {
        self.ask(StoreCall::ReadResource, || self.port.resource(key)).await
    }

    async fn write(&self, transition: &Transition) -> Result<Write, StoreError> {
        self.ask(StoreCall::Write, || self.port.write(transition)).await
    }

    async fn count_duplicate(
        &self,
        key: &EventKey,
        other: Option<&EventHash>,
        at: UnixMillis,
    ) -> Result<Option<Event>, StoreError> {
        self.ask(StoreCall::CountDuplicate, || self.port.count_duplicate(key, other, at)).await
    }

    async fn record_conflict(
        &self,
        key: &EventKey,
        hash: &EventHash,
        at: UnixMillis,
    ) -> Result<(), StoreError> {
        self.ask(StoreCall::RecordConflict, || self.port.record_conflict(key, hash, at)).await
    }

    async fn adopt(&self, seen: &Event, to: &ContentFacts, at: UnixMillis) -> Result<Write, StoreError> {
        self.ask(StoreCall::Adopt, || self.port.adopt(seen, to, at)).await
    }

    async fn capture(&self, captured: &Captured) -> Result<Write, StoreError> {
        self.ask(StoreCall::Capture, || self.port.capture(captured)).await
    }

    async fn due(
        &self,
        shard: IndexShard,
        until: UnixMillis,
        after: Option<&(EventKey, UnixMillis)>,
        limit: usize,
    ) -> Result<DuePage, StoreError> {
        self.ask(StoreCall::Due, || self.port.due(shard, until, after, limit)).await
    }
}

impl<S: Store + PauseRecord> PauseRecord for Faulty<S> {
    async fn pauses(&self) -> Result<Pauses, StoreError> {
        self.ask(StoreCall::ReadPauses, || self.port.pauses()).await
    }

    async fn set_pauses(&self, from: u64, to: &Pauses) -> Result<Write, StoreError> {
        // By people, who try again until it is done.
        self.port.set_pauses(from, to).await
    }
}

impl<S: Store + HistoryRecord> HistoryRecord for Faulty<S> {
    async fn history(&self, key: &EventKey) -> Result<History, StoreError> {
        self.port.history(key).await
    }

    async fn create_recorded(&self, event: &Event, record: &HistoryWrite) -> Result<Create, StoreError> {
        self.ask(StoreCall::CreateEvent, || self.port.create_recorded(event, record)).await
    }
}

impl<S: Store + Erasure> Erasure for Faulty<S> {
    async fn erase_payload(&self, key: &EventKey, hash: &EventHash) -> Result<(), StoreError> {
        self.ask(StoreCall::ErasePayload, || self.port.erase_payload(key, hash)).await
    }

    async fn erase_request(&self, action: &Action) -> Result<bool, StoreError> {
        self.ask(StoreCall::EraseRequest, || self.port.erase_request(action)).await
    }
}
