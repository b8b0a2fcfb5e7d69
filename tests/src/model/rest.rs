//! INV-1's other half: from every reachable state, even if now every actor
//! died and the queue were emptied, sweeper and workers alone lead each event
//! to an end that people can see; and a human leads on from there.

use super::catalog::{Catalog, at};
use super::check;
use super::scenario::{Answer, Budget, DELIVERIES, EVENTS, Finding, SWEEPERS, Told, WORKERS};
use super::search::fingerprint;
use super::step::{Broken, Successor, Ways, What};
use super::world::{
    Act, Bringer, Delivery, Human, HumanAt, Place, Shut, Sweeper, SweeperAt, Worker, WorkerAt, World,
};
use sekali::config::InDoubt;
use sekali::ports::Due;
use sekali::protocol::action::ActionStatus;
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use std::collections::HashSet;

/// Ticks for which a pause lasts on: longer than the windows of the slices that
/// have one.
const LONG_PAUSE: u8 = 10;
/// Ticks after which everything must have come to rest.
const PATIENCE: u8 = 12;
/// Steps of one actor at one event.
const STEPS: usize = 60;

/// Whether those who are asked tell anything: the vendor's API, the destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Api {
    Tells,
    Silent,
}

/// The states whose rest is known to be good.
#[derive(Default)]
pub(super) struct Rests(HashSet<u128>);

impl Rests {
    /// Leads everything to its rest and says what does not come to it.
    pub fn check(&mut self, catalog: &mut Catalog, world: &World) -> Option<Broken> {
        let bare = abandoned(world);
        if !self.0.insert(fingerprint(&bare)) {
            return None;
        }
        let asks_destination = catalog.slice.promise.in_doubt == InDoubt::Probe;
        let silent = asks_destination || !catalog.slice.api.course.is_empty();
        let broken = come_to_rest(catalog, bare, Api::Tells).err();
        broken.or_else(|| silent.then(|| come_to_rest(catalog, bare, Api::Silent).err()).flatten())
    }
}

fn come_to_rest(catalog: &mut Catalog, bare: World, api: Api) -> Result<(), Broken> {
    let bare = wait_for_the_pause(catalog, bare)?;
    let rested = rest(catalog, bare, api)?;
    for place in 0..EVENTS {
        agrees(catalog, &rested, place)?;
    }
    let told = humans(catalog, rested)?;
    let rested = rest(catalog, told, Api::Tells)?;
    for place in 0..EVENTS {
        agrees(catalog, &rested, place)?;
    }
    Ok(())
}

/// Nobody is left, and nothing is on its way.
fn abandoned(world: &World) -> World {
    World {
        deliveries: [Delivery::GONE; DELIVERIES],
        workers: [Worker::IDLE; WORKERS],
        sweepers: [Sweeper::IDLE; SWEEPERS],
        bringer: Bringer::GONE,
        human: Human::IDLE,
        letters: Default::default(),
        flight: None,
        ghost: None,
        budget: Budget::NONE,
        ..*world
    }
}

/// Sweeper and worker while the endpoint stays paused: nothing ends by waiting,
/// and nothing expires (INV-8, INV-9). Then it goes on.
fn wait_for_the_pause(catalog: &mut Catalog, mut world: World) -> Result<World, Broken> {
    if world.gate != Shut::Paused {
        return Ok(world);
    }
    for _ in 0..LONG_PAUSE {
        let before = world;
        world = round(catalog, world, Api::Tells)?;
        for (before, after) in before.events.iter().zip(&world.events) {
            let (Some(before), Some(after)) = (before, after) else { continue };
            ended_by_waiting(catalog.event(*before), catalog.event(*after))?;
        }
        world.pass();
    }
    world.resume();
    Ok(world)
}

fn ended_by_waiting(before: &Event, after: &Event) -> Result<(), Broken> {
    let reason = after.progress.reason.as_ref().map(|reason| reason.slug);
    let bound = matches!(reason, Some(Slug::BoundReached | Slug::AttemptsExhausted));
    let failed = before.progress.status != after.progress.status && bound;
    // Of what is under way a sweep still counts: its lease ends, whatever the pause.
    let swept = after.progress.action.is_none() && before.progress.sweeps < after.progress.sweeps;
    match failed || swept {
        true => Err(Broken::new("INV-8", "waiting for a pause was counted")),
        false => Ok(()),
    }
}

