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
    Expr { kind: ExprKind::Comma(Box::new(CommaExpr { left, right })), span }
}

pub(crate) fn assign(left: Expr, op: Spanned<Option<BinaryOp>>, right: Expr) -> Expr {
    let span = from(&left, right.span.hi);
    Expr { kind: ExprKind::Assign(Box::new(AssignExpr { op, left, right })), span }
}

pub(crate) fn conditional(condition: Expr, then: Option<Expr>, otherwise: Expr) -> Expr {
    let span = from(&condition, otherwise.span.hi);
    Expr { kind: ExprKind::Conditional(Box::new(ConditionalExpr { condition, then, otherwise })), span }
}

pub(crate) fn unary(op: Spanned<UnaryOp>, operand: Expr) -> Expr {
    let span = op.span.to(operand.span);
    Expr { kind: ExprKind::Unary(Box::new(UnaryExpr { op, operand })), span }
}

/// `sizeof` and its like.
pub(crate) fn query(lo: u32, operand: Expr, kind: fn(Box<Expr>) -> ExprKind) -> Expr {
    let hi = operand.span.hi;
    expr(lo, kind(Box::new(operand)), hi)
}

pub(crate) fn index(base: Expr, index: Expr, hi: u32) -> Expr {
    let span = from(&base, hi);
    Expr { kind: ExprKind::Index(Box::new(IndexExpr { base, index })), span }
}

pub(crate) fn call(callee: Expr, arguments: Vec<Expr>, hi: u32) -> Expr {
    let span = from(&callee, hi);
    Expr { kind: ExprKind::Call(Box::new(CallExpr { callee, arguments })), span }
}

pub(crate) fn dot(base: Expr, name: Ident) -> Expr {
    let span = from(&base, name.span.hi);
    Expr { kind: ExprKind::Member(Box::new(MemberExpr { base, name })), span }
}

pub(crate) fn arrow(base: Expr, name: Ident) -> Expr {
    let span = from(&base, name.span.hi);
    Expr { kind: ExprKind::Arrow(Box::new(MemberExpr { base, name })), span }
}

pub(crate) fn postfix(operand: Expr, op: UnaryOp, lo: u32, hi: u32) -> Expr {
    let span = from(&operand, hi);
    let op = Spanned { node: op, span: Span::new(lo, hi) };
    Expr { kind: ExprKind::Unary(Box::new(UnaryExpr { op, operand })), span }
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
    expr(lo, ExprKind::Cast(Box::new(CastExpr { ty, operand })), hi)
}

/// The parenthesised expression below all postfix operators, each of which is made to begin at `lo`; `None` if
/// there is no such expression. A vector has no `()` and no `->`: they leave the cast a cast.
fn literal_below(operand: &mut Expr, lo: u32) -> Option<&mut Expr> {
    fn base_of(expr: &Expr) -> Option<&Expr> {
        match &expr.kind {
            ExprKind::Member(member) | ExprKind::Arrow(member) => Some(&member.base),
            ExprKind::Index(index) => Some(&index.base),
            ExprKind::Call(call) => Some(&call.callee),
            ExprKind::Unary(unary) => {
                let is_postfix = matches!(unary.op.node, UnaryOp::PostIncrement | UnaryOp::PostDecrement);
                is_postfix.then_some(&unary.operand)
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
    let vector_operator = !matches!(operator?.kind, ExprKind::Call(_) | ExprKind::Arrow(_));
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
            ExprKind::Member(member) | ExprKind::Arrow(member) => &mut member.base,
            ExprKind::Index(index) => &mut index.base,
            ExprKind::Call(call) => &mut call.callee,
            ExprKind::Unary(unary) => &mut unary.operand,
            _ => return None,
        };
    }
}

/// One more operator and its right operand behind an expression of operators (C99 6.5): both go to the right as far
/// as what stands there binds less tightly. All operators associate to the left, so that what goes down the right
/// edge binds ever more tightly, and the way is short.
pub(crate) fn operation(mut left: Expr, op: Spanned<BinaryOp>, right: Expr) -> Expr {
    if let ExprKind::Binary(before) = &mut left.kind
        && precedence(before.op.node) < precedence(op.node)
    {
        left.span.hi = right.span.hi;
        let operand = std::mem::replace(&mut before.right, expr(0, ExprKind::Error, 0));
        before.right = operation(operand, op, right);
        return left;
    }
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(Box::new(BinaryExpr { op, left, right })), span }
}

/// How tightly an operator binds (C99 6.5.5 to 6.5.14).
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
