//! Recorded puzzles: a captured delivery that does not verify, everything that
//! it may be verified with, and what is behind it.

use super::{Case, Certainty, Finding, KnownSecret, examine};
use crate::http::{Headers, Request};
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::{Params, Vendor};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One puzzle.
#[derive(Debug, Deserialize)]
pub struct Puzzle {
    /// Its name.
    pub id: String,
    /// As whose delivery it was taken.
    pub vendor: String,
    captured: Captured,
    now: Option<f64>,
    #[serde(default)]
    params: Option<BTreeMap<String, Value>>,
    secrets: Vec<Known>,
    expect: Option<Expectation>,
}

/// A delivery as puzzles and vectors write it.
#[derive(Debug, Deserialize)]
pub struct Captured {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body_b64: String,
}

#[derive(Deserialize)]
struct Known {
    name: String,
    value: String,
    used: bool,
}

/// Never shows the secret.
impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("name", &self.name).field("used", &self.used).finish_non_exhaustive()
    }
}

#[derive(Debug, Deserialize)]
struct Expectation {
    cause: String,
    provable: bool,
}

/// Why something cannot be examined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExaminable {
    /// The body is not base64.
    #[error("body_b64 is not base64")]
    Body,
    /// A secret of which nothing can be made.
    #[error("the secret `{0}` is empty or blank")]
    Blank(String),
}

impl Captured {
    /// The request.
    ///
    /// # Errors
    /// The body cannot be read.
    pub fn request(&self) -> Result<Request, NotExaminable> {
        let body = STANDARD.decode(&self.body_b64).map_err(|_| NotExaminable::Body)?;
        let (url, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let path =
            url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
        Ok(Request {
            method: self.method.to_ascii_uppercase(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: Headers::new(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))),
            body,
        })
    }

    /// The URL as it was called, query included.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Puzzle {
    /// The captured delivery.
    pub fn captured(&self) -> &Captured {
        &self.captured
    }

    /// The receiver's clock when it arrived.
    pub fn received_at(&self) -> Option<UnixMillis> {
        #[expect(clippy::cast_possible_truncation, reason = "a time of day fits; as casts saturate")]
        self.now.map(|seconds| UnixMillis((seconds * 1000.0).round() as i64))
    }

    /// The endpoint's parameters, as whose URL the called one is taken, and the
    /// URLs that were configured.
    pub fn params(&self) -> (Params, Vec<String>) {
        let bare = self.captured.url.split('?').next().unwrap_or(&self.captured.url);
        let mut params = Params::with_url(bare);
        let mut urls = Vec::new();
        for (name, value) in self.params.iter().flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Null => continue,
                other => other.to_string(),
            };
            match name.ends_with("_url") {
                true => urls.push(text),
                false => drop(params.named.insert(name.clone(), text)),
            }
        }
        (params, urls)
    }

    /// Every secret that is at hand.
    ///
    /// # Errors
    /// One of them is blank.
    pub fn secrets(&self) -> Result<Vec<KnownSecret>, NotExaminable> {
        let known = |known: &Known| {
            let secret =
                Secret::new(known.value.as_str()).map_err(|_| NotExaminable::Blank(known.name.clone()))?;
            Ok(KnownSecret { name: known.name.clone(), secret, used: known.used })
        };
        self.secrets.iter().map(known).collect()
    }

    /// Examines it as a delivery of `vendor`.
    ///
    /// # Errors
    /// A part of it cannot be read.
    pub fn examine(&self, vendor: &Vendor, others: &[Vendor]) -> Result<Finding, NotExaminable> {
        let request = self.captured.request()?;
        let (params, urls) = self.params();
        let secrets = self.secrets()?;
        Ok(examine(&Case {
            vendor,
            request: &request,
            params: &params,
            urls: &urls,
            secrets: &secrets,
            received_at: self.received_at(),
            others,
        }))
    }

    /// Whether what is found is what is expected; what differs, in words.
    ///
    /// # Errors
    /// It differs, or cannot be examined.
    pub fn check(&self, vendor: &Vendor, others: &[Vendor]) -> Result<(), String> {
        let finding = self.examine(vendor, others).map_err(|error| error.to_string())?;
        let Some(expected) = &self.expect else { return Err("nothing is expected".to_owned()) };
        let Some(refused) = finding.refused else { return Err("it verifies as it is".to_owned()) };
        let wanted = (expected.cause.as_str(), if expected.provable { "proved" } else { "guess" });
        match finding.diagnosis {
            None => Err(format!("wanted {} ({}), nothing fits; refused: {refused}", wanted.0, wanted.1)),
            Some(found) if (found.cause.slug(), found.certainty.as_str()) == wanted => Ok(()),
            Some(found) => Err(format!(
                "wanted {} ({}), found {} ({}): {}; refused: {refused}",
                wanted.0,
                wanted.1,
                found.cause,
                found.certainty.as_str(),
                found.says
            )),
        }
    }

    /// How sure the cause is expected to be found.
    pub fn expected(&self) -> Option<(&str, Certainty)> {
        let expected = self.expect.as_ref()?;
        let certainty = if expected.provable { Certainty::Proved } else { Certainty::Guess };
        Some((&expected.cause, certainty))
    }
}
