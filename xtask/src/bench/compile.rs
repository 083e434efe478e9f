//! The CPU time, user and system, of compiling each example: Kiln for both environments, and the way through LLVM.
//!
//! The compilers take turns within a round, so that what else the machine does falls on all of them; the median of
//! the rounds counts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use nix::sys::resource::{UsageWho, getrusage};

use crate::{Outcome, process, root};

const ROUNDS: usize = 9;
/// The clock of some kernels is coarser than one run of Kiln.
const RUNS_OF_KILN: u32 = 10;

/// One row of the table.
struct Row {
    example: String,
    vulkan: Duration,
    opencl: Duration,
    llvm: Duration,
}

/// Measures, and prints the table.
pub(crate) fn compile() -> Outcome {
    let kiln = process::release_kiln()?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let rows = examples()?
        .iter()
        .map(|source| measure(&kiln, source, scratch.path()))
        .collect::<Result<Vec<_>, String>>()?;
    print(&rows);
    Ok(())
}

/// The sources of the examples, as examples/NAME/NAME.cl.
fn examples() -> Result<Vec<PathBuf>, String> {
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

fn measure(kiln: &Path, source: &Path, scratch: &Path) -> Result<Row, String> {
    let [bitcode, module] = ["kernel.bc", "kernel.spv"].map(|name| scratch.join(name));
    let with_kiln = |environment| {
        for _ in 0..RUNS_OF_KILN {
            let mut command = Command::new(kiln);
            command.arg("compile").arg(source).args(["--env", environment, "-o"]).arg(&module);
            process::run(&mut command)?;
        }
        Ok(())
    };
    let with_llvm = || {
        let mut clang = Command::new("clang-15");
        clang
            .args(["-cl-std=CL2.0", "-O2", "--target=spir64", "-emit-llvm", "-c", "-o"])
            .arg(&bitcode)
            .arg(source);
        process::run(&mut clang)?;
        process::run(Command::new("llvm-spirv-15").arg(&bitcode).arg("-o").arg(&module))
    };
    let (mut vulkan, mut opencl, mut llvm) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        vulkan.push(cpu_time(|| with_kiln("vulkan"))? / RUNS_OF_KILN);
        opencl.push(cpu_time(|| with_kiln("opencl"))? / RUNS_OF_KILN);
        llvm.push(cpu_time(with_llvm)?);
    }
    let example = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Row { example, vulkan: median(vulkan), opencl: median(opencl), llvm: median(llvm) })
}

/// The CPU time of the child processes that this runs.
fn cpu_time(run: impl FnOnce() -> Outcome) -> Result<Duration, String> {
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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn print(rows: &[Row]) {
    let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1000.0);
    let ratio = |row: &Row| row.llvm.as_secs_f64() / row.vulkan.max(row.opencl).as_secs_f64().max(1e-9);
    println!("CPU time, user and system, of whole processes; median of {ROUNDS} rounds\n");
    println!(
        "{:<20} {:>12} {:>12} {:>22} {:>8}",
        "example", "kiln vulkan", "kiln opencl", "clang + llvm-spirv 15", "ratio"
    );
    for row in rows {
        println!(
            "{:<20} {:>12} {:>12} {:>22} {:>7.1}x",
            row.example,
            ms(row.vulkan),
            ms(row.opencl),
            ms(row.llvm),
            ratio(row)
        );
    }
    let least = rows.iter().map(ratio).fold(f64::INFINITY, f64::min);
    println!(
        "\nthe slower of kiln's two takes at most 1/{least:.1} of the time of clang-15 and llvm-spirv-15"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_seen() {
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
