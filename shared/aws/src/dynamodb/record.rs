//! What humans decided: pauses, and the history of an event.

use super::DynamoStore;
use super::expression::{self, Table};
use super::item;
use super::write::End;
use aws_sdk_dynamodb::types::ReturnValue;
use sekali::key::EventKey;
use sekali::pause::Pauses;
use sekali::ports::{HistoryRecord, PauseRecord, StoreError, Write};
use sekali::protocol::history::History;

impl PauseRecord for DynamoStore {
    async fn pauses(&self) -> Result<Pauses, StoreError> {
        let item = self.get(Table::Events, item::pauses::PAUSES).await?;
        item.as_ref().map_or(Ok(Pauses::default()), item::pauses::decode)
    }

    async fn set_pauses(&self, from: u64, to: &Pauses) -> Result<Write, StoreError> {
        match self.change(expression::set_pauses(from, to)?, ReturnValue::None).await? {
            End::Written(_) => Ok(Write::Applied),
            // Our own earlier try, whose answer was lost.
            End::Refused(Some(stored)) if item::pauses::decode(&stored)? == *to => Ok(Write::Applied),
            End::Refused(_) => Ok(Write::Refused),
        }
    }
}

impl HistoryRecord for DynamoStore {
    async fn history(&self, key: &EventKey) -> Result<History, StoreError> {
        let item = self.get(Table::Events, &item::history::key(key)).await?;
        item.as_ref().map_or(Ok(History::default()), item::history::decode)
    }
}
