//! The vendor's own list of its events beside what was received: what never
//! arrived is taken in once, whoever else brings it, and nothing else is.

mod list;

use super::*;
use sekali::ids::Tenant;
use sekali::operate::Erased;
use sekali::ports::{NotGot, QueueError};
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::Slug;
use sekali::reconcile::{
    Bring, Brought, Compare, Found, LONGEST_WAIT, Listed, NotBrought, NotCompared, NotListed, OnWhoseWord,
    Pages, Standing, Subject, Unproven,
};
use sekali::vendor::list::{BadPage, Window};
use sekali_tests::fault::{Ended, Exploration, Faults, Menu};
use sekali_tests::memory::{Expiry, got};
use std::cell::RefCell;

const LISTING: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["ssm:/shared"]
list = { secret = "ssm:/list", since = "2020-01-01" }
[[endpoint.shop.guard]]
livemode = true
answer = 200
[[endpoint.shop.rule]]
type = "payment.paid"
action.pack = { order = "/order", amount = "/amount" }

[endpoint.tenants]
vendor = "stripe"
secrets = ["ssm:/shared"]
tenant = "path"
list = { secret = "ssm:/tenants/{tenant}/list", since = "2020-01-01" }
[[endpoint.tenants.rule]]
type = "payment.paid"
when = { "header:X-Region" = "eu" }
action.pack = { order = "/order", amount = "/amount" }

[endpoint.hook]
vendor = "github"
secrets = ["ssm:/shared"]
[endpoint.hook.list]
secret = "ssm:/list"
since = "2020-01-01"
params = { owner = "example", repo = "shop", hook = "42" }
[[endpoint.hook.rule]]
type = "push"
action.build = { commit = "/after", delivery = "header:X-GitHub-Delivery" }

