//! The vendors' side: deliveries, signed with the secrets of the endpoints.

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sekali::config::Config;
use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::time::{Clock, UnixMillis};
use sekali::vendor::sign::sign;
use sekali_aws::SystemClock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What endpoints share with their vendors in these tests.
pub const SECRETS: [(&str, &str); 6] = [
    ("STRIPE_WEBHOOK_SECRET", "whsec_invented_for_the_end_to_end_tests"),
    ("SHOP_WEBHOOK_SECRET", "whsec_aW52ZW50ZWQgZm9yIGVuZCB0byBlbmQgdGVzdHM="),
    ("GITHUB_WEBHOOK_SECRET", "invented-for-the-end-to-end-tests"),
    ("PARCELS_WEBHOOK_SECRET", "invented-for-parcels"),
    ("SLACK_WEBHOOK_SECRET", "invented-for-slack"),
    ("META_WEBHOOK_SECRET", "invented-for-meta"),
];

static DRAWN: AtomicU64 = AtomicU64::new(0);

/// A word that no other test of this process uses, e.g. `order-17x`. It ends
/// in a letter, so that none is the beginning of another.
pub fn unique(what: &str) -> String {
    format!("{what}-{}x", DRAWN.fetch_add(1, Ordering::Relaxed))
}

/// A delivery before it is signed.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The endpoint that is called.
    pub endpoint: &'static str,
    /// Whose URL of it, where it serves many.
    pub tenant: Option<&'static str>,
    /// Headers besides those that sign it.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Delivery {
    /// A body for an endpoint.
    pub fn new(endpoint: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { endpoint, tenant: None, headers: Vec::new(), body: body.into() }
    }

    /// With one header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The same delivery to another endpoint.
    #[must_use]
    pub fn to(mut self, endpoint: &'static str) -> Self {
        self.endpoint = endpoint;
        self
    }

    /// The same delivery with another body.
    #[must_use]
    pub fn with_body(mut self, body: &[u8]) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    /// The same delivery to a tenant's URL.
    #[must_use]
    pub fn of(mut self, tenant: &'static str) -> Self {
        self.tenant = Some(tenant);
        self
    }
}

/// What Stripe says of a payment.
#[derive(Debug, Clone)]
pub struct Payment {
    /// The event's id.
    pub event: String,
    /// The order that it pays.
    pub order: String,
    /// The payment.
    pub payment: String,
    /// When it happened, in seconds.
    pub created: i64,
    /// How much, in cents.
    pub amount: i64,
    /// How many endpoints have not answered yet: differs from try to try.
    pub pending: u32,
    /// The version of the payload.
    pub version: &'static str,
}

impl Payment {
    /// A payment of its own.
    pub fn unique() -> Self {
        Self {
            event: unique("evt"),
            order: unique("order"),
            payment: unique("pi"),
            created: SystemClock.now().0 / 1_000,
            amount: 4_900,
            pending: 1,
            version: "2024-06-20",
        }
    }

    /// The order is paid: pack it.
    pub fn paid(&self) -> Delivery {
        let object = json!({ "object": "checkout.session", "payment_intent": self.payment,
            "payment_status": "paid", "amount_total": self.amount, "metadata": { "order_id": self.order } });
        self.event("checkout.session.completed", &object)
    }

    /// The payment is authorized, which is before it is paid.
    pub fn authorized(&self) -> Delivery {
        let object = json!({ "object": "charge", "payment_intent": self.payment, "captured": false });
        self.event("charge.succeeded", &object)
    }

    /// The payment is given back, which is after it was paid.
    pub fn refunded(&self) -> Delivery {
        let object = json!({ "object": "charge", "payment_intent": self.payment, "refunded": true });
        self.event("charge.refunded", &object)
    }

    fn event(&self, event_type: &str, object: &Value) -> Delivery {
        let body = json!({ "id": self.event, "object": "event", "api_version": self.version,
            "created": self.created, "data": { "object": object }, "livemode": false,
            "pending_webhooks": self.pending, "type": event_type });
        Delivery::new("stripe", body.to_string())
    }
}

/// What the shop's own system says: an event type, an id, an order.
pub fn shop(event_type: &str, id: &str, order: &str) -> Delivery {
    let body = json!({ "type": event_type, "timestamp": "2026-09-21T14:13:25.000Z",
        "data": { "order_id": order, "total": 4_900 } });
    Delivery::new("shop", body.to_string()).header("webhook-id", id)
}

/// A push to main.
pub fn push(id: &str, commit: &str) -> Delivery {
    let body =
        json!({ "ref": "refs/heads/main", "after": commit, "repository": { "full_name": "example/shop" } });
    Delivery::new("github", body.to_string()).header("X-GitHub-Event", "push").header("X-GitHub-Delivery", id)
}

