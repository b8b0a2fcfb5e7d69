//! The port to where effects happen.

use crate::ids::{ActionName, DestinationName};
use crate::key::ResourceKey;
use crate::protocol::action::{EffectResult, IdempotencyKey};
use crate::time::UnixMillis;
use std::future::Future;
use std::time::Duration;

/// One call, the same bytes under the same key on every attempt (INV-2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// Where to.
    pub destination: &'a DestinationName,
    /// What is asked for.
    pub action: &'a ActionName,
    /// The key under which the destination can recognise a repeat.
    pub key: &'a IdempotencyKey,
    /// The exact body.
    pub body: &'a [u8],
    /// What the effect belongs to, fixed with the body: a destination that
    /// keeps an order keeps it within this. `None`: within the key alone.
    pub resource: Option<&'a ResourceKey>,
    /// When the call is made: signatures carry it.
    pub at: UnixMillis,
    /// From 1, for the destination's logs.
    pub attempt: u32,
    /// From the request to the effect.
    pub correlation: &'a str,
    /// The trace that it belongs to.
    pub trace: Option<&'a str>,
    /// The call must have ended by then: no effect outlives its invocation.
    pub timeout: Duration,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It happened.
    Done(EffectResult),
    /// It certainly will not happen.
    Rejected {
        /// Why, in one line.
        cause: String,
        /// Certain even after an earlier call of the same generation ended
        /// unknown, because the destination declares this answer decisive.
        decisive: bool,
    },
    /// It certainly has not begun.
    NotStarted {
        /// Why, in one line.
        cause: String,
        /// How long the destination asks to wait.
        not_before: Option<Duration>,
        /// As in `Rejected`.
        decisive: bool,
    },
    /// Nobody knows.
    Unknown {
        /// Why, in one line.
        cause: String,
        /// How long the destination asks to wait, where a call may repeat.
        not_before: Option<Duration>,
    },
}

impl Outcome {
    /// Nobody knows, and the destination asked for no wait.
    pub fn unknown(cause: impl Into<String>) -> Self {
        Self::Unknown { cause: cause.into(), not_before: None }
    }

    /// Certainly not begun for a reason of our own side, which says nothing
    /// about an earlier call and so is never decisive.
    pub fn not_started(cause: impl Into<String>) -> Self {
        Self::NotStarted { cause: cause.into(), not_before: None, decisive: false }
    }

    /// The same, and trying again would change nothing.
    pub fn rejected(cause: impl Into<String>) -> Self {
        Self::Rejected { cause: cause.into(), decisive: false }
    }
}

/// One question whether an effect happened. It changes nothing, so it may be
/// asked as often as there is time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe<'a> {
    /// Whom.
    pub destination: &'a DestinationName,
    /// The key under which the effect was asked for.
    pub key: &'a IdempotencyKey,
    /// When the question is asked: signatures carry it.
    pub at: UnixMillis,
    /// The answer must be there by then.
    pub timeout: Duration,
}

/// What a destination says about an effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Found {
    /// It happened.
    Done(EffectResult),
    /// It has not happened by now; why that is known, in one line. Only after
    /// the settling time does this mean that it will not.
    NotDone(String),
    /// Still nobody knows; why.
    Unknown(String),
}

/// Where effects happen.
pub trait Destination: Send + Sync {
    /// Makes the call. Every way it can end is an [`Outcome`]: whoever cannot
    /// tell says `Unknown` (INV-6: a doubtful end never becomes certain).
    fn call(&self, call: Call<'_>) -> impl Future<Output = Outcome> + Send;

    /// Asks whether the effect under a key happened. Whoever cannot be asked,
    /// or whose answer says neither, is `Unknown` (INV-6).
    fn probe(&self, _probe: Probe<'_>) -> impl Future<Output = Found> + Send {
        std::future::ready(Found::Unknown("the destination cannot be asked".to_owned()))
    }
}
