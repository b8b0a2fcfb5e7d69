//! Batches: one event for each item, each with its own fate; acknowledged only
//! when every one of them is durable.

use super::*;
use futures_util::FutureExt;
use sekali::ids::EventType;
use sekali::ingest::MOST_EVENTS;
use sekali::key::{DedupScope, EventKey};
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::Slug;
use sekali_tests::fault::{Ended, Fault, Faults, Faulty, PortCall, Schedule, Trouble};
use std::collections::BTreeSet;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

/// A sender of batches: `{"account":..,"items":[..]}`.
const LOTS: &str = r#"confirmed = true
[[scheme]]
kind = "hmac"
alg = "sha256"
signature = { from = "header:Lots-Signature" }
message = "{body}"
[[event]]
each = "/items/*"
id = "/id"
type = "/type"
version = "/v?"
time = { from = "/at", unit = "s" }
scope = "shared:/account?"
required = "/at"
volatile = "/sent"
[retry]
horizon = "1d"
resend = "1d"
"#;

const ENDPOINT_SETTINGS: &str = r#"vendor = "lots"
secrets = ["ssm:/invented"]
"#;

fn bench_with(settings: &str, description: &str) -> Bench {
    let bench = Bench::at(NOW, settings, &[("vendors/lots.toml", description)]);
    bench.secrets.put(PLACE, SECRET);
    bench
}

fn bench() -> Bench {
    bench_with(ENDPOINT_SETTINGS, LOTS)
}

fn lots(description: &str) -> Vendor {
    Vendor::parse("lots", "vendors/lots.toml", description).unwrap()
}

fn item(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"paid","at":1799999999}}"#)
}

