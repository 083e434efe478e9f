//! Extracts an expression to a variable, which is declared before the statement.
//!
//! Applies only if the statement evaluates the expression exactly once, and no other part of the statement is sequenced
//! before it.

use std::ops::Range;

use kiln_frontend::sema::Meaning;
use kiln_syntax::{
    Arena, Span,
    ast::{
        BinaryOp, BlockItem, Declaration, Expr, ExprKind, InitDeclarator, Initializer, Statement,
        StatementKind, UnaryOp,
    },
};
use kiln_types::ty::Ty;
use lsp_types::CodeActionKind;

use super::{Change, Selection};
use crate::{
    names::Entity,
    tree::{self, Node},
};

/// The refactoring, if the selected expression can be extracted.
pub(super) fn extract(selection: &Selection<'_>) -> Option<Change> {
    let text = selection.text();
    let selected = &text[selection.range.clone()];
    let start = selection.range.start + (selected.len() - selected.trim_start().len());
    let range = start..selection.range.start + selected.trim_end().len();
    if range.is_empty() || !computes(selection, &range) {
        return None;
    }
    let wanted = SelectedExpression { selection, range: &range };
    let ty = wanted.type_of_value()?;
    let statement = wanted.statement()?;
    let line = text[..statement.start].rfind('\n').map_or(0, |found| found + 1);
    let before = &text[line..statement.start];
    let between = if before.trim().is_empty() { format!("\n{before}") } else { " ".to_owned() };
    let written = &text[range.clone()];
    // A variable cannot be declared in one line with a directive.
    if text[statement.start..range.end].contains('#') {
        return None;
    }
    let name = free_name(text);
    let blank = if ty.ends_with('*') { "" } else { " " };
    let declaration = format!("{ty}{blank}{name} = {written};{between}");
    let edits = vec![(statement.start..statement.start, declaration), (range.clone(), name)];
    let title = "Extract the expression to a variable".to_owned();
    Some(Change { title, kind: CodeActionKind::REFACTOR_EXTRACT, edits })
}

/// A name for the new variable that the source does not contain: `extracted`, `extracted2`.
fn free_name(text: &str) -> String {
    let name = "extracted";
    let numbered = (2_u32..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    // The numbers do not end.
    names.find(|name| !text.contains(name)).unwrap_or_default()
}

/// Whether the value of an expression is computed: it uses a variable or a function. Some operands must be constants.
fn computes(selection: &Selection<'_>, range: &Range<usize>) -> bool {
    let mut names = selection.analysis.names_in(selection.file).iter();
    names.any(|name| {
        range.contains(&name.location.range.start)
            && matches!(
                name.entity,
                Entity::Program(
                    Meaning::Local(..) | Meaning::Global(_) | Meaning::Function(_) | Meaning::Builtin(_)
                )
            )
    })
}

/// The search for the selected expression.
struct SelectedExpression<'s> {
    selection: &'s Selection<'s>,
    range: &'s Range<usize>,
}

