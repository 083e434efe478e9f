//! Largest error of each `float` function in units in the last place, over all 2^32 values of an argument.
//!
//! The device also computes the expected result, with the `double` function, whose error of a few units of its 53rd bit is
//! negligible here.

use clap::Args;

use crate::kernels::{Argument, Benchmark, Contents, Step, words};
use crate::kiln::Kiln;
use crate::run::Prepared as _;

#[derive(Args)]
pub(crate) struct Accuracy {
    /// The Vulkan device, by index or a part of its name
    #[arg(long)]
    device: Option<String>,
    /// Measure only functions whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Measure only every N-th value
    #[arg(long, default_value_t = 1, value_name = "N")]
    every: u32,
}

/// A function: its name, the measured expression of `float x`, and the expected one of `double x`.
type Row = (&'static str, &'static str, &'static str);

/// Native functions of the device, then OpenCL's functions.
const ROWS: &[Row] = &[
    ("native_sqrt", "native_sqrt(x)", "sqrt(x)"),
    ("native_rsqrt", "native_rsqrt(x)", "1.0 / sqrt(x)"),
    ("native_recip", "native_recip(x)", "1.0 / x"),
    ("native_exp", "native_exp(x)", "exp(x)"),
    ("native_exp2", "native_exp2(x)", "exp2(x)"),
    ("native_log", "native_log(x)", "log(x)"),
    ("native_log2", "native_log2(x)", "log2(x)"),
    ("native_sin", "native_sin(x)", "sin(x)"),
    ("native_cos", "native_cos(x)", "cos(x)"),
    ("division", "3.0f / x", "3.0 / x"),
    ("acos", "acos(x)", "acos(x)"),
    ("acosh", "acosh(x)", "acosh(x)"),
    ("asin", "asin(x)", "asin(x)"),
    ("asinh", "asinh(x)", "asinh(x)"),
    ("atan", "atan(x)", "atan(x)"),
    ("atanh", "atanh(x)", "atanh(x)"),
    ("cbrt", "cbrt(x)", "cbrt(x)"),
    ("cos", "cos(x)", "cos(x)"),
    ("cosh", "cosh(x)", "cosh(x)"),
    ("cospi", "cospi(x)", "cospi(x)"),
    ("erf", "erf(x)", "erf(x)"),
    ("exp", "exp(x)", "exp(x)"),
    ("exp10", "exp10(x)", "exp10(x)"),
    ("exp2", "exp2(x)", "exp2(x)"),
    ("expm1", "expm1(x)", "expm1(x)"),
    ("hypot", "hypot(x, 0.75f)", "hypot(x, 0.75)"),
    ("log", "log(x)", "log(x)"),
    ("log10", "log10(x)", "log10(x)"),
    ("log1p", "log1p(x)", "log1p(x)"),
    ("log2", "log2(x)", "log2(x)"),
    ("pow", "pow(x, 1.7f)", "pow(x, (double)1.7f)"),
    ("rsqrt", "rsqrt(x)", "1.0 / sqrt(x)"),
    ("sin", "sin(x)", "sin(x)"),
    ("sinh", "sinh(x)", "sinh(x)"),
    ("sinpi", "sinpi(x)", "sinpi(x)"),
    ("sqrt", "sqrt(x)", "sqrt(x)"),
    ("tan", "tan(x)", "tan(x)"),
    ("tanh", "tanh(x)", "tanh(x)"),
];

/// Values per work-item.
const PER_ITEM: u32 = 1 << 10;

/// Computes the largest error and its argument, for normal numbers and separately for subnormal ones, which a device may
/// flush to zero.
const KERNEL: &str = r"
float error_of(float got, double exact) {
    ulong bits = as_ulong(exact) & 0x7ffffffffffffffful;
    if (bits > 0x7ff0000000000000ul) return isnan(got) ? 0.0f : INFINITY;
    // Values that round to infinity.
    if (bits >= 0x47effffff0000000ul) return isinf(got) && (got > 0) == (exact > 0) ? 0.0f : fabs(got) >= FLT_MAX ? 1.0f : INFINITY;
    if (isnan(got)) return INFINITY;
    // An infinity is 2^128 here, the number after the largest.
    double value = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
    int exponent = max((int)(bits >> 52) - 1023 - 23, -149);
    double unit = as_double((ulong)(exponent + 1023) << 52);
    return (float)(fabs(value - exact) / unit);
}
kernel void measure(global uint *worst, uint every) {
    uint first = get_global_id(0) * PER_ITEM;
    float most = 0.0f, most_tiny = 0.0f;
    uint at = 0, at_tiny = 0;
    for (uint i = 0; i < PER_ITEM; i += every) {
        uint bits = first + i;
        float x = as_float(bits);
        float got = ACTUAL(x);
        double exact = EXPECTED((double)x);
        float error = error_of(got, exact);
        uint size = bits & 0x7fffffffu;
        bool is_tiny = (size != 0 && size < 0x800000u) || fabs(exact) < 0x1p-126;
        if (is_tiny) {
            if (fabs(got) < 0x1p-126f && fabs(exact) < 0x1p-125) error = 0.0f;
            // The device may flush the argument to zero, too.
            if (size < 0x800000u) error = fmin(error, error_of(got, EXPECTED(copysign(0.0, (double)x))));
            if (error > most_tiny) { most_tiny = error; at_tiny = bits; }
        } else if (error > most) { most = error; at = bits; }
    }
    uint before = atomic_max(&worst[0], as_uint(most));
    if (as_uint(most) > before) worst[1] = at;
    before = atomic_max(&worst[2], as_uint(most_tiny));
    if (as_uint(most_tiny) > before) worst[3] = at_tiny;
}
";

pub(crate) fn accuracy(options: &Accuracy) -> Result<(), String> {
    let kiln = Kiln::new(options.device.as_deref().unwrap_or_default())?;
    println!("kiln on {}\n", kiln.name());
    println!("{:<14} {:>12} {:>16} {:>16} {:>16}", "function", "error (ulp)", "of", "subnormal (ulp)", "of");
    let mut failures = 0;
    for (name, actual, expected) in ROWS.iter().filter(|(name, ..)| name.contains(&options.only)) {
        match worst(&kiln, name, actual, expected, options.every) {
            Ok([error, at, tiny_error, tiny_at]) => {
                let [error, tiny_error] = [error, tiny_error].map(f32::from_bits);
                let [at, tiny_at] = [at, tiny_at].map(|bits| format!("{:e}", f32::from_bits(bits)));
                println!("{name:<14} {error:>12.3} {at:>16} {tiny_error:>16.3} {tiny_at:>16}");
            }
            Err(error) => {
                failures += 1;
                println!("{name:<14} {error}");
            }
        }
    }
    if failures == 0 { Ok(()) } else { Err(format!("{failures} functions could not be measured")) }
}

fn worst(
    kiln: &Kiln,
    name: &'static str,
    actual: &str,
    expected: &str,
    every: u32,
) -> Result<[u32; 4], String> {
    let source = format!(
        "#define PER_ITEM {PER_ITEM}u\nfloat ACTUAL(float x) {{ return {actual}; }}\ndouble EXPECTED(double x) {{ return {expected}; }}\n{KERNEL}"
    );
    let benchmark = Benchmark {
        name,
        source: &source,
        options: "",
        buffers: vec![Contents::Zeros(16)],
        steps: vec![Step {
            kernel: "measure",
            arguments: vec![Argument::Buffer(0), Argument::Uint(every)],
            global: [1 << 22, 1],
            local: [128, 1],
        }],
        result: 0,
        check: Box::new(|_| Ok(())),
    };
    let mut prepared = kiln.prepare(&benchmark)?;
    prepared.run()?;
    let found = words(&prepared.result()?);
    found.try_into().map_err(|_| "four words were expected".to_owned())
}
