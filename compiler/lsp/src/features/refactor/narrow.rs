//! Narrows the scope of an atomic operation on a local object to the work-group: no other work-item can access the
//! object (OpenCL C 6.15.12.4). Operations with seq_cst stay, because their scope determines the total order.

use kiln_builtins::{self as builtins, Lowering};
use kiln_frontend::sema::Callee;
use kiln_types::ty::Ty;
use kiln_vocabulary::opencl::{AddressSpace, Order, Scope};
use lsp_types::CodeActionKind;

use super::{Change, Selection};

/// The refactoring, if the selection is a call to which it applies.
pub(super) fn narrow(selection: &Selection<'_>) -> Option<Change> {
    let analysis = selection.analysis;
    for call in &analysis.survey.facts.calls {
        let Callee::Builtin(overload) = &call.target else { continue };
        if !matches!(builtins::row(overload.builtin).lowering, Lowering::Atomic(_)) {
            continue;
        }
        let written: Option<Vec<_>> =
            call.arguments.iter().map(|it| selection.unexpanded_range(*it)).collect();
        let (Some(written), Some(name)) = (written, selection.unexpanded_range(call.callee)) else {
            continue;
        };
        let (Some(object), Some(scope)) = (call.arguments.first(), written.last()) else { continue };
        if !selection.is_in_call(&name, scope) {
            continue;
        }
        let words: Vec<&str> = written.iter().map(|range| &selection.text()[range.clone()]).collect();
        let wide = [Scope::Device, Scope::AllSvmDevices].map(Scope::spelling);
        let is_wide =
            words.last().is_some_and(|word| wide.contains(word) || *word == "memory_scope_all_devices");
        let is_local = analysis.survey.facts.expressions.iter().any(|typed| {
            let pointee = match analysis.survey.program.types.get(typed.ty.ty) {
                Ty::Pointer(to) => to.quals.space,
                _ => None,
            };
            typed.span == *object && pointee == Some(AddressSpace::Local)
        });
        if is_wide && is_local && !words.contains(&Order::SeqCst.spelling()) {
            let edits = vec![(scope.clone(), Scope::WorkGroup.spelling().to_owned())];
            let title = "Narrow the scope to the work-group".to_owned();
            return Some(Change { title, kind: CodeActionKind::REFACTOR_REWRITE, edits });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::test::apply;

    fn check(space: &str, order: &str, expected: bool) {
        let text = |scope: &str, mark: &str| {
            format!(
                "void f({space} atomic_int *a) {{ {mark}atomic_fetch_add_explicit(a, 1, {order}, {scope}); }}"
            )
        };
        let narrowed = apply(&text("memory_scope_device", "$0"), "Narrow");
        assert_eq!(narrowed, expected.then(|| text("memory_scope_work_group", "")));
    }

    #[test]
    fn only_operations_on_local_objects_without_seq_cst() {
        check("local", "memory_order_acq_rel", true);
        check("global", "memory_order_acq_rel", false);
        check("local", "memory_order_seq_cst", false);
    }
}
