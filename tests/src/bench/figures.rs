//! What was measured.

use crate::metered::Bill;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// What one function took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// From its start to its first question for an event, in milliseconds: the
    /// least of all starts, and the middle one.
    pub init_ms: Starts,
    /// Processor time of that, in milliseconds.
    pub init_cpu_ms: Starts,
    /// The first invocation, in milliseconds.
    pub first_ms: Starts,
    /// Processor time of a warm event, in milliseconds.
    pub cpu_per_event_ms: f64,
    /// A warm event from outside, in milliseconds: the middle one.
    pub wall_p50_ms: f64,
    /// And that which 99 of 100 do not exceed.
    pub wall_p99_ms: f64,
    /// The most memory that it took, in MiB.
    pub memory_mib: f64,
    /// Calls for one event, by operation.
    pub calls_per_event: BTreeMap<String, f64>,
    /// Write units for one event.
    pub write_units_per_event: f64,
    /// How many events were measured warm.
    pub events: usize,
}

/// A figure of several starts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Starts {
    /// The least: what the rest of the machine adds to is not it.
    pub least: f64,
    /// The middle one.
    pub median: f64,
}

impl Starts {
    pub(super) fn of(mut taken: Vec<Duration>) -> Self {
        taken.sort();
        Self { least: millis(quantile(&taken, 0.0)), median: millis(quantile(&taken, 0.5)) }
    }
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Of sorted durations that which so great a part of them does not exceed.
pub(super) fn quantile(sorted: &[Duration], part: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a position in a list of thousands"
    )]
    let position = (part * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(position).copied().unwrap_or_default()
}

/// A bill divided by so many events.
pub(super) fn per_event(bill: &Bill, events: usize) -> (BTreeMap<String, f64>, f64) {
    let share = |count: u64| as_float(count) / as_float(u64::try_from(events.max(1)).unwrap_or(u64::MAX));
    let calls = bill.calls().into_iter().map(|(name, count)| (name.to_owned(), share(count))).collect();
    (calls, share(bill.total().write_units))
}

#[expect(clippy::cast_precision_loss, reason = "counts of thousands")]
pub(super) fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_and_the_middle_start_are_told_apart() {
        let taken = [5, 1, 9].map(Duration::from_millis).to_vec();
        assert_eq!(Starts::of(taken), Starts { least: 1.0, median: 5.0 });
    }

    #[test]
    fn of_a_hundred_the_ninety_ninth_is_not_exceeded_by_ninety_nine() {
        let sorted: Vec<_> = (1..=101).map(Duration::from_millis).collect();
        assert_eq!(quantile(&sorted, 0.99), Duration::from_millis(100));
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
    }
}
