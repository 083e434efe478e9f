//! Grammar actions for expressions: operator precedence, and the extent of vector literals.

use super::{build::is_vector, state::State};
use crate::{
    ast::*,
    span::{Span, Spanned},
};

pub(crate) fn expr(lo: u32, kind: ExprKind<'_>, hi: u32) -> Expr<'_> {
    Expr { kind, span: Span::new(lo, hi) }
}

/// An expression from the start of `first` to `hi`.
fn expr_from<'a>(first: Expr<'_>, kind: ExprKind<'a>, hi: u32) -> Expr<'a> {
    expr(first.span.lo, kind, hi)
}

pub(crate) fn comma<'a>(state: &State<'_, 'a>, left: Expr<'a>, right: Expr<'a>) -> Expr<'a> {
    expr_from(left, ExprKind::Comma(state.arena.node(CommaExpr { left, right })), right.span.hi)
}

pub(crate) fn assign<'a>(
    state: &State<'_, 'a>,
    left: Expr<'a>,
    op: Spanned<Option<BinaryOp>>,
    right: Expr<'a>,
) -> Expr<'a> {
    expr_from(left, ExprKind::Assign(state.arena.node(AssignExpr { op, left, right })), right.span.hi)
}

pub(crate) fn conditional<'a>(
    state: &State<'_, 'a>,
    condition: Expr<'a>,
    then: Option<Expr<'a>>,
    otherwise: Expr<'a>,
) -> Expr<'a> {
    let node = state.arena.node(ConditionalExpr { condition, then, otherwise });
    expr_from(condition, ExprKind::Conditional(node), otherwise.span.hi)
}

pub(crate) fn unary<'a>(state: &State<'_, 'a>, op: Spanned<UnaryOp>, operand: Expr<'a>) -> Expr<'a> {
    let node = state.arena.node(UnaryExpr { op, operand });
    expr(op.span.lo, ExprKind::Unary(node), operand.span.hi)
}

/// `sizeof` and similar operators.
pub(crate) fn query<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    operand: Expr<'a>,
    kind: fn(&'a Expr<'a>) -> ExprKind<'a>,
) -> Expr<'a> {
    expr(lo, kind(state.arena.node(operand)), operand.span.hi)
}

pub(crate) fn parenthesized<'a>(state: &State<'_, 'a>, lo: u32, inner: Expr<'a>, hi: u32) -> Expr<'a> {
    expr(lo, ExprKind::Paren(state.arena.node(inner)), hi)
}

pub(crate) fn strings<'a>(state: &State<'_, 'a>, lo: u32, strings: Vec<Ident>, hi: u32) -> Expr<'a> {
    expr(lo, ExprKind::String(state.arena.node(state.arena.list(&strings))), hi)
}

pub(crate) fn index<'a>(state: &State<'_, 'a>, base: Expr<'a>, index: Expr<'a>, hi: u32) -> Expr<'a> {
    expr_from(base, ExprKind::Index(state.arena.node(IndexExpr { base, index })), hi)
}

pub(crate) fn call<'a>(
    state: &State<'_, 'a>,
    callee: Expr<'a>,
    arguments: Vec<Expr<'a>>,
    hi: u32,
) -> Expr<'a> {
    let arguments = state.arena.list(&arguments);
    expr_from(callee, ExprKind::Call(state.arena.node(CallExpr { callee, arguments })), hi)
}

pub(crate) fn dot<'a>(state: &State<'_, 'a>, base: Expr<'a>, name: Ident) -> Expr<'a> {
    expr_from(base, ExprKind::Member(state.arena.node(MemberExpr { base, name })), name.span.hi)
}

pub(crate) fn arrow<'a>(state: &State<'_, 'a>, base: Expr<'a>, name: Ident) -> Expr<'a> {
    expr_from(base, ExprKind::Arrow(state.arena.node(MemberExpr { base, name })), name.span.hi)
}

pub(crate) fn postfix<'a>(
    state: &State<'_, 'a>,
    operand: Expr<'a>,
    op: UnaryOp,
    lo: u32,
    hi: u32,
) -> Expr<'a> {
    let op = Spanned { node: op, span: Span::new(lo, hi) };
    expr_from(operand, ExprKind::Unary(state.arena.node(UnaryExpr { op, operand })), hi)
}

