//! Lowers conversions that have no instruction: saturation of integers to a clamp, and on Vulkan, which has no rounding
//! modes, rounding and saturation to other operations and library functions (OpenCL C 6.4.3).

use super::{Pass, component_wise};
use kiln_builtins as builtins;
use kiln_ir::{BinaryOp, Builder, BuiltinParam, CompareKind, Convert, Op, Scalar, Type, ValueId};
use kiln_types::{
    ops::{CompareOp, Conversion, Rounding},
    ty,
};
use kiln_vocabulary::{driver_bugs::DriverBug, opencl::Environment};

/// A numeric conversion, from `Convert::Number`.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub(super) conversion: Conversion,
    pub(super) from_signed: bool,
    pub(super) to_signed: bool,
}

impl Pass<'_> {
    /// The converted value, if the target needs other operations for it.
    pub(super) fn convert_number(
        &mut self,
        builder: &mut Builder<'_>,
        value: ValueId,
        to: Type,
        number: Number,
    ) -> Option<ValueId> {
        let from = builder.ty(value);
        let (from_scalar, to_scalar) = (from.scalar()?, to.scalar()?);
        let is_vulkan = self.options.target.environment == Environment::Vulkan;
        match (from_scalar.is_float(), to_scalar.is_float()) {
            (false, false) => Some(clamp_integer(builder, value, to_scalar, number)),
            _ if !is_vulkan => None,
            (true, false) => self.float_to_integer(builder, value, to, number),
            (_, true) => self.to_float(builder, value, to, number),
        }
    }

    /// Whether the target's instruction does not implement the conversion.
    pub(super) fn needs_expansion(&self, from: Type, to: Type, number: Number) -> bool {
        let Number { conversion, .. } = number;
        if conversion.saturate || conversion.rounding.is_some() {
            return true;
        }
        let target = &self.options.target;
        let (Some(from), Some(to)) = (from.scalar(), to.scalar()) else { return false };
        // Drivers convert double to half through float, and round twice.
        let rounds_twice = from == Scalar::F64 && to == Scalar::F16;
        let is_missing = from.is_float() && to == Scalar::I64 && !self.truncates_to_int64()
            || from == Scalar::I64 && to.is_float() && !target.features.int64;
        target.environment == Environment::Vulkan && (rounds_twice || is_missing)
    }

    /// Whether the target converts floating-point numbers correctly to 64-bit integers.
    fn truncates_to_int64(&self) -> bool {
        let target = &self.options.target;
        target.features.int64 && !target.workarounds.contains(DriverBug::ExpandInt64Conversions)
    }

    fn to_float(
        &mut self,
        builder: &mut Builder<'_>,
        value: ValueId,
        to: Type,
        number: Number,
    ) -> Option<ValueId> {
        let rounding = number.conversion.rounding.unwrap_or(Rounding::ToEven);
        let from = builder.ty(value).scalar()?;
        let to_scalar = to.scalar()?;
        let plain = Number { conversion: Conversion { rounding: None, saturate: false }, ..number };
        if from.is_float() && from.size() <= to_scalar.size() {
            return Some(plain_convert(builder, value, to, plain));
        }
        // Narrow integers are widened first.
        let (value, source) = match (from, number.from_signed) {
            (Scalar::F32, _) => (value, "float"),
            (Scalar::F64, _) => (value, "double"),
            (Scalar::I64, true) => (value, "long"),
            (Scalar::I64, false) => (value, "ulong"),
            (_, is_signed) => {
                (builder.resize(value, Scalar::I32, is_signed), if is_signed { "int" } else { "uint" })
            }
        };
        let name = match (to_scalar, rounding) {
            (Scalar::F16, Rounding::ToEven) => "convert_half_rte",
            (Scalar::F16, Rounding::ToZero) => "convert_half_rtz",
            (Scalar::F16, Rounding::ToPositive) => "convert_half_rtp",
            (Scalar::F16, Rounding::ToNegative) => "convert_half_rtn",
            (Scalar::F32, Rounding::ToEven) => "convert_float_rte",
            (Scalar::F32, Rounding::ToZero) => "convert_float_rtz",
            (Scalar::F32, Rounding::ToPositive) => "convert_float_rtp",
            (Scalar::F32, Rounding::ToNegative) => "convert_float_rtn",
            (_, Rounding::ToEven) => "convert_double_rte",
            (_, Rounding::ToZero) => "convert_double_rtz",
            (_, Rounding::ToPositive) => "convert_double_rtp",
            (_, Rounding::ToNegative) => "convert_double_rtn",
        };
        let function = self.callee(name, source, builder.span)?;
        let bits = Type::Scalar(Scalar::int_of_size(to_scalar.size()));
        let result = component_wise(builder, value, to.count(), |builder, part| {
            let bits = builder.call(function, &[part], Some(bits)).expect("it gives bits");
            builder.bitcast(bits, to.with_count(1))
        });
        Some(result)
    }

    /// Rounds, and saturates if requested: NaN becomes 0 (OpenCL C 6.4.3.3). The conversion instruction gets only values in
    /// range, because its behavior is undefined for others, even if the result is unused (SPIR-V, `OpConvertFToS`).
    fn float_to_integer(
        &mut self,
        builder: &mut Builder<'_>,
        value: ValueId,
        to: Type,
        number: Number,
    ) -> Option<ValueId> {
        let (from, to_scalar) = (builder.ty(value), to.scalar()?);
        let mode = match number.conversion.rounding {
            None | Some(Rounding::ToZero) => None,
            Some(Rounding::ToEven) => Some("rint"),
            Some(Rounding::ToPositive) => Some("ceil"),
            Some(Rounding::ToNegative) => Some("floor"),
        };
        let rounded = match mode {
            None => value,
            Some(name) => {
                let element = match from.scalar()? {
                    Scalar::F16 => ty::Scalar::Half,
                    Scalar::F64 => ty::Scalar::Double,
                    _ => ty::Scalar::Float,
                };
                let param = BuiltinParam::Value(element, from.count());
                builder.value(
                    Op::Builtin(builtins::first_row(name)?, [param].into_iter().collect()),
                    &[value],
                    from,
                )
            }
        };
        let plain = Number { conversion: Conversion { rounding: None, saturate: false }, ..number };
        if !number.conversion.saturate {
            return self.truncated(builder, rounded, to, plain);
        }
        let value_bits = to_scalar.bits() - u32::from(number.to_signed);
        let max = max_integer(to_scalar.bits(), number.to_signed);
        let [beyond, below] = [false, true].map(|is_negative| {
            let bits = if is_negative && !number.to_signed {
                0
            } else {
                power_of_two(from, value_bits, is_negative)
            };
            builder.bits(from, bits)
        });
        let largest = builder.bits(to, max);
        let min = builder.bits(to, if number.to_signed { !max } else { 0 });
        let zero = builder.bits(from, 0);
        let is_above = builder.compare(CompareOp::GreaterEqual, CompareKind::Float, rounded, beyond);
        let is_below = builder.compare(CompareOp::LessEqual, CompareKind::Float, rounded, below);
        let is_outside = builder.binary(BinaryOp::Or, is_above, is_below);
        let is_nan = builder.compare(CompareOp::NotEqual, CompareKind::Float, rounded, rounded);
        let is_outside = builder.binary(BinaryOp::Or, is_outside, is_nan);
        let inside = builder.select(is_outside, zero, rounded);
        let converted = self.truncated(builder, inside, to, plain)?;
        let result = builder.select(is_above, largest, converted);
        Some(builder.select(is_below, min, result))
    }

    /// Truncates a number in range.
    fn truncated(
        &mut self,
        builder: &mut Builder<'_>,
        value: ValueId,
        to: Type,
        number: Number,
    ) -> Option<ValueId> {
        if to.scalar() != Some(Scalar::I64) || self.truncates_to_int64() {
            return Some(plain_convert(builder, value, to, number));
        }
        let name = if number.to_signed { "convert_long_rtz" } else { "convert_ulong_rtz" };
        let (source, types) = match builder.ty(value).scalar() {
            Some(Scalar::F64) => (Scalar::F64, "double"),
            _ => (Scalar::F32, "float"),
        };
        let function = self.callee(name, types, builder.span)?;
        Some(component_wise(builder, value, to.count(), |builder, part| {
            let part = plain_convert(builder, part, Type::Scalar(source), number);
            builder.call(function, &[part], Some(Type::I64)).expect("it gives a number")
        }))
    }
}

