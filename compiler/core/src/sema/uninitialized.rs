//! Variables that are read and that nothing ever gives a value: a warning.
//!
//! It goes by names and not by the order of control: a variable that is assigned anywhere, or whose address is taken, is given
//! one. So what is reported is never set, and what is set too late is not seen.

use super::{Sema, uses::Uses};
use crate::{
    diag::{Code, Diagnostic},
    hir::FunctionId,
};

impl Sema<'_> {
    /// Warns of the first read of each variable that has no value (C99 6.2.4, 6.7.8: the value is indeterminate).
    pub(super) fn check_uninitialized(&mut self, id: FunctionId, uses: &Uses) {
        for &(local, read) in &uses.never_set {
            let variable = &self.module.functions[id].locals[local];
            let (Some(name), declared) = (variable.name, variable.span) else { continue };
            let text = self.text(name).to_owned();
            self.report(
                Diagnostic::new(
                    Code::Uninitialized,
                    read,
                    format!("`{text}` is read, and nothing gives it a value"),
                )
                .also(declared, "declared without a value")
                .help(format!("initialise `{text}` where it is declared"))
                .note(
                    "C99 6.7.8: the value of an automatic variable that is not initialised is indeterminate",
                ),
            );
        }
    }
}
