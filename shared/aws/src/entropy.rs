//! Randomness from the operating system.

use ring::rand::{SecureRandom, SystemRandom};
use sekali::ids::{CorrelationId, OwnerNonce, PutNonce};
use sekali::key::hex;
use sekali::ports::Entropy;
use std::time::Duration;

/// The operating system's randomness.
#[derive(Debug, Clone)]
pub struct SystemEntropy(SystemRandom);

impl Default for SystemEntropy {
    fn default() -> Self {
        Self::new()
    }
}

impl SystemEntropy {
    /// The system's randomness; nothing is drawn yet.
    pub fn new() -> Self {
        Self(SystemRandom::new())
    }

    #[expect(
        clippy::expect_used,
        reason = "without randomness no claim can be told from another's: nothing may go on"
    )]
    fn draw<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill(&mut bytes).expect("the operating system gives randomness");
        bytes
    }

    /// 128 bits: no two claims of all time draw the same.
    fn id(&self) -> String {
        hex(&self.draw::<16>())
    }
}

impl Entropy for SystemEntropy {
    fn owner(&self) -> OwnerNonce {
        OwnerNonce::new(self.id())
    }

    fn put(&self) -> PutNonce {
        PutNonce::new(self.id())
    }

    /// 32 hex digits, the form of a W3C trace id; says nothing of time or place.
    fn correlation(&self) -> CorrelationId {
        CorrelationId::new(self.id())
    }

    fn below(&self, ceiling: Duration) -> Duration {
        let draw = u128::from(u64::from_be_bytes(self.draw()));
        // The high half of the product is uniform up to a bias of 2^-64.
        let nanos = (draw * u128::from(u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX))) >> 64;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_printable_and_never_repeat() {
        let entropy = SystemEntropy::new();
        let id = entropy.correlation();
        assert_eq!(id.as_str().len(), 32);
        assert!(id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(entropy.owner(), entropy.owner());
        assert_ne!(entropy.put(), entropy.put());
    }

    #[test]
    fn a_drawn_span_is_below_its_ceiling_and_covers_it() {
        let entropy = SystemEntropy::new();
        let ceiling = Duration::from_secs(10);
        let draws: Vec<_> = (0..1000).map(|_| entropy.below(ceiling)).collect();
        assert!(draws.iter().all(|draw| *draw < ceiling));
        assert!(
            draws.iter().any(|draw| *draw < ceiling / 4) && draws.iter().any(|draw| *draw > ceiling / 4 * 3)
        );
        assert_eq!(entropy.below(Duration::ZERO), Duration::ZERO);
    }
}