impl SelectedExpression<'_> {
    fn is_selected(&self, span: Span) -> bool {
        self.selection.unexpanded_range(span).is_some_and(|range| range == *self.range)
    }

    /// The type of the expression, if a variable can have its value.
    fn type_of_value(&self) -> Option<String> {
        let analysis = self.selection.analysis;
        let typed = analysis.survey.facts.expressions.iter().find(|typed| self.is_selected(typed.span))?;
        let ty = typed.ty.ty;
        let shown = analysis.show(ty);
        let is_value = match analysis.survey.program.types.get(ty) {
            Ty::Scalar(_) | Ty::Vector(..) => true,
            // Declarators of pointers to arrays enclose the name.
            Ty::Pointer(_) => shown.ends_with('*'),
            _ => false,
        };
        (is_value && typed.value.is_none()).then_some(shown)
    }

    /// Whether an expression is a vector: parentheses with commas after its type are components, not operands of `,`.
    fn is_vector(&self, span: Span) -> bool {
        let survey = &self.selection.analysis.survey;
        let mut typed = survey.facts.expressions.iter().filter(|typed| typed.span == span);
        typed.any(|typed| matches!(survey.program.types.get(typed.ty.ty), Ty::Vector(..)))
    }

    /// The statement in a block that evaluates the expression.
    fn statement(&self) -> Option<Range<usize>> {
        let arena = Arena::default();
        let mut found = None;
        tree::walk(self.selection.analysis.survey.tree(&arena), &mut |node| {
            let Node::Block(block) = node else { return };
            for item in block.items {
                let (span, has) = match item {
                    BlockItem::Statement(statement) => (statement.span, self.is_in_statement(statement)),
                    BlockItem::Declaration(declaration) => {
                        (declaration.span, self.is_in_declaration(declaration))
                    }
                    _ => continue,
                };
                if has {
                    found = self.selection.unexpanded_range(span);
                }
            }
        });
        found
    }

    /// Whether this statement evaluates the selected expression once. The conditions of loops are evaluated several
    /// times.
    fn is_in_statement(&self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Expr(expr) | StatementKind::Return(Some(expr)) => self.is_in(expr),
            StatementKind::If { condition, .. } => self.is_in(condition),
            StatementKind::Switch { value, .. } => self.is_in(value),
            _ => false,
        }
    }

    /// Whether the first initializer of this declaration evaluates the selected expression. Later initializers may use
    /// the variables before them. Only for variables in private memory.
    fn is_in_declaration(&self, declaration: &Declaration) -> bool {
        let [InitDeclarator { init: Some(init), .. }, ..] = declaration.declarators else { return false };
        let specifiers = self.selection.unexpanded_range(declaration.specifiers.span);
        let is_private = specifiers.is_some_and(|range| !self.selection.text()[range].contains("constant"));
        declaration.specifiers.storage.is_empty() && is_private && self.is_in_initializer(init)
    }

    fn is_in_initializer(&self, init: &Initializer) -> bool {
        match init {
            Initializer::Expr(expr) => self.is_in(expr),
            Initializer::List(list) => list.items.iter().any(|item| self.is_in_initializer(&item.value)),
        }
    }

    /// Whether this expression always evaluates the selected one, and sequences no other part before it (C99 5.1.2.3).
    fn is_in(&self, expr: &Expr) -> bool {
        self.is_selected(expr.span) && !matches!(expr.kind, ExprKind::Name(_)) || self.is_in_operand(expr)
    }

    fn is_in_operand(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Paren(inner) => self.is_in(inner),
            ExprKind::Index(node) => self.is_in(&node.base) || self.is_in(&node.index),
            ExprKind::Call(node) => node.arguments.iter().any(|argument| self.is_in(argument)),
            ExprKind::Member(node) | ExprKind::Arrow(node) => self.is_in(&node.base),
            ExprKind::Unary(node) => match node.op.node {
                UnaryOp::AddressOf
                | UnaryOp::PreIncrement
                | UnaryOp::PreDecrement
                | UnaryOp::PostIncrement
                | UnaryOp::PostDecrement => self.is_in_object(&node.operand),
                _ => self.is_in(&node.operand),
            },
            ExprKind::Binary(node) => {
                let is_conditional = matches!(node.op.node, BinaryOp::LogicalAnd | BinaryOp::LogicalOr);
                self.is_in(&node.left) || !is_conditional && self.is_in(&node.right)
            }
            ExprKind::Assign(node) => self.is_in_object(&node.left) || self.is_in(&node.right),
            ExprKind::Conditional(node) => self.is_in(&node.condition),
            ExprKind::Comma(node) => self.is_in(&node.left),
            ExprKind::Cast(node) if self.is_vector(expr.span) => match &node.operand.kind {
                ExprKind::Paren(inner) => self.is_in_component(inner),
                _ => self.is_in(&node.operand),
            },
            ExprKind::Cast(node) | ExprKind::Astype(node) => self.is_in(&node.operand),
            // Operands of `sizeof` are not evaluated, and those of blocks later.
            _ => false,
        }
    }

    /// Like `is_in`, for an operand that an operator changes or whose address it takes: a variable would be a copy of
    /// that object.
    fn is_in_object(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Paren(inner) => self.is_in_object(inner),
            ExprKind::Index(node) => self.is_in_object(&node.base) || self.is_in(&node.index),
            ExprKind::Member(node) => self.is_in_object(&node.base),
            _ => self.is_in_operand(expr),
        }
    }

    /// Like `is_in`, for the components of a vector.
    fn is_in_component(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Comma(node) => self.is_in_component(&node.left) || self.is_in(&node.right),
            _ => self.is_in(expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test::apply;

    fn extracted(text: &str) -> Option<String> {
        apply(text, "to a variable")
    }

    #[test]
    fn an_expression_becomes_a_variable_before_its_statement() {
        assert_eq!(
            extracted("kernel void k(global float *out, int n) {\n    out[$0n + 1$1] = 2.0f * n;\n}\n")
                .as_deref(),
            Some(
                "kernel void k(global float *out, int n) {\n    int extracted = n + 1;\n    \
                 out[extracted] = 2.0f * n;\n}\n"
            )
        );
        for (before, after) in [
            ("if ($0n > 1 $1&& n < 3) n = 0;", "int extracted = n > 1; if (extracted && n < 3) n = 0;"),
            ("return $0abs(n)$1 + 1;", "uint extracted = abs(n); return extracted + 1;"),
            ("int a = $0(n * 2)$1, b = a;", "int extracted = (n * 2); int a = extracted, b = a;"),
            ("{ n = ($0n - 1$1) * 2; }", "{ int extracted = n - 1; n = (extracted) * 2; }"),
        ] {
            let function = |body: &str| format!("int f(int n) {{ {body} return n; }}");
            assert_eq!(extracted(&function(before)), Some(function(after)), "{before}");
        }
    }

    #[test]
    fn vectors_keep_their_type() {
        assert_eq!(
            extracted("float4 f(float2 a) { return (float4)(0, 1, $0a * 2$1); }").as_deref(),
            Some("float4 f(float2 a) { float2 extracted = a * 2; return (float4)(0, 1, extracted); }")
        );
    }

    #[test]
    fn pointers_keep_their_address_space() {
        assert_eq!(
            extracted("float f(global const float *a, int n) { return *($0a + n$1); }").as_deref(),
            Some(
                "float f(global const float *a, int n) { global const float *extracted = a + n; \
                 return *(extracted); }"
            )
        );
    }

    #[test]
    fn a_second_variable_has_another_name() {
        assert_eq!(
            extracted("int f(int n) { int extracted = n + 1; return extracted * ($0n - 1$1); }").as_deref(),
            Some(
                "int f(int n) { int extracted = n + 1; int extracted2 = n - 1; \
                 return extracted * (extracted2); }"
            )
        );
    }

    #[test]
    fn conditional_repeated_and_changing_values_are_not_extracted() {
        for body in [
            // Not always evaluated, or several times.
            "n = n != 0 && $01 / n$1;",
            "n = n ? $01 / n$1 : 0;",
            "while ($0n + 1$1) n--;",
            "for (;; n += $0n + 1$1) n--;",
            "if (n) n = $0n + 1$1;",
            "switch (n) { case 1: n = $0n + 1$1; }",
            // Not evaluated.
            "n = sizeof($0n + 1$1);",
            // After something else.
            "n = (n++, $0n + 1$1);",
            "int a = 1, b = $0a + 1$1; n = b;",
            // Objects, not values.
            "int a[2]; $0a[n]$1 = 1;",
            "int2 v = 0; $0v.x$1++;",
            "int a[2]; int *p = &$0a[n]$1; *p = 1;",
            // Constants, names, and parts of expressions.
            "n = $01 + 2$1;",
            "n = $0n$1;",
            "n = 1 - $0n - 2$1;",
            // A pointer to an array.
            "int a[2][2]; n = ($0a + n$1)[0][0];",
        ] {
            let text = format!("void f(int n) {{ {body} }}");
            assert_eq!(extracted(&text), None, "{text}");
        }
    }

    #[test]
    fn parts_of_macros_stay() {
        let text = "#define F(x) (x ? x : 1)\nint f(int n) { return F($0n + 1$1); }";
        assert_eq!(extracted(text), None);
    }
}
