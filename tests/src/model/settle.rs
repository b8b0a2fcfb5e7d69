//! What a worker writes: a decision, an outcome, what a refusal of the store
//! leads to.

use super::ask::{Ask, Asked};
use super::catalog::{DecisionFacts, DecisionRef};
use super::scenario::Kind;
use super::step::{Broken, Ways, What};
use super::worker::who;
use super::world::{Rules, Stage, Worker, WorkerAt, World};
use super::write::{Draft, Written};
use sekali::protocol::decide::{Decision, Then};
use sekali::protocol::transition::ActionWrite;

impl Ways<'_> {
    pub fn writing(&mut self, number: usize, stage: Stage) {
        let worker = self.before.workers[number];
        let Some(decision) = worker.decision else { return };
        match stage {
            Stage::Keep | Stage::Expire => {
                let world = self.payload_stage(decision);
                let what = if stage == Stage::Keep { What::KeepsPayload } else { What::ExpiresPayload };
                match stage {
                    Stage::Keep => self.at(number, world, WorkerAt::Writing(Stage::Write), what),
                    _ => self.after_write(number, world, decision, what, None),
                }
            }
            Stage::Write => {
                for end in self.write(worker.draft(decision)) {
                    match end.written {
                        Written::Applied if self.expires_after(decision) => {
                            let mut world = end.world;
                            world.workers[number].at = WorkerAt::Writing(Stage::Expire);
                            self.add_checked(who(number), end.what, world, end.broken);
                        }
                        Written::Applied => {
                            self.after_write(number, end.world, decision, end.what, end.broken);
                        }
                        Written::Unsure => self.at(number, end.world, WorkerAt::ReadingEvent, end.what),
                    }
                }
                self.too_large(number, decision);
            }
        }
    }

    fn at(&mut self, number: usize, mut world: World, at: WorkerAt, what: What) {
        world.workers[number].at = at;
        self.add(who(number), what, world);
    }

    /// The write is durable: what was known is brought up to date.
    pub fn after_write(
        &mut self,
        number: usize,
        mut world: World,
        decision: DecisionRef,
        what: What,
        broken: Option<Broken>,
    ) {
        let DecisionFacts { place, slot, .. } = self.catalog.decision_facts(decision);
        let action = self.catalog.transition(decision).and_then(|transition| transition.action.as_ref());
        let puts = matches!(action, Some(ActionWrite::Put { .. }));
        if let Some(place) = place {
            world.workers[number].event = world.events[place];
        }
        if let Some(slot) = slot.filter(|_| puts) {
            // From now on only the action counts; the rules can be asked again.
            let worker = &mut world.workers[number];
            worker.bound = Some(world.actions[slot]);
            (worker.rules, worker.resource, worker.wanted) = (None, None, None);
        }
        let world = match self.then(decision) {
            Some(Then::Call) => {
                world.workers[number].at = WorkerAt::Calling;
                world.workers[number].decision = None;
                Some(world)
            }
            Some(Then::End(_)) => {
                world.workers[number].at = WorkerAt::Disposing;
                Some(world)
            }
            Some(Then::Decide) | None => self.ask_message(number, world),
        };
        if let Some(world) = world {
            self.add_checked(who(number), what, world, broken);
        }
    }

    pub fn settling(&mut self, number: usize, stage: Stage) {
        let worker = self.before.workers[number];
        let Some(decision) = worker.decision else { return };
        if stage != Stage::Write {
            let world = self.payload_stage(decision);
            return self.at(number, world, WorkerAt::Settling(Stage::Write), What::KeepsPayload);
        }
        for end in self.write(worker.draft(decision)) {
            let kept = || (end.what == What::Writes).then(|| self.outcome_kept(number, &end.world)).flatten();
            let broken = end.broken.clone().or_else(kept);
            match end.written {
                Written::Applied => self.after_write(number, end.world, decision, end.what, broken),
                Written::Unsure => {
                    let mut world = end.world;
                    world.workers[number].at = WorkerAt::RereadingEvent;
                    self.add_checked(who(number), end.what, world, broken);
                }
            }
        }
    }

    /// While the action is still held under the claim, the outcome is evidence.
    pub fn reread_action(&mut self, number: usize) {
        let mut world = self.before;
        let bound = self.bound_action(number, &world);
        world.workers[number].bound = Some(bound);
        let claim = world.workers[number].claim.map(|claim| self.catalog.action(claim).held());
        let held = claim.is_some_and(|claim| claim.admits(bound.map(|action| self.catalog.action(action))));
        if !held {
            return self.on(number, world, What::ReadsAction);
        }
        if let Some(world) = self.ask_outcome(number, world) {
            self.add(who(number), What::ReadsAction, world);
        }
    }

    /// The store will never take the claim.
    fn too_large(&mut self, number: usize, decision: DecisionRef) {
        let claims = self.then(decision) == Some(Then::Call);
        let (Some(mut world), true) = (self.spend(Kind::Refusal), claims) else { return };
        let worker = world.workers[number];
        let (Some(letter), Some(event)) = (worker.letter, worker.event) else { return };
        let known = self.known(&worker, event);
        let input = Asked::Refused { moved: letter.moved };
        let ask = Ask::of(&world, event, known, input).at_gate(worker.gate, false);
        let Some(decision) = self.ask(ask) else { return };
        let at = match self.catalog.decision(decision) {
            Decision::Write { .. } => WorkerAt::WritingRefusal(self.first_stage(decision)),
            _ => WorkerAt::Disposing,
        };
        world.workers[number].decision = Some(decision);
        self.at(number, world, at, What::WriteTooLarge);
    }

    pub fn writing_refusal(&mut self, number: usize, stage: Stage) {
        let worker = self.before.workers[number];
        let Some(decision) = worker.decision else { return };
        if stage != Stage::Write {
            let world = self.payload_stage(decision);
            return self.at(number, world, WorkerAt::WritingRefusal(Stage::Write), What::KeepsPayload);
        }
        for end in self.write(worker.draft(decision)) {
            match end.written {
                Written::Applied => self.after_write(number, end.world, decision, end.what, end.broken),
                Written::Unsure => self.at(number, end.world, WorkerAt::ReadingEvent, end.what),
            }
        }
    }
}

impl Worker {
    /// What it writes, as it decided it.
    fn draft(&self, decision: DecisionRef) -> Draft {
        let truth = self.rules.and_then(Rules::truth);
        Draft { decision, read: self.event, nonce: self.nonce, truth }
    }
}
