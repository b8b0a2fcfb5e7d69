//! A worker: the loop of the core's own `look`, one port call a step.

use super::ask::{Ask, Asked, Known};
use super::catalog::{ActionRef, EventFacts, EventRef, at};
use super::mutant::Slip;
use super::scenario::{Kind, Told, WORKERS};
use super::step::{Broken, Ways, What, Who};
use super::world::{Letter, Place, Rules, Shut, Worker, WorkerAt, World};
use sekali::protocol::decide::{Decision, End, Read, Then};

impl Ways<'_> {
    /// The ways on of one worker.
    pub fn worker(&mut self, number: usize) {
        let worker = self.before.workers[number];
        match worker.at {
            WorkerAt::Idle => return self.receive(number),
            WorkerAt::ReadingEvent => self.read_event(number),
            WorkerAt::ReadingAction => self.read_bound(number),
            WorkerAt::ReadingRules => self.read_rules(number),
            WorkerAt::AskingApi => self.ask_api(number),
            WorkerAt::ReadingWanted => self.read_wanted(number),
            WorkerAt::Writing(stage) => self.writing(number, stage),
            WorkerAt::WritingRefusal(stage) => self.writing_refusal(number, stage),
            WorkerAt::Calling => self.call(number),
            WorkerAt::Asking(since) => self.probe(number, since),
            WorkerAt::Told(finding, asked) => self.told(number, finding, asked),
            WorkerAt::Settling(stage) => self.settling(number, stage),
            WorkerAt::RereadingEvent => {
                let mut world = self.before;
                self.forget(number, &mut world);
                world.workers[number].at = WorkerAt::RereadingAction;
                self.add(who(number), What::ReadsEvent, world);
            }
            WorkerAt::RereadingAction => self.reread_action(number),
            WorkerAt::Disposing => self.dispose(number, self.before, What::Disposes),
        }
        if let Some(mut world) = self.spend(Kind::Crash) {
            give_back(&mut world, number);
            self.add(who(number), What::Crashes, world);
        }
    }

    fn receive(&mut self, number: usize) {
        // Idle workers are alike: the first takes the message.
        if self.before.workers[..number].iter().any(|worker| worker.at == WorkerAt::Idle) {
            return;
        }
        for letter in self.before.letters.into_iter().flatten() {
            if letter.place == Place::Waiting {
                let mut world = self.before;
                world.take(letter);
                let held = Letter { place: Place::HandedOut, ..letter };
                world.send(held);
                let nonce = self.fresh_nonce(number);
                world.workers[number] = Worker {
                    at: WorkerAt::ReadingEvent,
                    letter: Some(held),
                    gate: world.gate,
                    nonce,
                    until: world.tick + 1,
                    may_lease: true,
                    ..Worker::IDLE
                };
                self.forget(number, &mut world);
                self.on(number, world, What::Receives);
            }
        }
    }

    /// The smallest nonce that nobody holds or has left anywhere.
    fn fresh_nonce(&self, number: usize) -> u8 {
        let world = &self.before;
        let others = (0..WORKERS).filter(|other| *other != number);
        let taken: Vec<u8> = others
            .map(|other| world.workers[other].nonce)
            .chain(world.flight.map(|flight| flight.nonce))
            .collect();
        let owns = |nonce: u8, action: ActionRef| self.catalog.action_facts(action).nonce == Some(nonce);
        let stored = |nonce: u8| world.actions.iter().flatten().any(|action| owns(nonce, *action));
        (1..u8::MAX).find(|nonce| !taken.contains(nonce) && !stored(*nonce)).unwrap_or(u8::MAX)
    }

    /// Reads the event anew; everything else that was known is forgotten.
    fn forget(&self, number: usize, world: &mut World) {
        let worker = &mut world.workers[number];
        let event = worker.letter.and_then(|letter| world.events[usize::from(letter.event)]);
        let Worker { letter, gate, nonce, called, until, may_lease, answer, claim, at, .. } = *worker;
        *worker = Worker {
            letter,
            gate,
            nonce,
            called,
            until,
            may_lease,
            answer,
            claim,
            at,
            event,
            ..Worker::IDLE
        };
    }

    fn read_event(&mut self, number: usize) {
        let mut world = self.before;
        self.forget(number, &mut world);
        self.on(number, world, What::ReadsEvent);
    }

    fn read_bound(&mut self, number: usize) {
        let mut world = self.before;
        world.workers[number].bound = Some(self.bound_action(number, &world));
        self.on(number, world, What::ReadsAction);
    }

    /// The action that the worker's event remembers, as it stands.
    pub fn bound_action(&self, number: usize, world: &World) -> Option<ActionRef> {
        let event = world.workers[number].event?;
        world.actions[self.catalog.event_facts(event).bound?]
    }

    /// The payload, what the rules make of it, and the resource they name.
    fn read_rules(&mut self, number: usize) {
        let mut world = self.before;
        let worker = &mut world.workers[number];
        let (Some(letter), Some(event)) = (worker.letter, worker.event) else { return };
        let facts = self.catalog.event_facts(event);
        let there = self.before.papers[usize::from(letter.event)][facts.content].is_there();
        worker.rules = Some(if there { Rules::Payload } else { Rules::NoPayload });
        let unclaimed = facts.bound.is_none() || self.asks_rules_again();
        let asks_api = there && facts.signal.is_some();
        if there && unclaimed && !(asks_api && self.slips(Slip::AsksBeforeReading)) {
            worker.resource = facts.shelf.and_then(|shelf| self.before.resources[shelf]);
        }
        if asks_api {
            // The resource is read before the API is asked about it (INV-3).
            worker.at = WorkerAt::AskingApi;
            return self.add(who(number), What::AsksRules, world);
        }
        if there && unclaimed {
            match (facts.shelf, facts.wanted) {
                // Two reads side by side, of which either may be the later.
                (Some(_), Some(_)) => {
                    worker.at = WorkerAt::ReadingWanted;
                    return self.add(who(number), What::AsksRules, world);
                }
                (None, Some(slot)) => worker.wanted = self.before.actions[slot],
                (_, None) => {}
            }
        }
        self.on(number, world, What::AsksRules);
    }

    /// The vendor's API, which tells how the resource stands, or did, or
    /// nothing.
    fn ask_api(&mut self, number: usize) {
        let Some(event) = self.before.workers[number].event else { return };
        let facts = self.catalog.event_facts(event);
        let oldest = if self.catalog.slice.api.behind { 0 } else { self.before.truth };
        let steps = (oldest..=self.before.truth).rev().map(Told::Step);
        for told in steps.chain([Told::Nothing, Told::Never]) {
            let mut world = self.before;
            let worker = &mut world.workers[number];
            worker.rules = Some(Rules::Told(told));
            if facts.bound.is_none() && facts.wanted.is_some() && matches!(told, Told::Step(_)) {
                worker.at = WorkerAt::ReadingWanted;
                self.add(who(number), What::Hears(told), world);
            } else {
                self.on(number, world, What::Hears(told));
            }
        }
    }

    fn read_wanted(&mut self, number: usize) {
        let mut world = self.before;
        let Some(event) = world.workers[number].event else { return };
        let EventFacts { wanted: slot, shelf, signal, .. } = self.catalog.event_facts(event);
        if signal.is_some() && self.slips(Slip::AsksBeforeReading) {
            world.workers[number].resource = shelf.and_then(|shelf| self.before.resources[shelf]);
        }
        world.workers[number].wanted = slot.and_then(|slot| self.before.actions[slot]);
        self.on(number, world, What::ReadsWanted);
    }

    /// Asks again, from what is known now. Where a reading ends the look, the
    /// message is disposed of at once: a death between the two is the same as
    /// one before.
    pub fn on(&mut self, number: usize, world: World, what: What) {
        let Some(world) = self.ask_message(number, world) else { return };
        match world.workers[number].at {
            WorkerAt::Disposing => self.dispose(number, world, what),
            _ => self.add(who(number), what, world),
        }
    }

    /// Asks what a message leads to; the worker then stands before it.
    pub fn ask_message(&mut self, number: usize, mut world: World) -> Option<World> {
        if world.workers[number].called {
            let nonce = self.fresh_nonce(number);
            let worker = &mut world.workers[number];
            worker.nonce = nonce;
            worker.called = false;
            worker.may_lease = world.tick < worker.until;
            (worker.answer, worker.claim) = (None, None);
        }
        let worker = world.workers[number];
        let (Some(letter), Some(event)) = (worker.letter, worker.event) else {
            // No such event: its message goes to people, never away.
            give_back(&mut world, number);
            return Some(world);
        };
        let known = self.known(&worker, event);
        let lease = worker.may_lease.then_some(worker.until);
        let input = Asked::Message { moved: letter.moved, nonce: worker.nonce, lease };
        let decision = self.ask(Ask::of(&world, event, known, input).at_gate(worker.gate, false))?;
        if worker.gate == Shut::Paused && self.then(decision) == Some(Then::Call) {
            let broken = Some(Broken::new("a pause", "something new was begun"));
            self.add_checked(who(number), What::IsRefused, self.before, broken);
            return None;
        }
        let at = match self.catalog.decision(decision) {
            Decision::Read(Read::Action(_)) => WorkerAt::ReadingAction,
            Decision::Read(Read::Intent) => WorkerAt::ReadingRules,
            Decision::Read(Read::FirstPayload) => {
                self.undecided("a worker is told to look for a first payload".to_owned());
                return None;
            }
            Decision::Write { .. } => WorkerAt::Writing(self.first_stage(decision)),
            Decision::Call => WorkerAt::Calling,
            Decision::Probe => WorkerAt::Asking(world.tick),
            Decision::End(_) => WorkerAt::Disposing,
        };
        let worker = &mut world.workers[number];
        worker.at = at;
        let needed = matches!(at, WorkerAt::Writing(_) | WorkerAt::Disposing);
        worker.decision = needed.then_some(decision);
        Some(world)
    }

    fn asks_rules_again(&self) -> bool {
        self.slips(Slip::ComparesAgain) || self.slips(Slip::KeyPerAttempt)
    }

    /// What a worker knows besides its event.
    pub fn known(&self, worker: &Worker, event: EventRef) -> Known {
        let unclaimed = self.catalog.event_facts(event).bound.is_none() || self.asks_rules_again();
        match (worker.bound, worker.rules) {
            (Some(action), rules) => Known::Bound { action, rules },
            (None, Some(rules)) if unclaimed => {
                Known::Planned { rules, resource: worker.resource, wanted: worker.wanted }
            }
            (None, _) => Known::Nothing,
        }
    }

    /// The message has done what it can.
    pub fn dispose(&mut self, number: usize, world: World, what: What) {
        let worker = world.workers[number];
        let (Some(letter), Some(decision)) = (worker.letter, worker.decision) else { return };
        let end = match self.catalog.decision(decision) {
            Decision::End(end) | Decision::Write { then: Then::End(end), .. } => *end,
            _ => End::Drop,
        };
        let (mut deleted, mut returned) = (world, world);
        deleted.take(letter);
        deleted.workers[number] = Worker::IDLE;
        give_back(&mut returned, number);
        match end {
            // A wait longer than that for a lease leaves the event to the
            // sweeper, and the end of a pause is one.
            End::Wait(until) if until > at(world.tick + 1) || worker.gate == Shut::Paused => {
                self.add(who(number), what, deleted);
            }
            // Soon while the message is young, then with the sweeper.
            End::AskAgain { .. } => {
                self.add(who(number), what, deleted);
                if let Some(budget) = world.budget.spend(Kind::Young) {
                    self.add(who(number), what, World { budget, ..returned });
                }
            }
            End::Wait(_) | End::Retry { .. } => self.add(who(number), what, returned),
            End::Fail => {
                deleted.send(Letter { place: Place::Dead, ..letter });
                self.add(who(number), what, deleted);
            }
            _ => self.add(who(number), what, deleted),
        }
    }
}

/// The message is visible again.
fn give_back(world: &mut World, number: usize) {
    if let Some(letter) = world.workers[number].letter {
        world.take(letter);
        world.send(Letter { place: Place::Waiting, ..letter });
    }
    world.workers[number] = Worker::IDLE;
}

/// The worker with this number.
pub(super) fn who(number: usize) -> Who {
    Who::Worker(u8::try_from(number).unwrap_or(0))
}
