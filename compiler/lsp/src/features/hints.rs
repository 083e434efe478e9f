//! Inlay hints: implicit orders and scopes of atomic operations, address spaces, conversions, and parameter names.

use std::ops::Range;

use kiln_builtins::{self as builtins, Lowering};
use kiln_frontend::{
    hir::{Const, Expr, ExprKind, visit},
    sema::{Called, Callee, Meaning, Role},
};
use kiln_session::source::FileId;
use kiln_syntax::{
    Arena,
    ast::{Declaration, Declarator, DerivationKind, Item, Qualifier, Specifiers, Storage},
};
use kiln_types::ty::{Scalar, Ty, TyId};
use kiln_vocabulary::opencl::{Order, Scope};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel};

use crate::{
    analysis::Analysis,
    configuration::InlayHints,
    documentation,
    names::Entity,
    tree::{self, Node},
};

/// The hints for a range of a file.
pub(crate) fn hints(
    analysis: &Analysis,
    file: FileId,
    within: lsp_types::Range,
    wanted: InlayHints,
) -> Vec<InlayHint> {
    let mut hints = Hints { analysis, file, found: Vec::new() };
    for call in &analysis.survey.facts.calls {
        if wanted.parameters {
            hints.parameters(call);
        }
        if wanted.orders {
            hints.orders(call);
        }
    }
    if wanted.spaces {
        hints.spaces();
    }
    if wanted.conversions {
        hints.conversions();
    }
    let mut found = hints.found;
    found.sort_by_key(|hint| hint.offset);
    // A header that is included twice produces each hint twice.
    found.dedup();
    let hints = found.into_iter().map(|hint| hint.convert(analysis, file));
    hints.filter(|hint| within.start <= hint.position && hint.position <= within.end).collect()
}

/// Implicit code, shown at an offset.
#[derive(PartialEq)]
struct Hint {
    offset: usize,
    label: String,
    kind: Option<InlayHintKind>,
}

impl Hint {
    fn convert(self, analysis: &Analysis, file: FileId) -> InlayHint {
        InlayHint {
            position: analysis.range(file, &(self.offset..self.offset)).start,
            padding_right: Some(self.kind == Some(InlayHintKind::PARAMETER)),
            label: InlayHintLabel::String(self.label),
            kind: self.kind,
            text_edits: None,
            tooltip: None,
            padding_left: None,
            data: None,
        }
    }
}

struct Hints<'a> {
    analysis: &'a Analysis,
    file: FileId,
    found: Vec<Hint>,
}

