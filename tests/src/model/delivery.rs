//! An ingest instance: puts payload and event side by side, meets what is
//! there, and acknowledges. It mirrors the core's own `keep`, call by call.

use super::ask::{Ask, Asked, Known};
use super::bring::LISTED;
use super::catalog::{EventRef, at, facts, hash};
use super::mutant::Slip;
use super::scenario::Kind;
use super::step::{Ways, What, Who};
use super::world::{Created, Delivery, DeliveryAt, Letter, World};
use sekali::ids::Generation;
use sekali::protocol::decide::{Decision, End, Read};
use sekali::protocol::event::EventStatus;

/// How often a vendor tries: a delivery whose instance died comes again.
pub(super) const TRIES: u8 = 2;

impl Ways<'_> {
    /// The ways on of one delivery.
    pub fn delivery(&mut self, number: usize) {
        let delivery = self.before.deliveries[number];
        match delivery.at {
            DeliveryAt::Gone => return,
            DeliveryAt::Away => return self.arrive(number),
            DeliveryAt::Putting { put, created } => self.putting(number, put, created),
            DeliveryAt::KeepingBorn => self.keep_then(number, DeliveryAt::CreatingBorn),
            DeliveryAt::CreatingBorn => self.create(number, true),
            DeliveryAt::ReadingListed => self.read_listed(number),
            DeliveryAt::ReadingFirst => self.read_first(number),
            DeliveryAt::Counting { enqueue } => self.count(number, enqueue),
            DeliveryAt::Recording => self.record(number),
            DeliveryAt::ReadingRecorded => self.counted(number, self.before, false, What::ReadsEvent),
            DeliveryAt::KeepingCounted { enqueue } => {
                self.keep_then(number, if enqueue { DeliveryAt::Sending } else { DeliveryAt::Acking });
            }
            DeliveryAt::KeepingOwn => self.keep_then(number, DeliveryAt::Adopting),
            DeliveryAt::Adopting => self.adopt(number),
            DeliveryAt::ReadingAgain => {
                let mut world = self.before;
                world.deliveries[number].stored = world.events[self.target(number)];
                self.meet(number, world, None, What::ReadsEvent);
            }
            DeliveryAt::Sending => self.send_and_ack(number),
            DeliveryAt::Acking => self.ack(number),
        }
        if let Some(mut world) = self.spend(Kind::Crash) {
            world.deliveries[number] = delivery.after_death();
            self.add(who(number), What::Crashes, world);
        }
    }

    /// The event that a delivery is about.
    fn target(&self, number: usize) -> usize {
        match self.slips(Slip::DedupByDeliveryId) {
            true => number,
            false => self.catalog.slice.arrivals[number].story,
        }
    }

    fn arriving(&self, number: usize) -> usize {
        self.catalog.slice.arrivals[number].content
    }

    /// The event as this delivery's try would create it.
    fn ours(&mut self, number: usize) -> EventRef {
        let Delivery { attempt, started, .. } = self.before.deliveries[number];
        self.catalog.new_event(self.target(number), number, attempt, started)
    }

    fn arrive(&mut self, number: usize) {
        let mut world = self.before;
        let delivery = &mut world.deliveries[number];
        delivery.started = world.tick;
        delivery.at = DeliveryAt::Putting { put: false, created: Created::NotYet };
        self.add(who(number), What::Receives, world);
    }

    /// Payload and event in either order; a held event's payload goes first.
    fn putting(&mut self, number: usize, put: bool, created: Created) {
        let held = self.catalog.slice.stories[self.catalog.slice.arrivals[number].story].contents
            [self.arriving(number)]
        .held;
        if !put {
            let ours = self.ours(number);
            let expires = self.catalog.event(ours).received_at.expires_after(self.catalog.limits().window);
            let mut world = self.before;
            let paper = &mut world.papers[self.target(number)][self.arriving(number)];
            *paper = match self.slips(Slip::DuplicateRestoresTtl) {
                true => super::world::Paper::until(expires),
                false => paper.put(expires),
            };
            world.deliveries[number].at = match held {
                true => DeliveryAt::KeepingBorn,
                false => DeliveryAt::Putting { put: true, created },
            };
            self.after_puts(number, world, What::PutsPayload);
        }
        if created == Created::NotYet && !held {
            self.create(number, put);
        }
    }

    fn create(&mut self, number: usize, put: bool) {
        let (ours, place) = (self.ours(number), self.target(number));
        let mut world = self.before;
        match world.events[place] {
            None => {
                world.events[place] = Some(ours);
                world.deliveries[number].stored = Some(ours);
                // The answer is lost: the same put again recognises itself.
                if let Some(budget) = world.budget.spend(Kind::LostAnswer) {
                    let mut unheard = World { budget, ..world };
                    unheard.deliveries[number] = self.before.deliveries[number];
                    self.add(who(number), What::CreatesEventUnheard, unheard);
                }
                world.deliveries[number].at = DeliveryAt::Putting { put, created: Created::New };
                self.after_puts(number, world, What::CreatesEvent);
            }
            stored => {
                world.deliveries[number].stored = stored;
                world.deliveries[number].at = DeliveryAt::Putting { put, created: Created::Exists };
                self.after_puts(number, world, What::MeetsEvent);
            }
        }
    }

    /// The ack waits for both puts (INV-1).
    fn after_puts(&mut self, number: usize, mut world: World, what: What) {
        let DeliveryAt::Putting { put, created } = world.deliveries[number].at else {
            return self.add(who(number), what, world);
        };
        let early = self.slips(Slip::AckBeforePut) && created == Created::New
            || self.slips(Slip::DuplicateUnseen) && created == Created::Exists
            || self.slips(Slip::AdoptBeforePut) && created == Created::Exists;
        match created {
            Created::NotYet => self.add(who(number), what, world),
            _ if !put && !early => self.add(who(number), what, world),
            Created::New => {
                let held = self.status(world.deliveries[number].stored) != Some(EventStatus::Received);
                world.deliveries[number].at = if held { DeliveryAt::Acking } else { DeliveryAt::Sending };
                self.add(who(number), what, world);
            }
            Created::Exists => self.meet_first(number, world, what),
        }
    }

    fn status(&self, event: Option<EventRef>) -> Option<EventStatus> {
        event.map(|event| self.catalog.event(event).progress.status)
    }

    /// Of an event that was brought from the vendor's list hashes tell
    /// nothing: is its payload there?
    fn meet_first(&mut self, number: usize, mut world: World, what: What) {
        let stored = world.deliveries[number].stored.map(|stored| self.catalog.event(stored));
        let listed = stored.is_some_and(|stored| {
            let is_the_lists = stored.signature.is_of_list() && stored.seen.conflicts == 0;
            is_the_lists && stored.hash != hash(self.arriving(number))
        });
        if !listed || self.slips(Slip::BringsUnseen) {
            world.deliveries[number].repeats_listed = listed;
            return self.meet(number, world, None, what);
        }
        world.deliveries[number].at = DeliveryAt::ReadingListed;
        self.add(who(number), what, world);
    }

    fn read_listed(&mut self, number: usize) {
        let mut world = self.before;
        let there = world.papers[self.target(number)][LISTED].is_there();
        let finished = self.status(world.deliveries[number].stored).is_some_and(EventStatus::is_finished);
        world.deliveries[number].repeats_listed = there || finished;
        self.meet(number, world, None, What::ReadsListedPayload);
    }

    /// The stored event decides.
    fn meet(&mut self, number: usize, mut world: World, first: Option<bool>, what: What) {
        let Delivery { attempt, stored: Some(stored), repeats_listed, .. } = world.deliveries[number] else {
            return;
        };
        let content = if repeats_listed { LISTED } else { self.arriving(number) };
        let input = Asked::Delivery { delivery: number, attempt, content, first };
        let ask = Ask::of(&world, stored, Known::Nothing, input);
        let Some(decision) = self.ask(ask) else { return };
        let event = self.catalog.event(stored);
        world.deliveries[number].at = match self.catalog.decision(decision) {
            Decision::Read(Read::FirstPayload) => DeliveryAt::ReadingFirst,
            Decision::End(End::AsNew) if event.progress.status == EventStatus::Received => {
                DeliveryAt::Sending
            }
            Decision::End(End::AsNew) => DeliveryAt::Acking,
            Decision::End(End::Conflict) => DeliveryAt::Recording,
            // It is recorded, and the vendor hears that it is to come again.
            Decision::End(End::Refuse(_)) => return self.turn_away(number, world),
            Decision::End(End::Duplicate { enqueue, .. }) => DeliveryAt::Counting { enqueue: *enqueue },
            Decision::End(End::Adopt) if event.progress.expires.is_none() => DeliveryAt::KeepingOwn,
            Decision::End(End::Adopt) => DeliveryAt::Adopting,
            other => {
                let how = format!("a delivery is told to {other:?}");
                return self.undecided(how);
            }
        };
        self.add(who(number), what, world);
    }

    fn read_first(&mut self, number: usize) {
        let Some(stored) = self.before.deliveries[number].stored else { return };
        let first = self.catalog.event_facts(stored).content;
        let there = self.before.papers[self.target(number)][first].is_there();
        self.meet(number, self.before, Some(there), What::ReadsFirstPayload);
    }

    /// The count returns the event as it stands after our payload was put.
    fn count(&mut self, number: usize, enqueue: bool) {
        let (mut world, place) = (self.before, self.target(number));
        world.events[place] = world.events[place].and_then(|stored| self.catalog.count(stored, None));
        self.counted(number, world, enqueue, What::CountsDuplicate);
    }

    /// What would be held cannot take the place of what is missing: it is
    /// recorded, and the vendor hears 503.
    fn turn_away(&mut self, number: usize, mut world: World) {
        let (place, hash) = (self.target(number), hash(self.arriving(number)));
        world.events[place] = world.events[place].and_then(|stored| self.catalog.count(stored, Some(&hash)));
        world.deliveries[number] = world.deliveries[number].after_death();
        self.add(who(number), What::RecordsConflict, world);
    }

    /// A conflict is recorded, and then the event is looked at again.
    fn record(&mut self, number: usize) {
        let (mut world, place) = (self.before, self.target(number));
        let hash = hash(self.arriving(number));
        let finished = self.status(world.deliveries[number].stored).is_some_and(EventStatus::is_finished);
        world.events[place] = world.events[place].and_then(|stored| self.catalog.count(stored, Some(&hash)));
        let next = if finished { DeliveryAt::Acking } else { DeliveryAt::ReadingRecorded };
        world.deliveries[number].at = next;
        self.add(who(number), What::RecordsConflict, world);
    }

    /// A TTL that the event lost meanwhile is taken off the payload, too.
    fn counted(&mut self, number: usize, mut world: World, enqueue: bool, what: What) {
        let stored = world.events[self.target(number)];
        world.deliveries[number].stored = stored;
        let Some(event) = stored.map(|stored| self.catalog.event(stored)) else { return };
        let enqueue = enqueue && event.progress.status == EventStatus::Received;
        world.deliveries[number].at = match (event.progress.expires, enqueue) {
            (None, _) if !self.slips(Slip::DuplicateForgetsTtl) => DeliveryAt::KeepingCounted { enqueue },
            (_, true) => DeliveryAt::Sending,
            (_, false) => DeliveryAt::Acking,
        };
        self.add(who(number), what, world);
    }

    /// Takes the TTL off the payload that the stored event points to, or off
    /// our own where we are about to be adopted or born held.
    fn keep_then(&mut self, number: usize, next: DeliveryAt) {
        let mut world = self.before;
        let own = self.arriving(number);
        let kept = match (next, world.deliveries[number].stored) {
            (DeliveryAt::Sending | DeliveryAt::Acking, Some(stored)) => {
                self.catalog.event_facts(stored).content
            }
            _ => own,
        };
        let stored = world.deliveries[number].stored;
        let generation =
            stored.map_or(Generation::FIRST, |stored| self.catalog.event(stored).progress.generation);
        let paper = &mut world.papers[self.target(number)][kept];
        *paper = paper.keep(generation);
        world.deliveries[number].at = next;
        self.add(who(number), What::KeepsPayload, world);
    }

    fn adopt(&mut self, number: usize) {
        let mut world = self.before;
        let (place, to) = (self.target(number), facts(self.arriving(number)));
        let (Some(seen), Some(stored)) = (world.deliveries[number].stored, world.events[place]) else {
            return;
        };
        let Some(adopted) = self.catalog.adopt(stored, seen, to, at(world.tick)) else {
            world.deliveries[number].at = DeliveryAt::ReadingAgain;
            return self.add(who(number), What::IsRefused, world);
        };
        world.events[place] = Some(adopted);
        if let Some(budget) = world.budget.spend(Kind::LostAnswer) {
            let mut unheard = World { budget, ..world };
            unheard.deliveries[number].at = DeliveryAt::ReadingAgain;
            self.add(who(number), What::WritesUnheard, unheard);
        }
        let progress = &self.catalog.event(seen).progress;
        let waited = at(world.tick).since(progress.opened_at) >= self.catalog.limits().grace;
        let enqueue = progress.status == EventStatus::Received && waited;
        world.deliveries[number].at = if enqueue { DeliveryAt::Sending } else { DeliveryAt::Acking };
        self.add(who(number), What::Adopts, world);
    }

    /// A queue that refuses leaves the event to the sweeper.
    fn send_and_ack(&mut self, number: usize) {
        let event = self.target(number);
        let mut world = self.before;
        world.send(Letter::sent(event));
        world.deliveries[number] = Delivery::GONE;
        world.ledger.acked[event] = true;
        self.add(who(number), What::Sends, world);
        if let Some(mut world) = self.spend(Kind::Loss) {
            world.deliveries[number] = Delivery::GONE;
            world.ledger.acked[event] = true;
            self.add(who(number), What::SendFails, world);
        }
    }

    fn ack(&mut self, number: usize) {
        let mut world = self.before;
        world.ledger.acked[self.target(number)] = true;
        world.deliveries[number] = Delivery::GONE;
        self.add(who(number), What::Acks, world);
    }
}

impl Delivery {
    /// The vendor heard nothing and tries again.
    pub fn after_death(self) -> Self {
        let attempt = self.attempt + 1;
        if attempt < TRIES { Self { attempt, ..Self::AWAY } } else { Self::GONE }
    }
}

fn who(number: usize) -> Who {
    Who::Delivery(u8::try_from(number).unwrap_or(0))
}
