//! The promises, checked on every state and every step. They look at what was
//! written and at the ledger of what really happened; none asks `decide`.

use super::catalog::{ActionRef, Catalog, EventRef};
use super::scenario::{EVENTS, SLOTS};
use super::step::Broken;
use super::world::{Act, Paper, World};
use sekali::ids::Generation;
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use sekali::rule::OrderValue;
use std::cmp::Ordering;

/// The statuses of the model's resource, from the first to the last.
const RANKS: [&str; 4] = ["pending", "paid", "shipped", "closed"];

/// What the step from `before` to `after` breaks.
pub(super) fn step(catalog: &Catalog, before: &World, after: &World) -> Option<Broken> {
    for place in 0..EVENTS {
        if before.events[place] != after.events[place] {
            let moved = event_step(catalog, before.events[place], after.events[place], place, after);
            if moved.is_some() {
                return moved;
            }
        }
        if before.resources[place] != after.resources[place]
            && let Some(broken) = resource_step(catalog, before, after, place)
        {
            return Some(broken);
        }
    }
    for slot in 0..SLOTS {
        if before.actions[slot] != after.actions[slot]
            && let Some(broken) = action_step(catalog, before.actions[slot], (after.actions[slot], after))
        {
            return Some(broken);
        }
    }
    state(catalog, after)
}

fn event_step(
    catalog: &Catalog,
    before: Option<EventRef>,
    after: Option<EventRef>,
    place: usize,
    world: &World,
) -> Option<Broken> {
    let Some(after_number) = after else {
        return Some(Broken::new("INV-1", "an event is gone"));
    };
    let after = catalog.event(after_number);
    let before = catalog.event(before?);
    let (from, to) = (&before.progress, &after.progress);
    match to.generation.cmp(&from.generation) {
        Ordering::Less => return Some(Broken::new("INV-3", "an event went back to an older generation")),
        Ordering::Equal if !from.status.may_become(to.status) => {
            let (from, to) = (from.status.as_str(), to.status.as_str());
            return Some(Broken::new("INV-3", format!("an event went from {from} to {to}")));
        }
        Ordering::Greater if !may_go_round(catalog, from.status) => {
            let from = from.status.as_str();
            return Some(Broken::new("INV-3", format!("an event began a new generation while {from}")));
        }
        _ => {}
    }
    if after.is_erased() && !before.is_erased() && !nobody_needs(before) {
        return Some(Broken::new("INV-1", "an event was erased that a human may still need"));
    }
    // A new round lets go of it where a human wants other content, or says so.
    let lets_go = to.action.is_none()
        && to.generation > from.generation
        && catalog.slice.wishes.iter().any(|wish| matches!(wish, Act::Accept | Act::ReplayAnew));
    if from.action.is_some() && to.action != from.action && !lets_go {
        return Some(Broken::new("INV-3", "an event that won its move left its action"));
    }
    let facts = catalog.event_facts(after_number);
    let begun = facts.bound.and_then(|slot| world.actions[slot]).map(|action| catalog.action(action).status);
    if to.status == EventStatus::Failed
        && from.status != EventStatus::Failed
        && begun == Some(ActionStatus::Begun)
    {
        return Some(Broken::new("INV-4", "an event failed while its action is begun"));
    }
    let unruled = to.reason.as_ref().is_some_and(|reason| reason.slug == Slug::NoRule);
    if to.status == EventStatus::Ignored && unruled && facts.effect.is_some() {
        return Some(Broken::new("INV-1", "an event was ignored although a rule asks for its action"));
    }
    if to.status == EventStatus::Ignored && to.action.is_some() {
        return Some(Broken::new("INV-4", "an event with an action was ignored"));
    }
    if to.generation.get() > 1 + u64::from(world.ledger.rounds[place]) {
        return Some(Broken::new("a generation is a human's", "a round was opened that nobody asked for"));
    }
    None
}

/// By message or by hand what failed or was held; only by hand what is done.
fn may_go_round(catalog: &Catalog, from: EventStatus) -> bool {
    let anew = !catalog.slice.wishes.is_empty() && from == EventStatus::Processed;
    anew || matches!(from, EventStatus::Failed | EventStatus::Held)
}

