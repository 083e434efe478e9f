//! Variables that are read and that nothing ever gives a value: a warning.
//!
//! It goes by names and not by the order of control: a variable that is assigned anywhere, or whose address is taken, is given
//! one. So what is reported is never set, and what is set too late is not seen.

use kiln_syntax::Span;
use rustc_hash::FxHashSet;

use super::Sema;
use crate::{
    diag::{Code, Diagnostic},
    hir::{ExprKind, Function, FunctionId, LocalId, Stmt, visit},
    opencl::AddressSpace,
};

impl Sema<'_> {
    /// Warns of the first read of each variable that has no value (C99 6.2.4, 6.7.8: the value is indeterminate).
    pub(super) fn check_uninitialized(&mut self, id: FunctionId, body: &[Stmt]) {
        for (local, read) in uninitialized(&self.module.functions[id], body) {
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

/// The private variables that are read and never set, each with its first read, in the order of the source.
fn uninitialized(function: &Function, body: &[Stmt]) -> Vec<(LocalId, Span)> {
    let mut set: FxHashSet<LocalId> = function.parameters.iter().copied().collect();
    let mut reads = Vec::new();
    // `(void)x` says that the variable is known to be there, no more.
    let mut discarded = None;
    visit::expressions(body, &mut |expr| match &expr.kind {
        ExprKind::Comma(left, _) => discarded = Some(&**left),
        ExprKind::Load(place) if !discarded.is_some_and(|it| std::ptr::eq(it, expr)) => {
            reads.extend(place.local().map(|local| (local, expr.span)));
        }
        ExprKind::AddressOf(place) | ExprKind::Update { place, .. } => set.extend(place.local()),
        ExprKind::Assign(assign) => set.extend(assign.place.local()),
        _ => {}
    });
    reads.sort_by_key(|(_, span)| span.lo);
    let is_private = |local: LocalId| function.locals[local].ty.quals.space != Some(AddressSpace::Local);
    // Each is told of once.
    reads.retain(|&(local, _)| is_private(local) && set.insert(local));
    reads
}