/// A delivery that only needs to be sent.
#[derive(Debug, Clone)]
pub struct Signed {
    /// The endpoint that is called.
    pub endpoint: &'static str,
    /// Whose URL of it, where it serves many.
    pub tenant: Option<&'static str>,
    /// All headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Signed {
    /// The same with another body: forged.
    #[must_use]
    pub fn forged(mut self) -> Self {
        self.body.push(b' ');
        self
    }

    /// As API Gateway hands it to the function: payload format 2.0, the body
    /// as base64 or as text. A body that is no UTF-8 comes as base64 always.
    pub fn gateway_event(&self, base64: bool) -> Value {
        let mut headers = serde_json::Map::new();
        for (name, value) in &self.headers {
            headers.insert(name.clone(), value.as_str().into());
        }
        let body = match std::str::from_utf8(&self.body) {
            Ok(text) if !base64 => text.to_owned(),
            _ => STANDARD.encode(&self.body),
        };
        let encoded = base64 || std::str::from_utf8(&self.body).is_err();
        let tenant = self.tenant.map_or(String::new(), |tenant| format!("/{tenant}"));
        let path = format!("/webhooks/{}{tenant}", self.endpoint);
        let mut parameters = json!({ "endpoint": self.endpoint });
        if let Some(tenant) = self.tenant {
            parameters["tenant"] = tenant.into();
        }
        json!({
            "version": "2.0", "routeKey": "ANY /webhooks/{endpoint}", "rawPath": path, "rawQueryString": "",
            "headers": headers, "pathParameters": parameters,
            "requestContext": {
                "accountId": "000000000000", "apiId": "driven", "domainName": "driven.example.com",
                "http": { "method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.10",
                    "userAgent": "vendor" },
                "requestId": unique("request"), "routeKey": "ANY /webhooks/{endpoint}", "stage": "$default",
                "time": "21/Sep/2026:15:00:05 +0000", "timeEpoch": 1_790_002_805_000_i64,
            },
            "body": body, "isBase64Encoded": encoded,
        })
    }
}

/// Everybody who can sign.
#[derive(Debug)]
pub struct Vendors {
    config: Config,
}

impl Vendors {
    /// The vendors of these endpoints.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// What the endpoints are.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Signs a delivery now.
    ///
    /// # Errors
    /// There is no such endpoint or secret, or its vendor signs otherwise.
    pub fn sign(&self, delivery: Delivery) -> Result<Signed> {
        self.sign_at(delivery, SystemClock.now())
    }

    /// Signs a delivery so long ago.
    ///
    /// # Errors
    /// As [`Vendors::sign`].
    pub fn sign_before(&self, delivery: Delivery, age: Duration) -> Result<Signed> {
        self.sign_at(delivery, SystemClock.now().minus(age))
    }

    /// Signs a delivery at this time.
    ///
    /// # Errors
    /// As [`Vendors::sign`].
    pub fn sign_at(&self, delivery: Delivery, now: UnixMillis) -> Result<Signed> {
        let name = delivery.endpoint;
        let endpoint = self.config.endpoints.get(name).with_context(|| format!("no endpoint {name}"))?;
        let variable = endpoint.secrets.first().map(|secret| secret.name());
        let secrets = BTreeMap::from(SECRETS);
        let secret = variable.and_then(|variable| secrets.get(variable));
        let secret = *secret.with_context(|| format!("no secret for endpoint {name}"))?;
        self.signed(delivery, secret, now)
    }

    /// Signs a delivery now with this secret, whatever the endpoint's are.
    ///
    /// # Errors
    /// There is no such endpoint, or its vendor signs otherwise.
    pub fn sign_with(&self, delivery: Delivery, secret: &str) -> Result<Signed> {
        self.signed(delivery, secret, SystemClock.now())
    }

    fn signed(&self, delivery: Delivery, secret: &str, now: UnixMillis) -> Result<Signed> {
        let name = delivery.endpoint;
        let endpoint = self.config.endpoints.get(name).with_context(|| format!("no endpoint {name}"))?;
        let secret = Secret::new(secret)?;
        let request = Request {
            method: "POST".to_owned(),
            path: format!("/webhooks/{name}"),
            query: String::new(),
            headers: Headers::new(delivery.headers.iter().cloned()),
            body: delivery.body,
        };
        let mut headers = delivery.headers;
        headers.extend(sign(&endpoint.vendor, &request, &secret, &endpoint.params, now, || unique("drawn"))?);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        Ok(Signed { endpoint: name, tenant: delivery.tenant, headers, body: request.body })
    }
}
