//! `switch` statements whose labels are at the top level of the body (C99 6.8.4.2).
//!
//! The statements between labels are segments. Segments connected by fallthrough form a run. A run is one case;
//! inside it, a number selects the segment where execution starts.

use super::{body::Body, cases::Label, stmt::completes};
use kiln_frontend::hir::{Expr, Stmt, StmtKind, jumps::label};
use kiln_ir::{InstId, Type, ValueId};

/// A segment: the statements between two labels, and the labels before it.
#[derive(Default)]
struct Segment<'h> {
    labels: Vec<(i128, i128)>,
    is_default: bool,
    stmts: Vec<&'h Stmt>,
}

impl Body<'_, '_> {
    /// Lowers a `switch` statement.
    pub(super) fn switch(&mut self, value: &Expr, body: &[Stmt]) {
        let value = self.value(value);
        let mut segments = Vec::new();
        split_at_labels(body, &mut segments);
        let runs = group_by_fallthrough(segments);
        let mut labels = Vec::new();
        for (target, run) in runs.iter().enumerate() {
            for (low, high) in run.iter().flat_map(|segment| &segment.labels) {
                labels.push(Label { low: *low, high: *high, target });
            }
        }
        let default = runs.iter().position(|run| run.iter().any(|segment| segment.is_default));
        // Labels of the default's run need not be listed.
        labels.retain(|label| Some(label.target) != default);
        let choice = self.choice(value, &labels, runs.len());

        let block = self.builder.insertion_point().0;
        let (used, cases): (Vec<usize>, Vec<Vec<u64>>) =
            choice.cases.into_iter().enumerate().filter(|(_, values)| !values.is_empty()).unzip();
        let open = self.builder.open_switch(choice.value, cases, &[]);
        let outer = self.break_target.replace(open.inst);
        for (run, block) in used.into_iter().zip(open.cases) {
            self.builder.at_end(block);
            self.emit_run(value, &runs[run], open.inst);
        }
        self.builder.at_end(open.default);
        self.emit_run(value, default.map_or(&[][..], |run| &runs[run]), open.inst);
        self.break_target = outer;
        self.continue_after(open.inst, block);
    }

    /// Emits segments with fallthrough, followed by the end of the switch.
    fn emit_run(&mut self, value: ValueId, run: &[Segment<'_>], construct: InstId) {
        self.is_reachable = true;
        let entry = (run.len() > 1).then(|| self.entry_index(value, run));
        for (number, segment) in run.iter().enumerate() {
            match entry {
                Some(entry) if number + 1 < run.len() => {
                    // If execution starts at a later segment, skip this one.
                    let block = self.builder.insertion_point().0;
                    let is_inside = self.is_at_most(entry, number);
                    let open = self.builder.open_if(is_inside, &[]);
                    self.builder.at_end(open.then);
                    self.emit_segment(segment);
                    if self.is_reachable {
                        self.exit(open.inst, &[]);
                    }
                    self.builder.at_end(open.otherwise);
                    self.exit(open.inst, &[]);
                    self.continue_after(open.inst, block);
                }
                _ => self.emit_segment(segment),
            }
        }
        if self.is_reachable {
            self.exit(construct, &[]);
        }
    }

    fn emit_segment(&mut self, segment: &Segment<'_>) {
        self.is_reachable = true;
        for stmt in &segment.stmts {
            self.stmts(std::slice::from_ref(*stmt));
        }
    }

    /// The index of the segment where execution starts.
    fn entry_index(&mut self, value: ValueId, run: &[Segment<'_>]) -> ValueId {
        // Values without a label start at the default, if it is in this run; otherwise there are none.
        let other = run.iter().position(|segment| segment.is_default).unwrap_or(run.len() - 1);
        let mut labels = Vec::new();
        for (target, segment) in run.iter().enumerate().filter(|(target, _)| *target != other) {
            labels.extend(segment.labels.iter().map(|&(low, high)| Label { low, high, target }));
        }
        let choice = self.choice(value, &labels, run.len());
        let block = self.builder.insertion_point().0;
        let (targets, cases): (Vec<usize>, Vec<Vec<u64>>) =
            choice.cases.into_iter().enumerate().filter(|(_, values)| !values.is_empty()).unzip();
        // Targets without values are left to the default block, which selects `other`.
        let open = self.builder.open_switch(choice.value, cases, &[Type::I32]);
        for (target, block) in targets.into_iter().zip(open.cases) {
            self.builder.at_end(block);
            let target = self.builder.i32(target as i32);
            self.builder.exit(open.inst, &[target]);
        }
        self.builder.at_end(open.default);
        let other = self.builder.i32(other as i32);
        self.builder.exit(open.inst, &[other]);
        self.builder.at_end(block);
        self.builder.function.result(open.inst)
    }
}

/// Splits the body of a switch at its labels. Statements before the first label are unreachable.
fn split_at_labels<'h>(body: &'h [Stmt], segments: &mut Vec<Segment<'h>>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Case(_) | StmtKind::Default => {
                // Adjacent labels share a segment.
                if segments.last().is_none_or(|segment| !segment.stmts.is_empty()) {
                    segments.push(Segment::default());
                }
                let Some(segment) = segments.last_mut() else { continue };
                match &stmt.kind {
                    StmtKind::Case(case) => segment.labels.push((case.low, case.high)),
                    _ => segment.is_default = true,
                }
            }
            StmtKind::Block(inner) if label(inner).is_some() => split_at_labels(inner, segments),
            _ => {
                if let Some(segment) = segments.last_mut() {
                    segment.stmts.push(stmt);
                }
            }
        }
    }
}

/// Groups segments connected by fallthrough.
fn group_by_fallthrough(segments: Vec<Segment<'_>>) -> Vec<Vec<Segment<'_>>> {
    let mut runs: Vec<Vec<Segment<'_>>> = Vec::new();
    let mut follows_fallthrough = false;
    for segment in segments {
        let falls_through = segment.stmts.iter().all(|stmt| completes(std::slice::from_ref(*stmt)));
        match runs.last_mut() {
            Some(run) if follows_fallthrough => run.push(segment),
            _ => runs.push(vec![segment]),
        }
        follows_fallthrough = falls_through;
    }
    runs
}
