//! Tests of rounding and folding against hand-computed values.

use super::*;
use Scalar::{Char, Double, Float, Half, Int, Long, Short, UChar, UInt, ULong, UShort};

const DEFAULT: Conversion = Conversion { rounding: None, saturate: false };

fn int(ty: Scalar, value: i128) -> Const {
    Const::Int(wrap(ty, value as u64))
}

fn float(value: f64) -> Const {
    Const::Float(value)
}

#[test]
fn integers_wrap_at_their_width() {
    for (op, ty, left, right, expected) in [
        (BinaryOp::Add, Int, i32::MAX.into(), 1, i32::MIN.into()),
        (BinaryOp::Add, UInt, u32::MAX.into(), 1, 0),
        (BinaryOp::Multiply, Char, 100, 3, 44),
        (BinaryOp::Subtract, UChar, 0, 1, 255),
        (BinaryOp::Divide, Int, -7, 2, -3),
        (BinaryOp::Remainder, Int, -7, 2, -1),
        (BinaryOp::Divide, ULong, u64::MAX.into(), 2, (u64::MAX / 2).into()),
        (BinaryOp::Divide, Long, i64::MIN.into(), -1, i64::MIN.into()),
        (BinaryOp::ShiftLeft, Int, 1, 33, 2),
        (BinaryOp::ShiftLeft, Char, 1, 7, -128),
        (BinaryOp::ShiftRight, Int, -8, 1, -4),
        (BinaryOp::ShiftRight, UInt, 0x8000_0000, 31, 1),
        (BinaryOp::ShiftRight, Long, -1, 64 + 63, -1),
        (BinaryOp::BitXor, UShort, 0xffff, 0x0ff0, 0xf00f),
    ] {
        assert_eq!(binary(op, ty, &int(ty, left), &int(ty, right)), Some(int(ty, expected)), "{op:?} {ty:?}");
    }
}

#[test]
fn operations_without_a_value() {
    for ty in [Int, ULong] {
        for op in [BinaryOp::Divide, BinaryOp::Remainder] {
            assert_eq!(binary(op, ty, &int(ty, 1), &int(ty, 0)), None);
        }
    }
    assert_eq!(binary(BinaryOp::BitAnd, Float, &float(1.0), &float(1.0)), None);
    assert_eq!(binary(BinaryOp::Add, Int, &Const::Undefined, &int(Int, 1)), None);
    assert_eq!(unary(UnaryOp::BitNot, Float, &float(1.0)), None);
}

#[test]
fn only_signed_types_overflow() {
    assert!(overflows(BinaryOp::Add, Int, &int(Int, i32::MAX.into()), &int(Int, 1)));
    assert!(overflows(BinaryOp::Divide, Int, &int(Int, i32::MIN.into()), &int(Int, -1)));
    assert!(overflows(BinaryOp::Multiply, Long, &int(Long, i64::MAX.into()), &int(Long, 2)));
    assert!(!overflows(BinaryOp::Add, UInt, &int(UInt, u32::MAX.into()), &int(UInt, 1)));
    assert!(!overflows(BinaryOp::ShiftLeft, Int, &int(Int, 1), &int(Int, 31)));
}

#[test]
fn floats_round_in_their_own_format() {
    let third = |ty| binary(BinaryOp::Divide, ty, &float(1.0), &float(3.0));
    assert_eq!(third(Float), Some(float((1.0_f32 / 3.0).into())));
    assert_eq!(third(Double), Some(float(1.0 / 3.0)));
    assert_eq!(third(Half), Some(float(binary16::to_f64(0x3555))));
    assert_eq!(binary(BinaryOp::Add, Half, &float(2048.0), &float(1.0)), Some(float(2048.0)));
    assert_eq!(binary(BinaryOp::Multiply, Half, &float(65504.0), &float(2.0)), Some(float(f64::INFINITY)));
    assert_eq!(binary(BinaryOp::Divide, Float, &float(1.0), &float(0.0)), Some(float(f64::INFINITY)));
}

