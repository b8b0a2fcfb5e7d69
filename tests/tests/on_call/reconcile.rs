//! The vendor's own list of its events beside what was received: what never
//! arrived is taken in once, whoever else brings it, and nothing else is.

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

#[tokio::test]
async fn what_cannot_be_proved_missing_is_never_called_missing() {
    let desk = Desk::new();
    let window = desk.bench.deployment.limits(&"shop".into()).window;
    let seconds = i64::try_from(window.as_secs()).unwrap();
    let hour = 3_600;
    let test_mode = paid("evt_test", "o", desk.now()).replace("true", "false");
    let untyped = paid("evt_typed", "o", desk.now()).replace("payment.paid", "payout.paid");
    let timeless = paid("evt_timeless", "o", 0).replace("\"created\": 0", "\"created\": null");
    let nameless = paid("evt_nameless", "o", desk.now()).replace("evt_nameless", "");
    desk.lists(&[
        paid("evt_young", "o", desk.now() - seconds + hour + 1),
        paid("evt_old", "o", desk.now() - seconds + hour),
        timeless,
        nameless,
        test_mode,
        untyped,
    ]);
    let found = desk.found("shop").await;
    let standings: Vec<_> =
        found.events.iter().map(|listed| (listed.id.as_str(), &listed.standing)).collect();
    assert_eq!(
        standings[..3],
        [
            ("evt_young", &Standing::NeverArrived),
            ("evt_old", &Standing::Unproven(Unproven::Expired)),
            ("evt_timeless", &Standing::Unproven(Unproven::NoTime)),
        ]
    );
    assert!(
        matches!(standings[3..], [("", Standing::Unreadable(why))] if why.contains("no_event_id")),
        "{standings:?}"
    );
    assert_eq!((found.counts["filtered"], found.counts["no rule"]), (1, 1));
    assert_eq!(desk.ingest("shop").await, [KEPT], "only what never arrived");
}

// Whoever received it before, or under another name, may have acted on it.
#[tokio::test]
async fn what_is_from_before_this_receiver_is_never_called_missing() {
    // It is 2027-01-15T08:00:00Z.
    let an_hour_ago = LISTING.replace("2020-01-01", "2027-01-15T07:00:00Z");
    let desk = Desk { bench: Bench::with(&an_hour_ago), ..Desk::new() };
    let now = desk.now();
    desk.lists(&[paid("evt_2", "o-2", now - 3_600), paid("evt_1", "o-1", now - 3_601)]);
    let found = desk.found("shop").await;
    assert_eq!(found.events[0].standing, Standing::NeverArrived);
    assert_eq!(found.events[1].standing, Standing::Unproven(Unproven::BeforeUs));
    assert_eq!(desk.ingest("shop").await, [KEPT]);
}

#[tokio::test]
async fn pages_are_read_to_the_end_and_a_busy_vendor_is_waited_for() {
    let desk = Desk::new();
    let second = format!("{}&starting_after=evt_1", desk.first());
    let wait =
        |seconds| Ok(sekali::ports::Got { retry_after: Some(Duration::from_secs(seconds)), ..got(429, "") });
    desk.api.once(&desk.first(), wait(7));
    desk.api.once(&desk.first(), Err(NotGot::Unknown("broken".to_owned())));
    desk.api.state(&desk.first(), &stripe_page(&[paid("evt_1", "o-1", desk.now())], true));
    desk.api.once(&second, Ok(got(503, "")));
    desk.api.state(&second, &stripe_page(&[paid("evt_2", "o-2", desk.now())], false));
    let found = desk.found("shop").await;
    assert_eq!((found.pages, found.counts["never arrived"]), (2, 2));
    assert_eq!(*desk.waited.borrow(), [7, 2, 1].map(Duration::from_secs));
    let asked = desk.api.asked();
    assert!(
        asked
            .iter()
            .all(|asked| asked.headers == [("authorization".to_owned(), "Bearer invented".to_owned())])
    );
}