/// The sweeper looks at each event that is due, and a worker at what it sends.
fn round(catalog: &mut Catalog, mut world: World, api: Api) -> Result<World, Broken> {
    for place in 0..EVENTS {
        world = sweep(catalog, world, place)?;
        world = deliver(catalog, world, api)?;
    }
    let expired = world.events.iter().flatten().any(|event| {
        let progress = &catalog.event(*event).progress;
        let open = Due::of(progress.status) == Some(Due::Open);
        open && progress.expires.is_some_and(|expires| expires.as_millis() <= at(world.tick))
    });
    match expired {
        true => Err(Broken::new("INV-9", "an event reached its TTL while it was open")),
        false => Ok(world),
    }
}

/// Sweeper and worker, without a fault, until nothing is open.
fn rest(catalog: &mut Catalog, mut world: World, api: Api) -> Result<World, Broken> {
    for _ in 0..PATIENCE {
        world = round(catalog, world, api)?;
        let open = world
            .events
            .iter()
            .flatten()
            .any(|event| Due::of(catalog.event(*event).progress.status) == Some(Due::Open));
        if !open && !doubt_to_follow(catalog, &world) {
            return Ok(world);
        }
        world.pass();
    }
    Err(Broken::new("INV-1", "an event comes to no end that people can see"))
}

/// An event in doubt whose action is settled will follow it when it is due.
fn doubt_to_follow(catalog: &Catalog, world: &World) -> bool {
    world.events.iter().flatten().any(|event| {
        let in_doubt = catalog.event(*event).progress.status == EventStatus::InDoubt;
        let slot = catalog.event_facts(*event).bound.filter(|_| in_doubt);
        let action = slot.and_then(|slot| world.actions[slot]);
        let action = action.map(|action| catalog.action(action));
        action.is_some_and(|action| {
            // A later generation may be in doubt while its own was done.
            action.status != ActionStatus::InDoubt || check::was_done(catalog.event(*event), action)
        })
    })
}

fn sweep(catalog: &mut Catalog, world: World, place: usize) -> Result<World, Broken> {
    let due = world.events[place].is_some_and(|event| {
        let progress = &catalog.event(event).progress;
        matches!(Due::of(progress.status), Some(Due::Open | Due::InDoubt))
            && progress.due.is_some_and(|due| due <= at(world.tick))
    });
    if !due {
        return Ok(world);
    }
    // The sweeper looks at this event first.
    let mut ways = Ways::from(catalog, world);
    ways.sweeper(0);
    let named = ways.found.into_iter().find(|way| {
        way.world.sweepers[0].event == world.events[place] || way.world.sweepers[0].at == SweeperAt::Idle
    });
    let Some(mut world) = named.map(|way| way.world) else { return Ok(world) };
    for _ in 0..STEPS {
        if world.sweepers[0].at == SweeperAt::Idle {
            return Ok(world);
        }
        world = first(catalog, world, Api::Tells, |ways| ways.sweeper(0))?;
    }
    Err(Broken::new("INV-8", "a sweeper does not come to an end"))
}

/// A worker takes every letter there is, once.
fn deliver(catalog: &mut Catalog, mut world: World, api: Api) -> Result<World, Broken> {
    for letter in world.letters.into_iter().flatten() {
        world.letters = Default::default();
        world.send(letter);
        if letter.place != Place::Waiting {
            continue;
        }
        for _ in 0..STEPS {
            world = first(catalog, world, api, |ways| ways.worker(0))?;
            if world.workers[0].at == WorkerAt::Idle {
                break;
            }
        }
        if world.workers[0].at != WorkerAt::Idle {
            return Err(Broken::new("INV-8", "a worker does not come to an end"));
        }
    }
    world.letters = Default::default();
    Ok(world)
}

