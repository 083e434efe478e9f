//! Results at an edge of the range that Vulkan allows (Vulkan, "Precision and Operation of SPIR-V Instructions").
//!
//! Owns the ranges. A driver may return any result in the range, so a program that is correct only with the nearest results
//! depends on the driver. For a formula with several steps, the error here is at most that of the formula.

use spirv::{GlslStd450Op as Glsl, Op};

use super::{Lane, from_f64, to_f64};
use crate::types::Scalar;

/// The results of operations for which Vulkan allows several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Results {
    /// The most precise result, with denormal numbers.
    #[default]
    Nearest,
    /// The least number. Denormal numbers become zero where Vulkan allows it.
    Lowest,
    /// The greatest number. Denormal numbers become zero where Vulkan allows it.
    Highest,
}

/// An instruction or a function of GLSL.std.450.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    Core(Op),
    Glsl(Glsl),
}

/// The deviations from the nearest result that the module allows for an operation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tolerance {
    /// Whether the result is the greatest allowed one instead of the least.
    pub(crate) highest: bool,
    /// Whether inexact results are rounded in either direction, without `RoundingModeRTE`.
    pub(crate) rounds_either_way: bool,
    /// Whether denormal operands and results may become zero, without `DenormPreserve`.
    pub(crate) flushes: bool,
    /// Whether the operation may be combined with others, without `NoContraction`.
    pub(crate) contracts: bool,
}

/// An operation with several allowed results.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Imprecise {
    pub(crate) operation: Operation,
    /// Computes the nearest result.
    pub(crate) nearest: Lane,
    /// The type of the operands.
    pub(crate) scalar: Scalar,
    pub(crate) tolerance: Tolerance,
}

impl Imprecise {
    /// The operation, if it has several allowed results.
    pub(crate) fn new(
        operation: Operation,
        nearest: Lane,
        scalar: Scalar,
        mut tolerance: Tolerance,
    ) -> Option<Self> {
        let is_of_floats = scalar.is_float() && operation.computes();
        tolerance.flushes |= !operation.preserves_denormals();
        is_of_floats.then_some(Self { operation, nearest, scalar, tolerance })
    }

    /// The result for these operands.
    pub(crate) fn result(&self, operands: [u64; 3]) -> u64 {
        let [a, b, c] =
            operands.map(|bits| if self.tolerance.flushes { flushed(self.scalar, bits) } else { bits });
        let nearest = match self.nearest {
            Lane::One(f) => f(a),
            Lane::Two(f) => f(a, b),
            Lane::Three(f) => f(a, b, c),
        };
        if self.operation.is_comparison() {
            return nearest;
        }
        let values = [a, b, c].map(|bits| to_f64(self.scalar, bits));
        let result = self.at_edge(nearest, values);
        if self.tolerance.flushes { flushed(self.scalar, result) } else { result }
    }

    fn at_edge(&self, nearest: u64, [a, b, c]: [f64; 3]) -> u64 {
        let value = to_f64(self.scalar, nearest);
        let zeros =
            matches!(self.operation, Operation::Glsl(Glsl::NMin | Glsl::NMax)) && a == 0.0 && b == 0.0;
        if zeros && a.is_sign_negative() != b.is_sign_negative() {
            return from_f64(self.scalar, if self.tolerance.highest { 0.0 } else { -0.0 });
        }
        let error = self.error([a, b, c], value);
        if value.is_nan() || value.is_infinite() && !matches!(error, Error::Any) {
            return nearest;
        }
        let rounded = match self.rounding_error([a, b, c], value) {
            Some(error) if error != 0.0 => {
                let outward = (error > 0.0) == self.tolerance.highest;
                u64::from(self.tolerance.rounds_either_way && outward) + u64::from(self.tolerance.contracts)
            }
            _ => 0,
        };
        match error {
            Error::Ulps(0) if rounded == 0 => nearest,
            Error::Ulps(_) if value == 0.0 => nearest,
            Error::Ulps(count) => move_by_ulps(self.scalar, nearest, count + rounded, self.tolerance.highest),
            Error::Absolute(size) => {
                from_f64(self.scalar, if self.tolerance.highest { value + size } else { value - size })
            }
            Error::Unfused => {
                let product = from_f64(self.scalar, a * b);
                let sum = from_f64(self.scalar, to_f64(self.scalar, product) + c);
                if self.tolerance.highest { sum } else { nearest }
            }
            Error::Any => from_f64(self.scalar, if self.tolerance.highest { 3.0 } else { -3.0 }),
        }
    }

