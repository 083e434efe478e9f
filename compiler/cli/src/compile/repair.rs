//! `kiln check --fix`: applies the fixes of the diagnostics to a source.
//!
//! A fix can reveal further problems, such as those after a missing `;`. The source is therefore checked again, until
//! no fix is left. A fix that does not remove its problem is not applied. The file is written once, at the end.
//!
//! A mistake can hide others of the same kind, such as another missing `;` later in the source. Fixes that only move
//! such an error are kept if later fixes remove it, and undone otherwise.

use std::collections::HashMap;

use kiln_compiler::{
    Output,
    diag::{Code, Diagnostic, Edit, compatible_edits},
    session::Source,
};

use crate::exit::{Failure, failure};

/// The maximum number of times that a source is checked.
const MAX_CHECKS: usize = 100;

/// A source with the fixes.
#[derive(Clone)]
pub(super) struct Repaired {
    pub(super) source: Source,
    /// The number of applied fixes.
    pub(super) count: usize,
}

/// Applies the fixes. `check` compiles a text; its result is `None` after an internal error, which ends the repair.
pub(super) fn repair(
    source: Source,
    check: impl Fn(&Source) -> Option<Output>,
) -> Result<Option<Repaired>, Failure> {
    let Some(mut output) = check(&source) else { return Ok(None) };
    let mut repaired = Repaired { source, count: 0 };
    // The state before fixes that only moved an error, and its number of syntax errors.
    let mut before_move: Option<(Repaired, usize)> = None;
    let mut checks = 1;
    'repair: loop {
        let edits = edits(&output, &repaired.source.name);
        if !edits.is_empty() && std::str::from_utf8(&repaired.source.text).is_err() {
            return failure(format!("`{}` is not UTF-8: its fixes are not applied", repaired.source.name));
        }
        // Try all fixes together. If that leaves problems, keep the first fix that works alone.
        let together = (edits.len() > 1).then_some(edits.as_slice());
        for chosen in together.into_iter().chain(edits.chunks(1)) {
            if checks == MAX_CHECKS {
                break 'repair;
            }
            checks += 1;
            let fixed =
                Source { name: repaired.source.name.clone(), text: apply(&repaired.source.text, chosen) };
            let Some(after) = check(&fixed) else { return Ok(None) };
            let moves = !removes(chosen, &output, &after);
            if moves && !(chosen.len() == 1 && uncovers_next_error(&chosen[0], &after)) {
                continue;
            }
            if moves && before_move.is_none() {
                before_move = Some((repaired.clone(), syntax_errors(&output)));
            }
            before_move = before_move.filter(|(_, before)| syntax_errors(&after) >= *before);
            repaired = Repaired { source: fixed, count: repaired.count + chosen.len() };
            output = after;
            continue 'repair;
        }
        break;
    }
    Ok(Some(before_move.map_or(repaired, |(before, _)| before)))
}

/// An edit and the problem that it repairs.
struct Repair {
    edit: Edit,
    problem: Problem,
}

/// What identifies a problem, apart from its position, which other edits change.
type Problem = (Code, String);

fn problem(diagnostic: &Diagnostic) -> Problem {
    (diagnostic.code, diagnostic.message.clone())
}

/// The edits of the source itself, in source order. Those of included files are left to the user.
fn edits(output: &Output, name: &str) -> Vec<Repair> {
    let is_here = |edit: &Edit| &*output.sources.file(edit.location.file).name == name;
    let mut repairs: Vec<Repair> = compatible_edits(&output.diagnostics, &output.sources)
        .into_iter()
        .filter(|(_, edit)| is_here(edit))
        .map(|(diagnostic, edit)| Repair { edit, problem: problem(diagnostic) })
        .collect();
    repairs.sort_by_key(|repair| repair.edit.location.range.start);
    repairs
}

/// The text with the edits, which do not overlap and are in source order.
fn apply(text: &[u8], repairs: &[Repair]) -> Vec<u8> {
    let has_carriage_returns = text.windows(2).any(|pair| pair == b"\r\n");
    let mut fixed = Vec::with_capacity(text.len());
    let mut copied = 0;
    for Repair { edit, .. } in repairs {
        fixed.extend_from_slice(&text[copied..edit.location.range.start]);
        match has_carriage_returns {
            true => fixed.extend(edit.text.replace('\n', "\r\n").bytes()),
            false => fixed.extend(edit.text.bytes()),
        }
        copied = edit.location.range.end;
    }
    fixed.extend_from_slice(&text[copied..]);
    fixed
}

/// Whether the repairs have removed their problems, and caused no syntax error.
fn removes(repairs: &[Repair], before: &Output, after: &Output) -> bool {
    let count = |output: &Output| {
        let mut count: HashMap<Problem, usize> = HashMap::new();
        for diagnostic in &output.diagnostics {
            *count.entry(problem(diagnostic)).or_default() += 1;
        }
        count
    };
    let (mut expected, left) = (count(before), count(after));
    for repair in repairs {
        expected.entry(repair.problem.clone()).and_modify(|count| *count = count.saturating_sub(1));
    }
    let is_removed =
        |repair: &Repair| left.get(&repair.problem).copied().unwrap_or(0) <= expected[&repair.problem];
    repairs.iter().all(is_removed) && syntax_errors(after) <= syntax_errors(before)
}

/// Whether the same syntax error is now only reported after the repaired text: the repair has uncovered the next one.
fn uncovers_next_error(repair: &Repair, after: &Output) -> bool {
    let last = |output: &Output| {
        let same = output.diagnostics.iter().filter(|it| problem(it) == repair.problem);
        same.filter_map(|it| Some(output.sources.spelling(it.span)?.range.start)).max()
    };
    repair.problem.0 == Code::Syntax
        && last(after).is_some_and(|next| next > repair.edit.location.range.start + repair.edit.text.len())
}

fn syntax_errors(output: &Output) -> usize {
    output.diagnostics.iter().filter(|it| it.code == Code::Syntax).count()
}
