//! Constant folding: bit-exact results of operations on scalar and vector constants.
//!
//! Integers wrap at their width, floating-point results are correctly rounded in their own format, and vectors are
//! computed componentwise. Independent of expressions and the rules for constant expressions. Functions return
//! `None` for results without a value (division by zero) and for undefined operands.

mod round;

use crate::{
    binary16,
    ops::{BinaryOp, CompareOp, Const, Conversion, Rounding, UnaryOp},
    ty::Scalar,
};

pub use round::{Format, round_float, round_integer};

/// The bits of an integer of this type, sign- or zero-extended to 64 bits: the representation in `Const::Int`.
pub const fn wrap(ty: Scalar, bits: u64) -> u64 {
    match ty {
        Scalar::Bool => (bits != 0) as u64,
        Scalar::Char => bits as i8 as u64,
        Scalar::UChar => bits as u8 as u64,
        Scalar::Short => bits as i16 as u64,
        Scalar::UShort => bits as u16 as u64,
        Scalar::Int => bits as i32 as u64,
        Scalar::UInt => bits as u32 as u64,
        Scalar::Long | Scalar::ULong | Scalar::Half | Scalar::Float | Scalar::Double => bits,
    }
}

/// The mathematical value of an integer of this type.
pub const fn integer(ty: Scalar, bits: u64) -> i128 {
    if ty.is_signed() { bits as i64 as i128 } else { bits as i128 }
}

/// The minimum and maximum of an integer type.
pub const fn limits(ty: Scalar) -> (i128, i128) {
    let bits = match ty {
        Scalar::Bool => 1,
        _ => ty.size() * 8,
    };
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// A unary operation on this element type.
pub fn unary(op: UnaryOp, ty: Scalar, operand: &Const) -> Option<Const> {
    map(operand, |operand| match (op, scalar(ty, operand)?) {
        (UnaryOp::Negate, Value::Int(bits)) => Some(Const::Int(wrap(ty, bits.wrapping_neg()))),
        (UnaryOp::Negate, Value::Float(value)) => Some(Const::Float(-value)),
        (UnaryOp::BitNot, Value::Int(bits)) => Some(Const::Int(wrap(ty, !bits))),
        (UnaryOp::BitNot, Value::Float(_)) => None,
    })
}

/// A binary operation on this element type.
pub fn binary(op: BinaryOp, ty: Scalar, left: &Const, right: &Const) -> Option<Const> {
    zip(left, right, |left, right| match (scalar(ty, left)?, scalar(ty, right)?) {
        (Value::Int(left), Value::Int(right)) => integers(op, ty, left, right).map(Const::Int),
        (Value::Float(left), Value::Float(right)) => floats(op, ty, left, right).map(Const::Float),
        _ => None,
    })
}

/// Whether an integer operation overflows its signed type (C99 6.5 5).
pub fn overflows(op: BinaryOp, ty: Scalar, left: &Const, right: &Const) -> bool {
    let (Some(Value::Int(left)), Some(Value::Int(right))) = (scalar(ty, left), scalar(ty, right)) else {
        return false;
    };
    if !ty.is_signed() {
        return false;
    }
    let (left, right) = (integer(ty, left), integer(ty, right));
    let exact = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide if right != 0 => left / right,
        _ => return false,
    };
    let (min, max) = limits(ty);
    !(min..=max).contains(&exact)
}

fn integers(op: BinaryOp, ty: Scalar, left: u64, right: u64) -> Option<u64> {
    // OpenCL C 6.5.10: the amount is taken modulo the width.
    let amount = (right & (ty.size() * 8 - 1)) as u32;
    let divide = |operation: fn(i128, i128) -> i128| {
        (right != 0).then(|| operation(integer(ty, left), integer(ty, right)) as u64)
    };
    let bits = match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::Divide => divide(|left, right| left / right)?,
        BinaryOp::Remainder => divide(|left, right| left % right)?,
        BinaryOp::ShiftLeft => left << amount,
        BinaryOp::ShiftRight => (integer(ty, left) >> amount) as u64,
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::BitOr => left | right,
    };
    Some(wrap(ty, bits))
}

