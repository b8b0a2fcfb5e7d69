//! The item of a secret that a vendor handed over: in the events table, since
//! ingest writes no other.

use super::attribute::{Item, Reading, bytes, number, text, whole};
use sekali::ids::{CorrelationId, EndpointName};
use sekali::ports::{Captured, StoreError};
use sekali::secret::Secret;
use sekali::time::UnixMillis;

const SECRET: &str = "secret";

/// The key: one for each endpoint. No event's or payload's key begins like
/// this (INV-7).
pub(crate) fn key(endpoint: &EndpointName) -> String {
    format!("captured|{}:{}", endpoint.as_str().len(), endpoint.as_str())
}

/// The item, without a TTL: it stays until a human takes it away.
pub(crate) fn encode(captured: &Captured) -> Item {
    let attributes = vec![
        ("endpoint", Some(text(captured.endpoint.as_str()))),
        (SECRET, Some(bytes(captured.secret.expose()))),
        ("captured_at", Some(number(captured.at.0))),
        ("correlation", Some(text(captured.correlation.as_str()))),
    ];
    whole(&key(&captured.endpoint), attributes)
}

/// What a stored item holds.
pub(crate) fn decode(item: &Item) -> Result<Captured, StoreError> {
    let read = Reading(item);
    let secret =
        Secret::new(read.bytes(SECRET)?).map_err(|fault| read.unreadable(SECRET, &fault.to_string()))?;
    Ok(Captured {
        endpoint: EndpointName::new(read.text("endpoint")?),
        secret,
        at: UnixMillis(read.number("captured_at")?),
        correlation: CorrelationId::new(read.text("correlation")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_over_comes_back_as_it_was_and_carries_no_ttl() {
        let captured = Captured {
            endpoint: EndpointName::new("notes"),
            secret: Secret::new("secret_invented").unwrap(),
            at: UnixMillis(1_800_000_000_000),
            correlation: CorrelationId::new("c-1"),
        };
        let item = encode(&captured);
        assert!(!item.contains_key(super::super::event::EXPIRES));
        assert_eq!(decode(&item).unwrap(), captured);
    }
}
