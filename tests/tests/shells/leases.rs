//! A lease comes from what is left of the invocation (INV-2). Nothing left and
//! nothing known are different things. And what a look costs where there is
//! nothing to do.

use super::{LONGEST_CALL, deployment};
use sekali::ids::CorrelationId;
use sekali::ports::{Message, WithSecrets};
use sekali::process::{
    Deadline, Disposition, LEASE_MARGIN, LEASE_WITHOUT_DEADLINE, Processor, RESERVE, Record,
};
use sekali::protocol::action::{Action, ActionGuard, ActionStatus};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::transition::Transition;
use sekali::time::UnixMillis;
use sekali_tests::contract::sample::{NOW, Sample, progress};
use sekali_tests::memory::{
    MemoryApi, MemoryDestination, MemorySecrets, MemoryStore, SeededEntropy, StoreCall, VirtualClock,
};
use std::time::Duration;

/// What became of a ready action that one invocation looked at.
struct Looked {
    disposition: Disposition,
    calls: usize,
    action: Action,
    /// The lease, had the call not come back.
    leased_until: Option<UnixMillis>,
}

fn ready(sample: &Sample) -> (Event, Action) {
    let action = Action { status: ActionStatus::Ready, ..sample.action("order_1") };
    let mut event = sample.event("evt_1");
    event.progress = progress(EventStatus::Processing);
    event.progress.action = Some(action.key.clone());
    event.progress.action_generation = Some(action.generation);
    (event, action)
}

/// One invocation looks at one message of this event.
async fn process(
    store: &MemoryStore,
    destination: &MemoryDestination,
    clock: VirtualClock,
    event: &Event,
    deadline: Deadline,
) -> Disposition {
    let processor = Processor::new(
        store.clone(),
        destination.clone(),
        WithSecrets { outbound: MemoryApi::default(), keeper: MemorySecrets::default() },
        clock,
        SeededEntropy::seeded(1),
        deployment(),
    );
    let message = Message {
        event: event.key.clone(),
        generation: event.progress.generation,
        correlation: CorrelationId::from("c-1"),
        trace: None,
        written_at: NOW,
    };
    processor.record(&Record { message, stamped_at: NOW, receive_count: 1 }, deadline).await
}

async fn look(deadline: Deadline) -> Looked {
    let (sample, clock) = (Sample::new(), VirtualClock::at(NOW));
    let (event, action) = ready(&sample);
    let store = MemoryStore::default();
    store.tamper(|tables| {
        tables.create_event(&event).unwrap();
        let put = Transition::action(ActionGuard::Absent, action.clone());
        tables.apply(&put).unwrap();
    });
    let destination = MemoryDestination::new(clock.clone());
    let disposition = process(&store, &destination, clock, &event, deadline).await;
    let action = store.look(|tables| tables.action(&action.key).cloned()).unwrap();
    let leased_until = (action.status != ActionStatus::Ready).then_some(action.lease_until);
    Looked { disposition, calls: destination.calls().len(), action, leased_until }
}

#[tokio::test]
async fn an_invocation_with_no_time_left_claims_nothing_and_the_message_comes_back() {
    let just_too_little = NOW.plus(LONGEST_CALL + RESERVE);
    for end in [NOW.minus(Duration::from_secs(3600)), NOW, just_too_little] {
        let looked = look(Deadline::At(end)).await;
        assert!(matches!(looked.disposition, Disposition::Return(_)), "{:?}", looked.disposition);
        assert_eq!((looked.calls, looked.action.status), (0, ActionStatus::Ready));
    }
}

#[tokio::test]
async fn a_lease_outlives_its_invocation_by_the_margin_of_clocks() {
    let end = NOW.plus(LONGEST_CALL + RESERVE + Duration::from_millis(1));
    let looked = look(Deadline::At(end)).await;
    assert_eq!((looked.disposition, looked.calls), (Disposition::Delete, 1));
    assert_eq!(looked.leased_until, Some(end.plus(LEASE_MARGIN)));
}

#[tokio::test]
async fn an_invocation_that_does_not_know_its_end_takes_the_lease_for_that() {
    let looked = look(Deadline::Unknown).await;
    assert_eq!((looked.disposition, looked.calls), (Disposition::Delete, 1));
    assert_eq!(looked.leased_until, Some(NOW.plus(LEASE_WITHOUT_DEADLINE)));
}

#[tokio::test]
async fn a_message_for_a_finished_event_costs_one_read_and_nothing_else() {
    for status in [EventStatus::Processed, EventStatus::Ignored] {
        let (clock, store) = (VirtualClock::at(NOW), MemoryStore::default());
        let event = Event { progress: progress(status), ..Sample::new().event("evt_1") };
        store.tamper(|tables| tables.create_event(&event).unwrap());
        let destination = MemoryDestination::new(clock.clone());
        let disposition = process(&store, &destination, clock, &event, Deadline::Unknown).await;
        assert_eq!(disposition, Disposition::Delete);
        let (ledger, mut charge) = (store.ledger(), store.ledger().total());
        // The pauses are read once in ten seconds by each process.
        charge.calls -= ledger.of(StoreCall::ReadPauses).calls;
        assert_eq!((charge.calls, charge.write_units), (1, 0));
    }
}
