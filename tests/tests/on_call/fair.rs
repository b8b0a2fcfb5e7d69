//! A sweeper that has less time than it has events comes to those of every
//! endpoint, and counts what needs a human (INV-1, INV-8).

use super::*;
use sekali::ports::{INDEX_SHARDS, PauseRecord, Write, index_shard};
use sekali::protocol::event::EventStatus;
use sekali::time::Monotonic;

/// The packing endpoint, and one that has nothing to do with it.
const TWO: &str = r#"
[endpoint.shop]
vendor = "stripe"
secrets = ["ssm:/shared"]
[[endpoint.shop.rule]]
type = "payment.paid"
action.pack = { order = "/order" }
[endpoint.other]
vendor = "stripe"
secrets = ["ssm:/shared"]
[[endpoint.other.rule]]
type = "payment.paid"
action.pack = { order = "/order" }
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", timeout = "1s" }
"#;

/// A clock by which every look at it takes a while: for a sweeper that looks at
/// about one event in a second.
#[derive(Clone)]
struct Ticking(VirtualClock);

impl Clock for Ticking {
    fn now(&self) -> UnixMillis {
        self.0.advance(Duration::from_millis(250));
        self.0.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.0.monotonic()
    }
}

impl Bench {
    /// One run of a sweeper that is slow, and the rest of its minute.
    async fn sweep_slowly(&self) -> Swept {
        let began = self.clock.now();
        let sweeper = Sweeper {
            store: self.store.clone(),
            queue: self.queue.clone(),
            clock: Ticking(self.clock.clone()),
            deployment: Arc::clone(&self.deployment),
            pauses: Remembered::default(),
        };
        let swept = sweeper.run(began.plus(Duration::from_secs(45))).await;
        self.clock.advance(began.plus(Duration::from_secs(60)).since(self.clock.now()));
        swept
    }

    fn purge(&self) {
        let letters = self.queue.receive(10_000);
        assert!(letters.into_iter().all(|letter| self.queue.delete(letter.receipt)));
    }
}

fn of_other(id: &str) -> EventKey {
    EventKey::new(&DedupScope("other".to_owned()), None, &[Some(id)])
}

/// An id of the other endpoint, in each shard of the index.
fn one_in_each_shard() -> Vec<String> {
    let in_shard = |shard| {
        let mut ids = (0..).map(|number| format!("lost_{number}"));
        ids.find(|id| index_shard(&of_other(id)) == shard).unwrap()
    };
    (0..INDEX_SHARDS).map(in_shard).collect()
}

#[tokio::test]
async fn a_paused_endpoint_that_is_busy_does_not_keep_the_sweeper_from_all_others() {
    let bench = Bench::with(TWO);
    let pauses = bench.store.pauses().await.unwrap();
    let to = pauses.pausing(&"shop".into(), &"alice".into(), "an outage", bench.clock.now());
    assert_eq!(bench.store.set_pauses(pauses.version, &to).await, Ok(Write::Applied));
    let lost = one_in_each_shard();
    for minute in 0..90 {
        // More than it can look at.
        for number in 0..60 {
            let id = format!("evt_{minute}_{number}");
            assert_eq!(bench.deliver(&id, &id, 10).await, 202);
        }
        bench.purge();
        if minute == 60 {
            for id in &lost {
                assert_eq!(bench.deliver_to("other", id, id, 10).await, 202);
            }
            bench.purge();
        }
        let swept = bench.sweep_slowly().await;
        assert!(swept.needs_human.iter().all(|(_, counted)| counted.is_some()), "{swept:?}");
        bench.process().await;
    }
    let status = |id: &String| {
        bench.store.look(|tables| tables.event(&of_other(id)).map(|event| event.progress.status))
    };
    let statuses: Vec<_> = lost.iter().map(status).collect();
    assert_eq!(statuses, [Some(EventStatus::Processed); INDEX_SHARDS as usize], "half an hour later");
}

#[tokio::test]
async fn whatever_others_heap_up_a_drain_goes_on() {
    let bench = Bench::with(TWO);
    let pauses = bench.store.pauses().await.unwrap();
    let to = pauses.pausing(&"shop".into(), &"alice".into(), "an outage", bench.clock.now());
    assert_eq!(bench.store.set_pauses(pauses.version, &to).await, Ok(Write::Applied));
    for number in 0..20 {
        let id = format!("evt_{number}");
        assert_eq!(bench.deliver(&id, &id, 10).await, 202);
    }
    bench.process().await;
    let pauses = bench.store.pauses().await.unwrap();
    let drain =
        sekali::pause::Drain { at: bench.clock.now(), who: "alice".into(), per_minute: 60, over: None };
    let to = pauses.resuming(&"shop".into(), drain).unwrap();
    assert_eq!(bench.store.set_pauses(pauses.version, &to).await, Ok(Write::Applied));
    for minute in 0..40 {
        // The queue refuses what comes at the other endpoint, more than can be swept.
        for number in 0..60 {
            let id = format!("refused_{minute}_{number}");
            assert_eq!(bench.deliver_to("other", &id, &id, 10).await, 202);
        }
        bench.purge();
        bench.sweep_slowly().await;
        bench.process().await;
    }
    let drained = bench.store.look(|tables| {
        let shop = tables.events().filter(|event| event.endpoint.as_str() == "shop");
        shop.filter(|event| event.progress.status == EventStatus::Processed).count()
    });
    assert_eq!(drained, 20);
}
