//! Comparisons and classifications (SPIR-V 3.49.15). NaN and infinity are recognized by their bits, so that the result
//! does not depend on rounding or flushing modes.

use kiln_ir::{BinaryOp, Builder, CompareKind, Op as IrOp, Scalar, Type, UnaryOp, ValueId};
use kiln_types::ops::CompareOp;
use rspirv::spirv::Op;

use super::{Lowered, Operation, one};

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    if let Some((op, kind, is_negated)) = comparison(operation.op) {
        return Some(compare(builder, operation, (op, kind), is_negated));
    }
    Some(match operation.op {
        Op::LogicalEqual => equal_bools(builder, operation, true),
        Op::LogicalNotEqual => equal_bools(builder, operation, false),
        Op::FOrdNotEqual | Op::LessOrGreater => differing(builder, operation),
        Op::FUnordEqual => differing(builder, operation).map(|value| negated(builder, value)),
        Op::Unordered => unordered(builder, operation),
        Op::Ordered => unordered(builder, operation).map(|value| negated(builder, value)),
        Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsNormal | Op::SignBitSet => classify(builder, operation),
        Op::Any => quantified(builder, operation, IrOp::Any),
        Op::All => quantified(builder, operation, IrOp::All),
        Op::Select => select(builder, operation),
        _ => return None,
    })
}

/// The comparison, and whether its result must be negated: an unordered comparison is the negation of the opposite ordered
/// one.
const fn comparison(op: Op) -> Option<(CompareOp, CompareKind, bool)> {
    use CompareKind::{Float, Signed, Unsigned};
    use CompareOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    Some(match op {
        Op::IEqual | Op::PtrEqual => (Equal, Unsigned, false),
        Op::INotEqual | Op::PtrNotEqual => (NotEqual, Unsigned, false),
        Op::SLessThan => (Less, Signed, false),
        Op::SLessThanEqual => (LessEqual, Signed, false),
        Op::SGreaterThan => (Greater, Signed, false),
        Op::SGreaterThanEqual => (GreaterEqual, Signed, false),
        Op::ULessThan => (Less, Unsigned, false),
        Op::ULessThanEqual => (LessEqual, Unsigned, false),
        Op::UGreaterThan => (Greater, Unsigned, false),
        Op::UGreaterThanEqual => (GreaterEqual, Unsigned, false),
        Op::FOrdEqual => (Equal, Float, false),
        Op::FUnordNotEqual => (NotEqual, Float, false),
        Op::FOrdLessThan => (Less, Float, false),
        Op::FOrdLessThanEqual => (LessEqual, Float, false),
        Op::FOrdGreaterThan => (Greater, Float, false),
        Op::FOrdGreaterThanEqual => (GreaterEqual, Float, false),
        Op::FUnordLessThan => (GreaterEqual, Float, true),
        Op::FUnordLessThanEqual => (Greater, Float, true),
        Op::FUnordGreaterThan => (LessEqual, Float, true),
        Op::FUnordGreaterThanEqual => (Less, Float, true),
        _ => return None,
    })
}

fn compare(
    builder: &mut Builder<'_>,
    operation: &Operation,
    (op, kind): (CompareOp, CompareKind),
    is_negated: bool,
) -> Lowered {
    let [a, b] = operation.args()?;
    let holds = builder.compare(op, kind, a, b);
    one(if is_negated { builder.unary(UnaryOp::Not, holds) } else { holds })
}

/// The IR cannot compare booleans. They are equal if their exclusive or is false.
fn equal_bools(builder: &mut Builder<'_>, operation: &Operation, is_equal: bool) -> Lowered {
    let [a, b] = operation.args()?;
    let differs = builder.binary(BinaryOp::Xor, a, b);
    one(if is_equal { builder.unary(UnaryOp::Not, differs) } else { differs })
}

fn negated(
    builder: &mut Builder<'_>,
    mut values: smallvec::SmallVec<[ValueId; 2]>,
) -> smallvec::SmallVec<[ValueId; 2]> {
    for value in &mut values {
        *value = builder.unary(UnaryOp::Not, *value);
    }
    values
}

