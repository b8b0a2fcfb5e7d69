//! The keyring against keepers that answer what a test tells them to.

mod bounds;
mod rotation;
mod tenants;
mod trouble;

use super::*;
use crate::config::{Config, Endpoint, SecretName, check};
use crate::http::{Headers, Request};
use crate::ids::Tenant;
use crate::ports::{Kept, KeyDocuments, NoKeyDocument, NoSecret, Secrets};
use crate::secret::{Secret, Stage};
use crate::time::UnixMillis;
use crate::vendor::KeyUrl;
use crate::vendor::sign::sign;
use futures_util::FutureExt;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

const START: UnixMillis = UnixMillis(1_800_000_000_000);

/// What is kept under each name, and how often it was asked for.
#[derive(Debug, Default)]
struct Drawer {
    kept: Mutex<HashMap<String, Vec<Kept>>>,
    readings: Mutex<Vec<String>>,
}

impl Drawer {
    fn put(&self, name: &str, kept: Vec<Kept>) {
        self.kept.lock().unwrap().insert(name.to_owned(), kept);
    }

    fn readings(&self) -> usize {
        self.readings.lock().unwrap().len()
    }
}

impl Secrets for Drawer {
    async fn read(&self, name: &SecretName) -> Vec<Kept> {
        self.readings.lock().unwrap().push(name.to_string());
        let absent = || vec![(Stage::Current, Err(NoSecret::Absent))];
        self.kept.lock().unwrap().get(&name.to_string()).cloned().unwrap_or_else(absent)
    }
}

/// No vendor of these tests publishes its keys.
impl KeyDocuments for Drawer {
    async fn fetch(&self, url: &KeyUrl) -> Result<Vec<u8>, NoKeyDocument> {
        panic!("{url} was asked for");
    }
}

fn current(text: &str) -> Kept {
    (Stage::Current, Secret::new(text).map_err(|reason| NoSecret::Unusable(reason.to_string())))
}

fn previous(text: &str) -> Kept {
    (Stage::Previous, Ok(Secret::new(text).unwrap()))
}

fn silent() -> Vec<Kept> {
    vec![(Stage::Current, Err(NoSecret::Unavailable("invented".to_owned())))]
}

/// An endpoint of a vendor that signs the body and nothing else.
fn config(settings: &str) -> Config {
    let text = format!("[endpoint.hub]\nvendor = \"github\"\n{settings}\n");
    let checked = check(("endpoints.toml", &text), &[]);
    assert_eq!(checked.problems, []);
    checked.config.unwrap()
}

/// A keyring, its only endpoint, and a clock that moves when told.
struct Bench {
    keyring: Keyring<Drawer>,
    config: Config,
    now: UnixMillis,
}

impl Bench {
    fn with(settings: &str) -> Self {
        Self { keyring: Keyring::new(Drawer::default()), config: config(settings), now: START }
    }

    fn endpoint(&self) -> &Endpoint {
        self.config.endpoints.values().next().unwrap()
    }

    fn drawer(&self) -> &Drawer {
        self.keyring.secrets()
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now.plus(span);
    }

    /// A delivery signed with this secret. Nothing here waits for anything.
    fn deliver(&self, secret: &str) -> Result<Matched, NotVerified> {
        self.deliver_to(None, secret)
    }

    fn deliver_to(&self, tenant: Option<&str>, secret: &str) -> Result<Matched, NotVerified> {
        let tenant = tenant.map(Tenant::from);
        let request = signed(self.endpoint(), secret);
        let verify = self.keyring.verify(self.endpoint(), tenant.as_ref(), &request, self.now);
        verify.now_or_never().unwrap()
    }

    /// Which secret a delivery signed with this one matches.
    fn matched(&self, secret: &str) -> Option<String> {
        self.deliver(secret).ok().and_then(|matched| Some(matched.secret?.to_string()))
    }
}

const BODY: &[u8] = br#"{"action":"opened"}"#;

fn unsigned() -> Request {
    Request {
        method: "POST".to_owned(),
        path: "/webhooks/hub".to_owned(),
        query: String::new(),
        headers: Headers::default(),
        body: BODY.to_vec(),
    }
}

fn signed(endpoint: &Endpoint, secret: &str) -> Request {
    let secret = Secret::new(secret).unwrap();
    let headers = sign(&endpoint.vendor, &unsigned(), &secret, &endpoint.params, START, String::new).unwrap();
    Request { headers: Headers::new(headers), ..unsigned() }
}

/// A delivery signed by somebody who hopes that this is taken for a key.
fn signed_with_no_secret(key: &str) -> Request {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key.as_bytes());
    let tag = crate::key::hex(ring::hmac::sign(&key, BODY).as_ref());
    Request { headers: Headers::new([("X-Hub-Signature-256", format!("sha256={tag}"))]), ..unsigned() }
}

/// Why a delivery was refused, and what was done about it.
fn refresh(refused: Result<Matched, NotVerified>) -> Option<Refresh> {
    match refused.unwrap_err() {
        NotVerified::Refused(_, refresh) | NotVerified::NoSuchTenant(refresh) => refresh,
        NotVerified::Offline(reasons) => panic!("offline: {reasons:?}"),
        NotVerified::NoKey(reason) => panic!("no key: {reason}"),
    }
}
