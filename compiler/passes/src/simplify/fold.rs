//! Folds single operations to a constant or an existing value.

use kiln_ir::{
    BinaryOp, Builder, Compare, CompareKind, Const, Convert, Function, Inst, Op, Scalar, Type, UnaryOp,
    ValueId,
};
use kiln_types::ops::CompareOp;
use smallvec::SmallVec;

use super::{floats, signs};

/// The value that replaces the result of an instruction.
pub(super) fn fold(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let ty = builder.ty(*inst.results.first()?);
    if inst.args.iter().all(|&arg| builder.function.constant(arg).is_some()) {
        let integers = if inst.op.is_pure() { fold_integers(builder, inst, ty) } else { None };
        if let Some(constant) = integers.or_else(|| floats::constant(builder, inst, ty)) {
            return Some(builder.constant(ty, constant));
        }
    }
    match &inst.op {
        Op::Unary(UnaryOp::Not) if ty.scalar() == Some(Scalar::Bool) => negated(builder, inst.args[0]),
        Op::Binary(op @ (BinaryOp::FMul | BinaryOp::FDiv))
        | Op::Exact(op @ (BinaryOp::FMul | BinaryOp::FDiv)) => {
            floats::without_one(builder, *op, inst.args[0], inst.args[1])
        }
        Op::Binary(op) => fold_binary(builder, *op, inst.args[0], inst.args[1]),
        Op::Compare(compare) => fold_comparison_with_zero(builder, *compare, inst)
            .or_else(|| signs::fold_comparison_by_sign(builder, *compare, inst.args[0], inst.args[1])),
        Op::Select => fold_select(builder, inst),
        Op::Convert(convert) => combine_conversions(builder, *convert, inst.args[0], ty),
        Op::Bitcast => {
            let from = builder.function.def(inst.args[0]);
            let source = match from {
                Some(def) if def.op == Op::Bitcast => def.args[0],
                _ => inst.args[0],
            };
            (builder.ty(source) == ty).then_some(source)
        }
        Op::Extract(component) => component_of(builder, inst.args[0], *component),
        Op::Construct => extracted_vector(builder, &inst.args, ty),
        Op::Offset { stride, .. } => {
            let is_zero_offset = *stride == 0 || builder.function.constant_bits(inst.args[1]) == Some(0);
            is_zero_offset.then_some(inst.args[0])
        }
        _ => None,
    }
}

/// The bits of each component of a constant.
fn component_bits<'b>(builder: &'b Builder<'_>, value: ValueId) -> Option<&'b [u64]> {
    match builder.function.constant(value)? {
        Const::Bits(bits) => Some(bits),
        Const::Undefined => None,
    }
}

/// Folds an operation on integer constants.
fn fold_integers(builder: &Builder<'_>, inst: &Inst, ty: Type) -> Option<Const> {
    let arg = |index: usize| component_bits(builder, *inst.args.get(index)?);
    let scalar = builder.ty(*inst.args.first()?).scalar()?;
    let mask = ty.scalar().map_or(u64::MAX, Scalar::mask);
    let each = |compute: &dyn Fn(u64) -> Option<u64>| -> Option<Const> {
        let values: Option<SmallVec<[u64; 2]>> = arg(0)?.iter().map(|&it| compute(it)).collect();
        Some(Const::Bits(values?.into_iter().map(|it| it & mask).collect()))
    };
    let both = |compute: &dyn Fn(u64, u64) -> Option<u64>| -> Option<Const> {
        let pairs = arg(0)?.iter().zip(arg(1)?);
        let values: Option<SmallVec<[u64; 2]>> = pairs.map(|(&left, &right)| compute(left, right)).collect();
        Some(Const::Bits(values?.into_iter().map(|it| it & mask).collect()))
    };
    match &inst.op {
        Op::Unary(UnaryOp::Neg) => each(&|it| Some(it.wrapping_neg())),
        Op::Unary(UnaryOp::Not) => each(&|it| Some(!it)),
        Op::Unary(UnaryOp::BitCount) => each(&|it| Some(it.count_ones().into())),
        Op::Binary(op) if !scalar.is_float() => {
            both(&|left, right| evaluate_binary(*op, scalar, left, right))
        }
        Op::Compare(compare) if !scalar.is_float() => {
            both(&|left, right| Some(u64::from(evaluate_comparison(*compare, scalar, left, right))))
        }
        Op::Convert(Convert::Truncate | Convert::ZeroExtend) => each(&|it| Some(it)),
        Op::Convert(Convert::SignExtend) => each(&|it| Some(sign_extend(scalar, it) as u64)),
        Op::Bitcast if scalar.size() == ty.scalar()?.size() => each(&|it| Some(it)),
        Op::Extract(component) => Some(Const::scalar(*arg(0)?.get(usize::from(*component))?)),
        Op::Construct => {
            let parts: Option<Vec<_>> = (0..inst.args.len()).map(arg).collect();
            Some(Const::Bits(parts?.into_iter().flatten().copied().collect()))
        }
        _ => None,
    }
}