[action]
pack = { key = ["order"], to = "packing" }
build = { to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", timeout = "1s" }
"#;

const DAY: Duration = Duration::from_secs(86_400);
const HOOK: &str = "https://api.github.com/repos/example/shop/hooks/42/deliveries";

/// A receiver, the vendor's API, and how long whoever asks had to wait.
struct Desk {
    bench: Bench,
    api: MemoryApi,
    waited: RefCell<Vec<Duration>>,
}

/// An event as Stripe's list shows it: other spaces than a webhook's body.
fn paid(id: &str, order: &str, created: i64) -> String {
    format!(
        r#"{{ "id": "{id}", "object": "event", "type": "payment.paid", "created": {created}, "livemode": true, "order": "{order}", "amount": 10 }}"#
    )
}

fn stripe_page(events: &[String], more: bool) -> String {
    format!(r#"{{"object":"list","data":[{}],"has_more":{more}}}"#, events.join(","))
}

impl Desk {
    fn new() -> Self {
        Self { bench: Bench::with(LISTING), api: MemoryApi::default(), waited: RefCell::default() }
    }

    fn now(&self) -> i64 {
        self.bench.clock.now().0 / 1_000
    }

    fn window(&self) -> Window {
        let now = self.bench.clock.now();
        Window { from: now.minus(DAY * 100), until: now }
    }

    fn subject(&self, endpoint: &str) -> Subject<'_> {
        Subject::of(&self.bench.deployment.config.endpoints[endpoint], None).unwrap()
    }

    /// The first page of Stripe's list as it is asked now.
    fn first(&self) -> String {
        let window = self.window();
        format!(
            "https://api.stripe.com/v1/events?limit=100&created%5Bgte%5D={}&created%5Blte%5D={}",
            window.from.0.div_euclid(1_000),
            window.until.0.div_euclid(1_000)
        )
    }

    fn lists(&self, events: &[String]) {
        self.api.state(&self.first(), &stripe_page(events, false));
    }

    fn pages<'a>(&'a self, endpoint: &str) -> Pages<'a, MemoryApi, impl AsyncFn(Duration)> {
        let wait = async |wait: Duration| self.waited.borrow_mut().push(wait);
        let secret = Secret::new("invented").unwrap();
        Pages::new(&self.api, wait, self.subject(endpoint), &secret, self.window()).unwrap()
    }

    async fn compare(&self, endpoint: &str) -> Result<Found, NotCompared> {
        let entropy = SeededEntropy::seeded(7);
        let compare = Compare {
            store: &self.bench.store,
            entropy: &entropy,
            deployment: &self.bench.deployment,
            now: self.bench.clock.now(),
        };
        compare.all(self.subject(endpoint), &mut self.pages(endpoint), self.window(), 50).await
    }

    async fn found(&self, endpoint: &str) -> Found {
        self.compare(endpoint).await.unwrap()
    }

    async fn not_listed(&self) -> NotListed {
        match self.compare("shop").await {
            Err(NotCompared::List(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    async fn bring(&self, endpoint: &str, listed: &Listed) -> Result<Brought, NotBrought> {
        let bring = Bring {
            store: self.bench.store.clone(),
            queue: self.bench.queue.clone(),
            clock: self.bench.clock.clone(),
            entropy: SeededEntropy::seeded(self.bench.clock.now().0.unsigned_abs()),
            deployment: Arc::clone(&self.bench.deployment),
        };
        let request = self.pages(endpoint).content(&listed.entry).await.unwrap();
        let word = OnWhoseWord { who: &Who::from("alice"), why: "the gateway was down" };
        bring.bring(self.subject(endpoint), listed.key.as_ref().unwrap(), &request, word).await
    }

    /// Compares and takes in everything that never arrived.
    async fn ingest(&self, endpoint: &str) -> Vec<Brought> {
        let mut brought = Vec::new();
        for listed in self.found(endpoint).await.events {
            if listed.standing == Standing::NeverArrived {
                brought.push(self.bring(endpoint, &listed).await.unwrap());
            }
        }
        brought
    }
}

const KEPT: Brought = Brought::Kept { status: EventStatus::Received, sent: true };

#[tokio::test]
async fn what_never_arrived_is_taken_in_once_on_record_and_has_its_effect() {
    let desk = Desk::new();
    desk.bench.deliver("evt_1", "o-1", 10).await;
    desk.lists(&[paid("evt_2", "o-2", desk.now() - 60), paid("evt_1", "o-1", desk.now() - 90)]);
    let found = desk.found("shop").await;
    assert_eq!((found.counts["received"], found.counts["never arrived"], found.more), (1, 1, false));
    assert_eq!(found.events[0].id, "evt_2");

    assert_eq!(desk.ingest("shop").await, [KEPT]);
    assert_eq!(desk.bench.record("evt_2"), [("reconcile".to_owned(), "alice".to_owned())]);
    let event = desk.bench.event("evt_2");
    assert!(event.signature.is_of_list() && event.seen.deliveries == 1, "{event:?}");
    desk.bench.process().await;
    assert_eq!(desk.bench.event("evt_2").progress.status, EventStatus::Processed);

    assert_eq!(desk.ingest("shop").await, [], "the second time there is nothing to take in");
    desk.bench.process().await;
    assert_eq!(desk.bench.destination.calls().len(), 2);
    assert_eq!(desk.bench.record("evt_2").len(), 1);
}

#[tokio::test]
async fn a_webhook_that_comes_later_repeats_the_event_and_is_no_conflict() {
    for processed in [false, true] {
        let desk = Desk::new();
        desk.lists(&[paid("evt_1", "o-1", desk.now() - 60)]);
        assert_eq!(desk.ingest("shop").await, [KEPT]);
        if processed {
            desk.bench.process().await;
        }
        // Long enough for its message to count as lost.
        desk.bench.clock.advance(Duration::from_secs(3_600));
        for _ in 0..2 {
            assert_eq!(desk.bench.deliver("evt_1", "o-1", 10).await, 200);
        }
        desk.bench.process().await;
        let event = desk.bench.event("evt_1");
        assert_eq!((event.seen.deliveries, event.seen.conflicts), (3, 0));
        assert_eq!(event.progress.status, EventStatus::Processed);
        assert_eq!(desk.bench.destination.calls().len(), 1, "one effect (INV-2)");
    }
}

#[tokio::test]
async fn a_webhook_that_comes_between_looking_and_taking_in_wins() {
    let desk = Desk::new();
    desk.lists(&[paid("evt_1", "o-1", desk.now() - 60)]);
    let found = desk.found("shop").await;
    assert_eq!(desk.bench.deliver("evt_1", "o-1", 10).await, 202);
    let before = desk.bench.event("evt_1");
    let brought = desk.bring("shop", &found.events[0]).await;
    assert_eq!(brought, Ok(Brought::ArrivedMeanwhile(EventStatus::Received)));
    assert_eq!(desk.bench.event("evt_1"), before);
    assert_eq!(desk.bench.record("evt_1"), [], "nobody brought it");
    desk.bench.process().await;
    assert_eq!(desk.bench.destination.calls().len(), 1);
}

#[tokio::test]
async fn wherever_taking_in_breaks_off_the_next_run_or_the_sweeper_finishes_it() {
    let menu = Menu { pause: Duration::from_secs(1), permanent: false };
    let mut exploration = Exploration::of(menu, 2);
    let mut runs = 0;
    while let Some(schedule) = exploration.next_schedule() {
        let desk = Desk::new();
        desk.lists(&[paid("evt_1", "o-1", 1_799_999_940)]);
        let listed = desk.found("shop").await.events.remove(0);
        let faults = Faults::new(schedule.clone(), desk.bench.clock.clone());
        let worker = faults.worker("alice");
        let bring = Bring {
            store: worker.through(desk.bench.store.clone()),
            queue: worker.through(desk.bench.queue.clone()),
            clock: desk.bench.clock.clone(),
            entropy: SeededEntropy::seeded(1),
            deployment: Arc::clone(&desk.bench.deployment),
        };
        let request = desk.pages("shop").content(&listed.entry).await.unwrap();
        let word = OnWhoseWord { who: &Who::from("alice"), why: "x" };
        let key = listed.key.as_ref().unwrap();
        let ended = worker.run(bring.bring(desk.subject("shop"), key, &request, word)).await;
        exploration.learn(&schedule, &faults.log());

        // Whoever was frozen asks for another span of time.
        desk.lists(&[paid("evt_1", "o-1", 1_799_999_940)]);
        let again = desk.ingest("shop").await;
        assert!(again.is_empty() || again == [KEPT], "{schedule:?}: {again:?}");
        if matches!(ended, Ended::Finished(Ok(_))) {
            assert!(again.is_empty(), "{schedule:?}: what was said to be kept is there (INV-1)");
        }
        assert_eq!(desk.bench.record("evt_1").len(), 1, "{schedule:?}: on record once");
        // The message may never have been sent.
        desk.bench.clock.advance(Duration::from_secs(600));
        desk.bench.sweep().await;
        desk.bench.process().await;
        assert_eq!(desk.bench.event("evt_1").progress.status, EventStatus::Processed, "{schedule:?}");
        assert_eq!(desk.bench.destination.calls().len(), 1, "{schedule:?}");
        runs += 1;
    }
    assert!(runs > 20, "{runs}");
}

#[tokio::test]
async fn a_message_that_the_queue_refuses_is_sent_by_the_sweeper() {
    let desk = Desk::new();
    desk.lists(&[paid("evt_1", "o-1", desk.now() - 60)]);
    let listed = desk.found("shop").await.events.remove(0);
    let bring = Bring {
        store: desk.bench.store.clone(),
        queue: Refusing,
        clock: desk.bench.clock.clone(),
        entropy: SeededEntropy::seeded(1),
        deployment: Arc::clone(&desk.bench.deployment),
    };
    let request = desk.pages("shop").content(&listed.entry).await.unwrap();
    let word = OnWhoseWord { who: &Who::from("alice"), why: "x" };
    let brought = bring.bring(desk.subject("shop"), listed.key.as_ref().unwrap(), &request, word).await;
    assert_eq!(brought, Ok(Brought::Kept { status: EventStatus::Received, sent: false }));
    desk.bench.clock.advance(Duration::from_secs(600));
    desk.bench.sweep().await;
    desk.bench.process().await;
    assert_eq!(desk.bench.event("evt_1").progress.status, EventStatus::Processed);
}

struct Refusing;

impl sekali::ports::Queue for Refusing {
    async fn send(&self, _: &sekali::ports::Message) -> Result<(), QueueError> {
        Err(QueueError("refused by the test".to_owned()))
    }
}

#[tokio::test]
async fn content_that_was_lost_gives_way_to_that_of_a_verified_delivery() {
    let desk = Desk::new();
    desk.lists(&[paid("evt_1", "o-1", desk.now() - 60)]);
    assert_eq!(desk.ingest("shop").await, [KEPT]);
    let event = desk.bench.event("evt_1");
    desk.bench.store.tamper(|tables| tables.lose_payload(&event.key, &event.hash));
    assert_eq!(desk.bench.deliver("evt_1", "o-1", 10).await, 200);
    assert_ne!(desk.bench.event("evt_1").hash, event.hash, "it adopted the delivery's content");
    assert_eq!(desk.bench.deliver("evt_1", "o-1", 12).await, 200);
    assert_eq!(
        desk.bench.event("evt_1").seen.conflicts,
        2,
        "of two webhooks the second speaks against the first"
    );
    desk.bench.process().await;
    assert_eq!(desk.bench.event("evt_1").progress.status, EventStatus::Processed);
    assert_eq!(desk.bench.destination.calls().len(), 1);
}

// The webhook's body lies under a hash of its own.
#[tokio::test]
async fn what_a_webhook_left_of_a_listed_event_is_erased_with_it() {
    let desk = Desk::new();
    desk.lists(&[paid("evt_1", "o-1", desk.now() - 60)]);
    assert_eq!(desk.ingest("shop").await, [KEPT]);
    desk.bench.process().await;
    assert_eq!(desk.bench.deliver("evt_1", "o-1", 10).await, 200);
    let event = desk.bench.event("evt_1");
    let left = event.seen.repeated_as.clone().unwrap();
    assert_ne!(left, event.hash);
    let expiry = |hash| desk.bench.store.payload_expiry(&event.key, hash);
    assert_ne!((expiry(&event.hash), expiry(&left)), (Expiry::Absent, Expiry::Absent));
    assert_eq!(desk.bench.operate().erase(&event, &Who::from("alice"), "x").await, Ok(Erased::Wholly));
    assert_eq!((expiry(&event.hash), expiry(&left)), (Expiry::Absent, Expiry::Absent));
}

#[tokio::test]
async fn an_event_that_lacks_a_key_part_is_held_with_its_content_as_a_delivery_of_it_would_be() {
    let desk = Desk::new();
    desk.lists(&[paid("evt_1", "", desk.now() - 60)]);
    assert_eq!(desk.ingest("shop").await, [Brought::Kept { status: EventStatus::Held, sent: false }]);
    let event = desk.bench.event("evt_1");
    assert_eq!(event.progress.reason.map(|reason| reason.slug), Some(Slug::MissingKeyPart));
    // INV-9: what needs a human carries no TTL, nor does its content.
    assert_eq!(event.progress.expires, None);
    assert_eq!(desk.bench.store.payload_expiry(&event.key, &event.hash), Expiry::Kept);
}
