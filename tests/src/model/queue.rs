//! What nobody in particular does: time passes, the queue hands out again or
//! loses, a write that hung lands, a call takes effect late.

use super::scenario::Kind;
use super::step::{Ways, What, Who};
use super::world::{DeliveryAt, Letter, Place, Shut, World};

impl Ways<'_> {
    /// One tick. An ingest instance does not outlive two of them.
    pub fn time(&mut self) {
        if self.before.tick >= self.catalog.slice.horizon {
            return;
        }
        let mut world = self.before;
        world.pass();
        for delivery in &mut world.deliveries {
            let under_way = !matches!(delivery.at, DeliveryAt::Away | DeliveryAt::Gone);
            if under_way && world.tick > delivery.started + 1 {
                *delivery = delivery.after_death();
            }
        }
        self.add(Who::Time, What::Passes, world);
    }

    /// The queues between send and delete.
    pub fn letters(&mut self) {
        let letters = self.before.letters;
        for (number, letter) in letters.into_iter().enumerate() {
            let Some(letter) = letter else { continue };
            // Equal letters have equal ways on.
            if number > 0 && letters[number - 1] == Some(letter) {
                continue;
            }
            match letter.place {
                Place::Waiting => {
                    if let Some(mut world) = self.spend(Kind::Loss) {
                        world.take(letter);
                        self.add(Who::Queue, What::Loses, world);
                    }
                }
                Place::HandedOut => {
                    if let Some(mut world) = self.spend(Kind::Redelivery) {
                        world.send(Letter { place: Place::Waiting, ..letter });
                        self.add(Who::Queue, What::HandsOutAgain, world);
                    }
                }
                Place::Dead => self.redrive(letter),
            }
        }
    }

    /// A human moves a dead letter back, which stamps it anew, more than a
    /// minute after it was written.
    fn redrive(&mut self, letter: Letter) {
        if let Some(mut world) = self.spend(Kind::Redrive) {
            world.take(letter);
            world.send(Letter { moved: Some(world.tick), place: Place::Waiting, ..letter });
            let rounds = &mut world.ledger.rounds[usize::from(letter.event)];
            *rounds += 1;
            self.add(Who::Human, What::Redrives, world);
        }
    }

    /// The resource goes on at the vendor's.
    pub fn course(&mut self) {
        let mut world = self.before;
        world.truth += 1;
        if usize::from(world.truth) < self.catalog.slice.api.course.len() {
            self.add(Who::Vendor, What::GoesOn, world);
        }
    }

    /// A human pauses the endpoint, and lets it go on.
    pub fn pause(&mut self) {
        if self.before.gate == Shut::Paused {
            let mut world = self.before;
            world.resume();
            self.add(Who::Human, What::Resumes, world);
        } else if let Some(mut world) = self.spend(Kind::Pause) {
            world.gate = Shut::Paused;
            self.add(Who::Human, What::Pauses, world);
        }
    }

    /// A call of which nobody heard takes effect after all.
    pub fn ghost(&mut self) {
        let Some(ghost) = self.before.ghost else { return };
        let mut world = self.before;
        world.ghost = None;
        if world.tick < ghost.until {
            self.take_effect(&mut world, ghost.effect, usize::from(ghost.slot), ghost.generation);
            self.add(Who::Destination, What::Acts, world);
        } else {
            // It settled without effect.
            self.add(Who::Destination, What::Passes, world);
        }
    }
}

impl World {
    /// One tick. No round grows old by a pause, or by the drain after it.
    pub fn pass(&mut self) {
        self.tick += 1;
        if self.gate != Shut::No {
            self.waited += 1;
        }
        if matches!(self.gate, Shut::Drains(until) if until <= self.tick) {
            self.gate = Shut::No;
        }
    }

    /// The pause ends, and what waited comes by turns.
    pub fn resume(&mut self) {
        self.gate = Shut::Drains(self.tick + 1);
    }
}