/// Sign-extends bits of this width.
const fn sign_extend(scalar: Scalar, bits: u64) -> i64 {
    let unused = 64 - scalar.bits();
    ((bits << unused) as i64) >> unused
}

/// Computes an integer operation. `None` if the result depends on the device. Bits above the type's width are
/// ignored.
pub(crate) fn evaluate_binary(op: BinaryOp, scalar: Scalar, left: u64, right: u64) -> Option<u64> {
    let (signed_left, signed_right) = (sign_extend(scalar, left), sign_extend(scalar, right));
    Some(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::UMulHigh => {
            let [left, right] = [left, right].map(|it| u128::from(it & (u64::MAX >> (64 - scalar.bits()))));
            ((left * right) >> scalar.bits()) as u64
        }
        // Undefined operands or overflow: leave it to the device.
        BinaryOp::SDiv => signed_left.checked_div(signed_right)? as u64,
        BinaryOp::SRem => signed_left.checked_rem(signed_right)? as u64,
        BinaryOp::UDiv => left.checked_div(right)?,
        BinaryOp::URem => left.checked_rem(right)?,
        BinaryOp::Shl if right < scalar.bits().into() => left << right,
        BinaryOp::LShr if right < scalar.bits().into() => left >> right,
        BinaryOp::AShr if right < scalar.bits().into() => (signed_left >> right) as u64,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        _ => return None,
    })
}

fn evaluate_comparison(compare: Compare, scalar: Scalar, left: u64, right: u64) -> bool {
    let order = match compare.kind {
        CompareKind::Signed => sign_extend(scalar, left).cmp(&sign_extend(scalar, right)),
        CompareKind::Unsigned | CompareKind::Float => left.cmp(&right),
    };
    match compare.op {
        CompareOp::Less => order.is_lt(),
        CompareOp::LessEqual => order.is_le(),
        CompareOp::Greater => order.is_gt(),
        CompareOp::GreaterEqual => order.is_ge(),
        CompareOp::Equal => order.is_eq(),
        CompareOp::NotEqual => order.is_ne(),
    }
}

/// Simplifies integer operations with an identity or absorbing operand.
fn fold_binary(builder: &mut Builder<'_>, op: BinaryOp, left: ValueId, right: ValueId) -> Option<ValueId> {
    let ty = builder.ty(left);
    let ones = ty.scalar()?.mask();
    let (known_left, known_right) = (builder.function.splat_bits(left), builder.function.splat_bits(right));
    match (op, known_left, known_right) {
        (BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor, Some(0), _) => Some(right),
        (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor, _, Some(0)) => Some(left),
        (BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr, _, Some(0)) => Some(left),
        (BinaryOp::Mul | BinaryOp::UDiv | BinaryOp::SDiv, _, Some(1)) => Some(left),
        (BinaryOp::Mul, Some(1), _) => Some(right),
        (BinaryOp::Mul | BinaryOp::And, Some(0), _) => Some(left),
        (BinaryOp::Mul | BinaryOp::And, _, Some(0)) => Some(right),
        (BinaryOp::And, _, Some(mask)) if mask == ones || keeps_all_bits(builder.function, mask, left) => {
            Some(left)
        }
        (BinaryOp::And, Some(mask), _) if mask == ones || keeps_all_bits(builder.function, mask, right) => {
            Some(right)
        }
        (BinaryOp::And, _, Some(mask)) if low_zeros(builder.function, left, DEPTH) >= bit_length(mask) => {
            Some(builder.bits(ty, 0))
        }
        (BinaryOp::And | BinaryOp::Or, ..) if left == right => Some(left),
        // Combines two additions of constants, which are common in address arithmetic.
        (BinaryOp::Add, None, Some(_)) => {
            let inner = builder.function.def(left)?;
            let (first, second) = (*inner.args.first()?, *inner.args.get(1)?);
            if inner.op != Op::Binary(BinaryOp::Add) || builder.function.splat_bits(second).is_none() {
                return None;
            }
            let sum = builder.function.splat_bits(second)?.wrapping_add(known_right?);
            Some(builder.binary_bits(BinaryOp::Add, first, sum))
        }
        _ => None,
    }
}

