//! What can go wrong at a call of a port.

use crate::memory::StoreCall;
use std::time::Duration;

/// A call of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PortCall {
    /// Of the store.
    Store(StoreCall),
    /// Of the queue.
    Send,
    /// Of a destination.
    Effect,
    /// Of a destination: whether the effect happened.
    Probe,
    /// Of a vendor's API.
    Ask,
    /// Of a vendor that wants to be called back: the call is the effect.
    Confirm,
    /// Of the queue, by the poller: letters for a function.
    Receive,
    /// Of the queue, by the poller: a letter was worked on.
    Delete,
    /// Of the queue, by the poller: a letter comes again later.
    ShowAgain,
}

impl PortCall {
    /// Every call.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Send,
            Self::Effect,
            Self::Probe,
            Self::Ask,
            Self::Receive,
            Self::Delete,
            Self::ShowAgain,
            Self::Confirm,
        ];
        StoreCall::ALL.into_iter().map(Self::Store).chain(others)
    }

    /// Whether it changes nothing: a lost answer is the same as a lost request.
    fn only_reads(self) -> bool {
        match self {
            Self::Store(call) => !call.writes(),
            Self::Probe | Self::Ask => true,
            Self::Send | Self::Effect | Self::Confirm | Self::Receive | Self::Delete | Self::ShowAgain => {
                false
            }
        }
    }

    /// Whether the client library repeats it by itself when no answer comes.
    /// An effect is never repeated behind the protocol's back.
    pub fn is_repeated(self) -> bool {
        match self {
            Self::Store(call) => call.writes(),
            Self::Send | Self::Receive => true,
            Self::Effect | Self::Confirm | Self::Probe | Self::Ask | Self::Delete | Self::ShowAgain => false,
        }
    }
}

/// What a port says instead of doing its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trouble {
    /// Try later: a throttled store, a destination that cannot be reached.
    Throttled,
    /// Another transaction holds an item.
    Contended,
    /// No answer, and nothing was done: the request was lost on its way.
    Unanswered,
    /// Refused for good.
    Invalid,
    /// A stored item that cannot be read.
    Unreadable,
}

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The call does nothing and says this.
    Refused(Trouble),
    /// The call does its work and the answer is lost.
    AnswerLost,
    /// The same, and the client library calls once more before it answers.
    Repeated,
    /// The worker is frozen before the call.
    PauseBefore(Duration),
    /// The worker is frozen between the work and its answer.
    PauseAfter(Duration),
    /// The worker is gone before the call.
    CrashBefore,
    /// The worker is gone when the work is done.
    CrashAfter,
}

/// Which faults an exploration tries at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Menu {
    /// How long a frozen worker is frozen; longer than a lease shows most.
    pub pause: Duration,
    /// Also what repeats for good: refused and unreadable items.
    pub permanent: bool,
}

impl Menu {
    /// The faults that this call can meet.
    pub fn of(self, call: PortCall) -> Vec<Fault> {
        let troubles: &[Trouble] = match call {
            PortCall::Store(call) if call.writes() => {
                &[Trouble::Throttled, Trouble::Contended, Trouble::Unanswered, Trouble::Invalid]
            }
            PortCall::Store(_) => &[Trouble::Throttled, Trouble::Unanswered, Trouble::Unreadable],
            PortCall::Send | PortCall::Probe | PortCall::Receive | PortCall::Delete | PortCall::ShowAgain => {
                &[Trouble::Unanswered]
            }
            PortCall::Ask => {
                &[Trouble::Throttled, Trouble::Unanswered, Trouble::Invalid, Trouble::Unreadable]
            }
            PortCall::Effect | PortCall::Confirm => {
                &[Trouble::Throttled, Trouble::Unanswered, Trouble::Invalid]
            }
        };
        let wanted = |trouble: &&Trouble| {
            self.permanent || !matches!(**trouble, Trouble::Invalid | Trouble::Unreadable)
        };
        let refused = troubles.iter().filter(wanted).map(|trouble| Fault::Refused(*trouble));
        let lost = (!call.only_reads()).then_some(Fault::AnswerLost);
        let repeated = call.is_repeated().then_some(Fault::Repeated);
        let pauses = [Fault::PauseBefore(self.pause), Fault::PauseAfter(self.pause)];
        let crashes =
            [Fault::CrashBefore].into_iter().chain((!call.only_reads()).then_some(Fault::CrashAfter));
        refused.chain(lost).chain(repeated).chain(pauses).chain(crashes).collect()
    }
}
