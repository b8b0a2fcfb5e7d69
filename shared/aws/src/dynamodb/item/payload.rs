//! The item of a payload: in the events table, in a partition of its own, so
//! that a status change never pays for the body.

use super::attribute::{Item, Reading, bytes, number, text, whole};
use super::event::EXPIRES;
use sekali::key::{EventHash, EventKey};
use sekali::payload::Payload;
use sekali::ports::StoreError;
use sekali::time::ExpiresAt;

/// DynamoDB takes 400 KB an item, names included; the rest is for those, the
/// key and the numbers.
const LARGEST_PAYLOAD: usize = 400 * 1024 - 4 * 1024;

/// The key of a payload. No event's key begins like this, and the length
/// keeps event key and hash apart (INV-7).
pub(crate) fn key(event: &EventKey, hash: &EventHash) -> String {
    format!("payload|{}:{}|{}", event.as_str().len(), event.as_str(), hash.as_str())
}

/// The item of a payload.
///
/// # Errors
/// `Invalid`: it does not fit into one item. Splitting is not built yet.
pub(crate) fn encode(
    event: &EventKey,
    hash: &EventHash,
    payload: &Payload,
    expires: ExpiresAt,
) -> Result<Item, StoreError> {
    let (body, context) = payload.to_parts();
    let size = body.len() + context.len();
    if size > LARGEST_PAYLOAD {
        return Err(StoreError::Invalid(format!("a payload has {size} bytes, of at most {LARGEST_PAYLOAD}")));
    }
    let attributes = vec![
        ("body", Some(bytes(body))),
        ("context", Some(text(context))),
        (EXPIRES, Some(number(expires.0))),
    ];
    Ok(whole(&key(event, hash), attributes))
}

/// The payload of a stored item.
pub(crate) fn decode(item: &Item) -> Result<Payload, StoreError> {
    let read = Reading(item);
    Payload::from_parts(read.bytes("body")?, read.text("context")?)
        .map_err(|error| read.unreadable("context", &error.to_string()))
}
