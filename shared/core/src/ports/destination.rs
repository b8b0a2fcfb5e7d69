//! The port to where effects happen.

use crate::ids::DestinationName;
use crate::protocol::action::{EffectResult, IdempotencyKey};
use std::future::Future;
use std::time::Duration;

/// One call, the same bytes under the same key on every attempt (INV-2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// Where to.
    pub destination: &'a DestinationName,
    /// The key under which the destination can recognise a repeat.
    pub key: &'a IdempotencyKey,
    /// The exact body.
    pub body: &'a [u8],
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
    /// Nobody knows; why.
    Unknown(String),
}

/// Where effects happen.
pub trait Destination: Send + Sync {
    /// Makes the call. Every way it can end is an [`Outcome`]: whoever cannot
    /// tell says `Unknown` (INV-6: a doubtful end never becomes certain).
    fn call(&self, call: Call<'_>) -> impl Future<Output = Outcome> + Send;
}
