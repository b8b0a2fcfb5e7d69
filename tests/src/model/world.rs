//! One state of everything: tables, queue, actors, the ledger of what really
//! happened, and what may still go wrong. Small and `Copy`: there are millions.

use super::catalog::{ActionRef, DecisionRef, EventRef, ResourceRef};
use super::scenario::{Answer, Budget, DELIVERIES, EVENTS, Finding, SLOTS, SWEEPERS, Slice, Told, WORKERS};

/// Letters that the queues hold at most; a further one counts as lost.
const LETTERS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub tick: u8,
    pub events: [Option<EventRef>; EVENTS],
    /// The payload of each event and content.
    pub papers: [[Paper; 2]; EVENTS],
    pub actions: [Option<ActionRef>; SLOTS],
    pub resources: [Option<ResourceRef>; EVENTS],
    pub letters: [Option<Letter>; LETTERS],
    pub deliveries: [Delivery; DELIVERIES],
    pub workers: [Worker; WORKERS],
    pub sweepers: [Sweeper; SWEEPERS],
    pub bringer: Bringer,
    pub human: Human,
    /// A write whose writer gave it up, still on its way.
    pub flight: Option<Flight>,
    /// A call that may still take effect.
    pub ghost: Option<Ghost>,
    /// How far the resource has come at the vendor's.
    pub truth: u8,
    pub gate: Shut,
    /// Ticks for which what waited had to wait for the gate.
    pub waited: u8,
    pub ledger: Ledger,
    pub budget: Budget,
}

/// A generation of an event, small.
pub(super) type Round = u8;

/// Whether the endpoint is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Shut {
    No,
    Paused,
    /// It drains until this tick: the sweeper gives turns.
    Drains(u8),
}

/// What the rules were put to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rules {
    NoPayload,
    Payload,
    /// The payload is only a signal, and this is what the API said.
    Told(Told),
}

/// A payload in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Paper {
    Absent,
    /// With a TTL, in ticks, and the generation that set it, if one did.
    Expires(u8, Option<Round>),
    /// Without one, since this generation.
    Kept(Round),
}

/// A message and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Letter {
    pub event: u8,
    /// The tick at which it was moved, which stamped it anew. One that was not
    /// moved is as young as it looks: nothing asks for its stamp.
    pub moved: Option<u8>,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
    Waiting,
    HandedOut,
    Dead,
}

