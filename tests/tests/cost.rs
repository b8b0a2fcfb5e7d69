//! What `sekali cost` reckons with, counted: every delivery and every event
//! below goes through the real ingest and the real processor, over the store
//! in memory that keeps a ledger.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use sekali::config::{Retentions, load};
use sekali::deployment::Deployment;
use sekali::http::{Headers, Request};
use sekali::ids::CorrelationId;
use sekali::ingest::{Addressed, Ingest};
use sekali::ports::WithSecrets;
use sekali::process::{Deadline, Disposition, Processor, Record};
use sekali::protocol::event::EventStatus;
use sekali::secret::Secret;
use sekali::time::{Clock, UnixMillis};
use sekali::vendor::sign::sign;
use sekali_cli::cost::counted::{Counted, Step, StoredPayload};
use sekali_tests::memory::{
    Footprint, LineSettings, MemoryApi, MemoryDestination, MemoryQueue, MemorySecrets, MemoryStore,
    SeededEntropy, VirtualClock,
};
use std::sync::Arc;
use std::time::Duration;

const ENDPOINTS: &str = r#"
[endpoint.payments]
vendor = "stripe"
secrets = ["ssm:/shop"]
resource.payment = "/data/payment"
[[endpoint.payments.rule]]
type = "payment.authorized"
status = "authorized"
[[endpoint.payments.rule]]
type = "payment.paid"
status = "paid"
action.pack = { order = "/data/order" }
late = "act"
[endpoint.orders]
vendor = "stripe"
secrets = ["ssm:/shop"]
[[endpoint.orders.rule]]
type = "order.placed"
action.pack = { order = "/data/order" }
[resource.payment]
order = "time"
moves = ["authorized -> paid"]
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", honours_key_for = "24h", in_doubt = "retry" }
"#;

/// No rule here asks a vendor.
type Api = WithSecrets<MemoryApi, MemorySecrets>;

/// A receiver of which every write and read is counted.
struct Receiver {
    store: MemoryStore,
    queue: MemoryQueue,
    clock: VirtualClock,
    deployment: Arc<Deployment>,
    ingest: Ingest<MemoryStore, MemoryQueue, VirtualClock, SeededEntropy, MemorySecrets>,
    processor: Processor<MemoryStore, MemoryDestination, Api, VirtualClock, SeededEntropy>,
}

impl Receiver {
    fn new() -> Self {
        let clock = VirtualClock::at(UnixMillis(1_800_000_000_000));
        let line = LineSettings::default();
        let retentions = Retentions { queue: line.retention, dlq: line.dlq_retention };
        let config = load(("endpoints.toml", ENDPOINTS), &[]).unwrap();
        let deployment = Arc::new(Deployment { config, retentions, visibility: line.visibility });
        let (store, secrets) = (MemoryStore::default(), MemorySecrets::default());
        secrets.put("ssm:/shop", "whsec_invented");
        let queue = MemoryQueue::new(line, clock.clone());
        let entropy = SeededEntropy::seeded(1);
        let ingest = Ingest::new(
            store.clone(),
            queue.clone(),
            clock.clone(),
            entropy.fork(),
            secrets.clone(),
            Arc::clone(&deployment),
        );
        let processor = Processor::new(
            store.clone(),
            MemoryDestination::honouring_keys_for(Duration::from_secs(86_400), clock.clone()),
            WithSecrets { outbound: MemoryApi::default(), keeper: secrets },
            clock.clone(),
            entropy,
            Arc::clone(&deployment),
        );
        Self { store, queue, clock, deployment, ingest, processor }
    }

    /// What `work` costs.
    async fn counted(&self, work: impl Future<Output = ()>) -> Counted {
        let (before, letters) = (self.store.ledger().total(), self.queue.look(|line| line.waiting().count()));
        work.await;
        let after = self.store.ledger().total();
        let sent = self.queue.look(|line| line.waiting().count()).saturating_sub(letters);
        Counted {
            write_units: after.write_units - before.write_units,
            read_units: after.read_units - before.read_units,
            store_calls: after.calls - before.calls,
            sent: u64::try_from(sent).unwrap(),
        }
    }

    async fn deliver(&self, endpoint: &str, body: &[u8]) -> u16 {
        let addressed = Addressed {
            endpoint: endpoint.to_owned(),
            tenant: None,
            from: None,
            correlation: CorrelationId::new("0123456789abcdef0123456789abcdef"),
            trace: None,
        };
        let mut request = Request {
            method: "POST".to_owned(),
            path: format!("/webhooks/{endpoint}"),
            query: String::new(),
            headers: Headers::new([("content-type", "application/json")]),
            body: body.to_vec(),
        };
        let declared = &self.deployment.config.endpoints[endpoint];
        let secret = Secret::new("whsec_invented").unwrap();
        let signed =
            sign(&declared.vendor, &request, &secret, &declared.params, self.clock.now(), String::new)
                .unwrap();
        let known = [("content-type".to_owned(), "application/json".to_owned())];
        request.headers = Headers::new(known.into_iter().chain(signed));
        self.ingest.receive(&addressed, &request).await.status
    }

