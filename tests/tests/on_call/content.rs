//! The content that counts brings its own facts: type, version and time, by
//! which rules are chosen and moves ordered.

use super::*;
use sekali::operate::Erased;
use sekali::protocol::event::EventStatus;
use sekali_tests::memory::Expiry;

const TWO_TYPES: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["ssm:/shared"]
versions = ["2026-01-01", "2026-02-01"]
resource.payment = "/order"
[[endpoint.shop.rule]]
type = "payment.paid"
status = "paid"
action.pack = { order = "/order" }
late = "skip"
[[endpoint.shop.rule]]
type = "payment.refunded"
status = "refunded"
[resource.payment]
order = "time"
moves = ["paid -> refunded"]
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", timeout = "1s" }
"#;

const VERSION: &str = "2026-01-01";

fn says(event_type: &str, order: &str, created: i64, version: &str) -> String {
    format!(
        r#"{{"id":"evt_1","object":"event","api_version":"{version}","type":"{event_type}","created":{created},"livemode":true,"order":"{order}"}}"#
    )
}

impl Bench {
    async fn hears(&self, event_type: &str, order: &str, created: i64) -> u16 {
        self.receive("shop", &[], says(event_type, order, created, VERSION)).await
    }

    /// A delivery whose payload never becomes durable.
    async fn hears_half(&self, event_type: &str, order: &str) {
        self.hears(event_type, order, 1_800_000_000).await;
        let event = self.event("evt_1");
        self.store.tamper(|tables| tables.lose_payload(&event.key, &event.hash));
    }

    /// Every resource as `status of key`, by the time that it was moved by.
    fn resources(&self) -> Vec<String> {
        self.store.look(|tables| {
            tables.resources().map(|resource| format!("{} by {}", resource.status, resource.order)).collect()
        })
    }

    /// What all actions together still hold of what was sent.
    fn bytes_left(&self) -> usize {
        self.store.look(|tables| tables.actions().map(|action| action.request.body.len()).sum())
    }

    fn conflict(&self) -> EventHash {
        self.event("evt_1").seen.conflict_hashes[0].clone()
    }
}

fn refused(said: &Said, why: &str) -> bool {
    matches!(said, Said::Refused(told) if told.contains(why))
}

/// The first delivery dies half way; the second, of the same id, says that the
/// payment was refunded. Nothing is packed for that.
#[tokio::test]
async fn an_adopted_content_is_put_to_the_rule_of_its_own_type() {
    let bench = Bench::with(TWO_TYPES);
    bench.hears_half("payment.paid", "o-1").await;
    let first = bench.event("evt_1");
    assert_eq!(bench.hears("payment.refunded", "o-2", 1_800_000_050).await, 200);
    let adopted = bench.event("evt_1");
    assert_ne!(adopted.hash, first.hash, "adopted");
    assert_eq!(adopted.event_type, Some("payment.refunded".into()));
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
    assert_eq!(bench.destination.calls(), []);
    assert_eq!(bench.resources(), ["refunded by time:1800000050000"]);
}

/// Rule, status and order are those of the content that was accepted.
#[tokio::test]
async fn an_accepted_content_is_put_to_the_rule_of_its_own_type() {
    let bench = Bench::with(TWO_TYPES);
    assert_eq!(bench.hears("payment.refunded", "o-1", 1_800_000_000).await, 202);
    bench.process().await;
    assert_eq!(bench.hears("payment.paid", "o-2", 1_800_000_050).await, 200);
    assert!(matches!(bench.accept("evt_1", &bench.conflict()).await, Said::Done { .. }));
    bench.process().await;
    let event = bench.event("evt_1");
    assert_eq!(event.progress.status, EventStatus::Processed);
    assert_eq!(event.event_type, Some("payment.paid".into()));
    assert_eq!(bench.destination.calls().len(), 1, "the paid order is packed");
    assert!(bench.resources().contains(&"paid by time:1800000050000".to_owned()));
}

