//! The sweeper finds whatever was left open (INV-1), once however many look,
//! and ends what nothing else ends (INV-8).

use super::deployment;
use sekali::ports::{INDEX_SHARDS, Message, Queue, QueueError};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use sekali::sweep::{Sweeper, Swept};
use sekali::time::{Clock, UnixMillis};
use sekali_tests::contract::sample::{NOW, Sample};
use sekali_tests::memory::{LineSettings, MemoryQueue, MemoryStore, VirtualClock};
use std::collections::BTreeSet;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// Events that are due, enough for several pages of each shard.
fn due(many: usize) -> MemoryStore {
    let (sample, store) = (Sample::new(), MemoryStore::default());
    for number in 0..many {
        store.tamper(|tables| tables.create_event(&sample.event(&format!("evt_{number}"))).unwrap());
    }
    store
}

fn queue(clock: &VirtualClock) -> MemoryQueue {
    let days = |days: u64| Duration::from_secs(days * 86_400);
    let settings = LineSettings {
        visibility: Duration::from_secs(360),
        max_receive_count: 20,
        retention: days(4),
        dlq_retention: days(14),
    };
    MemoryQueue::new(settings, clock.clone())
}

async fn sweep<Q: Queue>(store: &MemoryStore, queue: Q, clock: &VirtualClock, end: UnixMillis) -> Swept {
    let sweeper = Sweeper {
        store: store.clone(),
        queue,
        clock: clock.clone(),
        deployment: deployment(),
        pauses: sekali::pause::Remembered::default(),
    };
    sweeper.run(end).await
}

fn sent(queue: &MemoryQueue) -> Vec<Message> {
    queue.look(|line| line.waiting().map(|letter| letter.message.clone()).collect())
}

#[tokio::test]
async fn of_many_pages_every_event_is_sent_once_whoever_else_sweeps_by_an_old_index() {
    let many = usize::from(INDEX_SHARDS) * 120;
    let (store, clock) = (due(many), VirtualClock::at(NOW));
    let queue = queue(&clock);
    store.hold_index_back();
    let first = sweep(&store, queue.clone(), &clock, NOW.plus(HOUR)).await;
    assert_eq!((first.looked_at, first.sent, first.left), (many as u64, many as u64, 0));
    // The index still shows all of them as due.
    let second = sweep(&store, queue.clone(), &clock, NOW.plus(HOUR)).await;
    assert_eq!((second.looked_at, second.sent), (many as u64, 0));
    let events: BTreeSet<String> = sent(&queue).iter().map(|message| message.event.to_string()).collect();
    assert_eq!((events.len(), sent(&queue).len()), (many, many));
}

/// Each send takes a second.
#[derive(Clone)]
struct Slow(MemoryQueue, VirtualClock);

impl Queue for Slow {
    async fn send(&self, message: &Message) -> Result<(), QueueError> {
        self.1.advance(Duration::from_secs(1));
        self.0.send(message).await
    }
}

#[tokio::test]
async fn what_a_sweeper_has_no_time_for_is_left_to_the_next() {
    let (store, clock) = (due(30), VirtualClock::at(NOW));
    let queue = Slow(queue(&clock), clock.clone());
    let swept = sweep(&store, queue.clone(), &clock, NOW.plus(Duration::from_secs(10))).await;
    assert_eq!((swept.sent, swept.out_of_time), (10, true));
    let swept = sweep(&store, queue.clone(), &clock, NOW.plus(HOUR)).await;
    assert_eq!((swept.sent, swept.out_of_time), (20, false));
    assert_eq!(sent(&queue.0).len(), 30);
}

fn only(store: &MemoryStore) -> Event {
    store.look(|tables| tables.events().next().cloned()).unwrap()
}

/// Sweeps when the event is due next; the message that it sends is lost, or
/// kills whoever takes it. Returns what became of the event.
async fn sweep_in_vain(store: &MemoryStore, clock: &VirtualClock, queue: &MemoryQueue) -> Event {
    let due = only(store).progress.due.unwrap();
    clock.advance(due.since(clock.now()));
    sweep(store, queue.clone(), clock, clock.now().plus(HOUR)).await;
    for letter in queue.receive(10) {
        assert!(queue.delete(letter.receipt));
    }
    only(store)
}

#[tokio::test]
async fn an_event_whose_messages_are_purged_or_kill_their_worker_ends_at_the_bound_and_is_shown() {
    let (store, clock) = (due(1), VirtualClock::at(NOW));
    let queue = queue(&clock);
    let limits = deployment().limits(&only(&store).endpoint);
    let (mut sends, mut gaps) = (0, Vec::new());
    let failed = loop {
        let before = clock.now();
        let event = sweep_in_vain(&store, &clock, &queue).await;
        gaps.push(clock.now().since(before));
        if event.progress.status != EventStatus::Received {
            break event;
        }
        sends += 1;
        assert!(sends <= limits.sweeps, "sent for ever");
    };
    assert_eq!(sends, limits.sweeps);
    assert!(gaps.windows(2).skip(1).all(|pair| pair[0] <= pair[1]), "intervals grow: {gaps:?}");
    assert!(clock.now().since(NOW) < limits.age);
    assert_eq!(failed.progress.status, EventStatus::Failed);
    assert_eq!(failed.progress.reason.map(|reason| reason.slug), Some(Slug::BoundReached));
    // People find it, and nothing takes it away (INV-9).
    assert_eq!((failed.progress.expires, failed.progress.due), (None, Some(clock.now())));
}

#[tokio::test]
async fn an_event_that_nobody_ever_sent_is_sent_with_its_generation() {
    let (store, clock) = (due(1), VirtualClock::at(NOW));
    let queue = queue(&clock);
    sweep(&store, queue.clone(), &clock, NOW.plus(HOUR)).await;
    let event = only(&store);
    let [message] = &sent(&queue)[..] else { panic!("one message") };
    assert_eq!((&message.event, message.generation), (&event.key, event.progress.generation));
    assert_eq!((message.written_at, &message.correlation), (NOW, &event.correlation));
}
