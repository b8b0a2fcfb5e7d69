//! What today's rules want of an event: the part of the configuration that the
//! protocol needs.

use crate::ids::ActionName;
use crate::key::ActionKey;
use crate::protocol::action::FrozenRequest;
use crate::protocol::order::Move;
use crate::protocol::policy::EffectPolicy;
use crate::protocol::reason::Reason;
use crate::rule::InputDigest;
use std::time::Duration;

/// What today's rules want of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one lives at a time, for one look")]
pub enum Intent<'a> {
    /// The payload is not there (yet): wait for it.
    PayloadMissing,
    /// Nothing: ignored, with the reason.
    Nothing(Reason),
    /// Kept and shown, not processed, with the reason.
    Hold(Reason),
    /// What the rules want depends on the vendor's API, and that gave no answer
    /// that could be used, or an old one: ask again.
    Unknown {
        /// Why.
        reason: Reason,
        /// How long the API asks to wait.
        not_before: Option<Duration>,
    },
    /// It will never give one: failed, with the reason.
    Unknowable(Reason),
    /// A move, an action, or both.
    Act {
        /// What it says of its resource.
        moves: Option<Move<'a>>,
        /// The effect that it asks for.
        action: Option<Wanted>,
    },
}

/// An action that a rule asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: ActionName,
    /// Its key.
    pub key: ActionKey,
    /// What would be sent.
    pub request: FrozenRequest,
    /// What it is asked for with.
    pub input: InputDigest,
    /// What to do where the event is late.
    pub late: Late,
    /// What the destination promises.
    pub policy: EffectPolicy,
}

/// What a rule says about a late event. Dropping a paid order's task because
/// `shipped` came first must be somebody's decision, so there is no default.
pub use crate::config::Late;
