//! Everything is at rest: what must hold now.

use super::api::COURSE;
use super::setup::{Edition, Promise};
use super::shape::Temper;
use super::traffic::{LAST_SIGNAL, Named};
use super::world::{World, find};
use crate::fault::{Fault, PortCall, Trouble};
use crate::memory::{CallRecord, Tables};
use sekali::ports::Outcome;
use sekali::protocol::action::{Action, ActionStatus, IdempotencyKey};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use std::collections::BTreeMap;
use std::time::Duration;

/// Which rest it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Before a human came.
    Traffic,
    /// After a human dealt with what needed one.
    Human,
}

/// More messages than this would be without limit.
const MOST_MESSAGES: usize = 120;

/// Checks what must hold at rest.
pub fn check(world: &World, round: Round) {
    let tables = world.store.tables();
    for event in tables.events() {
        check_event(world, event, &tables, round);
    }
    check_promised(world, &tables);
    check_truth(world, &tables, round);
    if !was_overtaken(world) {
        for action in tables.actions() {
            check_action(world, action);
        }
        check_erased(world, &tables);
        check_calls(world);
        if round == Round::Human {
            check_effects(world);
        }
    }
    let messages = world.faults.log().iter().filter(|point| point.call == PortCall::Send).count();
    if messages > MOST_MESSAGES {
        world.watch.broken("INV-8", format!("{messages} messages were sent"), world.now());
    }
}

fn check_event(world: &World, event: &Event, tables: &Tables, round: Round) {
    let broken = |promise, what: String| world.watch.broken(promise, what, world.now());
    let (id, status) = (&event.id, event.progress.status);
    if matches!(status, EventStatus::Received | EventStatus::Processing) {
        broken("INV-1", format!("{id} is still {} at rest", status.as_str()));
    }
    let acknowledged = acknowledged(world, tables, event);
    if acknowledged {
        world.watch.at_rest(event, tables, world.now());
    }
    // A failed event's message is where a human can send it round again.
    let undisturbed = world.faults.log().iter().all(|point| point.fault.is_none());
    let dead = || world.queue.look(|line| line.dead().any(|letter| letter.message.event == event.key));
    if status == EventStatus::Failed && undisturbed && round == Round::Traffic && !dead() {
        broken("INV-1", format!("{id} failed, and its message is not among the dead letters"));
    }
    // What was given up before its payload came is a human's, payload or not.
    let given_up = event.progress.reason.as_ref().is_some_and(|reason| reason.slug == Slug::BoundReached)
        && world.case.shape.mishap.is_some();
    let stuck =
        matches!(status, EventStatus::Failed | EventStatus::InDoubt) && !given_up && !event.has_ended();
    let expected = match round {
        Round::Traffic => may_need_a_human(world) || !acknowledged,
        Round::Human => matches!(last_edition(world), Some(Edition::NoDestination)) || !acknowledged,
    };
    if stuck && !expected {
        broken("INV-1", format!("{id} ended {} where nothing stood in its way", status.as_str()));
    }
}

/// Whether a run may end with something that needs a human, other than what is
/// held: what the destination does not promise, or what goes wrong for good.
fn may_need_a_human(world: &World) -> bool {
    let shape = &world.case.shape;
    let settles_alone = matches!(shape.promise, Promise::Honours | Promise::Confirms | Promise::Asked);
    let temper = match shape.temper {
        Temper::RefusesFirst | Temper::Unreachable(10..) => true,
        Temper::SilentThenRefuses => !settles_alone,
        _ => false,
    };
    let for_good = |fault: Fault| matches!(fault, Fault::Refused(Trouble::Invalid | Trouble::Unreadable));
    let met = world.faults.log().iter().filter_map(|point| point.fault).any(for_good);
    temper || met || !settles_alone || last_edition(world) == Some(Edition::NoDestination)
}

fn last_edition(world: &World) -> Option<Edition> {
    world.case.shape.deploy.map(|(_, edition)| edition)
}

fn acknowledged(world: &World, tables: &Tables, event: &Event) -> bool {
    let names = |named: &Named| find(tables, *named).is_some_and(|found| found.key == event.key);
    world.promised().acknowledged.iter().any(names)
}

/// What is erased has left nothing where it was sent on.
fn check_erased(world: &World, tables: &Tables) {
    for event in tables.events().filter(|event| event.is_erased()) {
        let action = event.progress.action.as_ref().and_then(|action| tables.action(action));
        if action.is_some_and(|action| action.begun_by == event.key && !action.request.body.is_empty()) {
            let what = format!("{} is erased, and what it sent is there", event.id);
            world.watch.broken("erasure", what, world.now());
        }
    }
}

