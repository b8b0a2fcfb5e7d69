//! The call, and what the destination makes of it.

use super::ask::{Ask, Asked, Known};
use super::catalog::ActionRef;
use super::mutant::Slip;
use super::scenario::Answer;
use super::step::{Broken, Ways, What};
use super::worker::who;
use super::world::{Ghost, WorkerAt, World};
use sekali::protocol::action::IdempotencyKey;
use sekali::protocol::decide::Decision;

impl Ways<'_> {
    /// Makes the call of a claimed action; the adversary chooses its end.
    pub fn call(&mut self, number: usize) {
        let worker = self.before.workers[number];
        let Some(Some(action)) = worker.bound else { return };
        // No effect begins outside its lease.
        if self.before.tick >= worker.until && !self.slips(Slip::CallAfterLease) {
            return self.called(number, self.before, action, Answer::LeaseOver, None);
        }
        for answer in self.catalog.slice.answers {
            let mut world = self.before;
            if let Some(broken) = self.take_call(&mut world, action, *answer) {
                self.called(number, world, action, *answer, broken.0);
            }
        }
    }

    /// The destination's side. `None`: it cannot end so from here.
    fn take_call(
        &mut self,
        world: &mut World,
        action: ActionRef,
        answer: Answer,
    ) -> Option<(Option<Broken>,)> {
        let facts = self.catalog.action_facts(action);
        let called = self.catalog.action(action).clone();
        let (slot, generation) = (facts.slot, facts.generation);
        let Some(effect) = called.request.body.first().copied() else {
            return Some((Some(Broken::new("INV-2", "what was erased was sent")),));
        };
        let key = match self.slips(Slip::CallKeyPerAttempt) {
            true => IdempotencyKey::of(&called.key, sekali::ids::Generation::from_stored(called.token.get())),
            false => called.idempotency_key(),
        };
        let request = self.catalog.number_request(key.as_str(), &called.request.body);
        let present = self.is_present(world, slot, generation);
        let calls = &mut world.ledger.calls[slot];
        let same = !present || *calls.request.get_or_insert(request) == request;
        let broken =
            (!same).then(|| Broken::new("INV-2", "a repeated call carries another key or other bytes"));
        let decisive = matches!(answer, Answer::RejectedDecisive | Answer::NotStartedDecisive);
        let on_its_way = world
            .ghost
            .is_some_and(|ghost| (usize::from(ghost.slot), ghost.generation) == (slot, generation));
        if decisive && (calls.acted.is_some() || on_its_way) {
            return None;
        }
        if matches!(answer, Answer::ActsUnheard | Answer::Silent | Answer::ActsLater) {
            calls.doubted = true;
        }
        match answer {
            Answer::Done | Answer::ActsUnheard => self.take_effect(world, effect, slot, generation),
            Answer::ActsLater if world.ghost.is_none() => {
                let until = world.tick + self.catalog.slice.promise.settling;
                let slot = u8::try_from(slot).ok()?;
                world.ghost = Some(Ghost { effect, slot, generation, until });
            }
            Answer::ActsLater => return None,
            _ => {}
        }
        Some((broken,))
    }

    /// The effect happens, unless the destination recognises the key.
    pub fn take_effect(&self, world: &mut World, effect: u8, slot: usize, generation: u8) {
        let honours = self.catalog.slice.promise.honours;
        let calls = &mut world.ledger.calls[slot];
        let known = !self.slips(Slip::CallKeyPerAttempt)
            && calls.acted.zip(honours).is_some_and(|(acted, ticks)| world.tick <= acted + ticks);
        if !self.is_present(world, slot, generation) {
            world.ledger.stray = true;
        } else if !known {
            // When it happened counts only where a key is remembered for a time.
            let acted = Some(if honours.is_some() { world.tick } else { 0 });
            world.ledger.calls[slot].acted = acted;
            let effects = &mut world.ledger.effects[usize::from(effect)];
            *effects = effects.saturating_add(1);
        }
    }

    pub fn is_present(&self, world: &World, slot: usize, generation: u8) -> bool {
        world.actions[slot].is_none_or(|action| self.catalog.action_facts(action).generation == generation)
    }

    /// The worker hears how the call ended and asks what to write.
    fn called(
        &mut self,
        number: usize,
        mut world: World,
        action: ActionRef,
        answer: Answer,
        broken: Option<Broken>,
    ) {
        let worker = &mut world.workers[number];
        worker.answer = Some(answer);
        worker.claim = Some(action);
        worker.called = true;
        if let Some(world) = self.ask_outcome(number, world) {
            self.add_checked(who(number), What::Calls(answer), world, broken);
        }
    }

    /// Asks what an outcome leads to, from what the worker knows.
    pub fn ask_outcome(&mut self, number: usize, mut world: World) -> Option<World> {
        let worker = world.workers[number];
        let (event, bound, answer) = (worker.event?, worker.bound?, worker.answer?);
        let known = Known::Bound { action: bound, rules: None };
        let decision =
            self.ask(Ask::of(&world, event, known, Asked::Outcome(answer)).at_gate(worker.gate, false))?;
        match self.catalog.decision(decision) {
            Decision::Write { .. } => {
                let stage = self.first_stage(decision);
                let worker = &mut world.workers[number];
                worker.decision = Some(decision);
                worker.at = WorkerAt::Settling(stage);
                Some(world)
            }
            // Nothing to write, which only an outcome without evidence may come to.
            _ => {
                if self.is_certain(answer, bound) {
                    let broken = Some(Broken::new("INV-6", "the evidence of a certain outcome was given up"));
                    self.add_checked(who(number), What::Calls(answer), world, broken);
                }
                self.ask_message(number, world)
            }
        }
    }

    /// Does the answer say what is the case, whatever else was tried?
    fn is_certain(&self, answer: Answer, action: Option<ActionRef>) -> bool {
        let slot = action.map(|action| self.catalog.action_facts(action).slot);
        let doubted = slot.is_some_and(|slot| self.before.ledger.calls[slot].doubted);
        match answer {
            Answer::Done | Answer::RejectedDecisive | Answer::NotStartedDecisive => true,
            Answer::Rejected | Answer::NotStarted | Answer::LeaseOver => !doubted,
            Answer::ActsUnheard | Answer::Silent | Answer::ActsLater => false,
        }
    }

    /// INV-6: what the caller's own write makes of its answer.
    pub fn outcome_kept(&self, number: usize, after: &World) -> Option<Broken> {
        let worker = self.before.workers[number];
        let (facts, answer) = (self.catalog.action_facts(worker.claim?), worker.answer?);
        let claim = self.catalog.action(worker.claim?);
        let before = self.catalog.action(self.before.actions[facts.slot]?);
        let after = self.catalog.action(after.actions[facts.slot]?);
        if (&before.owner, before.token) != (&claim.owner, claim.token) {
            return Some(Broken::new("INV-5", "a worker wrote over an action that it no longer holds"));
        }
        let certain = self.is_certain(answer, worker.claim);
        use sekali::protocol::action::ActionStatus::{Begun, Done, InDoubt, Ready, Rejected};
        match (certain, after.status) {
            (true, Begun | InDoubt) => Some(Broken::new("INV-6", "a certain outcome became doubtful")),
            (false, Done | Rejected | Ready) => {
                Some(Broken::new("INV-6", "a doubtful outcome became certain without evidence"))
            }
            _ => None,
        }
    }
}
