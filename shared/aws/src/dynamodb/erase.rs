//! What is erased for a privacy request: content goes, keys stay.

use super::DynamoStore;
use super::expression::{self, Table};
use super::item;
use super::item::payload::{self, Manifest};
use super::write::End;
use aws_sdk_dynamodb::types::ReturnValue;
use sekali::key::{EventHash, EventKey};
use sekali::ports::{Erasure, StoreError};
use sekali::protocol::action::{Action, ActionStatus};

impl Erasure for DynamoStore {
    /// Its parts go first, then the head that names them, so that a try that
    /// breaks off is found again.
    async fn erase_payload(&self, key: &EventKey, hash: &EventHash) -> Result<(), StoreError> {
        let pk = payload::key(key, hash);
        if let Some(head) = self.get(Table::Events, &pk).await?
            && let Some(manifest) = Manifest::of(&head)?
        {
            for part in manifest.keys() {
                self.take_away(Table::Events, &part).await?;
            }
        }
        self.take_away(Table::Events, &pk).await
    }

    /// What lies apart is emptied where it lies, so that the action still reads.
    async fn erase_request(&self, action: &Action) -> Result<bool, StoreError> {
        if !matches!(action.status, ActionStatus::Done | ActionStatus::Rejected) {
            return Ok(false);
        }
        let change = expression::erase_request(action);
        if let End::Refused(_) = self.change(change, ReturnValue::None).await? {
            return Ok(false);
        }
        let Some(stored) = self.get(Table::Actions, action.key.as_str()).await? else { return Ok(true) };
        if let Some(digest) = item::action::names_apart(&stored)? {
            let emptied = item::action::encode_body(&action.key, digest, &[]);
            self.put(Table::Actions, expression::put_over(emptied)).await?;
        }
        if let Some(digest) = item::action::names_result_apart(&stored)? {
            let emptied = item::action::encode_result(&action.key, digest, &item::action::erased());
            self.put(Table::Actions, expression::put_over(emptied)).await?;
        }
        Ok(true)
    }
}
