//! Compares the kernels of unmodified OpenCL programs on Kiln's driver and on another one. A layer of the loader
//! (`testsuite/layer`) times each launch by its event; the two drivers alternate, and the shortest launch of each kernel counts.
//!
//! Needs a loader with layers: that of Khronos, or ocl-icd.
//!
//! A context of the other driver exists all the time. The clock of an idle NVIDIA GPU falls while only Vulkan uses it: after seconds
//! on the CPU, a program's first kernels take four times as long (H200). A context of NVIDIA's OpenCL keeps the clock.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    thread,
    time::{Duration, Instant, SystemTime},
};

use clap::Args;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tempfile::TempDir;

use crate::{
    median::{geometric_mean, summarize},
    opencl::OpenCl,
};

#[derive(Args)]
pub(crate) struct Programs {
    /// Programs as commands of the shell, such as `cd fft && ./FFT -s 3`
    #[arg(required = true)]
    commands: Vec<String>,
    /// Kiln's OpenCL driver
    #[arg(long, default_value = "target/release/libkiln_opencl.so")]
    driver: PathBuf,
    /// The other OpenCL driver, such as `libnvidia-opencl.so.1`
    #[arg(long)]
    other: PathBuf,
    /// The layer that times kernels
    #[arg(long, default_value = "target/release/libkiln_timing_layer.so")]
    layer: PathBuf,
    /// How often each program runs on each driver
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Stop a program after this many seconds
    #[arg(long, default_value_t = 120.0)]
    seconds: f64,
    /// Stop a program whose kernels have ended this many seconds ago: many programs then only check their results
    #[arg(long, default_value_t = 2.0)]
    idle: f64,
    /// A second mean is of the kernels that take at least this many microseconds on the other driver: in shorter ones, the
    /// costs of a launch count most
    #[arg(long, default_value_t = 20.0)]
    long: f64,
}

/// How long to wait between two looks at a program.
const PAUSE: Duration = Duration::from_millis(20);

/// The time of the shortest launch of each kernel, in nanoseconds.
type Times = BTreeMap<String, u64>;

/// A driver.
struct Side {
    driver: PathBuf,
    /// The file that names the driver, for the loader.
    vendors: TempDir,
}

pub(crate) fn programs(options: &Programs) -> Result<(), String> {
    let layer = absolute(&options.layer)?;
    let sides = [Side::new(&options.driver)?, Side::new(&options.other)?];
    let _context = OpenCl::of_driver(&sides[1].driver.to_string_lossy())?;
    println!("microseconds, shortest launch of {} runs\n", options.rounds);
    println!("{:<44} {:>12} {:>12} {:>13}", "kernel", "kiln", "other", "other / kiln");
    let (mut ratios, mut long, mut failures) = (Vec::new(), Vec::new(), 0);
    for command in &options.commands {
        println!("{command}");
        let mut times = [Times::new(), Times::new()];
        for _ in 0..options.rounds {
            for (side, times) in sides.iter().zip(&mut times) {
                if let Err(reason) = side.run(command, options, &layer, times) {
                    eprintln!("`{command}` with `{}`: {reason}", side.driver.display());
                    failures += 1;
                }
            }
        }
        let names: BTreeSet<&String> = times.iter().flat_map(Times::keys).collect();
        for name in names {
            let found = times.each_ref().map(|times| times.get(name).map(|&time| time as f64 / 1e3));
            let [Some(kiln), Some(other)] = found else {
                let only = if found[0].is_some() { "Kiln's" } else { "the other" };
                println!("  {name:<42} only with {only} driver");
                failures += 1;
                continue;
            };
            let ratio = other / kiln;
            println!("  {name:<42} {kiln:>12.2} {other:>12.2} {ratio:>13.3}");
            ratios.push(ratio);
            if other >= options.long {
                long.push(ratio);
            }
        }
    }
    if !long.is_empty() {
        let (count, mean) = (long.len(), geometric_mean(&long));
        println!("\n{count} kernels of at least {} µs: geometric mean {mean:.3}", options.long);
    }
    summarize(&ratios, failures, "programs or kernels")
}

impl Side {
    fn new(driver: &Path) -> Result<Self, String> {
        // A name without a folder is one for the dynamic linker.
        let driver = if driver.components().count() > 1 { absolute(driver)? } else { driver.to_owned() };
        let vendors = tempfile::tempdir().map_err(|e| e.to_string())?;
        let line = format!("{}\n", driver.display());
        fs::write(vendors.path().join("driver.icd"), line).map_err(|e| e.to_string())?;
        Ok(Self { driver, vendors })
    }

    /// Runs a program, and adds the times of its kernels.
    fn run(&self, command: &str, options: &Programs, layer: &Path, times: &mut Times) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let [written, output] = ["times", "output"].map(|name| folder.path().join(name));
        let file = fs::File::create(&output).map_err(|e| e.to_string())?;
        let mut child = Command::new("sh")
            .args(["-c", command])
            .env("OCL_ICD_VENDORS", format!("{}/", self.vendors.path().display()))
            .env("OPENCL_LAYERS", layer)
            .env("KILN_TIMES", &written)
            .stdout(file.try_clone().map_err(|e| e.to_string())?)
            .stderr(file)
            .process_group(0)
            .spawn()
            .map_err(|e| format!("cannot start the shell: {e}"))?;
        let ended = wait(&mut child, &written, options);
        // Nothing of the program may disturb the next one.
        let group = Pid::from_raw(child.id() as i32);
        let _ = killpg(group, Signal::SIGKILL);
        let _ = child.wait();
        let output = || last_lines(&fs::read(&output).unwrap_or_default());
        if let Some(status) = ended?
            && !status.success()
        {
            return Err(format!("{status}{}", output()));
        }
        let text = fs::read_to_string(&written)
            .map_err(|_| format!("it launched no kernel, or its loader has no layers{}", output()))?;
        for line in text.lines() {
            let (name, least) = least(line).ok_or_else(|| format!("the layer wrote `{line}`"))?;
            let known = times.entry(name.to_owned()).or_insert(least);
            *known = least.min(*known);
        }
        Ok(())
    }
}

/// Waits until a program ends, or only checks its results. The error says that it took too long.
fn wait(child: &mut Child, times: &Path, options: &Programs) -> Result<Option<ExitStatus>, String> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(Some(status));
        }
        let since =
            fs::metadata(times).and_then(|it| it.modified()).map(|it| SystemTime::now().duration_since(it));
        if let Ok(Ok(since)) = since
            && since.as_secs_f64() > options.idle
        {
            return Ok(None);
        }
        if begin.elapsed().as_secs_f64() > options.seconds {
            return Err(format!("does not end within {} s", options.seconds));
        }
        thread::sleep(PAUSE);
    }
}

/// The name of a kernel and its shortest time, from a line of the layer.
fn least(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split(' ');
    let (name, _launches, least) = (words.next()?, words.next()?, words.next()?);
    Some((name, least.parse().ok()?))
}

/// The last lines of a program's output, each after a line break.
fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].iter().map(|line| format!("\n{line}")).collect()
}

/// The path from the root: programs run in other folders.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path).map_err(|e| format!("cannot open `{}`: {e}", path.display()))
}