pub(crate) fn block_literal<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    result: Option<&'a TypeName<'a>>,
    parameters: Option<&'a FunctionDerivation<'a>>,
    body: Block<'a>,
    hi: u32,
) -> Expr<'a> {
    expr(lo, ExprKind::Block(state.arena.node(BlockLiteral { result, parameters, body })), hi)
}

/// A cast, or a vector literal. `(float4)(a, b)` is a primary expression (OpenCL C 6.3.6), so `(float4)((a, b).xy)`,
/// as the grammar reads it, is rewritten to `((float4)(a, b)).xy`.
pub(crate) fn cast<'a>(state: &State<'_, 'a>, lo: u32, ty: &'a TypeName<'a>, operand: Expr<'a>) -> Expr<'a> {
    let make = |operand: Expr<'a>| {
        expr(lo, ExprKind::Cast(state.arena.node(CastExpr { ty, operand })), operand.span.hi)
    };
    if is_vector(state, &ty.specifiers, &ty.declarator)
        && !is_parenthesized(operand)
        && let Some(literal) = with_literal_below(state, operand, lo, &make)
    {
        return literal;
    }
    make(operand)
}

/// Applies `make` to the parenthesized expression at the bottom of the postfix operators of `operand`. The postfix
/// operators then start at `lo`. `None` if there is no such expression, or if `()` or `->` follows it directly: vectors
/// have neither, so the expression remains a cast.
fn with_literal_below<'a>(
    state: &State<'_, 'a>,
    operand: Expr<'a>,
    lo: u32,
    make: &dyn Fn(Expr<'a>) -> Expr<'a>,
) -> Option<Expr<'a>> {
    let below = |base| with_literal_below(state, base, lo, make);
    let kind = match operand.kind {
        ExprKind::Paren(_) => return Some(make(operand)),
        ExprKind::Member(node) => {
            ExprKind::Member(state.arena.node(MemberExpr { base: below(node.base)?, ..*node }))
        }
        ExprKind::Index(node) => {
            ExprKind::Index(state.arena.node(IndexExpr { base: below(node.base)?, ..*node }))
        }
        ExprKind::Arrow(node) if !is_parenthesized(node.base) => {
            ExprKind::Arrow(state.arena.node(MemberExpr { base: below(node.base)?, ..*node }))
        }
        ExprKind::Call(node) if !is_parenthesized(node.callee) => {
            ExprKind::Call(state.arena.node(CallExpr { callee: below(node.callee)?, ..*node }))
        }
        ExprKind::Unary(node) if matches!(node.op.node, UnaryOp::PostIncrement | UnaryOp::PostDecrement) => {
            ExprKind::Unary(state.arena.node(UnaryExpr { operand: below(node.operand)?, ..*node }))
        }
        _ => return None,
    };
    Some(expr(lo, kind, operand.span.hi))
}

fn is_parenthesized(expr: Expr<'_>) -> bool {
    matches!(expr.kind, ExprKind::Paren(_))
}

/// Adds an operator and its right operand to an expression of operators (C99 6.5). Descends the right edge while the
/// operators there bind less tightly. All operators are left-associative, so operators on the right edge bind ever
/// more tightly, and the path is short.
pub(crate) fn operation<'a>(
    state: &State<'_, 'a>,
    left: Expr<'a>,
    op: Spanned<BinaryOp>,
    right: Expr<'a>,
) -> Expr<'a> {
    let node = match left.kind {
        ExprKind::Binary(before) if precedence(before.op.node) < precedence(op.node) => {
            BinaryExpr { right: operation(state, before.right, op, right), ..*before }
        }
        _ => BinaryExpr { op, left, right },
    };
    expr_from(left, ExprKind::Binary(state.arena.node(node)), right.span.hi)
}

/// The precedence of an operator (C99 6.5.5 to 6.5.14).
pub(super) fn precedence(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 10,
        BinaryOp::Add | BinaryOp::Subtract => 9,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 8,
        BinaryOp::Less | BinaryOp::Greater | BinaryOp::LessEqual | BinaryOp::GreaterEqual => 7,
        BinaryOp::Equal | BinaryOp::NotEqual => 6,
        BinaryOp::BitAnd => 5,
        BinaryOp::BitXor => 4,
        BinaryOp::BitOr => 3,
        BinaryOp::LogicalAnd => 2,
        BinaryOp::LogicalXor | BinaryOp::LogicalOr => 1,
    }
}