fn floats(op: BinaryOp, ty: Scalar, left: f64, right: f64) -> Option<f64> {
    // A `double` operation on operands with at most 25 bits of precision, rounded to their format, is correctly
    // rounded: 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995).
    let exact = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        _ => return None,
    };
    Some(round_float(exact, Format::for_scalar(ty)?, Rounding::ToEven))
}

/// A comparison of this element type: 0 or 1 for scalars; for vectors, 0 or -1 in the signed integer type of the same
/// size (OpenCL C 6.5.4, 6.5.5).
pub fn compare(op: CompareOp, ty: Scalar, left: &Const, right: &Const) -> Option<Const> {
    let is_vector = matches!((left, right), (Const::Vector(_), _) | (_, Const::Vector(_)));
    zip(left, right, |left, right| {
        let ordering = match (scalar(ty, left)?, scalar(ty, right)?) {
            (Value::Int(left), Value::Int(right)) => Some(integer(ty, left).cmp(&integer(ty, right))),
            (Value::Float(left), Value::Float(right)) => left.partial_cmp(&right),
            _ => return None,
        };
        // Comparisons with a NaN are false, except `!=`.
        let holds = match op {
            CompareOp::Less => ordering.is_some_and(|ordering| ordering.is_lt()),
            CompareOp::LessEqual => ordering.is_some_and(|ordering| ordering.is_le()),
            CompareOp::Greater => ordering.is_some_and(|ordering| ordering.is_gt()),
            CompareOp::GreaterEqual => ordering.is_some_and(|ordering| ordering.is_ge()),
            CompareOp::Equal => ordering.is_some_and(|ordering| ordering.is_eq()),
            CompareOp::NotEqual => !ordering.is_some_and(|ordering| ordering.is_eq()),
        };
        Some(Const::Int(if is_vector { (holds as u64).wrapping_neg() } else { holds as u64 }))
    })
}

/// An arithmetic conversion (OpenCL C 6.4.3). Values that an integer type cannot represent are undefined without
/// `_sat`; this returns the nearest value.
pub fn convert(value: &Const, from: Scalar, to: Scalar, conversion: Conversion) -> Option<Const> {
    // Fast path for the most common conversion.
    if let Const::Int(bits) = *value
        && !(from.is_float() || to.is_float() || conversion.saturate)
    {
        return Some(Const::Int(wrap(to, wrap(from, bits))));
    }
    map(value, |value| {
        let value = scalar(from, value)?;
        Some(match value {
            Value::Int(bits) if to.is_float() => {
                let rounding = conversion.rounding.unwrap_or(Rounding::ToEven);
                Const::Float(round_integer(integer(from, bits), Format::for_scalar(to)?, rounding))
            }
            Value::Float(value) if to.is_float() => {
                let rounding = conversion.rounding.unwrap_or(Rounding::ToEven);
                Const::Float(round_float(value, Format::for_scalar(to)?, rounding))
            }
            Value::Int(bits) if to == Scalar::Bool => Const::Int((bits != 0) as u64),
            Value::Float(value) if to == Scalar::Bool => Const::Int((value != 0.0) as u64),
            Value::Int(bits) if conversion.saturate => {
                let (min, max) = limits(to);
                Const::Int(wrap(to, integer(from, bits).clamp(min, max) as u64))
            }
            Value::Int(bits) => Const::Int(wrap(to, bits)),
            Value::Float(value) => {
                let whole = match conversion.rounding.unwrap_or(Rounding::ToZero) {
                    Rounding::ToEven => value.round_ties_even(),
                    Rounding::ToZero => value.trunc(),
                    Rounding::ToPositive => value.ceil(),
                    Rounding::ToNegative => value.floor(),
                };
                // `as` saturates and converts NaN to 0, as `_sat` requires (OpenCL C 6.4.3.3).
                let (min, max) = limits(to);
                Const::Int(wrap(to, (whole as i128).clamp(min, max) as u64))
            }
        })
    })
}

/// Whether a scalar is nonzero.
pub fn is_true(ty: Scalar, value: &Const) -> Option<bool> {
    match scalar(ty, value)? {
        Value::Int(bits) => Some(bits != 0),
        Value::Float(value) => Some(value != 0.0),
    }
}

