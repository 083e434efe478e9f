//! The state of the search over the executions of one combination of classes.

use std::rc::Rc;

use super::{
    ConsistencyChecker, Witness,
    cells::{self, Cell},
    initial,
    trace_class::{TraceClass, Values},
};
use crate::{
    event::{End, Event, Location, Skeleton},
    execution::{Execution, Frame, INITIAL},
    relation::{Set, members},
    verdict::{Rule, Verdict, Violation},
};

/// The state of the search over the values and executions of one combination of classes.
pub(super) struct Search<'s> {
    pub(super) checker: ConsistencyChecker,
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
    /// The initial outcome, and the outcome of the candidate.
    initial: Vec<u64>,
    pub(super) outcome: Vec<u64>,
    /// The verdict on the choices at all cells that can synchronize: the others do not change it.
    pub(super) verdict: Verdict,
    pub(super) diverges: Option<(usize, usize)>,
    pub(super) is_cut: bool,
    /// The rule that is checked last.
    pub(super) last_rule: Rule,
    /// The violations after the choices at no cell, one cell and so on, as known until now.
    pub(super) violations: Vec<Option<Violation>>,
}

/// The runs of a work-item that agree with the choices until now.
pub(super) struct Runs<'s> {
    class: &'s TraceClass,
    /// All runs; the possible ones come first.
    all: Vec<u32>,
    /// The number of possible runs.
    count: usize,
    /// The number of the first event.
    first: usize,
}

impl<'s> Runs<'s> {
    fn possible(&self) -> &[u32] {
        &self.all[..self.count]
    }

    /// The values of the only run that is left, or of the first.
    fn values(&self) -> &'s Values {
        let first = self.possible().iter().min().copied().unwrap_or_default();
        &self.class.values[first as usize]
    }
}

/// Which value of an event: the one that it reads, or the one that it writes.
#[derive(Clone, Copy)]
pub(super) enum ValueKind {
    Read,
    Written,
}

impl ValueKind {
    fn value(self, values: &Values, at: usize) -> u64 {
        match self {
            Self::Read => values.read[at],
            Self::Written => values.written[at],
        }
    }
}

/// The information to undo a choice: the work-item, and its number of possible runs before the choice.
pub(super) struct Undo(usize, usize);

impl<'s> Search<'s> {
    pub(super) fn new(
        skeleton: &Skeleton,
        classes: &[&'s TraceClass],
        possible: Vec<Vec<u32>>,
        frame: Rc<Frame>,
        checker: ConsistencyChecker,
    ) -> Self {
        let cells = cells::cells(&frame, skeleton);
        let find = |part: &Location| cells.iter().position(|cell| cell.location == *part);
        let mut first = 0;
        let runs = classes.iter().zip(possible).map(|(class, all)| {
            let start = first;
            first += class.trace.events.len();
            Runs { class, count: all.len(), all, first: start }
        });
        let runs: Vec<Runs<'s>> = runs.collect();
        let is_assumed =
            runs.iter().any(|it| it.all.iter().any(|run| it.class.values[*run as usize].is_assumed));
        let last_rule =
            checker.last_rule(&frame).max(if is_assumed { Rule::Visibility } else { Rule::Value });
        let outcome: Vec<u64> = skeleton.parts.iter().map(|part| initial(skeleton, *part)).collect();
        Self {
            checker,
            shared: skeleton.parts.iter().map(find).collect(),
            execution: Execution::new(Rc::clone(&frame)),
            written: vec![0; frame.count()],
            runs,
            initial: outcome.clone(),
            outcome,
            verdict: Verdict::Possible,
            diverges: frame.divergence(),
            is_cut: classes.iter().any(|class| class.trace.end == End::Cut),
            last_rule,
            violations: Vec::new(),
            synchronizing_cells: cells.iter().filter(|cell| !cell.never_synchronizes).count(),
            cells,
            frame,
        }
    }

    /// Whether a cell needs no check of its own: it has only one choice, which is checked together with the next cell.
    pub(super) fn has_no_check(&self, cell: usize) -> bool {
        let next = cell + 1;
        self.cells[cell].has_no_choice() && next != self.synchronizing_cells && next != self.cells.len()
    }

    /// Keeps the runs in which an event has this value. `None` if there are none.
    pub(super) fn narrow(&mut self, event: usize, which: ValueKind, value: u64) -> Option<Undo> {
        let item = self.frame.items[event];
        let runs = &mut self.runs[item];
        let at = event - runs.first;
        let mut kept = 0;
        for index in 0..runs.count {
            if which.value(&runs.class.values[runs.all[index] as usize], at) == value {
                runs.all.swap(kept, index);
                kept += 1;
            }
        }
        let before = runs.count;
        (kept > 0).then(|| {
            runs.count = kept;
            Undo(item, before)
        })
    }

    /// Undoes a choice.
    pub(super) fn undo(&mut self, Undo(item, count): Undo) {
        self.runs[item].count = count;
    }

    /// The value after `last` that an event can write, in ascending order.
    pub(super) fn next_written(&self, event: usize, last: Option<u64>) -> Option<u64> {
        let runs = &self.runs[self.frame.items[event]];
        let at = event - runs.first;
        let values = runs.possible().iter().map(|run| runs.class.values[*run as usize].written[at]);
        values.filter(|value| last.is_none_or(|last| *value > last)).min()
    }

    /// An order of these writes to a location that agrees with happens-before and ends with one of them.
    pub(super) fn order_ending_with(&self, last: usize, writes: Set) -> Option<Vec<usize>> {
        let frame = &self.frame;
        let precedes = |a: usize, b: usize| {
            self.checker.is_before(&self.execution, a, b)
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
            let is_visible = source == INITIAL || self.checker.is_before(&self.execution, source, read);
            (!is_visible).then(|| Violation::new(Rule::Visibility, source, read))
        })
    }

    /// Finds the outcome of the candidate.
    pub(super) fn find_outcome(&mut self) {
        self.outcome.copy_from_slice(&self.initial);
        for runs in &self.runs {
            for (part, value) in &runs.values().results {
                self.outcome[*part] = *value;
            }
        }
        for (value, cell) in self.outcome.iter_mut().zip(&self.shared) {
            let Some(cell) = cell.map(|index| &self.cells[index]) else { continue };
            let last = cell.writes.iter().max_by_key(|&&write| self.execution.rank[write]);
            *value = last.map_or(cell.initial, |&write| self.written[write]);
        }
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