fn check_action(world: &World, action: &Action) {
    let happened = world.destination.yard().effects_of(&action.idempotency_key());
    let agrees = match action.status {
        ActionStatus::Done => happened == 1,
        ActionStatus::Rejected | ActionStatus::Ready => happened == 0,
        ActionStatus::InDoubt => happened <= 1,
        ActionStatus::Begun => false,
    };
    if !agrees {
        let what = format!("{} at rest, with {happened} effects", action.status.as_str());
        world.watch.broken("INV-4", what, world.now());
    }
}

/// A worker was frozen between its last look at the clock and its call, for
/// longer than the destination honours the key, or than until others ask. Nothing on this side can tell
/// it so: no token fences an effect.
fn was_overtaken(world: &World) -> bool {
    let frozen = world.faults.log().into_iter().any(|point| {
        matches!(point.call, PortCall::Effect | PortCall::Confirm)
            && matches!(point.fault, Some(Fault::PauseBefore(_)))
    });
    let span = match world.case.shape.promise {
        // By then another has asked, heard *not done* and called again.
        Promise::Asked => Some(Duration::ZERO),
        promise => promise.span(),
    };
    let Some(span) = span.filter(|_| frozen) else { return false };
    let calls = world.destination.yard().calls();
    let first = |key| calls.iter().find(|call| call.key == key).map(|call| call.at);
    calls.iter().any(|call| first(call.key.clone()).is_some_and(|first| call.at.since(first) > span))
}

/// What was acknowledged is there, or was removed long after its end.
fn check_promised(world: &World, tables: &Tables) {
    let lost = |named: &Named| find(tables, *named).is_none();
    let oldest = world.case.shape.sent.iter().map(|sent| sent.at).min().unwrap_or_default();
    let window_may_be_over =
        world.now().since(super::traffic::BEGINNING.plus(oldest)).as_secs() > 40 * 86_400;
    for named in world.promised().acknowledged.iter().filter(|named| lost(named)) {
        if !window_may_be_over {
            world.watch.broken("INV-1", format!("{} was acknowledged and is gone", named.id), world.now());
        }
    }
}

/// Where the vendor only signals, the resource stands in the end where its API
/// says: no answer that was overtaken, or older than its signal, was the last.
fn check_truth(world: &World, tables: &Tables, round: Round) {
    let (_, last) = COURSE[COURSE.len() - 1];
    let acknowledged = |named: &Named| named.id == LAST_SIGNAL;
    if round == Round::Traffic || !world.promised().acknowledged.iter().any(acknowledged) {
        return;
    }
    let stands = tables.resources().find(|resource| resource.key.as_str().contains("job"));
    match stands.map(|resource| resource.status.as_str()) {
        Some(status) if status == last => {}
        other => {
            let what = format!("the job stands {other:?} at rest, and its vendor says {last}");
            world.watch.broken("INV-3", what, world.now());
        }
    }
}

/// INV-2: one effect for each key, the same bytes under each, and repeated only
/// where and as long as the destination says.
fn check_calls(world: &World) {
    let mut by_key: BTreeMap<&str, Vec<&CallRecord>> = BTreeMap::new();
    let calls = world.destination.yard().calls();
    for call in &calls {
        by_key.entry(IdempotencyKey::as_str(&call.key)).or_default().push(call);
    }
    let broken = |what: String| world.watch.broken("INV-2", what, world.now());
    for (key, calls) in by_key {
        let effects = calls.iter().filter(|call| call.acted).count();
        if effects > 1 {
            broken(format!("{effects} effects under {key}"));
        }
        if calls.iter().any(|call| call.body != calls[0].body || call.destination != calls[0].destination) {
            broken(format!("other bytes under {key}"));
        }
        let begun = calls.iter().filter(|call| !matches!(call.answer, Outcome::NotStarted { .. })).count();
        if world.case.shape.promise == Promise::Nothing && begun > 1 {
            broken(format!("{begun} calls under {key}, which nobody honours"));
        }
    }
}

/// In the end everything that was asked for has happened, once.
fn check_effects(world: &World) {
    let (happened, wanted) = (world.destination.yard().effects(), world.case.shape.effects);
    // What failed, and was discarded and erased before it could go round again.
    let tables = world.store.tables();
    let unwanted =
        tables.events().any(|event| event.is_erased() && event.progress.status == EventStatus::Failed);
    let may_be_fewer = world.promised().given_up > 0
        || unwanted
        || matches!(last_edition(world), Some(Edition::NoRule | Edition::NoDestination));
    if happened > wanted || (happened < wanted && !may_be_fewer) {
        let what = format!("{happened} effects where {wanted} were asked for");
        world.watch.broken("INV-2", what, world.now());
    }
}
