//! Reading a stored content anew: what ingest read of it when it arrived.

use super::Vendor;
use super::extract::{facts, hash, identity_or_digest, lacks};
use super::facts::Facts;
use super::place::{Place, Value};
use super::shape::EventShape;
use super::view::View;
use crate::http::{Headers, Request};
use crate::json::{self, JsonText};
use crate::payload::Payload;
use crate::source::Source;
use std::collections::BTreeMap;
use std::fmt::Write;

impl Vendor {
    /// What a stored content says of its event. Of the delivery only what its
    /// own shape names was stored, so more than one shape may seem to fit: the
    /// caller knows hash and key, and takes none where two readings remain.
    /// None: it cannot be read, as by a description that needs to know where
    /// in the delivery the event stood (`matched:`).
    pub(crate) fn readings(&self, payload: &Payload) -> Vec<Facts> {
        let Ok(own) = json::text(payload.body()) else { return Vec::new() };
        let request = delivery_of(payload);
        let mut settled = Vec::new();
        let mut readings = Vec::new();
        for shape in &self.events {
            // Of shapes with one `each` the first that fits takes the item.
            if settled.contains(&&shape.each) {
                continue;
            }
            let sources = shape.sources();
            let own_places = sources.iter().filter(|source| !matches!(source, Source::Shared(_)));
            let view = View::new(&request, Some(own), own_places).around(&[], shared(payload));
            if !view.holds(&shape.condition) {
                continue;
            }
            // Whether a header was absent, another shape did not note.
            if shape.condition.absent.iter().all(Source::is_body) {
                settled.push(&shape.each);
            }
            let Ok(hash) = hash(shape, own) else { continue };
            let Some(identity) = identity_or_digest(&view, shape, &hash) else { continue };
            let facts = facts(&view, shape, identity, hash, payload.clone());
            readings.push(Facts { lacks: lacks(&view, shape), ..facts });
        }
        readings
    }

    /// Whether the description asks where in its delivery an event stood,
    /// which is not stored.
    pub(crate) fn needs_its_place(&self) -> bool {
        let places = |shape: &EventShape| shape.values().flat_map(Value::places).any(is_matched);
        self.events.iter().any(places)
    }
}

fn is_matched(place: &Place) -> bool {
    matches!(place, Place::Matched(_))
}

/// As much of the delivery as was stored.
fn delivery_of(payload: &Payload) -> Request {
    let (mut headers, mut query) = (Vec::new(), String::new());
    for (place, value) in payload.context() {
        let Some(text) = value.plain() else { continue };
        match place {
            Source::Header(name) => headers.push((name, text.into_owned())),
            Source::Query(name) => {
                let (name, value) = (escaped(name.as_bytes()), escaped(text.as_bytes()));
                query.extend([name.as_str(), "=", value.as_str(), "&"]);
            }
            Source::Body(_) | Source::Shared(_) | Source::Fetch(_) => {}
        }
    }
    let query = query.trim_end_matches('&').to_owned();
    Request {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        query,
        headers: Headers::new(headers),
        body: Vec::new(),
    }
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "%{byte:02X}");
        text
    })
}

/// What stood around the event's own part, by pointer.
fn shared(payload: &Payload) -> BTreeMap<String, JsonText> {
    payload
        .context()
        .filter_map(|(place, value)| match place {
            Source::Shared(pointer) => Some((pointer.as_str().to_owned(), value.clone())),
            _ => None,
        })
        .collect()
}
