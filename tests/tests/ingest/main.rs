//! Deliveries through the whole of ingest, over ports in memory: what is
//! answered, and what is written.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod admission;
mod canary;
mod confirmations;
mod guards;
mod handshakes;
mod logs;
mod repeated;
mod secrets;
mod tally;
mod tenants;
mod truth;

use sekali::config::{Endpoint, Retentions, load};
use sekali::deployment::Deployment;
use sekali::happened::Happenings;
use sekali::http::{Headers, Request};
use sekali::ids::CorrelationId;
use sekali::ingest::answer::Answer;
use sekali::ingest::tally::Tally;
use sekali::ingest::{Addressed, Ingest};
use sekali::ports::{Outbound, WithSecrets};
use sekali::process::{Deadline, Disposition, Processor, Record};
use sekali::protocol::event::Event;
use sekali::secret::Secret;
use sekali::time::{Clock, UnixMillis};
use sekali::vendor::sign::sign;
use sekali_aws::metric;
use sekali_tests::memory::{
    LineSettings, MemoryDestination, MemoryQueue, MemorySecrets, MemoryStore, SeededEntropy, VirtualClock,
};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const START: UnixMillis = UnixMillis(1_800_000_000_000);

type MemoryIngest = Ingest<MemoryStore, MemoryQueue, VirtualClock, SeededEntropy, MemorySecrets>;

/// Ingest with a configuration, and everything that it reaches.
struct Bench {
    store: MemoryStore,
    queue: MemoryQueue,
    clock: VirtualClock,
    secrets: MemorySecrets,
    deployment: Arc<Deployment>,
    ingest: MemoryIngest,
    /// The lines of metrics so far.
    printed: Mutex<String>,
}

impl Bench {
    fn with(endpoints: &str) -> Self {
        Self::with_vendors(endpoints, &[])
    }

    fn with_vendors(endpoints: &str, vendors: &[(&str, &str)]) -> Self {
        Self::at(START, endpoints, vendors)
    }

    fn at(start: UnixMillis, endpoints: &str, vendors: &[(&str, &str)]) -> Self {
        logs::keep_awake();
        let config = load(("endpoints.toml", endpoints), vendors).unwrap();
        let line = LineSettings::default();
        let retentions = Retentions { queue: line.retention, dlq: line.dlq_retention };
        let deployment = Arc::new(Deployment { config, retentions, visibility: line.visibility });
        let (store, clock, secrets) =
            (MemoryStore::default(), VirtualClock::at(start), MemorySecrets::default());
        let queue = MemoryQueue::new(line, clock.clone());
        let ingest = Ingest::new(
            store.clone(),
            queue.clone(),
            clock.clone(),
            SeededEntropy::seeded(1),
            secrets.clone(),
            Arc::clone(&deployment),
        );
        Self { store, queue, clock, secrets, deployment, ingest, printed: Mutex::default() }
    }

    fn endpoint(&self, name: &str) -> &Endpoint {
        &self.deployment.config.endpoints[name]
    }

    async fn deliver(&self, delivery: &Delivery) -> Answer {
        let (addressed, request) = self.made(delivery);
        let (answer, tally) = self.ingest.receive_counted(&addressed, &request).await;
        self.print(&metric::of_delivery(&tally));
        answer
    }

    fn print(&self, lines: &metric::Lines<'_>) {
        self.printed.lock().unwrap().push_str(&lines.print("test", self.clock.now()));
    }

    /// The lines of metrics since the last time.
    fn printed(&self) -> String {
        std::mem::take(&mut *self.printed.lock().unwrap())
    }

