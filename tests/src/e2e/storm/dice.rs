//! Chance that a seed repeats.

/// A generator of the splitmix kind: small, and good enough to deal events.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice of their own for a part, so that parts do not shift each other.
    #[must_use]
    pub fn part(&self, part: u64) -> Self {
        let mut part = Self(self.0 ^ part.wrapping_mul(0xd605_1ab9_3a5b_9f4d));
        part.next();
        part
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Puts `things` in another order, where none moves further than about
    /// `reach` places.
    pub fn shuffle<T>(&mut self, things: &mut [T], reach: usize) {
        for at in 0..things.len() {
            let to = (at + self.below(reach)).min(things.len() - 1);
            things.swap(at, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_another_does_not() {
        let draw = |seed| {
            let mut dice = Dice::of(seed);
            [dice.below(1_000), dice.below(1_000), dice.below(1_000)]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_shuffle_keeps_everything_and_moves_something() {
        let mut things: Vec<usize> = (0..100).collect();
        Dice::of(1).shuffle(&mut things, 20);
        assert_ne!(things, (0..100).collect::<Vec<_>>());
        things.sort_unstable();
        assert_eq!(things, (0..100).collect::<Vec<_>>());
    }
}
