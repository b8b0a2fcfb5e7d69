//! Test vectors: recorded deliveries and what must come of them. The same
//! runner serves the tests and whoever checks a description of their own.

mod event;
mod handshake;
mod recorded;

pub use recorded::{Recorded, recorded};

use crate::doctor::{every_vendor, puzzle::Puzzle};
use crate::http::{Headers, Request};
use crate::key::EventHash;
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::{Identity, Keys, Params, Vendor};
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
pub enum NotVectors {
    /// It is no JSON list.
    #[error("not a JSON list: {0}")]
    NotAList(serde_json::Error),
    /// One of its entries is of none of the four formats.
    #[error("entry {at} is no vector: {error}")]
    Entry {
        /// Which, from 1.
        at: usize,
        /// What it lacks.
        error: serde_json::Error,
    },
}

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
    expect: Option<Value>,
}

/// What a file may hold: the four formats, told apart entry by entry.
enum Entry {
    Puzzle(Box<Puzzle>),
    Vector(Box<Vector>),
}

impl Entry {
    /// A puzzle says what was captured; how the others differ is for what they
    /// expect to say.
    fn read(entry: Value) -> Result<Self, serde_json::Error> {
        match entry.get("captured").is_some() {
            true => serde_json::from_value(entry).map(|puzzle| Self::Puzzle(Box::new(puzzle))),
            false => serde_json::from_value(entry).map(|vector| Self::Vector(Box::new(vector))),
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Puzzle(puzzle) => &puzzle.id,
            Self::Vector(vector) => &vector.id,
        }
    }

    fn vendor(&self) -> &str {
        match self {
            Self::Puzzle(puzzle) => &puzzle.vendor,
            Self::Vector(vector) => &vector.vendor,
        }
    }
}

/// Runs every vector of a file: signatures, deliveries with their events,
/// handshakes and puzzles. `vendor` finds a description by its name.
///
/// # Errors
/// The text is not a list of vectors.
pub fn run(text: &str, vendor: impl Fn(&str) -> Option<Vendor>) -> Result<Vec<Outcome>, NotVectors> {
    let entries: Vec<Value> = serde_json::from_str(text).map_err(NotVectors::NotAList)?;
    let entries: Vec<Entry> = entries
        .into_iter()
        .enumerate()
        .map(|(at, entry)| Entry::read(entry).map_err(|error| NotVectors::Entry { at: at + 1, error }))
        .collect::<Result<_, _>>()?;
    let others = match entries.iter().any(|entry| matches!(entry, Entry::Puzzle(_))) {
        true => every_vendor(),
        false => Vec::new(),
    };
    let mut vendors = BTreeMap::new();
    // What each delivery was taken for, for those that repeat it.
    let mut taken = Taken::new();
    let mut outcomes = Vec::with_capacity(entries.len());
    for entry in &entries {
        let name = entry.vendor();
        let known = vendors.entry(name.to_owned()).or_insert_with(|| vendor(name));
        let result = match (known, entry) {
            (None, _) => Err(format!("no description of `{name}`")),
            (Some(vendor), Entry::Vector(vector)) => vector.check(vendor, &mut taken),
            (Some(vendor), Entry::Puzzle(puzzle)) => puzzle.check(vendor, &others),
        };
        outcomes.push(Outcome { id: entry.id().to_owned(), difference: result.err() });
    }
    Ok(outcomes)
}

/// What earlier vectors of a file were taken for, by their id.
type Taken = BTreeMap<String, Vec<(Identity, EventHash)>>;

impl Vector {
    fn check(&self, vendor: &Vendor, taken: &mut Taken) -> Result<(), String> {
        let request = self.request()?;
        let expectation = |expect: &Value| format!("the expectation cannot be read: {expect}");
        match (&self.expected, &self.expect) {
            (Some(expected), _) => self.check_signature(vendor, &request, expected),
            (None, Some(expect)) if expect.get("status").is_some() => {
                let wanted = handshake::Expectation::deserialize(expect).map_err(|_| expectation(expect))?;
                let (params, secrets) = self.params();
                let keys = if secrets.is_empty() { None } else { Some(keys(vendor, secrets)?) };
                let now = UnixMillis(millis(self.now.unwrap_or_default()));
                wanted.check(vendor, &request, keys.as_ref(), &params, now)
            }
            (None, Some(expect)) => {
                let wanted = event::Expectation::deserialize(expect).map_err(|_| expectation(expect))?;
                wanted.check(vendor, &request, &self.id, taken)
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
        let (params, secrets) = self.params();
        let keys = keys(vendor, secrets)?;
        let now = UnixMillis(millis(self.now.unwrap_or_default()));
        match (expected, vendor.verify(request, &keys, &params, now)) {
            ("valid", Ok(_)) | ("invalid", Err(_)) => Ok(()),
            ("invalid", Ok(_)) => Err("it verifies and must not".to_owned()),
            (_, Err(refusal)) => Err(format!("refused: {refusal}")),
            (other, Ok(_)) => Err(format!("`{other}` is no expectation")),
        }
    }

    /// The endpoint's parameters and its secrets, some of which stand among
    /// the parameters of a vector.
    fn params(&self) -> (Params, Vec<String>) {
        let mut secrets: Vec<String> = self.secret.iter().cloned().collect();
        let bare = self.url.split('?').next().unwrap_or(&self.url);
        let mut params = Params::with_url(bare);
        for (name, value) in self.params.iter().flatten() {
            let texts: Vec<String> = match value {
                Value::String(text) => vec![text.clone()],
                Value::Array(many) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                Value::Object(members) => {
                    members.values().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                Value::Null => continue,
                other => vec![other.to_string()],
            };
            if ["secret", "public_key", "certificate", "captured"].iter().any(|part| name.contains(part)) {
                secrets.extend(texts);
            } else if name.ends_with("_url") {
                params.public_url = texts.into_iter().next();
            } else {
                params.named.insert(name.clone(), texts.join(" "));
            }
        }
        (params, secrets)
    }
}

fn keys(vendor: &Vendor, secrets: Vec<String>) -> Result<Keys, String> {
    let secrets: Result<Vec<Secret>, _> = secrets.into_iter().map(Secret::new).collect();
    vendor.keys(&secrets.map_err(|fault| fault.to_string())?).map_err(|fault| fault.to_string())
}

/// Seconds of a file to milliseconds.
fn millis(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a time of day fits; as casts saturate")]
    let millis = (seconds * 1000.0).round() as i64;
    millis
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, wanted: &T, got: &T) -> Result<(), String> {
    if wanted == got { Ok(()) } else { Err(format!("{what}: wanted {wanted:?}, got {got:?}")) }
}
