//! Folds floating-point operations on constants, correctly rounded as in `fold`, which every device may return.
//! Operations with device-specific results (`native_sin`) are not folded.
//!
//! This saves work in drivers, and avoids a bug: the constant propagation of SPIRV-Tools, which SwiftShader runs on
//! every module, loses a branch whose condition is an extended instruction with constant operands.

use kiln_builtins as builtins;
use kiln_ir::{
    BinaryOp, Builder, Compare, CompareKind, Const, Convert, Inst, Op, Scalar, Type, UnaryOp, ValueId,
};
use kiln_types::{
    fold::{self, Format},
    ops::{self, CompareOp, Rounding},
    ty,
};
use smallvec::SmallVec;

/// Folds an operation whose operands or result are floating-point numbers.
pub(super) fn constant(builder: &Builder<'_>, inst: &Inst, ty: Type) -> Option<Const> {
    let from = builder.ty(*inst.args.first()?).scalar()?;
    let to = ty.scalar()?;
    if !(from.is_float() || to.is_float()) {
        return None;
    }
    let args: Option<SmallVec<[&[u64]; 3]>> = inst
        .args
        .iter()
        .map(|&arg| match builder.function.constant(arg)? {
            Const::Bits(bits) if bits.len() == usize::from(ty.count()) => Some(&bits[..]),
            _ => None,
        })
        .collect();
    let args = args?;
    let components = (0..usize::from(ty.count())).map(|component| {
        let operands: SmallVec<[u64; 3]> = args.iter().map(|bits| bits[component]).collect();
        fold_component(&inst.op, from, to, &operands)
    });
    Some(Const::Bits(components.collect::<Option<_>>()?))
}

/// The other operand of a multiplication by 1, or of a division by it. No result changes: a device may also return a subnormal number
/// that it would flush (OpenCL C 7.5.3).
pub(super) fn without_one(
    builder: &Builder<'_>,
    op: BinaryOp,
    left: ValueId,
    right: ValueId,
) -> Option<ValueId> {
    let one = bits_of_const(&ops::Const::Float(1.0), builder.ty(left).scalar()?.opencl(false))?;
    let is_one = |value: ValueId| builder.function.splat_bits(value) == Some(one);
    match op {
        _ if is_one(right) => Some(left),
        BinaryOp::FMul if is_one(left) => Some(right),
        _ => None,
    }
}

/// Folds one component.
fn fold_component(op: &Op, from: Scalar, to: Scalar, operands: &[u64]) -> Option<u64> {
    match (op, operands) {
        (Op::Unary(UnaryOp::FNeg), &[operand]) => Some(operand ^ 1 << (from.bits() - 1)),
        (Op::Binary(op) | Op::Exact(op), &[left, right]) => {
            let op = match op {
                BinaryOp::FAdd => ops::BinaryOp::Add,
                BinaryOp::FSub => ops::BinaryOp::Subtract,
                BinaryOp::FMul => ops::BinaryOp::Multiply,
                BinaryOp::FDiv => ops::BinaryOp::Divide,
                _ => return None,
            };
            let ty = from.opencl(false);
            let result = fold::binary(op, ty, &float_constant(left, ty)?, &float_constant(right, ty)?)?;
            bits_of_const(&result, ty)
        }
        (Op::Compare(Compare { op, kind: CompareKind::Float }), &[left, right]) => {
            Some(fold_comparison(*op, from, left, right)?.into())
        }
        (&Op::Convert(Convert::Number { conversion, from_signed, to_signed }), &[operand]) => {
            let (from, to) = (from.opencl(from_signed), to.opencl(to_signed));
            bits_of_const(&fold::convert(&float_constant(operand, from)?, from, to, conversion)?, to)
        }
        (&Op::Builtin(builtin, _), operands) if from == to => {
            let ty = to.opencl(false);
            let operands: Option<SmallVec<[f64; 3]>> =
                operands.iter().map(|&it| float_from_bits(it, ty)).collect();
            let exact = fold_function(builtins::row(builtin).name, &operands?)?;
            let rounded = fold::round_float(exact, Format::for_scalar(ty)?, Rounding::ToEven);
            bits_of_const(&ops::Const::Float(rounded), ty)
        }
        _ => None,
    }
}

/// Comparisons with a NaN are false, except `NotEqual`.
fn fold_comparison(op: CompareOp, ty: Scalar, left: u64, right: u64) -> Option<bool> {
    let ty = ty.opencl(false);
    let result = fold::compare(op, ty, &float_constant(left, ty)?, &float_constant(right, ty)?)?;
    fold::is_true(ty::Scalar::Int, &result)
}

/// Functions that return an operand, or a result that is exact in `double` for all formats and rounded once.
fn fold_function(name: &str, operands: &[f64]) -> Option<f64> {
    Some(match (name, operands) {
        ("fabs", &[x]) => x.abs(),
        ("ceil", &[x]) => x.ceil(),
        ("floor", &[x]) => x.floor(),
        ("rint", &[x]) => x.round_ties_even(),
        ("trunc", &[x]) => x.trunc(),
        // 53 bits suffice for results that are rounded to at most 25 bits, and `double` needs no rounding.
        ("sqrt" | "native_sqrt" | "half_sqrt", &[x]) => x.sqrt(),
        ("fmax" | "max", &[x, y]) => x.max(y),
        ("fmin" | "min", &[x, y]) => x.min(y),
        ("clamp", &[x, low, high]) if low <= high => x.max(low).min(high),
        // Defined as `x + (y - x) * a`, within 1e-3 (OpenCL C 6.15.4).
        ("mix", &[x, y, a]) => x + (y - x) * a,
        _ => return None,
    })
}

fn float_constant(bits: u64, ty: ty::Scalar) -> Option<ops::Const> {
    fold::from_bytes(&bits.to_le_bytes()[..ty.size() as usize], ty, 1)
}

fn float_from_bits(bits: u64, ty: ty::Scalar) -> Option<f64> {
    match float_constant(bits, ty)? {
        ops::Const::Float(value) => Some(value),
        _ => None,
    }
}

fn bits_of_const(value: &ops::Const, ty: ty::Scalar) -> Option<u64> {
    let mut word = [0; 8];
    let bytes = fold::to_bytes(value, ty, 1)?;
    word[..bytes.len()].copy_from_slice(&bytes);
    Some(u64::from_le_bytes(word))
}
