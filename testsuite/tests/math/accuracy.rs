//! The error of a result in units in the last place (OpenCL C 7.4), and the valid results if denormals are flushed.

use rug::Float;

use super::{
    functions::{Arguments, Function},
    number::{Kind, PRECISION},
};

/// The results of one function.
pub(crate) struct Judge {
    /// The largest error within the bound.
    pub(crate) worst: f64,
    pub(crate) failures: Vec<String>,
}

/// The maximum number of reported failures of a function.
const MAX_REPORTED: usize = 5;

impl Judge {
    /// `flushes`: the device may treat denormal floats as zero, as OpenCL allows (7.5.3).
    pub(crate) fn new(
        kind: Kind,
        flushes: bool,
        function: &Function,
        operands: &[Vec<u64>],
        results: &[u64],
    ) -> Self {
        let bound = function.bound(kind);
        let mut judge = Self { worst: 0.0, failures: Vec::new() };
        let mut missed = 0usize;
        for (index, &got) in results.iter().enumerate() {
            let bits: Vec<u64> = operands.iter().map(|operand| operand[index]).collect();
            let exact = (function.exact)(&Arguments::new(kind, &bits));
            let mut off = error(kind, function, got, &exact);
            if off > bound && flushes {
                off = off.min(flushed(kind, function, &bits, got, bound));
            }
            if off <= bound {
                judge.worst = judge.worst.max(off);
                continue;
            }
            missed += 1;
            if judge.failures.len() < MAX_REPORTED {
                let inputs: Vec<String> =
                    bits.iter().map(|&it| format!("{:e} ({it:#x})", kind.decode(it).to_f64())).collect();
                judge.failures.push(format!(
                    "{} of {} {}: {:e} ({got:#x}) and not {:e}: {off:.3} ulp",
                    function.call,
                    kind.name(),
                    inputs.join(", "),
                    kind.decode(got).to_f64(),
                    exact.to_f64()
                ));
            }
        }
        if missed > MAX_REPORTED {
            judge.failures.push(format!("… {} of {} points", missed, results.len()));
        }
        judge
    }
}

/// The error if denormal operands, or a denormal result, may be zero.
fn flushed(kind: Kind, function: &Function, bits: &[u64], got: u64, bound: f64) -> f64 {
    let mut least = f64::INFINITY;
    // A flushed denormal operand can be a zero of either sign.
    let choices: Vec<Vec<u64>> =
        bits.iter()
            .map(|&it| {
                if kind.is_denormal(it) {
                    vec![it, it & kind.sign_bit(), 0, kind.sign_bit()]
                } else {
                    vec![it]
                }
            })
            .collect();
    let total: usize = choices.iter().map(Vec::len).product();
    for number in 0..total {
        let mut rest = number;
        let chosen: Vec<u64> = choices
            .iter()
            .map(|own| {
                let one = own[rest % own.len()];
                rest /= own.len();
                one
            })
            .collect();
        let exact = (function.exact)(&Arguments::new(kind, &chosen));
        least = least.min(error(kind, function, got, &exact));
        let normal = Float::with_val(PRECISION, 1) << kind.min_exponent();
        let slack = 1.0 + (bound + 1.0) * 2f64.powi(1 - kind.digits() as i32);
        if got & !kind.sign_bit() == 0 && *exact.as_abs() < normal * slack {
            return 0.0;
        }
    }
    least
}

/// The error of a result relative to the exact value.
pub(crate) fn error(kind: Kind, function: &Function, got_bits: u64, exact: &Float) -> f64 {
    let got = if function.gives_integer { integer(kind, got_bits) } else { kind.decode(got_bits) };
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == *exact {
        let is_wrong_sign =
            got.is_zero() && got.is_sign_negative() != exact.is_sign_negative() && !function.any_zero;
        return if is_wrong_sign { f64::INFINITY } else { 0.0 };
    }
    if exact.is_infinite() {
        return f64::INFINITY;
    }
    // Infinity counts as the number after the largest finite one.
    let end = Float::with_val(PRECISION, 1) << (kind.max_exponent() + 1);
    let got = if got.is_infinite() { with_sign(&end, &got) } else { got };
    let exact = if *exact.as_abs() > end { with_sign(&end, exact) } else { exact.clone() };
    let exponent = exact
        .get_exp()
        .map_or(kind.min_exponent(), |it| (it - 1).clamp(kind.min_exponent(), kind.max_exponent()));
    let exponent = if function.is_absolute { exponent.max(0) } else { exponent };
    let unit = Float::with_val(PRECISION, 1) << (exponent - (kind.digits() as i32 - 1));
    let difference = Float::with_val(PRECISION, &got - &exact).abs();
    (difference / unit).to_f64()
}

fn with_sign(size: &Float, sign: &Float) -> Float {
    if sign.is_sign_negative() { Float::with_val(PRECISION, -size) } else { size.clone() }
}

fn integer(kind: Kind, bits: u64) -> Float {
    let shift = 64 - 8 * kind.size() as u32;
    Float::with_val(PRECISION, (bits << shift) as i64 >> shift)
}
