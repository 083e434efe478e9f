//! Relations between the events of an execution, as matrices of bits.

/// A relation on at most 128 elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation(Vec<u128>);

impl Relation {
    /// The empty relation on this many elements.
    pub(super) fn new(count: usize) -> Self {
        assert!(count <= 128, "an execution of {count} events");
        Self(vec![0; count])
    }

    /// The pairs that satisfy a predicate.
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

    /// The union of two relations.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// The transitive closure.
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

    /// Whether some element is related to itself.
    pub(super) fn is_reflexive_somewhere(&self) -> bool {
        (0..self.0.len()).any(|index| self.has(index, index))
    }

    /// Whether the transitive closure is irreflexive.
    pub(super) fn is_acyclic(&self) -> bool {
        !self.closure().is_reflexive_somewhere()
    }
}
