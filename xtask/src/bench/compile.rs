//! Measures the CPU time (user and system) of compiling each example, and the size of the module: Kiln for both
//! environments, and LLVM.
//!
//! The compilers alternate within a round, so that other load affects them equally; the median of the rounds counts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use nix::sys::resource::{UsageWho, getrusage};

use clap::Args;

use crate::{Outcome, process, root};

/// Runs per measurement, because some systems' CPU clock is coarser than one run of Kiln.
const RUNS_OF_KILN: u32 = 10;

/// A row of the table.
struct Row {
    example: String,
    vulkan: Compiled,
    opencl: Compiled,
    llvm: Compiled,
}

/// The cost and the result of a compilation.
#[derive(Clone, Copy, Default)]
struct Compiled {
    time: Duration,
    bytes: u64,
}

/// The sources to compile.
#[derive(Args)]
pub(crate) struct Compile {
    /// Sources instead of the examples. Those that one of the compilers does not accept are skipped
    sources: Vec<PathBuf>,
    /// Option for every compiler, such as `-DTYPE=float`; can be repeated
    #[arg(long = "option", allow_hyphen_values = true)]
    options: Vec<String>,
    /// Rounds of measurement
    #[arg(long, default_value_t = 9)]
    rounds: usize,
}

/// Measures, and prints the table.
pub(crate) fn compile(options: &Compile) -> Outcome {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let kiln = scratch.path().join("kiln");
    // A copy, as installed programs are. Linux keeps the output of a linker in smaller pieces of memory, because it was not
    // written from start to end, and takes 1.3 times as long to start it.
    fs::copy(process::release_kiln()?, &kiln).map_err(|e| e.to_string())?;
    let mut rows = Vec::new();
    if options.sources.is_empty() {
        for source in examples()? {
            rows.push(measure(&kiln, &source, options, scratch.path())?);
        }
    }
    for source in &options.sources {
        match measure(&kiln, source, options, scratch.path()) {
            Ok(row) => rows.push(row),
            Err(_) => println!("skipped: {}", source.display()),
        }
    }
    print(&rows, options.rounds);
    Ok(())
}

/// The sources of the examples, as examples/NAME/NAME.cl.
pub(super) fn examples() -> Result<Vec<PathBuf>, String> {
    let folder = root().join("examples");
    let entries = fs::read_dir(&folder).map_err(|e| format!("cannot read `{}`: {e}", folder.display()))?;
    let mut sources: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok())
        .map(|entry| entry.path().join(entry.file_name()).with_extension("cl"))
        .filter(|source| source.is_file())
        .collect();
    sources.sort();
    Ok(sources)
}

fn measure(kiln: &Path, source: &Path, options: &Compile, scratch: &Path) -> Result<Row, String> {
    let [bitcode, module] = ["kernel.bc", "kernel.spv"].map(|name| scratch.join(name));
    let with_kiln = |environment| {
        for _ in 0..RUNS_OF_KILN {
            let mut command = Command::new(kiln);
            command.args(["compile", "-w", "-cl-std=CL2.0"]).args(&options.options).arg(source);
            command.args(["--env", environment, "-o"]).arg(&module);
            process::run(&mut command)?;
        }
        Ok(())
    };
    let with_llvm = || {
        let mut clang = Command::new("clang-15");
        clang
            .args(["-w", "-cl-std=CL2.0", "-O2", "--target=spir64", "-emit-llvm", "-c"])
            .args(&options.options)
            .arg("-o")
            .arg(&bitcode)
            .arg(source);
        process::run(&mut clang)?;
        process::run(Command::new("llvm-spirv-15").arg(&bitcode).arg("-o").arg(&module))
    };
    let ways: [(&dyn Fn() -> Outcome, u32); 3] =
        [(&|| with_kiln("vulkan"), RUNS_OF_KILN), (&|| with_kiln("opencl"), RUNS_OF_KILN), (&with_llvm, 1)];
    let mut times = [const { Vec::new() }; 3];
    let mut bytes = [0; 3];
    for _ in 0..options.rounds {
        for (index, (way, runs)) in ways.iter().enumerate() {
            times[index].push(cpu_time(way)? / *runs);
            bytes[index] = fs::metadata(&module).map_err(|e| e.to_string())?.len();
        }
    }
    let example = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut compiled =
        times.into_iter().zip(bytes).map(|(times, bytes)| Compiled { time: median(times), bytes });
    let mut next = || compiled.next().unwrap_or_default();
    Ok(Row { example, vulkan: next(), opencl: next(), llvm: next() })
}

/// The CPU time of the child processes that `run` starts.
pub(super) fn cpu_time(run: impl FnOnce() -> Outcome) -> Result<Duration, String> {
    let now = || -> Result<Duration, String> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| e.to_string())?;
        let of =
            |time: nix::sys::time::TimeVal| Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000);
        Ok(of(usage.user_time()) + of(usage.system_time()))
    };
    let begin = now()?;
    run()?;
    Ok(now()?.saturating_sub(begin))
}

pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn print(rows: &[Row], rounds: usize) {
    let ms = |of: Compiled| format!("{:.2} ms", of.time.as_secs_f64() * 1000.0);
    let ratio = |row: &Row| {
        row.llvm.time.as_secs_f64() / row.vulkan.time.max(row.opencl.time).as_secs_f64().max(1e-9)
    };
    println!(
        "CPU time, user and system, of whole processes; median of {rounds} rounds; bytes of the module\n"
    );
    println!(
        "{:<20} {:>12} {:>12} {:>22} {:>8} {:>8} {:>8} {:>8}",
        "example", "kiln vulkan", "kiln opencl", "clang + llvm-spirv 15", "ratio", "vulkan", "opencl", "llvm"
    );
    for row in rows {
        println!(
            "{:<20} {:>12} {:>12} {:>22} {:>7.1}x {:>8} {:>8} {:>8}",
            row.example,
            ms(row.vulkan),
            ms(row.opencl),
            ms(row.llvm),
            ratio(row),
            row.vulkan.bytes,
            row.opencl.bytes,
            row.llvm.bytes
        );
    }
    let mut ratios: Vec<f64> = rows.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    if let (Some(least), Some(middle)) = (ratios.first(), ratios.get(ratios.len() / 2)) {
        println!(
            "\nthe slower of kiln's two takes at most 1/{least:.1} of the time of clang-15 and llvm-spirv-15, \
             1/{middle:.1} in the median"
        );
    }
    let size = |of: fn(&Row) -> Compiled| {
        let mut ratios: Vec<f64> =
            rows.iter().map(|row| of(row).bytes as f64 / row.llvm.bytes.max(1) as f64).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or_default()
    };
    let (opencl, vulkan) = (size(|row| row.opencl), size(|row| row.vulkan));
    println!(
        "modules have {opencl:.2} times the bytes of theirs in the median for OpenCL; {vulkan:.2} times for Vulkan, \
         where they tell their interface"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_child_processes_is_included() {
        let spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let time = cpu_time(|| process::run(Command::new("sh").args(["-c", spin]))).unwrap();
        assert!(time > Duration::from_millis(2), "{time:?}");
    }

    #[test]
    fn every_example_is_found() {
        let names: Vec<_> =
            examples().unwrap().iter().map(|path| path.file_stem().unwrap().to_owned()).collect();
        assert!(names.len() >= 8, "{names:?}");
    }
}
