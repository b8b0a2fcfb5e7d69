//! A payload in one item or in several: put, kept, given a TTL again and read
//! so that whoever finds the head finds all of it.

use super::DynamoStore;
use super::expression::{self, Table};
use super::item::Item;
use super::item::payload::{self, Laid, Manifest};
use super::write::End;
use aws_sdk_dynamodb::types::ReturnValue;
use futures_util::future::try_join_all;
use sekali::ids::Generation;
use sekali::payload::Payload;
use sekali::ports::StoreError;
use sekali::time::ExpiresAt;

/// How often the head may name other parts when it is looked at again. Each
/// time another delivery of the event, with a later TTL, put its own.
const ROUNDS: usize = 8;

impl DynamoStore {
    /// Puts the parts side by side and the head last: INV-1, whoever finds a
    /// head finds its parts, and a crash before it leaves nothing but parts
    /// that expire.
    pub(super) async fn put_laid(&self, laid: Laid, expires: ExpiresAt) -> Result<(), StoreError> {
        // Refused: it is there, and kept for longer than this (INV-9).
        let puts = laid.parts.into_iter().map(|part| expression::put_payload(part, expires));
        try_join_all(puts.map(|part| self.put(Table::Events, part))).await?;
        self.put(Table::Events, expression::put_payload(laid.head, expires)).await.map(drop)
    }

    /// Takes the TTL off: first off every part, then off the head, and off the
    /// head only if it still names those parts (INV-9). One item alone, as
    /// nearly always, is one write. `false`: something of it is not there.
    pub(super) async fn keep_laid(&self, pk: &str, generation: Generation) -> Result<bool, StoreError> {
        let mut manifest: Option<Manifest> = None;
        for _ in 0..ROUNDS {
            if let Some(manifest) = &manifest
                && !self.keep_parts(manifest, generation).await?
            {
                return Ok(false);
            }
            let digest = manifest.as_ref().map(|manifest| &manifest.digest);
            let change = expression::keep_payload(pk, digest, generation);
            match self.change(change, ReturnValue::None).await? {
                End::Written(_) => return Ok(true),
                End::Refused(head) => match self.in_the_way(pk, head).await? {
                    Some(head) if payload::is_settled_after(&head, generation)? => return Ok(true),
                    Some(head) => manifest = Manifest::of(&head)?,
                    None => return Ok(false),
                },
            }
        }
        Err(StoreError::Contended)
    }

    /// `false`: one is not there.
    async fn keep_parts(&self, manifest: &Manifest, generation: Generation) -> Result<bool, StoreError> {
        let keys = manifest.keys();
        let kept = try_join_all(keys.iter().map(|key| async move {
            match self.change(expression::keep_part(key, generation), ReturnValue::None).await? {
                End::Written(_) => Ok(true),
                End::Refused(part) => match self.in_the_way(key, part).await? {
                    Some(part) => payload::is_settled_after(&part, generation),
                    None => Ok(false),
                },
            }
        }));
        Ok(kept.await?.into_iter().all(|there| there))
    }

    /// Gives the head a TTL and then its parts: none of them goes before it.
    pub(super) async fn expire_laid(
        &self,
        pk: &str,
        generation: Generation,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        let change = expression::expire_payload(pk, None, generation, expires);
        let End::Refused(head) = self.change(change, ReturnValue::None).await? else { return Ok(()) };
        // Refused: it is gone, or expires later anyway, or a newer generation
        // kept it, or it lies in parts.
        let Some(head) = self.in_the_way(pk, head).await? else { return Ok(()) };
        let Some(manifest) = Manifest::of(&head)? else { return Ok(()) };
        let change = expression::expire_payload(pk, Some(&manifest.digest), generation, expires);
        if let End::Written(_) = self.change(change, ReturnValue::None).await? {
            let keys = manifest.keys();
            let expiring = keys.iter().map(|key| expression::expire_part(key, generation, expires));
            try_join_all(expiring.map(|part| self.change(part, ReturnValue::None))).await?;
        }
        Ok(())
    }

    /// Reads it. A missing part is a missing payload: the event waits for the
    /// delivery that brings it again (INV-1).
    pub(super) async fn read_laid(&self, pk: &str) -> Result<Option<Payload>, StoreError> {
        let Some(head) = self.get(Table::Events, pk).await? else { return Ok(None) };
        let Some(manifest) = Manifest::of(&head)? else { return payload::decode(&head).map(Some) };
        let keys = manifest.keys();
        let parts = try_join_all(keys.iter().map(|key| self.get(Table::Events, key))).await?;
        let parts: Option<Vec<Item>> = parts.into_iter().collect();
        parts.map(|parts| manifest.join(&parts)).transpose()
    }

    /// The item that stood in the way of a write; an emulator may not hand it
    /// back.
    async fn in_the_way(&self, pk: &str, handed_back: Option<Item>) -> Result<Option<Item>, StoreError> {
        match handed_back {
            Some(item) => Ok(Some(item)),
            None => self.get(Table::Events, pk).await,
        }
    }
}