    /// The error of a correctly rounded sum or product: its exact value less the nearest one.
    fn rounding_error(&self, [a, b, _]: [f64; 3], nearest: f64) -> Option<f64> {
        let sum = |a: f64, b: f64| {
            let sum = a + b;
            let part = sum - a;
            let rest = (a - (sum - part)) + (b - part);
            (sum - nearest) + rest
        };
        match self.operation {
            Operation::Core(Op::FAdd) => Some(sum(a, b)),
            Operation::Core(Op::FSub) => Some(sum(a, -b)),
            Operation::Core(Op::FMul) => Some(a.mul_add(b, -nearest)),
            _ => None,
        }
    }

    /// The error that is allowed besides that of the nearest result, which is up to half a unit in the last place.
    fn error(&self, [a, b, _]: [f64; 3], value: f64) -> Error {
        let (half, range) = match self.scalar {
            Scalar::F16 => (true, 14),
            Scalar::F32 => (false, 126),
            _ => (false, 1022),
        };
        let exponential = if half { 0.5 } else { 2.5 };
        let ulps = |ulps: f64| Error::Ulps(ulps as u64);
        let is_between = |low: f64, high: f64| (low..=high).contains(&a);
        match self.operation {
            Operation::Core(Op::FDiv) => {
                let is_precise = b == 0.0 || !b.is_finite() || {
                    let min = 2f64.powi(-range);
                    (min..=2f64.powi(range)).contains(&b.abs())
                };
                if is_precise { Error::Ulps(2) } else { Error::Any }
            }
            Operation::Core(_) => Error::Ulps(0),
            // Absolute errors are a little less than the bound, as the nearest result has one, too.
            Operation::Glsl(function) => match function {
                Glsl::Fma => Error::Unfused,
                Glsl::Exp | Glsl::Exp2 => ulps(exponential + 2.0 * a.abs().min(2000.0)),
                Glsl::Log | Glsl::Log2 if is_between(0.5, 2.0) => {
                    Error::Absolute(if half { 0.9 / 128.0 } else { 0.9 / 2_097_152.0 })
                }
                Glsl::Log | Glsl::Log2 => Error::Ulps(2),
                // 2^(b log2(a)), with the errors of the logarithm and the product.
                Glsl::Pow => ulps(2.5 + 2.0 * (b * a.log2()).abs().min(2000.0)),
                Glsl::Sqrt => Error::Ulps(4),
                Glsl::InverseSqrt => Error::Ulps(1),
                Glsl::Sin | Glsl::Cos if is_between(-std::f64::consts::PI, std::f64::consts::PI) => {
                    Error::Absolute(if half { 0.9 / 128.0 } else { 0.9 / 2048.0 })
                }
                Glsl::Sin | Glsl::Cos => Error::Any,
                Glsl::Tan => Error::Absolute(value.abs() / 1024.0),
                Glsl::Asin | Glsl::Acos | Glsl::Atan | Glsl::Atan2 => {
                    Error::Ulps(if half { 4 } else { 4095 })
                }
                Glsl::Sinh | Glsl::Cosh | Glsl::Tanh => ulps(exponential + 2.0 * a.abs().min(2000.0)),
                Glsl::Asinh | Glsl::Acosh | Glsl::Atanh => Error::Ulps(2),
                Glsl::Radians | Glsl::Degrees => Error::Ulps(1),
                Glsl::FMix | Glsl::SmoothStep => Error::Ulps(2),
                _ => Error::Ulps(0),
            },
        }
    }
}

