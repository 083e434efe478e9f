//! Conversions between `half` (IEEE 754 binary16) and `double`, rounded once.
//!
//! Existing crates convert through `float`, which rounds twice, and need build dependencies such as a Rust parser.

/// The exponent of the smallest normal number.
const LOWEST: i32 = -14;

/// Rounds to the nearest half, ties to even. Returns its bits.
pub fn from_f64(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00 | (value.to_bits() >> 42) as u16 & 0x1ff;
    }
    // Half a unit above the largest finite number is a tie, and infinity is the even neighbor.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(LOWEST);
    // Exact: a power of two.
    let units = (magnitude * power_of_two(10 - exponent)).round_ties_even() as u16;
    // Denormals have no implicit bit. Rounding up to the next power of two carries into the exponent.
    sign | ((((exponent - LOWEST) as u16) << 10) + units)
}

/// Converts bits to a number. A signaling NaN becomes quiet.
pub fn to_f64(bits: u16) -> f64 {
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = bits & 0x3ff;
    let magnitude = match exponent {
        0x1f if fraction == 0 => f64::INFINITY,
        0x1f => f64::from_bits(0x7ff8 << 48 | u64::from(fraction) << 42),
        0 => f64::from(fraction) * power_of_two(LOWEST - 10),
        _ => f64::from(fraction | 0x400) * power_of_two(exponent - 25),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_round_trips() {
        for bits in 0..=u16::MAX {
            let value = to_f64(bits);
            let quiet = if value.is_nan() { 0x200 } else { 0 };
            assert_eq!(from_f64(value), bits | quiet, "{value}");
        }
        assert_eq!([0x3c00, 0xc000, 0x7bff, 0x0001].map(to_f64), [1.0, -2.0, 65504.0, 1.0 / 16_777_216.0]);
    }

    /// A value between two neighbors rounds to the nearer one, and a tie to the even one.
    #[test]
    fn other_numbers_are_rounded_once() {
        for bits in 0..0x7bff_u16 {
            let middle = (to_f64(bits) + to_f64(bits + 1)) / 2.0;
            assert_eq!(from_f64(middle.next_down()), bits);
            assert_eq!(from_f64(middle), bits + (bits & 1));
            assert_eq!(from_f64(middle.next_up()), bits + 1);
        }
        assert_eq!([65519.999, 65520.0, -1e300].map(from_f64), [0x7bff, 0x7c00, 0xfc00]);
        assert_eq!([0.0, -0.0, 1e-300].map(from_f64), [0, 0x8000, 0]);
    }
}
