//! What a slice of the model is about: what arrives, what it asks for, what
//! the destination promises, and how much may go wrong.

use super::world::Act;
use sekali::config::InDoubt;
use sekali::protocol::decide::Late;
use std::time::Duration;

/// Events of a slice.
pub(super) const EVENTS: usize = 2;
/// Actions that can be told apart; one more than there are events, for mutants.
pub(super) const SLOTS: usize = 3;
/// Deliveries of a slice.
pub(super) const DELIVERIES: usize = 3;
/// Workers of a slice.
pub(super) const WORKERS: usize = 2;
/// Sweepers of a slice.
pub(super) const SWEEPERS: usize = 2;

/// Longer than a minute, so that a message moved in a later tick is known to
/// be moved; leases, sweeps and the grace time are one tick.
pub(super) const TICK: Duration = Duration::from_secs(100);

/// One part of the whole, small enough to be searched to its end.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// What it is about, in words.
    pub name: &'static str,
    pub(super) stories: &'static [Story],
    pub(super) arrivals: &'static [Arrival],
    /// Somebody brings the first event from the vendor's own list, which
    /// writes the second of its contents.
    pub(super) brings: bool,
    pub(super) promise: Promise,
    pub(super) api: Api,
    pub(super) answers: &'static [Answer],
    pub(super) workers: usize,
    pub(super) sweepers: usize,
    pub(super) worker: Pace,
    pub(super) sweeper: Pace,
    pub(super) human: Pace,
    pub(super) budget: Budget,
    pub(super) bounds: Bounds,
    /// What humans may want besides leading on what waits for them.
    pub(super) wishes: &'static [Act],
    /// The last tick; paths to an end may take longer.
    pub(super) horizon: u8,
}

/// Whether others may step in between an actor's calls. What one slice takes
/// for one step is taken apart in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Stepwise,
    AtOnce,
}

/// One event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Story {
    pub tenant: Option<&'static str>,
    /// Durable and enqueued when the search begins.
    pub received: bool,
    /// What each of its two possible contents says.
    pub contents: [Content; 2],
}

/// What one content of an event asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content {
    /// Ingest finds that a human must look first.
    pub held: bool,
    /// Status of the resource and the vendor's number of it.
    pub moves: Option<(&'static str, &'static str)>,
    pub asks: Option<Wish>,
    /// It is only a signal: the vendor's API says how the resource stands, and
    /// knows at least this many steps of its course.
    pub signal: Option<u8>,
}

/// An action that a content asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// The action's name.
    pub name: &'static str,
    /// Key fields; none: once per event.
    pub fields: &'static [&'static str],
    /// Which business effect this really is: what must not happen twice.
    pub effect: u8,
    pub late: Late,
}

/// One delivery: which event with which content it carries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub story: usize,
    pub content: usize,
}

/// What the destination promises, in ticks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Promise {
    pub in_doubt: InDoubt,
    pub honours: Option<u8>,
    pub settling: u8,
}

/// A vendor's API, and the course of the one resource that it tells about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Api {
    /// Its statuses one after the other, and the API's number of each.
    pub course: &'static [(&'static str, Option<&'static str>)],
    /// How far it has come when the search begins.
    pub since: u8,
    /// Whether the API may still tell what was so before.
    pub behind: bool,
}

/// What a worker hears of the vendor's API. The adversary chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Told {
    /// Nothing that says how the resource stands; it is asked again.
    Nothing,
    /// That it will never say.
    Never,
    /// How it stands, as a step of its course.
    Step(u8),
}

/// What a call can come to. The adversary chooses among a slice's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Answer {
    /// It happens and says so.
    Done,
    /// It does not happen, for good.
    Rejected,
    /// The same, declared decisive: nothing of this generation ever happened.
    RejectedDecisive,
    /// It does not happen, for now.
    NotStarted,
    /// The same, declared decisive.
    NotStartedDecisive,
    /// It happens and nobody hears of it.
    ActsUnheard,
    /// It does not happen and nobody hears of it.
    Silent,
    /// Nobody hears of it; it may still happen while it settles.
    ActsLater,
    /// No call was made: the lease no longer covered it.
    LeaseOver,
}

/// What a destination says of a call that it is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Finding {
    /// The effect happened.
    Done,
    /// It did not happen, so far.
    NotDone,
    /// Nothing that can be used.
    Unknown,
}

/// How much may go wrong; `any` stands for one of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub crash: u8,
    pub redelivery: u8,
    pub loss: u8,
    pub lost_answer: u8,
    pub late_write: u8,
    pub stale: u8,
    pub refusal: u8,
    pub redrive: u8,
    pub operator: u8,
    pub pause: u8,
    pub young: u8,
    pub any: u8,
}

/// A kind of trouble, or of human act, that is rationed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// An actor dies where it stands.
    Crash,
    /// A message is handed out while somebody has it.
    Redelivery,
    /// A message is lost, or never taken by the queue.
    Loss,
    /// A write whose answer does not come: it was written, or was not.
    LostAnswer,
    /// A write whose answer does not come, and that lands later, or never.
    LateWrite,
    /// The index names an event that is not due.
    Stale,
    /// The store refuses a claim for good.
    Refusal,
    /// A human moves a dead letter back.
    Redrive,
    /// A human decides about an event.
    Operator,
    /// A human pauses the endpoint.
    Pause,
    /// A message is young enough to come again soon.
    Young,
}

/// The bounds of all work, in tries and ticks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub attempts: u32,
    pub sweeps: u32,
    pub age: u8,
    pub window: u8,
}

impl Budget {
    /// Nothing goes wrong.
    pub const NONE: Self = Self {
        crash: 0,
        redelivery: 0,
        loss: 0,
        lost_answer: 0,
        late_write: 0,
        stale: 0,
        refusal: 0,
        redrive: 0,
        operator: 0,
        pause: 0,
        young: 0,
        any: 0,
    };

    /// What is left after one more; `None` where nothing is.
    pub fn spend(mut self, kind: Kind) -> Option<Self> {
        let own = match kind {
            Kind::Crash => &mut self.crash,
            Kind::Redelivery => &mut self.redelivery,
            Kind::Loss => &mut self.loss,
            Kind::LostAnswer => &mut self.lost_answer,
            Kind::LateWrite => &mut self.late_write,
            Kind::Stale => &mut self.stale,
            Kind::Refusal => &mut self.refusal,
            Kind::Redrive => &mut self.redrive,
            Kind::Operator => &mut self.operator,
            Kind::Pause => &mut self.pause,
            Kind::Young => &mut self.young,
        };
        // These are no trouble: only what is about them has any.
        let purse = if *own > 0 || matches!(kind, Kind::Pause | Kind::Young) { own } else { &mut self.any };
        *purse = purse.checked_sub(1)?;
        Some(self)
    }
}
