//! A human with the command line: truthful, and with a write that others race.

use super::ask::{Ask, Asked, Known};
use super::catalog::{ActionRef, DecisionRef, EventFacts, EventRef, at, content, facts, other};
use super::scenario::{EVENTS, Kind};
use super::step::{Ways, What, Who};
use super::world::{Act, Human, HumanAt, Letter, Paper, Rules, Stage, World};
use super::write::{Draft, Written};
use sekali::protocol::decide::{Decision, End, Read, Then};
use sekali::protocol::event::{Event, EventStatus};

impl Ways<'_> {
    /// The ways on of the one human.
    pub fn human(&mut self) {
        match self.before.human.at {
            HumanAt::Idle => self.begin(),
            HumanAt::ReadingEvent(place) => {
                let mut world = self.before;
                world.human.event = world.events[usize::from(place)];
                self.decide_on(world, Known::Nothing, What::ReadsEvent);
            }
            HumanAt::ReadingAction => {
                let known = Known::Bound { action: self.human_action(), rules: None };
                self.decide_on(self.before, known, What::ReadsAction);
            }
            HumanAt::Writing(stage) => self.human_write(stage),
            HumanAt::LettingGo => self.let_go(),
            HumanAt::ErasingRequest => self.erase_request(),
            HumanAt::ErasingPayloads => self.erase_payloads(),
            HumanAt::Sending => self.human_send(),
        }
        if self.before.human.at != HumanAt::Idle
            && let Some(mut world) = self.spend(Kind::Crash)
        {
            world.human = Human::IDLE;
            self.add(Who::Human, What::Crashes, world);
        }
    }

    fn begin(&mut self) {
        for place in 0..EVENTS {
            let Some(event) = self.before.events[place] else { continue };
            for act in self.sensible(event) {
                let Some(mut world) = self.spend(Kind::Operator) else { return };
                world.human = Human { act, event: Some(event), ..Human::IDLE };
                self.decide_on(world, Known::Nothing, What::Decides(act));
            }
        }
    }

    /// What a human would ask of an event as it stands, and what must be
    /// refused.
    fn sensible(&self, number: EventRef) -> Vec<Act> {
        let event = self.catalog.event(number);
        let wish = |act: &Act| match (act, event.progress.status) {
            (Act::Discard, status) => status == EventStatus::Failed,
            (Act::Accept, _) => !event.seen.conflict_hashes.is_empty() && self.other_may_go_on(event),
            // What is still under way must neither be begun anew nor forgotten.
            (_, status) => {
                !matches!(status, EventStatus::Received | EventStatus::Held | EventStatus::InDoubt)
            }
        };
        let wishes = self.catalog.slice.wishes.iter().copied().filter(wish);
        self.leads_on(number).into_iter().chain(wishes).collect()
    }

    /// What would be held is read anew, and not taken.
    fn other_may_go_on(&self, event: &Event) -> bool {
        !self.catalog.content(&event.clone().with(&facts(other(content(&event.hash))))).held
    }

    /// What leads an event on; of one in doubt also that it be sent round.
    fn leads_on(&self, event: EventRef) -> Vec<Act> {
        match self.catalog.event(event).progress.status {
            EventStatus::Failed => vec![Act::Redrive],
            EventStatus::Held => vec![Act::Release, Act::Discard],
            EventStatus::InDoubt => {
                // Humans look before they say.
                let happened = self.true_now(event, Act::Happened);
                vec![if happened { Act::Happened } else { Act::DidNotHappen }, Act::Redrive]
            }
            _ => Vec::new(),
        }
    }

    /// What a human says is what is the case when it is written.
    fn true_now(&self, event: EventRef, act: Act) -> bool {
        let happened = self.before.happened(self.catalog.event_facts(event));
        match act {
            Act::Happened => happened,
            Act::DidNotHappen => !happened,
            _ => true,
        }
    }

    fn human_action(&self) -> Option<ActionRef> {
        self.before.actions[self.catalog.event_facts(self.before.human.event?).bound?]
    }

    /// The payload is read right after the action: what the rules make of it
    /// is the same at any time.
    fn human_rules(&self) -> Option<Rules> {
        let facts = self.catalog.event_facts(self.before.human.event?);
        let there = self.before.papers[facts.place][facts.content].is_there();
        Some(if there { Rules::Payload } else { Rules::NoPayload })
    }

    fn decide_on(&mut self, mut world: World, known: Known, what: What) {
        let Human { act, event: Some(event), .. } = world.human else { return };
        if !self.true_now(event, act) {
            world.human = Human::IDLE;
            return self.add(Who::Human, what, world);
        }
        let ask = Ask::of(&world, event, known, Asked::Human(act));
        let Some(decision) = self.ask(ask) else { return };
        match self.catalog.decision(decision) {
            Decision::Read(Read::Action(_)) => world.human.at = HumanAt::ReadingAction,
            Decision::Read(Read::Intent) if matches!(known, Known::Bound { rules: None, .. }) => {
                let known = Known::Bound { action: self.human_action(), rules: self.human_rules() };
                return self.decide_on(world, known, what);
            }
            Decision::Write { .. } => {
                world.human.decision = Some(decision);
                world.human.at = HumanAt::Writing(self.first_stage(decision));
            }
            _ => world.human = Human::IDLE,
        }
        self.add(Who::Human, what, world);
    }

    fn human_write(&mut self, stage: Stage) {
        let Human { event, decision: Some(decision), act, .. } = self.before.human else { return };
        if stage != Stage::Write {
            let mut world = self.payload_stage(decision);
            let (at, what) = match stage {
                // What is gone cannot be taken in the place of anything.
                Stage::Keep if act == Act::Accept && !self.other_is_there() => {
                    (HumanAt::Idle, What::IsRefused)
                }
                Stage::Keep => (HumanAt::Writing(Stage::Write), What::KeepsPayload),
                _ => (self.human_then(decision), What::ExpiresPayload),
            };
            world.human.at = at;
            return self.add(Who::Human, what, settled(world));
        }
        for end in self.write(Draft { decision, read: event, nonce: 0, truth: None }) {
            let mut world = end.world;
            if end.what == What::Writes || end.what == What::WritesUnheard || end.what == What::WriteHangs {
                self.count_round(&mut world, act);
            }
            world.human.at = match end.written {
                Written::Applied if self.expires_after(decision) => HumanAt::Writing(Stage::Expire),
                Written::Applied if act == Act::Accept && self.had_no_ttl() => HumanAt::LettingGo,
                Written::Applied if act == Act::Erase => HumanAt::ErasingRequest,
                Written::Applied => self.human_then(decision),
                Written::Unsure => HumanAt::Idle,
            };
            self.add_checked(Who::Human, end.what, settled(world), end.broken);
        }
    }

    /// The human opened a round, or may have.
    fn count_round(&self, world: &mut World, act: Act) {
        let Some(event) = self.before.human.event else { return };
        let place = self.catalog.event_facts(event).place;
        if act.opens_a_round() {
            world.ledger.rounds[place] += 1;
        }
        if act == Act::Again {
            world.ledger.agains[place] += 1;
        }
    }

    fn human_then(&self, decision: DecisionRef) -> HumanAt {
        let event = self.before.human.event.map(|event| self.catalog.event_facts(event).place);
        match self.then(decision) {
            Some(Then::End(End::Send)) => HumanAt::Sending,
            Some(Then::Decide) => {
                HumanAt::ReadingEvent(event.and_then(|place| u8::try_from(place).ok()).unwrap_or(0))
            }
            _ => HumanAt::Idle,
        }
    }

    fn other_is_there(&self) -> bool {
        self.before.human.event.is_some_and(|event| {
            let facts = self.catalog.event_facts(event);
            self.before.papers[facts.place][other(facts.content)].is_there()
        })
    }

    fn had_no_ttl(&self) -> bool {
        let event = self.before.human.event.map(|event| self.catalog.event(event));
        event.is_some_and(|event| event.progress.expires.is_none())
    }

    /// The content that another was taken in the place of gets a TTL again.
    fn let_go(&mut self) {
        let Human { event: Some(number), decision: Some(decision), .. } = self.before.human else { return };
        let (event, facts) = (self.catalog.event(number), self.catalog.event_facts(number));
        let expires = at(self.before.tick).expires_after(self.catalog.limits().window);
        let mut world = self.before;
        let paper = &mut world.papers[facts.place][facts.content];
        *paper = paper.expire(event.progress.generation, expires);
        world.human.at = self.human_then(decision);
        self.add(Who::Human, What::ExpiresPayload, settled(world));
    }

    /// The request and the result of what the event began, if that is settled.
    fn erase_request(&mut self) {
        let Some(event) = self.before.human.event else { return };
        let key = self.catalog.event(event).key.clone();
        let mut world = self.before;
        world.human.at = HumanAt::ErasingPayloads;
        let slot = self.catalog.event_facts(event).bound;
        if let Some((slot, action)) = slot.and_then(|slot| Some((slot, world.actions[slot]?)))
            && self.catalog.action(action).begun_by == key
        {
            match self.catalog.emptied(action) {
                Some(emptied) => world.actions[slot] = Some(emptied),
                // It is under way again.
                None => world.human.at = HumanAt::Idle,
            }
        }
        self.add(Who::Human, What::Erases, settled(world));
    }

    /// The event's content, and that of its conflicts.
    fn erase_payloads(&mut self) {
        let Some(event) = self.before.human.event else { return };
        let mut world = self.before;
        world.papers[self.catalog.event_facts(event).place] = [Paper::Absent; 2];
        world.human = Human::IDLE;
        self.add(Who::Human, What::Erases, world);
    }

    fn human_send(&mut self) {
        let Some(event) = self.before.human.event else { return };
        let place = self.catalog.event_facts(event).place;
        let mut world = self.before;
        world.human = Human::IDLE;
        world.send(Letter::sent(place));
        self.add(Who::Human, What::Sends, world);
    }
}

impl Act {
    /// Whether it is the begin of the event's next generation.
    pub fn opens_a_round(self) -> bool {
        !matches!(self, Self::Discard | Self::Happened | Self::DidNotHappen | Self::Erase)
    }
}

impl World {
    /// Whether the effect in doubt really happened.
    pub fn happened(&self, event: EventFacts) -> bool {
        event.bound.is_some_and(|slot| self.ledger.calls[slot].acted.is_some())
    }
}

/// A human who has finished remembers nothing.
fn settled(mut world: World) -> World {
    if world.human.at == HumanAt::Idle {
        world.human = Human::IDLE;
    }
    world
}
