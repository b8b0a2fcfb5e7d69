//! How much of something may happen in a span of time.

use crate::time::UnixMillis;
use std::time::Duration;

/// So many at once, and as many again in every span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    /// How many; at least one.
    pub many: u32,
    /// In which span; longer than nothing.
    pub per: Duration,
}

/// A bucket of tokens that is filled at a [`Rate`]. It holds one time and
/// nothing else: that at which it would be full again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bucket {
    full_at_nanos: i128,
}

impl Bucket {
    /// Takes a token.
    ///
    /// # Errors
    /// There is none; how long until there is.
    pub fn take(&mut self, rate: Rate, now: UnixMillis) -> Result<(), Duration> {
        let now = i128::from(now.0) * 1_000_000;
        let span = nanos(rate.per);
        let token = span / i128::from(rate.many.max(1));
        // A clock that was set back must not close the bucket for longer than
        // it takes to fill it.
        let full_at = self.full_at_nanos.clamp(now, now + span);
        let after = full_at + token;
        let wait = after - (now + span);
        if wait > 0 {
            self.full_at_nanos = full_at;
            return Err(Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX)));
        }
        self.full_at_nanos = after;
        Ok(())
    }
}

fn nanos(span: Duration) -> i128 {
    i128::try_from(span.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEN_A_SECOND: Rate = Rate { many: 10, per: Duration::from_secs(1) };

    #[test]
    fn as_many_as_said_go_at_once_and_then_one_by_one() {
        let mut bucket = Bucket::default();
        let now = UnixMillis(1_000);
        for _ in 0..10 {
            assert_eq!(bucket.take(TEN_A_SECOND, now), Ok(()));
        }
        assert_eq!(bucket.take(TEN_A_SECOND, now), Err(Duration::from_millis(100)));
        assert_eq!(bucket.take(TEN_A_SECOND, UnixMillis(1_099)), Err(Duration::from_millis(1)));
        assert_eq!(bucket.take(TEN_A_SECOND, UnixMillis(1_100)), Ok(()));
        assert_eq!(bucket.take(TEN_A_SECOND, UnixMillis(1_100)), Err(Duration::from_millis(100)));
    }

    #[test]
    fn a_clock_set_back_closes_the_bucket_for_no_longer_than_its_span() {
        let mut bucket = Bucket::default();
        assert_eq!(bucket.take(TEN_A_SECOND, UnixMillis(1_000_000)), Ok(()));
        assert_eq!(bucket.take(TEN_A_SECOND, UnixMillis(0)), Err(Duration::from_millis(100)));
        assert_eq!(bucket.take(TEN_A_SECOND, UnixMillis(100)), Ok(()));
    }

    proptest! {
        #[test]
        fn in_no_span_do_more_go_than_twice_as_many_as_said(
            many in 1..20_u32,
            per_ms in 1..2_000_u64,
            steps in proptest::collection::vec(0..50_i64, 1..400),
        ) {
            let rate = Rate { many, per: Duration::from_millis(per_ms) };
            let mut bucket = Bucket::default();
            let mut now = 0;
            let mut gone = Vec::new();
            for step in steps {
                now += step;
                if bucket.take(rate, UnixMillis(now)).is_ok() {
                    gone.push(now);
                }
            }
            for first in &gone {
                let within = gone.iter().filter(|at| (*first..*first + i64::try_from(per_ms).unwrap()).contains(at));
                // A full bucket, and what flows in meanwhile.
                prop_assert!(within.count() <= 2 * many as usize);
            }
        }

        #[test]
        fn whoever_waits_as_long_as_told_gets_a_token(many in 1..20_u32, per_ms in 1..2_000_u64, taken in 0..50_u32) {
            let rate = Rate { many, per: Duration::from_millis(per_ms) };
            let mut bucket = Bucket::default();
            for _ in 0..taken {
                let _ = bucket.take(rate, UnixMillis(0));
            }
            if let Err(wait) = bucket.take(rate, UnixMillis(0)) {
                let told = UnixMillis(0).plus(wait + Duration::from_millis(1));
                prop_assert_eq!(bucket.take(rate, told), Ok(()));
            }
        }
    }
}
