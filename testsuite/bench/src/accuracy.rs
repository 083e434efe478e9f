//! Largest error of each `float` function in units in the last place, over all 2^32 values of an argument.
//!
//! A device computes the results, and the same or another one with `double` computes the expected results, by the functions of
//! `double`, whose error of a few units of its 53rd bit is negligible here.

use clap::Args;
use kiln_runtime::{Buffer, Kernel, NdRange, Queue};

use crate::kiln::{Kiln, text};

#[derive(Args)]
pub(crate) struct Accuracy {
    /// The Vulkan device, by index or a part of its name
    #[arg(long)]
    device: Option<String>,
    /// The device that computes the expected results, if the first one has no `double`
    #[arg(long, value_name = "DEVICE")]
    expected_on: Option<String>,
    /// Measure only this function, or those whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// Measure only every N-th value
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
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

/// The number of results that are computed and judged at a time.
const RESULTS: usize = 1 << 24;
/// The number of results that a work-item judges.
const PER_ITEM: usize = 1 << 6;

const COMPUTE: &str = r"
kernel void compute(global float *results, uint first, uint every) {
    uint i = get_global_id(0);
    results[i] = FUNCTION(as_float(first + i * every));
}
";

/// Computes the largest error and its argument, for normal numbers and separately for subnormal ones, which a device may
/// flush to zero.
const JUDGE: &str = r"
float error_of(float got, double exact) {
    ulong bits = as_ulong(exact) & 0x7ffffffffffffffful;
    if (bits > 0x7ff0000000000000ul) return isnan(got) ? 0.0f : INFINITY;
    // Values that round to infinity.
    if (bits >= 0x47effffff0000000ul) return isinf(got) && (got > 0) == (exact > 0) ? 0.0f : fabs(got) >= FLT_MAX ? 1.0f : INFINITY;
    if (isnan(got)) return INFINITY;
    if (exact == 0 && got == 0) return signbit(got) == signbit(exact) ? 0.0f : INFINITY;
    // An infinity is 2^128 here, the number after the largest.
    double value = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
    int exponent = max((int)(bits >> 52) - 1023 - 23, -149);
    double unit = as_double((ulong)(exponent + 1023) << 52);
    return (float)(fabs(value - exact) / unit);
}
kernel void judge(global const float *results, global uint *worst, uint first, uint every) {
    float most = 0.0f, most_tiny = 0.0f;
    uint at = 0, at_tiny = 0;
    for (uint i = 0; i < PER_ITEM; i++) {
        uint index = get_global_id(0) * PER_ITEM + i;
        uint bits = first + index * every;
        float x = as_float(bits);
        float got = results[index];
        double exact = FUNCTION((double)x);
        float error = error_of(got, exact);
        uint size = bits & 0x7fffffffu;
        bool is_tiny = (size != 0 && size < 0x800000u) || fabs(exact) < 0x1p-126;
        if (is_tiny) {
            if (exact != 0 && fabs(got) < 0x1p-126f && fabs(exact) < 0x1p-125) error = 0.0f;
            // The device may flush the argument to zero, too.
            if (size < 0x800000u) error = fmin(error, error_of(got, FUNCTION(copysign(0.0, (double)x))));
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
    println!("kiln on {}", kiln.name());
    let other = options.expected_on.as_deref().map(Kiln::new).transpose()?;
    if let Some(other) = &other {
        println!("expected results of {}", other.name());
    }
    println!(
        "\n{:<14} {:>12} {:>16} {:>16} {:>16}",
        "function", "error (ulp)", "of", "subnormal (ulp)", "of"
    );
    let mut failures = 0;
    let names_one = ROWS.iter().any(|(name, ..)| *name == options.only);
    let is_wanted = |name: &str| if names_one { name == options.only } else { name.contains(&options.only) };
    for row in ROWS.iter().filter(|(name, ..)| is_wanted(name)) {
        let name = row.0;
        match Measurement::new(&kiln, other.as_ref(), row).and_then(|it| it.worst(options.every)) {
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

/// A function, ready to be measured.
struct Measurement {
    compute: Part,
    judge: Part,
    /// Whether results must be copied from one device to the other.
    copies: bool,
    worst: Buffer<u32>,
}

/// A kernel on one of the devices, with the buffer of results there.
struct Part {
    queue: Queue,
    kernel: Kernel,
    results: Buffer<f32>,
    items: usize,
}

impl Measurement {
    fn new(kiln: &Kiln, other: Option<&Kiln>, (_, actual, expected): &Row) -> Result<Self, String> {
        let computing = format!("float FUNCTION(float x) {{ return {actual}; }}\n{COMPUTE}");
        let judging = format!(
            "#define PER_ITEM {PER_ITEM}u\ndouble FUNCTION(double x) {{ return {expected}; }}\n{JUDGE}"
        );
        let results = kiln.device().buffer(RESULTS).map_err(text)?;
        let compute = Part::new(kiln, "compute", &computing, results.clone(), RESULTS)?;
        let judging_on = other.unwrap_or(kiln);
        let judged = match other {
            Some(other) => other.device().buffer(RESULTS).map_err(text)?,
            None => results,
        };
        let mut judge = Part::new(judging_on, "judge", &judging, judged, RESULTS / PER_ITEM)?;
        let worst = judging_on.device().buffer_from(&[0; 4]).map_err(text)?;
        judge.kernel.set(1, &worst).map_err(text)?;
        Ok(Self { compute, judge, copies: other.is_some(), worst })
    }

    /// The largest error and its argument, then those of subnormal numbers, as bits.
    fn worst(mut self, every: u32) -> Result<[u32; 4], String> {
        for first in (0..1u64 << 32).step_by(RESULTS * every as usize) {
            let numbers = [first as u32, every];
            self.compute.run(1, numbers)?;
            if self.copies {
                let results = self.compute.queue.read(&self.compute.results).map_err(text)?;
                self.judge.queue.write(&self.judge.results, &results).map_err(text)?;
            }
            self.judge.run(2, numbers)?;
        }
        let found = self.judge.queue.read(&self.worst).map_err(text)?;
        found.try_into().map_err(|_| "four words were expected".to_owned())
    }
}

impl Part {
    fn new(
        kiln: &Kiln,
        name: &str,
        source: &str,
        results: Buffer<f32>,
        items: usize,
    ) -> Result<Self, String> {
        let mut kernel = kiln.compile(name, source)?.kernel(name).map_err(text)?;
        kernel.set(0, &results).map_err(text)?;
        Ok(Self { queue: kiln.device().queue().map_err(text)?, kernel, results, items })
    }

    /// Sets the last two arguments, the first of which has this index, launches the kernel, and waits for it.
    fn run(&mut self, index: usize, [first, every]: [u32; 2]) -> Result<(), String> {
        self.kernel.set(index, first).map_err(text)?;
        self.kernel.set(index + 1, every).map_err(text)?;
        // SAFETY: the kernels access as many results as the buffers have.
        #[allow(unsafe_code, reason = "a launch trusts its kernel")]
        unsafe { self.queue.launch(&self.kernel, NdRange::from(self.items).local(128)) }.map_err(text)?;
        self.queue.finish().map_err(text)
    }
}