fn plain_convert(builder: &mut Builder<'_>, value: ValueId, to: Type, number: Number) -> ValueId {
    if builder.ty(value) == to {
        return value;
    }
    let Number { conversion, from_signed, to_signed } = number;
    builder.convert(Convert::Number { conversion, from_signed, to_signed }, value, to)
}

/// Clamps an integer to the range of the target type, before truncation or extension.
fn clamp_integer(builder: &mut Builder<'_>, mut value: ValueId, to: Scalar, number: Number) -> ValueId {
    let ty = builder.ty(value);
    let from = ty.scalar().map_or(64, Scalar::bits);
    let (max_from, max_to) =
        (max_integer(from, number.from_signed), max_integer(to.bits(), number.to_signed));
    let kind = if number.from_signed { CompareKind::Signed } else { CompareKind::Unsigned };
    if max_to < max_from {
        let limit = builder.bits(ty, max_to);
        let is_above = builder.compare(CompareOp::Greater, kind, value, limit);
        value = builder.select(is_above, limit, value);
    }
    if number.from_signed && (!number.to_signed || to.bits() < from) {
        let min = if number.to_signed { !max_to } else { 0 };
        let limit = builder.bits(ty, min);
        let is_below = builder.compare(CompareOp::Less, kind, value, limit);
        value = builder.select(is_below, limit, value);
    }
    builder.resize(value, to, number.from_signed)
}

/// The largest integer of this width.
const fn max_integer(bits: u32, is_signed: bool) -> u64 {
    u64::MAX >> (64 - bits + is_signed as u32)
}

/// The bits of 2^exponent, or of infinity if it is not representable.
fn power_of_two(ty: Type, exponent: u32, is_negative: bool) -> u64 {
    let exponent = u64::from(exponent);
    let (bits, sign) = match ty.scalar() {
        Some(Scalar::F16) => ((exponent + 15).min(31) << 10, 15),
        Some(Scalar::F64) => ((exponent + 1023) << 52, 63),
        _ => ((exponent + 127) << 23, 31),
    };
    bits | u64::from(is_negative) << sign
}
