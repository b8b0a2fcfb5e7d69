//! The numbers and policies that `decide` works with.

use crate::config::InDoubt;
use crate::ids::OwnerNonce;
use crate::time::UnixMillis;
use std::time::Duration;

/// What a destination promises, as far as the protocol needs it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EffectPolicy {
    /// What an unknown outcome leads to.
    pub in_doubt: InDoubt,
    /// How long after the first begin the destination recognises the key.
    /// Calls never repeat beyond it (INV-2).
    pub honours_key_for: Option<Duration>,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long after a call ended it may still take effect.
    pub settling: Duration,
}

/// The bounds of all work (INV-8), and the windows of INV-9.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Tries of one round at its action.
    pub attempts: u32,
    /// Times the sweeper sends one round again.
    pub sweeps: u32,
    /// How old a round may get before the sweeper ends it.
    pub age: Duration,
    /// How long after it was received an event is first due for the sweeper;
    /// doubled each time.
    pub first_sweep: Duration,
    /// The longest interval between two sweeps, and the one at which the sweeper
    /// looks at what waits at a gate: each such look costs a write, and when the
    /// gate opens nobody waits for it.
    pub longest_sweep: Duration,
    /// How long a received event is left to its own message before a repeated
    /// delivery enqueues it again.
    pub grace: Duration,
    /// How long a finished event is recognised.
    pub window: Duration,
    /// Whether anything new may begin.
    pub gate: Gate,
}

/// Whether anything new may begin for an endpoint. Waiting here is neither an
/// attempt nor a sweep, and no bound is reached by it (INV-8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Gate {
    /// It may.
    #[default]
    Open,
    /// A human has paused the endpoint.
    Paused,
    /// It drains after a pause, and in this minute no turn is left. Only the
    /// sweeper says so: what a message names goes at once.
    Later,
    /// It drains, and this event's turn comes before the sweeper would look at
    /// it again by itself.
    Ahead,
}

/// For so long, counted from when an event was received, an endpoint or a
/// destination that this version does not know may be one of a newer version that
/// is taking over step by step: longer than the slowest steps that the template
/// offers. After that it is gone.
pub const TAKEOVER: Duration = Duration::from_secs(2 * 3600);

/// A message that SQS stamps this long after it was written was moved. Sends
/// time out long before, so our own late message is never taken for a redrive.
pub const MOVED_AFTER: Duration = Duration::from_secs(60);

impl Limits {
    /// The product's bounds for an endpoint with this dedup window.
    ///
    /// Sweeps at 5, 10, 20 … minutes and then every 6 hours: 16 of them span
    /// about 58 hours, inside the 72 of `age`; both end well before the
    /// shortest window that the INV-9 check accepts.
    pub const fn standard(window: Duration) -> Self {
        Self {
            attempts: 10,
            sweeps: 16,
            age: Duration::from_secs(72 * 3600),
            first_sweep: Duration::from_secs(5 * 60),
            longest_sweep: Duration::from_secs(6 * 3600),
            grace: Duration::from_secs(60),
            window,
            gate: Gate::Open,
        }
    }

    /// When an event that was swept `sweeps` times is due next.
    pub fn next_sweep(&self, sweeps: u32, now: UnixMillis) -> UnixMillis {
        let interval = self.first_sweep.saturating_mul(2_u32.saturating_pow(sweeps.min(16)));
        now.plus(interval.min(self.longest_sweep))
    }
}

/// Who is deciding: the nonce of the claim it would make, and how long it may act.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Worker {
    /// Drawn anew for each look at an event (INV-5).
    pub owner: OwnerNonce,
    /// The lease it can take.
    pub lease: Lease,
}

/// The lease that an invocation can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lease {
    /// Until then; no effect outlives it.
    Until(UnixMillis),
    /// Too little of the invocation is left: do not claim.
    TooLittleTime,
}

/// What a message says about its own journey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// When we wrote it.
    pub written_at: UnixMillis,
    /// When SQS took it, or took it again: moving a message stamps it anew.
    pub stamped_at: UnixMillis,
}

impl Stamp {
    /// Was this message moved (from a dead-letter queue, by whatever means)?
    pub fn moved(self) -> bool {
        self.stamped_at.since(self.written_at) > MOVED_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_intervals_double_up_to_the_longest() {
        let limits = Limits::standard(Duration::from_secs(1));
        let minutes = |sweeps| limits.next_sweep(sweeps, UnixMillis(0)).0 / 60_000;
        assert_eq!([minutes(0), minutes(1), minutes(2)], [5, 10, 20]);
        assert_eq!(minutes(40), 360);
    }

    #[test]
    fn all_sweeps_fit_within_the_age_bound() {
        let limits = Limits::standard(Duration::from_secs(1));
        let last = (0..limits.sweeps).fold(UnixMillis(0), |at, sweeps| limits.next_sweep(sweeps, at));
        assert!(last.since(UnixMillis(0)) < limits.age);
    }

    #[test]
    fn our_own_late_message_is_not_a_moved_one() {
        let stamp = |stamped| Stamp { written_at: UnixMillis(0), stamped_at: UnixMillis(stamped) };
        assert!(!stamp(59_000).moved());
        assert!(!stamp(-5_000).moved());
        assert!(stamp(61_000).moved());
    }
}
