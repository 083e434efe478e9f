//! The effect of the options of `clBuildProgram` on functions of float: less precise within the bounds of OpenCL C 7.4 for
//! unsafe math optimizations, or correctly rounded.

use kiln_testsuite::{
    device::Device,
    launch::{Input, Job, launch},
    random::Random,
};
use rug::Float;

use super::number::{Kind, PRECISION};

const POINTS: usize = 10_000;

/// A call, the range of its operand, the error bound, and the exact result.
struct Relaxed {
    call: &'static str,
    range: [f64; 2],
    may_be_off: fn(x: f64, exact: f64) -> f64,
    exact: fn(Float) -> Float,
}

/// One unit in the last place.
fn ulp(exact: f64) -> f64 {
    2f64.powi((exact.abs().log2().floor() as i32).max(-126) - 23)
}

const RELAXED: &[Relaxed] = &[
    Relaxed { call: "sin(x)", range: [-3.0, 3.0], may_be_off: |_, _| 2f64.powi(-11), exact: Float::sin },
    Relaxed { call: "cos(x)", range: [-3.0, 3.0], may_be_off: |_, _| 2f64.powi(-11), exact: Float::cos },
    Relaxed { call: "sinpi(x)", range: [-1.0, 1.0], may_be_off: |_, _| 2f64.powi(-11), exact: Float::sin_pi },
    Relaxed {
        call: "exp(x)",
        range: [-80.0, 80.0],
        may_be_off: |x, exact| (3.0 + (2.0 * x).abs().floor()) * ulp(exact),
        exact: Float::exp,
    },
    Relaxed {
        call: "exp(x)",
        range: [-0.5, 0.5],
        may_be_off: |_, exact| 3.0 * ulp(exact),
        exact: Float::exp,
    },
    Relaxed {
        call: "exp2(x)",
        range: [-0.5, 0.5],
        may_be_off: |_, exact| 3.0 * ulp(exact),
        exact: Float::exp2,
    },
    Relaxed {
        call: "exp2(x)",
        range: [-100.0, 100.0],
        may_be_off: |x, exact| (3.0 + (2.0 * x).abs().floor()) * ulp(exact),
        exact: Float::exp2,
    },
    Relaxed {
        call: "log(x)",
        range: [0.5, 2.0],
        may_be_off: |_, exact| 2f64.powi(-21).max(3.0 * ulp(exact)),
        exact: Float::ln,
    },
    Relaxed {
        call: "log2(x)",
        range: [2.0, 1e6],
        may_be_off: |_, exact| 3.0 * ulp(exact),
        exact: Float::log2,
    },
    Relaxed {
        call: "log10(x)",
        range: [2.0, 1e6],
        may_be_off: |_, exact| 6.0 * ulp(exact),
        exact: Float::log10,
    },
    // Subnormal numbers: the result may be that of zero.
    Relaxed {
        call: "log(x)",
        range: [0.0, 1e-38],
        may_be_off: |_, exact| 3.0 * ulp(exact),
        exact: Float::ln,
    },
    Relaxed {
        call: "log2(x)",
        range: [0.0, 1e-38],
        may_be_off: |_, exact| 3.0 * ulp(exact),
        exact: Float::log2,
    },
    Relaxed {
        call: "log10(x)",
        range: [0.0, 1e-38],
        may_be_off: |_, exact| 6.0 * ulp(exact),
        exact: Float::log10,
    },
    Relaxed {
        call: "sqrt(x)",
        range: [0.0, 1e6],
        may_be_off: |_, exact| 3.0 * ulp(exact),
        exact: Float::sqrt,
    },
    Relaxed {
        call: "asin(x)",
        range: [-1.0, 1.0],
        may_be_off: |_, exact| 4096.0 * ulp(exact),
        exact: Float::asin,
    },
    Relaxed {
        call: "atan(x)",
        range: [-50.0, 50.0],
        may_be_off: |_, exact| 4096.0 * ulp(exact),
        exact: Float::atan,
    },
    // Derived from others: exp2(y log2(x)).
    Relaxed {
        call: "pow(x, 3.0f)",
        range: [-40.0, 40.0],
        may_be_off: |x, exact| (4.0 + (18.0 * x.abs().log2()).abs()) * ulp(exact) + exact.abs() * 1e-5,
        exact: cube,
    },
];