    /// Hands every letter over, one by one.
    async fn process(&self) {
        for letter in self.queue.receive(10) {
            let record = Record {
                message: letter.message,
                stamped_at: letter.sent_at,
                receive_count: letter.receive_count,
            };
            let deadline = Deadline::At(self.clock.now().plus(Duration::from_secs(60)));
            assert_eq!(self.processor.record(&record, deadline).await, Disposition::Delete);
            assert!(self.queue.delete(letter.receipt));
        }
    }
}

/// A body of so many bytes.
fn body(id: &str, event_type: &str, bytes: usize) -> Vec<u8> {
    let body = |note: &str| {
        format!(
            r#"{{"id":"{id}","type":"{event_type}","created":1800000000,"data":{{"payment":"pi_3N1x7Q2eZvKYlo2C","order":"order_{id}"}},"note":"{note}"}}"#
        )
    };
    let bare = body("").len();
    body(&"x".repeat(bytes - bare)).into_bytes()
}

/// An endpoint, an event type, what processing it is, and its end.
const KINDS: [(&str, &str, Step, EventStatus); 4] = [
    ("payments", "payment.authorized", Step::Status, EventStatus::Processed),
    ("payments", "payment.paid", Step::Effect, EventStatus::Processed),
    ("orders", "order.placed", Step::EffectAlone, EventStatus::Processed),
    ("orders", "order.forgotten", Step::NoRule, EventStatus::Ignored),
];

/// Every number that `sekali cost` reckons with, at sizes on both sides of a
/// started KB. Whoever makes a step dearer or cheaper changes it there.
#[tokio::test]
async fn every_step_costs_what_the_command_reckons_with() {
    for bytes in [300, 700, 900, 1_750, 1_900, 2_048, 5_000, 60_000] {
        let payload = StoredPayload { body: u64::try_from(bytes).unwrap() };
        for (endpoint, event_type, step, end) in KINDS {
            let receiver = Receiver::new();
            let body = body("evt_1N1x7Q2eZvKYlo2C", event_type, bytes);
            let delivered = async |status| assert_eq!(receiver.deliver(endpoint, &body).await, status);
            let what = format!("{event_type} with {bytes} bytes");
            assert_eq!(receiver.counted(delivered(202)).await, Step::New.counted(payload), "new: {what}");
            let repeated = Step::Repeated.counted(payload);
            assert_eq!(receiver.counted(delivered(200)).await, repeated, "repeated at once: {what}");
            let processed = receiver.counted(receiver.process()).await;
            // The pauses: read once in ten seconds, whatever a process does.
            let processed = Counted {
                read_units: processed.read_units - 1,
                store_calls: processed.store_calls - 1,
                sent: 0,
                ..processed
            };
            assert_eq!(processed, step.counted(payload), "processed: {what}");
            assert_eq!(receiver.counted(delivered(200)).await, repeated, "repeated later: {what}");
            let status = receiver.store.look(|tables| tables.events().next().unwrap().progress.status);
            assert_eq!(status, end, "{what}");
        }
    }
}

/// An event whose payload takes two units.
#[test]
fn an_event_costs_no_more_than_was_aimed_at() {
    let payload = StoredPayload { body: 1_800 };
    let units = |step: Step| step.counted(payload).write_units;
    assert_eq!(units(Step::New) + units(Step::Effect), 13);
    assert_eq!(units(Step::New) + units(Step::Status), 9);
    assert_eq!(units(Step::Repeated), 4);
}

/// The sizes of what stays are near enough for a bill: never less than they
/// are, and no more than a third above.
#[tokio::test]
async fn what_stays_stored_is_as_large_as_the_command_reckons_with() {
    for (endpoint, event_type, step, _) in KINDS {
        let receiver = Receiver::new();
        let body = body("evt_1N1x7Q2eZvKYlo2C", event_type, 1_500);
        assert_eq!(receiver.deliver(endpoint, &body).await, 202);
        receiver.process().await;
        let bytes = receiver.store.look(|tables| {
            let events = tables.events().map(|event| Footprint::of_event(event).bytes);
            let actions = tables.actions().map(|action| Footprint::of_action(action).bytes);
            let resources = tables.resources().map(|resource| Footprint::of_resource(resource).bytes);
            events.chain(actions).chain(resources).sum::<usize>()
        });
        let (bytes, reckoned) = (u64::try_from(bytes).unwrap(), Step::New.stored() + step.stored());
        assert!((bytes..=bytes * 4 / 3).contains(&reckoned), "{event_type}: {bytes}, reckoned {reckoned}");
    }
}