/// By the old time the accepted refund would come before what was paid, and
/// would be late.
#[tokio::test]
async fn an_accepted_content_is_ordered_by_its_own_time() {
    let bench = Bench::with(TWO_TYPES);
    bench.hears("payment.refunded", "o-1", 1_700_000_000).await;
    bench.process().await;
    let paid = says("payment.paid", "o-2", 1_750_000_000, VERSION).replace("evt_1", "evt_2");
    bench.receive("shop", &[], paid).await;
    bench.process().await;
    bench.hears("payment.refunded", "o-2", 1_760_000_000).await;
    assert!(matches!(bench.accept("evt_1", &bench.conflict()).await, Said::Done { .. }));
    bench.process().await;
    assert!(bench.resources().contains(&"refunded by time:1760000000000".to_owned()));
}

// INV-7: what would have been held does not pass because the first did not
// need a human.
#[tokio::test]
async fn a_content_that_would_be_held_is_neither_adopted_nor_accepted() {
    let bench = Bench::with(TWO_TYPES);
    bench.hears_half("payment.paid", "o-1").await;
    let first = bench.event("evt_1");
    let unknown = says("payment.paid", "o-2", 1_800_000_050, "2099-01-01");
    // INV-1: nothing that is durable is what the event points to.
    assert_eq!(bench.receive("shop", &[], unknown).await, 503);
    let met = bench.event("evt_1");
    assert_eq!((met.facts(), met.progress), (first.facts(), first.progress));
    let other = bench.conflict();
    assert!(matches!(bench.store.payload_expiry(&met.key, &other), Expiry::At(_)));

    // At rest, where a human may take it.
    bench.store.tamper(|tables| tables.lose_payload(&first.key, &first.hash));
    for _ in 0..200 {
        bench.process().await;
        bench.clock.advance(Duration::from_secs(3_600));
        bench.sweep().await;
    }
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Failed);
    let said = bench.accept("evt_1", &other).await;
    assert!(refused(&said, "`versions`"), "{said:?}");
    assert_eq!(bench.record("evt_1"), []);

    // Once the endpoint knows that version, it may.
    let bench =
        Bench { deployment: Bench::with(&TWO_TYPES.replace("2026-02-01", "2099-01-01")).deployment, ..bench };
    assert!(matches!(bench.accept("evt_1", &other).await, Said::Done { .. }));
    bench.process().await;
    let event = bench.event("evt_1");
    assert_eq!(
        (event.progress.status, event.version.as_deref()),
        (EventStatus::Processed, Some("2099-01-01"))
    );
    assert_eq!(bench.destination.calls().len(), 1);
}

#[tokio::test]
async fn a_content_without_a_part_of_a_key_is_not_accepted() {
    let bench = Bench::with(TWO_TYPES);
    bench.hears("payment.paid", "o-1", 1_800_000_000).await;
    bench.process().await;
    assert_eq!(bench.hears("payment.paid", "", 1_800_000_050).await, 200);
    let said = bench.accept("evt_1", &bench.conflict()).await;
    assert!(refused(&said, "would be held"), "{said:?}");
}

#[tokio::test]
async fn a_content_whose_endpoint_is_gone_or_described_otherwise_is_not_accepted() {
    let bench = Bench::with(TWO_TYPES);
    bench.hears("payment.paid", "o-1", 1_800_000_000).await;
    bench.process().await;
    bench.hears("payment.paid", "o-2", 1_800_000_050).await;
    let before = bench.event("evt_1");
    let today = |endpoints: &str| Bench::with(endpoints).deployment;
    let gone = TWO_TYPES.replace("endpoint.shop", "endpoint.other");
    // Another vendor's description finds no event in it.
    let otherwise =
        TWO_TYPES.replace("vendor = \"stripe\"", "vendor = \"github\"").replace("\"time\"", "\"rank\"");
    let mut bench = bench;
    for (endpoints, why) in [(gone, "no longer in the configuration"), (otherwise, "does not tell")] {
        bench.deployment = today(&endpoints);
        let said = bench.accept("evt_1", &bench.conflict()).await;
        assert!(refused(&said, why), "{said:?}");
    }
    assert_eq!(bench.event("evt_1"), before);
}

