//! Times of built-in functions, copies, images and atomic operations compared with a vendor's OpenCL: a loop each.

use clap::Args;

use crate::accesses;
use crate::kernels::{Argument, Benchmark, Contents, Step};
use crate::kiln::Kiln;
use crate::median::{median, summarize};
use crate::opencl::OpenCl;
use crate::run::Prepared;

#[derive(Args)]
pub(crate) struct Builtins {
    /// The Vulkan device, by index or a part of its name
    #[arg(long)]
    device: Option<String>,
    /// The OpenCL platform, by a part of its name; `none` measures Kiln alone
    #[arg(long)]
    platform: Option<String>,
    /// Runs of each loop on each implementation
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Measure only rows whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Device features to enable or disable, such as `-int64`
    #[arg(long, allow_hyphen_values = true)]
    feature: Vec<String>,
    /// Driver bugs to work around, as in `kiln compile --workarounds` [default: those of the device's driver]
    #[arg(long)]
    workarounds: Option<String>,
}

/// A row: the type, the expression of `x` and `y`, and the range of `x`.
struct Row {
    ty: &'static str,
    call: &'static str,
    min: f64,
    max: f64,
}

const fn row(ty: &'static str, call: &'static str, min: f64, max: f64) -> Row {
    Row { ty, call, min, max }
}

const ROWS: &[Row] = &[
    row("float", "acos(x)", -1.0, 1.0),
    row("float", "acosh(x)", 1.0, 100.0),
    row("float", "asin(x)", -1.0, 1.0),
    row("float", "asinh(x)", -100.0, 100.0),
    row("float", "atan(x)", -10.0, 10.0),
    row("float", "atan2(x, y)", -10.0, 10.0),
    row("float", "atanh(x)", -0.99, 0.99),
    row("float", "cbrt(x)", -100.0, 100.0),
    row("float", "cos(x)", -100.0, 100.0),
    row("float", "cosh(x)", -10.0, 10.0),
    row("float", "erf(x)", -3.0, 3.0),
    row("float", "exp(x)", -20.0, 20.0),
    row("float", "exp10(x)", -8.0, 8.0),
    row("float", "exp2(x)", -20.0, 20.0),
    row("float", "expm1(x)", -5.0, 5.0),
    row("float", "fma(x, y, x)", -20.0, 20.0),
    row("float", "fmod(x, y)", -100.0, 100.0),
    row("float", "hypot(x, y)", -100.0, 100.0),
    row("float", "x / y", -100.0, 100.0),
    row("float", "log(x)", 0.01, 100.0),
    row("float", "log10(x)", 0.01, 100.0),
    row("float", "log1p(x)", -0.9, 10.0),
    row("float", "log2(x)", 0.01, 100.0),
    row("float", "pow(x, y)", 0.01, 10.0),
    row("float", "remainder(x, y)", -100.0, 100.0),
    row("float", "rsqrt(x)", 0.01, 100.0),
    row("float", "sign(x)", -1.0, 1.0),
    row("float", "sin(x)", -100.0, 100.0),
    row("float", "sin(x) + cos(x)", -100.0, 100.0),
    row("float", "sinh(x)", -10.0, 10.0),
    row("float", "sinpi(x)", -10.0, 10.0),
    row("float", "sqrt(x)", 0.01, 100.0),
    row("float", "tan(x)", -100.0, 100.0),
    row("float", "tanh(x)", -5.0, 5.0),
    row("float", "(float)ilogb(x)", 0.01, 100.0),
    row("float", "length((float4)(x, y, x, y))", -10.0, 10.0),
    row("float", "normalize((float4)(x, y, x, y)).x", 0.1, 10.0),
    row("double", "exp(x)", -20.0, 20.0),
    row("double", "fma(x, y, x)", -20.0, 20.0),
    row("double", "log(x)", 0.01, 100.0),
    row("double", "pow(x, y)", 0.01, 10.0),
    row("double", "sin(x)", -100.0, 100.0),
    row("double", "sqrt(x)", 0.01, 100.0),
    row("int", "clz(x)", 0.0, 1e9),
    row("int", "popcount(x)", 0.0, 1e9),
    row("int", "rotate(x, y)", 0.0, 1e9),
    row("ulong", "rotate(x, 23ul) ^ rotate(x, 46ul)", 0.0, 1e15),
    row("int", "(int)abs_diff(x, y)", 0.0, 1e9),
    row("int", "mul_hi(x, y)", 0.0, 1e9),
    row("long", "x / (y | 1)", 0.0, 1e18),
    row("long", "x % (y | 1)", 0.0, 1e18),
    row("long", "x / 1000003", 0.0, 1e18),
    row("ulong", "(uint)x / ((ulong)(uint)y | 1)", 0.0, 1e18),
    row("ulong", "(ulong)(uint)x % 1000003", 0.0, 1e18),
    row("ulong", "(ulong)(uint)x / ((int)y | 1)", 0.0, 1e18),
    row("long", "x * y", 0.0, 1e18),
    row("long", "mul_hi(x, y)", 0.0, 1e18),
    row("ulong", "mul_hi(x, y)", 0.0, 1e18),
    row("long", "(long)((float)x * 0.5f)", 0.0, 1e18),
    row("long", "(long)(float)(int)x", 0.0, 1e18),
    row("long", "(long)((double)x * 0.5)", 0.0, 1e18),
    row("ulong", "(ulong)((double)x * 0.5)", 0.0, 1e18),
    row("float", "(float)(long)(x * 1e9f)", -1.0, 1.0),
    row("double", "(double)(long)(x * 1e9)", -1.0, 1.0),
    row("short", "(short)(x * y + 3)", 0.0, 3e4),
    row("char", "(char)(x * y + 3)", 0.0, 100.0),
    row("uchar", "convert_uchar_sat(x + y * 2)", 0.0, 100.0),
];

