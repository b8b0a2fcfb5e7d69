//! Every vendor that comes with Sekali, and batches and bodies of all kinds,
//! through the whole of ingest, over ports in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod adding;
mod batch;
mod bodies;
mod every;
mod published;

use sekali::config::{Retentions, load};
use sekali::deployment::Deployment;
use sekali::http::{Headers, Request};
use sekali::ids::CorrelationId;
use sekali::ingest::answer::Answer;
use sekali::ingest::{Addressed, Ingest};
use sekali::protocol::event::Event;
use sekali::secret::Secret;
use sekali::time::{Clock, UnixMillis};
use sekali::vendor::sign::sign;
use sekali::vendor::{Params, Vendor, builtin};
use sekali_tests::memory::{
    LineSettings, MemoryQueue, MemorySecrets, MemoryStore, SeededEntropy, VirtualClock,
};
use std::sync::Arc;

/// The endpoint under test; every configuration here has one.
const ENDPOINT: &str = "in";
/// Where its secrets are kept.
const PLACE: &str = "ssm:/invented";
const SECRET: &str = "invented-secret-of-32-characters";

type MemoryIngest = Ingest<MemoryStore, MemoryQueue, VirtualClock, SeededEntropy, MemorySecrets>;

/// Ingest with one endpoint, and everything that it reaches.
struct Bench {
    store: MemoryStore,
    queue: MemoryQueue,
    clock: VirtualClock,
    secrets: MemorySecrets,
    deployment: Arc<Deployment>,
    ingest: MemoryIngest,
}

impl Bench {
    /// `settings` are what the endpoint says, and what follows it.
    fn at(now: UnixMillis, settings: &str, vendors: &[(&str, &str)]) -> Self {
        let config = load(("endpoints.toml", &format!("[endpoint.{ENDPOINT}]\n{settings}")), vendors);
        let line = LineSettings::default();
        let retentions = Retentions { queue: line.retention, dlq: line.dlq_retention };
        let deployment =
            Arc::new(Deployment { config: config.unwrap(), retentions, visibility: line.visibility });
        let (store, clock, secrets) =
            (MemoryStore::default(), VirtualClock::at(now), MemorySecrets::default());
        let queue = MemoryQueue::new(line, clock.clone());
        let ingest = Ingest::new(
            store.clone(),
            queue.clone(),
            clock.clone(),
            SeededEntropy::seeded(1),
            secrets.clone(),
            Arc::clone(&deployment),
        );
        Self { store, queue, clock, secrets, deployment, ingest }
    }

    async fn deliver(&self, request: &Request) -> Answer {
        self.ingest.receive(&addressed(), request).await
    }

    /// The same request, signed with [`SECRET`] as the vendor would.
    fn signed(&self, request: &Request) -> Request {
        let vendor = &self.deployment.config.endpoints[ENDPOINT].vendor;
        signed(vendor, request, self.clock.now())
    }

    fn events(&self) -> Vec<Event> {
        self.store.look(|tables| tables.events().cloned().collect())
    }

    /// Whether nothing at all was written or sent.
    fn is_untouched(&self) -> bool {
        self.store.tables() == Default::default() && self.queue.visible().is_empty()
    }
}

fn addressed() -> Addressed {
    Addressed {
        endpoint: ENDPOINT.to_owned(),
        tenant: None,
        from: None,
        correlation: CorrelationId::new("c-1"),
        trace: None,
    }
}

fn signed(vendor: &Vendor, request: &Request, now: UnixMillis) -> Request {
    let secret = Secret::new(SECRET).unwrap();
    let added = sign(vendor, request, &secret, &Params::default(), now, || "fresh-1".to_owned()).unwrap();
    with_headers(request, added)
}

fn with_headers(request: &Request, added: Vec<(String, String)>) -> Request {
    let known = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let added = added.into_iter().map(|(name, value)| (name, value.into_bytes()));
    Request { headers: Headers::new(known.chain(added)), ..request.clone() }
}

fn post(content_type: &str, body: impl Into<Vec<u8>>) -> Request {
    Request {
        method: "POST".to_owned(),
        path: format!("/webhooks/{ENDPOINT}"),
        query: String::new(),
        headers: Headers::new([("Content-Type", content_type)]),
        body: body.into(),
    }
}

fn builtin_vendor(name: &str) -> Vendor {
    Vendor::parse(name, name, builtin::text(name).unwrap()).unwrap()
}
