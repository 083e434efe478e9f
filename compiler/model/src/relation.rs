//! Relations between the steps of an execution, as matrices of bits.

mod reversible;

pub(crate) use reversible::{Mark, ReversibleRelation};

/// A set of elements.
pub(crate) type Set = u128;

/// The maximum number of elements.
pub(crate) const MAX_ELEMENTS: usize = 128;

/// The elements of a set, in order.
pub(crate) fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let first = set.trailing_zeros() as usize;
            set &= set - 1;
            first
        })
    })
}

/// A relation on at most 128 elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Relation(Vec<Set>);

impl Relation {
    /// The empty relation on this many elements.
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![0; count])
    }

    /// The pairs that satisfy a predicate.
    pub(crate) fn from_predicate(count: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut relation = Self::new(count);
        for a in 0..count {
            for b in 0..count {
                if holds(a, b) {
                    relation.add(a, b);
                }
            }
        }
        relation
    }

    /// The relation in which each element is related to a set.
    pub(crate) fn from_rows(count: usize, row: impl FnMut(usize) -> Set) -> Self {
        Self((0..count).map(row).collect())
    }

    /// Adds a pair.
    pub(crate) fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    /// Whether `a` is related to `b`.
    pub(crate) fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 != 0
    }

    /// The elements that `a` is related to.
    pub(crate) fn from(&self, a: usize) -> Set {
        self.0[a]
    }

    /// Relates `a` to each element of a set.
    pub(crate) fn extend(&mut self, a: usize, to: Set) {
        self.0[a] |= to;
    }

    /// The pairs in the other direction.
    pub(crate) fn inverse(&self) -> Self {
        let mut inverse = Self::new(self.0.len());
        for (a, row) in self.0.iter().enumerate() {
            for b in members(*row) {
                inverse.add(b, a);
            }
        }
        inverse
    }

    /// Makes the relation transitive.
    pub(crate) fn close(&mut self) {
        for via in 0..self.0.len() {
            let row = self.0[via];
            if row != 0 {
                for other in &mut self.0 {
                    if *other >> via & 1 != 0 {
                        *other |= row;
                    }
                }
            }
        }
    }

    /// Replaces the elements that `a` is related to.
    pub(crate) fn replace(&mut self, a: usize, to: Set) {
        self.0[a] = to;
    }

    /// Makes the relation on these elements transitive, if it relates them only to each other.
    pub(crate) fn close_within(&mut self, elements: Set) {
        for via in members(elements) {
            let row = self.0[via];
            for other in members(elements) {
                if self.0[other] >> via & 1 != 0 {
                    self.0[other] |= row;
                }
            }
        }
    }

    /// An element that is related to itself.
    pub(crate) fn reflexive(&self) -> Option<usize> {
        (0..self.0.len()).find(|&index| self.has(index, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_finds_paths_and_cycles() {
        let mut chain = Relation::from_predicate(4, |a, b| b == a + 1);
        chain.close();
        assert!(chain.has(0, 3) && !chain.has(3, 0) && chain.reflexive().is_none());
        assert_eq!(chain.inverse().from(3), 0b0111);
        chain.add(3, 1);
        chain.close();
        assert_eq!(chain.reflexive(), Some(1));
        assert_eq!(members(chain.from(0)).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
