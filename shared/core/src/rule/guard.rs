//! Which guard, if any, stops a delivery or an event.

use super::plan::of_type;
use super::values::{Holds, Values};
use crate::config::{Demand, Endpoint, Guard};
use crate::ids::EventType;
use crate::json::{Literal, NotJson};
use crate::payload::Payload;
use crate::source::Source;
use std::net::IpAddr;

/// The guard that stops a delivery from this address, before anything else is
/// looked at. An address that nobody knows is in no network.
pub fn network_guard(endpoint: &Endpoint, from: Option<IpAddr>) -> Option<&Guard> {
    endpoint.guards.iter().find(|guard| match &guard.demands {
        Demand::Networks(networks) => {
            !from.is_some_and(|from| networks.iter().any(|network| network.contains(from)))
        }
        Demand::Types(_) | Demand::When(_) | Demand::Livemode { .. } => false,
    })
}

/// The first guard that stops this event, once its delivery is verified.
///
/// # Errors
/// A value is to be read from a body that is not JSON.
pub fn event_guard<'e>(
    endpoint: &'e Endpoint,
    event_type: Option<&EventType>,
    payload: &Payload,
) -> Result<Option<&'e Guard>, NotJson> {
    if endpoint.guards.is_empty() {
        return Ok(None);
    }
    let values = Values::read(endpoint, payload, None)?;
    Ok(endpoint.guards.iter().find(|guard| match &guard.demands {
        Demand::Networks(_) => false,
        Demand::Types(types) => !of_type(types, event_type),
        Demand::When(conditions) => values.hold(conditions) != Holds::Yes,
        Demand::Livemode { live, shown_by } => shown(shown_by, &values) != *live,
    }))
}

/// Whether every place holds one of its literals.
fn shown(by: &[(Source, Vec<Literal>)], values: &Values<'_>) -> bool {
    by.iter().all(|(source, literals)| {
        values.at(source).is_some_and(|value| literals.iter().any(|literal| value.equals(literal)))
    })
}
