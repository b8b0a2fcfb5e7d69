//! Test vectors: recorded deliveries and what must come of them. The same
//! runner serves the tests and whoever checks a description of their own.

use crate::http::{Headers, Request};
use crate::key::EventHash;
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::{Facts, Identity, Params, Unreadable, Vendor};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// One vector and how it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The vector's id.
    pub id: String,
    /// `None`: as expected. Else what was expected and what came.
    pub difference: Option<String>,
}

/// A file that holds no vectors.
#[derive(Debug, thiserror::Error)]
#[error("not a list of vectors: {0}")]
pub struct NotVectors(#[from] serde_json::Error);

/// A recorded delivery with its expectation: `expected` for a signature,
/// `expect` for what the delivery contains.
#[derive(Debug, Deserialize)]
struct Vector {
    id: String,
    vendor: String,
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body_b64: String,
    secret: Option<String>,
    #[serde(default)]
    params: Option<BTreeMap<String, Value>>,
    now: Option<f64>,
    expected: Option<String>,
    expect: Option<Expectation>,
}

#[derive(Debug, Deserialize)]
struct Expectation {
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

/// Runs every vector of a file. `vendor` finds a description by its name.
///
/// # Errors
/// The text is not a list of vectors.
pub fn run(text: &str, vendor: impl Fn(&str) -> Option<Vendor>) -> Result<Vec<Outcome>, NotVectors> {
    let vectors: Vec<Vector> = serde_json::from_str(text)?;
    let mut vendors = BTreeMap::new();
    // What each delivery was taken for, for those that repeat it.
    let mut seen: BTreeMap<String, Vec<(Identity, EventHash)>> = BTreeMap::new();
    let mut outcomes = Vec::with_capacity(vectors.len());
    for vector in &vectors {
        let known = vendors.entry(vector.vendor.clone()).or_insert_with(|| vendor(&vector.vendor));
        let result = match known {
            None => Err(format!("no description of `{}`", vector.vendor)),
            Some(vendor) => vector.check(vendor, &mut seen),
        };
        outcomes.push(Outcome { id: vector.id.clone(), difference: result.err() });
    }
    Ok(outcomes)
}

impl Vector {
    fn check(
        &self,
        vendor: &Vendor,
        seen: &mut BTreeMap<String, Vec<(Identity, EventHash)>>,
    ) -> Result<(), String> {
        let request = self.request()?;
        match (&self.expected, &self.expect) {
            (Some(expected), _) => self.check_signature(vendor, &request, expected),
            (None, Some(expect)) => {
                let events = vendor.events(&request, &[]);
                if let Ok(events) = &events {
                    let known =
                        events.iter().map(|event| (event.identity.clone(), event.hash.clone())).collect();
                    seen.insert(self.id.clone(), known);
                }
                expect.check(vendor, &request, &events)?;
                match &expect.retry_of {
                    Some(first) if seen.get(first) != seen.get(&self.id) => {
                        Err(format!("not recognised as the event of {first}"))
                    }
                    _ => Ok(()),
                }
            }
            (None, None) => Err("neither `expected` nor `expect`".to_owned()),
        }
    }

    fn request(&self) -> Result<Request, String> {
        let body = STANDARD.decode(&self.body_b64).map_err(|error| format!("body_b64: {error}"))?;
        let (url, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let path =
            url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
        Ok(Request {
            method: self.method.clone(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: Headers::new(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))),
            body,
        })
    }

    fn check_signature(&self, vendor: &Vendor, request: &Request, expected: &str) -> Result<(), String> {
        let (params, mut secrets) = self.params();
        secrets.splice(0..0, self.secret.clone());
        let secrets: Vec<Secret> = secrets
            .into_iter()
            .map(Secret::new)
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        let keys = vendor.keys(&secrets).map_err(|error| error.to_string())?;
        let now = UnixMillis(millis(self.now.unwrap_or_default()));
        match (expected, vendor.verify(request, &keys, &params, now)) {
            ("valid", Ok(_)) | ("invalid", Err(_)) => Ok(()),
            ("invalid", Ok(_)) => Err("it verifies and must not".to_owned()),
            (_, Err(refusal)) => Err(format!("refused: {refusal}")),
            (other, Ok(_)) => Err(format!("`{other}` is no expectation")),
        }
    }

    /// The endpoint's parameters, and the secrets that stand among them.
    fn params(&self) -> (Params, Vec<String>) {
        let (mut named, mut secrets) = (BTreeMap::new(), Vec::new());
        let bare = self.url.split('?').next().unwrap_or(&self.url);
        let mut public_url = bare.to_owned();
        for (name, value) in self.params.iter().flatten() {
            match value {
                Value::String(url) if name.ends_with("url") => public_url.clone_from(url),
                Value::String(secret) if name.contains("secret") => secrets.push(secret.clone()),
                Value::Array(many) if name.contains("secret") => {
                    secrets.extend(many.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                Value::String(text) => drop(named.insert(name.clone(), text.clone())),
                other => drop(named.insert(name.clone(), other.to_string())),
            }
        }
        (Params { public_url: Some(public_url), named }, secrets)
    }
}

/// Seconds of a file to milliseconds.
fn millis(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a time of day fits; as casts saturate")]
    let millis = (seconds * 1000.0).round() as i64;
    millis
}

impl Expectation {
    fn check(
        &self,
        _vendor: &Vendor,
        _request: &Request,
        events: &Result<Vec<Facts>, Unreadable>,
    ) -> Result<(), String> {
        if self.handshake {
            return Err("handshakes are not run yet".to_owned());
        }
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

fn same<T: PartialEq + std::fmt::Debug>(what: &str, wanted: &T, got: &T) -> Result<(), String> {
    if wanted == got { Ok(()) } else { Err(format!("{what}: wanted {wanted:?}, got {got:?}")) }
}