/// A signed batch of these items.
fn batch<T: AsRef<str>>(items: &[T]) -> Request {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    let body = format!(r#"{{"account":"acct_1","items":[{}]}}"#, items.join(","));
    signed(&lots(LOTS), &post("application/json", body), NOW)
}

fn batch_of(ids: &[&str]) -> Request {
    batch(&ids.iter().map(|id| item(id)).collect::<Vec<_>>())
}

fn ids(events: &[Event]) -> Vec<&str> {
    let mut ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn every_item_is_an_event_of_its_own() {
    let settings = format!(
        "{ENDPOINT_SETTINGS}resource.order = \"/order\"\n[[endpoint.in.rule]]\ntype = \"paid\"\nstatus = \"paid\"\naction.pack = {{ order = \"/order\", account = \"shared:/account\" }}\nlate = \"act\"\n[resource.order]\norder = \"time\"\nmoves = [\"open -> paid\"]\n[action]\npack = {{ to = \"packing\" }}\n[destination]\npacking = {{ http = \"https://packing.example.com\" }}\n"
    );
    let bench = bench_with(&settings, LOTS);
    let items = [
        r#"{"id":"a","type":"paid","at":1799999998,"order":"o1","sent":1}"#,
        r#"{"id":"b","type":"paid","at":1799999999,"order":null,"sent":1}"#,
        r#"{"id":"c","type":"other","at":1799999999.5}"#,
    ];
    let answer = bench.deliver(&batch(&items)).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let events = bench.events();
    assert_eq!(ids(&events), ["a", "b", "c"]);
    let named = |id: &str| events.iter().find(|event| event.id == id).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(named);
    assert_eq!(a.key, EventKey::new(&DedupScope(ENDPOINT.to_owned()), None, &[Some("a")]));
    assert_eq!(
        (a.occurred_at, c.occurred_at),
        (Some(UnixMillis(1_799_999_998_000)), Some(UnixMillis(1_799_999_999_500)))
    );
    assert_eq!(c.event_type, Some(EventType::from("other")));
    // Each rule looks at its own item: only the one without an order is held.
    assert_eq!(a.progress.status, EventStatus::Received);
    assert_eq!(b.progress.status, EventStatus::Held);
    assert_eq!(b.progress.reason.as_ref().map(|reason| reason.slug), Some(Slug::MissingKeyPart));
    // Stored is the item, and of the delivery around it what the rule reads.
    let payload = bench.store.look(|tables| tables.payload(&a.key, &a.hash).cloned()).unwrap();
    let (body, context) = payload.to_parts();
    assert_eq!(String::from_utf8_lossy(body), items[0]);
    assert_eq!(context, r#"{"shared:/account":"acct_1"}"#);
    assert_eq!(bench.queue.visible().len(), 2);
}

#[tokio::test]
async fn a_retry_regrouped_or_not_adds_only_what_is_missing() {
    let bench = bench();
    assert_eq!(bench.deliver(&batch_of(&["a", "b", "c"])).await.status, 202);
    assert_eq!(bench.deliver(&batch_of(&["a", "b", "c"])).await.status, 200);
    assert_eq!(bench.deliver(&batch_of(&["c", "d"])).await.status, 202);
    assert_eq!(bench.deliver(&batch_of(&["e", "b"])).await.status, 202);
    let again = r#"{"id":"a","type":"paid","at":1799999999,"sent":2}"#;
    let first = r#"{"id":"a","type":"paid","at":1799999999,"sent":1}"#;
    let events = bench.events();
    assert_eq!(ids(&events), ["a", "b", "c", "d", "e"]);
    let seen = |id: &str| events.iter().find(|event| event.id == id).unwrap().seen.deliveries;
    assert_eq!(["a", "b", "c", "d", "e"].map(seen), [2, 3, 3, 1, 1]);
    // What the vendor changes from delivery to delivery makes no other content.
    let bench = super::batch::bench();
    assert_eq!(bench.deliver(&batch(&[first])).await.status, 202);
    assert_eq!(bench.deliver(&batch(&[again])).await.status, 200);
    assert_eq!(bench.events()[0].seen.conflicts, 0);
}

#[tokio::test]
async fn the_same_id_twice_in_one_batch_is_one_event_and_other_content_a_conflict() {
    let bench = bench();
    let answer = bench.deliver(&batch_of(&["a", "a", "b"])).await;
    assert_eq!((answer.status, ids(&bench.events())), (202, vec!["a", "b"]));
    assert!(bench.events().iter().all(|event| event.seen.deliveries == 1));
    let other = r#"{"id":"c","type":"refunded","at":1799999999}"#.to_owned();
    let answer = bench.deliver(&batch(&[item("c"), other])).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let events = bench.events();
    let c = events.iter().find(|event| event.id == "c").unwrap();
    assert_eq!((c.seen.conflicts, &c.event_type), (1, &Some(EventType::from("paid"))));
}

// The first survivor would be the only one.
#[tokio::test]
async fn two_events_that_share_a_weak_id_are_both_kept() {
    let weak = LOTS.replace("id = \"/id\"", "id = \"/id\"\nidentity = \"weak\"");
    let bench = bench_with(ENDPOINT_SETTINGS, &weak);
    let items = [item("a"), r#"{"id":"a","type":"refunded","at":1799999999}"#.to_owned()];
    assert_eq!(bench.deliver(&batch(&items)).await.status, 202);
    assert_eq!(bench.deliver(&batch(&items)).await.status, 200);
    let events = bench.events();
    assert_eq!(ids(&events), ["a", "a"]);
    assert!(events.iter().all(|event| event.seen.deliveries == 2 && event.seen.conflicts == 0));
}

#[tokio::test]
async fn a_bad_item_is_held_and_the_others_go_their_way() {
    let refusing = format!("{ENDPOINT_SETTINGS}versions = [\"1\"]\nunknown_version = \"refuse\"\n");
    let bench = bench_with(&refusing, LOTS);
    let incomplete = r#"{"id":"b","type":"paid"}"#.to_owned();
    let newer = r#"{"id":"c","type":"paid","at":1799999999,"v":"2"}"#.to_owned();
    let answer = bench.deliver(&batch(&[item("a"), incomplete, newer.clone(), item("d")])).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let status = |id: &str| bench.events().iter().find(|event| event.id == id).unwrap().progress.status;
    let [a, b, c, d] = ["a", "b", "c", "d"].map(status);
    assert_eq!((a, d), (EventStatus::Received, EventStatus::Received));
    assert_eq!((b, c), (EventStatus::Held, EventStatus::Held));
    // Alone, the same item is refused: nobody else suffers from it.
    let bench = bench_with(&refusing, LOTS);
    assert_eq!(bench.deliver(&batch(&[newer])).await.status, 400);
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn an_item_that_nothing_identifies_refuses_the_delivery_since_it_could_not_even_be_held() {
    let bench = bench();
    for nobody in [r#"{"type":"paid","at":1}"#, r#"{"id":"","type":"paid","at":1}"#, "5", "null"] {
        let answer = bench.deliver(&batch(&[item("a").as_str(), nobody])).await;
        assert_eq!(answer.status, 400, "{nobody}: {answer:?}");
        assert!(bench.is_untouched(), "{nobody}");
    }
}

#[tokio::test]
async fn a_batch_without_items_is_refused_unless_the_vendor_sends_such() {
    let bench = bench();
    assert_eq!(bench.deliver(&batch::<&str>(&[])).await.status, 400);
    let allowing = bench_with(ENDPOINT_SETTINGS, &format!("{LOTS}[body]\nempty_batch = \"allow\"\n"));
    assert_eq!(allowing.deliver(&batch::<&str>(&[])).await.status, 200);
    assert!(bench.is_untouched() && allowing.is_untouched());
}

// INV-8: work is bounded, and what is beyond the bound is not half done.
#[tokio::test]
async fn more_events_than_one_delivery_may_carry_are_refused_whole() {
    let bench = bench();
    let items: Vec<String> = (0..=MOST_EVENTS).map(|number| item(&format!("n{number}"))).collect();
    let answer = bench.deliver(&batch(&items)).await;
    assert_eq!((answer.status, answer.body.contains("too_many_events")), (413, true));
    assert!(bench.is_untouched());
    assert_eq!(bench.deliver(&batch(&items[1..])).await.status, 202);
    assert_eq!(bench.events().len(), MOST_EVENTS);
}

type FaultyIngest =
    Ingest<Faulty<MemoryStore>, Faulty<MemoryQueue>, VirtualClock, SeededEntropy, MemorySecrets>;

/// The same bench as a worker sees it that meets these faults.
fn faulty(bench: &Bench, faults: &Faults, seed: u64) -> FaultyIngest {
    let worker = faults.worker("ingest");
    Ingest::new(
        worker.through(bench.store.clone()),
        worker.through(bench.queue.clone()),
        bench.clock.clone(),
        SeededEntropy::seeded(seed),
        bench.secrets.clone(),
        Arc::clone(&bench.deployment),
    )
}

// INV-1: a 2xx only when every item and its payload are durable.
#[test]
fn whatever_goes_wrong_at_one_call_the_retry_adds_what_is_missing_and_nothing_twice() {
    let delivery = batch_of(&["a", "b", "c", "d", "e"]);
    let quiet = bench();
    let faults = Faults::new(Schedule::quiet(), quiet.clock.clone());
    let answer = faulty(&quiet, &faults, 7).receive(&addressed(), &delivery).now_or_never().unwrap();
    assert_eq!(answer.status, 202);
    let points = faults.log();
    assert_eq!(points.len(), 15, "{points:#?}");
    for point in &points {
        for fault in [
            Fault::Refused(Trouble::Throttled),
            Fault::Refused(Trouble::Unanswered),
            Fault::AnswerLost,
            Fault::Repeated,
        ] {
            let bench = bench();
            let faults = Faults::new(Schedule::quiet().with(point.number, fault), bench.clock.clone());
            let answer = faulty(&bench, &faults, 7).receive(&addressed(), &delivery).now_or_never().unwrap();
            let case = format!("{fault:?} at {point:?}");
            // A queue that refuses leaves the event to the sweeper.
            let survives = fault == Fault::Repeated || point.call == PortCall::Send;
            assert_eq!(answer.status, if survives { 202 } else { 503 }, "{case}");
            let durable = |bench: &Bench| {
                let events = bench.events();
                let with_payload = events.iter().filter(|event| {
                    bench.store.look(|tables| tables.payload(&event.key, &event.hash).is_some())
                });
                (with_payload.count(), events.len())
            };
            let (_, events) = durable(&bench);
            assert!(events >= 4, "{case}: one call's fault concerns one item");
            let again = bench.deliver(&delivery).now_or_never().unwrap();
            assert!((200..300).contains(&again.status), "{case}: {again:?}");
            assert_eq!(durable(&bench), (5, 5), "{case}");
            let keys: BTreeSet<EventKey> = bench.events().into_iter().map(|event| event.key).collect();
            assert_eq!(keys.len(), 5, "{case}");
        }
    }
}

/// How long one call to the store or the queue takes.
const ROUND_TRIP: Duration = Duration::from_millis(10);

/// Polls until it is done; when nobody can go on, time passes until somebody
/// can.
fn run_in_time<T>(clock: &VirtualClock, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    // A call gives way twice and sleeps once.
    for _ in 0..100_000 {
        if let Poll::Ready(end) = work.as_mut().poll(&mut context) {
            return end;
        }
        if let Some(alarm) = clock.next_alarm() {
            clock.advance(alarm);
        }
    }
    panic!("it never ends");
}

#[test]
fn hundreds_of_items_are_durable_within_the_deadline_of_an_impatient_vendor() {
    let items: Vec<String> = (0..500).map(|number| item(&format!("n{number}"))).collect();
    let delivery = batch(&items);
    let bench = bench();
    let slow = (0..3 * items.len())
        .fold(Schedule::quiet(), |slow, point| slow.with(point, Fault::PauseBefore(ROUND_TRIP)));
    let faults = Faults::new(slow, bench.clock.clone()).interleaved();
    let ingest = faulty(&bench, &faults, 7);
    let worker = faults.worker("gateway");
    let began = bench.clock.now();
    let addressed = addressed();
    let ended = run_in_time(&bench.clock, worker.run(ingest.receive(&addressed, &delivery)));
    let Ended::Finished(answer) = ended else { panic!("it crashed") };
    assert_eq!(answer.status, 202, "{answer:?}");
    assert_eq!(bench.events().len(), 500);
    assert_eq!(faults.log().len(), 1_500, "payload, event and message of each item");
    let depth = bench.clock.now().since(began).as_millis() / ROUND_TRIP.as_millis();
    // One after the other it would be 1,500.
    assert!(depth <= 40, "{depth} round trips one after the other");
}
