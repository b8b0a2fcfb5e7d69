//! Writing a decided transition: the payload's TTL before or after, and the
//! ways in which the answer of the write can stay away.

use super::apply::Items;
use super::catalog::{ActionRef, DecisionFacts, DecisionRef, EventRef};
use super::mutant::Slip;
use super::scenario::Kind;
use super::step::{Broken, Ways, What, Who};
use super::world::{Calls, Flight, Stage, World};
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::decide::Then;
use sekali::protocol::event::EventStatus;

/// What a writer knows after its write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Applied,
    /// Refused, or nobody knows: read again.
    Unsure,
}

/// One end of a write.
pub(super) struct End {
    pub world: World,
    pub written: Written,
    pub what: What,
    pub broken: Option<Broken>,
}

/// A write as its writer decided it.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    pub decision: DecisionRef,
    /// The event as the writer had read it.
    pub read: Option<EventRef>,
    /// The nonce that the write may carry.
    pub nonce: u8,
    /// The step of the resource's course that the write was decided on.
    pub truth: Option<u8>,
}

impl Ways<'_> {
    /// Where the writing of a decision begins.
    pub fn first_stage(&self, decision: DecisionRef) -> Stage {
        match self.catalog.decision_facts(decision).paper {
            Some((_, _, _, None)) => Stage::Keep,
            Some((_, _, _, Some(_))) if self.slips(Slip::PayloadExpiresFirst) => Stage::Keep,
            _ => Stage::Write,
        }
    }

    /// Whether the payload's TTL is still to be set after the write.
    pub fn expires_after(&self, decision: DecisionRef) -> bool {
        let paper = self.catalog.decision_facts(decision).paper;
        matches!(paper, Some((_, _, _, Some(_)))) && !self.slips(Slip::PayloadExpiresFirst)
    }

    pub fn slips(&self, slip: Slip) -> bool {
        self.catalog.protocol.slip == Some(slip)
    }

    /// The state after the payload's TTL was taken off or set.
    pub fn payload_stage(&self, decision: DecisionRef) -> World {
        let mut world = self.before;
        if let Some((place, content, generation, expires)) = self.catalog.decision_facts(decision).paper {
            let paper = &mut world.papers[place][content];
            let newest = paper.settled_by().filter(|_| self.slips(Slip::TtlOfAnyGeneration));
            let generation = newest.map_or(generation, |newest| newest.max(generation));
            *paper = match expires {
                None => paper.keep(generation),
                Some(expires) => paper.expire(generation, expires),
            };
        }
        world
    }

    /// Every way in which the write can end.
    pub fn write(&mut self, draft: Draft) -> Vec<End> {
        let before = self.before;
        let mut ends = Vec::new();
        match self.applied(before, draft) {
            Some((world, broken)) => {
                ends.push(End {
                    world,
                    written: Written::Applied,
                    what: What::Writes,
                    broken: broken.clone(),
                });
                if let Some(budget) = before.budget.spend(Kind::LostAnswer) {
                    let world = World { budget, ..world };
                    ends.push(End { world, written: Written::Unsure, what: What::WritesUnheard, broken });
                }
            }
            None => {
                let (written, what) = (Written::Unsure, What::IsRefused);
                ends.push(End { world: before, written, what, broken: None });
            }
        }
        if let Some(world) = self.spend(Kind::LostAnswer) {
            let (written, what, broken) = (Written::Unsure, What::WritesInVain, None);
            ends.push(End { world, written, what, broken });
        }
        if let Some(world) = self.spend(Kind::LateWrite).filter(|world| world.flight.is_none()) {
            let Draft { decision, read, nonce, truth } = draft;
            let world = World { flight: Some(Flight { decision, read, nonce, truth }), ..world };
            ends.push(End { world, written: Written::Unsure, what: What::WriteHangs, broken: None });
        }
        ends
    }

    /// A write that hung lands at last, or is refused.
    pub fn land(&mut self) {
        let Some(Flight { decision, read, nonce, truth }) = self.before.flight else { return };
        let before = World { flight: None, ..self.before };
        let (what, (world, broken)) = match self.applied(before, Draft { decision, read, nonce, truth }) {
            Some(landed) => (What::WriteLands, landed),
            None => (What::IsRefused, (before, None)),
        };
        self.add_checked(Who::Network, what, world, broken);
    }

    /// The state after the write, unless a guard refuses it.
    fn applied(&mut self, mut world: World, draft: Draft) -> Option<(World, Option<Broken>)> {
        let DecisionFacts { place, slot, shelf, .. } = self.catalog.decision_facts(draft.decision);
        let items: Items = (
            place.and_then(|place| world.events[place]),
            slot.and_then(|slot| world.actions[slot]),
            shelf.and_then(|shelf| world.resources[shelf]),
        );
        let after = self.catalog.apply(draft.decision, items)?;
        let mut broken = None;
        if let Some(place) = place {
            world.events[place] = after.0;
            broken = self.event_written(&mut world, place, (items.0, after.0), draft);
        }
        if let Some(slot) = slot {
            world.actions[slot] = after.1;
            self.action_written(&mut world, slot, place, (items.1, after.1));
            broken = broken.or_else(|| self.doubt_ended(&mut world, slot, (items.1, after.1)));
        }
        if let Some(shelf) = shelf {
            world.resources[shelf] = after.2;
            broken = broken.or_else(|| told_later(&mut world, shelf, draft.truth));
        }
        Some((world, broken))
    }

    /// INV-5, by what the writer had read: an event write lands only where the
    /// generation, and while unclaimed the content, still are as read.
    fn event_written(
        &self,
        world: &mut World,
        place: usize,
        (stored, after): (Option<EventRef>, Option<EventRef>),
        Draft { read, truth, .. }: Draft,
    ) -> Option<Broken> {
        let stored_number = stored?;
        let (stored, after, read) =
            (self.catalog.event(stored_number), self.catalog.event(after?), self.catalog.event(read?));
        if stored.progress.generation != after.progress.generation {
            world.ledger.claims[place] = 0;
        }
        if stored.progress == after.progress {
            return None;
        }
        if read.progress.generation != stored.progress.generation {
            return Some(Broken::new("INV-5", "a write decided on one generation landed in another"));
        }
        if read.progress.action.is_none() && read.hash != stored.hash {
            return Some(Broken::new("INV-5", "a write decided on one content landed on another"));
        }
        let claimed = matches!(after.progress.status, EventStatus::Processing | EventStatus::Processed);
        let signal = self.catalog.event_facts(stored_number).signal;
        if claimed && read.progress.action.is_none() && truth < signal {
            return Some(Broken::new("INV-3", "an event went by an answer older than its own signal"));
        }
        None
    }

    /// Keeps the ledger: a claim is an attempt, a takeover makes doubtful.
    fn action_written(
        &self,
        world: &mut World,
        slot: usize,
        place: Option<usize>,
        (before, after): (Option<ActionRef>, Option<ActionRef>),
    ) {
        let Some(after) = after else { return };
        let after = self.catalog.action(after);
        let before = before.map(|action| self.catalog.action(action));
        let claims = |before: &Action| after.token != before.token || after.owner != before.owner;
        if before.is_some_and(|before| before.generation != after.generation) {
            world.ledger.calls[slot] = Calls::NONE;
        }
        if after.status != ActionStatus::Begun || !before.is_none_or(claims) {
            return;
        }
        if let Some(place) = place {
            world.ledger.claims[place] = world.ledger.claims[place].saturating_add(1);
        }
        if before.is_some_and(|before| {
            before.status == ActionStatus::Begun && before.generation == after.generation
        }) {
            world.ledger.calls[slot].doubted = true;
        }
    }

    /// INV-6: what may be begun again without a doubt did not happen, and
    /// nothing of it is on its way, whoever called and was not heard of again.
    fn doubt_ended(
        &self,
        world: &mut World,
        slot: usize,
        (before, after): (Option<ActionRef>, Option<ActionRef>),
    ) -> Option<Broken> {
        let (before, after) = (self.catalog.action(before?), self.catalog.action(after?));
        let again = (before.status, after.status) == (ActionStatus::Begun, ActionStatus::Ready);
        if !again || after.doubted {
            return None;
        }
        world.ledger.calls[slot].doubted = false;
        let tick = world.tick;
        let on_its_way =
            world.ghost.is_some_and(|ghost| usize::from(ghost.slot) == slot && tick < ghost.until);
        on_its_way.then(|| Broken::new("INV-6", "a doubt ended while the call may still take effect"))
    }

    /// What follows the decision's write.
    pub fn then(&self, decision: DecisionRef) -> Option<Then> {
        self.catalog.decision_facts(decision).then
    }
}

/// INV-3: what the API said is written in the order in which it was so.
fn told_later(world: &mut World, shelf: usize, truth: Option<u8>) -> Option<Broken> {
    let step = truth? + 1;
    let back = step < world.ledger.told[shelf];
    world.ledger.told[shelf] = step;
    back.then(|| Broken::new("INV-3", "a resource went back to an answer that was overtaken"))
}