fn cube(x: Float) -> Float {
    Float::with_val(PRECISION, &x * &x) * x
}

pub(crate) fn relaxed(device: &'static Device) {
    let mut random = Random::new(2);
    let mut failures = Vec::new();
    for relaxed in RELAXED {
        let [from, to] = relaxed.range;
        // A logarithm of zero is infinite, and these options promise that there are no infinities.
        if device.is_imprecise() && to < f64::from(f32::MIN_POSITIVE) {
            continue;
        }
        let inputs: Vec<u64> =
            (0..POINTS).map(|_| Kind::Float.encode(from + (to - from) * random.unit())).collect();
        let results = of_float(device, "-cl-fast-relaxed-math", relaxed.call, &[&inputs]);
        for (&input, &got) in inputs.iter().zip(&results) {
            let x = Kind::Float.decode(input);
            let exact = (relaxed.exact)(x.clone()).to_f64();
            let got = Kind::Float.decode(got).to_f64();
            let off = (got - exact).abs();
            let is_near = off <= (relaxed.may_be_off)(x.to_f64(), exact);
            let is_flushed = x.to_f64().abs() < f64::from(f32::MIN_POSITIVE)
                && got == (relaxed.exact)(Float::with_val(PRECISION, 0)).to_f64();
            if !is_near && !is_flushed && failures.len() < 20 {
                failures.push(format!(
                    "{} on {} at {:e}: {got:e} and not {exact:e}",
                    relaxed.call,
                    device.name,
                    x.to_f64()
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

pub(crate) fn correctly_rounded_division_and_root(device: &'static Device) {
    let mut random = Random::new(3);
    let mut failures = Vec::new();
    // Numbers whose quotients and roots are normal, as devices may flush others.
    let mut number = || Kind::Float.encode(2f64.powf(random.unit() * 120.0 - 60.0));
    let mut left: Vec<u64> = (0..POINTS).map(|_| number()).collect();
    let mut right: Vec<u64> = (0..POINTS).map(|_| number()).collect();
    // Drivers divide inexactly by numbers above 2^126, also infinities.
    let extremes =
        [f32::INFINITY, -f32::MAX, f32::MAX, 0.0, -0.0, 1.0, f32::NAN].map(|it| u64::from(it.to_bits()));
    for x in extremes {
        left.extend([x; 7]);
        right.extend(extremes);
    }
    let option = "-cl-fp32-correctly-rounded-divide-sqrt";
    let quotients = of_float(device, option, "x / y", &[&left, &right]);
    let roots = of_float(device, option, "sqrt(x)", &[&left]);
    for index in 0..left.len() {
        let [x, y] = [left[index], right[index]].map(|bits| Kind::Float.decode(bits));
        let quotient = f64::from((x.to_f64() / y.to_f64()) as f32);
        let root = f64::from(Float::with_val(24, x.sqrt_ref()).to_f32());
        // A quotient of floats computed in double is never close to a midpoint between floats unless it is one.
        for (call, expected, bits) in [("x / y", quotient, quotients[index]), ("sqrt(x)", root, roots[index])]
        {
            let got = Kind::Float.decode(bits).to_f64();
            let is_correct = got == expected || got.is_nan() && expected.is_nan();
            if !is_correct && failures.len() < 20 {
                failures
                    .push(format!("{call} on {} at {x:e}, {y:e}: {got:e} and not {expected:e}", device.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The results of a call with an option.
fn of_float(device: &Device, option: &str, call: &str, operands: &[&[u64]]) -> Vec<u64> {
    let parameters: String =
        ["a", "b"][..operands.len()].iter().map(|name| format!(", global float *{name}")).collect();
    let others = if operands.len() > 1 { ", y = b[j]" } else { "" };
    let kernel = format!(
        "kernel void k0(global uint *out{parameters}) {{ size_t j = get_global_id(0); float x = a[j]{others}; \
         out[j] = as_uint({call}); }}\n"
    );
    let inputs: Vec<Input> = operands.iter().map(|values| Input::new("f32", 4, values)).collect();
    let jobs = [Job { kernel, out: "u32", per_item: 1, local: None }];
    launch(device, &[option], "", &jobs, &inputs).remove(0)
}
