//! What the actions of the grammar do for expressions: operator precedence, and where a vector literal ends.

use super::{build::is_vector, state::State};
use crate::{
    ast::*,
    span::{Span, Spanned},
};

pub(crate) fn expr(lo: u32, kind: ExprKind, hi: u32) -> Expr {
    Expr { kind, span: Span::new(lo, hi) }
}

/// From the beginning of `first` to `hi`.
fn from(first: &Expr, hi: u32) -> Span {
    Span::new(first.span.lo, hi)
}

pub(crate) fn comma(left: Expr, right: Expr) -> Expr {
    let span = from(&left, right.span.hi);
    Expr { kind: ExprKind::Comma { left: Box::new(left), right: Box::new(right) }, span }
}

pub(crate) fn assign(left: Expr, op: Spanned<Option<BinaryOp>>, right: Expr) -> Expr {
    let span = from(&left, right.span.hi);
    Expr { kind: ExprKind::Assign { op, left: Box::new(left), right: Box::new(right) }, span }
}

pub(crate) fn conditional(condition: Expr, then: Option<Expr>, otherwise: Expr) -> Expr {
    let span = from(&condition, otherwise.span.hi);
    let (condition, otherwise) = (Box::new(condition), Box::new(otherwise));
    Expr { kind: ExprKind::Conditional { condition, then: then.map(Box::new), otherwise }, span }
}

pub(crate) fn unary(op: Spanned<UnaryOp>, operand: Expr) -> Expr {
    let span = op.span.to(operand.span);
    Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, span }
}

/// `sizeof` and its like.
pub(crate) fn query(lo: u32, operand: Expr, kind: fn(Box<Expr>) -> ExprKind) -> Expr {
    let hi = operand.span.hi;
    expr(lo, kind(Box::new(operand)), hi)
}

pub(crate) fn index(base: Expr, index: Expr, hi: u32) -> Expr {
    let span = from(&base, hi);
    Expr { kind: ExprKind::Index { base: Box::new(base), index: Box::new(index) }, span }
}

pub(crate) fn call(callee: Expr, arguments: Vec<Expr>, hi: u32) -> Expr {
    let span = from(&callee, hi);
    Expr { kind: ExprKind::Call { callee: Box::new(callee), arguments }, span }
}

pub(crate) fn dot(base: Expr, name: Ident) -> Expr {
    let span = from(&base, name.span.hi);
    Expr { kind: ExprKind::Member { base: Box::new(base), name }, span }
}

pub(crate) fn arrow(base: Expr, name: Ident) -> Expr {
    let span = from(&base, name.span.hi);
    Expr { kind: ExprKind::Arrow { base: Box::new(base), name }, span }
}

pub(crate) fn postfix(operand: Expr, op: UnaryOp, lo: u32, hi: u32) -> Expr {
    let span = from(&operand, hi);
    let op = Spanned { node: op, span: Span::new(lo, hi) };
    Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, span }
}

pub(crate) fn block_literal(
    lo: u32,
    result: Option<Box<TypeName>>,
    parameters: Option<Box<FunctionDerivation>>,
    body: Block,
    hi: u32,
) -> Expr {
    expr(lo, ExprKind::Block(Box::new(BlockLiteral { result, parameters, body })), hi)
}

/// A cast, or a vector literal: `(float4)(a, b)` is primary (OpenCL C 6.3.6), so that what the grammar read as
/// `(float4)((a, b).xy)` means `((float4)(a, b)).xy`.
pub(crate) fn cast(state: &State<'_>, lo: u32, ty: Box<TypeName>, mut operand: Expr) -> Expr {
    if is_vector(state, &ty.specifiers, &ty.declarator) {
        let hi = operand.span.hi;
        if let Some(literal) = literal_below(&mut operand, lo) {
            let elements = std::mem::replace(literal, expr(0, ExprKind::Error, 0));
            *literal = make_cast(lo, ty, elements);
            operand.span = Span::new(lo, hi);
            return operand;
        }
    }
    make_cast(lo, ty, operand)
}

fn make_cast(lo: u32, ty: Box<TypeName>, operand: Expr) -> Expr {
    let hi = operand.span.hi;
    expr(lo, ExprKind::Cast { ty, operand: Box::new(operand) }, hi)
}

/// The parenthesised expression below all postfix operators, each of which is made to begin at `lo`; `None` if
/// there is no such expression. A vector has no `()` and no `->`: they leave the cast a cast.
fn literal_below(operand: &mut Expr, lo: u32) -> Option<&mut Expr> {
    fn base_of(expr: &Expr) -> Option<&Expr> {
        match &expr.kind {
            ExprKind::Member { base, .. }
            | ExprKind::Index { base, .. }
            | ExprKind::Call { callee: base, .. }
            | ExprKind::Arrow { base, .. } => Some(base),
            ExprKind::Unary { op, operand } => {
                matches!(op.node, UnaryOp::PostIncrement | UnaryOp::PostDecrement).then_some(operand)
            }
            _ => None,
        }
    }
    let mut innermost = &*operand;
    let mut operator = None;
    while let Some(base) = base_of(innermost) {
        operator = Some(innermost);
        innermost = base;
    }
    let vector_operator = !matches!(operator?.kind, ExprKind::Call { .. } | ExprKind::Arrow { .. });
    if !vector_operator || !matches!(innermost.kind, ExprKind::Paren(_)) {
        return None;
    }
    let mut at = operand;
    loop {
        if let ExprKind::Paren(_) = at.kind {
            return Some(at);
        }
        at.span.lo = lo;
        at = match &mut at.kind {
            ExprKind::Member { base, .. }
            | ExprKind::Index { base, .. }
            | ExprKind::Call { callee: base, .. }
            | ExprKind::Arrow { base, .. }
            | ExprKind::Unary { operand: base, .. } => base,
            _ => return None,
        };
    }
}

/// One more operator and its right operand behind an expression of operators (C99 6.5): both go to the right as far
/// as what stands there binds less tightly. All operators associate to the left, so that what goes down the right
/// edge binds ever more tightly, and the way is short.
pub(crate) fn operation(mut left: Expr, op: Spanned<BinaryOp>, right: Expr) -> Expr {
    if let ExprKind::Binary { op: before, right: edge, .. } = &mut left.kind
        && precedence(before.node) < precedence(op.node)
    {
        left.span.hi = right.span.hi;
        let operand = std::mem::replace(&mut **edge, expr(0, ExprKind::Error, 0));
        **edge = operation(operand, op, right);
        return left;
    }
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span }
}

/// How tightly an operator binds (C99 6.5.5 to 6.5.14).
fn precedence(op: BinaryOp) -> u8 {
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
