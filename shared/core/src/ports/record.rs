//! The ports to what humans decided: pauses, and the history of an event.

use super::{Create, StoreError, Write};
use crate::key::EventKey;
use crate::pause::Pauses;
use crate::protocol::event::Event;
use crate::protocol::history::{History, HistoryWrite};
use std::future::Future;

/// Which endpoints are paused.
pub trait PauseRecord: Send + Sync {
    /// Reads all pauses, strongly consistent. None on record: the empty ones.
    fn pauses(&self) -> impl Future<Output = Result<Pauses, StoreError>> + Send;

    /// Writes all pauses, on condition that `from` is the version that is
    /// stored. `Refused`: another human was faster; read again.
    fn set_pauses(&self, from: u64, to: &Pauses) -> impl Future<Output = Result<Write, StoreError>> + Send;
}

/// What humans decided about an event. It is written with what they decided
/// on, never by itself.
pub trait HistoryRecord: Send + Sync {
    /// Reads the history of an event; an empty one where nobody has decided
    /// anything yet.
    fn history(&self, key: &EventKey) -> impl Future<Output = Result<History, StoreError>> + Send;

    /// Creates an event where none is, as [`Store::create_event`] does, in one
    /// with who brought it and why. Where the event is there already, nothing
    /// is written and the stored one returned: a delivery of it was faster, or
    /// an earlier try of this (its put nonce tells).
    ///
    /// # Errors
    /// `Contended`: somebody else went on record meanwhile; read the history
    /// again.
    ///
    /// [`Store::create_event`]: super::Store::create_event
    fn create_recorded(
        &self,
        event: &Event,
        record: &HistoryWrite,
    ) -> impl Future<Output = Result<Create, StoreError>> + Send;
}
