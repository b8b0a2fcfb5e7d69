//! Every fault does what it says, and no more.

use super::{Ended, Fault, Faults, PortCall, Schedule, Trouble, Worker};
use crate::contract::sample::{NOW, Sample};
use crate::memory::{MemoryStore, StoreCall, VirtualClock};
use futures_util::FutureExt;
use futures_util::future::join;
use sekali::ports::{Create, Store, StoreError};
use sekali::protocol::event::Event;
use sekali::time::Clock;
use std::pin::pin;
use std::time::Duration;

struct Scene {
    faults: Faults,
    worker: Worker,
    store: MemoryStore,
    clock: VirtualClock,
    event: Event,
}

/// One worker that creates an event and reads it, with this fault at its
/// first call.
fn scene(fault: Option<Fault>) -> Scene {
    let clock = VirtualClock::at(NOW);
    let schedule = fault.map_or(Schedule::quiet(), |fault| Schedule::quiet().with(0, fault));
    let faults = Faults::new(schedule, clock.clone());
    let worker = faults.worker("w");
    Scene { faults, worker, store: MemoryStore::default(), clock, event: Sample::new().event("evt_1") }
}

impl Scene {
    fn create_and_read(&self) -> Ended<(Result<Create, StoreError>, bool)> {
        let store = self.worker.through(self.store.clone());
        let work = async {
            let created = store.create_event(&self.event).await;
            (created, matches!(store.event(&self.event.key).await, Ok(Some(_))))
        };
        self.worker.run(work).now_or_never().unwrap()
    }

    fn stored(&self) -> bool {
        self.store.look(|tables| tables.event(&self.event.key).is_some())
    }
}

#[test]
fn a_refused_call_does_nothing_and_says_why() {
    for (trouble, error) in [
        (Trouble::Throttled, StoreError::Throttled),
        (Trouble::Contended, StoreError::Contended),
        (Trouble::Unanswered, StoreError::Unknown("the request was lost".to_owned())),
    ] {
        let scene = scene(Some(Fault::Refused(trouble)));
        assert_eq!(scene.create_and_read(), Ended::Finished((Err(error), false)));
    }
}

#[test]
fn a_call_whose_answer_was_lost_has_done_its_work() {
    let scene = scene(Some(Fault::AnswerLost));
    let Ended::Finished((end, stored)) = scene.create_and_read() else { panic!("crashed") };
    assert!(matches!(end, Err(StoreError::Unknown(_))) && stored);
}

#[test]
fn a_crash_ends_the_worker_before_or_after_the_work() {
    for (fault, stored) in [(Fault::CrashBefore, false), (Fault::CrashAfter, true)] {
        let scene = scene(Some(fault));
        assert_eq!(scene.create_and_read(), Ended::Crashed);
        assert_eq!((scene.stored(), scene.faults.log().len()), (stored, 1));
        assert_eq!(scene.create_and_read(), Ended::Crashed, "the dead make no calls");
        assert_eq!(scene.faults.log().len(), 1);
    }
}

#[test]
fn a_crash_takes_what_runs_beside_it_along() {
    let scene = scene(Some(Fault::CrashBefore));
    let store = scene.worker.through(scene.store.clone());
    let work = join(store.create_event(&scene.event), store.create_event(&scene.event));
    assert_eq!(scene.worker.run(work).now_or_never(), Some(Ended::Crashed));
    assert!(!scene.stored());
}

#[test]
fn time_passes_while_a_worker_is_frozen() {
    let pause = Duration::from_secs(60);
    for fault in [Fault::PauseBefore(pause), Fault::PauseAfter(pause)] {
        let scene = scene(Some(fault));
        assert_eq!(scene.create_and_read(), Ended::Finished((Ok(Create::Created), true)));
        assert_eq!(scene.clock.now(), NOW.plus(pause));
    }
}

#[test]
fn the_log_names_every_point_and_what_it_met() {
    let scene = scene(Some(Fault::AnswerLost));
    scene.create_and_read();
    let log = scene.faults.log();
    let met: Vec<_> = log.iter().map(|point| (point.number, point.call, point.fault)).collect();
    let expected = [
        (0, PortCall::Store(StoreCall::CreateEvent), Some(Fault::AnswerLost)),
        (1, PortCall::Store(StoreCall::ReadEvent), None),
    ];
    assert_eq!(met, expected);
    assert!(log.iter().all(|point| point.worker == "w"));
}

#[test]
fn interleaved_workers_take_turns_at_every_call() {
    let faults = Faults::new(Schedule::quiet(), VirtualClock::at(NOW)).interleaved();
    let store = MemoryStore::default();
    let (sample, workers) = (Sample::new(), ["a", "b"].map(|name| faults.worker(name)));
    let work = |worker: &Worker, id: &str| {
        let (store, event) = (worker.through(store.clone()), sample.event(id));
        async move {
            store.create_event(&event).await.unwrap();
            store.event(&event.key).await.unwrap()
        }
    };
    let both = join(work(&workers[0], "evt_1"), work(&workers[1], "evt_2"));
    let mut both = pin!(both);
    let turns = (0..10).find(|_| both.as_mut().now_or_never().is_some());
    assert!(turns.is_some_and(|turn| turn > 1), "{turns:?}");
    let order: Vec<_> = faults.log().into_iter().map(|point| point.worker).collect();
    assert_eq!(order, ["a", "b", "a", "b"]);
}
