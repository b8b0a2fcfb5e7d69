//! Recorded puzzles, causes that none of them has, and what is never shown.

mod bodies;
mod canary;
mod guesses;
mod headers;
mod puzzles;
mod quickly;
mod secrets;
mod urls;

use super::*;
use crate::http::{Headers, Request};
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::{Params, Vendor, builtin};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const SIGNATURES: &str = include_str!("../../../../../tests/vectors/signatures.json");

fn vendor(name: &str) -> Vendor {
    Vendor::parse(name, name, builtin::text(name).unwrap()).unwrap()
}

/// Every vendor, parsed once for all tests.
fn everyone() -> &'static [Vendor] {
    static EVERYONE: OnceLock<Vec<Vendor>> = OnceLock::new();
    EVERYONE.get_or_init(every_vendor)
}

/// A recorded delivery that verifies, to be spoilt in one way.
#[derive(Clone)]
struct Recorded {
    id: String,
    vendor: Vendor,
    request: Request,
    url: String,
    params: Params,
    urls: Vec<String>,
    secrets: Vec<KnownSecret>,
    received_at: Option<UnixMillis>,
}

#[derive(Deserialize)]
struct Vector {
    id: String,
    vendor: String,
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body_b64: String,
    secret: Option<String>,
    params: Option<BTreeMap<String, Value>>,
    now: f64,
    expected: String,
}

/// Every recorded delivery that verifies, with its secret.
fn recorded() -> &'static [Recorded] {
    static RECORDED: OnceLock<Vec<Recorded>> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let vectors: Vec<Vector> = serde_json::from_str(SIGNATURES).unwrap();
        vectors.into_iter().filter_map(Recorded::of).collect()
    })
}

/// One of them.
fn one(id: &str) -> Recorded {
    recorded().iter().find(|recorded| recorded.id == id).expect(id).clone()
}

impl Recorded {
    fn of(vector: Vector) -> Option<Self> {
        if vector.expected != "valid" {
            return None;
        }
        let (url, query) = vector.url.split_once('?').unwrap_or((&vector.url, ""));
        let mut params = Params::with_url(url);
        for (name, value) in vector.params.iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match name.ends_with("_url") {
                true => params.public_url = Some(text),
                false => drop(params.named.insert(name.clone(), text)),
            }
        }
        let secret = Secret::new(vector.secret?).ok()?;
        let recorded = Self {
            id: vector.id,
            vendor: vendor(&vector.vendor),
            request: Request {
                method: vector.method,
                path: url
                    .split_once("://")
                    .map_or("/", |(_, rest)| &rest[rest.find('/').unwrap()..])
                    .to_owned(),
                query: query.to_owned(),
                headers: Headers::new(vector.headers.iter().map(|(name, value)| (name, value.as_bytes()))),
                body: STANDARD.decode(vector.body_b64).unwrap(),
            },
            url: url.to_owned(),
            params,
            urls: Vec::new(),
            secrets: vec![KnownSecret { name: "current".into(), secret, used: true }],
            received_at: Some(UnixMillis((vector.now * 1000.0) as i64)),
        };
        (recorded.examined().refused.is_none()).then_some(recorded)
    }

    fn examined(&self) -> Finding {
        examine(&Case {
            vendor: &self.vendor,
            request: &self.request,
            params: &self.params,
            urls: &self.urls,
            secrets: &self.secrets,
            received_at: self.received_at,
            others: everyone(),
        })
    }

    /// What is found, as `slug (certainty)`; `-` where nothing fits, and
    /// `verifies` where nothing is wrong.
    fn found(&self) -> String {
        let finding = self.examined();
        match (&finding.refused, &finding.diagnosis) {
            (None, _) => "verifies".to_owned(),
            (Some(_), None) => "-".to_owned(),
            (Some(_), Some(found)) => format!("{} ({})", found.cause, found.certainty.as_str()),
        }
    }

    fn body(&self, change: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        let mut other = self.clone();
        other.request.body = change(&self.request.body);
        other
    }

    /// The same with other headers, given name by name.
    fn headers(&self, change: impl Fn(&str, &str) -> Vec<(String, String)>) -> Self {
        let mut other = self.clone();
        let pairs = self
            .request
            .headers
            .iter()
            .flat_map(|(name, value)| change(name, std::str::from_utf8(value).unwrap()));
        other.request.headers = Headers::new(pairs.collect::<Vec<_>>());
        other
    }

    fn header(&self, name: &str, change: impl Fn(&str) -> String) -> Self {
        assert!(self.request.headers.only(name).is_some(), "{name} of {}", self.id);
        self.headers(|known, value| {
            let value = if known == name { change(value) } else { value.to_owned() };
            vec![(known.to_owned(), value)]
        })
    }

    fn without(&self, name: &str) -> Self {
        assert!(self.request.headers.only(name).is_some(), "{name} of {}", self.id);
        self.headers(|known, value| match known == name {
            true => Vec::new(),
            false => vec![(known.to_owned(), value.to_owned())],
        })
    }

    fn secret(&self, change: impl Fn(&str) -> String) -> Self {
        let mut other = self.clone();
        let known = std::str::from_utf8(self.secrets[0].secret.expose()).unwrap();
        other.secrets[0].secret = Secret::new(change(known)).unwrap();
        other
    }

    fn at(&self, seconds: i64) -> Self {
        let received_at = self.received_at.map(|at| UnixMillis(at.0 + seconds * 1000));
        Self { received_at, ..self.clone() }
    }
}

/// Spoils every recorded delivery in one way; those that still verify are left
/// out, since for them nothing was spoilt. At least so many must be refused.
fn assert_each(spoil: impl Fn(&Recorded) -> Option<Recorded>, expected: &[&str], at_least: usize) {
    let mut refused = 0;
    let mut wrong = Vec::new();
    for recorded in recorded() {
        let Some(spoilt) = spoil(recorded) else { continue };
        let found = spoilt.found();
        if found == "verifies" {
            continue;
        }
        refused += 1;
        if !expected.contains(&found.as_str()) {
            wrong.push(format!("{}: {found}", recorded.id));
        }
    }
    assert!(wrong.is_empty(), "of {refused}: {wrong:#?}");
    assert!(refused >= at_least, "only {refused} deliveries were refused");
}
