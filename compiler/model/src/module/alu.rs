//! Arithmetic on scalars of up to 64 bits. Must not depend on modules.

use spirv::Op;

/// The lowest bits of a value.
pub(super) fn narrow(value: u64, width: u32) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// The value of a signed number.
pub(super) fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    (value << unused) as i64 >> unused
}

/// The result of an instruction with one or two operands, for results and operands of these widths; `None` if it is not
/// known here. A division by zero has the result 0.
pub(super) fn compute(op: Op, (width, from): (u32, u32), a: u64, b: u64) -> Option<u64> {
    let result = integer(op, from, a, b)
        .or_else(|| compare(op, from, a, b))
        .or_else(|| convert(op, width, from, a))
        .or_else(|| float(op, from, a, b))?;
    Some(narrow(result, width))
}

fn integer(op: Op, width: u32, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (signed(a, width), signed(b, width));
    let shift = (b % u64::from(width.max(1))) as u32;
    Some(match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(0),
        Op::UMod => a.checked_rem(b).unwrap_or(0),
        Op::SDiv if y == 0 => 0,
        Op::SDiv => x.wrapping_div(y) as u64,
        Op::SRem if y == 0 => 0,
        Op::SRem => x.wrapping_rem(y) as u64,
        Op::SMod if y == 0 => 0,
        Op::SMod => (x.wrapping_rem(y).wrapping_add(y)).wrapping_rem(y) as u64,
        Op::SNegate => a.wrapping_neg(),
        Op::Not => !a,
        Op::BitwiseAnd | Op::LogicalAnd => a & b,
        Op::BitwiseOr | Op::LogicalOr => a | b,
        Op::BitwiseXor => a ^ b,
        Op::LogicalNot => a ^ 1,
        Op::LogicalEqual => u64::from(a == b),
        Op::LogicalNotEqual => u64::from(a != b),
        Op::ShiftLeftLogical => a << shift,
        Op::ShiftRightLogical => a >> shift,
        Op::ShiftRightArithmetic => (x >> shift) as u64,
        Op::BitCount => u64::from(a.count_ones()),
        _ => return None,
    })
}

fn compare(op: Op, width: u32, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (signed(a, width), signed(b, width));
    Some(u64::from(match op {
        Op::IEqual | Op::PtrEqual => a == b,
        Op::INotEqual | Op::PtrNotEqual => a != b,
        Op::ULessThan => a < b,
        Op::ULessThanEqual => a <= b,
        Op::UGreaterThan => a > b,
        Op::UGreaterThanEqual => a >= b,
        Op::SLessThan => x < y,
        Op::SLessThanEqual => x <= y,
        Op::SGreaterThan => x > y,
        Op::SGreaterThanEqual => x >= y,
        _ => return None,
    }))
}

fn convert(op: Op, width: u32, from: u32, a: u64) -> Option<u64> {
    let to_bits =
        |value: f64| if width == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
    Some(match op {
        Op::UConvert | Op::CopyObject | Op::ConvertUToPtr | Op::ConvertPtrToU | Op::CopyLogical => a,
        Op::SConvert => signed(a, from) as u64,
        Op::ConvertSToF if width >= 32 => to_bits(signed(a, from) as f64),
        Op::ConvertUToF if width >= 32 => to_bits(a as f64),
        Op::FConvert if width >= 32 && from >= 32 => to_bits(float_from_bits(a, from)),
        Op::ConvertFToS if from >= 32 => float_from_bits(a, from) as i64 as u64,
        Op::ConvertFToU if from >= 32 => float_from_bits(a, from) as u64,
        _ => return None,
    })
}

/// A float of 32 or 64 bits.
fn float_from_bits(bits: u64, width: u32) -> f64 {
    if width == 32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
}

/// Arithmetic of 32 and 64 bits. The result of 32-bit operations in double precision, rounded once more, is exact.
fn float(op: Op, width: u32, a: u64, b: u64) -> Option<u64> {
    if width < 32 {
        return None;
    }
    let (x, y) = (float_from_bits(a, width), float_from_bits(b, width));
    let value = match op {
        Op::FAdd => x + y,
        Op::FSub => x - y,
        Op::FMul => x * y,
        Op::FDiv => x / y,
        Op::FNegate => -x,
        Op::FOrdEqual => return Some(u64::from(x == y)),
        Op::FOrdNotEqual => return Some(u64::from(!x.is_nan() && !y.is_nan() && x != y)),
        Op::FUnordNotEqual => return Some(u64::from(x != y)),
        Op::FOrdLessThan => return Some(u64::from(x < y)),
        Op::FOrdLessThanEqual => return Some(u64::from(x <= y)),
        Op::FOrdGreaterThan => return Some(u64::from(x > y)),
        Op::FOrdGreaterThanEqual => return Some(u64::from(x >= y)),
        _ => return None,
    };
    Some(if width == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() })
}

/// The value that a read-modify-write stores.
pub(super) fn modify(op: Op, width: u32, old: u64, by: u64) -> Option<u64> {
    let (x, y) = (signed(old, width), signed(by, width));
    let new = match op {
        Op::AtomicExchange => by,
        Op::AtomicFlagTestAndSet => 1,
        Op::AtomicIIncrement => old.wrapping_add(1),
        Op::AtomicIDecrement => old.wrapping_sub(1),
        Op::AtomicIAdd => old.wrapping_add(by),
        Op::AtomicISub => old.wrapping_sub(by),
        Op::AtomicAnd => old & by,
        Op::AtomicOr => old | by,
        Op::AtomicXor => old ^ by,
        Op::AtomicUMin => old.min(by),
        Op::AtomicUMax => old.max(by),
        Op::AtomicSMin => x.min(y) as u64,
        Op::AtomicSMax => x.max(y) as u64,
        Op::AtomicFAddEXT => return float(Op::FAdd, width, old, by),
        _ => return None,
    };
    Some(narrow(new, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_has_the_width_of_its_type() {
        let all_ones = u64::from(u32::MAX);
        assert_eq!(compute(Op::IAdd, (32, 32), all_ones, 1), Some(0));
        assert_eq!(compute(Op::SDiv, (32, 32), all_ones, 1), Some(all_ones));
        assert_eq!(compute(Op::SLessThan, (1, 32), all_ones, 0), Some(1));
        assert_eq!(compute(Op::SConvert, (64, 32), all_ones, 0), Some(u64::MAX));
        assert_eq!(compute(Op::UDiv, (32, 32), 7, 0), Some(0));
        let two = u64::from(2.0_f32.to_bits());
        assert_eq!(compute(Op::FMul, (32, 32), two, two), Some(u64::from(4.0_f32.to_bits())));
        assert_eq!(modify(Op::AtomicSMax, 32, all_ones, 0), Some(0));
        assert_eq!(modify(Op::AtomicISub, 32, 0, 1), Some(all_ones));
        assert_eq!(compute(Op::Store, (32, 32), 0, 0), None);
    }
}
