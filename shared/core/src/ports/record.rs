//! The ports to what humans decide: pauses, the history of an event, and what
//! is erased of it.

use super::{Create, StoreError, Write};
use crate::key::{EventHash, EventKey};
use crate::pause::Pauses;
use crate::protocol::action::Action;
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

/// What is erased of an event for a privacy request. Each call may be made
/// again after it broke off.
pub trait Erasure: Send + Sync {
    /// Removes a payload. It is no error if there is none.
    fn erase_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Empties the request and the result of a settled action. `false`: it is
    /// not settled, or has moved since it was read; what is under way keeps its
    /// bytes (INV-2).
    fn erase_request(&self, action: &Action) -> impl Future<Output = Result<bool, StoreError>> + Send;
}
