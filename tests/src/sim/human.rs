//! A human deals with what needs one: finds out what really happened to what
//! is in doubt, redrives the dead letters, and sends failed events round again.

use super::executor::Slot;
use super::run::Time;
use super::world::{Process, World};
use sekali::ids::Who;
use sekali::key::EventKey;
use sekali::operate::{NotSaid, Operate, Word};
use sekali::pause::{Drain, Pauses};
use sekali::ports::Entropy;
use sekali::protocol::action::EffectResult;
use sekali::protocol::decide::Operator;
use sekali::protocol::event::EventStatus;
use std::sync::Arc;
use std::time::Duration;

/// Longer than any lease, timeout and settling time together.
const LATER: Duration = Duration::from_secs(15 * 60);

/// Rounds before even a human gives up.
const ROUNDS: usize = 6;

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
        let moved = world.queue.redrive().len();
        world.diary.note(world.now(), || format!("a human redrives {moved} dead letters"));
        if !time.pass() {
            return false;
        }
        let failed = standing(world, EventStatus::Failed);
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
    world.store.look(|tables| {
        let standing = tables.events().filter(|event| event.progress.status == status);
        standing.map(|event| event.key.clone()).collect()
    })
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

/// The command, on record.
async fn says(process: &Process, world: &World, key: &EventKey, operator: &Operator) {
    process.desk.diary.note(world.now(), || format!("{} says {operator:?}", process.desk.name));
    let operate = Operate {
        store: process.at(&world.store),
        queue: process.at(&world.queue),
        clock: process.clock.clone(),
        deployment: world.deployment(),
    };
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
    let drain = Drain { at: world.now(), who, per_minute: 60 };
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
