//! What calls cost, and an index that falls behind.

use crate::contract::sample::{NOW, Sample, event_write, expires, payload, progress};
use crate::memory::{MemoryStore, StoreCall};
use futures_util::FutureExt;
use sekali::ports::{Due, IndexShard, Store, Write, index_shard};
use sekali::protocol::action::{Action, ActionGuard};
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::protocol::transition::Transition;
use sekali::time::UnixMillis;
use std::future::Future;

/// What `call` costs in write units.
fn cost(store: &MemoryStore, call: impl Future<Output = ()>) -> u64 {
    let before = store.ledger().total().write_units;
    call.now_or_never().unwrap();
    store.ledger().total().write_units - before
}

fn created() -> (MemoryStore, Event) {
    let (store, event) = (MemoryStore::default(), Sample::new().event("evt_1"));
    store.create_event(&event).now_or_never().unwrap().unwrap();
    (store, event)
}

async fn write(store: &MemoryStore, transition: &Transition) {
    assert_eq!(store.write(transition).await, Ok(Write::Applied));
}

#[test]
fn an_index_entry_costs_where_it_is_made_moved_or_taken_away() {
    let (store, event) = created();
    assert_eq!(store.ledger().of(StoreCall::CreateEvent).write_units, 2);
    let stays = event_write(&event.key, event.guard(), progress(EventStatus::Processing));
    assert_eq!(cost(&store, write(&store, &stays)), 1);
    let guard = || store.look(|tables| tables.event(&event.key).unwrap().guard());
    let later = Progress { due: Some(UnixMillis(NOW.0 + 1)), ..progress(EventStatus::Processing) };
    let moves = event_write(&event.key, guard(), later);
    assert_eq!(cost(&store, write(&store, &moves)), 3);
    let leaves = event_write(&event.key, guard(), progress(EventStatus::Processed));
    assert_eq!(cost(&store, write(&store, &leaves)), 2);
}

#[test]
fn a_transaction_costs_double_and_a_refused_one_the_same() {
    let (store, event) = created();
    let action = Sample::new().action("order_1");
    let claim = Transition {
        event: event_write(&event.key, event.guard(), progress(EventStatus::Processing)).event,
        ..Transition::action(ActionGuard::Absent, action.clone())
    };
    assert_eq!(cost(&store, write(&store, &claim)), 4);
    let again = Transition::action(ActionGuard::Absent, Action { owner: "owner-2".into(), ..action });
    let refused = Transition { event: claim.event.clone(), ..again };
    assert_eq!(cost(&store, store.write(&refused).map(drop)), 4);
}

#[test]
fn a_write_costs_by_the_started_kilobyte_of_the_larger_item() {
    let (store, event) = created();
    let payload = payload(&[b'x'; 5_000]);
    let put = async {
        store.put_payload(&event.key, &event.hash, &payload, expires(60)).await.unwrap();
    };
    assert_eq!(cost(&store, put), 6);
    let kept = async {
        assert_eq!(store.keep_payload(&event.key, &event.hash, event.progress.generation).await, Ok(true));
    };
    assert_eq!(cost(&store, kept), 6);
}

#[test]
fn an_index_that_was_held_back_shows_what_was() {
    let (store, event) = created();
    let shard = IndexShard { class: Due::Open, shard: index_shard(&event.key) };
    store.hold_index_back();
    let finished = event_write(&event.key, event.guard(), progress(EventStatus::Processed));
    store.write(&finished).now_or_never().unwrap().unwrap();
    let named = || store.due(shard, NOW, None, 10).now_or_never().unwrap().unwrap().events.len();
    assert_eq!(named(), 1);
    store.let_index_catch_up();
    assert_eq!(named(), 0);
}
