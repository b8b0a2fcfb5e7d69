//! A delivery with a known id and other content, judged by a human.

use super::*;
use sekali::protocol::action::ActionStatus;
use sekali::protocol::event::EventStatus;
use sekali_tests::memory::Expiry;

#[tokio::test]
async fn an_accepted_content_takes_the_place_of_the_first_and_goes_round() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    assert_eq!(bench.deliver("evt_1", "o-2", 99).await, 200);
    let before = bench.event("evt_1");
    let other = before.seen.conflict_hashes[0].clone();

    let said = bench.accept("evt_1", &other).await;
    assert!(matches!(said, Said::Done { sent: true, .. }), "{said:?}");
    let event = bench.event("evt_1");
    assert_eq!(event.hash, other);
    assert!(event.seen.conflict_hashes.iter().eq([&before.hash]));
    // INV-9: neither event nor content can expire while the event is open.
    assert_eq!(event.progress.expires, None);
    assert_eq!(bench.store.payload_expiry(&event.key, &other), Expiry::Kept);
    bench.process().await;

    let event = bench.event("evt_1");
    assert_eq!((event.progress.status, event.progress.generation.get()), (EventStatus::Processed, 2));
    assert_eq!(bench.destination.calls().len(), 2, "the other order is packed, too");
    assert!(String::from_utf8_lossy(&bench.destination.calls()[1].body).contains("o-2"));
    assert!(matches!(bench.store.payload_expiry(&event.key, &other), Expiry::At(_)));
    assert_eq!(bench.record("evt_1"), [("accept".to_owned(), "alice".to_owned())]);
}

#[tokio::test]
async fn an_accepted_content_that_names_the_same_action_meets_it_done() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.deliver("evt_1", "o-1", 99).await;
    let hash = bench.event("evt_1").seen.conflict_hashes[0].clone();
    assert!(matches!(bench.accept("evt_1", &hash).await, Said::Done { .. }));
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
    assert_eq!(bench.destination.calls().len(), 1, "INV-2: no second effect by itself");
    // To repeat it with the new content is a decision of its own.
    assert!(matches!(bench.say("evt_1", &again()).await, Said::Done { .. }));
    bench.process().await;
    assert_eq!(bench.action("evt_1").status, ActionStatus::Done);
    let calls = bench.destination.calls();
    assert!(String::from_utf8_lossy(&calls[1].body).contains("99"), "today's content is sent");
}

#[tokio::test]
async fn a_rejected_content_leaves_the_event_as_it_is_and_is_on_record() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.deliver("evt_1", "o-2", 99).await;
    let before = bench.event("evt_1");
    let hash = before.seen.conflict_hashes[0].clone();
    assert!(matches!(bench.say("evt_1", &Operator::Reject { hash: hash.clone() }).await, Said::Done { .. }));
    assert_eq!(bench.event("evt_1"), before);
    assert_eq!(bench.record("evt_1"), [("reject".to_owned(), "alice".to_owned())]);
    assert!(
        matches!(bench.accept("evt_1", &before.hash).await, Said::Refused(why) if why.contains("listed"))
    );
}

#[tokio::test]
async fn a_content_that_has_expired_is_not_accepted() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.deliver("evt_1", "o-2", 99).await;
    let event = bench.event("evt_1");
    let hash = event.seen.conflict_hashes[0].clone();
    bench.store.tamper(|tables| tables.lose_payload(&event.key, &hash));
    let said = bench.accept("evt_1", &hash).await;
    assert!(matches!(said, Said::Refused(why) if why.contains("no longer stored")), "{said:?}");
    assert_eq!(bench.event("evt_1"), event);
}

// INV-9: only what an event points to is kept for a human; what lost to it goes
// with the window, and nobody would find it otherwise.
#[tokio::test]
async fn the_other_contents_of_a_held_event_expire() {
    let bench = Bench::new();
    for amount in 10..14 {
        bench.deliver("evt_1", "", amount).await;
    }
    let event = bench.event("evt_1");
    assert_eq!((event.progress.status, event.seen.conflicts), (EventStatus::Held, 3));
    let expiry = |hash| bench.store.look(|tables| tables.payload_expiry(&event.key, hash));
    assert_eq!(expiry(&event.hash), Expiry::Kept);
    for hash in &event.seen.conflict_hashes {
        assert!(matches!(expiry(hash), Expiry::At(_)));
    }
}

#[tokio::test]
async fn a_repeat_that_todays_rules_would_hold_leaves_a_finished_events_payload_its_ttl() {
    let mut bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.deployment = Bench::with(&ENDPOINTS.replace("\"/order\"", "\"/order_id\"")).deployment;
    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(bench.deliver("evt_1", "o-1", 10).await, 200);
    let event = bench.event("evt_1");
    assert_eq!(event.progress.status, EventStatus::Processed);
    let expiry = bench.store.look(|tables| tables.payload_expiry(&event.key, &event.hash));
    assert!(matches!(expiry, Expiry::At(_)), "{expiry:?}");
}
