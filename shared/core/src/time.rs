//! The two kinds of time. Leases and vendors' times are in milliseconds, TTLs
//! in whole seconds (DynamoDB reads nothing else); mixing them up would make an
//! item immortal or dead at birth, so each is a type of its own.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

/// Seconds since the Unix epoch after which DynamoDB may remove an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExpiresAt(pub i64);

/// A reading of a clock that never goes back; comparable only within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(pub Duration);

impl UnixMillis {
    /// This time and `span` more; stops at the end of time instead of wrapping.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(span)))
    }

    /// This time less `span`.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(whole_millis(span)))
    }

    /// How long ago `earlier` was; zero if it is not in the past.
    pub fn since(self, earlier: Self) -> Duration {
        u64::try_from(self.0.saturating_sub(earlier.0)).map_or(Duration::ZERO, Duration::from_millis)
    }

    /// A TTL `span` after this time, rounded up: a window is a minimum (INV-9).
    pub fn expires_after(self, span: Duration) -> ExpiresAt {
        let end = self.plus(span).0;
        ExpiresAt(end.div_euclid(1000) + i64::from(end.rem_euclid(1000) != 0))
    }
}

impl ExpiresAt {
    /// The same instant in milliseconds.
    pub fn as_millis(self) -> UnixMillis {
        UnixMillis(self.0.saturating_mul(1000))
    }
}

/// A span in whole milliseconds, for logs and sums of times.
pub fn whole_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// The port to time. The wall clock dates items; the monotonic one guards a
/// lease against a wall clock that is set back (INV-2: before an effect begins
/// both must agree that the lease still holds).
pub trait Clock: Send + Sync {
    /// The wall clock.
    fn now(&self) -> UnixMillis;
    /// The monotonic clock.
    fn monotonic(&self) -> Monotonic;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ttl_is_rounded_up_to_whole_seconds() {
        let window = Duration::from_secs(10);
        assert_eq!(UnixMillis(1_001).expires_after(window), ExpiresAt(12));
        assert_eq!(UnixMillis(1_000).expires_after(window), ExpiresAt(11));
    }

    #[test]
    fn a_time_in_the_future_is_zero_ago() {
        assert_eq!(UnixMillis(5).since(UnixMillis(9)), Duration::ZERO);
        assert_eq!(UnixMillis(9).since(UnixMillis(5)), Duration::from_millis(4));
    }
}
