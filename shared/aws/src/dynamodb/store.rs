//! The port to the tables, call by call.

use super::DynamoStore;
use super::expression::{self, Listing, Table};
use super::item;
use super::write::End;
use aws_sdk_dynamodb::types::ReturnValue;
use sekali::ids::Generation;
use sekali::key::{ActionKey, EventHash, EventKey, ResourceKey};
use sekali::payload::Payload;
use sekali::ports::{Captured, Create, DuePage, IndexShard, Store, StoreError, Write};
use sekali::protocol::action::Action;
use sekali::protocol::event::{ContentFacts, Event};
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::Transition;
use sekali::time::{ExpiresAt, UnixMillis};

impl Store for DynamoStore {
    async fn create_event(&self, event: &Event) -> Result<Create, StoreError> {
        match self.put(Table::Events, expression::create_event(event)).await? {
            End::Written(_) => Ok(Create::Created),
            End::Refused(Some(stored)) => Ok(Create::Exists(Box::new(item::event::decode(&stored)?))),
            // An emulator that does not hand the item back.
            End::Refused(None) => match self.event(&event.key).await? {
                Some(stored) => Ok(Create::Exists(Box::new(stored))),
                None => Err(StoreError::Unknown("the event that was in the way is gone".to_owned())),
            },
        }
    }

    async fn put_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        payload: &Payload,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        self.put_laid(item::payload::lay_out(key, hash, payload, expires), expires).await
    }

    async fn keep_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
    ) -> Result<bool, StoreError> {
        self.keep_laid(&item::payload::key(key, hash), generation).await
    }

    async fn expire_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        self.expire_laid(&item::payload::key(key, hash), generation, expires).await
    }

    async fn payload(&self, key: &EventKey, hash: &EventHash) -> Result<Option<Payload>, StoreError> {
        self.read_laid(&item::payload::key(key, hash)).await
    }

    async fn event(&self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        self.get(Table::Events, key.as_str()).await?.as_ref().map(item::event::decode).transpose()
    }

    async fn action(&self, key: &ActionKey) -> Result<Option<Action>, StoreError> {
        let Some(stored) = self.get(Table::Actions, key.as_str()).await? else { return Ok(None) };
        let mut action = item::action::decode(&stored)?;
        if let Some(digest) = item::action::names_apart(&stored)? {
            let body = self.get(Table::Actions, &item::action::body_key(key, digest)).await?;
            let gone = || StoreError::Unreadable(format!("{key} names a request that is not there"));
            action.request.body = item::action::decode_body(&body.ok_or_else(gone)?)?;
        }
        if let Some(digest) = item::action::names_result_apart(&stored)? {
            let result = self.get(Table::Actions, &item::action::result_key(key, digest)).await?;
            let gone = || StoreError::Unreadable(format!("{key} names a result that is not there"));
            action.result = Some(item::action::decode_result(&result.ok_or_else(gone)?)?);
        }
        Ok(Some(action))
    }

    async fn resource(&self, key: &ResourceKey) -> Result<Option<Resource>, StoreError> {
        self.get(Table::Resources, key.as_str()).await?.as_ref().map(item::resource::decode).transpose()
    }

    async fn write(&self, transition: &Transition) -> Result<Write, StoreError> {
        self.apply(transition).await
    }

    async fn count_duplicate(
        &self,
        key: &EventKey,
        other: Option<&EventHash>,
        at: UnixMillis,
    ) -> Result<Option<Event>, StoreError> {
        match self.change(expression::count_duplicate(key, other, at), ReturnValue::AllNew).await? {
            End::Written(Some(item)) => item::event::decode(&item).map(Some),
            End::Written(None) | End::Refused(_) => Ok(None),
        }
    }

    async fn record_conflict(
        &self,
        key: &EventKey,
        hash: &EventHash,
        at: UnixMillis,
    ) -> Result<(), StoreError> {
        for listing in [Listing::Listed, Listing::Counted] {
            let change = expression::record_conflict(key, hash, at, listing);
            if let End::Written(_) = self.change(change, ReturnValue::None).await? {
                return Ok(());
            }
        }
        // The event is gone; there is nothing left to be in conflict with.
        Ok(())
    }

    async fn adopt(&self, seen: &Event, to: &ContentFacts, at: UnixMillis) -> Result<Write, StoreError> {
        let mut stored = None;
        for listing in [Listing::Listed, Listing::Counted] {
            match self.change(expression::adopt(seen, to, at, listing), ReturnValue::None).await? {
                End::Written(_) => return Ok(Write::Applied),
                End::Refused(item) => stored = item,
            }
        }
        let Some(stored) = stored else { return Ok(Write::Refused) };
        let stored = item::event::decode(&stored)?;
        // Our own earlier try: the content is the new one, and nothing else moved.
        let already = stored.hash == to.hash
            && stored.progress.status == seen.progress.status
            && stored.progress.generation == seen.progress.generation
            && stored.progress.expires.is_some() == seen.progress.expires.is_some()
            && stored.progress.action.is_none();
        Ok(if already { Write::Applied } else { Write::Refused })
    }

    async fn capture(&self, captured: &Captured) -> Result<Write, StoreError> {
        self.keep_captured(captured).await
    }

    async fn due(
        &self,
        shard: IndexShard,
        until: UnixMillis,
        after: Option<&(EventKey, UnixMillis)>,
        limit: usize,
    ) -> Result<DuePage, StoreError> {
        self.due_page(shard, until, after, limit).await
    }
}
