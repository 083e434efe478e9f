//! Compares the fixed costs of Kiln's OpenCL driver with those of another OpenCL driver, and with plain Vulkan on the same
//! device: builds of a trivial program, launches of a kernel that does nothing, and small transfers. All alternate, and the
//! medians count.

use std::ffi::{CString, c_void};
use std::time::Instant;

use clap::Args;

use crate::kiln::Kiln;
use crate::median::median;
use crate::opencl::OpenCl;
use crate::raw::Raw;
use crate::transfers::{NAMES, Transfers};

#[derive(Args)]
pub(crate) struct Launches {
    /// Kiln's OpenCL driver
    #[arg(long, default_value = "target/release/libkiln_opencl.so")]
    driver: String,
    /// The OpenCL platform to compare with, by a part of its name; `none` measures Kiln alone
    #[arg(long)]
    platform: Option<String>,
    /// Number of measurements
    #[arg(long, default_value_t = 31)]
    rounds: usize,
    /// Fail if the first build takes more than 5 ms, or launches more than 1.2 times those of plain Vulkan
    #[arg(long)]
    strict: bool,
}

pub(crate) const LAUNCHES: usize = 100;
pub(crate) const LOCAL: u32 = 64;
/// The budget of the first build, in seconds.
const FIRST_BUILD: f64 = 5e-3;
/// The budget of launches, relative to plain Vulkan.
const RATIO: f64 = 1.2;

/// A program whose text differs for each number, so that no cache has it.
fn source(number: usize) -> String {
    format!("kernel void nothing{number}(global uint *data) {{ if (data) data[0] = {number}; }}")
}

/// An OpenCL driver and its measurements.
struct Side {
    opencl: OpenCl,
    queue: *mut c_void,
    kernel: *mut c_void,
    first_build: f64,
    builds: Vec<f64>,
    batches: Vec<f64>,
    waits: Vec<f64>,
    transfers: Transfers,
}

impl Side {
    fn new(opencl: OpenCl) -> Result<Self, String> {
        // The process is part of the number: caches on disk outlive it.
        let number = std::process::id() as usize * 1000;
        let begin = Instant::now();
        let program = opencl.build(&source(number), "")?;
        let first_build = begin.elapsed().as_secs_f64();
        let name = CString::new(format!("nothing{number}")).map_err(|e| e.to_string())?;
        let kernel = opencl.kernel(program, &name)?;
        let queue = opencl.plain_queue()?;
        let transfers = Transfers::new(&opencl)?;
        let (builds, batches, waits) = (vec![], vec![], vec![]);
        Ok(Self { opencl, queue, kernel, first_build, builds, batches, waits, transfers })
    }

    fn round(&mut self, round: usize) -> Result<(), String> {
        let number = std::process::id() as usize * 1000 + 1 + round;
        let opencl = &self.opencl;
        self.builds.push(seconds(|| opencl.build(&source(number), "").map(drop))?);
        let launch = || opencl.launch(self.queue, self.kernel, LOCAL as usize);
        self.batches.push(seconds(|| {
            (0..LAUNCHES).try_for_each(|_| launch())?;
            opencl.finish(self.queue)
        })?);
        self.waits.push(seconds(|| {
            (0..LAUNCHES).try_for_each(|_| launch().and_then(|()| opencl.finish(self.queue)))
        })?);
        self.transfers.round(opencl, self.queue, self.kernel)
    }
}

pub(crate) fn seconds(work: impl FnOnce() -> Result<(), String>) -> Result<f64, String> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

pub(crate) fn launches(options: &Launches) -> Result<(), String> {
    let mut ours = Side::new(OpenCl::of_driver(&options.driver)?)?;
    let mut theirs = OpenCl::to_compare(options.platform.as_deref())?.map(Side::new).transpose()?;
    // The driver lists the devices in the runtime's order.
    let kiln = Kiln::new("")?;
    let words = kiln.plain_module(&source(0))?;
    let mut raw = Raw::new(kiln.device().info().index, None, &words, LOCAL, 1 << 16)?;
    let (mut batches, mut waits) = (Vec::new(), Vec::new());
    for round in 0..options.rounds {
        ours.round(round)?;
        if let Some(theirs) = &mut theirs {
            theirs.round(round)?;
        }
        batches.push(seconds(|| raw.launch(LAUNCHES, 1))?);
        waits.push(seconds(|| (0..LAUNCHES).try_for_each(|_| raw.launch(1, 1)))?);
    }
    println!("kiln is {}", ours.opencl.name());
    if let Some(theirs) = &theirs {
        println!("opencl is {}", theirs.opencl.name());
    }
    println!("\nmilliseconds, median of {} rounds\n", options.rounds);
    println!("{:<34} {:>9} {:>9} {:>12}", "", "kiln", "opencl", "bare Vulkan");
    let row = |name: &str, of: &dyn Fn(&Side) -> f64, raw: f64| {
        let shown = |seconds: Option<f64>| {
            seconds.filter(|it| !it.is_nan()).map_or(String::new(), |it| format!("{:.3}", it * 1e3))
        };
        let (ours, theirs) = (shown(Some(of(&ours))), shown(theirs.as_ref().map(of)));
        println!("{name:<34} {ours:>9} {theirs:>9} {:>12}", shown(Some(raw)));
    };
    let (batch, wait) = (median(&batches), median(&waits));
    row("first build of the process", &|it| it.first_build, f64::NAN);
    row("build", &|it| median(&it.builds), f64::NAN);
    row("100 launches, then a wait", &|it| median(&it.batches), batch);
    row("100 launches, a wait after each", &|it| median(&it.waits), wait);
    for (index, name) in NAMES.iter().enumerate() {
        row(name, &|it| it.transfers.medians()[index], f64::NAN);
    }
    let is_over = ours.first_build > FIRST_BUILD
        || median(&ours.batches) > RATIO * batch
        || median(&ours.waits) > RATIO * wait;
    if options.strict && is_over { Err("over budget".to_owned()) } else { Ok(()) }
}
