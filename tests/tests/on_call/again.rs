//! An effect once more, and stored events through today's rules.

use super::*;
use sekali::ports::Store;
use sekali::protocol::action::ActionStatus;
use sekali::protocol::event::EventStatus;
use sekali_tests::memory::{Expiry, Script};

// INV-2: only a human begins another generation after `done`, under another key.
#[tokio::test]
async fn a_deliberate_repeat_is_the_next_generation_of_event_and_action_and_on_record() {
    let bench = Bench::new();
    assert_eq!(bench.deliver("evt_1", "o-1", 10).await, 202);
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);

    let Said::Done { event, sent } = bench.say("evt_1", &again()).await else { panic!("refused") };
    assert!(sent && event.progress.status == EventStatus::Received && event.progress.expires.is_none());
    // Said twice, it is not done twice.
    assert!(matches!(bench.say("evt_1", &again()).await, Said::Refused(_)));
    bench.process().await;

    let (event, action) = (bench.event("evt_1"), bench.action("evt_1"));
    assert_eq!((event.progress.status, event.progress.generation.get()), (EventStatus::Processed, 2));
    assert_eq!((action.status, action.generation.get()), (ActionStatus::Done, 2));
    assert!(event.progress.expires.is_some(), "finished, it may expire again");
    let calls = bench.destination.calls();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].key, calls[1].key);
    assert_eq!(bench.record("evt_1"), [("again".to_owned(), "alice".to_owned())]);
}

// INV-9: a worker that ended the second round stalls before its last call, and
// makes it in the third.
#[tokio::test]
async fn a_ttl_that_comes_late_for_one_round_leaves_the_payload_of_the_next_alone() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.say("evt_1", &again()).await;
    bench.process().await;
    let ended = bench.event("evt_1");
    assert!(matches!(bench.say("evt_1", &again()).await, Said::Done { .. }));

    let expiry = || bench.store.look(|tables| tables.payload_expiry(&ended.key, &ended.hash));
    let (round, expires) = (ended.progress.generation, ended.progress.expires.unwrap());
    bench.store.expire_payload(&ended.key, &ended.hash, round, expires).await.unwrap();
    assert_eq!(expiry(), Expiry::Kept);
    bench.process().await;
    assert!(matches!(expiry(), Expiry::At(_)), "the third round lets it go itself");
}

#[tokio::test]
async fn a_corrected_event_of_a_done_action_is_sent_once_somebody_says_so() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    bench.deliver("evt_2", "o-1", 12).await;
    bench.process().await;
    assert_eq!(bench.event("evt_2").progress.status, EventStatus::Processed);
    assert_eq!(bench.destination.calls().len(), 1, "the second event finds the action, and its result");

    assert!(matches!(bench.say("evt_2", &again()).await, Said::Done { .. }));
    bench.process().await;
    let calls = bench.destination.calls();
    let amounts: Vec<bool> =
        calls.iter().map(|call| String::from_utf8_lossy(&call.body).contains(r#""amount":12"#)).collect();
    assert_eq!(amounts, [false, true]);
    assert_ne!(calls[0].key, calls[1].key);
    assert_eq!(bench.record("evt_2"), [("again".to_owned(), "alice".to_owned())]);
}

// INV-4: what was done before the repeat is not undone by it.
#[tokio::test]
async fn an_event_that_waits_for_what_was_done_before_a_repeat_is_processed_and_not_failed() {
    let bench = Bench::new();
    bench.destination.script(Script::acts_and_is_not_heard());
    assert_eq!(bench.deliver("evt_1", "o-1", 10).await, 202);
    bench.process().await;
    assert_eq!(bench.deliver("evt_2", "o-1", 10).await, 202);
    bench.process().await;
    for id in ["evt_1", "evt_2"] {
        assert_eq!(bench.event(id).progress.status, EventStatus::InDoubt);
    }
    let evidence = sekali::protocol::action::EffectResult("task_9".to_owned());
    let happened = Operator::Happened { evidence, owner: OwnerNonce::from("human-2") };
    assert!(matches!(bench.say("evt_1", &happened).await, Said::Done { .. }));
    // The second has not followed yet when a human begins another, which is refused.
    assert!(matches!(bench.say("evt_1", &again()).await, Said::Done { .. }));
    bench.destination.script(Script::rejects());
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Failed);

    bench.clock.advance(Duration::from_secs(3600));
    bench.sweep().await;
    assert_eq!(bench.event("evt_2").progress.status, EventStatus::Processed);
}