/// An ingest instance with one delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Delivery {
    pub at: DeliveryAt,
    /// Whose put nonce; grows with each of the vendor's tries.
    pub attempt: u8,
    pub started: u8,
    /// The event as last read.
    pub stored: Option<EventRef>,
    /// It repeats what was brought from the vendor's list.
    pub repeats_listed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DeliveryAt {
    /// Not begun, or to be begun again.
    Away,
    /// Puts are under way.
    Putting {
        put: bool,
        created: Created,
    },
    /// A held event's payload is durable and loses its TTL first.
    KeepingBorn,
    /// Held: payload kept, now the event.
    CreatingBorn,
    /// The stored event is of the vendor's list: is its payload there?
    ReadingListed,
    ReadingFirst,
    Counting {
        enqueue: bool,
    },
    Recording,
    ReadingRecorded,
    KeepingCounted {
        enqueue: bool,
    },
    KeepingOwn,
    Adopting,
    ReadingAgain,
    Sending,
    Acking,
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Created {
    NotYet,
    New,
    Exists,
}

/// A worker with one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Worker {
    pub at: WorkerAt,
    pub letter: Option<Letter>,
    /// The pauses as they were read first of all.
    pub gate: Shut,
    /// The nonce of the claim it would make, or made.
    pub nonce: u8,
    /// A call was made under the nonce: the next claim draws another.
    pub called: bool,
    /// The tick at which its invocation's lease ends.
    pub until: u8,
    /// The lease it can take with this nonce; `false`: too little time.
    pub may_lease: bool,
    pub event: Option<EventRef>,
    /// The action that the event is bound to, once read.
    pub bound: Option<Option<ActionRef>>,
    /// What the rules were put to, once they were asked.
    pub rules: Option<Rules>,
    pub resource: Option<ResourceRef>,
    pub wanted: Option<ActionRef>,
    pub decision: Option<DecisionRef>,
    pub answer: Option<Answer>,
    /// The action as claimed, while its outcome is being written.
    pub claim: Option<ActionRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum WorkerAt {
    Idle,
    ReadingEvent,
    ReadingAction,
    ReadingRules,
    AskingApi,
    ReadingWanted,
    Writing(Stage),
    /// Writing what a refusal of the store for good leads to.
    WritingRefusal(Stage),
    Calling,
    /// Asking the destination about a call, since this tick.
    Asking(u8),
    /// It was told this, of a question of that tick.
    Told(Finding, u8),
    Settling(Stage),
    RereadingEvent,
    RereadingAction,
    Disposing,
}

/// Where a transition stands between its port calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Stage {
    Keep,
    Write,
    Expire,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sweeper {
    pub at: SweeperAt,
    /// The pauses as it read them.
    pub gate: Shut,
    pub event: Option<EventRef>,
    pub decision: Option<DecisionRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SweeperAt {
    Idle,
    ReadingAction,
    Writing(Stage),
    Sending,
}

/// Whoever brings an event from the vendor's own list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Bringer {
    pub at: BringerAt,
    /// Whose put nonce; grows with each try.
    pub attempt: u8,
    /// The event as it would create it.
    pub event: Option<EventRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BringerAt {
    /// Not begun, or to be begun again.
    Away,
    Putting,
    /// A held event's payload is durable and loses its TTL first.
    Keeping,
    Creating,
    Sending,
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Human {
    pub at: HumanAt,
    pub act: Act,
    pub event: Option<EventRef>,
    pub decision: Option<DecisionRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum HumanAt {
    Idle,
    ReadingEvent(u8),
    ReadingAction,
    Writing(Stage),
    /// What the event no longer points to gets a TTL again.
    LettingGo,
    ErasingRequest,
    ErasingPayloads,
    Sending,
}

/// What a human can ask of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Act {
    Redrive,
    Release,
    Discard,
    Happened,
    DidNotHappen,
    Again,
    Replay,
    /// Put to today's rules, whatever action it had won.
    ReplayAnew,
    /// Takes the other content.
    Accept,
    Erase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Flight {
    pub decision: DecisionRef,
    /// The event as its writer had read it.
    pub read: Option<EventRef>,
    /// The nonce that it may carry.
    pub nonce: u8,
    /// The step of the course that it was decided on.
    pub truth: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ghost {
    pub effect: u8,
    pub slot: u8,
    pub generation: u8,
    /// The first tick at which it certainly does not happen any more.
    pub until: u8,
}

/// What really happened, whatever the tables say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ledger {
    /// How often each business effect happened.
    pub effects: [u8; EVENTS],
    /// What was sent for each action in its present generation.
    pub calls: [Calls; SLOTS],
    /// An effect happened in a generation that was given up.
    pub stray: bool,
    /// Claims of each event's present generation.
    pub claims: [u8; EVENTS],
    /// Rounds that a human opened, or may have.
    pub rounds: [u8; EVENTS],
    /// How often a human wanted the effect of each event once more.
    pub agains: [u8; EVENTS],
    /// The step of its course by which each resource was moved; 0: by none.
    pub told: [u8; EVENTS],
    pub acked: [bool; EVENTS],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Calls {
    /// Key and bytes of the first call.
    pub request: Option<u8>,
    /// When the effect happened.
    pub acted: Option<u8>,
    /// A call ended unknown, or its caller was taken over.
    pub doubted: bool,
}

impl World {
    /// The queue takes a letter; where it is full the letter is lost, and the
    /// sweeper's business.
    pub fn send(&mut self, letter: Letter) {
        if !self.letters.contains(&Some(letter))
            && let Some(place) = self.letters.iter_mut().find(|place| place.is_none())
        {
            *place = Some(letter);
        }
        self.letters.sort_unstable();
    }

    /// The letter is no longer where it was.
    pub fn take(&mut self, letter: Letter) {
        if let Some(place) = self.letters.iter_mut().find(|place| **place == Some(letter)) {
            *place = None;
        }
        self.letters.sort_unstable();
    }
}

impl Calls {
    pub const NONE: Self = Self { request: None, acted: None, doubted: false };
}

impl World {
    /// Workers are alike, and so are sweepers: which of them stands where does
    /// not make two states differ.
    pub fn sorted(mut self, slice: &Slice) -> Self {
        self.workers[..slice.workers].sort_unstable();
        self.sweepers[..slice.sweepers].sort_unstable();
        self
    }
}

impl Delivery {
    pub const AWAY: Self =
        Self { at: DeliveryAt::Away, attempt: 0, started: 0, stored: None, repeats_listed: false };
    pub const GONE: Self = Self { at: DeliveryAt::Gone, ..Self::AWAY };
}

impl Letter {
    /// A message that we sent.
    pub fn sent(event: usize) -> Self {
        Self { event: u8::try_from(event).unwrap_or(0), moved: None, place: Place::Waiting }
    }
}

impl Rules {
    /// The step of its course that the resource is said to have come to.
    pub fn truth(self) -> Option<u8> {
        match self {
            Self::Told(Told::Step(step)) => Some(step),
            Self::Told(Told::Nothing | Told::Never) | Self::NoPayload | Self::Payload => None,
        }
    }
}

impl Worker {
    pub const IDLE: Self = Self {
        at: WorkerAt::Idle,
        letter: None,
        gate: Shut::No,
        nonce: 0,
        called: false,
        until: 0,
        may_lease: false,
        event: None,
        bound: None,
        rules: None,
        resource: None,
        wanted: None,
        decision: None,
        answer: None,
        claim: None,
    };
}

impl Sweeper {
    pub const IDLE: Self = Self { at: SweeperAt::Idle, gate: Shut::No, event: None, decision: None };
}

impl Bringer {
    pub const AWAY: Self = Self { at: BringerAt::Away, attempt: 0, event: None };
    pub const GONE: Self = Self { at: BringerAt::Gone, ..Self::AWAY };
}

impl Human {
    pub const IDLE: Self = Self { at: HumanAt::Idle, act: Act::Redrive, event: None, decision: None };
}

impl Ledger {
    pub const EMPTY: Self = Self {
        effects: [0; EVENTS],
        calls: [Calls::NONE; SLOTS],
        stray: false,
        claims: [0; EVENTS],
        rounds: [0; EVENTS],
        agains: [0; EVENTS],
        told: [0; EVENTS],
        acked: [false; EVENTS],
    };
}
