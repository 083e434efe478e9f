//! Warnings about operands that bind more tightly than they seem to (C99 6.5). They depend on the syntax only.

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{
    Spanned,
    ast::{self, BinaryOp, UnaryOp},
};

use crate::sema::Sema;

impl Sema<'_> {
    /// Warns about the operands of a binary operator.
    pub(super) fn warn_precedence(&mut self, op: Spanned<BinaryOp>, left: &ast::Expr, right: &ast::Expr) {
        self.warn_bitwise_operand(op, left, right);
        self.warn_negated_operand(op, left, right);
        for operand in [left, right] {
            self.warn_shift_operand(op, operand);
            self.warn_logical_operand(op, operand);
        }
    }

    /// Warns about `a & b == c`, where `==` binds tighter (C99 6.5). `a == b & c == d` is an accepted form of `&&`.
    fn warn_bitwise_operand(&mut self, op: Spanned<BinaryOp>, left: &ast::Expr, right: &ast::Expr) {
        let is_bitwise = |op| matches!(op, BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr);
        if !is_bitwise(op.node) {
            return;
        }
        let is_logical = |op| is_bitwise(op) || is_comparison(op);
        let (inner, operand) = match (operator(left), operator(right)) {
            (Some(inner), other) if is_comparison(inner) && !other.is_some_and(is_logical) => (inner, left),
            (other, Some(inner)) if is_comparison(inner) && !other.is_some_and(is_logical) => (inner, right),
            _ => return,
        };
        let (outer, inner) = (op.node.spelling(), inner.spelling());
        self.report(
            Diagnostic::new(
                Code::Precedence,
                op.span,
                format!("`{inner}` binds more tightly than `{outer}`"),
            )
            .also(operand.span, "is evaluated first")
            .help("put parentheses around the operands that belong together")
            .note("C99 6.5: the comparisons bind more tightly than the bitwise operators"),
        );
    }

    /// Warns about `!a == b` and `!a & b`, where `!` applies to `a` only (C99 6.5.3.3). Truth values are accepted.
    fn warn_negated_operand(&mut self, op: Spanned<BinaryOp>, left: &ast::Expr, right: &ast::Expr) {
        let ast::ExprKind::Unary(not) = &left.kind else { return };
        let is_truth = match &right.kind {
            ast::ExprKind::Unary(other) => other.op.node == UnaryOp::LogicalNot,
            ast::ExprKind::Binary(_) | ast::ExprKind::Paren(_) => true,
            _ => false,
        };
        if !(is_comparison(op.node) || op.node == BinaryOp::BitAnd)
            || not.op.node != UnaryOp::LogicalNot
            || is_truth
        {
            return;
        }
        let spelling = op.node.spelling();
        self.report(
            Diagnostic::new(
                Code::Precedence,
                not.op.span,
                format!("`!` applies to the left operand of `{spelling}` only"),
            )
            .also(op.span, "takes the result of `!`")
            .help("put parentheses around the comparison, or around `!` and its operand")
            .note("C99 6.5: unary operators bind more tightly than comparisons"),
        );
    }

    /// Warns about `a << 1 + 1`, where `+` binds tighter (C99 6.5.7).
    fn warn_shift_operand(&mut self, op: Spanned<BinaryOp>, operand: &ast::Expr) {
        let is_shift = matches!(op.node, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        if let Some(inner @ (BinaryOp::Add | BinaryOp::Subtract)) = operator(operand)
            && is_shift
        {
            self.report(
                inner_first(Code::ShiftOpParentheses, op, inner, operand)
                    .note("C99 6.5.7: additions and subtractions bind more tightly than shifts"),
            );
        }
    }

    /// Warns about `a || b && c`, where `&&` binds tighter (C99 6.5.14). Accepts a string literal as an operand of
    /// `&&`, which only documents the condition.
    fn warn_logical_operand(&mut self, op: Spanned<BinaryOp>, operand: &ast::Expr) {
        let ast::ExprKind::Binary(inner) = &operand.kind else { return };
        if op.node != BinaryOp::LogicalOr
            || inner.op.node != BinaryOp::LogicalAnd
            || [&inner.left, &inner.right].iter().any(|text| is_string_literal(text))
        {
            return;
        }
        self.report(
            inner_first(Code::LogicalOpParentheses, op, inner.op.node, operand)
                .note("C99 6.5.14: `&&` binds more tightly than `||`"),
        );
    }
}

/// The warning that an operand is evaluated before the operator `outer`. The fix keeps the meaning.
fn inner_first(code: Code, outer: Spanned<BinaryOp>, inner: BinaryOp, operand: &ast::Expr) -> Diagnostic {
    let (outer, at) = (outer.node.spelling(), outer.span);
    let inner = inner.spelling();
    Diagnostic::new(code, at, format!("`{inner}` binds more tightly than `{outer}`"))
        .also(operand.span, "is evaluated first")
        .help(format!(
            "put parentheses around the operands of `{inner}`, or around those that belong together"
        ))
        .rewrite(
            operand.span,
            format!("put parentheses around the operands of `{inner}`"),
            [Piece::Text("("), Piece::Source(operand.span), Piece::Text(")")],
        )
}

/// The operator of a binary expression without parentheses.
fn operator(operand: &ast::Expr) -> Option<BinaryOp> {
    match &operand.kind {
        ast::ExprKind::Binary(inner) => Some(inner.op.node),
        _ => None,
    }
}

/// Whether this is a string literal, possibly in parentheses.
pub(super) fn is_string_literal(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Paren(inner) => is_string_literal(inner),
        kind => matches!(kind, ast::ExprKind::String(_)),
    }
}

/// Whether this is an operator whose result is a truth value of two compared operands.
pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}
