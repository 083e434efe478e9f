//! Warns about variables that are read but never assigned.
//!
//! The analysis is flow-insensitive: a variable that is assigned anywhere, or whose address is taken, counts as
//! assigned. So it does not detect assignments that come too late.

use super::{Sema, uses::Uses};
use kiln_session::diag::{Code, Diagnostic};

use crate::hir::FunctionId;

impl Sema<'_> {
    /// Warns about the first read of each unassigned variable (C99 6.2.4, 6.7.8: the value is indeterminate).
    pub(super) fn check_uninitialized(&mut self, id: FunctionId, uses: &Uses) {
        for &(local, read) in &uses.never_set {
            let variable = &self.module.functions[id].locals[local];
            let (Some(name), declared) = (variable.name, variable.span) else { continue };
            let text = self.text(name).to_owned();
            self.report(
                Diagnostic::new(
                    Code::Uninitialized,
                    read,
                    format!("`{text}` is read but never assigned"),
                )
                .also(declared, "declared without a value")
                .help(format!("initialize `{text}` where it is declared"))
                .note(
                    "C99 6.7.8: the value of an automatic variable that is not initialized is indeterminate",
                ),
            );
        }
    }
}
