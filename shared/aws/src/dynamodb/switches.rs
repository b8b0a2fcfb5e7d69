//! Destinations that are switched off: by the processor, on again by a human.

use super::DynamoStore;
use super::expression::{self, Table};
use super::item;
use sekali::ids::{DestinationName, Who};
use sekali::ports::{StoreError, SwitchedOff, Switches};
use sekali::time::UnixMillis;

impl Switches for DynamoStore {
    async fn switched_off(
        &self,
        destination: &DestinationName,
        place: &str,
    ) -> Result<Option<SwitchedOff>, StoreError> {
        let item = self.get(Table::Actions, &item::switched_off::key(destination, place)).await?;
        item.as_ref().map(item::switched_off::decode).transpose()
    }

    async fn switch_off(&self, off: &SwitchedOff) -> Result<(), StoreError> {
        // Refused: it is off already, and the first evidence stays.
        self.put(Table::Actions, expression::put_once(item::switched_off::encode(off))).await.map(drop)
    }
}

/// Who switched a destination on again, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOn {
    /// When.
    pub at: UnixMillis,
    /// By whom.
    pub who: Who,
    /// Why.
    pub why: String,
}

impl DynamoStore {
    /// Switches a destination on again, for the operator. It is no error if it
    /// is on. Processors that run may take a minute to hear of it. Who did it
    /// is on record before it is done; of several times the last stays there.
    ///
    /// # Errors
    /// The store did not answer: look again.
    pub async fn switch_on(&self, off: &SwitchedOff, on: &SwitchedOn) -> Result<(), StoreError> {
        self.put(Table::Actions, expression::put_over(item::switched_off::encode_on(off, on))).await?;
        self.take_away(Table::Actions, &item::switched_off::key(&off.destination, &off.place)).await
    }

    /// When a human switched a destination on last; `None`: nobody ever did.
    ///
    /// # Errors
    /// The store did not answer: look again.
    pub async fn switched_on_at(
        &self,
        destination: &DestinationName,
        place: &str,
    ) -> Result<Option<UnixMillis>, StoreError> {
        let item = self.get(Table::Actions, &item::switched_off::on_key(destination, place)).await?;
        item.as_ref().map(item::switched_off::on_at).transpose()
    }
}
