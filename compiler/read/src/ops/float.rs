//! Floating-point arithmetic (SPIR-V 3.49.13).

use kiln_ir::{BinaryOp, Builder, CompareKind, Op as IrOp, UnaryOp, ValueId};
use kiln_types::ops::CompareOp;
use rspirv::spirv::Op;

use super::{Lowered, Operation, call, one};

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    Some(match operation.op {
        Op::FNegate => operation.args().and_then(|[a]| one(builder.unary(UnaryOp::FNeg, a))),
        Op::FAdd => binary(builder, operation, BinaryOp::FAdd),
        Op::FSub => binary(builder, operation, BinaryOp::FSub),
        Op::FMul => binary(builder, operation, BinaryOp::FMul),
        Op::FDiv => binary(builder, operation, BinaryOp::FDiv),
        Op::FRem => binary(builder, operation, BinaryOp::FRem),
        Op::FMod => modulo(builder, operation),
        Op::VectorTimesScalar => scaled(builder, operation),
        Op::Dot => dot(builder, operation),
        Op::FmaKHR => fused(builder, operation),
        _ => return None,
    })
}

fn arithmetic(
    builder: &mut Builder<'_>,
    operation: &Operation,
    op: BinaryOp,
    [a, b]: [ValueId; 2],
) -> ValueId {
    let ty = builder.ty(a);
    let is_exact = operation.decorations.no_contraction
        && matches!(op, BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul);
    builder.value(if is_exact { IrOp::Exact(op) } else { IrOp::Binary(op) }, &[a, b], ty)
}

fn binary(builder: &mut Builder<'_>, operation: &Operation, op: BinaryOp) -> Lowered {
    let operands = operation.args()?;
    one(arithmetic(builder, operation, op, operands))
}

/// The remainder with the sign of the divisor.
fn modulo(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = operation.args()?;
    let remainder = builder.binary(BinaryOp::FRem, a, b);
    let zero = builder.bits(builder.ty(a), 0);
    let is_inexact = builder.compare(CompareOp::NotEqual, CompareKind::Float, remainder, zero);
    let [first, second] = [remainder, b].map(|value| builder.is_negative(value));
    let differs = builder.binary(BinaryOp::Xor, first, second);
    let moves = builder.binary(BinaryOp::And, is_inexact, differs);
    let moved = builder.binary(BinaryOp::FAdd, remainder, b);
    one(builder.select(moves, moved, remainder))
}

fn scaled(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [vector, scalar] = operation.args()?;
    let scalar = builder.splat(scalar, builder.ty(vector).count());
    one(arithmetic(builder, operation, BinaryOp::FMul, [vector, scalar]))
}

/// The sum of products (OpenCL C 6.15.5), in the order of the components.
fn dot(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let operands = operation.args()?;
    let products = arithmetic(builder, operation, BinaryOp::FMul, operands);
    let mut sum = builder.extract(products, 0);
    for component in 1..builder.ty(products).count() {
        let product = builder.extract(products, component);
        sum = arithmetic(builder, operation, BinaryOp::FAdd, [sum, product]);
    }
    one(sum)
}

fn fused(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    one(call::value(builder, "fma", &operation.args, None, operation.result()?)?)
}
