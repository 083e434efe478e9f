//! Relations between the events of an execution, as matrices of bits.

/// A relation between at most 128 things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation(Vec<u128>);

impl Relation {
    /// The empty relation of so many things.
    pub(super) fn new(count: usize) -> Self {
        assert!(count <= 128, "an execution of {count} events");
        Self(vec![0; count])
    }

    /// The pairs for which this is so.
    pub(super) fn of(count: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
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

    pub(super) fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    pub(super) fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 != 0
    }

    /// The pairs of both.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// With every pair that a chain of pairs connects.
    pub(super) fn closure(&self) -> Self {
        let mut rows = self.0.clone();
        for via in 0..rows.len() {
            let row = rows[via];
            for other in &mut rows {
                if *other >> via & 1 != 0 {
                    *other |= row;
                }
            }
        }
        Self(rows)
    }

    /// Whether something is related to itself.
    pub(super) fn is_reflexive_somewhere(&self) -> bool {
        (0..self.0.len()).any(|index| self.has(index, index))
    }

    /// Whether no chain of pairs comes back to its beginning.
    pub(super) fn is_acyclic(&self) -> bool {
        !self.closure().is_reflexive_somewhere()
    }
}
