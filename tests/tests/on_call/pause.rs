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

    async fn resume(&self, per_minute: u32) {
        let pauses = self.store.pauses().await.unwrap();
        let drain = Drain { at: self.clock.now(), who: "alice".into(), per_minute };
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
