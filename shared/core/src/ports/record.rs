//! The ports to what humans decided: pauses, and the history of an event.

use super::{StoreError, Write};
use crate::key::EventKey;
use crate::pause::Pauses;
use crate::protocol::history::History;
use std::future::Future;

/// Which endpoints are paused.
pub trait PauseRecord: Send + Sync {
    /// Reads all pauses, strongly consistent. None on record: the empty ones.
    fn pauses(&self) -> impl Future<Output = Result<Pauses, StoreError>> + Send;

    /// Writes all pauses, on condition that `from` is the version that is
    /// stored. `Refused`: another human was faster; read again.
    fn set_pauses(&self, from: u64, to: &Pauses) -> impl Future<Output = Result<Write, StoreError>> + Send;
}

/// What humans decided about an event. It is written with the transition that
/// they decided on, never by itself.
pub trait HistoryRecord: Send + Sync {
    /// Reads the history of an event; an empty one where nobody has decided
    /// anything yet.
    fn history(&self, key: &EventKey) -> impl Future<Output = Result<History, StoreError>> + Send;
}
