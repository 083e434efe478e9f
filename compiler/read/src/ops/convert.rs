//! Conversions (SPIR-V 3.49.11), with their rounding and saturation.

use kiln_ir::{BinaryOp, Builder, CompareKind, Convert, Op as IrOp, Scalar, Type, ValueId};
use kiln_types::ops::{CompareOp, Conversion};
use rspirv::spirv::Op;

use super::{Lowered, Operation, one};

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    Some(match operation.op {
        Op::ConvertFToU | Op::ConvertUToF => convert_number(builder, operation, (false, false)),
        Op::ConvertFToS => convert_number(builder, operation, (false, true)),
        Op::ConvertSToF => convert_number(builder, operation, (true, false)),
        Op::SatConvertSToU => convert_number(builder, operation, (true, false)),
        Op::SatConvertUToS => convert_number(builder, operation, (false, true)),
        Op::FConvert => convert_number(builder, operation, (false, false)),
        Op::UConvert => resize(builder, operation, false),
        Op::SConvert => resize(builder, operation, true),
        Op::QuantizeToF16 => quantize(builder, operation),
        Op::ConvertPtrToU => pointer_to_int(builder, operation),
        Op::ConvertUToPtr => int_to_pointer(builder, operation),
        Op::Bitcast => bitcast(builder, operation),
        _ => return None,
    })
}

/// A conversion of numbers. Without a rounding mode it has the default of OpenCL C 6.4.3.2: to nearest even for
/// floating-point results, and toward zero for integers.
fn convert_number(
    builder: &mut Builder<'_>,
    operation: &Operation,
    (from_signed, to_signed): (bool, bool),
) -> Lowered {
    let [a] = operation.args()?;
    let (from, to) = (builder.ty(a), operation.result()?);
    check_kinds(operation.op, from, to)?;
    if from == to && from.scalar().is_some_and(Scalar::is_float) {
        return one(a);
    }
    let saturate =
        operation.decorations.saturates || matches!(operation.op, Op::SatConvertSToU | Op::SatConvertUToS);
    let conversion = Conversion {
        rounding: operation.decorations.rounding,
        saturate: saturate && to.scalar().is_some_and(Scalar::is_int),
    };
    one(builder.convert(Convert::Number { conversion, from_signed, to_signed }, a, to))
}

/// The kinds of numbers that an instruction converts.
fn check_kinds(op: Op, from: Type, to: Type) -> Result<(), String> {
    let is_float = |ty: Type| ty.scalar().is_some_and(Scalar::is_float);
    let is_int = |ty: Type| ty.scalar().is_some_and(Scalar::is_int);
    let are_right = match op {
        Op::ConvertFToU | Op::ConvertFToS => is_float(from) && is_int(to),
        Op::ConvertSToF | Op::ConvertUToF => is_int(from) && is_float(to),
        Op::FConvert => is_float(from) && is_float(to),
        _ => is_int(from) && is_int(to),
    };
    if are_right { Ok(()) } else { Err("it does not convert between these kinds of types".to_owned()) }
}

/// A change of the width, which saturates if it has the decoration.
fn resize(builder: &mut Builder<'_>, operation: &Operation, is_signed: bool) -> Lowered {
    let [a] = operation.args()?;
    let (from, to) = (builder.ty(a), operation.result()?);
    check_kinds(operation.op, from, to)?;
    let (Some(from), Some(scalar)) = (from.scalar(), to.scalar()) else {
        return Err("its operand is not an integer".to_owned());
    };
    if operation.decorations.saturates && scalar.bits() < from.bits() {
        return convert_number(builder, operation, (is_signed, is_signed));
    }
    one(builder.resize(a, scalar, is_signed))
}

/// Rounds to `half`. Numbers that would be subnormal become zero.
fn quantize(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    const SMALLEST_NORMAL: u64 = 0x3880_0000;
    const SIGN: u64 = 0x8000_0000;
    let [a] = operation.args()?;
    let ty = builder.ty(a);
    if ty.scalar() != Some(Scalar::F32) {
        return Err("its operand is not a 32-bit float".to_owned());
    }
    let convert = Convert::Number {
        conversion: Conversion { rounding: None, saturate: false },
        from_signed: false,
        to_signed: false,
    };
    let half = builder.convert(convert, a, ty.with_scalar(Scalar::F16));
    let rounded = builder.convert(convert, half, ty);
    let bits = builder.bitcast(rounded, ty.with_scalar(Scalar::I32));
    let magnitude = builder.binary_bits(BinaryOp::And, bits, SIGN - 1);
    let min = builder.bits(builder.ty(bits), SMALLEST_NORMAL);
    let is_small = builder.compare(CompareOp::Less, CompareKind::Unsigned, magnitude, min);
    let zero = builder.binary_bits(BinaryOp::And, bits, SIGN);
    let bits = builder.select(is_small, zero, bits);
    one(builder.bitcast(bits, ty))
}

fn pointer_to_int(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [pointer] = operation.args()?;
    let scalar = operation.result()?.scalar().ok_or("its result is not an integer")?;
    one(address_of(builder, pointer, scalar))
}

fn address_of(builder: &mut Builder<'_>, pointer: ValueId, scalar: Scalar) -> ValueId {
    let address = builder.value(IrOp::PointerToInt, &[pointer], Type::I64);
    builder.resize(address, scalar, false)
}

fn int_to_pointer(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [number] = operation.args()?;
    let result = operation.result()?;
    let address = builder.resize(number, Scalar::I64, false);
    one(builder.value(IrOp::IntToPointer, &[address], result))
}

/// A pointer has no pointee in the IR, so a cast between pointers in one address space needs no instruction.
fn bitcast(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [a] = operation.args()?;
    let (from, to) = (builder.ty(a), operation.result()?);
    if from == to {
        return one(a);
    }
    match (from, to) {
        (Type::Pointer(_), Type::Pointer(_)) => one(builder.value(IrOp::PointerCast, &[a], to)),
        (Type::Pointer(_), Type::Scalar(scalar)) if scalar.is_int() => one(address_of(builder, a, scalar)),
        (Type::Scalar(scalar), Type::Pointer(_)) if scalar.is_int() => int_to_pointer(builder, operation),
        (Type::Scalar(_) | Type::Vector(..), Type::Scalar(_) | Type::Vector(..)) => {
            if from
                .scalar()
                .zip(to.scalar())
                .is_none_or(|(from, to)| from == Scalar::Bool || to == Scalar::Bool)
                || from.size() != to.size()
            {
                return Err("its operand and its result have different sizes".to_owned());
            }
            one(builder.bitcast(a, to))
        }
        _ => Err("it casts between types that are neither numbers nor pointers".to_owned()),
    }
}
