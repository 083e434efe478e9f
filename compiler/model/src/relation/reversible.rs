//! A relation to which a search adds pairs, and which it restores to an earlier state when it backtracks.

use super::{Relation, Set, members};

/// A relation with its inverse, and the rows that additions have replaced.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReversibleRelation {
    rows: Relation,
    columns: Relation,
    /// The elements whose rows or columns have grown, with those before.
    trail: Vec<(Line, usize, Set)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Row,
    Column,
}

/// A state of a relation: the number of changes until then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark(usize);

impl ReversibleRelation {
    /// Starts with the pairs of a relation.
    pub(crate) fn new(relation: Relation) -> Self {
        Self { columns: relation.inverse(), rows: relation, trail: Vec::new() }
    }

    /// Whether `a` is related to `b`.
    pub(crate) fn has(&self, a: usize, b: usize) -> bool {
        self.rows.has(a, b)
    }

    /// The elements that `a` is related to.
    pub(crate) fn from(&self, a: usize) -> Set {
        self.rows.from(a)
    }

    /// The elements that are related to `b`.
    pub(crate) fn to(&self, b: usize) -> Set {
        self.columns.from(b)
    }

    /// An element that is related to itself.
    pub(crate) fn reflexive(&self) -> Option<usize> {
        self.rows.reflexive()
    }

    /// Relates `a` to each element of a set.
    pub(crate) fn extend(&mut self, a: usize, to: Set) {
        let more = to & !self.rows.from(a);
        if more != 0 {
            self.grow(Line::Row, a, more);
            members(more).for_each(|b| self.grow(Line::Column, b, 1 << a));
        }
    }

    /// Relates `a` to `b`, and keeps a transitive relation transitive.
    pub(crate) fn connect(&mut self, a: usize, b: usize) {
        if self.has(a, b) {
            return;
        }
        let (first, last) = (self.to(a) | 1 << a, self.from(b) | 1 << b);
        members(first).for_each(|element| self.grow(Line::Row, element, last));
        members(last).for_each(|element| self.grow(Line::Column, element, first));
    }

    fn grow(&mut self, line: Line, element: usize, more: Set) {
        let side = match line {
            Line::Row => &mut self.rows,
            Line::Column => &mut self.columns,
        };
        let before = side.from(element);
        if more & !before != 0 {
            self.trail.push((line, element, before));
            side.replace(element, before | more);
        }
    }

    /// The present state.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Whether it has grown since a state.
    pub(crate) fn has_grown(&self, since: Mark) -> bool {
        self.trail.len() > since.0
    }

    /// Makes the present state the first one: nothing before it can be undone.
    pub(crate) fn commit(&mut self) {
        self.trail.clear();
    }

    /// Returns to a state.
    pub(crate) fn undo(&mut self, mark: Mark) {
        for (line, element, before) in self.trail.drain(mark.0..).rev() {
            match line {
                Line::Row => self.rows.replace(element, before),
                Line::Column => self.columns.replace(element, before),
            }
        }
    }

    /// The elements that are related to more since a state, with the additions.
    pub(crate) fn gains(&self, since: Mark) -> impl Iterator<Item = (usize, Set)> {
        let rows = self.trail[since.0..].iter().filter(|(line, ..)| *line == Line::Row);
        rows.map(|&(_, element, before)| (element, self.rows.from(element) & !before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_and_goes_back() {
        let mut relation = ReversibleRelation::new(Relation::from_predicate(5, |a, b| (a, b) == (0, 1)));
        let start = relation.mark();
        relation.connect(2, 3);
        let middle = relation.mark();
        relation.connect(1, 2);
        assert_eq!((relation.from(0), relation.to(3)), (0b1110, 0b0111));
        assert_eq!(relation.gains(middle).collect::<Vec<_>>(), [(0, 0b1100), (1, 0b1100)]);
        relation.extend(3, 0b1_0001);
        assert!(relation.reflexive().is_none() && relation.has(3, 0) && relation.to(4) == 0b1000);
        relation.undo(middle);
        assert_eq!((relation.from(0), relation.from(2), relation.to(0)), (0b10, 0b1000, 0));
        relation.connect(3, 2);
        assert_eq!(relation.reflexive(), Some(2));
        relation.undo(start);
        assert_eq!(relation.rows, Relation::from_predicate(5, |a, b| (a, b) == (0, 1)));
        assert_eq!(relation.columns, relation.rows.inverse());
    }
}
