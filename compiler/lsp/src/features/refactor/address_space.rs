//! Adds an address space to a generic pointer parameter (OpenCL C 6.7.5), if the arguments of all calls point to the same
//! one.

use kiln_frontend::sema::{Callee, Meaning, Role};
use kiln_types::ty::Ty;
use kiln_vocabulary::opencl::AddressSpace;
use lsp_types::CodeActionKind;

use super::{Change, Selection};
use crate::{analysis::Analysis, names::Entity};

/// The refactoring, if the selection is a parameter to which it applies.
pub(super) fn add(selection: &Selection<'_>) -> Option<Change> {
    let analysis = selection.analysis;
    let names = analysis.names_in(selection.file).iter();
    let name = names
        .filter(|name| name.role == Role::Definition && selection.is_in(&name.location.range))
        .find(|name| matches!(name.entity, Entity::Program(Meaning::Local(..))))?;
    let Entity::Program(Meaning::Local(id, local)) = name.entity else { return None };
    let function = &analysis.survey.program.functions[id];
    let position = function.parameters.iter().position(|parameter| *parameter == local)?;
    let Ty::Pointer(to) = analysis.survey.program.types.get(function.locals[local].ty.ty) else {
        return None;
    };
    if !matches!(to.quals.space, None | Some(AddressSpace::Generic)) {
        return None;
    }
    let calls = analysis.survey.facts.calls.iter();
    let arguments = calls
        .filter(|call| matches!(call.target, Callee::Function(target) if target == id))
        .map(|call| space(analysis, *call.arguments.get(position)?));
    let spaces: Vec<Option<AddressSpace>> = arguments.collect();
    let word = match spaces.first().copied().flatten()? {
        AddressSpace::Global => "global",
        AddressSpace::Local => "local",
        AddressSpace::Private => "private",
        AddressSpace::Constant | AddressSpace::Generic => return None,
    };
    // Other declarations would have to change too.
    let entity = Entity::Program(Meaning::Function(id));
    let is_declared = analysis.occurrences(entity).any(|name| name.role == Role::Declaration);
    if is_declared || spaces.iter().any(|space| *space != spaces[0]) {
        return None;
    }
    // The parameter starts after `(` or `,`.
    let before = &selection.text()[..name.location.range.start];
    let start = before.rfind(['(', ','])? + 1;
    let start = start + (before[start..].len() - before[start..].trim_start().len());
    let title = format!("Add the address space `{word}`, which all calls have");
    let edits = vec![(start..start, format!("{word} "))];
    Some(Change { title, kind: CodeActionKind::REFACTOR_REWRITE, edits })
}

/// The address space that an argument points to.
fn space(analysis: &Analysis, argument: kiln_syntax::Span) -> Option<AddressSpace> {
    let typed = analysis.survey.facts.expressions.iter().find(|typed| typed.span == argument)?;
    match analysis.survey.program.types.get(typed.ty.ty) {
        Ty::Pointer(to) => to.quals.space,
        // An array converts to a pointer to its own memory.
        Ty::Array(element, _) => element.quals.space.or(typed.ty.quals.space),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::test::apply;

    #[test]
    fn the_space_of_all_arguments_is_added() {
        let text = "void f(int n, int *$0p) { p[n] = 1; }\n\
            kernel void k(global int *a, global int *b) { f(0, a); f(1, b); }\n";
        let expected = text.replace("$0", "").replace("int *p", "global int *p");
        assert_eq!(apply(text, "address space"), Some(expected));
    }

    #[test]
    fn different_spaces_stay_generic() {
        let text = "void f(int *$0p) { p[0] = 1; }\n\
            kernel void k(global int *a, local int *b) { f(a); f(b); }\n";
        assert_eq!(apply(text, "address space"), None);
    }
}
