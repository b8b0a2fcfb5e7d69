//! A pause loses nothing, begins nothing, and makes nothing old (INV-1, INV-8).

use super::*;
use sekali::pause::Drain;
use sekali::ports::{PauseRecord, Write};
use sekali::protocol::event::EventStatus;
use sekali_tests::memory::Script;

const HOUR: Duration = Duration::from_secs(3600);

impl Bench {
    async fn pause(&self) {
        let pauses = self.store.pauses().await.unwrap();
        let to = pauses.pausing(&"shop".into(), &"alice".into(), "an outage", self.clock.now());
        assert_eq!(self.store.set_pauses(pauses.version, &to).await, Ok(Write::Applied));
    }

    /// So many events that were received and did not begin.
    async fn waiting(&self, many: usize) {
        for number in 0..many {
            assert_eq!(self.deliver(&format!("evt_{number}"), &format!("o-{number}"), 10).await, 202);
        }
        while !self.process().await.is_empty() {}
    }

    async fn resume(&self, per_minute: u32) {
        let pauses = self.store.pauses().await.unwrap();
        let drain = Drain { at: self.clock.now(), who: "alice".into(), per_minute, over: None };
        let to = pauses.resuming(&"shop".into(), drain).unwrap();
        assert_eq!(self.store.set_pauses(pauses.version, &to).await, Ok(Write::Applied));
    }

    /// Lets time pass, a minute at a time.
    async fn pass(&self, span: Duration) {
        let end = self.clock.now().plus(span);
        while self.clock.now() < end {
            self.clock.advance(Duration::from_secs(60));
            self.sweep().await;
            self.process().await;
        }
    }
}

#[tokio::test]
async fn deliveries_of_a_paused_endpoint_are_acknowledged_and_wait_for_longer_than_any_round() {
    let bench = Bench::new();
    bench.pause().await;
    assert_eq!(bench.deliver("evt_1", "o-1", 10).await, 202);
    assert_eq!(bench.process().await, [Disposition::Delete], "the sweeper brings it back");
    bench.pass(HOUR * 100).await;
    let event = bench.event("evt_1");
    assert_eq!(event.progress.status, EventStatus::Received);
    assert_eq!((event.progress.attempts, event.progress.sweeps), (0, 0), "waiting is neither");
    let now = bench.clock.now();
    assert!(event.progress.expires.is_none_or(|expires| expires.as_millis() > now), "INV-9");
    assert!(bench.destination.calls().is_empty());

    bench.resume(60).await;
    bench.pass(HOUR * 2).await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
    assert_eq!(bench.destination.calls().len(), 1);
}

#[tokio::test]
async fn an_action_that_is_ready_to_be_tried_again_waits_too() {
    let bench = Bench::new();
    bench.destination.script(Script::cannot_be_reached());
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.pause().await;
    bench.pass(HOUR * 80).await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processing);
    assert_eq!(bench.destination.calls().len(), 1);
    bench.resume(60).await;
    bench.pass(HOUR * 2).await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
}

#[tokio::test]
async fn what_waited_drains_at_the_chosen_rate_and_what_comes_then_goes_at_once() {
    let bench = Bench::new();
    bench.pause().await;
    for number in 0..30 {
        assert_eq!(bench.deliver(&format!("evt_{number}"), &format!("o-{number}"), 10).await, 202);
    }
    bench.process().await;
    bench.pass(HOUR).await;
    bench.resume(5).await;
    assert_eq!(bench.deliver("evt_new", "o-new", 10).await, 202);
    bench.process().await;
    assert_eq!(bench.event("evt_new").progress.status, EventStatus::Processed);
    let mut most = 0;
    for _ in 0..120 {
        bench.clock.advance(Duration::from_secs(60));
        let before = bench.destination.calls().len();
        bench.sweep().await;
        bench.process().await;
        most = most.max(bench.destination.calls().len() - before);
    }
    assert_eq!(bench.destination.calls().len(), 31, "nothing is lost");
    assert!((1..=5).contains(&most), "{most} in one minute");
}

