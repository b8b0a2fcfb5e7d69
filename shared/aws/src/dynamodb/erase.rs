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

    /// What lies apart, of any generation, is emptied where it lies, so that the
    /// action still reads. What is emptied is what this very write has met: what
    /// a next generation freezes meanwhile is none of it (INV-2).
    async fn erase_request(&self, action: &Action) -> Result<bool, StoreError> {
        if !matches!(action.status, ActionStatus::Done | ActionStatus::Rejected) {
            return Ok(false);
        }
        let change = expression::erase_request(action);
        let stored = match self.change(change, ReturnValue::AllNew).await? {
            End::Written(stored) => stored.unwrap_or_default(),
            End::Refused(_) => return Ok(false),
        };
        let [bodies, results] = item::action::laid_apart(&stored)?;
        let bodies = bodies.into_iter().map(|name| item::action::encode_body(&action.key, name, &[]));
        let results = results
            .into_iter()
            .map(|name| item::action::encode_result(&action.key, name, &item::action::erased()));
        for emptied in bodies.chain(results) {
            self.put(Table::Actions, expression::put_over(emptied)).await?;
        }
        Ok(true)
    }
}