fn fold_select(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let (condition, then, otherwise) = (inst.args[0], inst.args[1], inst.args[2]);
    if then == otherwise {
        return Some(then);
    }
    if let Some(known) = builder.function.splat_bits(condition) {
        return Some(if known == 0 { otherwise } else { then });
    }
    // An undefined value may be any value, such as the other one.
    if is_undefined(builder, then) || is_undefined(builder, otherwise) {
        return Some(if is_undefined(builder, then) { otherwise } else { then });
    }
    if builder.ty(then) != builder.ty(condition) {
        return None;
    }
    match (builder.function.splat_bits(then), builder.function.splat_bits(otherwise)) {
        (Some(1), Some(0)) => Some(condition),
        (_, Some(0)) => Some(builder.binary(BinaryOp::And, condition, then)),
        (Some(1), _) => Some(builder.binary(BinaryOp::Or, condition, otherwise)),
        _ => None,
    }
}

/// Whether a mask contains every bit that a zero-extended value can have.
fn keeps_all_bits(function: &Function, mask: u64, value: ValueId) -> bool {
    let inner = function.def(value).filter(|inst| inst.op == Op::Convert(Convert::ZeroExtend));
    inner.and_then(|inst| function.ty(inst.args[0]).scalar()).is_some_and(|scalar| scalar.mask() & !mask == 0)
}

/// The maximum depth of operations to follow.
const DEPTH: u32 = 4;

/// The position after the highest set bit.
const fn bit_length(bits: u64) -> u32 {
    u64::BITS - bits.leading_zeros()
}

/// A number of low bits of an integer, or of each component of a vector, that are zero.
fn low_zeros(function: &Function, value: ValueId, depth: u32) -> u32 {
    if let Some(bits) = function.splat_bits(value) {
        return bits.trailing_zeros();
    }
    let (Some(depth), Some(inst)) = (depth.checked_sub(1), function.def(value)) else { return 0 };
    let of = |index: usize| low_zeros(function, inst.args[index], depth);
    match inst.op {
        Op::Convert(Convert::ZeroExtend | Convert::SignExtend) => of(0),
        Op::Binary(BinaryOp::Shl) => {
            of(0).saturating_add(function.splat_bits(inst.args[1]).map_or(0, |count| count as u32))
        }
        Op::Binary(BinaryOp::Mul) => of(0).saturating_add(of(1)),
        Op::Binary(BinaryOp::And) => of(0).max(of(1)),
        Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor) => of(0).min(of(1)),
        _ => 0,
    }
}

fn is_undefined(builder: &Builder<'_>, value: ValueId) -> bool {
    builder.function.constant(value) == Some(&Const::Undefined)
}

/// The negation of a `Bool`. A floating-point comparison cannot be negated by its operator, because of NaNs.
fn negated(builder: &mut Builder<'_>, value: ValueId) -> Option<ValueId> {
    let inner = builder.function.def(value)?;
    match inner.op {
        Op::Unary(UnaryOp::Not) => Some(inner.args[0]),
        Op::Compare(Compare { op, kind: kind @ (CompareKind::Signed | CompareKind::Unsigned) }) => {
            let op = match op {
                CompareOp::Less => CompareOp::GreaterEqual,
                CompareOp::LessEqual => CompareOp::Greater,
                CompareOp::Greater => CompareOp::LessEqual,
                CompareOp::GreaterEqual => CompareOp::Less,
                CompareOp::Equal => CompareOp::NotEqual,
                CompareOp::NotEqual => CompareOp::Equal,
            };
            let (left, right) = (inner.args[0], inner.args[1]);
            Some(builder.compare(op, kind, left, right))
        }
        _ => None,
    }
}

