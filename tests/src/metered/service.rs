//! The services on a port of this machine.

use super::Item;
use super::bill::{Bill, Charge};
use super::queue::Sent;
use super::tables::{Refused, Tables};
use crate::e2e::serve::{Answered, Served, json};
use anyhow::Result;
use bytes::Bytes;
use sekali_aws::Aws;
use sekali_aws::client::Patience;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Barrier;

#[derive(Default)]
struct Shelf {
    tables: Tables,
    bill: Bill,
    sent: Vec<Sent>,
}

/// Both services, for as long as this value lives.
pub struct Metered {
    served: Served,
    shelf: Arc<Mutex<Shelf>>,
}

impl Metered {
    /// Empty tables, an empty queue, nothing on the bill.
    ///
    /// # Errors
    /// There is no port for it.
    pub async fn start() -> Result<Self> {
        Self::with(None).await
    }

    /// The same, but puts are answered only two at a time: whoever waits for
    /// one before it sends the other waits for ever.
    ///
    /// # Errors
    /// There is no port for it.
    pub async fn pairing_puts() -> Result<Self> {
        Self::with(Some(Arc::new(Barrier::new(2)))).await
    }

    async fn with(pairs: Option<Arc<Barrier>>) -> Result<Self> {
        let shelf = Arc::<Mutex<Shelf>>::default();
        let known = Arc::clone(&shelf);
        let served = Served::start(0, move |request| answer(Arc::clone(&known), pairs.clone(), request));
        Ok(Self { served: served.await?, shelf })
    }

    /// Where both are called.
    pub fn url(&self) -> String {
        self.served.url()
    }

    /// Clients of both, with invented credentials.
    ///
    /// # Errors
    /// The settings lack something.
    pub fn aws(&self) -> Result<Aws> {
        Ok(Aws::from_variables(Patience::PERSON, |name| match name {
            "AWS_ENDPOINT_URL" => Some(self.url()),
            "AWS_REGION" => Some("us-east-1".to_owned()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("invented".to_owned()),
            _ => None,
        })?)
    }

    /// What was called so far.
    pub fn bill(&self) -> Bill {
        lock(&self.shelf).bill.clone()
    }

    /// The messages that were sent and not taken yet.
    pub fn take_sent(&self) -> Vec<Sent> {
        std::mem::take(&mut lock(&self.shelf).sent)
    }

    /// One item.
    pub fn item(&self, table: &str, pk: &str) -> Option<Item> {
        lock(&self.shelf).tables.item(table, pk)
    }

    /// Puts an item there without a call, for a table that is large already.
    pub fn insert(&self, table: &str, pk: &str, item: &Item) {
        lock(&self.shelf).tables.insert(table, pk, item);
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    shelf: Arc<Mutex<Shelf>>,
    pairs: Option<Arc<Barrier>>,
    request: http::Request<Bytes>,
) -> Answered {
    let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
    let Some((service, operation)) = target.and_then(|target| target.split_once('.')) else {
        return Ok(json(404, "{}"));
    };
    let Ok(body) = serde_json::from_slice::<Value>(request.body()) else { return Ok(json(400, "{}")) };
    if let (Some(pairs), "PutItem") = (pairs, operation) {
        pairs.wait().await;
    }
    let mut shelf = lock(&shelf);
    if service == "AmazonSQS" {
        shelf.bill.add(operation, Charge::CALL);
        if operation == "SendMessage" {
            shelf.sent.push(Sent::new(body));
        }
        return Ok(json(200, json!({ "MessageId": "invented", "MD5OfMessageBody": "" }).to_string()));
    }
    let (status, answer, charge) = match shelf.tables.answer(operation, &body) {
        Ok((answer, charge)) => (200, answer, charge),
        Err(Refused { code, mut more, charge }) => {
            more["__type"] = format!("com.amazonaws.dynamodb.v20120810#{code}").into();
            (400, more, charge)
        }
    };
    shelf.bill.add(operation, charge);
    Ok(json(status, answer.to_string()))
}
