//! The second pass: why outcomes are forbidden.
//!
//! It visits all candidates whose reads return values of writes, but checks one only if its outcome is not allowed, and has no
//! explanation by the rule that is checked last. The results of the checks are kept for the candidates with the same choices.

use super::{Explorer, Forbidden, search::Search};
use crate::verdict::{Verdict, Violation};

impl Explorer<'_> {
    /// Explains a forbidden outcome by this candidate. Of several explanations, keeps the one by the rule that is checked last, whose
    /// execution is the nearest to a consistent one.
    pub(super) fn explain(&mut self, search: &mut Search<'_>) {
        search.find_outcome();
        let known = self.known.get(&search.outcome);
        if known.is_some_and(|known| known.is_allowed || known.rule >= Some(search.last_rule)) {
            return;
        }
        let rule = known.and_then(|known| known.rule);
        let violation = search.violation().or_else(|| search.racing_read());
        let Some(violation) = violation.filter(|it| rule < Some(it.rule)) else { return };
        self.known.entry(search.outcome.clone()).or_default().rule = Some(violation.rule);
        let events = (violation.first, violation.second);
        let forbidden = Forbidden { rule: violation.rule, events, witness: search.witness() };
        self.found.forbidden.insert(search.outcome.clone(), forbidden);
    }
}

impl Search<'_> {
    /// The first violation of the choices at all cells, in the order of the cells.
    fn violation(&mut self) -> Option<Violation> {
        for cells in self.violations.len()..=self.cells.len() {
            let mut violation = cells.checked_sub(1).and_then(|before| self.violations[before]);
            if violation.is_none() {
                violation = self.violation_after(cells);
            }
            self.violations.push(violation);
        }
        self.violations.last().copied().flatten()
    }

    /// The violation of the choices at the first cells, if those before the last of them have none.
    fn violation_after(&mut self, cells: usize) -> Option<Violation> {
        let is_checked = match cells.checked_sub(1) {
            Some(last) => !self.has_no_check(last),
            None => self.synchronizing_cells == 0,
        };
        let all = self.execution.known;
        self.execution.known &= self.cells[..cells].iter().fold(0, |set, cell| set | cell.accesses());
        let mut violation = if is_checked { self.checker.check(&self.execution).err() } else { None };
        if violation.is_none()
            && cells == self.synchronizing_cells
            && let Verdict::Impossible(found) = self.checker.verdict(&self.execution)
        {
            violation = Some(found);
        }
        self.execution.known = all;
        violation
    }
}
