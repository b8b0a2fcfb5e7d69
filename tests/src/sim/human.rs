//! A human deals with what needs one: finds out what really happened to what
//! is in doubt, redrives the dead letters, and sends failed events round again.

use super::executor::Slot;
use super::run::Time;
use super::world::{Process, World};
use sekali::key::EventKey;
use sekali::ports::{Entropy, Queue, Store, StoreError, Write, apply};
use sekali::protocol::action::EffectResult;
use sekali::protocol::decide::{Decision, End, Input, Operator, Read, State, Then, decide};
use sekali::protocol::event::EventStatus;
use sekali::sweep::message;
use sekali::time::Clock;
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

/// The command: asks `decide`, does what it says, and asks again.
async fn says(process: &Process, world: &World, key: &EventKey, operator: &Operator) {
    process.desk.diary.note(world.now(), || format!("{} says {operator:?}", process.desk.name));
    for _ in 0..READINGS {
        // A port that fails is asked again, like a lost race.
        if matches!(once(process, world, key, operator).await, Ok(true)) {
            return;
        }
    }
}

async fn once(
    process: &Process,
    world: &World,
    key: &EventKey,
    operator: &Operator,
) -> Result<bool, StoreError> {
    let (store, deployment) = (process.at(&world.store), world.deployment());
    let Some(event) = store.event(key).await? else { return Ok(true) };
    let limits = deployment.limits(&event.endpoint);
    let ask = |state| decide(state, Input::Operator(operator), process.clock.now(), &limits);
    let mut decision = ask(State::Stored(&event));
    if let Ok(Decision::Read(Read::Action(action))) = &decision {
        let action = store.action(action).await?;
        let policy = action.as_ref().and_then(|action| deployment.policy(&action.request.destination));
        decision = ask(State::Bound {
            event: &event,
            action: action.as_ref(),
            policy: policy.as_ref(),
            intent: None,
        });
    }
    let (transition, then) = match decision {
        Ok(Decision::Write { transition, then }) => (transition, then),
        Ok(Decision::End(end)) => {
            process.desk.diary.note(world.now(), || format!("{}: {end:?}", process.desk.name));
            return Ok(true);
        }
        Ok(Decision::Read(_) | Decision::Call | Decision::Probe) | Err(_) => {
            world.watch.broken("protocol", format!("no answer to {operator:?}"), world.now());
            return Ok(true);
        }
    };
    if apply(&store, &transition).await? == Write::Refused {
        return Ok(false);
    }
    if then == Then::End(End::Send) {
        let message = message(&event, event.correlation.clone(), process.clock.now());
        // Where the queue refuses, the sweeper finds the event.
        let _refused = process.at(&world.queue).send(&message).await;
    }
    Ok(then != Then::Decide)
}