/// The allowed error of a result.
enum Error {
    /// Units in the last place.
    Ulps(u64),
    Absolute(f64),
    /// The product is rounded before the sum, or it is not.
    Unfused,
    /// No limit.
    Any,
}

impl Operation {
    /// Whether it computes with numbers, instead of moving or inspecting bits.
    fn computes(self) -> bool {
        self.is_comparison()
            || matches!(
                self,
                Self::Core(Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod) | Self::Glsl(_)
            )
    }

    const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Core(
                Op::FOrdEqual
                    | Op::FUnordEqual
                    | Op::FOrdNotEqual
                    | Op::FUnordNotEqual
                    | Op::FOrdLessThan
                    | Op::FUnordLessThan
                    | Op::FOrdLessThanEqual
                    | Op::FUnordLessThanEqual
                    | Op::FOrdGreaterThan
                    | Op::FUnordGreaterThan
                    | Op::FOrdGreaterThanEqual
                    | Op::FUnordGreaterThanEqual
            )
        )
    }

    /// Whether it must respect `DenormPreserve`. Others may flush denormal numbers even with this mode.
    const fn preserves_denormals(self) -> bool {
        match self {
            Self::Core(op) => !matches!(op, Op::FDiv | Op::FRem | Op::FMod),
            Self::Glsl(function) => matches!(
                function,
                Glsl::FAbs
                    | Glsl::FSign
                    | Glsl::Radians
                    | Glsl::Degrees
                    | Glsl::FMin
                    | Glsl::FMax
                    | Glsl::FClamp
                    | Glsl::FMix
                    | Glsl::Fma
                    | Glsl::NMin
                    | Glsl::NMax
                    | Glsl::NClamp
            ),
        }
    }
}

/// The bits of a number, where a denormal number becomes a zero with its sign.
pub(crate) const fn flushed(scalar: Scalar, bits: u64) -> u64 {
    let (exponent, sign) = match scalar {
        Scalar::F16 => (0x7c00, 1 << 15),
        Scalar::F32 => (0x7f80_0000, 1 << 31),
        _ => (0x7ff0_0000_0000_0000, 1 << 63),
    };
    if bits & exponent == 0 { bits & sign } else { bits }
}