#[tokio::test]
async fn two_humans_who_pause_at_once_do_not_undo_each_other() {
    let bench = Bench::new();
    let seen = bench.store.pauses().await.unwrap();
    bench.pause().await;
    let stale = seen.pausing(&"stripe".into(), &"bob".into(), "another", bench.clock.now());
    assert_eq!(bench.store.set_pauses(seen.version, &stale).await, Ok(Write::Refused));
}

/// How many events stand so.
fn standing(bench: &Bench, status: EventStatus) -> usize {
    bench.store.look(|tables| tables.events().filter(|event| event.progress.status == status).count())
}

const SHORT_WINDOW: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["ssm:/shared"]
dedup_window = "40h"
[[endpoint.shop.rule]]
type = "payment.paid"
action.pack = { order = "/order", amount = "/amount" }
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", timeout = "1s" }
"#;

// INV-1, INV-9: however far off the turn of an event is, its TTL does not come first.
#[tokio::test]
async fn an_event_whose_turn_comes_after_its_ttl_is_not_lost() {
    let mut bench = Bench::with(SHORT_WINDOW);
    let mut deployment = (*bench.deployment).clone();
    // The least that the template allows.
    deployment.retentions = Retentions { queue: HOUR, dlq: HOUR };
    bench.deployment = Arc::new(deployment);
    bench.pause().await;
    bench.waiting(100).await;
    bench.clock.advance(Duration::from_secs(600));
    bench.resume(1).await;
    // A sweeper that comes twice in an hour: the last has its turn in 50 hours.
    for _ in 0..110 {
        bench.sweep().await;
        bench.process().await;
        bench.store.look(|tables| {
            let (now, open) = (bench.clock.now(), [EventStatus::Received, EventStatus::Processing]);
            let open = tables.events().filter(|event| open.contains(&event.progress.status));
            let mut lost =
                open.filter(|event| event.progress.expires.is_some_and(|at| at.as_millis() <= now));
            assert_eq!(lost.next(), None, "an acknowledged event is open and past its TTL");
        });
        bench.clock.advance(Duration::from_secs(1800));
    }
    assert_eq!(standing(&bench, EventStatus::Processed), 100);
}

// INV-8: to wait for one's turn is no attempt and reaches no bound.
#[tokio::test]
async fn what_drains_for_longer_than_a_round_lasts_is_still_tried() {
    let bench = Bench::new();
    bench.pause().await;
    bench.waiting(100).await;
    bench.clock.advance(HOUR);
    bench.resume(1).await;
    // A sweeper that comes once an hour: the last has its turn in 100 hours.
    for _ in 0..105 {
        bench.sweep().await;
        bench.process().await;
        bench.clock.advance(HOUR);
    }
    assert_eq!(standing(&bench, EventStatus::Processed), 100);
    // And then the drain is over.
    assert!(!bench.store.pauses().await.unwrap().endpoints["shop"].holds_back());
}

#[tokio::test]
async fn a_faster_drain_brings_forward_what_waits_for_its_turn() {
    let bench = Bench::new();
    bench.pause().await;
    bench.waiting(200).await;
    bench.pass(HOUR).await;
    for (per_minute, gone) in [(1, 10), (1_000, 200)] {
        bench.resume(per_minute).await;
        bench.pass(Duration::from_secs(600)).await;
        assert_eq!(bench.destination.calls().len(), gone);
    }
}

#[tokio::test]
async fn what_was_received_during_a_short_pause_goes_within_a_minute_of_its_end_and_once() {
    let bench = Bench::new();
    bench.pause().await;
    bench.waiting(3).await;
    bench.resume(300).await;
    bench.pass(Duration::from_secs(60)).await;
    assert_eq!(bench.destination.calls().len(), 3);
    bench.deliver("evt_new", "o-new", 10).await;
    let purged = bench.queue.receive(10);
    assert!(purged.into_iter().all(|letter| bench.queue.delete(letter.receipt)));
    bench.pass(Duration::from_secs(120)).await;
    assert!(!bench.store.pauses().await.unwrap().endpoints["shop"].holds_back(), "nothing waits");
    assert_eq!(bench.event("evt_new").progress.sweeps, 0, "what came after it is swept as ever");
    assert_eq!(bench.destination.calls().len(), 3);
}
