//! A human deals with what needs one: finds out what really happened to what
//! is in doubt, redrives the dead letters, and sends failed events round again.
//! What is not wanted any more is discarded and erased.

use super::executor::Slot;
use super::mutant::{Mutant, Watchmaker};
use super::run::Time;
use super::seat::Seat;
use super::world::{Process, World};
use crate::memory::{MemoryQueue, MemoryStore};
use sekali::ids::Who;
use sekali::key::EventKey;
use sekali::operate::{Erased, NotSaid, Operate, Word};
use sekali::pause::{Drain, Pauses};
use sekali::ports::{Entropy, Erasure};
use sekali::protocol::action::EffectResult;
use sekali::protocol::decide::Operator;
use sekali::protocol::event::{Event, EventStatus};
use std::sync::Arc;
use std::time::Duration;

/// Longer than any lease, timeout and settling time together.
const LATER: Duration = Duration::from_secs(15 * 60);

/// Rounds before even a human gives up.
const ROUNDS: usize = 6;

/// Times that a human comes back to what cannot be erased yet.
const TRIES: usize = 12;

/// Readings of an event that others move meanwhile.
const READINGS: usize = 8;

/// Deals with everything; lets time pass in between. `false`: the world never
/// came to rest.
pub fn deals_with_it(world: &Arc<World>, time: &mut Time) -> bool {
    // What no deploy brings back, no human sends round for long.
    let rounds = if world.has_lost_its_destination() { 1 } else { ROUNDS };
    for _ in 0..rounds {
        let doubted = standing(world, EventStatus::InDoubt);
        set_going(world, doubted, evidence);
        if !time.pass() {
            return false;
        }
        if world.case.shape.discarded {
            set_going(world, standing(world, EventStatus::Failed), |_, _, _| Some(Operator::Discard));
            if !time.pass() {
                return false;
            }
        }
        let moved = world.queue.redrive().len();
        world.diary.note(world.now(), || format!("a human redrives {moved} dead letters"));
        if !time.pass() {
            return false;
        }
        let failed = failed_for_now(world);
        if failed.is_empty() && standing(world, EventStatus::InDoubt).is_empty() {
            break;
        }
        set_going(world, failed, |_, _, _| Some(Operator::Redrive));
        if !time.pass() {
            return false;
        }
    }
    true
}

fn standing(world: &World, status: EventStatus) -> Vec<EventKey> {
    those(world, |event| event.progress.status == status)
}

/// What failed and is not given up.
fn failed_for_now(world: &World) -> Vec<EventKey> {
    those(world, |event| event.progress.status == EventStatus::Failed && !event.has_ended())
}

fn those(world: &World, which: impl Fn(&Event) -> bool) -> Vec<EventKey> {
    world
        .store
        .look(|tables| tables.events().filter(|event| which(event)).map(|event| event.key.clone()).collect())
}

fn set_going(
    world: &Arc<World>,
    events: Vec<EventKey>,
    decides: fn(&Process, &World, &EventKey) -> Option<Operator>,
) {
    for key in events {
        let world = Arc::clone(world);
        world.spawner.clone().spawn(async move {
            world.clock.sleep(LATER).await;
            let process = world.process("operator");
            if let Some(operator) = decides(&process, &world, &key) {
                process.run(says(&process, &world, &key, &operator), &Slot::default()).await;
            }
        });
    }
}

/// What a human finds at the destination.
fn evidence(process: &Process, world: &World, key: &EventKey) -> Option<Operator> {
    let action = world.store.look(|tables| {
        let action = tables.event(key)?.progress.action.as_ref()?;
        tables.action(action).cloned()
    })?;
    let owner = process.dice.owner();
    Some(if world.destination.yard().effects_of(&action.idempotency_key()) > 0 {
        Operator::Happened { evidence: EffectResult("found at the destination".to_owned()), owner }
    } else {
        Operator::DidNotHappen { evidence: "looked for at the destination".to_owned(), owner }
    })
}

/// A human's process, ready to carry out what is decided.
fn operate(process: &Process, world: &World) -> Operate<Seat<MemoryStore>, Seat<MemoryQueue>, Watchmaker> {
    Operate {
        store: process.at(&world.store),
        queue: process.at(&world.queue),
        clock: process.clock.clone(),
        deployment: world.deployment(),
    }
}

