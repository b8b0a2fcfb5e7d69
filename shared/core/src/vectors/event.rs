//! What a recorded delivery contains.

use super::{Taken, same};
use crate::http::Request;
use crate::vendor::{Assurance, Facts, Identity, Params, Unreadable, Vendor, Verified};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Expectation {
    #[serde(default)]
    events: Vec<ExpectedEvent>,
    retry_of: Option<String>,
    #[serde(default)]
    handshake: bool,
    refuse: Option<String>,
    attempt: Option<u64>,
    delivery_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ExpectedEvent {
    event_id: Option<String>,
    event_id_parts: Option<Vec<Option<String>>>,
    event_type: Option<String>,
    event_time_ms: Option<i64>,
    sequence: Option<String>,
    scope: Option<String>,
    identity: String,
    resource: Option<String>,
}

/// Whether the delivery, were it verified, is a handshake answered with a 2xx.
fn answered(vendor: &Vendor, request: &Request) -> Result<(), String> {
    let verified =
        Verified { secret_index: None, scheme: String::new(), signed_at: None, assurance: Assurance::High };
    match vendor.handshake(request, Some(&verified), &Params::default(), None) {
        Some(Ok(_)) => Ok(()),
        Some(Err(refusal)) => Err(refusal.to_string()),
        None => Err("not answered as a handshake".to_owned()),
    }
}

/// Whether what is stored of an event still says all of it. What identifies it
/// weakly is never in conflict, and so never read anew.
fn is_read_anew(vendor: &Vendor, event: &Facts) -> Result<(), String> {
    if !matches!(event.identity, Identity::Id(_)) || vendor.needs_its_place() {
        return Ok(());
    }
    let readings = vendor.readings(&event.payload);
    let of_it = |read: &&Facts| read.hash == event.hash && read.identity == event.identity;
    let read: Vec<_> = readings.iter().filter(of_it).collect();
    match read.iter().all(|read| *read == event) {
        true if !read.is_empty() => Ok(()),
        _ => Err(format!("read anew it says {read:?}")),
    }
}

impl Expectation {
    /// Reads the events of a delivery and compares them.
    pub(super) fn check(
        &self,
        vendor: &Vendor,
        request: &Request,
        id: &str,
        taken: &mut Taken,
    ) -> Result<(), String> {
        if self.handshake {
            return answered(vendor, request);
        }
        let events = vendor.events(request, &[]);
        if let Ok(events) = &events {
            let known = events.iter().map(|event| (event.identity.clone(), event.hash.clone())).collect();
            taken.insert(id.to_owned(), known);
            events.iter().try_for_each(|event| is_read_anew(vendor, event))?;
        }
        self.compare(&events)?;
        match &self.retry_of {
            Some(first) if taken.get(first) != taken.get(id) => {
                Err(format!("not recognised as the event of {first}"))
            }
            _ => Ok(()),
        }
    }

    fn compare(&self, events: &Result<Vec<Facts>, Unreadable>) -> Result<(), String> {
        let refused = match events {
            Ok(_) => None,
            Err(Unreadable::NoEventId) => Some("no-event-id"),
            Err(Unreadable::Content { .. }) => Some("unreadable"),
            Err(Unreadable::EmptyBatch { .. }) => Some("empty-batch"),
            Err(other) => return Err(format!("refused: {other}")),
        };
        if refused != self.refuse.as_deref() {
            return Err(format!("refuse: wanted {:?}, got {refused:?}", self.refuse));
        }
        let Ok(events) = events else { return Ok(()) };
        if events.len() != self.events.len() {
            return Err(format!("wanted {} events, got {}", self.events.len(), events.len()));
        }
        let stated = |of: fn(&Facts) -> Option<String>| events.first().and_then(of);
        same("attempt", &self.attempt, &events.first().and_then(|event| event.attempt))?;
        same("delivery_id", &self.delivery_id, &stated(|event| event.delivery_id.clone()))?;
        self.events.iter().zip(events).try_for_each(|(wanted, event)| wanted.check(event))
    }
}

impl ExpectedEvent {
    fn check(&self, event: &Facts) -> Result<(), String> {
        let (identity, parts) = match &event.identity {
            Identity::Id(parts) if parts.len() == 1 => ("id", parts.as_slice()),
            Identity::Id(parts) => ("composite", parts.as_slice()),
            Identity::Weak(parts) => ("weak", parts.as_slice()),
            Identity::None => ("none", &[][..]),
        };
        same("identity", &self.identity.as_str(), &identity)?;
        let wanted = match (&self.event_id, &self.event_id_parts) {
            (Some(id), _) => vec![Some(id.clone())],
            (None, Some(parts)) => parts.clone(),
            (None, None) => Vec::new(),
        };
        same("event id", &wanted.as_slice(), &parts)?;
        let event_type = event.event_type.as_ref().map(|event_type| event_type.as_str().to_owned());
        same("type", &self.event_type, &event_type)?;
        same("time", &self.event_time_ms, &event.occurred_at.map(|time| time.0))?;
        let sequence = event.sequence.as_ref().map(|sequence| sequence.as_str().to_owned());
        same("sequence", &self.sequence, &sequence)?;
        same("scope", &self.scope, &event.scope)?;
        match &self.resource {
            Some(_) => same("resource", &self.resource, &event.resource),
            None => Ok(()),
        }
    }
}