/// Simplifies the comparison of a converted `Bool` with 0.
fn fold_comparison_with_zero(builder: &mut Builder<'_>, compare: Compare, inst: &Inst) -> Option<ValueId> {
    let (number, zero) = (inst.args[0], inst.args[1]);
    let is_equality = matches!(compare.op, CompareOp::Equal | CompareOp::NotEqual);
    if !is_equality || builder.function.splat_bits(zero) != Some(0) {
        return None;
    }
    let inner = builder.function.def(number)?;
    let condition = *inner.args.first()?;
    if builder.ty(condition).scalar() != Some(Scalar::Bool) {
        return None;
    }
    let is_true = match inner.op {
        Op::Convert(Convert::ZeroExtend) => true,
        Op::Select if builder.ty(condition).count() == builder.ty(number).count() => {
            match (
                builder.function.splat_bits(inner.args[1])? != 0,
                builder.function.splat_bits(inner.args[2])? != 0,
            ) {
                (true, false) => true,
                (false, true) => false,
                _ => return None,
            }
        }
        _ => return None,
    };
    match is_true == (compare.op == CompareOp::NotEqual) {
        true => Some(condition),
        false => {
            let ty = builder.ty(condition);
            Some(builder.value(Op::Unary(UnaryOp::Not), &[condition], ty))
        }
    }
}

/// Combines two integer conversions.
fn combine_conversions(
    builder: &mut Builder<'_>,
    convert: Convert,
    value: ValueId,
    to: Type,
) -> Option<ValueId> {
    let inner = builder.function.def(value)?;
    let Op::Convert(before) = inner.op else { return None };
    let source = *inner.args.first()?;
    let (from, target) = (builder.ty(source).scalar()?, to.scalar()?);
    if !from.is_int() {
        return None;
    }
    match (before, convert) {
        (Convert::SignExtend | Convert::ZeroExtend, Convert::Truncate) => {
            Some(builder.resize(source, target, before == Convert::SignExtend))
        }
        (Convert::Truncate, Convert::Truncate)
        | (Convert::ZeroExtend, Convert::ZeroExtend | Convert::SignExtend) => {
            Some(builder.resize(source, target, false))
        }
        (Convert::SignExtend, Convert::SignExtend) => Some(builder.resize(source, target, true)),
        // Masks the low bits, without an integer type of that width.
        (Convert::Truncate, Convert::ZeroExtend) if builder.ty(source) == to => {
            let mask = builder.ty(value).scalar()?.mask();
            Some(builder.binary_bits(BinaryOp::And, source, mask))
        }
        _ => None,
    }
}

/// A component of a constructed vector.
fn component_of(builder: &Builder<'_>, vector: ValueId, component: u8) -> Option<ValueId> {
    let inner = builder.function.def(vector)?;
    match &inner.op {
        Op::Construct => {
            let mut first = 0;
            for &part in &inner.args {
                let count = builder.ty(part).count();
                if component < first + count {
                    return (count == 1).then_some(part);
                }
                first += count;
            }
            None
        }
        Op::Insert(inserted) if *inserted == component => Some(inner.args[1]),
        Op::Insert(_) => component_of(builder, inner.args[0], component),
        _ => None,
    }
}

/// The vector whose components are all extracted in order.
fn extracted_vector(builder: &Builder<'_>, parts: &[ValueId], ty: Type) -> Option<ValueId> {
    let mut vector = None;
    for (number, &part) in (0..).zip(parts) {
        let inner = builder.function.def(part)?;
        if inner.op != Op::Extract(number) || *vector.get_or_insert(inner.args[0]) != inner.args[0] {
            return None;
        }
    }
    vector.filter(|&it| builder.ty(it) == ty)
}
