//! Warns about variables that are read but never assigned, or that are read by their own initializers.
//!
//! The first analysis is flow-insensitive: a variable that is assigned anywhere, or whose address is taken, counts as
//! assigned. So it does not detect assignments that come too late.

use kiln_session::diag::{Code, Diagnostic, Sink};
use kiln_syntax::{Interner, Span};
use kiln_types::ty::Types;
use kiln_vocabulary::opencl::AddressSpace;

use super::uses::Uses;
use crate::hir::Function;

/// Warns about the first read of each unassigned variable (C99 6.2.4, 6.7.8: the value is indeterminate), and of each
/// variable that its initializer reads.
pub(crate) fn check_uninitialized(
    function: &Function,
    uses: &Uses,
    types: &Types,
    interner: &Interner,
    sink: &mut Sink,
) {
    for &(local, read) in &uses.never_set {
        let variable = &function.locals[local];
        let (Some(name), declared) = (variable.name, variable.span) else { continue };
        let text = interner.text(name);
        let diagnostic =
            Diagnostic::new(Code::Uninitialized, read, format!("`{text}` is read but never assigned"))
                .also(declared, "declared without a value");
        if variable.ty.quals.space == Some(AddressSpace::Local) {
            sink.report(
                diagnostic
                    .help("assign it in the work-items, followed by `barrier(CLK_LOCAL_MEM_FENCE)`")
                    .note("OpenCL C 6.7.7: local memory is not initialized"),
            );
            continue;
        }
        let mut diagnostic = diagnostic
            .help(format!("initialize `{text}` where it is declared"))
            .note("C99 6.7.8: the value of an automatic variable that is not initialized is indeterminate");
        if types.components(variable.ty.ty).is_some() {
            let end = Span::new(declared.hi, declared.hi);
            diagnostic = diagnostic.fix(end, "initialize it with 0", " = 0");
        }
        sink.report(diagnostic);
    }
    for &(local, read) in &uses.self_initialized {
        let variable = &function.locals[local];
        let Some(name) = variable.name else { continue };
        let text = interner.text(name);
        sink.report(
            Diagnostic::new(
                Code::Uninitialized,
                read,
                format!("`{text}` is read by its own initializer, before it has a value"),
            )
            .also(variable.span, "already names the new variable")
            .help(format!("give the new variable another name if an outer `{text}` is meant"))
            .note("C99 6.2.1: a variable is visible as soon as its declarator ends"),
        );
    }
}
