//! AWS as a function sees it when things go wrong: a proxy in front of the
//! emulator that refuses, throttles, loses answers, or holds a call until the
//! test lets it go. The functions know nothing of it; they are only told
//! another address.

use super::gate::Gate;
use super::serve::{Answered, HungUp, Served, json};
use anyhow::Result;
use bytes::Bytes;
use sekali_cli::local::wire::exchange;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a call meets.
#[derive(Debug, Clone)]
pub enum Fault {
    /// The connection closes and nothing was forwarded.
    Unreachable,
    /// AWS says this, and has done nothing: an HTTP status and an error code.
    Says(u16, &'static str),
    /// Every item of a transaction is refused for this reason.
    Cancelled(&'static str),
    /// AWS does its work and the answer is lost: the connection closes.
    AnswerLost,
    /// Nothing is forwarded and nothing is heard, as over a dead socket.
    Silent,
    /// The call stands at the gate before it is forwarded.
    HeldBefore(Gate),
    /// AWS does its work and the answer stands at the gate.
    HeldAfter(Gate),
}

/// Which calls meet a fault.
#[derive(Debug, Clone, Default)]
pub struct Aim {
    operations: Vec<&'static str>,
    naming: Vec<String>,
    number: Option<usize>,
    spared: usize,
    times: Option<usize>,
}

impl Aim {
    /// Every call.
    pub fn any() -> Self {
        Self::default()
    }

    /// Calls of this operation, e.g. `PutItem`; several may be named.
    #[must_use]
    pub fn at(mut self, operation: &'static str) -> Self {
        self.operations.push(operation);
        self
    }

    /// Calls whose body holds this text; where several are named, all of them.
    #[must_use]
    pub fn naming(mut self, text: impl Into<String>) -> Self {
        self.naming.push(text.into());
        self
    }

    /// The call of this number alone, counted from 0 over all calls.
    #[must_use]
    pub fn number(mut self, number: usize) -> Self {
        self.number = Some(number);
        self
    }

    /// Of the calls that would be hit, so many are let pass, and only the next
    /// one is hit.
    #[must_use]
    pub fn nth(mut self, spared: usize) -> Self {
        self.spared = spared;
        self.times = Some(1);
        self
    }

    /// No more than so many calls.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = Some(times);
        self
    }

    fn hits(&self, number: usize, operation: &str, body: &str) -> bool {
        (self.operations.is_empty() || self.operations.contains(&operation))
            && self.naming.iter().all(|text| body.contains(text.as_str()))
            && self.number.is_none_or(|wanted| wanted == number)
            && self.times != Some(0)
    }
}

#[derive(Debug, Default)]
struct Desk {
    planned: Vec<(Aim, Fault)>,
    calls: Vec<String>,
}

/// The proxy, for as long as its value lives.
#[derive(Debug)]
pub struct Proxy {
    served: Served,
    desk: Arc<Mutex<Desk>>,
}

impl Proxy {
    /// Stands in front of the AWS on port `upstream` of this machine.
    ///
    /// # Errors
    /// There is no port for it.
    pub async fn start(upstream: u16) -> Result<Self> {
        let desk = Arc::new(Mutex::new(Desk::default()));
        let seen = Arc::clone(&desk);
        let served = Served::start(0, move |request| answer(upstream, Arc::clone(&seen), request)).await?;
        Ok(Self { served, desk })
    }

    /// Where functions call it.
    pub fn url(&self) -> String {
        self.served.url()
    }

    /// From now on the calls that `aim` hits meet `fault`; of several faults
    /// the one planned first.
    pub fn plan(&self, aim: Aim, fault: Fault) {
        lock(&self.desk).planned.push((aim, fault));
    }

    /// The operations that were called so far, in order.
    pub fn calls(&self) -> Vec<String> {
        lock(&self.desk).calls.clone()
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fault that this call meets.
fn meets(desk: &Mutex<Desk>, operation: &str, body: &[u8]) -> Option<Fault> {
    let mut desk = lock(desk);
    let number = desk.calls.len();
    desk.calls.push(operation.to_owned());
    let body = String::from_utf8_lossy(body);
    for (aim, fault) in &mut desk.planned {
        if !aim.hits(number, operation, &body) {
            continue;
        }
        if aim.spared > 0 {
            aim.spared -= 1;
            continue;
        }
        if let Some(times) = &mut aim.times {
            *times -= 1;
        }
        return Some(fault.clone());
    }
    None
}

async fn answer(upstream: u16, desk: Arc<Mutex<Desk>>, request: http::Request<Bytes>) -> Answered {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.split_once('.')).map_or("", |(_, name)| name).to_owned();
    let fault = meets(&desk, &operation, request.body());
    let items = transaction_items(request.body());
    match &fault {
        Some(Fault::Unreachable) => return Err(HungUp),
        Some(Fault::Says(status, code)) => return Ok(says(*status, code)),
        Some(Fault::Cancelled(reason)) => return Ok(cancelled(reason, items)),
        Some(Fault::Silent) => std::future::pending().await,
        Some(Fault::HeldBefore(gate)) => gate.pass().await,
        Some(Fault::AnswerLost | Fault::HeldAfter(_)) | None => {}
    }
    let answered = forward(upstream, request).await;
    match &fault {
        Some(Fault::AnswerLost) => return Err(HungUp),
        Some(Fault::HeldAfter(gate)) => gate.pass().await,
        _ => {}
    }
    answered
}

async fn forward(upstream: u16, mut request: http::Request<Bytes>) -> Answered {
    // These are of the connection to us; the next one has its own.
    for name in [http::header::CONNECTION, http::header::TRANSFER_ENCODING, http::header::CONTENT_LENGTH] {
        request.headers_mut().remove(name);
    }
    let answer = exchange(upstream, request).await.map_err(|_| HungUp)?;
    let mut response = http::Response::new(answer.body);
    *response.status_mut() = http::StatusCode::from_u16(answer.status).map_err(|_| HungUp)?;
    for (name, value) in &answer.headers {
        let of_the_connection =
            [http::header::CONNECTION, http::header::TRANSFER_ENCODING, http::header::CONTENT_LENGTH];
        if !of_the_connection.contains(name) {
            response.headers_mut().append(name, value.clone());
        }
    }
    Ok(response)
}

fn transaction_items(body: &[u8]) -> usize {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    body["TransactItems"].as_array().map_or(0, Vec::len)
}

fn says(status: u16, code: &str) -> http::Response<Bytes> {
    json(status, json!({ "__type": format!("com.amazonaws#{code}"), "message": "invented" }).to_string())
}

fn cancelled(reason: &str, items: usize) -> http::Response<Bytes> {
    let reasons = vec![json!({ "Code": reason, "Message": "invented" }); items];
    let code = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
    json(400, json!({ "__type": code, "message": "invented", "CancellationReasons": reasons }).to_string())
}
