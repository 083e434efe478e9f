//! Compares kernel times: both implementations alternate, and the results are checked.

use clap::Args;

use crate::examples;
use crate::kernels::{self, Benchmark, Size};
use crate::kiln::Kiln;
use crate::median::{median, summarize};
use crate::opencl::OpenCl;

#[derive(Args)]
pub(crate) struct Kernels {
    /// The Vulkan device, by index or a part of its name
    #[arg(long)]
    device: Option<String>,
    /// The OpenCL platform, by a part of its name; `none` measures Kiln alone
    #[arg(long)]
    platform: Option<String>,
    /// Problem size [default: large, on a CPU device small]
    #[arg(long)]
    size: Option<Size>,
    /// Runs of each program on each implementation
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Measure the examples instead of the seven programs
    #[arg(long)]
    examples: bool,
    /// Only programs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

/// A program that is ready to run on an implementation.
pub(crate) trait Prepared {
    /// Runs all launches once; returns the execution time on the device in seconds.
    fn run(&mut self) -> Result<f64, String>;
    /// The result of the last run.
    fn result(&mut self) -> Result<Vec<u8>, String>;
}

/// Unmeasured runs, which raise clock rates and fill caches.
const WARM_UP: usize = 3;

pub(crate) fn kernels(options: &Kernels) -> Result<(), String> {
    let kiln = Kiln::new(options.device.as_deref().unwrap_or_default())?;
    println!("kiln on {}", kiln.name());
    let opencl = OpenCl::to_compare(options.platform.as_deref())?;
    if let Some(opencl) = &opencl {
        println!("opencl is {}", opencl.name());
    }
    let usual = if kiln.is_cpu() { Size::Small } else { Size::Large };
    let size = options.size.unwrap_or(usual);
    println!("\nmilliseconds of device time, median (least) of {} runs\n", options.rounds);
    println!("{:<16} {:>22} {:>22} {:>14}", "program", "kiln", "opencl", "opencl / kiln");
    let programs = if options.examples { examples::all() } else { kernels::all(size) };
    let wanted = programs.iter().filter(|known| known.name.contains(&options.only));
    rows(wanted, "programs", |benchmark| compare(benchmark, &kiln, opencl.as_ref(), options.rounds))
}

/// Measures benchmarks by a function that prints a row and returns the ratio, and prints a summary. The error contains the
/// number that failed.
pub(crate) fn rows<'b>(
    benchmarks: impl Iterator<Item = &'b Benchmark<'b>>,
    what: &str,
    measure: impl Fn(&'b Benchmark<'b>) -> Result<Option<f64>, String>,
) -> Result<(), String> {
    let (mut ratios, mut failures) = (Vec::new(), 0);
    for benchmark in benchmarks {
        match measure(benchmark) {
            Ok(ratio) => ratios.extend(ratio),
            Err(error) => {
                failures += 1;
                println!("{:<16} {error}", benchmark.name);
            }
        }
    }
    summarize(&ratios, failures, what)
}

fn compare(
    benchmark: &Benchmark,
    kiln: &Kiln,
    opencl: Option<&OpenCl>,
    rounds: usize,
) -> Result<Option<f64>, String> {
    let mut ours: Box<dyn Prepared + '_> = Box::new(kiln.prepare(benchmark)?);
    let mut theirs: Option<Box<dyn Prepared + '_>> = match opencl {
        Some(opencl) => Some(Box::new(opencl.prepare(benchmark)?)),
        None => None,
    };
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..WARM_UP + rounds {
        for (runner, times) in [Some(&mut ours), theirs.as_mut()].into_iter().zip(&mut times) {
            let Some(runner) = runner else { continue };
            let seconds = runner.run()?;
            if round >= WARM_UP {
                times.push(seconds);
            }
        }
    }
    (benchmark.check)(&ours.result()?).map_err(|error| format!("kiln: {error}"))?;
    if let Some(theirs) = &mut theirs {
        (benchmark.check)(&theirs.result()?).map_err(|error| format!("opencl: {error}"))?;
    }
    Ok(row(benchmark.name, &times[0], theirs.is_some().then_some(&times[1])))
}

/// Prints the times of a program. Returns the ratio of the medians.
pub(crate) fn row(name: &str, ours: &[f64], theirs: Option<&[f64]>) -> Option<f64> {
    let shown = |times: &[f64]| {
        let min = times.iter().copied().fold(f64::INFINITY, f64::min);
        format!("{:.4} ({:.4})", median(times) * 1e3, min * 1e3)
    };
    let Some(theirs) = theirs else {
        println!("{name:<16} {:>22}", shown(ours));
        return None;
    };
    let ratio = median(theirs) / median(ours);
    println!("{name:<16} {:>22} {:>22} {ratio:>14.3}", shown(ours), shown(theirs));
    Some(ratio)
}
