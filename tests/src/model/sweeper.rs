//! A sweeper: finds what is due, moves the due time first and sends after.

use super::ask::{Ask, Asked, Known};
use super::catalog::{DecisionRef, at};
use super::mutant::Slip;
use super::scenario::{EVENTS, Kind};
use super::step::{Broken, Ways, What, Who};
use super::world::{Letter, Shut, Stage, Sweeper, SweeperAt, World};
use super::write::{Draft, Written};
use sekali::ports::Due;
use sekali::protocol::decide::{Decision, End, Read, Then};

impl Ways<'_> {
    /// The ways on of one sweeper.
    pub fn sweeper(&mut self, number: usize) {
        let sweeper = self.before.sweepers[number];
        match sweeper.at {
            SweeperAt::Idle => return self.look(number),
            SweeperAt::ReadingAction => self.sweep_bound(number),
            SweeperAt::Writing(stage) => self.sweep_write(number, stage),
            SweeperAt::Sending => self.sweep_send(number),
        }
        if let Some(mut world) = self.spend(Kind::Crash) {
            world.sweepers[number] = Sweeper::IDLE;
            self.add(who(number), What::Crashes, world);
        }
    }

    /// The index, and the event that it names. A stale index names any.
    fn look(&mut self, number: usize) {
        if self.before.sweepers[..number].iter().any(|sweeper| sweeper.at == SweeperAt::Idle)
            || self.slips(Slip::NoSweeper)
        {
            return;
        }
        for place in 0..EVENTS {
            let Some(event) = self.before.events[place] else { continue };
            let progress = &self.catalog.event(event).progress;
            let swept = matches!(Due::of(progress.status), Some(Due::Open | Due::InDoubt));
            let due = swept && progress.due.is_some_and(|due| due <= at(self.before.tick));
            let ahead = swept && progress.waits && matches!(self.before.gate, Shut::Drains(_));
            let Some(mut world) = (if due || ahead { Some(self.before) } else { self.spend(Kind::Stale) })
            else {
                continue;
            };
            world.sweepers[number].event = Some(event);
            world.sweepers[number].gate = world.gate;
            self.sweep_on(number, world, Known::Nothing, What::ReadsEvent);
        }
    }

    fn sweep_bound(&mut self, number: usize) {
        let Some(event) = self.before.sweepers[number].event else { return };
        let slot = self.catalog.event_facts(event).bound;
        let action = slot.and_then(|slot| self.before.actions[slot]);
        let known = Known::Bound { action, rules: None };
        self.sweep_on(number, self.before, known, What::ReadsAction);
    }

    fn sweep_on(&mut self, number: usize, mut world: World, known: Known, what: What) {
        let Some(event) = world.sweepers[number].event else { return };
        let progress = &self.catalog.event(event).progress;
        let early = progress.waits && progress.due.is_some_and(|due| due > at(world.tick));
        let ask = Ask::of(&world, event, known, Asked::Sweep).at_gate(world.sweepers[number].gate, early);
        let Some(decision) = self.ask(ask) else { return };
        let sweeper = &mut world.sweepers[number];
        match self.catalog.decision(decision) {
            Decision::Read(Read::Action(_)) => sweeper.at = SweeperAt::ReadingAction,
            Decision::Write { .. } => {
                sweeper.decision = Some(decision);
                sweeper.at = SweeperAt::Writing(self.first_stage(decision));
            }
            Decision::End(_) | Decision::Read(_) | Decision::Call | Decision::Probe => {
                *sweeper = Sweeper::IDLE;
            }
        }
        self.add(who(number), what, world);
    }

    fn sweep_write(&mut self, number: usize, stage: Stage) {
        let Sweeper { event, decision: Some(decision), .. } = self.before.sweepers[number] else { return };
        if stage != Stage::Write {
            let mut world = self.payload_stage(decision);
            let (at, what) = match stage {
                Stage::Keep => (SweeperAt::Writing(Stage::Write), What::KeepsPayload),
                _ => (self.swept(decision), What::ExpiresPayload),
            };
            world.sweepers[number].at = at;
            if at == SweeperAt::Idle {
                world.sweepers[number] = Sweeper::IDLE;
            }
            return self.add(who(number), what, world);
        }
        for end in self.write(Draft { decision, read: event, nonce: 0, truth: None }) {
            let mut world = end.world;
            world.sweepers[number].at = match end.written {
                Written::Applied if self.expires_after(decision) => SweeperAt::Writing(Stage::Expire),
                Written::Applied => self.swept(decision),
                // The next run reads again.
                Written::Unsure => SweeperAt::Idle,
            };
            if world.sweepers[number].at == SweeperAt::Idle {
                world.sweepers[number] = Sweeper::IDLE;
            }
            let broken = end.broken.or_else(|| self.sweeps_bounded(decision));
            self.add_checked(who(number), end.what, world, broken);
        }
    }

    fn swept(&self, decision: DecisionRef) -> SweeperAt {
        match self.then(decision) {
            Some(Then::End(End::Send)) => SweeperAt::Sending,
            _ => SweeperAt::Idle,
        }
    }

    /// INV-8: one round of an event is enqueued again so often and no oftener.
    fn sweeps_bounded(&self, decision: DecisionRef) -> Option<Broken> {
        let write = self.catalog.transition(decision)?.event.as_ref()?;
        let over = write.to.sweeps > self.catalog.slice.bounds.sweeps;
        let sends = self.then(decision) == Some(Then::End(End::Send));
        (over && sends).then(|| Broken::new("INV-8", "a round is swept beyond its bound"))
    }

    fn sweep_send(&mut self, number: usize) {
        let Some(event) = self.before.sweepers[number].event else { return };
        let place = self.catalog.event_facts(event).place;
        let mut world = self.before;
        world.sweepers[number] = Sweeper::IDLE;
        if let Some(mut lost) = self.spend(Kind::Loss) {
            lost.sweepers[number] = Sweeper::IDLE;
            self.add(who(number), What::SendFails, lost);
        }
        world.send(Letter::sent(place));
        self.add(who(number), What::Sends, world);
    }
}

fn who(number: usize) -> Who {
    Who::Sweeper(u8::try_from(number).unwrap_or(0))
}
