//! Integer and logical arithmetic (SPIR-V 3.49.13, 3.49.14).

use kiln_ir::{BinaryOp, Builder, CompareKind, Op as IrOp, Scalar, Type, UnaryOp, ValueId};
use kiln_types::ops::CompareOp;
use rspirv::spirv::Op;
use smallvec::smallvec;

use super::{Lowered, Operation, call, one};

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    Some(match operation.op {
        Op::SNegate => negate(builder, operation),
        Op::Not | Op::LogicalNot => unary(builder, operation, UnaryOp::Not),
        Op::IAdd => wrapping(builder, operation, BinaryOp::Add),
        Op::ISub => wrapping(builder, operation, BinaryOp::Sub),
        Op::IMul => wrapping(builder, operation, BinaryOp::Mul),
        Op::SDiv => binary(builder, operation, BinaryOp::SDiv),
        Op::UDiv => binary(builder, operation, BinaryOp::UDiv),
        Op::SRem => binary(builder, operation, BinaryOp::SRem),
        Op::UMod => binary(builder, operation, BinaryOp::URem),
        Op::SMod => modulo(builder, operation),
        Op::BitwiseAnd | Op::LogicalAnd => binary(builder, operation, BinaryOp::And),
        Op::BitwiseOr | Op::LogicalOr => binary(builder, operation, BinaryOp::Or),
        Op::BitwiseXor => binary(builder, operation, BinaryOp::Xor),
        Op::ShiftLeftLogical => shift(builder, operation, BinaryOp::Shl),
        Op::ShiftRightLogical => shift(builder, operation, BinaryOp::LShr),
        Op::ShiftRightArithmetic => shift(builder, operation, BinaryOp::AShr),
        Op::BitCount => bit_count(builder, operation),
        Op::BitReverse => bits(builder, operation, "bit_reverse", None),
        Op::BitFieldInsert => bits(builder, operation, "bitfield_insert", None),
        Op::BitFieldSExtract => bits(builder, operation, "bitfield_extract_signed", Some(true)),
        Op::BitFieldUExtract => bits(builder, operation, "bitfield_extract_unsigned", Some(false)),
        Op::IAddCarry => carry(builder, operation),
        Op::ISubBorrow => borrow(builder, operation),
        Op::UMulExtended => wide_product(builder, operation, false),
        Op::SMulExtended => wide_product(builder, operation, true),
        // These instructions are part of SPV_INTEL_integer_functions2.
        Op::AbsISubINTEL => signless(builder, operation, "abs_diff", true),
        Op::AbsUSubINTEL => signless(builder, operation, "abs_diff", false),
        Op::IAddSatINTEL => signless(builder, operation, "add_sat", true),
        Op::UAddSatINTEL => signless(builder, operation, "add_sat", false),
        Op::ISubSatINTEL => signless(builder, operation, "sub_sat", true),
        Op::USubSatINTEL => signless(builder, operation, "sub_sat", false),
        Op::IAverageINTEL => signless(builder, operation, "hadd", true),
        Op::UAverageINTEL => signless(builder, operation, "hadd", false),
        Op::IAverageRoundedINTEL => signless(builder, operation, "rhadd", true),
        Op::UAverageRoundedINTEL => signless(builder, operation, "rhadd", false),
        Op::UCountLeadingZerosINTEL => signless(builder, operation, "clz", false),
        Op::UCountTrailingZerosINTEL => signless(builder, operation, "ctz", false),
        _ => return None,
    })
}

fn unary(builder: &mut Builder<'_>, operation: &Operation, op: UnaryOp) -> Lowered {
    let [a] = operation.args()?;
    one(builder.unary(op, a))
}

/// A negation of a number that must not overflow is a subtraction from zero, as for OpenCL C.
fn negate(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a] = operation.args()?;
    let ty = builder.ty(a);
    if is_checked(operation, ty) {
        let zero = builder.bits(ty, 0);
        return one(builder.value(IrOp::Exact(BinaryOp::Sub), &[zero, a], ty));
    }
    one(builder.unary(UnaryOp::Neg, a))
}

/// Operands may differ in signedness, which the IR does not have.
fn binary(builder: &mut Builder<'_>, operation: &Operation, op: BinaryOp) -> Lowered {
    let [a, b] = operation.args()?;
    one(builder.binary(op, a, b))
}

