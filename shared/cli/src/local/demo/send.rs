//! Sending deliveries as a vendor would: signed with the endpoint's secret.

use super::script::Delivery;
use crate::local::stack::Stack;
use crate::local::wire::{Answer, exchange};
use anyhow::{Context, Result};
use bytes::Bytes;
use futures_util::future::try_join_all;
use sekali::config::{Config, Endpoint};
use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::time::Clock;
use sekali::vendor::sign;
use sekali_aws::SystemClock;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A vendor's side of a deployed stack.
#[derive(Debug, Clone, Copy)]
pub struct Sender<'a> {
    /// Where to.
    pub stack: &'a Stack,
    /// What the endpoints are.
    pub config: &'a Config,
    /// What `env:NAME` holds.
    pub secrets: &'a BTreeMap<String, String>,
}

/// A delivery that only needs to be sent.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The path at the emulator.
    pub path: String,
    /// All headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Sender<'_> {
    /// Sends a delivery of the demo as often as it says; the answers in order.
    ///
    /// # Errors
    /// It cannot be signed, or nobody answered.
    pub async fn send(self, delivery: &Delivery, folder: &Path) -> Result<Vec<Answer>> {
        let file = folder.join(&delivery.body);
        let body = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let age = Duration::from_secs(delivery.age_s);
        let signed_body = if delivery.forged { [body.as_slice(), b" "].concat() } else { body.clone() };
        let mut signed = self.sign(&delivery.endpoint, &delivery.headers, signed_body, age)?;
        signed.body = body.into();
        if delivery.at_once {
            return try_join_all((0..delivery.times).map(|_| self.deliver(&signed))).await;
        }
        let mut answers = Vec::with_capacity(delivery.times);
        for _ in 0..delivery.times {
            answers.push(self.deliver(&signed).await?);
        }
        Ok(answers)
    }

    /// Signs a body as the endpoint's vendor would have, `age` ago.
    ///
    /// # Errors
    /// There is no such endpoint or secret, or the vendor's scheme is not one
    /// that a receiver can sign with.
    pub fn sign(
        self,
        endpoint: &str,
        headers: &BTreeMap<String, String>,
        body: Vec<u8>,
        age: Duration,
    ) -> Result<Signed> {
        let declared =
            self.config.endpoints.get(endpoint).with_context(|| format!("no endpoint {endpoint}"))?;
        let secret = self.secret(declared)?;
        let mut headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let request = Request {
            method: "POST".to_owned(),
            path: format!("/webhooks/{endpoint}"),
            query: String::new(),
            headers: Headers::new(headers.iter().cloned()),
            body,
        };
        let now = SystemClock.now().minus(age);
        let mut drawn = 0_u32;
        let fresh = || {
            drawn += 1;
            format!("local-{}-{drawn}", now.0)
        };
        headers.extend(sign::sign(&declared.vendor, &request, &secret, &declared.params, now, fresh)?);
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        Ok(Signed { path: self.stack.endpoint_path(endpoint)?, headers, body: request.body.into() })
    }

    fn secret(self, endpoint: &Endpoint) -> Result<Secret> {
        let name = endpoint.secrets.first().map(|secret| secret.name());
        let value = name.and_then(|name| self.secrets.get(name));
        Ok(Secret::new(value.with_context(|| format!("no secret for endpoint {}", endpoint.name))?.as_str())?)
    }

    /// Sends one.
    ///
    /// # Errors
    /// Nobody answered.
    pub async fn deliver(self, signed: &Signed) -> Result<Answer> {
        let mut request = http::Request::post(&signed.path);
        for (name, value) in &signed.headers {
            request = request.header(name, value);
        }
        exchange(self.stack.aws().port, request.body(signed.body.clone())?).await
    }
}

impl Signed {
    /// The same as a command line; the body is in `file`.
    pub fn curl(&self, endpoint_of_aws: &str, file: &Path) -> String {
        let mut line = format!("curl -i {endpoint_of_aws}{}", self.path);
        for (name, value) in &self.headers {
            let _ = write!(line, " \\\n  -H '{name}: {value}'");
        }
        let _ = write!(line, " \\\n  --data-binary @{}", file.display());
        line
    }
}
