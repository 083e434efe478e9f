//! Variables that are read and that nothing ever gives a value: a warning.
//!
//! It goes by names and not by the order of control: a variable that is assigned anywhere, or whose address is taken, is given
//! one. So what is reported is never set, and what is set too late is not seen.

use kiln_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Sema;
use crate::{
    diag::{Code, Diagnostic},
    hir::{ExprKind, Function, FunctionId, LocalId, Place, PlaceKind, Stmt, visit},
    opencl::AddressSpace,
};

impl Sema<'_> {
    /// Warns of the first read of each variable that has no value (C99 6.2.4, 6.7.8: the value is indeterminate).
    pub(super) fn check_unset(&mut self, id: FunctionId, body: &[Stmt]) {
        for (local, read) in unset(&self.module.functions[id], body) {
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
fn unset(function: &Function, body: &[Stmt]) -> Vec<(LocalId, Span)> {
    let mut set: FxHashSet<LocalId> = function.parameters.iter().copied().collect();
    let mut read: FxHashMap<LocalId, Span> = FxHashMap::default();
    // `(void)x` says that the variable is known to be there, no more.
    let mut discarded = None;
    visit::expressions(body, &mut |expr| match &expr.kind {
        ExprKind::Comma(left, _) => discarded = Some(&**left),
        ExprKind::Load(place) if !discarded.is_some_and(|it| std::ptr::eq(it, expr)) => {
            if let Some(local) = variable(place) {
                read.entry(local)
                    .and_modify(|first| {
                        if expr.span.lo < first.lo {
                            *first = expr.span
                        }
                    })
                    .or_insert(expr.span);
            }
        }
        ExprKind::AddressOf(place) | ExprKind::Update { place, .. } => set.extend(variable(place)),
        ExprKind::Assign(assign) => set.extend(variable(&assign.place)),
        _ => {}
    });
    let is_private = |local: LocalId| function.locals[local].ty.quals.space != Some(AddressSpace::Local);
    let mut found: Vec<_> =
        read.into_iter().filter(|(local, _)| !set.contains(local) && is_private(*local)).collect();
    found.sort_by_key(|(_, span)| span.lo);
    found
}

/// The variable that a place is, or is a part of.
pub(super) fn variable(place: &Place) -> Option<LocalId> {
    match &place.kind {
        PlaceKind::Local(local) => Some(*local),
        PlaceKind::Field { base, .. } | PlaceKind::Swizzle { base, .. } => variable(base),
        PlaceKind::Element(element) => variable(&element.base),
        PlaceKind::Global(_) | PlaceKind::Deref(_) | PlaceKind::Temporary(_) => None,
    }
}