/// The bytes of a scalar or vector in memory. A 3-component vector has a fourth component of zeros.
pub fn to_bytes(value: &Const, ty: Scalar, count: u8) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::from(count.next_power_of_two()) * ty.size() as usize);
    for component in components(value, count)? {
        match (scalar(ty, &component)?, ty) {
            (Value::Float(value), Scalar::Half) => {
                bytes.extend(binary16::from_f64(value).to_le_bytes());
            }
            (Value::Float(value), Scalar::Float) => bytes.extend((value as f32).to_le_bytes()),
            (Value::Float(value), _) => bytes.extend(value.to_le_bytes()),
            (Value::Int(bits), _) => bytes.extend(&bits.to_le_bytes()[..ty.size() as usize]),
        }
    }
    bytes.resize(usize::from(count.next_power_of_two()) * ty.size() as usize, 0);
    Some(bytes)
}

/// A scalar or vector from its bytes in memory. `None` if there are too few.
pub fn from_bytes(bytes: &[u8], ty: Scalar, count: u8) -> Option<Const> {
    let component = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        match ty {
            Scalar::Half => Const::Float(binary16::to_f64(bits as u16)),
            Scalar::Float => Const::Float(f32::from_bits(bits as u32).into()),
            Scalar::Double => Const::Float(f64::from_bits(bits)),
            _ => Const::Int(wrap(ty, bits)),
        }
    };
    let chunks: Vec<Const> =
        bytes.chunks_exact(ty.size() as usize).take(usize::from(count)).map(component).collect();
    match count {
        _ if chunks.len() != usize::from(count) => None,
        1 => chunks.into_iter().next(),
        _ => Some(Const::Vector(chunks)),
    }
}

/// Reinterprets the bits as another type: `as_type` (OpenCL C 6.4.4.2). `None` unless both types have the same size.
pub fn bitcast(value: &Const, from: (Scalar, u8), to: (Scalar, u8)) -> Option<Const> {
    let bytes = to_bytes(value, from.0, from.1)?;
    let size = to.0.size() as usize * usize::from(to.1.next_power_of_two());
    (bytes.len() == size).then(|| from_bytes(&bytes, to.0, to.1)).flatten()
}

/// The numeric value of a scalar constant.
enum Value {
    Int(u64),
    Float(f64),
}

fn scalar(ty: Scalar, value: &Const) -> Option<Value> {
    match *value {
        Const::Int(bits) if !ty.is_float() => Some(Value::Int(wrap(ty, bits))),
        Const::Float(value) if ty.is_float() => Some(Value::Float(value)),
        Const::Zero if ty.is_float() => Some(Value::Float(0.0)),
        Const::Zero => Some(Value::Int(0)),
        _ => None,
    }
}

/// The components of a vector, or a scalar as one component.
fn components(value: &Const, count: u8) -> Option<Vec<Const>> {
    match value {
        Const::Vector(components) => (components.len() == usize::from(count)).then(|| components.clone()),
        Const::Zero => Some(vec![Const::Zero; usize::from(count)]),
        other => (count == 1).then(|| vec![other.clone()]),
    }
}

fn map(operand: &Const, operation: impl Fn(&Const) -> Option<Const>) -> Option<Const> {
    match operand {
        Const::Vector(components) => {
            components.iter().map(operation).collect::<Option<_>>().map(Const::Vector)
        }
        scalar => operation(scalar),
    }
}

fn zip(left: &Const, right: &Const, operation: impl Fn(&Const, &Const) -> Option<Const>) -> Option<Const> {
    let count = |value: &Const| match value {
        Const::Vector(components) => components.len(),
        _ => 1,
    };
    let width = count(left).max(count(right));
    if width == 1 {
        return operation(left, right);
    }
    let (left, right) = (components(left, width as u8)?, components(right, width as u8)?);
    let results = left.iter().zip(&right).map(|(left, right)| operation(left, right));
    results.collect::<Option<_>>().map(Const::Vector)
}

#[cfg(test)]
mod tests;
