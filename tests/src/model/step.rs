//! A step: who did what. All the ways on from a state are its successors.

use super::ask::Ask;
use super::catalog::{Catalog, DecisionRef};
use super::check;
use super::scenario::{Answer, Finding, Kind, Told};
use super::world::{Act, World};

/// Who takes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Who {
    Delivery(u8),
    Worker(u8),
    Sweeper(u8),
    Human,
    Bringer,
    Queue,
    Network,
    Destination,
    Vendor,
    Time,
}

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum What {
    Brings,
    CreatesEvent,
    CreatesEventUnheard,
    MeetsEvent,
    PutsPayload,
    ReadsListedPayload,
    ReadsFirstPayload,
    CountsDuplicate,
    RecordsConflict,
    KeepsPayload,
    Adopts,
    IsRefused,
    ReadsEvent,
    ReadsAction,
    AsksRules,
    Hears(Told),
    ReadsWanted,
    Writes,
    WritesUnheard,
    WritesInVain,
    WriteHangs,
    WriteLands,
    WriteTooLarge,
    ExpiresPayload,
    Erases,
    Calls(Answer),
    Asks(Finding),
    HearsOfCall,
    Acts,
    Disposes,
    Sends,
    SendFails,
    Acks,
    Receives,
    HandsOutAgain,
    Loses,
    Redrives,
    Decides(Act),
    Crashes,
    GoesOn,
    Pauses,
    Resumes,
    Passes,
}

impl What {
    /// Every kind of step.
    pub const ALL: [Self; 64] = [
        Self::Brings,
        Self::CreatesEvent,
        Self::CreatesEventUnheard,
        Self::MeetsEvent,
        Self::PutsPayload,
        Self::ReadsListedPayload,
        Self::ReadsFirstPayload,
        Self::CountsDuplicate,
        Self::RecordsConflict,
        Self::KeepsPayload,
        Self::Adopts,
        Self::IsRefused,
        Self::ReadsEvent,
        Self::ReadsAction,
        Self::AsksRules,
        Self::Hears(Told::Nothing),
        Self::Hears(Told::Never),
        Self::Hears(Told::Step(0)),
        Self::ReadsWanted,
        Self::Writes,
        Self::WritesUnheard,
        Self::WritesInVain,
        Self::WriteHangs,
        Self::WriteLands,
        Self::WriteTooLarge,
        Self::ExpiresPayload,
        Self::Calls(Answer::Done),
        Self::Calls(Answer::Rejected),
        Self::Calls(Answer::RejectedDecisive),
        Self::Calls(Answer::NotStarted),
        Self::Calls(Answer::NotStartedDecisive),
        Self::Calls(Answer::ActsUnheard),
        Self::Calls(Answer::Silent),
        Self::Calls(Answer::ActsLater),
        Self::Calls(Answer::LeaseOver),
        Self::Asks(Finding::Done),
        Self::Asks(Finding::NotDone),
        Self::Asks(Finding::Unknown),
        Self::HearsOfCall,
        Self::Acts,
        Self::Disposes,
        Self::Sends,
        Self::SendFails,
        Self::Acks,
        Self::Receives,
        Self::HandsOutAgain,
        Self::Loses,
        Self::Redrives,
        Self::Decides(Act::Redrive),
        Self::Decides(Act::Release),
        Self::Decides(Act::Discard),
        Self::Decides(Act::Happened),
        Self::Decides(Act::DidNotHappen),
        Self::Decides(Act::Again),
        Self::Decides(Act::Replay),
        Self::Decides(Act::ReplayAnew),
        Self::Decides(Act::Accept),
        Self::Decides(Act::Erase),
        Self::Erases,
        Self::Crashes,
        Self::GoesOn,
        Self::Pauses,
        Self::Resumes,
        Self::Passes,
    ];
}

/// One way on.
pub(super) struct Successor {
    pub who: Who,
    pub what: What,
    pub world: World,
    /// A promise that this very step breaks.
    pub broken: Option<Broken>,
    /// Taken as one, and each part of it looked at already.
    pub checked: bool,
}

/// A promise that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    pub promise: &'static str,
    pub how: String,
}

/// All ways on from one state are collected here.
pub(super) struct Ways<'a> {
    pub catalog: &'a mut Catalog,
    pub before: World,
    pub found: Vec<Successor>,
}

impl<'a> Ways<'a> {
    pub fn from(catalog: &'a mut Catalog, before: World) -> Self {
        Self { catalog, before, found: Vec::new() }
    }

    /// Takes an actor's steps as one: without trouble, but with every answer
    /// that a call or a question may get, and every end of its message.
    pub fn at_once(&mut self, act: impl Fn(&mut Ways<'_>), ended: impl Fn(&World) -> bool) {
        let mut open = std::mem::take(&mut self.found);
        for way in &mut open {
            way.broken = way.broken.take().or_else(|| check::step(self.catalog, &self.before, &way.world));
            way.checked = true;
        }
        while let Some(way) = open.pop() {
            if way.broken.is_some() || ended(&way.world) {
                self.found.push(way);
                continue;
            }
            let mut ways = Ways::from(self.catalog, way.world);
            act(&mut ways);
            let open_ended = |next: &&Successor| {
                matches!(next.what, What::Calls(_) | What::Asks(_) | What::Hears(_) | What::Disposes)
            };
            let ends = ways.found.iter().filter(open_ended).count();
            let goes_well = ways.found.into_iter().take(ends.max(1));
            for mut next in goes_well {
                next.broken = next.broken.or_else(|| check::step(self.catalog, &way.world, &next.world));
                open.push(Successor { who: way.who, what: way.what, checked: true, ..next });
            }
        }
    }

    pub fn add(&mut self, who: Who, what: What, world: World) {
        self.add_checked(who, what, world, None);
    }

    pub fn add_checked(&mut self, who: Who, what: What, world: World, broken: Option<Broken>) {
        self.found.push(Successor { who, what, world, broken, checked: false });
    }

    /// Asks `decide`; a question without an answer is a finding.
    pub fn ask(&mut self, ask: Ask) -> Option<DecisionRef> {
        match self.catalog.ask(ask) {
            Ok(decision) => Some(decision),
            Err(undecidable) => {
                self.undecided(undecidable.to_string());
                None
            }
        }
    }

    /// A shell is told what it cannot do.
    pub fn undecided(&mut self, how: String) {
        let broken = Some(Broken::new("one answer to everything", how));
        self.add_checked(Who::Time, What::IsRefused, self.before, broken);
    }

    /// The state before, with one trouble of this kind paid for.
    pub fn spend(&self, kind: Kind) -> Option<World> {
        let budget = self.before.budget.spend(kind)?;
        Some(World { budget, ..self.before })
    }
}

impl Broken {
    pub fn new(promise: &'static str, how: impl Into<String>) -> Self {
        Self { promise, how: how.into() }
    }
}
