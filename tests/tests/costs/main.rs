//! What a delivery costs, counted on the wire and asserted exactly: requests,
//! write units, read units, and how many round trips wait for each other.

// The futures of both functions, within one another.
#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod delivery;
mod sizes;

use sekali::config::{Retentions, load};
use sekali::deployment::Deployment;
use sekali::http::{Headers, Request};
use sekali::ids::CorrelationId;
use sekali::ingest::answer::Answer;
use sekali::ingest::{Addressed, Ingest};
use sekali::ports::{Message, WithSecrets};
use sekali::process::{Deadline, Disposition, Processor, Record};
use sekali::secret::Secret;
use sekali::time::{Clock, UnixMillis};
use sekali::vendor::sign::sign;
use sekali_aws::{DynamoStore, SqsQueue, Tables};
use sekali_tests::bench::shop::{body, endpoints};
use sekali_tests::memory::{MemoryApi, MemoryDestination, MemorySecrets, SeededEntropy, VirtualClock};
use sekali_tests::metered::{Bill, Metered};
use std::sync::Arc;
use std::time::Duration;

const START: UnixMillis = UnixMillis(1_930_000_000_000);
const SECRET: &str = "whsec_invented_for_the_costs";

/// Ingest and processor on AWS with a meter.
struct Receiver {
    metered: Metered,
    clock: VirtualClock,
    deployment: Arc<Deployment>,
    ingest: Ingest<DynamoStore, SqsQueue, VirtualClock, SeededEntropy, MemorySecrets>,
    processor: Processor<
        DynamoStore,
        MemoryDestination,
        WithSecrets<MemoryApi, MemorySecrets>,
        VirtualClock,
        SeededEntropy,
    >,
}

impl Receiver {
    async fn start() -> Self {
        Self::on(Metered::start().await.unwrap())
    }

    fn on(metered: Metered) -> Self {
        let day = Duration::from_secs(24 * 3600);
        let config = load(("endpoints.toml", &endpoints(1, 1)), &[]).unwrap();
        let retentions = Retentions { queue: 4 * day, dlq: 14 * day };
        let deployment = Arc::new(Deployment { config, retentions, visibility: Duration::from_secs(360) });
        let aws = metered.aws().unwrap();
        let tables = ["sekali-events", "sekali-resources", "sekali-actions"].map(str::to_owned);
        let [events, resources, actions] = tables;
        let store = DynamoStore::new(aws.dynamodb(), Tables { events, resources, actions });
        let queue = SqsQueue::new(aws.sqs(), "https://sqs.us-east-1.amazonaws.com/000000000000/sekali");
        let (clock, entropy, secrets) =
            (VirtualClock::at(START), SeededEntropy::seeded(1), MemorySecrets::default());
        secrets.put("env:STRIPE_WEBHOOK_SECRET", SECRET);
        let destination = MemoryDestination::honouring_keys_for(day, clock.clone());
        let processor = Processor::new(
            store.clone(),
            destination,
            WithSecrets { outbound: MemoryApi::default(), keeper: secrets.clone() },
            clock.clone(),
            entropy.clone(),
            Arc::clone(&deployment),
        );
        let ingest = Ingest::new(store, queue, clock.clone(), entropy, secrets, Arc::clone(&deployment));
        Self { metered, clock, deployment, ingest, processor }
    }

    /// Delivers a body, signed now.
    async fn deliver(&self, body: Vec<u8>) -> Answer {
        self.deliver_signed_as(body.clone(), body).await
    }

    /// Delivers a body under the signature of another one.
    async fn deliver_signed_as(&self, signed: Vec<u8>, body: Vec<u8>) -> Answer {
        let endpoint = &self.deployment.config.endpoints["stripe"];
        let mut request = Request {
            method: "POST".to_owned(),
            path: "/webhooks/stripe".to_owned(),
            query: String::new(),
            headers: Headers::new([("content-type", "application/json")]),
            body: signed,
        };
        let secret = Secret::new(SECRET).unwrap();
        let fresh = || "fresh".to_owned();
        let signed = sign(&endpoint.vendor, &request, &secret, &endpoint.params, self.clock.now(), fresh);
        let signed = signed.unwrap().into_iter().map(|(name, value)| (name, value.into_bytes()));
        let known = [("content-type".to_owned(), b"application/json".to_vec())];
        request.headers = Headers::new(known.into_iter().chain(signed));
        request.body = body;
        let addressed = Addressed {
            endpoint: "stripe".to_owned(),
            tenant: None,
            from: None,
            // As API Gateway draws it.
            correlation: CorrelationId::new("JKJaXmPLvHcESHA="),
            trace: None,
        };
        self.ingest.receive(&addressed, &request).await
    }

    /// Hands every message to the processor; each must be done with.
    async fn process(&self) {
        for sent in self.metered.take_sent() {
            self.hand_over(serde_json::from_str(sent.body()).unwrap()).await;
        }
    }

    async fn hand_over(&self, message: Message) {
        let record = Record { message, stamped_at: self.clock.now(), receive_count: 1 };
        let deadline = Deadline::At(self.clock.now().plus(Duration::from_secs(60)));
        let ends = self.processor.batch(std::slice::from_ref(&record), deadline).await;
        assert_eq!(ends, [Disposition::Delete]);
    }

    /// What `work` adds to the bill.
    async fn bill_of<T>(&self, work: impl Future<Output = T>) -> (T, Bill) {
        let before = self.metered.bill();
        let end = work.await;
        (end, self.metered.bill() - before)
    }
}

/// A checkout session as Stripe sends one, of about 2 KB.
fn paid(event: &str, order: &str) -> Vec<u8> {
    body("checkout.session.completed", event, order, START.0 / 1_000, 0)
}

/// A refund, of about the same size.
fn refunded(event: &str, order: &str) -> Vec<u8> {
    body("charge.refunded", event, order, START.0 / 1_000, 0)
}