impl Hints<'_> {
    fn add(&mut self, offset: usize, label: String, kind: Option<InlayHintKind>) {
        self.found.push(Hint { offset, label, kind });
    }

    fn unexpanded_range(&self, span: kiln_syntax::Span) -> Option<Range<usize>> {
        self.analysis.unexpanded_range(self.file, span)
    }

    /// Parameter names, before arguments that do not already show them.
    fn parameters(&mut self, call: &Called) {
        let names: Vec<String> = match &call.target {
            Callee::Function(id) => {
                let function = &self.analysis.survey.program.functions[*id];
                let name = |local| function.locals[local].name.map_or("", |name| self.analysis.symbol(name));
                function.parameters.iter().map(|local| name(*local).to_owned()).collect()
            }
            Callee::Builtin(overload) => {
                let name = builtins::row(overload.builtin).name;
                documentation::parameters(name, overload.parameters.len())
                    .into_iter()
                    .map(str::to_owned)
                    .collect()
            }
        };
        let is_builtin = matches!(call.target, Callee::Builtin(_));
        for (name, argument) in names.iter().zip(&call.arguments) {
            let Some(range) = self.unexpanded_range(*argument) else { continue };
            let text = &self.analysis.text(self.file)[range.clone()];
            let is_obvious = name.is_empty() || text.to_lowercase().contains(&name.to_lowercase());
            // Parameters of built-in functions are familiar, so only literal arguments get a hint.
            let is_literal = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            if !is_obvious && (!is_builtin || is_literal && names.len() > 2) {
                self.add(range.start, format!("{name}:"), Some(InlayHintKind::PARAMETER));
            }
        }
    }

    /// Adds the implicit order and scope of an operation (OpenCL C 6.15.8, 6.15.12.7).
    fn orders(&mut self, call: &Called) {
        let Callee::Builtin(overload) = &call.target else { return };
        let row = builtins::row(overload.builtin);
        let names = documentation::parameters(row.name, overload.parameters.len());
        let (order, scope) = match row.lowering {
            Lowering::Atomic(form) if form.is_legacy => (Some(Order::Relaxed), Some(Scope::Device)),
            Lowering::Atomic(form) if !form.is_explicit => (Some(Order::SeqCst), Some(Scope::Device)),
            Lowering::Atomic(_) => (None, Some(Scope::Device)),
            Lowering::Barrier(barrier) => (None, Some(barrier.execution)),
            _ => return,
        };
        let scope = scope.filter(|_| !names.contains(&"scope"));
        let words = [order.map(Order::spelling), scope.map(Scope::spelling)];
        let label: String = words.into_iter().flatten().map(|word| format!(", {word}")).collect();
        let end = call
            .arguments
            .last()
            .and_then(|argument| self.unexpanded_range(*argument))
            .map(|range| range.end);
        if let Some(end) = end.filter(|_| !label.is_empty()) {
            self.add(end, label, None);
        }
    }

    /// Adds the implicit address spaces of pointees, and of objects at program scope (OpenCL C 6.7.8).
    fn spaces(&mut self) {
        let arena = Arena::default();
        let unit = self.analysis.survey.tree(&arena);
        for item in unit.items {
            if let Item::Declaration(declaration) = item {
                self.declaration(declaration, true);
            }
        }
        let mut inner: Vec<&Declaration> = Vec::new();
        let mut functions = Vec::new();
        tree::walk(unit, &mut |node| match node {
            Node::Declaration(declaration) => inner.push(declaration),
            Node::Function(function) => functions.push(function),
            Node::Statement(_) | Node::Block(_) => {}
        });
        for declaration in inner {
            self.declaration(declaration, false);
        }
        for function in functions {
            self.function_parameters(&function.declarator);
        }
    }

    fn declaration(&mut self, declaration: &Declaration, at_program_scope: bool) {
        let is_typedef = declaration.specifiers.storage.iter().any(|it| it.node == Storage::Typedef);
        if is_typedef {
            return;
        }
        for one in declaration.declarators {
            self.function_parameters(&one.declarator);
        }
        // Several declarators get only one hint, because they share their specifiers.
        if let [one] = declaration.declarators {
            self.declarator(&declaration.specifiers, &one.declarator, at_program_scope);
        }
    }

    fn function_parameters(&mut self, declarator: &Declarator) {
        if let Some(DerivationKind::Function(function)) =
            declarator.derivations.first().map(|derivation| &derivation.kind)
        {
            for parameter in function.parameters {
                self.declarator(&parameter.specifiers, &parameter.declarator, false);
            }
        }
    }

    fn declarator(&mut self, specifiers: &Specifiers, declarator: &Declarator, is_object: bool) {
        use Qualifier::{Constant, Generic, Global, Local, Private};
        let is_address_space =
            |qualifier: &Qualifier| matches!(qualifier, Constant | Generic | Global | Local | Private);
        if specifiers.qualifiers.iter().any(|qualifier| is_address_space(&qualifier.node)) {
            return;
        }
        let Some(name) = declarator.name.and_then(|name| self.unexpanded_range(name.span)) else { return };
        let names = self.analysis.names_in(self.file).iter();
        let mut here = names.filter(|it| it.location.range == name && it.role != Role::Use);
        let Some(entity) = here.next().map(|it| it.entity) else { return };
        let Entity::Program(Meaning::Local(..) | Meaning::Global(_)) = entity else { return };
        let Some(ty) = self.analysis.type_of(entity) else { return };
        let is_pointer = matches!(declarator.derivations, [derivation] if matches!(derivation.kind, DerivationKind::Pointer(..)));
        let space = match self.analysis.survey.program.types.get(ty.ty) {
            Ty::Pointer(to) if is_pointer => to.quals.space,
            Ty::Sampler | Ty::Block(_) | Ty::Error | Ty::Pointer(_) => None,
            _ if is_object => ty.quals.space,
            _ => None,
        };
        let start = self.unexpanded_range(specifiers.span).map(|range| range.start);
        if let (Some(space), Some(start)) = (space, start) {
            self.add(start, format!("{} ", space.spelling()), Some(InlayHintKind::TYPE));
        }
    }

    /// Conversions that may lose precision or take time: between integers and floating-point numbers, between
    /// floating-point types, and to a narrower integer.
    fn conversions(&mut self) {
        let mut found = Vec::new();
        for function in self.analysis.survey.program.functions.iter() {
            visit::expressions(function.body.as_deref().unwrap_or_default(), &mut |expr| {
                if let ExprKind::Convert(_, inner) = &expr.kind
                    && expr.span == inner.span
                    && self.matters(inner, expr.ty)
                {
                    found.push((expr.span, expr.ty));
                }
            });
        }
        for (span, ty) in found {
            if let Some(range) = self.unexpanded_range(span) {
                self.add(range.start, format!("({})", self.analysis.show(ty)), Some(InlayHintKind::TYPE));
            }
        }
    }

    fn matters(&self, from: &Expr, to: TyId) -> bool {
        let types = &self.analysis.survey.program.types;
        if matches!(from.kind, ExprKind::Const(Const::Int(_) | Const::Float(_) | Const::Zero)) {
            return false;
        }
        let (Some((from, _)), Some((to, _))) = (types.components(from.ty), types.components(to)) else {
            return false;
        };
        if from == Scalar::Bool || to == Scalar::Bool {
            return false;
        }
        from.is_float() != to.is_float() || from.is_float() && from != to || to.size() < from.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    /// The text with its hints inserted.
    fn shown(text: &str) -> String {
        let fixture = Fixture::new(text);
        let file = fixture.cursor().file;
        let all = fixture.analysis.range(file, &(0..text.len()));
        let hints = hints(&fixture.analysis, file, all, InlayHints::default());
        let lines = fixture.analysis.lines(file).expect("the user's");
        let mut shown = text.to_owned();
        for hint in hints.iter().rev() {
            let InlayHintLabel::String(label) = &hint.label else { continue };
            shown.insert_str(lines.offset(text, hint.position), &format!("[{label}]"));
        }
        shown
    }

    #[test]
    fn implicit_orders_and_scopes() {
        assert_eq!(
            shown("void f(global atomic_int *p) { atomic_store(p, 1); }"),
            "void f(global atomic_int *p) { atomic_store(p, 1[, memory_order_seq_cst, memory_scope_device]); }"
        );
        assert_eq!(
            shown("void f(global atomic_int *p) { atomic_load_explicit(p, memory_order_relaxed); }"),
            "void f(global atomic_int *p) { atomic_load_explicit(p, memory_order_relaxed[, memory_scope_device]); }"
        );
        assert_eq!(
            shown("void f() { barrier(CLK_LOCAL_MEM_FENCE); }"),
            "void f() { barrier(CLK_LOCAL_MEM_FENCE); }",
            "an argument that is a macro"
        );
    }

    #[test]
    fn parameters_of_functions_of_the_program() {
        assert_eq!(
            shown("int g(int a, int count);\nint f(int a, int b) { return g(a, b); }"),
            "int g(int a, int count);\nint f(int a, int b) { return g(a, [count:]b); }"
        );
    }

    #[test]
    fn spaces_of_pointers_and_of_objects() {
        assert_eq!(
            shown("int n = 1;\nvoid f(int *p, global int *q) { int *r = p; }"),
            "[global ]int n = 1;\nvoid f([generic ]int *p, global int *q) { [generic ]int *r = p; }"
        );
    }

    #[test]
    fn lossy_and_costly_conversions() {
        assert_eq!(
            shown("float f(int a, long b) { int c = b; return a + 1; }"),
            "float f(int a, long b) { int c = [(int)]b; return [(float)]a + 1; }"
        );
        assert_eq!(
            shown("void f(global float *p, int i) { p[i] = 1; }"),
            "void f(global float *p, int i) { p[i] = 1; }"
        );
    }
}