#[tokio::test]
async fn a_guard_that_leaves_a_content_out_today_keeps_it_from_being_accepted() {
    let bench = Bench::with(TWO_TYPES);
    bench.hears("payment.paid", "o-1", 1_800_000_000).await;
    bench.process().await;
    bench.hears("payment.refunded", "o-1", 1_800_000_050).await;
    let guarded = TWO_TYPES.replace(
        "[resource.payment]",
        "[[endpoint.shop.guard]]\ntypes = [\"payment.paid\"]\nanswer = 403\n[resource.payment]",
    );
    let bench = Bench { deployment: Bench::with(&guarded).deployment, ..bench };
    let said = bench.accept("evt_1", &bench.conflict()).await;
    assert!(refused(&said, "guard"), "{said:?}");
}

// What was sent for an event before other content took its place is its content, too.
#[tokio::test]
async fn what_was_sent_before_another_content_was_accepted_is_erased_too() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-secret-1", 10).await;
    bench.process().await;
    bench.deliver("evt_1", "o-2", 99).await;
    assert!(matches!(bench.accept("evt_1", &bench.conflict()).await, Said::Done { .. }));
    bench.process().await;
    let event = bench.event("evt_1");
    assert_eq!((event.progress.status, event.progress.let_go.len()), (EventStatus::Processed, 1));
    let erased = bench.operate().erase(&event, &Who::from("alice"), "privacy").await;
    assert_eq!(erased, Ok(Erased::Wholly));
    assert_eq!((bench.destination.calls().len(), bench.bytes_left()), (2, 0));
}

// INV-8: none is forgotten for another.
#[tokio::test]
async fn an_event_lets_go_of_no_more_actions_than_it_remembers() {
    let mut bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    let forced = Operator::Replay { forced: true };
    for name in ["first", "second", "third"] {
        let today = ENDPOINTS
            .replace("action.pack", &format!("action.{name}"))
            .replace("pack = {", &format!("{name} = {{"));
        bench.deployment = Bench::with(&today).deployment;
        assert!(matches!(bench.say("evt_1", &forced).await, Said::Done { .. }), "{name}");
        bench.process().await;
        assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
    }
    assert_eq!(bench.event("evt_1").progress.let_go.len(), 3);
    let said = bench.say("evt_1", &forced).await;
    assert!(refused(&said, "let go of three"), "{said:?}");
    let erased = bench.operate().erase(&bench.event("evt_1"), &Who::from("alice"), "privacy").await;
    assert_eq!(erased, Ok(Erased::Wholly));
    assert_eq!((bench.destination.calls().len(), bench.bytes_left()), (4, 0));
}

// An action that another event began holds that event's content.
#[tokio::test]
async fn what_another_event_began_is_not_remembered_as_let_go() {
    let bench = Bench::new();
    bench.deliver("evt_0", "o-1", 10).await;
    bench.process().await;
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.deliver("evt_1", "o-2", 99).await;
    assert!(matches!(bench.accept("evt_1", &bench.conflict()).await, Said::Done { .. }));
    assert_eq!(bench.event("evt_1").progress.let_go, []);
}

const BUILDS: &str = r#"
[endpoint.shop]
vendor = "github"
secrets = ["ssm:/shared"]
[[endpoint.shop.rule]]
type = "push"
action.build = { repo = "/repository/full_name" }
[action]
build = { to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", timeout = "1s" }
"#;

/// The vendor says id and type in headers; of those what matters was stored.
#[tokio::test]
async fn a_type_that_is_said_in_a_header_goes_with_the_content_too() {
    let bench = Bench::with(BUILDS);
    let hears = async |event_type: &str, repo: &str| {
        let headers = [("X-GitHub-Event", event_type), ("X-GitHub-Delivery", "evt_1")];
        bench.receive("shop", &headers, format!(r#"{{"repository":{{"full_name":"{repo}"}}}}"#)).await
    };
    assert_eq!(hears("issues", "a/b").await, 202);
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Ignored);
    assert_eq!(hears("push", "c/d").await, 200);
    assert!(matches!(bench.accept("evt_1", &bench.conflict()).await, Said::Done { .. }));
    bench.process().await;
    assert_eq!(bench.event("evt_1").event_type, Some("push".into()));
    assert_eq!(bench.destination.calls().len(), 1);
}