fn wrapping(builder: &mut Builder<'_>, operation: &Operation, op: BinaryOp) -> Lowered {
    let [a, b] = operation.args()?;
    let ty = builder.ty(a);
    let op = if is_checked(operation, ty) { IrOp::Exact(op) } else { IrOp::Binary(op) };
    one(builder.value(op, &[a, b], ty))
}

/// Whether overflow must be reported. As for OpenCL C, this applies only to types that C does not promote.
fn is_checked(operation: &Operation, ty: Type) -> bool {
    operation.decorations.no_signed_wrap && matches!(ty, Type::I32 | Type::I64)
}

/// The remainder with the sign of the divisor.
fn modulo(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = operation.args()?;
    let remainder = builder.binary(BinaryOp::SRem, a, b);
    let ty = builder.ty(a);
    let zero = builder.bits(ty, 0);
    let differing = builder.binary(BinaryOp::Xor, remainder, b);
    let differs = builder.compare(CompareOp::Less, CompareKind::Signed, differing, zero);
    let is_inexact = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, remainder, zero);
    let moves = builder.binary(BinaryOp::And, differs, is_inexact);
    let moved = builder.binary(BinaryOp::Add, remainder, b);
    one(builder.select(moves, moved, remainder))
}

/// The amount may have a different width. An amount of at least the width is undefined in SPIR-V too.
fn shift(builder: &mut Builder<'_>, operation: &Operation, op: BinaryOp) -> Lowered {
    let [a, amount] = operation.args()?;
    let scalar = builder.ty(a).scalar().ok_or("its operand is not an integer")?;
    let amount = builder.resize(amount, scalar, false);
    one(builder.binary(op, a, amount))
}

fn bit_count(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a] = operation.args()?;
    let (ty, result) = (builder.ty(a), operation.result()?);
    let count = call::value(builder, "popcount", &[a], Some(false), ty)?;
    one(builder.resize(count, result.scalar().unwrap_or(Scalar::I32), false))
}

/// Functions of cl_khr_extended_bit_ops, whose offset and count are `uint`.
fn bits(builder: &mut Builder<'_>, operation: &Operation, name: &str, signed: Option<bool>) -> Lowered {
    let result = operation.result()?;
    let numbers = usize::from(operation.op == Op::BitFieldInsert) + 1;
    let mut args = operation.args.to_vec();
    for amount in args.iter_mut().skip(numbers) {
        *amount = builder.resize(*amount, Scalar::I32, false);
    }
    // The name determines the sign; the first operand and the amounts match either way.
    let _ = signed;
    one(call::value(builder, name, &args, None, result)?)
}

fn signless(builder: &mut Builder<'_>, operation: &Operation, name: &str, is_signed: bool) -> Lowered {
    one(call::value(builder, name, &operation.args, Some(is_signed), operation.result()?)?)
}

/// The sum, and 1 if it overflowed.
fn carry(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = operation.args()?;
    let sum = builder.binary(BinaryOp::Add, a, b);
    let overflows = builder.compare(CompareOp::Less, CompareKind::Unsigned, sum, a);
    let carry = one_if(builder, overflows, a);
    Ok(smallvec![sum, carry])
}

/// The difference, and 1 if it is negative.
fn borrow(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = operation.args()?;
    let difference = builder.binary(BinaryOp::Sub, a, b);
    let overflows = builder.compare(CompareOp::Less, CompareKind::Unsigned, a, b);
    let borrow = one_if(builder, overflows, a);
    Ok(smallvec![difference, borrow])
}

fn one_if(builder: &mut Builder<'_>, condition: ValueId, like: ValueId) -> ValueId {
    let ty = builder.ty(like);
    let [one, zero] = [1, 0].map(|bits| builder.bits(ty, bits));
    builder.select(condition, one, zero)
}

/// The low and the high half of the product.
fn wide_product(builder: &mut Builder<'_>, operation: &Operation, is_signed: bool) -> Lowered {
    let [a, b] = operation.args()?;
    let ty = builder.ty(a);
    let low = builder.binary(BinaryOp::Mul, a, b);
    let high = call::value(builder, "mul_hi", &[a, b], Some(is_signed), ty)?;
    Ok(smallvec![low, high])
}
