//! Folds comparisons of floating-point numbers with zero, if the operations that define a number decide its sign, as for a sum of
//! squares.

use kiln_builtins as builtins;
use kiln_ir::{BinaryOp, Builder, Compare, CompareKind, Const, Function, Op, Scalar, ValueId};
use kiln_types::ops::CompareOp;

/// The maximum depth of operations to follow.
const DEPTH: u32 = 8;

/// What is known of a number that is not a NaN. A later variant implies the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    /// Not below zero. It may be -0.
    NotNegative,
    /// Above zero, and not subnormal, so it stays above zero if a device flushes subnormal numbers.
    Positive,
}

/// The value of a comparison of a number with zero, if it is always false. Comparisons with NaN are false, too.
pub(super) fn fold_comparison_by_sign(
    builder: &mut Builder<'_>,
    compare: Compare,
    number: ValueId,
    zero: ValueId,
) -> Option<ValueId> {
    let function = &*builder.function;
    let magnitude = function.ty(number).scalar()?.mask() >> 1;
    let is_zero = |bits: &u64| bits & magnitude == 0;
    match function.constant(zero)? {
        Const::Bits(bits) if compare.kind == CompareKind::Float && bits.iter().all(is_zero) => {}
        _ => return None,
    }
    let required = match compare.op {
        CompareOp::Less => Sign::NotNegative,
        CompareOp::LessEqual | CompareOp::Equal => Sign::Positive,
        _ => return None,
    };
    (sign(function, number, DEPTH)? >= required).then(|| {
        let ty = builder.ty(number).with_bool();
        builder.bits(ty, 0)
    })
}

/// The sign of a number, or of all components of a vector.
fn sign(function: &Function, value: ValueId, depth: u32) -> Option<Sign> {
    let scalar = function.ty(value).scalar().filter(|scalar| scalar.is_float())?;
    if let Some(Const::Bits(bits)) = function.constant(value) {
        return bits.iter().map(|&bits| sign_of_bits(scalar, bits)).min()?;
    }
    let depth = depth.checked_sub(1)?;
    let inst = function.def(value)?;
    let of = |index: usize| sign(function, inst.args[index], depth);
    let product = |of_addend: Option<Sign>| {
        let is_square = inst.args[0] == inst.args[1];
        // The product of positive numbers can be rounded to zero.
        (is_square || (of(0).is_some() && of(1).is_some())).then_some(of_addend).flatten()
    };
    match &inst.op {
        Op::Binary(BinaryOp::FMul) | Op::Exact(BinaryOp::FMul) => product(Some(Sign::NotNegative)),
        // A sum that is rounded is not less than its rounded operands.
        Op::Binary(BinaryOp::FAdd) | Op::Exact(BinaryOp::FAdd) => Some(of(0)?.max(of(1)?)),
        Op::Extract(_) => of(0),
        Op::Construct => (0..inst.args.len()).map(of).min()?,
        Op::Shuffle(_) => of(0).min(of(1)),
        Op::Select => of(1).min(of(2)),
        Op::Builtin(builtin, _) => match builtins::row(*builtin).name {
            "fabs" => Some(Sign::NotNegative),
            "fma" | "mad" => product(of(2)),
            _ => None,
        },
        _ => None,
    }
}

/// The sign of a constant.
fn sign_of_bits(scalar: Scalar, bits: u64) -> Option<Sign> {
    let negative = scalar.mask() ^ (scalar.mask() >> 1);
    match bits {
        _ if bits & !negative == 0 => Some(Sign::NotNegative),
        _ if bits & negative != 0 => None,
        // Subnormal: the exponent is 0.
        _ if bits <= scalar.fraction_mask() => Some(Sign::NotNegative),
        _ => Some(Sign::Positive),
    }
}
