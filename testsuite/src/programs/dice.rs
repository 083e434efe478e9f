//! Random decisions of the generator.

use crate::random::Random;

/// A source of random decisions.
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        u64::from(self.0.bits()) << 32 | u64::from(self.0.bits())
    }

    /// A number below the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        self.0.pick(all)
    }
}