/// Compares every operation on many bit patterns with the processor's result.
#[test]
fn float_operations_match_f32() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        f32::from_bits((state >> 32) as u32)
    };
    for _ in 0..20_000 {
        let (left, right) = (next(), next());
        if left.is_nan() || right.is_nan() {
            continue;
        }
        for (op, expected) in [
            (BinaryOp::Add, left + right),
            (BinaryOp::Subtract, left - right),
            (BinaryOp::Multiply, left * right),
            (BinaryOp::Divide, left / right),
        ] {
            let result = binary(op, Float, &float(left.into()), &float(right.into()));
            let Some(Const::Float(result)) = result else { panic!("{op:?} gives a value") };
            assert!(
                result.to_bits() == f64::from(expected).to_bits() || result.is_nan() && expected.is_nan(),
                "{left:e} {op:?} {right:e}: {result:e}, not {expected:e}"
            );
        }
    }
}

#[test]
fn rounding_to_float_matches_the_processor() {
    let mut state = 7_u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // Exponents in and beyond the range of `float`, including denormals.
        let exponent = 1023 - 160 + (state >> 40) % 300;
        let value = f64::from_bits(state << 63 | exponent << 52 | (state >> 12));
        let value =
            if state & 2 == 0 { value } else { f64::from_bits(value.to_bits() & !0x1fff_ffff | 0x1000_0000) };
        assert_eq!(round_float(value, Format::FLOAT, Rounding::ToEven), f64::from(value as f32), "{value:e}");
        let integer = state as i64;
        assert_eq!(
            round_integer(integer.into(), Format::FLOAT, Rounding::ToEven),
            f64::from(integer as f32),
            "{integer}"
        );
        assert_eq!(round_integer(integer.into(), Format::DOUBLE, Rounding::ToEven), integer as f64);
    }
}

#[test]
fn directed_rounding_brackets_the_value() {
    let tenth = 0.1;
    let down = round_float(tenth, Format::HALF, Rounding::ToNegative);
    let up = round_float(tenth, Format::HALF, Rounding::ToPositive);
    assert!(down < tenth && tenth < up);
    assert_eq!(binary16::from_f64(up) - binary16::from_f64(down), 1);
    assert_eq!(round_float(-tenth, Format::HALF, Rounding::ToZero), -down);
    assert_eq!(round_float(-tenth, Format::HALF, Rounding::ToNegative), -up);
    assert_eq!(round_float(1e10, Format::HALF, Rounding::ToZero), 65504.0);
    assert_eq!(round_float(1e10, Format::HALF, Rounding::ToPositive), f64::INFINITY);
    assert_eq!(round_float(-1e10, Format::HALF, Rounding::ToPositive), -65504.0);
    let tiny = f64::from_bits(1);
    assert_eq!(round_float(tiny, Format::HALF, Rounding::ToPositive), 2.0_f64.powi(-24));
    assert_eq!(round_float(tiny, Format::FLOAT, Rounding::ToEven), 0.0);
    // A tie in `half` that is broken by the low bits of the `double`.
    let above = f64::from_bits(2049.0_f64.to_bits() + 1);
    assert_eq!(round_float(2049.0, Format::HALF, Rounding::ToEven), 2048.0);
    assert_eq!(round_float(above, Format::HALF, Rounding::ToEven), 2050.0);
}

#[test]
fn comparisons_are_folded() {
    let (minus, one) = (int(Int, -1), int(Int, 1));
    assert_eq!(compare(CompareOp::Less, Int, &minus, &one), Some(Const::Int(1)));
    assert_eq!(compare(CompareOp::Less, UInt, &int(UInt, -1), &int(UInt, 1)), Some(Const::Int(0)));
    let nan = float(f64::NAN);
    for op in [CompareOp::Less, CompareOp::GreaterEqual, CompareOp::Equal] {
        assert_eq!(compare(op, Float, &nan, &nan), Some(Const::Int(0)));
    }
    assert_eq!(compare(CompareOp::NotEqual, Float, &nan, &nan), Some(Const::Int(1)));
    let left = Const::Vector(vec![float(1.0), float(2.0)]);
    let right = Const::Vector(vec![float(1.0), float(3.0)]);
    let expected = Const::Vector(vec![Const::Int(u64::MAX), Const::Int(0)]);
    assert_eq!(compare(CompareOp::Equal, Float, &left, &right), Some(expected));
    assert_eq!(
        compare(CompareOp::NotEqual, Int, &Const::Zero, &Const::Vector(vec![one, int(Int, 0)])),
        Some(Const::Vector(vec![Const::Int(u64::MAX), Const::Int(0)]))
    );
}