/// The width of the column of names.
const WIDTH: usize = 56;

/// Calls per work-item, each with other arguments.
const CALLS: u32 = 256;
const ITEMS: usize = 1 << 18;

pub(crate) fn builtins(options: &Builtins) -> Result<(), String> {
    let device = options.device.as_deref().unwrap_or_default();
    let kiln = Kiln::with_target(device, &options.feature, options.workarounds.as_deref())?;
    println!("kiln on {}", kiln.name());
    let opencl = OpenCl::to_compare(options.platform.as_deref())?;
    if let Some(opencl) = &opencl {
        println!("opencl is {}", opencl.name());
    }
    println!("\n{:<WIDTH$} {:>12} {:>12} {:>14}", "row", "kiln (ms)", "opencl (ms)", "opencl / kiln");
    let (mut ratios, mut failures) = (Vec::new(), 0);
    let sources: Vec<(String, String)> =
        ROWS.iter().map(|row| (format!("{} {}", row.ty, row.call), source(row))).collect();
    let functions = sources.iter().map(|(name, source)| (name.as_str(), function(source)));
    let accesses = accesses::kernels();
    for (name, benchmark) in functions.chain(accesses.iter().map(accesses::benchmark)) {
        if !name.contains(&options.only) {
            continue;
        }
        match compare(&benchmark, &kiln, opencl.as_ref(), options.rounds) {
            Ok((ours, Some(Ok(theirs)))) => {
                let ratio = theirs / ours;
                ratios.push(ratio);
                println!("{name:<WIDTH$} {:>12.4} {:>12.4} {ratio:>14.3}", ours * 1e3, theirs * 1e3);
            }
            Ok((ours, Some(Err(error)))) => {
                let line = error.lines().next().unwrap_or_default();
                println!("{name:<WIDTH$} {:>12.4} {line}", ours * 1e3);
            }
            Ok((ours, None)) => println!("{name:<WIDTH$} {:>12.4}", ours * 1e3),
            Err(error) => {
                failures += 1;
                println!("{name:<WIDTH$} {error}");
            }
        }
    }
    summarize(&ratios, failures, "rows")
}

/// The loop of a call.
fn function(source: &str) -> Benchmark<'_> {
    Benchmark {
        name: "builtin",
        source,
        options: "",
        buffers: vec![Contents::Zeros(8 * ITEMS)],
        steps: vec![Step {
            kernel: "calls",
            arguments: vec![Argument::Buffer(0), Argument::Uint(CALLS)],
            global: [ITEMS, 1],
            local: [256, 1],
        }],
        result: 0,
        check: Box::new(|_| Ok(())),
    }
}

/// Returns the times of Kiln's loop and of the vendor's, in seconds. A vendor may lack what the kernel needs.
fn compare(
    benchmark: &Benchmark,
    kiln: &Kiln,
    opencl: Option<&OpenCl>,
    rounds: usize,
) -> Result<(f64, Option<Result<f64, String>>), String> {
    let seconds = |prepared: &mut dyn Prepared| {
        let mut times = Vec::new();
        for round in 0..2 + rounds {
            let time = prepared.run()?;
            if round >= 2 {
                times.push(time);
            }
        }
        Ok::<_, String>(median(&times))
    };
    let ours = seconds(&mut kiln.prepare(benchmark)?)?;
    let theirs = opencl.map(|opencl| seconds(&mut opencl.prepare(benchmark)?));
    Ok((ours, theirs))
}

fn source(row: &Row) -> String {
    let Row { ty, call, min, max } = row;
    let is_double = *ty == "double";
    let extension = if is_double { "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" } else { "" };
    // A linear congruential generator (Knuth) spreads the arguments over the range.
    let wide = if is_double { "double" } else { "float" };
    // Integers of 64 bits have random bits, because conversions would take longer than most operations.
    if ty.ends_with("long") {
        return format!(
            "kernel void calls(global {ty} *out, uint count) {{
    uint state = get_global_id(0) * 747796405u + 2891336453u;
    {ty} sum = 0;
    for (uint i = 0; i < count; i++) {{
        state = state * 1664525u + 1013904223u;
        {ty} x = ({ty})((ulong)state * 0x9e3779b97f4a7c15ul), y = ({ty})((ulong)state * 0xd1342543de82ef95ul >> 20);
        sum += {call};
    }}
    out[get_global_id(0)] = sum;
}}
"
        );
    }
    let suffix = if wide == "float" { "f" } else { "" };
    format!(
        "{extension}kernel void calls(global {ty} *out, uint count) {{
    uint state = get_global_id(0) * 747796405u + 2891336453u;
    {ty} sum = 0;
    for (uint i = 0; i < count; i++) {{
        state = state * 1664525u + 1013904223u;
        {wide} t = ({wide})(state >> 8) * 0x1p-24{suffix};
        {ty} x = ({ty})({min:e}{suffix} + t * {span:e}{suffix}), y = ({ty})({min:e}{suffix} + (1.0{suffix} - t) * {span:e}{suffix});
        sum += {call};
    }}
    out[get_global_id(0)] = sum;
}}
",
        span = max - min
    )
}