    /// Delivers, and looks at what that came to.
    async fn count(&self, delivery: &Delivery, look: impl FnOnce(&Tally<'_>)) {
        let (addressed, request) = self.made(delivery);
        look(&self.ingest.receive_counted(&addressed, &request).await.1);
    }

    /// The request as the gateway hands it over, signed.
    fn made(&self, delivery: &Delivery) -> (Addressed, Request) {
        let addressed = Addressed {
            endpoint: delivery.endpoint.clone(),
            tenant: delivery.tenant.clone(),
            from: delivery.from,
            correlation: CorrelationId::new("c-1"),
            trace: None,
        };
        let mut request = delivery.request.clone();
        if let Some(secret) = &delivery.secret {
            let endpoint = self.endpoint(&delivery.endpoint);
            let secret = Secret::new(secret.as_str()).unwrap();
            let fresh = || "fresh-1".to_owned();
            let signed =
                sign(&endpoint.vendor, &request, &secret, &endpoint.params, self.clock.now(), fresh).unwrap();
            let headers = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
            let signed = signed.into_iter().map(|(name, value)| (name, value.into_bytes()));
            request.headers = Headers::new(headers.chain(signed));
        }
        (addressed, request)
    }

    /// Hands every visible letter to one invocation of the processor, and does
    /// with each what that says.
    async fn work(&self, destination: &MemoryDestination, api: impl Outbound) -> Vec<Disposition> {
        let processor = Processor::new(
            self.store.clone(),
            destination.clone(),
            WithSecrets { outbound: api, keeper: self.secrets.clone() },
            self.clock.clone(),
            SeededEntropy::seeded(2),
            Arc::clone(&self.deployment),
        );
        let letters = self.queue.receive(100);
        let records: Vec<Record> = letters
            .iter()
            .map(|letter| Record {
                message: letter.message.clone(),
                stamped_at: letter.sent_at,
                receive_count: letter.receive_count,
            })
            .collect();
        let happenings = Happenings::default();
        let dispositions = processor.batch_telling(&records, Deadline::Unknown, &happenings).await;
        self.print(&metric::of_batch(&happenings.into_all()));
        for (letter, disposition) in letters.iter().zip(&dispositions) {
            assert!(match disposition {
                Disposition::Delete => self.queue.delete(letter.receipt),
                Disposition::Return(wait) => self.queue.change_visibility(letter.receipt, *wait),
                Disposition::Fail => self.queue.change_visibility(letter.receipt, Duration::ZERO),
            });
        }
        dispositions
    }

    fn events(&self) -> Vec<Event> {
        self.store.look(|tables| tables.events().cloned().collect())
    }

    /// Whether nothing at all was written or sent.
    fn is_untouched(&self) -> bool {
        self.store.tables() == Default::default() && self.queue.visible().is_empty()
    }
}

/// A delivery before it is signed.
#[derive(Clone)]
struct Delivery {
    endpoint: String,
    tenant: Option<String>,
    from: Option<IpAddr>,
    /// What it is signed with; `None`: not at all.
    secret: Option<String>,
    request: Request,
}

impl Delivery {
    fn to(endpoint: &str, body: &str) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            tenant: None,
            from: "192.0.2.7".parse().ok(),
            secret: None,
            request: Request {
                method: "POST".to_owned(),
                path: format!("/webhooks/{endpoint}"),
                query: String::new(),
                headers: Headers::new([("content-type", "application/json")]),
                body: body.as_bytes().to_vec(),
            },
        }
    }

    fn signed(mut self, secret: &str) -> Self {
        self.secret = Some(secret.to_owned());
        self
    }

    fn tenant(mut self, tenant: &str) -> Self {
        self.tenant = Some(tenant.to_owned());
        self
    }

    fn from(mut self, address: &str) -> Self {
        self.from = address.parse().ok();
        self
    }

    fn header(mut self, name: &str, value: &str) -> Self {
        let known = self.request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let known: Vec<_> = known.filter(|(known, _)| known != name).collect();
        self.request.headers =
            Headers::new(known.into_iter().chain([(name.to_owned(), value.as_bytes().to_vec())]));
        self
    }
}

/// An event of Stripe's.
fn stripe(id: &str, more: &str) -> String {
    format!(r#"{{"id":"{id}","type":"payment.paid","created":1800000000,"livemode":true{more}}}"#)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}