/// It is finished, or a human has given it up.
fn nobody_needs(event: &Event) -> bool {
    event.progress.status.is_finished() || given_up(event)
}

fn given_up(event: &Event) -> bool {
    let slug = event.progress.reason.as_ref().map(|reason| reason.slug);
    event.progress.status == EventStatus::Failed && matches!(slug, Some(Slug::Discarded | Slug::Erased))
}

fn action_step(
    catalog: &Catalog,
    before: Option<ActionRef>,
    (after, world): (Option<ActionRef>, &World),
) -> Option<Broken> {
    let Some(after) = after.map(|after| catalog.action(after)) else {
        return Some(Broken::new("INV-4", "an action is gone"));
    };
    let before = catalog.action(before?);
    let (from, to) = (before.status, after.status);
    if after.token < before.token {
        return Some(Broken::new("INV-3", "a fencing token went back"));
    }
    match after.generation.cmp(&before.generation) {
        Ordering::Less => Some(Broken::new("INV-3", "an action went back to an older generation")),
        Ordering::Equal if !from.may_become(to) => {
            let (from, to) = (from.as_str(), to.as_str());
            Some(Broken::new("INV-3", format!("an action went from {from} to {to}")))
        }
        Ordering::Equal if before.request != after.request && !emptied(after) => {
            Some(Broken::new("INV-2", "what a generation sends was changed"))
        }
        // After done only where a human wanted it once more; and what had been
        // done stays known, so that its events keep their end.
        Ordering::Greater if from == ActionStatus::Done && world.ledger.agains != [0; EVENTS] => {
            let known = to == ActionStatus::Ready && after.last_done == Some(before.generation);
            (!known).then(|| Broken::new("INV-4", "it was forgotten which generation was done"))
        }
        Ordering::Greater if from != ActionStatus::Rejected => {
            Some(Broken::new("INV-2", format!("the next generation was begun after {}", from.as_str())))
        }
        _ => None,
    }
}

/// Its content was erased, which only what is settled allows.
fn emptied(action: &Action) -> bool {
    matches!(action.status, ActionStatus::Done | ActionStatus::Rejected) && action.request.body.is_empty()
}

fn resource_step(catalog: &Catalog, before: &World, after: &World, shelf: usize) -> Option<Broken> {
    let (from, to) = (
        catalog.resource(before.resources[shelf]?),
        after.resources[shelf].map(|resource| catalog.resource(resource))?,
    );
    let rank = |status: &str| RANKS.iter().position(|known| *known == status);
    let older = matches!(to.order.compare(&from.order), Some(Ordering::Less));
    // By the vendor's number where it has one, else by the graph.
    let back = match (&from.order, &to.order) {
        (OrderValue::Rank, OrderValue::Rank) => rank(to.status.as_str()) < rank(from.status.as_str()),
        _ => older || rank(to.status.as_str()) < rank(from.status.as_str()),
    };
    back.then(|| Broken::new("INV-3", format!("a resource went from {} back to {}", from.status, to.status)))
}

/// What a state breaks by itself.
fn state(catalog: &Catalog, world: &World) -> Option<Broken> {
    let wanted = |effect: usize| {
        let asks = |event: &EventRef| catalog.event_facts(*event).effect.map(usize::from) == Some(effect);
        let places = (0..EVENTS).filter(|place| world.events[*place].as_ref().is_some_and(asks));
        1 + places.map(|place| world.ledger.agains[place]).sum::<u8>()
    };
    for effect in 0..EVENTS {
        if world.ledger.effects[effect] > wanted(effect) {
            return Some(Broken::new("INV-2", format!("effect {effect} happened twice")));
        }
    }
    if world.ledger.stray {
        return Some(Broken::new(
            "INV-2",
            "an effect happened in a generation that was given up as rejected",
        ));
    }
    for place in 0..EVENTS {
        if let Some(broken) = event_state(catalog, world, place) {
            return Some(broken);
        }
    }
    (0..SLOTS).find_map(|slot| action_state(catalog, world, slot))
}