/// One step of an actor, the way on that goes well.
fn first(
    catalog: &mut Catalog,
    world: World,
    api: Api,
    act: impl FnOnce(&mut Ways<'_>),
) -> Result<World, Broken> {
    let mut ways = Ways::from(catalog, world);
    act(&mut ways);
    let wanted = |way: &Successor| match way.what {
        What::Calls(Answer::Done) => true,
        What::Hears(told) => (told == Told::Nothing) == (api == Api::Silent),
        What::Asks(finding) => (finding == Finding::Unknown) == (api == Api::Silent),
        _ => false,
    };
    let well = ways.found.iter().position(wanted).unwrap_or(0);
    let Some(Successor { world: after, broken, .. }) = ways.found.into_iter().nth(well) else {
        return Err(Broken::new("INV-1", "an actor has no way on"));
    };
    match broken.or_else(|| check::step(catalog, &world, &after)) {
        Some(broken) => Err(broken),
        None => Ok(after),
    }
}

/// Humans resolve what is in doubt, release what is held and send what failed
/// round again.
fn humans(catalog: &mut Catalog, mut world: World) -> Result<World, Broken> {
    // Long enough for every call to have settled.
    world.tick += catalog.slice.promise.settling + 2;
    for place in 0..EVENTS {
        let Some(event) = world.events[place] else { continue };
        let act = match catalog.event(event).progress.status {
            EventStatus::Failed if catalog.event(event).is_erased() => continue,
            EventStatus::Failed => Act::Redrive,
            EventStatus::Held => Act::Release,
            EventStatus::InDoubt if world.happened(catalog.event_facts(event)) => Act::Happened,
            EventStatus::InDoubt => Act::DidNotHappen,
            _ => continue,
        };
        if act.opens_a_round() {
            world.ledger.rounds[place] += 1;
        }
        world.human =
            Human { at: HumanAt::ReadingEvent(u8::try_from(place).unwrap_or(0)), act, ..Human::IDLE };
        for _ in 0..STEPS {
            if world.human.at == HumanAt::Idle {
                break;
            }
            let rounds = world.ledger.rounds;
            world = first(catalog, world, Api::Tells, |ways| ways.human())?;
            world.ledger.rounds = rounds;
        }
        let left = world.events[place].map(|event| catalog.event(event).progress.status);
        let led_on = match act {
            Act::Redrive | Act::Release => left == Some(EventStatus::Received),
            Act::Happened => left == Some(EventStatus::Processed),
            Act::DidNotHappen => left == Some(EventStatus::Failed),
            // None of these is needed for an end.
            Act::Discard | Act::Again | Act::Replay | Act::ReplayAnew | Act::Accept | Act::Erase => false,
        };
        if !led_on {
            return Err(Broken::new("INV-1", format!("a human could not lead an event on: {act:?}")));
        }
    }
    deliver(catalog, world, Api::Tells)
}

/// An event that rests says of its action what is the case.
fn agrees(catalog: &Catalog, world: &World, place: usize) -> Result<(), Broken> {
    let Some(number) = world.events[place] else { return Ok(()) };
    let event = catalog.event(number);
    let action = catalog.event_facts(number).bound.and_then(|slot| world.actions[slot]);
    let Some(action) = action.map(|action| catalog.action(action)) else { return Ok(()) };
    let same = event.progress.action_generation == Some(action.generation);
    let rejected = event.progress.reason.as_ref().is_some_and(|reason| reason.slug == Slug::Rejected);
    let agrees = match (event.progress.status, action.status) {
        (EventStatus::InDoubt, ActionStatus::InDoubt) | (EventStatus::Processed, ActionStatus::Done) => true,
        (EventStatus::Processed, _) => check::was_done(event, action),
        (EventStatus::InDoubt, _) => false,
        (EventStatus::Failed, ActionStatus::Done | ActionStatus::InDoubt) => !(same && rejected),
        _ => true,
    };
    match agrees {
        true => Ok(()),
        false => {
            let (event, action) = (event.progress.status.as_str(), action.status.as_str());
            Err(Broken::new("INV-4", format!("an event rests {event} while its action is {action}")))
        }
    }
}
