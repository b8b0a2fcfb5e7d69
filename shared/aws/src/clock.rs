//! The system's clocks: the one place that reads them.

use sekali::time::{Clock, Monotonic, UnixMillis};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The wall clock and the monotonic clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else is given")]
    fn now(&self) -> UnixMillis {
        let millis = |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => UnixMillis(millis(after)),
            Err(before) => UnixMillis(millis(before.duration()).saturating_neg()),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else is given")]
    fn monotonic(&self) -> Monotonic {
        static FIRST_READING: OnceLock<Instant> = OnceLock::new();
        Monotonic(FIRST_READING.get_or_init(Instant::now).elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_counts_milliseconds_of_this_era() {
        let year_2020 = UnixMillis(1_577_836_800_000);
        let year_2200 = UnixMillis(7_258_118_400_000);
        assert!((year_2020..year_2200).contains(&SystemClock.now()));
    }

    #[test]
    fn the_monotonic_clock_never_goes_back() {
        let earlier = SystemClock.monotonic();
        assert!(SystemClock.monotonic() >= earlier);
    }
}
