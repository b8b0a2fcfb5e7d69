//! The port to the switches of destinations.

use super::StoreError;
use crate::ids::{CorrelationId, DestinationName};
use crate::time::UnixMillis;
use std::future::Future;

/// A destination that said that it is gone for good. It is not called until a
/// human switches it on again, or until it is configured at another place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    /// Which one.
    pub destination: DestinationName,
    /// Where it was: the SHA-256 of its URL, which may hold a key.
    pub place: String,
    /// When it said so.
    pub at: UnixMillis,
    /// What it said, in one line.
    pub cause: String,
    /// The call that was answered so.
    pub correlation: CorrelationId,
}

/// Who remembers which destinations are switched off.
pub trait Switches: Send + Sync {
    /// Whether the destination is off at this place. The answer may be cached
    /// for a minute: a call too many does no harm, since it is answered no.
    fn switched_off(
        &self,
        destination: &DestinationName,
        place: &str,
    ) -> impl Future<Output = Result<Option<SwitchedOff>, StoreError>> + Send;

    /// Switches a destination off. The first one stays, as evidence.
    fn switch_off(&self, off: &SwitchedOff) -> impl Future<Output = Result<(), StoreError>> + Send;
}
