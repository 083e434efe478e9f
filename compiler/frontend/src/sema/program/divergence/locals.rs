//! Sets of local variables.

use kiln_types::index::Id as _;

use crate::hir::LocalId;

/// A set of variables, as a bit set.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Locals(Vec<u64>);

impl Locals {
    /// Adds a variable. Returns whether it was new.
    pub(super) fn insert(&mut self, local: LocalId) -> bool {
        let (word, bit) = Self::position(local);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    pub(super) fn remove(&mut self, local: LocalId) {
        let (word, bit) = Self::position(local);
        self.0.get_mut(word).into_iter().for_each(|word| *word &= !bit);
    }

    pub(super) fn contains(&self, local: LocalId) -> bool {
        let (word, bit) = Self::position(local);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// The word and the bit of a variable.
    fn position(local: LocalId) -> (usize, u64) {
        (local.index() / 64, 1 << (local.index() % 64))
    }
}