#[tokio::test]
async fn patience_ends_and_nothing_is_called_missing_then() {
    let desk = Desk::new();
    let busy = sekali::ports::Got { retry_after: Some(Duration::from_secs(1)), ..got(429, "") };
    desk.api.answer(&desk.first(), Ok(busy.clone()));
    assert_eq!(desk.not_listed().await, NotListed::Answered(429));
    assert_eq!(desk.waited.borrow().len(), 4);
    let long = LONGEST_WAIT + Duration::from_secs(1);
    for (answer, error) in [
        (sekali::ports::Got { retry_after: Some(long), ..got(403, "") }, NotListed::Busy(long)),
        (got(401, ""), NotListed::Denied(401)),
        (got(403, ""), NotListed::Denied(403)),
        (got(404, ""), NotListed::NotThere),
        (got(302, ""), NotListed::Answered(302)),
        (got(200, "<html>maintenance</html>"), NotListed::Bad(BadPage::NotJson)),
        (got(200, r#"{"error":{}}"#), NotListed::Bad(BadPage::NoList("/data".to_owned()))),
    ] {
        desk.api.answer(&desk.first(), Ok(answer));
        assert_eq!(desk.not_listed().await, error);
    }
    let circle = stripe_page(&[paid("evt_1", "o", desk.now())], true);
    desk.api.state(&desk.first(), &circle);
    desk.api.state(&format!("{}&starting_after=evt_1", desk.first()), &circle);
    assert_eq!(desk.not_listed().await, NotListed::Circle);
}

#[tokio::test]
async fn an_empty_list_is_nothing_and_no_error() {
    let desk = Desk::new();
    desk.lists(&[]);
    let found = desk.found("shop").await;
    assert!(found.counts.is_empty() && found.events.is_empty() && !found.more && found.pages == 1);
}

fn sent(number: u32, guid: &str, at: &str) -> String {
    format!(r#"{{"id":{number},"guid":"{guid}","event":"push","action":null,"delivered_at":"{at}"}}"#)
}

/// Answers the hook's list in two pages, and each delivery's content.
fn lists_deliveries(desk: &Desk) {
    let (today, long_ago) = ("2027-01-15T07:00:00Z", "2026-09-01T00:00:00Z");
    let page = |events: &[String], next: Option<&str>| {
        let link = next.map(|next| format!("<{HOOK}?per_page=100>; rel=\"first\", <{next}>; rel=\"next\""));
        Ok(sekali::ports::Got { link, ..got(200, &format!("[{}]", events.join(","))) })
    };
    let (first, second) = (format!("{HOOK}?per_page=100"), format!("{HOOK}?per_page=100&cursor=v1_2"));
    let third = format!("{HOOK}?per_page=100&cursor=v1_3");
    // Sent twice, the newest first; the third page is never needed.
    desk.api.answer(&first, page(&[sent(3, "g-1", today), sent(2, "g-2", today)], Some(&second)));
    desk.api.answer(&second, page(&[sent(1, "g-1", long_ago)], Some(&third)));
    for (number, guid) in [(3, "g-1"), (2, "g-other")] {
        let told = format!(
            r#"{{"id":{number},"request":{{"headers":{{"X-GitHub-Delivery":"{guid}","X-GitHub-Event":"push"}},"payload":{{"ref":"refs/heads/main", "after":"c-1"}}}}}}"#
        );
        desk.api.state(&format!("{HOOK}/{number}"), &told);
    }
}

#[tokio::test]
async fn deliveries_of_a_hook_are_one_event_each_and_their_content_is_read_below_the_list() {
    let desk = Desk::new();
    lists_deliveries(&desk);
    let found = desk.found("hook").await;
    assert_eq!((found.counts["never arrived"], found.pages), (2, 2), "{found:?}");
    assert!(!desk.api.asked().iter().any(|asked| asked.url.ends_with("v1_3")), "older than was asked for");

    assert_eq!(desk.bring("hook", &found.events[0]).await, Ok(KEPT));
    let another = desk.bring("hook", &found.events[1]).await;
    assert_eq!(another, Err(NotBrought::AnotherEvent), "the list says g-2, and the content is another's");
    desk.bench.process().await;
    let calls = desk.bench.destination.calls();
    let body = String::from_utf8_lossy(&calls[0].body).into_owned();
    assert!(calls.len() == 1 && body.contains("c-1") && body.contains("g-1"), "{body}");
}

#[tokio::test]
async fn a_delivery_may_be_the_repeat_of_an_event_whose_record_has_expired() {
    let desk = Desk::new();
    let window = desk.bench.deployment.limits(&"hook".into()).window;
    // The vendor's people repeat what is up to seven days old.
    let proved = window - DAY * 7 - Duration::from_secs(3_600);
    let now = desk.bench.clock.now();
    let at = |age: Duration| sekali::instant::Instant(now.minus(age)).to_string();
    let page = [sent(2, "g-young", &at(proved - Duration::from_secs(1))), sent(1, "g-old", &at(proved))];
    desk.api.state(&format!("{HOOK}?per_page=100"), &format!("[{}]", page.join(",")));
    let events = desk.found("hook").await.events;
    assert_eq!(events[0].standing, Standing::NeverArrived);
    assert_eq!(events[1].standing, Standing::Unproven(Unproven::Expired));
}

#[test]
fn an_endpoint_that_reads_what_the_list_does_not_say_is_named_with_the_place() {
    let config = load(("endpoints.toml", LISTING), &[]).unwrap();
    let unsaid = |name: &str| {
        let places = sekali::ingest::listed::unsaid(&config.endpoints[name]);
        places.into_iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(unsaid("shop"), [""; 0]);
    assert_eq!(unsaid("hook"), [""; 0], "this list says the headers, too");
    assert_eq!(unsaid("tenants"), ["header:X-Region"]);
}

#[tokio::test]
async fn the_events_of_one_tenant_are_not_those_of_another() {
    let desk = Desk::new();
    let endpoint = &desk.bench.deployment.config.endpoints["tenants"];
    let (acme, other) = (Tenant::from("acme"), Tenant::from("other"));
    assert!(Subject::of(endpoint, None).unwrap_err().to_string().contains("--tenant"));
    let shop = &desk.bench.deployment.config.endpoints["shop"];
    assert!(Subject::of(shop, Some(&acme)).unwrap_err().to_string().contains("leave --tenant out"));
    desk.lists(&[paid("evt_1", "o-1", desk.now() - 60)]);
    let entropy = SeededEntropy::seeded(7);
    let mut keys = Vec::new();
    for tenant in [&acme, &other] {
        let subject = Subject::of(endpoint, Some(tenant)).unwrap();
        let secret = Secret::new("invented").unwrap();
        let wait = async |_: Duration| {};
        let mut pages = Pages::new(&desk.api, wait, subject, &secret, desk.window()).unwrap();
        let now = desk.bench.clock.now();
        let compare =
            Compare { store: &desk.bench.store, entropy: &entropy, deployment: &desk.bench.deployment, now };
        let found = compare.all(subject, &mut pages, desk.window(), 50).await.unwrap();
        keys.push(found.events[0].key.clone().unwrap());
    }
    assert_ne!(keys[0], keys[1], "INV-7");
}