/// Less or greater: false for NaN.
fn differing(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = operation.args()?;
    let less = builder.compare(CompareOp::Less, CompareKind::Float, a, b);
    let greater = builder.compare(CompareOp::Greater, CompareKind::Float, a, b);
    one(builder.binary(BinaryOp::Or, less, greater))
}

fn unordered(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = floats(builder, operation)?.map(|value| is_nan(builder, value));
    one(builder.binary(BinaryOp::Or, a, b))
}

/// The operands, which are classified by their bits.
fn floats<const N: usize>(builder: &Builder<'_>, operation: &Operation) -> Result<[ValueId; N], String> {
    let values: [ValueId; N] = operation.args()?;
    let is_float = |&value: &ValueId| builder.ty(value).scalar().is_some_and(Scalar::is_float);
    if values.iter().all(is_float) { Ok(values) } else { Err("its operand is not a float".to_owned()) }
}

fn classify(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a] = floats(builder, operation)?;
    if operation.op == Op::SignBitSet {
        return one(is_negative(builder, a));
    }
    let (magnitude, infinity) = magnitude(builder, a);
    let compare =
        |builder: &mut Builder<'_>, op| builder.compare(op, CompareKind::Unsigned, magnitude, infinity);
    one(match operation.op {
        Op::IsNan => compare(builder, CompareOp::Greater),
        Op::IsInf => compare(builder, CompareOp::Equal),
        Op::IsFinite => compare(builder, CompareOp::Less),
        _ => {
            // The normal numbers form one range, from the smallest one up to infinity.
            let ty = builder.ty(magnitude);
            let min = 1 << (ty.scalar().map_or(32, Scalar::bits) - exponent_bits(ty) - 1);
            let above = builder.binary_bits(BinaryOp::Sub, magnitude, min);
            let range = builder.binary_bits(BinaryOp::Sub, infinity, min);
            builder.compare(CompareOp::Less, CompareKind::Unsigned, above, range)
        }
    })
}

fn is_nan(builder: &mut Builder<'_>, a: ValueId) -> ValueId {
    let (magnitude, infinity) = magnitude(builder, a);
    builder.compare(CompareOp::Greater, CompareKind::Unsigned, magnitude, infinity)
}

/// Whether the most significant bit is set.
pub(super) fn is_negative(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    let bits = as_integer(builder, value);
    let zero = builder.bits(builder.ty(bits), 0);
    builder.compare(CompareOp::Less, CompareKind::Signed, bits, zero)
}

/// The bits of a number.
pub(super) fn as_integer(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    let ty = builder.ty(value);
    let scalar = Scalar::int_of_size(ty.scalar().map_or(4, Scalar::size));
    builder.bitcast(value, ty.with_scalar(scalar))
}

/// The bits without the sign, and the bits of infinity.
fn magnitude(builder: &mut Builder<'_>, a: ValueId) -> (ValueId, ValueId) {
    let bits = as_integer(builder, a);
    let ty = builder.ty(bits);
    let mask = ty.scalar().map_or(0, Scalar::mask) >> 1;
    let fraction = (1 << (ty.scalar().map_or(32, Scalar::bits) - exponent_bits(ty) - 1)) - 1;
    let magnitude = builder.binary_bits(BinaryOp::And, bits, mask);
    let infinity = builder.bits(ty, mask & !fraction);
    (magnitude, infinity)
}

/// The number of exponent bits of the floating-point type with this size.
fn exponent_bits(ty: Type) -> u32 {
    match ty.scalar() {
        Some(Scalar::I16) => 5,
        Some(Scalar::I64) => 11,
        _ => 8,
    }
}

/// `OpAny` and `OpAll` of a scalar, which later versions allow, are the scalar.
fn quantified(builder: &mut Builder<'_>, operation: &Operation, op: IrOp) -> Lowered {
    let [a] = operation.args()?;
    if !builder.ty(a).is_vector() {
        return one(a);
    }
    one(builder.value(op, &[a], Type::BOOL))
}

fn select(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [condition, then, otherwise] = operation.args()?;
    one(builder.select(condition, then, otherwise))
}
