//! When an event is sent again: exponential, with full jitter, within bounds
//! of attempts and of age. Time and randomness are parameters.

use sekali::ports::Entropy;
use sekali::process::backoff;
use std::time::Duration;

/// How often and for how long an event is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Schedule {
    /// The longest wait after the first attempt; it doubles with each.
    pub first_wait: Duration,
    /// No wait of ours is longer.
    pub longest_wait: Duration,
    /// Most attempts at one event, at least 1.
    pub attempts: u32,
    /// Nothing is sent again when its first attempt is longer ago than this.
    pub max_age: Duration,
}

/// Why an event is not sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum GaveUp {
    /// As often as was said.
    #[error("given up after the last of --attempts")]
    Attempts,
    /// For as long as was said.
    #[error("given up at --max-age")]
    Age,
    /// The receiver asked for a longer wait than there is.
    #[error("given up: the receiver asks to wait longer than --max-age leaves")]
    AskedTooLong,
}

impl Schedule {
    /// The wait before the next attempt, after `attempts`, the first of them
    /// `age` ago: not before the span that the receiver `asked` for, and not
    /// after the end of the event's age.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn wait(
        &self,
        attempts: u32,
        age: Duration,
        asked: Option<Duration>,
        entropy: &impl Entropy,
    ) -> Result<Duration, GaveUp> {
        if attempts >= self.attempts {
            return Err(GaveUp::Attempts);
        }
        let remaining = self.max_age.checked_sub(age).filter(|left| !left.is_zero()).ok_or(GaveUp::Age)?;
        let asked = asked.unwrap_or_default();
        let room = remaining.checked_sub(asked).ok_or(GaveUp::AskedTooLong)?;
        let ceiling = backoff::ceiling(attempts, self.first_wait, self.longest_wait);
        Ok(asked + entropy.below(ceiling).min(room))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sekali::ids::{CorrelationId, OwnerNonce, PutNonce};

    pub(in crate::send) const SCHEDULE: Schedule = Schedule {
        first_wait: Duration::from_secs(1),
        longest_wait: Duration::from_secs(60),
        attempts: 10,
        max_age: Duration::from_secs(600),
    };

    /// Draws this share of what it may, in percent.
    pub(in crate::send) struct Draws(pub(in crate::send) u32);

    impl Entropy for Draws {
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
            ceiling * self.0 / 100
        }
    }

    fn seconds(attempts: u32, asked: Option<u64>, draws: u32) -> u64 {
        let asked = asked.map(Duration::from_secs);
        SCHEDULE.wait(attempts, Duration::ZERO, asked, &Draws(draws)).unwrap().as_secs()
    }

    #[test]
    fn the_bound_of_a_wait_doubles_up_to_the_longest() {
        let waits: Vec<u64> = (1..10).map(|attempts| seconds(attempts, None, 100)).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }

    #[test]
    fn a_wait_is_drawn_from_all_of_its_span() {
        assert_eq!([seconds(6, None, 0), seconds(6, None, 50), seconds(6, None, 100)], [0, 16, 32]);
    }

    #[test]
    fn what_the_receiver_asks_for_comes_before_what_is_drawn() {
        assert_eq!([seconds(1, Some(30), 0), seconds(3, Some(30), 100)], [30, 34]);
    }

    #[test]
    fn the_last_attempt_is_no_later_than_the_age_allows() {
        let age = Duration::from_secs(590);
        assert_eq!(SCHEDULE.wait(7, age, None, &Draws(100)), Ok(Duration::from_secs(10)));
        let asked = Some(Duration::from_secs(8));
        assert_eq!(SCHEDULE.wait(7, age, asked, &Draws(100)), Ok(Duration::from_secs(10)));
    }

    #[test]
    fn at_a_bound_it_is_given_up_and_said_at_which() {
        let at = |attempts, age, asked: Option<u64>| {
            let age = Duration::from_secs(age);
            SCHEDULE.wait(attempts, age, asked.map(Duration::from_secs), &Draws(0))
        };
        assert_eq!(at(10, 0, None), Err(GaveUp::Attempts));
        assert_eq!(at(1, 600, None), Err(GaveUp::Age));
        assert_eq!(at(1, 0, Some(601)), Err(GaveUp::AskedTooLong));
        assert_eq!(at(1, 0, Some(u64::MAX)), Err(GaveUp::AskedTooLong));
    }
}