#[test]
fn conversions_are_folded() {
    let sat = |rounding| Conversion { rounding, saturate: true };
    let rounded = |rounding| Conversion { rounding: Some(rounding), saturate: false };
    for (value, from, to, conversion, expected) in [
        (float(1.9), Double, Int, DEFAULT, int(Int, 1)),
        (float(-1.9), Double, Int, DEFAULT, int(Int, -1)),
        (float(2.5), Double, Int, rounded(Rounding::ToEven), int(Int, 2)),
        (float(2.1), Double, Int, rounded(Rounding::ToPositive), int(Int, 3)),
        (float(-2.1), Double, Int, rounded(Rounding::ToNegative), int(Int, -3)),
        (float(300.0), Float, UChar, sat(None), int(UChar, 255)),
        (float(-5.0), Float, UChar, sat(None), int(UChar, 0)),
        (float(f64::NAN), Float, Int, sat(None), int(Int, 0)),
        (float(f64::INFINITY), Float, Long, sat(None), int(Long, i64::MAX.into())),
        (float(254.5), Float, UChar, sat(Some(Rounding::ToPositive)), int(UChar, 255)),
        (int(Int, 300), Int, UChar, DEFAULT, int(UChar, 44)),
        (int(Int, -1), Int, ULong, DEFAULT, int(ULong, -1)),
        (int(Int, -1), Int, UInt, sat(None), int(UInt, 0)),
        (int(UInt, u32::MAX.into()), UInt, Short, sat(None), int(Short, i16::MAX.into())),
        (int(Int, 7), Int, Scalar::Bool, DEFAULT, Const::Int(1)),
        (float(0.5), Float, Scalar::Bool, DEFAULT, Const::Int(1)),
        (int(Int, 16_777_217), Int, Float, DEFAULT, float(16_777_216.0)),
        (int(Int, 16_777_217), Int, Float, rounded(Rounding::ToPositive), float(16_777_218.0)),
        (int(ULong, u64::MAX.into()), ULong, Float, rounded(Rounding::ToZero), float(18446742974197923840.0)),
        (float(0.1), Double, Float, DEFAULT, float(0.1_f32.into())),
    ] {
        assert_eq!(
            convert(&value, from, to, conversion).as_ref(),
            Some(&expected),
            "{value:?} {from:?} {to:?}"
        );
    }
}

#[test]
fn bitcasts_are_folded() {
    assert_eq!(bitcast(&float(1.0), (Float, 1), (UInt, 1)), Some(Const::Int(0x3f80_0000)));
    let bytes = Const::Vector([1, 2, 3, -1].map(|byte| int(Char, byte)).to_vec());
    assert_eq!(bitcast(&bytes, (Char, 4), (Int, 1)), Some(int(Int, 0xff030201_u32 as i32 as i128)));
    assert_eq!(bitcast(&int(Int, 1), (Int, 1), (Short, 1)), None);
    let three = Const::Vector(vec![int(UShort, 1), int(UShort, 2), int(UShort, 3)]);
    assert_eq!(to_bytes(&three, UShort, 3), Some(vec![1, 0, 2, 0, 3, 0, 0, 0]));
    assert_eq!(bitcast(&float(-2.0), (Half, 1), (UShort, 1)), Some(Const::Int(0xc000)));
    let nan = bitcast(&int(Int, i32::MAX.into()), (Int, 1), (Float, 1));
    assert!(matches!(nan, Some(Const::Float(value)) if value.is_nan()));
}

#[test]
fn unary_operations_are_folded() {
    assert_eq!(unary(UnaryOp::Negate, UInt, &int(UInt, 1)), Some(int(UInt, u32::MAX.into())));
    assert_eq!(unary(UnaryOp::BitNot, UChar, &int(UChar, 0x0f)), Some(int(UChar, 0xf0)));
    let Some(Const::Float(zero)) = unary(UnaryOp::Negate, Float, &Const::Zero) else { panic!("a value") };
    assert!(zero.is_sign_negative());
}
