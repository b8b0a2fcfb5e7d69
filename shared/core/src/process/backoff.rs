//! Backoff with full jitter: the next try is anywhere between now and a bound
//! that doubles, so that what failed together does not come back together.

use crate::ports::Entropy;
use std::time::Duration;

const FIRST: Duration = Duration::from_secs(2);

/// Neither we nor a destination's `Retry-After` postpones a try further: the
/// sweeper would come before it.
pub(crate) const LONGEST: Duration = Duration::from_secs(15 * 60);

/// The bound below which the wait after so many `attempts` is drawn: `first`,
/// doubled with each attempt after the first, and never above `longest`.
pub fn ceiling(attempts: u32, first: Duration, longest: Duration) -> Duration {
    let factor = 2_u32.saturating_pow(attempts.saturating_sub(1));
    first.saturating_mul(factor).min(longest)
}

/// The wait before the next try after `attempts`; not before the span that the
/// destination asked for.
pub(crate) fn after(attempts: u32, not_before: Option<Duration>, entropy: &impl Entropy) -> Duration {
    let asked = not_before.unwrap_or_default().min(LONGEST);
    (asked + entropy.below(ceiling(attempts, FIRST, LONGEST))).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{CorrelationId, OwnerNonce, PutNonce};

    /// Draws the most that it may.
    struct Highest;

    impl Entropy for Highest {
        fn owner(&self) -> OwnerNonce {
            OwnerNonce::new("o")
        }
        fn put(&self) -> PutNonce {
            PutNonce::new("p")
        }
        fn correlation(&self) -> CorrelationId {
            CorrelationId::new("c")
        }
        fn below(&self, ceiling: Duration) -> Duration {
            ceiling
        }
    }

    #[test]
    fn the_bound_doubles_and_ends_at_a_quarter_of_an_hour() {
        let seconds = |attempts| after(attempts, None, &Highest).as_secs();
        assert_eq!([seconds(0), seconds(1), seconds(2), seconds(3)], [2, 2, 4, 8]);
        assert_eq!(seconds(99), 900);
    }

    #[test]
    fn what_the_destination_asked_for_is_honoured_within_bounds() {
        assert_eq!(after(1, Some(Duration::from_secs(60)), &Highest).as_secs(), 62);
        assert_eq!(after(1, Some(Duration::from_secs(86_400)), &Highest), LONGEST);
    }
}
