//! The three floating-point types: their bits as MPFR numbers, which represent them exactly.

use rug::{Float, float::Special};

/// The precision of the reference: its errors are negligible compared with the measured ones.
pub(crate) const PRECISION: u32 = 320;

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Half,
    Float,
    Double,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        ["half", "float", "double"][self as usize]
    }

    /// The first lines of a program that uses the type.
    pub(crate) const fn pragma(self) -> &'static str {
        [
            "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n",
            "",
            "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
        ][self as usize]
    }

    /// The name of a buffer's type.
    pub(crate) const fn argument(self) -> &'static str {
        ["u16", "f32", "f64"][self as usize]
    }

    pub(crate) const fn bits_argument(self) -> &'static str {
        ["u16", "u32", "u64"][self as usize]
    }

    /// The unsigned type of the same size.
    pub(crate) const fn bits_name(self) -> &'static str {
        ["ushort", "uint", "ulong"][self as usize]
    }

    /// The signed type of the same size.
    pub(crate) const fn int_name(self) -> &'static str {
        ["short", "int", "long"][self as usize]
    }

    pub(crate) const fn size(self) -> usize {
        [2, 4, 8][self as usize]
    }

    /// Bits of the significand, the hidden one too.
    pub(crate) const fn digits(self) -> u32 {
        [11, 24, 53][self as usize]
    }

    /// The exponent of the least normal number.
    pub(crate) const fn min_exponent(self) -> i32 {
        [-14, -126, -1022][self as usize]
    }

    /// The exponent of the largest number.
    pub(crate) const fn max_exponent(self) -> i32 {
        [15, 127, 1023][self as usize]
    }

    pub(crate) const fn sign_bit(self) -> u64 {
        1 << (self.size() * 8 - 1)
    }

    pub(crate) const fn all_bits(self) -> u64 {
        self.sign_bit() | (self.sign_bit() - 1)
    }

    pub(crate) const fn infinity(self) -> u64 {
        (2 * self.max_exponent() as u64 + 1) << (self.digits() - 1)
    }

    pub(crate) fn is_denormal(self, bits: u64) -> bool {
        let size = bits & !self.sign_bit();
        size != 0 && size < 1 << (self.digits() - 1)
    }

    /// The number of these bits.
    pub(crate) fn decode(self, bits: u64) -> Float {
        let is_negative = bits & self.sign_bit() != 0;
        let size = bits & !self.sign_bit();
        let special = |special| Float::with_val(PRECISION, special);
        let value = if size > self.infinity() {
            special(Special::Nan)
        } else if size == self.infinity() {
            special(Special::Infinity)
        } else {
            let fraction = size & ((1 << (self.digits() - 1)) - 1);
            let biased = (size >> (self.digits() - 1)) as i32;
            let whole = if biased == 0 { fraction } else { fraction | 1 << (self.digits() - 1) };
            let exponent = biased.max(1) - 1 + self.min_exponent() - (self.digits() as i32 - 1);
            Float::with_val(PRECISION, whole) << exponent
        };
        if is_negative { -value } else { value }
    }

    /// The bits of the number nearest to this one.
    pub(crate) fn encode(self, value: f64) -> u64 {
        match self {
            Self::Double => value.to_bits(),
            Self::Float => (value as f32).to_bits().into(),
            Self::Half => {
                // Searches among the exact values of all numbers: there are few.
                let sign = if value.is_sign_negative() { self.sign_bit() } else { 0 };
                let size = value.abs();
                let mut low = 0u64;
                let mut high = self.infinity();
                while high - low > 1 {
                    let middle = (low + high) / 2;
                    if self.decode(middle).to_f64() <= size { low = middle } else { high = middle }
                }
                sign | low
            }
        }
    }
}