fn event_state(catalog: &Catalog, world: &World, place: usize) -> Option<Broken> {
    let acked = world.ledger.acked[place];
    let Some(number) = world.events[place] else {
        return acked.then(|| Broken::new("INV-1", "acknowledged, and there is no event"));
    };
    let (event, facts) = (catalog.event(number), catalog.event_facts(number));
    let paper = world.papers[place][facts.content];
    if acked && !paper.is_there() && !event.is_erased() {
        return Some(Broken::new("INV-1", "acknowledged, and the payload it points to is missing"));
    }
    let held = catalog.slice.stories[place].contents[facts.content].held;
    if held && goes_on_unlooked_at(event) {
        return Some(Broken::new("INV-7", "what a human must look at first goes on by itself"));
    }
    ttl(event, paper, acked).or_else(|| bounded(catalog, world, place, event)).or_else(|| {
        let action = facts.bound.and_then(|slot| world.actions[slot]).map(|action| catalog.action(action));
        follows(world, event, facts.effect, action)
    })
}

/// What is held is held until a human opens its next round.
fn goes_on_unlooked_at(event: &Event) -> bool {
    let status = event.progress.status;
    event.progress.generation == Generation::FIRST && !status.needs_human() && !status.is_finished()
}

/// INV-9, as far as it can be seen in one state.
fn ttl(event: &Event, paper: Paper, acked: bool) -> Option<Broken> {
    let progress = &event.progress;
    if given_up(event) && (progress.expires.is_none() || progress.due.is_some()) {
        return Some(Broken::new("INV-9", "an event that a human gave up is kept for one"));
    }
    if progress.status.needs_human() && progress.expires.is_some() && !given_up(event) {
        let status = progress.status.as_str();
        return Some(Broken::new("INV-9", format!("an event {status} carries a TTL")));
    }
    match (progress.expires, paper) {
        // Before the ack a delivery may still be about to take it off.
        (None, Paper::Expires(..)) if acked => {
            Some(Broken::new("INV-9", "a payload has a TTL and its event has none"))
        }
        _ => None,
    }
}

/// INV-8: tries are bounded, and waiting is not one.
fn bounded(catalog: &Catalog, world: &World, place: usize, event: &Event) -> Option<Broken> {
    let claims = u32::from(world.ledger.claims[place]);
    if claims > catalog.slice.bounds.attempts {
        return Some(Broken::new("INV-8", "a round was tried beyond its bound"));
    }
    let counted = event.progress.attempts;
    (counted > claims).then(|| Broken::new("INV-8", "something else than a claim was counted as an attempt"))
}

fn follows(world: &World, event: &Event, wish: Option<u8>, action: Option<&Action>) -> Option<Broken> {
    match (event.progress.status, action) {
        (EventStatus::Processed, Some(action))
            if action.status != ActionStatus::Done && !was_done(event, action) =>
        {
            Some(Broken::new("INV-4", format!("processed, and its action is {}", action.status.as_str())))
        }
        (EventStatus::Processed, None) if wish.is_some() => {
            Some(Broken::new("INV-4", "processed without the action it asks for"))
        }
        (EventStatus::Processed, Some(_))
            if wish.is_some_and(|wish| world.ledger.effects[usize::from(wish)] == 0) =>
        {
            Some(Broken::new("INV-7", "processed, and what it asked for never happened"))
        }
        (EventStatus::InDoubt, None) => {
            Some(Broken::new("INV-6", "in doubt, and its action was never begun"))
        }
        (EventStatus::Processing, None) => Some(Broken::new("INV-4", "processing without an action")),
        _ => None,
    }
}

/// A human began another generation after the one that the event followed.
pub(super) fn was_done(event: &Event, action: &Action) -> bool {
    let own = event.progress.action_generation;
    own.is_some() && own <= action.last_done
}

/// The record of an action against what really happened.
fn action_state(catalog: &Catalog, world: &World, slot: usize) -> Option<Broken> {
    let action = catalog.action(world.actions[slot]?);
    let acted = world.ledger.calls[slot].acted.is_some();
    match action.status {
        ActionStatus::Done if !acted => Some(Broken::new("INV-4", "done, and the effect never happened")),
        ActionStatus::Done if action.result.is_none() => {
            Some(Broken::new("INV-4", "done without a recorded effect"))
        }
        ActionStatus::Rejected | ActionStatus::Ready if acted => {
            Some(Broken::new("INV-6", format!("{}, and the effect happened", action.status.as_str())))
        }
        _ => None,
    }
}
