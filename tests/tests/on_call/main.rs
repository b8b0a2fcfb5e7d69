//! What humans decide, and pauses, over ports in memory: the real ingest,
//! processor and sweeper, and the command that people say.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod again;
mod conflicts;
mod content;
mod fair;
mod pause;
mod reconcile;
mod takeover;

use sekali::config::{Retentions, load};
use sekali::deployment::Deployment;
use sekali::http::{Headers, Request};
use sekali::ids::{CorrelationId, OwnerNonce, Who};
use sekali::ingest::{Addressed, Ingest};
use sekali::key::{DedupScope, EventHash, EventKey};
use sekali::operate::{Operate, Said, Word};
use sekali::pause::Remembered;
use sekali::ports::WithSecrets;
use sekali::process::{Deadline, Disposition, Processor, Record};
use sekali::protocol::action::Action;
use sekali::protocol::decide::Operator;
use sekali::protocol::event::Event;
use sekali::secret::Secret;
use sekali::sweep::{Sweeper, Swept};
use sekali::time::{Clock, UnixMillis};
use sekali::vendor::sign::sign;
use sekali_tests::memory::{
    LineSettings, MemoryApi, MemoryDestination, MemoryQueue, MemorySecrets, MemoryStore, SeededEntropy,
    VirtualClock,
};
use std::sync::Arc;
use std::time::Duration;

const ENDPOINTS: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["ssm:/shared"]
[[endpoint.shop.rule]]
type = "payment.paid"
action.pack = { order = "/order", amount = "/amount" }
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", timeout = "1s" }
"#;

/// A receiver, and the human beside it.
struct Bench {
    store: MemoryStore,
    queue: MemoryQueue,
    clock: VirtualClock,
    destination: MemoryDestination,
    deployment: Arc<Deployment>,
}

impl Bench {
    fn new() -> Self {
        Self::with(ENDPOINTS)
    }

    fn with(endpoints: &str) -> Self {
        let config = load(("endpoints.toml", endpoints), &[]).unwrap();
        let line = LineSettings::default();
        let retentions = Retentions { queue: line.retention, dlq: line.dlq_retention };
        let deployment = Arc::new(Deployment { config, retentions, visibility: line.visibility });
        let clock = VirtualClock::at(UnixMillis(1_800_000_000_000));
        Self {
            store: MemoryStore::default(),
            queue: MemoryQueue::new(line, clock.clone()),
            destination: MemoryDestination::new(clock.clone()),
            clock,
            deployment,
        }
    }

    /// A vendor says that an order is paid; this is what it is answered.
    async fn deliver(&self, id: &str, order: &str, amount: u32) -> u16 {
        self.deliver_to("shop", id, order, amount).await
    }

    /// The same, at another endpoint.
    async fn deliver_to(&self, endpoint: &str, id: &str, order: &str, amount: u32) -> u16 {
        let body = format!(
            r#"{{"id":"{id}","object":"event","type":"payment.paid","created":1800000000,"livemode":true,"order":"{order}","amount":{amount}}}"#
        );
        self.receive(endpoint, &[], body).await
    }

    /// Any delivery of a vendor, signed as it signs.
    async fn receive(&self, endpoint: &str, headers: &[(&str, &str)], body: String) -> u16 {
        let seed = body.bytes().fold(self.clock.now().0.unsigned_abs(), |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let secrets = MemorySecrets::default();
        secrets.put("ssm:/shared", "whsec_shared");
        let ingest = Ingest::new(
            self.store.clone(),
            self.queue.clone(),
            self.clock.clone(),
            SeededEntropy::seeded(seed),
            secrets,
            Arc::clone(&self.deployment),
        );
        let json = ("content-type", "application/json");
        let mut request = Request {
            method: "POST".to_owned(),
            path: format!("/webhooks/{endpoint}"),
            query: String::new(),
            headers: Headers::new(headers.iter().copied().chain([json])),
            body: body.into_bytes(),
        };
        let known = &self.deployment.config.endpoints[endpoint];
        let secret = Secret::new("whsec_shared").unwrap();
        let fresh = || "fresh".to_owned();
        let signed = sign(&known.vendor, &request, &secret, &known.params, self.clock.now(), fresh).unwrap();
        let present = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let signed = signed.into_iter().map(|(name, value)| (name, value.into_bytes()));
        request.headers = Headers::new(present.chain(signed));
        let addressed = Addressed {
            endpoint: endpoint.to_owned(),
            tenant: None,
            from: None,
            correlation: CorrelationId::new("c-1"),
            trace: None,
        };
        ingest.receive(&addressed, &request).await.status
    }

    /// Hands every visible letter to a processor of its own, once. Says what
    /// became of them.
    async fn process(&self) -> Vec<Disposition> {
        let processor = Processor::new(
            self.store.clone(),
            self.destination.clone(),
            WithSecrets { outbound: MemoryApi::default(), keeper: MemorySecrets::default() },
            self.clock.clone(),
            SeededEntropy::seeded(self.clock.now().0.unsigned_abs()),
            Arc::clone(&self.deployment),
        );
        let mut became = Vec::new();
        for letter in self.queue.receive(100) {
            let record = Record {
                message: letter.message,
                stamped_at: letter.sent_at,
                receive_count: letter.receive_count,
            };
            let disposition = processor.record(&record, Deadline::Unknown).await;
            if disposition == Disposition::Delete {
                assert!(self.queue.delete(letter.receipt));
            }
            became.push(disposition);
        }
        became
    }

    /// One run of the sweeper.
    async fn sweep(&self) -> Swept {
        let sweeper = Sweeper {
            store: self.store.clone(),
            queue: self.queue.clone(),
            clock: self.clock.clone(),
            deployment: Arc::clone(&self.deployment),
            pauses: Remembered::default(),
        };
        sweeper.run(self.clock.now().plus(Duration::from_secs(45))).await
    }

    /// The human says something about an event. Humans are slower than machines.
    async fn say(&self, id: &str, operator: &Operator) -> Said {
        self.clock.advance(Duration::from_secs(1));
        let word = Word { operator, who: &Who::from("alice"), why: "a test" };
        self.operate().say(&key(id), word).await.unwrap()
    }

    /// The human takes a conflicting content in the place of the first.
    async fn accept(&self, id: &str, hash: &EventHash) -> Said {
        self.clock.advance(Duration::from_secs(1));
        self.operate().accept(&self.event(id), hash, &Who::from("alice"), "a test").await.unwrap()
    }

    fn operate(&self) -> Operate<MemoryStore, MemoryQueue, VirtualClock> {
        Operate {
            store: self.store.clone(),
            queue: self.queue.clone(),
            clock: self.clock.clone(),
            deployment: Arc::clone(&self.deployment),
        }
    }

    fn event(&self, id: &str) -> Event {
        self.store.look(|tables| tables.event(&key(id)).cloned().unwrap())
    }

    fn action(&self, id: &str) -> Action {
        let key = self.event(id).progress.action.unwrap();
        self.store.look(|tables| tables.action(&key).cloned().unwrap())
    }

    /// What is on record of an event: what was said, and by whom.
    fn record(&self, id: &str) -> Vec<(String, String)> {
        let history = self.store.look(|tables| tables.history(&key(id)).cloned().unwrap_or_default());
        history.decisions.iter().map(|decided| (decided.what.clone(), decided.who.to_string())).collect()
    }
}

fn key(id: &str) -> EventKey {
    EventKey::new(&DedupScope("shop".to_owned()), None, &[Some(id)])
}

fn again() -> Operator {
    Operator::Again { owner: OwnerNonce::from("human-1") }
}