/// The command, on record.
async fn says(process: &Process, world: &World, key: &EventKey, operator: &Operator) {
    process.desk.diary.note(world.now(), || format!("{} says {operator:?}", process.desk.name));
    let operate = operate(process, world);
    let word = Word { operator, who: &Who::from("a human"), why: "looked" };
    for _ in 0..READINGS {
        match operate.say(key, word).await {
            Ok(said) => {
                return process.desk.diary.note(world.now(), || format!("{}: {said:?}", process.desk.name));
            }
            Err(NotSaid::Undecidable(error)) => {
                return world.watch.broken("protocol", format!("{operator:?}: {error}"), world.now());
            }
            // A port that fails is asked again.
            Err(NotSaid::Store(_) | NotSaid::Contended) => {}
        }
    }
}

/// A human erases everything that has ended, what failed after it was
/// discarded, and comes back for the rest.
pub async fn erases(world: Arc<World>, from: Duration) {
    world.clock.sleep(from).await;
    for _ in 0..TRIES {
        let (events, mut gone) = (those(&world, |_| true), 0);
        for key in &events {
            let process = world.process("operator");
            if failed_for_now(&world).contains(key) {
                process.run(says(&process, &world, key, &Operator::Discard), &Slot::default()).await;
            }
            let (process, wholly) = (world.process("operator"), Slot::default());
            process.run(erase(&process, &world, key), &wholly).await;
            gone += usize::from(wholly.take().await == Some(true));
        }
        if gone > 0 && gone == events.len() {
            return;
        }
        world.clock.sleep(LATER).await;
    }
}

/// Says whether nothing is left of its content.
async fn erase(process: &Process, world: &World, key: &EventKey) -> bool {
    let operate = operate(process, world);
    for _ in 0..READINGS {
        let Some(event) = world.store.look(|tables| tables.event(key).cloned()) else { return true };
        if process.desk.mutant == Some(Mutant::ErasesWhatIsOpen) {
            // Without asking, and on no record.
            return operate.store.erase_payload(key, &event.hash).await.is_ok();
        }
        match operate.erase(&event, &Who::from("a human"), "a privacy request").await {
            Ok(erased) => {
                let name = &process.desk.name;
                process.desk.diary.note(world.now(), || format!("{name} erases {}: {erased:?}", event.id));
                return erased == Erased::Wholly;
            }
            Err(NotSaid::Undecidable(error)) => {
                world.watch.broken("protocol", format!("erase: {error}"), world.now());
                return false;
            }
            // A port that fails is asked again.
            Err(NotSaid::Store(_) | NotSaid::Contended) => {}
        }
    }
    false
}

/// A human pauses every endpoint and ends the pause, however often the store
/// fails.
pub async fn pauses(world: Arc<World>, from: Duration, until: Duration) {
    let endpoints: Vec<_> = world.deployment().config.endpoints.keys().cloned().collect();
    let who = Who::from("a human");
    world.clock.sleep(from).await;
    let now = world.now();
    let paused =
        endpoints.iter().fold(world.store.look(|tables| tables.pauses().clone()), |pauses, endpoint| {
            pauses.pausing(endpoint, &who, "an outage", now)
        });
    set(&world, &paused);
    world.diary.note(now, || "a human pauses every endpoint".to_owned());
    world.clock.sleep(until.saturating_sub(from)).await;
    let drain = Drain { at: world.now(), who, per_minute: 60, over: None };
    let resumed = endpoints
        .iter()
        .fold(paused, |pauses, endpoint| pauses.resuming(endpoint, drain.clone()).unwrap_or(pauses));
    set(&world, &resumed);
    world.diary.note(world.now(), || "a human ends the pauses".to_owned());
}

fn set(world: &World, pauses: &Pauses) {
    let pauses = Pauses { version: world.store.look(|tables| tables.pauses().version) + 1, ..pauses.clone() };
    world.store.tamper(|tables| tables.set_pauses(pauses.version - 1, &pauses));
}