/// The finite number that is this number of units in the last place above or below, on the same side of zero.
fn move_by_ulps(scalar: Scalar, bits: u64, units: u64, upward: bool) -> u64 {
    let (greatest, digits, sign): (u64, u32, u64) = match scalar {
        Scalar::F16 => (0x7bff, 10, 1 << 15),
        Scalar::F32 => (0x7f7f_ffff, 23, 1 << 31),
        _ => (0x7fef_ffff_ffff_ffff, 52, 1 << 63),
    };
    let (size, is_negative) = (bits & !sign, bits & sign != 0);
    let size = if upward == is_negative {
        size.saturating_sub(units).max(1)
    } else {
        // Beyond the next power of two, a step is two units.
        let power = ((size >> digits) + 1) << digits;
        let below = units.min(power - size);
        (size + below + (units - below) / 2).min(greatest)
    };
    size | (bits & sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu;

    fn core(op: Op, tolerance: Tolerance, a: f32, b: f32) -> f32 {
        let nearest = Lane::Two(alu::float_binary(op, Scalar::F32).expect("a binary instruction"));
        let imprecise = Imprecise::new(Operation::Core(op), nearest, Scalar::F32, tolerance)
            .expect("several allowed results");
        f32::from_bits(imprecise.result([a.to_bits().into(), b.to_bits().into(), 0]) as u32)
    }

    fn glsl(function: Glsl, highest: bool, operands: [f32; 3]) -> f32 {
        let nearest = alu::glsl(function, Scalar::F32).expect("a function");
        let tolerance = Tolerance { highest, ..Tolerance::default() };
        let imprecise = Imprecise::new(Operation::Glsl(function), nearest, Scalar::F32, tolerance)
            .expect("several allowed results");
        f32::from_bits(imprecise.result(operands.map(|it| it.to_bits().into())) as u32)
    }

    #[test]
    fn sums_and_products_round_either_way_without_a_mode() {
        let free = |highest| Tolerance { highest, rounds_either_way: true, ..Tolerance::default() };
        let fixed = |highest| Tolerance { highest, ..Tolerance::default() };
        for (op, a, b) in [(Op::FAdd, 1.0, 1e-9), (Op::FSub, 1.0, 1e-9), (Op::FMul, 1.1, 1.3)] {
            let [low, high] = [false, true].map(|highest| core(op, free(highest), a, b));
            assert_eq!(high, low.next_up(), "{op:?}: one of the two is the nearest");
            assert_eq!(core(op, fixed(false), a, b), core(op, fixed(true), a, b), "{op:?}");
        }
        assert_eq!(core(Op::FAdd, free(true), 1.0, 2.0), 3.0, "exact results are not changed");
        assert_eq!(core(Op::FMul, free(false), 0.5, 3.0), 1.5);
    }

    #[test]
    fn denormal_numbers_become_zero_without_a_mode() {
        let flushes = Tolerance { flushes: true, ..Tolerance::default() };
        assert_eq!(core(Op::FAdd, flushes, 1e-40, 0.0), 0.0);
        assert_eq!(core(Op::FAdd, Tolerance::default(), 1e-40, 0.0), 1e-40);
        assert_eq!(
            core(Op::FDiv, Tolerance::default(), 1e-38, 4.0),
            0.0,
            "a quotient need not respect the mode"
        );
    }

    #[test]
    fn quotients_by_great_numbers_have_any_error() {
        for x in [1.0, f32::INFINITY] {
            assert_eq!(core(Op::FDiv, Tolerance::default(), x, f32::MAX), -3.0);
        }
        assert_eq!(core(Op::FDiv, Tolerance::default(), f32::INFINITY, 1.0), f32::INFINITY);
        assert_eq!(core(Op::FDiv, Tolerance::default(), 1.0, f32::INFINITY), 0.0);
    }

    #[test]
    fn errors_are_those_of_the_table() {
        let edges = |function, x| [false, true].map(|highest| glsl(function, highest, [x, 0.0, 0.0]));
        let steps = |[low, high]: [f32; 2]| high.to_bits() - low.to_bits();
        assert_eq!(steps(edges(Glsl::InverseSqrt, 3.0)), 2);
        assert_eq!(steps(edges(Glsl::Sqrt, 3.0)), 8);
        assert_eq!(steps(edges(Glsl::Exp2, 4.5)), 22);
        let [low, high] = edges(Glsl::Sin, 1.0);
        assert!(high - low > 0.0008 && high - low < 0.001);
        let [low, high] = edges(Glsl::Log2, 1.0);
        assert!(low < 0.0 && high > 0.0, "an absolute error around one");
        let quotients = [false, true]
            .map(|highest| core(Op::FDiv, Tolerance { highest, ..Tolerance::default() }, 6.0, 3.0));
        assert_eq!(steps(quotients), 4);
        // One unit above the greatest number below 1 is half a step beyond 1.
        let quotients =
            core(Op::FDiv, Tolerance { highest: true, ..Tolerance::default() }, 1.0f32.next_down(), 1.0);
        assert_eq!(quotients, 1.0);
        let fused = [false, true].map(|highest| glsl(Glsl::Fma, highest, [1.1, 1.1, -1.21]));
        assert_ne!(fused[0], fused[1]);
    }
}
