//! The item of a destination that is switched off: in the actions table, which
//! the processor writes anyway.

use super::attribute::{Item, Reading, number, text, whole};
use crate::dynamodb::SwitchedOn;
use sekali::ids::{CorrelationId, DestinationName};
use sekali::ports::{StoreError, SwitchedOff};
use sekali::time::UnixMillis;

/// The key: one for each destination and place. No action's key begins like
/// this (INV-7).
pub(crate) fn key(destination: &DestinationName, place: &str) -> String {
    format!("off|{}:{}|{place}", destination.as_str().len(), destination.as_str())
}

/// The item, without a TTL: it stays until a human takes it away.
pub(crate) fn encode(off: &SwitchedOff) -> Item {
    let attributes = vec![
        ("destination", Some(text(off.destination.as_str()))),
        ("place", Some(text(&off.place))),
        ("off_at", Some(number(off.at.0))),
        ("cause", Some(text(&off.cause))),
        ("correlation", Some(text(off.correlation.as_str()))),
    ];
    whole(&key(&off.destination, &off.place), attributes)
}

/// The record of whoever switched it on again: an item of its own beside it,
/// for people, with what was said when it went off.
pub(crate) fn encode_on(off: &SwitchedOff, on: &SwitchedOn) -> Item {
    let name = off.destination.as_str();
    let attributes = vec![
        ("destination", Some(text(name))),
        ("place", Some(text(&off.place))),
        ("off_at", Some(number(off.at.0))),
        ("cause", Some(text(&off.cause))),
        ("correlation", Some(text(off.correlation.as_str()))),
        ("on_at", Some(number(on.at.0))),
        ("on_by", Some(text(on.who.as_str()))),
        ("on_why", Some(text(&on.why))),
    ];
    whole(&on_key(&off.destination, &off.place), attributes)
}

/// The key of that record.
pub(crate) fn on_key(destination: &DestinationName, place: &str) -> String {
    format!("on|{}:{}|{place}", destination.as_str().len(), destination.as_str())
}

/// When it was switched on, as the record says.
pub(crate) fn on_at(item: &Item) -> Result<UnixMillis, StoreError> {
    Ok(UnixMillis(Reading(item).number("on_at")?))
}

/// What a stored item holds.
pub(crate) fn decode(item: &Item) -> Result<SwitchedOff, StoreError> {
    let read = Reading(item);
    Ok(SwitchedOff {
        destination: DestinationName::new(read.text("destination")?),
        place: read.text("place")?.to_owned(),
        at: UnixMillis(read.number("off_at")?),
        cause: read.text("cause")?.to_owned(),
        correlation: CorrelationId::new(read.text("correlation")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_switched_off_comes_back_as_it_was_and_carries_no_ttl() {
        let off = SwitchedOff {
            destination: "packing".into(),
            place: "ab12".to_owned(),
            at: UnixMillis(1_800_000_000_000),
            cause: "the destination answered 410".to_owned(),
            correlation: CorrelationId::new("c-1"),
        };
        let item = encode(&off);
        assert!(!item.contains_key(super::super::event::EXPIRES));
        assert_eq!(decode(&item).unwrap(), off);
    }
}