#[tokio::test]
async fn what_is_under_way_failed_held_or_in_doubt_is_not_repeated() {
    let bench = Bench::new();
    assert_eq!(bench.deliver("evt_1", "o-1", 10).await, 202);
    assert_eq!(bench.say("evt_1", &again()).await, Said::Refused("the event is still under way"));
    bench.destination.script(Script::rejects());
    bench.process().await;
    assert_eq!(bench.say("evt_1", &again()).await, Said::Refused("the event failed: redrive it"));
    assert_eq!(bench.say("evt_9", &again()).await, Said::Refused("there is no such event"));
    bench.destination.script(Script::is_silent());
    bench.deliver("evt_2", "o-2", 10).await;
    bench.process().await;
    assert!(matches!(bench.say("evt_2", &again()).await, Said::Refused(why) if why.contains("resolve")));
    assert_eq!(bench.record("evt_1"), []);
}

#[tokio::test]
async fn a_replay_keeps_the_action_and_a_forced_one_lets_go_of_it() {
    let bench = Bench::new();
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    let kept = bench.say("evt_1", &Operator::Replay { forced: false }).await;
    assert!(matches!(kept, Said::Done { .. }));
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
    assert_eq!(bench.destination.calls().len(), 1, "it met its own action, which is done");

    let forced = bench.say("evt_1", &Operator::Replay { forced: true }).await;
    let Said::Done { event, .. } = forced else { panic!("{forced:?}") };
    assert_eq!(event.progress.action, None);
    bench.process().await;
    let event = bench.event("evt_1");
    assert_eq!((event.progress.status, event.progress.generation.get()), (EventStatus::Processed, 3));
    assert_eq!(bench.destination.calls().len(), 1, "today's rules name the same action, which is done");
    let said: Vec<String> = bench.record("evt_1").into_iter().map(|(what, _)| what).collect();
    assert_eq!(said, ["replay", "forced replay"]);
}

#[tokio::test]
async fn a_failed_event_goes_round_again_and_its_queue_may_refuse() {
    let bench = Bench::new();
    bench.destination.script(Script::rejects());
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    assert!(matches!(bench.say("evt_1", &Operator::Redrive).await, Said::Done { sent: true, .. }));
    assert!(matches!(bench.say("evt_1", &Operator::Redrive).await, Said::Refused(_)));
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Processed);
    assert_eq!(bench.destination.calls().len(), 2);
}

// People's machines have clocks of their own.
#[tokio::test]
async fn a_redrive_from_a_machine_whose_clock_is_slow_acts_all_the_same() {
    let bench = Bench::new();
    bench.destination.script(Script::rejects());
    bench.deliver("evt_1", "o-1", 10).await;
    bench.process().await;
    assert_eq!(bench.event("evt_1").progress.status, EventStatus::Failed);
    let slow = VirtualClock::at(bench.clock.now().minus(Duration::from_secs(600)));
    let Operate { store, queue, deployment, .. } = bench.operate();
    let operate = Operate { store, queue, clock: slow, deployment };
    let word = Word { operator: &Operator::Redrive, who: &Who::from("alice"), why: "a test" };
    assert!(matches!(operate.say(&key("evt_1"), word).await, Ok(Said::Done { sent: true, .. })));
    bench.process().await;
    assert_eq!(bench.destination.calls().len(), 2);
}
