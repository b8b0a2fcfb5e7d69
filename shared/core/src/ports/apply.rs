//! A transition together with the TTL of its event's payload.

use super::{Store, StoreError, Write};
use crate::protocol::transition::{PayloadTtl, Transition};

/// Writes a transition with the payload's TTL in its place (INV-9): taken off
/// before the event's, set again after it.
///
/// # Errors
/// As [`Store::write`]; after any of them nothing is certain but what is read.
pub async fn apply(store: &impl Store, transition: &Transition) -> Result<Write, StoreError> {
    if let PayloadTtl::KeepBefore(key, hash, generation) = &transition.payload {
        store.keep_payload(key, hash, *generation).await?;
    }
    let write = store.write(transition).await?;
    if let (Write::Applied, PayloadTtl::ExpireAfter(key, hash, generation, expires)) =
        (write, &transition.payload)
    {
        // The event is done; a payload that keeps its place costs only storage.
        if let Err(error) = store.expire_payload(key, hash, *generation, *expires).await {
            tracing::warn!(event.key = %key, %error, "a payload kept no TTL");
        }
    }
    Ok(write)
}
