//! `cargo xtask frontends`: runs programs of front ends for languages other than OpenCL C.

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use kiln_testsuite::{
    device::{self, Device},
    frontends::Frontend,
};

/// Runs kernel modules of C++ for OpenCL and of HIP, by clang-15 and llvm-spirv-15, and of other compilers on each device
#[derive(Parser)]
struct Arguments {
    /// A clang that makes SPIR-V itself, for C++ for OpenCL
    #[arg(long)]
    clang: Option<PathBuf>,
    /// A Zig compiler
    #[arg(long)]
    zig: Option<PathBuf>,
    /// A folder with the files of the Python packages intel-sycl-rt and intel-cmplr-lib-rt, which contain DPC++
    #[arg(long)]
    sycl: Option<PathBuf>,
    /// A folder with the files of the Python package dpctl, whose kernels DPC++ compiled
    #[arg(long)]
    dpctl: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Arguments { clang, zig, sycl, dpctl } = Arguments::parse();
    let levels = ["-O0", "-O2"];
    let mut frontends: Vec<Frontend> =
        levels.map(Frontend::Translator).into_iter().chain(levels.map(Frontend::Hip)).collect();
    frontends.extend(clang.map(Frontend::Clang));
    frontends.extend(zig.map(Frontend::Zig));
    frontends.extend(sycl.map(Frontend::Sycl));
    frontends.extend(dpctl.map(Frontend::Dpctl));
    let devices: Vec<&Device> = device::all().filter(|device| device.name != "clang").collect();
    let mut is_correct = true;
    for frontend in frontends {
        let programs = frontend.programs();
        let mut right = 0;
        for program in &programs {
            match frontend.check(program, &devices) {
                Ok(()) => right += 1,
                Err(message) => println!("{}: {}", program.display(), message.trim_end()),
            }
        }
        println!(
            "{frontend:?}: {right} of {} programs are correct on {} devices",
            programs.len(),
            devices.len()
        );
        is_correct &= right == programs.len();
    }
    if is_correct { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
