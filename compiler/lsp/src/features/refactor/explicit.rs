//! Makes the implicit order and scope of an operation explicit (OpenCL C 6.15.8, 6.15.12.7).

use kiln_builtins::{self as builtins, Lowering};
use kiln_frontend::sema::Callee;
use kiln_vocabulary::opencl::{Order, Scope};
use lsp_types::CodeActionKind;

use super::{Change, Selection};
use crate::documentation;

/// The refactoring, if the selection is a call to which it applies.
pub(super) fn explicit(selection: &Selection<'_>) -> Option<Change> {
    for call in &selection.analysis.survey.facts.calls {
        let Callee::Builtin(overload) = &call.target else { continue };
        let Some(name) = selection.unexpanded_range(call.callee) else { continue };
        // The argument may be a macro: `CLK_LOCAL_MEM_FENCE`.
        let last = call.arguments.last().and_then(|it| selection.analysis.in_file(selection.file, *it));
        let Some(last) = last.filter(|last| last.start > name.end) else { continue };
        if !selection.is_in_call(&name, &last) {
            continue;
        }
        let row = builtins::row(overload.builtin);
        let parameters = documentation::parameters(row.name, overload.parameters.len());
        if parameters.contains(&"scope") {
            continue;
        }
        let (suffix, orders, scope) = match row.lowering {
            // The functions of OpenCL C 1.x have no explicit form with the same name.
            Lowering::Atomic(form) if form.is_legacy => continue,
            Lowering::Atomic(form) if !form.is_explicit => {
                // Compare-exchange has an order for success and one for failure.
                let orders = if row.name.contains("compare_exchange") { 2 } else { 1 };
                ("_explicit", orders, Scope::Device)
            }
            Lowering::Atomic(_) => ("", 0, Scope::Device),
            Lowering::Barrier(barrier) if row.name.ends_with("_group_barrier") => ("", 0, barrier.execution),
            _ => continue,
        };
        let order = format!(", {}", Order::SeqCst.spelling()).repeat(orders);
        let mut edits = vec![(last.end..last.end, format!("{order}, {}", scope.spelling()))];
        if !suffix.is_empty() {
            edits.push((name.end..name.end, suffix.to_owned()));
        }
        let what = if orders > 0 { "order and scope" } else { "scope" };
        let title = format!("Make the {what} explicit");
        return Some(Change { title, kind: CodeActionKind::REFACTOR_REWRITE, edits });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::test::apply;

    fn check(call: &str, expected: Option<&str>) {
        let text =
            |call: &str| format!("void f(global atomic_int *a, global int *e) {{ int x = 1; {call}; }}");
        assert_eq!(apply(&text(call), "explicit"), expected.map(text));
    }

    #[test]
    fn orders_and_scopes_become_explicit() {
        check(
            "atomic_$0store(a, 1)",
            Some("atomic_store_explicit(a, 1, memory_order_seq_cst, memory_scope_device)"),
        );
        check(
            "atomic_compare_exchange_strong(a, $0&x, 1)",
            Some(
                "atomic_compare_exchange_strong_explicit(a, &x, 1, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device)",
            ),
        );
        check(
            "atomic_load_explicit($0a, memory_order_relaxed)",
            Some("atomic_load_explicit(a, memory_order_relaxed, memory_scope_device)"),
        );
        check(
            "atomic_store(a, 1);$0",
            Some("atomic_store_explicit(a, 1, memory_order_seq_cst, memory_scope_device);"),
        );
        check(
            "work_group_barrier($0CLK_LOCAL_MEM_FENCE)",
            Some("work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group)"),
        );
    }

    #[test]
    fn explicit_and_legacy_operations_are_unchanged() {
        check("atomic_load_explicit($0a, memory_order_relaxed, memory_scope_device)", None);
        check("atomic_add($0e, 1)", None);
    }
}
