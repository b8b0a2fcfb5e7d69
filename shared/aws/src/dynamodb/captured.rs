//! Secrets that vendors handed over: kept by ingest, shown to and taken away
//! by the operator.

use super::DynamoStore;
use super::expression::{self, Table};
use super::item;
use super::write::End;
use sekali::ids::EndpointName;
use sekali::ports::{Captured, StoreError, Write};

impl DynamoStore {
    /// Keeps the first secret that is handed over for an endpoint (INV-10).
    pub(super) async fn keep_captured(&self, captured: &Captured) -> Result<Write, StoreError> {
        let once = expression::put_once(item::captured::encode(captured));
        let stored = match self.put(Table::Events, once).await? {
            End::Written(_) => return Ok(Write::Applied),
            End::Refused(Some(stored)) => Some(item::captured::decode(&stored)?),
            // An emulator that does not hand the item back.
            End::Refused(None) => self.captured(&captured.endpoint).await?,
        };
        let same = stored.is_some_and(|stored| stored.secret == captured.secret);
        Ok(if same { Write::Applied } else { Write::Refused })
    }

    /// The secret that a vendor handed over for an endpoint, for the operator.
    ///
    /// # Errors
    /// The store did not answer, or a newer version wrote what it holds.
    pub async fn captured(&self, endpoint: &EndpointName) -> Result<Option<Captured>, StoreError> {
        let item = self.get(Table::Events, &item::captured::key(endpoint)).await?;
        item.as_ref().map(item::captured::decode).transpose()
    }

    /// Takes it away, so that the vendor can hand over another. It is no error
    /// if there is none.
    ///
    /// # Errors
    /// The store did not answer: look again.
    pub async fn forget_captured(&self, endpoint: &EndpointName) -> Result<(), StoreError> {
        self.take_away(Table::Events, &item::captured::key(endpoint)).await
    }
}
