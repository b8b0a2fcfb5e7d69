//! A destination that misbehaves as it is told, and remembers what it was
//! asked for and what it did.

use super::gate::Gate;
use super::serve::{Answered, HungUp, Served, json};
use anyhow::{Result, ensure};
use bytes::Bytes;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How it takes one call.
#[derive(Debug, Clone)]
pub enum Manner {
    /// It acts and says so.
    Acts,
    /// It acts, and nobody ever hears of it.
    ActsUnheard,
    /// It acts, and the connection breaks.
    ActsAndHangsUp,
    /// It acts, and says so once the gate is open.
    ActsThenHeld(Gate),
    /// It has the request, and goes on (acting) once the gate is open.
    HeldThenActs(Gate),
    /// It does nothing and says this status, with these headers.
    Says(u16, &'static [(&'static str, &'static str)]),
    /// The same with a body.
    Answers(u16, &'static [(&'static str, &'static str)], &'static str),
    /// It does nothing and never answers.
    Silent,
}

/// One call that it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// Its path without the slash: the destination's name.
    pub destination: String,
    /// The `Idempotency-Key`.
    pub key: String,
    /// Our own count, from the header.
    pub attempt: String,
    /// The id that goes from the request to the effect.
    pub correlation: String,
    /// The trace that the call belongs to, in the W3C's form; empty: none.
    pub trace: String,
    /// The body, byte for byte.
    pub body: Bytes,
    /// Whether it acted on this call.
    pub acted: bool,
}

impl Called {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn names(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.body).contains(text)
    }
}

#[derive(Debug, Default)]
struct Book {
    told: Vec<(String, VecDeque<Manner>)>,
    calls: Vec<Called>,
    honoured: BTreeMap<String, usize>,
}

/// The destination, for as long as its value lives; clones are the same one.
#[derive(Debug, Clone)]
pub struct Destination {
    served: Arc<Served>,
    book: Arc<Mutex<Book>>,
}

impl Destination {
    /// Listens on `port` (0: any). Those of `honouring` recognise a repeated
    /// key and act once under it; the others act as often as they are called.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn start(port: u16, honouring: &[&str]) -> Result<Self> {
        let book = Arc::new(Mutex::new(Book::default()));
        let honouring: Arc<BTreeSet<String>> =
            Arc::new(honouring.iter().map(|name| (*name).to_owned()).collect());
        let shared = Arc::clone(&book);
        let served =
            Served::start(port, move |request| answer(Arc::clone(&shared), Arc::clone(&honouring), request));
        Ok(Self { served: Arc::new(served.await?), book })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.served.port()
    }

    /// Tells it how to take the next calls whose body holds `naming`, one
    /// manner for each; after that, and otherwise, it acts and says so.
    pub fn tell(&self, naming: impl Into<String>, manners: impl IntoIterator<Item = Manner>) {
        lock(&self.book).told.push((naming.into(), manners.into_iter().collect()));
    }

    /// The calls whose body holds `naming`, in order.
    pub fn calls(&self, naming: &str) -> Vec<Called> {
        lock(&self.book).calls.iter().filter(|call| call.names(naming)).cloned().collect()
    }

    /// How often it acted on calls whose body holds `naming`.
    pub fn acts(&self, naming: &str) -> usize {
        lock(&self.book).calls.iter().filter(|call| call.acted && call.names(naming)).count()
    }

    /// Every call so far.
    pub fn all(&self) -> Vec<Called> {
        lock(&self.book).calls.clone()
    }

    /// INV-2, as the destination sees it: calls under one key carry the same
    /// bytes.
    ///
    /// # Errors
    /// Which key came with other bytes.
    pub fn check_keys(&self) -> Result<()> {
        let book = lock(&self.book);
        let mut first: BTreeMap<(&str, &str), &Bytes> = BTreeMap::new();
        for call in &book.calls {
            let known = first.entry((&call.destination, &call.key)).or_insert(&call.body);
            ensure!(**known == call.body, "the key {} came with other bytes", call.key);
        }
        Ok(())
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    fn manner(&mut self, body: &str) -> Manner {
        let told = self.told.iter_mut().filter(|(naming, _)| body.contains(naming.as_str()));
        told.filter_map(|(_, manners)| manners.pop_front()).next().unwrap_or(Manner::Acts)
    }
}

/// One request on its way to an act.
struct Visit {
    book: Arc<Mutex<Book>>,
    place: usize,
    honours: bool,
}

impl Visit {
    /// Acts, unless the key is honoured and was acted on before.
    fn act(&self) {
        let mut book = lock(&self.book);
        let key = format!("{} {}", book.calls[self.place].destination, book.calls[self.place].key);
        let before = book.honoured.insert(key, self.place).is_some();
        book.calls[self.place].acted = !(self.honours && before);
    }
}

async fn answer(
    book: Arc<Mutex<Book>>,
    honouring: Arc<BTreeSet<String>>,
    request: http::Request<Bytes>,
) -> Answered {
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let called = Called {
        destination: request.uri().path().trim_start_matches('/').to_owned(),
        key: header("idempotency-key"),
        attempt: header("sekali-attempt"),
        correlation: header("sekali-correlation-id"),
        trace: header("traceparent"),
        body: request.body().clone(),
        acted: false,
    };
    let (manner, visit) = {
        let honours = honouring.contains(&called.destination);
        let mut open = lock(&book);
        let manner = open.manner(&String::from_utf8_lossy(&called.body));
        open.calls.push(called);
        (manner, Visit { book: Arc::clone(&book), place: open.calls.len() - 1, honours })
    };
    match manner {
        Manner::Acts => visit.act(),
        Manner::ActsUnheard => {
            visit.act();
            std::future::pending::<()>().await;
        }
        Manner::ActsAndHangsUp => {
            visit.act();
            return Err(HungUp);
        }
        Manner::ActsThenHeld(gate) => {
            visit.act();
            gate.pass().await;
        }
        Manner::HeldThenActs(gate) => {
            gate.pass().await;
            visit.act();
        }
        Manner::Says(status, headers) => return Ok(said(status, headers, "{}")),
        Manner::Answers(status, headers, body) => return Ok(said(status, headers, body)),
        Manner::Silent => std::future::pending::<()>().await,
    }
    Ok(json(200, r#"{"done":true}"#))
}

fn said(
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
) -> http::Response<Bytes> {
    let mut response = json(status, body);
    for (name, value) in headers {
        let value = http::HeaderValue::from_static(value);
        response.headers_mut().insert(http::HeaderName::from_static(name), value);
    }
    response
}
