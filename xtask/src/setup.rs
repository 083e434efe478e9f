//! `cargo xtask setup`: installs the Debian packages that the commands need, unpacks a current driver next to the
//! installed one and, on request, downloads the oracles that Debian does not package. All installation and all package
//! names are in this file and in `setup/lavapipe.rs`.

mod lavapipe;

use std::{fs, process::Command};

use clap::Args;

use crate::{
    Outcome,
    process::{installed, run, succeeds},
    root,
};

/// What to install; without options, everything.
#[derive(Args)]
pub(crate) struct Setup {
    /// For `cargo xtask demo`: a Vulkan loader and a software driver
    #[arg(long)]
    demo: bool,
    /// For `cargo xtask test`: three software drivers, the validation layers, the SPIR-V tools
    #[arg(long)]
    tests: bool,
    /// For `cargo xtask bench`: the other implementations
    #[arg(long)]
    bench: bool,
    /// For `cargo xtask differential --oracle intel`: Intel's OpenCL runtime, from PyPI (800 MB); not included by
    /// default
    #[arg(long)]
    oracles: bool,
}

/// Provides a device to run kernels on.
pub(crate) const DEMO: &[&str] = &["libvulkan1", "mesa-vulkan-drivers"];

/// lavapipe is in mesa-vulkan-drivers, and SwiftShader in chromium-common. MPFR is the reference for math functions,
/// and PoCL for random programs. clang and its translator compile modules for the reference device. The build tools
/// run `kiln`, programs in C use the OpenCL headers, Neovim runs `kiln lsp`, and esbuild and Node run the extension for
/// VS Code.
pub(crate) const TESTS: &[&str] = &[
    "libvulkan1",
    "llvm-spirv-15",
    "mesa-vulkan-drivers",
    "chromium-common",
    "clang-15",
    "cmake",
    "esbuild",
    "g++",
    "make",
    "meson",
    "neovim",
    "ninja-build",
    "nodejs",
    "ocl-icd-libopencl1",
    "ocl-icd-opencl-dev",
    "pkg-config",
    "pocl-opencl-icd",
    "python3-numpy",
    "bazel-bootstrap",
    "vulkan-validationlayers",
    "spirv-tools",
    "libgmp-dev",
    "libmpfr-dev",
];

/// For `cargo xtask test --nightly` alone: docs/mistakes.md compares messages with those of this clang, Emacs runs
/// `kiln lsp`, the wheel for Python is installed in an environment of its own, and the packages for Debian and VS Code are made.
const NIGHTLY: &[&str] =
    &["clang-22", "dpkg-dev", "elpa-eglot", "emacs-nox", "python3-pip", "python3-venv", "unzip"];

/// Another compiler from OpenCL C to SPIR-V, and another OpenCL implementation for CPUs.
pub(crate) const BENCH: &[&str] = &[
    "clang-15",
    "llvm-spirv-15",
    "libvulkan1",
    "mesa-vulkan-drivers",
    "ocl-icd-libopencl1",
    "pocl-opencl-icd",
];

/// Another language server.
pub(crate) const EDITORS: &[&str] = &["clangd-15"];

/// Other OpenCL implementations for CPUs: one that checks programs, and one that is fast.
pub(crate) const REFERENCE: &[&str] = &["ocl-icd-libopencl1", "oclgrind", "pocl-opencl-icd"];

/// GNU time, which measures memory use.
pub(crate) const BUDGETS: &[&str] = &["time"];

/// Installs the requested packages.
pub(crate) fn setup(wanted: &Setup) -> Outcome {
    if wanted.oracles {
        oracles()?;
    }
    let all = !(wanted.demo || wanted.tests || wanted.bench || wanted.oracles);
    let lists = [(wanted.demo, DEMO), (wanted.tests, TESTS), (wanted.bench, BENCH)];
    let packages: Vec<&str> =
        lists.into_iter().filter(|(chosen, _)| *chosen || all).flat_map(|(_, list)| list).copied().collect();
    install(&packages)?;
    if wanted.tests || all { lavapipe::unpack() } else { Ok(()) }
}

/// Installs the requirements of the tests.
pub(crate) fn install_for_tests(nightly: bool) -> Outcome {
    install(TESTS)?;
    if nightly {
        install(NIGHTLY)?;
        install_npm()?;
    }
    lavapipe::unpack()
}

/// Installs npm. Node's own packages contain it, and conflict with Debian's.
pub(crate) fn install_npm() -> Outcome {
    if installed("npm") { Ok(()) } else { install(&["npm"]) }
}

/// The PyPI packages of Intel's runtime.
const INTEL: &[&str] = &["intel-opencl-rt", "intel-cmplr-lib-rt", "tbb"];

/// Downloads and unpacks the files that `testsuite/src/oracle.rs` looks for.
fn oracles() -> Outcome {
    let folder = root().join("target/oracles");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest"];
    run(Command::new("python3").args(download).arg(&folder).args(INTEL))?;
    for entry in fs::read_dir(&folder).map_err(|e| e.to_string())?.filter_map(Result::ok) {
        let wheel = entry.path();
        if wheel.extension().is_some_and(|ending| ending == "whl") {
            run(Command::new("python3").args(["-m", "zipfile", "--extract"]).arg(&wheel).arg(&folder))?;
            fs::remove_file(&wheel).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// Installs the packages that are missing.
pub(crate) fn install(packages: &[&str]) -> Outcome {
    let mut missing: Vec<&str> = packages.iter().copied().filter(|package| !present(package)).collect();
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !installed("apt-get") {
        return Err(format!("there is no apt-get here; please install what Debian calls {list}"));
    }
    eprintln!("setup: installing {list}");
    let install = || run(apt().args(["install", "--yes", "--no-install-recommends"]).args(&missing));
    // A fresh machine has no package lists, and old lists can name packages that no longer exist.
    install().or_else(|_| {
        eprintln!("setup: trying again with fresh package lists");
        run(apt().arg("update"))?;
        install()
    })?;
    match missing.iter().find(|package| !present(package)) {
        Some(package) => Err(format!("{package} is not installed although apt-get succeeded")),
        None => Ok(()),
    }
}

fn present(package: &str) -> bool {
    let query =
        Command::new("dpkg-query").args(["--show", "--showformat=${db:Status-Status}", package]).output();
    query.is_ok_and(|output| output.stdout == b"installed")
}

fn apt() -> Command {
    let mut command = if nix::unistd::geteuid().is_root() || !installed("sudo") {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        // A password prompt requires an interactive terminal.
        if !succeeds(Command::new("sudo").args(["-n", "true"])) {
            eprintln!("setup: sudo may ask for your password");
        }
        sudo.args(["--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet");
    command
}
