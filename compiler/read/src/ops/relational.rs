//! Comparisons and classifications (SPIR-V 3.49.15).

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
        Op::FOrdNotEqual | Op::LessOrGreater => less_or_greater(builder, operation),
        Op::FUnordEqual => less_or_greater(builder, operation).map(|value| negated(builder, value)),
        Op::Unordered => unordered(builder, operation),
        Op::Ordered => unordered(builder, operation).map(|value| negated(builder, value)),
        Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsNormal | Op::SignBitSet => classify(builder, operation),
        Op::Any => any_or_all(builder, operation, IrOp::Any),
        Op::All => any_or_all(builder, operation, IrOp::All),
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

fn less_or_greater(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = operation.args()?;
    one(builder.less_or_greater(a, b))
}

fn unordered(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a, b] = floats(builder, operation)?;
    one(builder.unordered(a, b))
}

/// The operands, which are classified by their bits.
fn floats<const N: usize>(builder: &Builder<'_>, operation: &Operation) -> Result<[ValueId; N], String> {
    let values: [ValueId; N] = operation.args()?;
    let is_float = |&value: &ValueId| builder.ty(value).scalar().is_some_and(Scalar::is_float);
    if values.iter().all(is_float) { Ok(values) } else { Err("its operand is not a float".to_owned()) }
}

fn classify(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a] = floats(builder, operation)?;
    one(match operation.op {
        Op::SignBitSet => builder.is_negative(a),
        Op::IsNan => builder.is_nan(a),
        Op::IsInf => builder.is_infinite(a),
        Op::IsFinite => builder.is_finite(a),
        _ => builder.is_normal(a),
    })
}

/// `OpAny` and `OpAll` of a scalar, which later versions allow, are the scalar.
fn any_or_all(builder: &mut Builder<'_>, operation: &Operation, op: IrOp) -> Lowered {
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
