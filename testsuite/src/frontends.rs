//! Programs of front ends for languages other than OpenCL C: kernel modules of C++ for OpenCL, of HIP, of Zig and of DPC++, run by
//! `kiln run`.
//!
//! A program is a file in `testsuite/frontends`. Its first line is a comment with the arguments and checks of a launch of the
//! kernel `k` with one work-group of 64 work-items. DPC++ compiles SYCL, and has compiled kernels of dpctl, a Python package: a
//! program names one of them, with its parameters in OpenCL C, and contains the complete launch.

mod contained;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{
    device::Device,
    kiln::{self, LIMIT},
    process, root,
};

/// The time limit of a launch. The longest one takes 16 s of processor time, most of it in lavapipe's compiler.
const LAUNCH: Duration = Duration::from_secs(900);

/// A compiler that makes kernel modules.
#[derive(Clone, Debug)]
pub enum Frontend {
    /// clang-15 and llvm-spirv-15, for C++ for OpenCL, with this level of optimization.
    Translator(&'static str),
    /// clang-15 and llvm-spirv-15, for HIP, with this level of optimization.
    Hip(&'static str),
    /// A clang that makes SPIR-V without a translator, for C++ for OpenCL.
    Clang(PathBuf),
    /// Zig.
    Zig(PathBuf),
    /// DPC++, as a library in this folder, for SYCL.
    Sycl(PathBuf),
    /// DPC++, which compiled the programs in this folder.
    Dpctl(PathBuf),
}

impl Frontend {
    /// The programs in its language, sorted.
    pub fn programs(&self) -> Vec<PathBuf> {
        let folder = match self {
            Self::Zig(_) => "zig",
            Self::Sycl(_) => "sycl",
            Self::Dpctl(_) => "dpctl",
            Self::Translator(_) | Self::Clang(_) => "cpp",
            Self::Hip(_) => "hip",
        };
        let entries =
            fs::read_dir(root().join("testsuite/frontends").join(folder)).expect("the folder exists");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let mut programs: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_none_or(|extension| extension != "h")).collect();
        programs.sort();
        programs
    }

    /// Compiles a program to a module in a folder. The error contains the compiler's messages.
    pub fn compile(&self, program: &Path, folder: &Path) -> Result<PathBuf, String> {
        let [module, bitcode] = ["k.spv", "k.bc"].map(|name| folder.join(name));
        let cpp = ["-cl-std=clc++2021", "-Xclang", "-finclude-default-header", "-w", "-c"];
        // The device code of HIP, without ROCm's headers and libraries.
        let hip = "-x hip --cuda-device-only -nogpuinc -nogpulib -std=c++17 -w -c";
        let translated = |language: &mut dyn Iterator<Item = &str>, level: &str| {
            let mut clang = Command::new("clang-15");
            clang.args(language).args(["-emit-llvm", level, "-o"]).arg(&bitcode).arg(program);
            let mut translator = Command::new("llvm-spirv-15");
            translator.arg(&bitcode).arg("-o").arg(&module);
            vec![clang, translator]
        };
        let commands = match self {
            Self::Translator(level) => translated(&mut cpp.into_iter().chain(["--target=spir64"]), level),
            Self::Hip(level) => translated(&mut hip.split(' ').chain(["--offload=spirv64"]), level),
            Self::Clang(path) => {
                let mut clang = Command::new(path);
                clang.args(cpp).args(["--target=spirv64", "-O2", "-o"]).arg(&module).arg(program);
                vec![clang]
            }
            Self::Zig(path) => {
                let mut zig = Command::new(path);
                zig.args([
                    "build-obj",
                    "-target",
                    "spirv64-opencl",
                    "-ofmt=spirv",
                    "-fno-llvm",
                    "-O",
                    "ReleaseFast",
                ]);
                zig.arg(program).arg(format!("-femit-bin={}", module.display()));
                vec![zig]
            }
            Self::Sycl(path) => {
                let library =
                    fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
                let mut compiler = Command::new("python3");
                compiler.arg(root().join("testsuite/frontends/dpcpp.py")).args([&library, program, &module]);
                vec![compiler]
            }
            Self::Dpctl(path) => {
                fs::write(&module, contained::module(path, &kernel(program)?)?).map_err(|e| e.to_string())?;
                Vec::new()
            }
        };
        for mut command in commands {
            let finished = process::run(command.current_dir(folder), b"", LIMIT)?;
            if !finished.status.success() {
                return Err(finished.stderr);
            }
        }
        Ok(module)
    }

    /// Compiles a program and runs it on each of the devices. The error is the first failure.
    pub fn check(&self, program: &Path, devices: &[&Device]) -> Result<(), String> {
        let source =
            fs::read_to_string(program).map_err(|error| format!("{}: {error}", program.display()))?;
        let launch = source.lines().next().and_then(|line| line.strip_prefix("// "));
        let launch = launch.ok_or_else(|| format!("{} does not begin with a launch", program.display()))?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let module = self.compile(program, folder.path())?;
        for device in devices {
            let mut command = kiln::command();
            device.only(&mut command)?;
            command.args(["run", "--timeout", &LAUNCH.as_secs().to_string()]);
            match self {
                Self::Dpctl(_) => command.arg(program).arg("--module").arg(&module),
                _ => {
                    command.arg(&module).args(["--global", "64", "--local", "64", "--kernel", self.kernel()])
                }
            };
            command.args(launch.split_whitespace());
            // Kiln's own message is better than that of a process that is ended.
            let finished = process::run(&mut command, b"", LAUNCH + LIMIT)?;
            if !finished.status.success() {
                return Err(format!("{}: {}", device.name, finished.stderr));
            }
        }
        Ok(())
    }

    /// The name in modules of the kernel `k`.
    fn kernel(&self) -> &'static str {
        if matches!(self, Self::Sycl(_)) { "__sycl_kernel_k" } else { "k" }
    }
}

/// The name of the kernel of a program.
fn kernel(program: &Path) -> Result<String, String> {
    let source = fs::read_to_string(program).map_err(|error| error.to_string())?;
    let name =
        source.split_once("kernel void ").and_then(|(_, rest)| Some(rest.split_once('(')?.0.to_owned()));
    name.ok_or_else(|| format!("{} has no kernel", program.display()))
}
