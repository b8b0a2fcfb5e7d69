//! Whoever brings an event that never arrived from the vendor's own list. It
//! mirrors the core's own `bring`, call by call.

use super::delivery::TRIES;
use super::mutant::Slip;
use super::scenario::Kind;
use super::step::{Ways, What, Who};
use super::world::{Bringer, BringerAt, Letter, World};
use sekali::protocol::event::EventStatus;

/// The event that is brought, and which of its contents the list says.
pub(super) const PLACE: usize = 0;
pub(super) const LISTED: usize = 1;

impl Ways<'_> {
    /// The ways on of whoever brings.
    pub fn bringer(&mut self) {
        let bringer = self.before.bringer;
        match bringer.at {
            BringerAt::Gone => return,
            BringerAt::Away => return self.look_first(),
            BringerAt::Putting => self.put_brought(),
            BringerAt::Keeping => self.keep_brought(),
            BringerAt::Creating => self.create_brought(),
            BringerAt::Sending => self.send_brought(),
        }
        if let Some(mut world) = self.spend(Kind::Crash) {
            world.bringer = bringer.after_death();
            self.add(Who::Bringer, What::Crashes, world);
        }
    }

    /// What came meanwhile is left alone.
    fn look_first(&mut self) {
        let mut world = self.before;
        if world.events[PLACE].is_some() {
            world.bringer = Bringer::GONE;
            return self.add(Who::Bringer, What::MeetsEvent, world);
        }
        world.bringer.event = Some(self.catalog.brought_event(world.bringer.attempt, world.tick));
        world.bringer.at = BringerAt::Putting;
        if self.slips(Slip::BringsUnseen) {
            world.bringer.at = BringerAt::Creating;
        }
        self.add(Who::Bringer, What::Brings, world);
    }

    fn put_brought(&mut self) {
        let Some(event) = self.before.bringer.event.map(|event| self.catalog.event(event)) else { return };
        let expires = event.received_at.expires_after(self.catalog.limits().window);
        let held = event.progress.status != EventStatus::Received;
        let mut world = self.before;
        let paper = &mut world.papers[PLACE][LISTED];
        *paper = paper.put(expires);
        world.bringer.at = match held {
            true => BringerAt::Keeping,
            false if self.slips(Slip::BringsUnseen) => BringerAt::Sending,
            false => BringerAt::Creating,
        };
        self.add(Who::Bringer, What::PutsPayload, world);
    }

    /// Born for a human: its payload loses its TTL before the event is there.
    fn keep_brought(&mut self) {
        let Some(event) = self.before.bringer.event else { return };
        let generation = self.catalog.event(event).progress.generation;
        let mut world = self.before;
        let paper = &mut world.papers[PLACE][LISTED];
        *paper = paper.keep(generation);
        world.bringer.at = BringerAt::Creating;
        self.add(Who::Bringer, What::KeepsPayload, world);
    }

    /// On condition that there is none.
    fn create_brought(&mut self) {
        let Some(ours) = self.before.bringer.event else { return };
        let mut world = self.before;
        let own = |stored| self.catalog.event(stored).put_nonce == self.catalog.event(ours).put_nonce;
        if world.events[PLACE].is_some_and(own) {
            world.bringer.at = BringerAt::Sending;
            return self.add(Who::Bringer, What::MeetsEvent, world);
        }
        if world.events[PLACE].is_some() && !self.slips(Slip::BringsAnyway) {
            world.bringer = Bringer::GONE;
            return self.add(Who::Bringer, What::MeetsEvent, world);
        }
        world.events[PLACE] = Some(ours);
        if let Some(budget) = world.budget.spend(Kind::LostAnswer) {
            self.add(Who::Bringer, What::CreatesEventUnheard, World { budget, ..world });
        }
        let held = self.catalog.event(ours).progress.status != EventStatus::Received;
        world.bringer = match held {
            true => Bringer::GONE,
            false => Bringer { at: BringerAt::Sending, ..world.bringer },
        };
        if self.slips(Slip::BringsUnseen) {
            world.bringer.at = BringerAt::Putting;
        }
        self.add(Who::Bringer, What::CreatesEvent, world);
    }

    /// A queue that refuses leaves the event to the sweeper.
    fn send_brought(&mut self) {
        let mut world = self.before;
        world.bringer = Bringer::GONE;
        if let Some(mut lost) = self.spend(Kind::Loss) {
            lost.bringer = Bringer::GONE;
            self.add(Who::Bringer, What::SendFails, lost);
        }
        world.send(Letter::sent(PLACE));
        self.add(Who::Bringer, What::Sends, world);
    }
}

impl Bringer {
    /// Whoever brings it hears nothing and tries again.
    fn after_death(self) -> Self {
        let attempt = self.attempt + 1;
        if attempt < TRIES { Self { attempt, ..Self::AWAY } } else { Self::GONE }
    }
}
