//! What humans decided: pauses, and the history of an event.

use super::DynamoStore;
use super::expression::{self, Table};
use super::item;
use super::write::End;
use aws_sdk_dynamodb::types::ReturnValue;
use sekali::key::EventKey;
use sekali::pause::Pauses;
use sekali::ports::{Create, HistoryRecord, PauseRecord, StoreError, Write};
use sekali::protocol::event::Event;
use sekali::protocol::history::{History, HistoryWrite};

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

    async fn create_recorded(&self, event: &Event, record: &HistoryWrite) -> Result<Create, StoreError> {
        let changes = vec![expression::create_recorded(event), expression::history_write(record)?];
        if self.transact(changes).await?.is_none() {
            return Ok(Create::Created);
        }
        // Refused by the event that is there, or by a record that grew.
        match self.get(Table::Events, event.key.as_str()).await? {
            Some(item) => Ok(Create::Exists(Box::new(item::event::decode(&item)?))),
            None => Err(StoreError::Contended),
        }
    }
}
