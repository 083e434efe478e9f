//! Narrows comparisons of widened integers, with constants and with each other, to the original type.
//!
//! 64-bit arithmetic is slow on most devices.

use kiln_ir::{Builder, Compare, CompareKind, Const, Convert, Function, Inst, Op, Scalar, ValueId};
use kiln_session::Options;
use kiln_types::ops::CompareOp;

use crate::rewrite::rewrite_only;

pub(super) fn narrow_comparisons(function: &mut Function, _: &Options) {
    rewrite_only(
        function,
        |op| matches!(op, Op::Compare(_)),
        |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            match narrow_comparison(builder, &inst) {
                Some(value) => drop(replaced.insert(inst.results[0], value)),
                None => builder.insert(id),
            }
        },
    );
}

/// A widened value, and how it was widened.
struct Widened {
    value: ValueId,
    is_signed: bool,
}

fn widened_operand(builder: &Builder<'_>, value: ValueId) -> Option<Widened> {
    let inst = builder.function.def(value)?;
    let is_signed = match inst.op {
        Op::Convert(Convert::SignExtend) => true,
        Op::Convert(Convert::ZeroExtend) => false,
        _ => return None,
    };
    let value = inst.args[0];
    // A `Bool` is not an integer before it is widened.
    (builder.ty(value).scalar()? != Scalar::Bool).then_some(Widened { value, is_signed })
}

fn narrow_comparison(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let Op::Compare(compare) = inst.op else { return None };
    let [left, right] = [inst.args[0], inst.args[1]];
    match (widened_operand(builder, left), widened_operand(builder, right)) {
        (Some(one), Some(other)) => {
            let same = builder.ty(one.value) == builder.ty(other.value) && one.is_signed == other.is_signed;
            // Sign-extended values keep their signed order; zero-extended values have only an unsigned order.
            let kind = kind_of(compare, one.is_signed)?;
            same.then(|| builder.compare(compare.op, kind, one.value, other.value))
        }
        (Some(one), None) => compare_with_constant(builder, &one, right, compare),
        (None, Some(one)) => compare_with_constant(builder, &one, left, swap_operands(compare)),
        (None, None) => None,
    }
}

/// The comparison of the original values. Sign extension also preserves the unsigned order.
fn kind_of(compare: Compare, is_signed: bool) -> Option<CompareKind> {
    match (compare.kind, is_signed) {
        (CompareKind::Float, _) => None,
        (CompareKind::Signed, true) => Some(CompareKind::Signed),
        (CompareKind::Unsigned, _) | (CompareKind::Signed, false) => Some(CompareKind::Unsigned),
    }
}

/// The comparison with its operands swapped.
fn swap_operands(compare: Compare) -> Compare {
    Compare { op: compare.op.swapped(), ..compare }
}

/// Compares a widened value with a constant. If the narrow type contains all components of the constant, compares in that type.
/// If it contains none, the result is constant.
fn compare_with_constant(
    builder: &mut Builder<'_>,
    left: &Widened,
    right: ValueId,
    compare: Compare,
) -> Option<ValueId> {
    let kind = kind_of(compare, left.is_signed)?;
    let is_equality = matches!(compare.op, CompareOp::Equal | CompareOp::NotEqual);
    if left.is_signed && compare.kind == CompareKind::Unsigned && !is_equality {
        // The unsigned order of sign-extended values has a gap that contains no narrow constant.
        return None;
    }
    let ty = builder.ty(left.value);
    let (narrow, wide) = (ty.scalar()?, builder.ty(right).scalar()?);
    let Const::Bits(bits) = builder.function.constant(right)?.clone() else { return None };
    let is_signed = compare.kind == CompareKind::Signed || left.is_signed;
    let numbers = bits.iter().map(|&bits| value_of_bits(bits, wide, is_signed));
    let (min, max) = value_range(narrow, left.is_signed);
    if numbers.clone().all(|it| (min..=max).contains(&it)) {
        let narrowed = numbers.map(|it| it as u64 & narrow.mask()).collect();
        let right = builder.constant(ty, Const::Bits(narrowed));
        return Some(builder.compare(compare.op, kind, left.value, right));
    }
    let known = |it: i128| match compare.op {
        CompareOp::Less | CompareOp::LessEqual => it > max,
        CompareOp::Greater | CompareOp::GreaterEqual => it < min,
        CompareOp::NotEqual => true,
        CompareOp::Equal => false,
    };
    let is_outside = numbers.clone().all(|it| !(min..=max).contains(&it));
    let results = numbers.map(|it| u64::from(known(it))).collect();
    is_outside.then(|| builder.constant(ty.with_bool(), Const::Bits(results)))
}

const fn value_range(scalar: Scalar, is_signed: bool) -> (i128, i128) {
    if is_signed {
        (-(1 << (scalar.bits() - 1)), (1 << (scalar.bits() - 1)) - 1)
    } else {
        (0, (1 << scalar.bits()) - 1)
    }
}

const fn value_of_bits(bits: u64, scalar: Scalar, is_signed: bool) -> i128 {
    let unused = 64 - scalar.bits();
    if is_signed { ((bits << unused) as i64 >> unused) as i128 } else { bits as i128 }
}
