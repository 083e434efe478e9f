//! The state of the search over the executions of one combination of shapes.

use std::rc::Rc;

use super::{
    Judge, Witness,
    cells::Cell,
    shape::{Shape, Values},
};
use crate::{
    event::Event,
    execution::{Execution, Frame, INITIAL},
    relation::{Set, members},
    verdict::{Rule, Verdict, Violation},
};

/// The state of the search over the values and executions of one combination of shapes.
pub(super) struct Search<'s> {
    pub(super) judge: Judge,
    pub(super) frame: Rc<Frame>,
    pub(super) cells: Vec<Cell>,
    /// The number of cells that can synchronize work-items; they come first.
    pub(super) synchronizing_cells: usize,
    /// For each part of an outcome, the cell that determines it, if work-items share it.
    pub(super) shared: Vec<Option<usize>>,
    /// The candidate.
    pub(super) execution: Execution,
    /// The values of the known writes, by event.
    pub(super) written: Vec<u64>,
    pub(super) runs: Vec<Runs<'s>>,
    /// The initial outcome.
    pub(super) outcome: Vec<u64>,
    /// The verdict on the choices at all cells that can synchronize: the others do not change it.
    pub(super) verdict: Verdict,
    pub(super) diverges: Option<(usize, usize)>,
    pub(super) is_cut: bool,
}

/// The runs of a work-item that agree with the choices until now.
pub(super) struct Runs<'s> {
    pub(super) shape: &'s Shape,
    pub(super) possible: Vec<u32>,
    /// The number of its first event.
    pub(super) first: usize,
}

impl<'s> Runs<'s> {
    /// The values of the only run that is left, or of the first.
    fn values(&self) -> &'s Values {
        &self.shape.values[self.possible[0] as usize]
    }
}

/// The value that an event reads or writes.
#[derive(Clone, Copy)]
pub(super) enum Which {
    Read,
    Written,
}

impl Which {
    fn value(self, values: &Values, at: usize) -> u64 {
        match self {
            Self::Read => values.read[at],
            Self::Written => values.written[at],
        }
    }
}

/// The information to undo a choice: the work-item and its possible runs before the choice.
pub(super) type Undo = Option<(usize, Vec<u32>)>;

impl Search<'_> {
    /// Keeps the runs in which an event has this value. `None` if there are none.
    pub(super) fn narrow(&mut self, event: usize, which: Which, value: u64) -> Option<Undo> {
        let item = self.frame.items[event];
        let runs = &mut self.runs[item];
        let (at, shape) = (event - runs.first, runs.shape);
        let agrees = |run: &&u32| which.value(&shape.values[**run as usize], at) == value;
        match runs.possible.iter().filter(agrees).count() {
            0 => None,
            all if all == runs.possible.len() => Some(None),
            _ => {
                let kept = runs.possible.iter().filter(agrees).copied().collect();
                Some(Some((item, std::mem::replace(&mut runs.possible, kept))))
            }
        }
    }

    /// Undoes a choice.
    pub(super) fn undo(&mut self, undo: Undo) {
        if let Some((item, before)) = undo {
            self.runs[item].possible = before;
        }
    }

    /// The value after `last` that an event can write, in ascending order.
    pub(super) fn next_written(&self, event: usize, last: Option<u64>) -> Option<u64> {
        let runs = &self.runs[self.frame.items[event]];
        let at = event - runs.first;
        let values = runs.possible.iter().map(|run| runs.shape.values[*run as usize].written[at]);
        values.filter(|value| last.is_none_or(|last| *value > last)).min()
    }

    /// An order of these writes to a location that agrees with happens-before and ends with one of them.
    pub(super) fn order_ending_with(&self, last: usize, writes: Set) -> Option<Vec<usize>> {
        let frame = &self.frame;
        let precedes = |a: usize, b: usize| {
            self.judge.is_before(&self.execution, a, b)
                || (frame.before.has(a, b) && frame.same_reference.has(a, b))
        };
        let (mut order, mut left) = (Vec::new(), writes);
        while left != 0 {
            let is_next = |write: &usize| {
                (*write != last || left == 1 << last)
                    && members(left & !(1 << *write)).all(|other| !precedes(other, *write))
            };
            let next = members(left).find(is_next)?;
            order.push(next);
            left &= !(1 << next);
        }
        Some(order)
    }

    /// In an execution with values out of thin air, finds a plain read of a write that does not happen before it. The value is
    /// undefined anyway, and the read could be the only reason for that write.
    pub(super) fn racing_read(&self) -> Option<Violation> {
        if !self.runs.iter().any(|runs| runs.values().is_assumed) {
            return None;
        }
        let reads = self.frame.reads & !self.frame.atomics;
        members(reads).find_map(|read| {
            let source = self.execution.source[read];
            let is_visible = source == INITIAL || self.judge.is_before(&self.execution, source, read);
            (!is_visible).then(|| Violation::new(Rule::Visibility, source, read))
        })
    }

    /// The outcome of the execution.
    pub(super) fn outcome(&self) -> Vec<u64> {
        let mut outcome = self.outcome.clone();
        for runs in &self.runs {
            for (part, value) in &runs.values().results {
                outcome[*part] = *value;
            }
        }
        for (value, cell) in outcome.iter_mut().zip(&self.shared) {
            let Some(cell) = cell.map(|index| &self.cells[index]) else { continue };
            let last = cell.writes.iter().max_by_key(|&&write| self.execution.rank[write]);
            *value = last.map_or(cell.initial, |&write| self.written[write]);
        }
        outcome
    }

    /// The execution, for a report.
    pub(super) fn witness(&self) -> Witness {
        let valued = |index: usize| {
            let runs = &self.runs[self.frame.items[index]];
            let (values, at) = (runs.values(), index - runs.first);
            Event { read: values.read[at], written: values.written[at], ..self.frame.events[index].clone() }
        };
        let count = self.frame.count();
        let is_read = |index: usize| self.frame.reads >> index & 1 != 0;
        let source = |index: usize| {
            (is_read(index)).then(|| self.execution.source[index]).filter(|source| *source < count)
        };
        Witness {
            positions: self.frame.positions.clone(),
            events: (0..count).map(|index| (self.frame.items[index], valued(index))).collect(),
            reads_from: (0..count).map(source).collect(),
            rank: self.execution.rank.clone(),
        }
    }
}
