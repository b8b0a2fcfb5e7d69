//! Randomness from a seed: the same seed draws the same nonces, so that a
//! failed run can be played again.

use super::lock;
use sekali::ids::{CorrelationId, OwnerNonce, PutNonce};
use sekali::ports::Entropy;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A splitmix64 generator; clones draw from the same one.
#[derive(Debug, Clone)]
pub struct SeededEntropy(Arc<Mutex<u64>>);

impl SeededEntropy {
    /// A generator that is wholly decided by `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed)))
    }

    /// Another generator, decided by this one's seed and independent of how
    /// much either draws later: one for each worker.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::seeded(self.draw())
    }

    /// 64 bits.
    pub fn draw(&self) -> u64 {
        let mut state = lock(&self.0);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `ceiling`; zero if the ceiling is zero.
    pub fn pick(&self, ceiling: u64) -> u64 {
        // The bias of the remainder does not matter to a test.
        self.draw().checked_rem(ceiling).unwrap_or(0)
    }
}

impl Entropy for SeededEntropy {
    fn owner(&self) -> OwnerNonce {
        OwnerNonce::new(format!("owner-{:016x}", self.draw()))
    }

    fn put(&self) -> PutNonce {
        PutNonce::new(format!("put-{:016x}", self.draw()))
    }

    fn correlation(&self) -> CorrelationId {
        CorrelationId::new(format!("correlation-{:016x}", self.draw()))
    }

    fn below(&self, ceiling: Duration) -> Duration {
        let nanos = u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.pick(nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_draws_the_same_again_and_another_seed_something_else() {
        let draws = |seed| {
            let entropy = SeededEntropy::seeded(seed);
            (0..100).map(|_| entropy.draw()).collect::<BTreeSet<_>>()
        };
        assert_eq!(draws(7), draws(7));
        assert_eq!(draws(7).len(), 100);
        assert!(draws(7).is_disjoint(&draws(8)));
    }

    #[test]
    fn jitter_stays_below_its_ceiling() {
        let entropy = SeededEntropy::seeded(1);
        let ceiling = Duration::from_millis(5);
        assert!((0..1_000).all(|_| entropy.below(ceiling) < ceiling));
        assert_eq!(entropy.below(Duration::ZERO), Duration::ZERO);
    }
}
