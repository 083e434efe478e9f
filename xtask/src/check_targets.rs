//! `cargo xtask check-targets`: compiles Kiln for the systems on which it is not tested, where that needs no linker.

use clap::Args;

use crate::{Outcome, process, rust_web, setup};

/// The targets, as rustc names them.
const TARGETS: &[&str] = &["x86_64-pc-windows-gnu", "aarch64-apple-darwin", "aarch64-unknown-linux-gnu"];
const PACKAGES: &[&str] = &["kiln", "kiln-capi", "kiln-opencl"];

/// What to compile, and with which compiler.
#[derive(Args)]
pub(crate) struct CheckTargets {
    /// The targets [default: Windows, macOS, and Linux on ARM]
    targets: Vec<String>,
    /// Download the compiler from Debian, and build the standard library with it, instead of `rustup target add`
    #[arg(long)]
    debian: bool,
}

/// Compiles for each target.
pub(crate) fn check_targets(wanted: &CheckTargets) -> Outcome {
    let given: Vec<&str> = wanted.targets.iter().map(String::as_str).collect();
    if wanted.debian {
        // rustc calls its dlltool for Windows.
        setup::install(&["binutils-mingw-w64-x86-64"])?;
    }
    for target in if given.is_empty() { TARGETS } else { &given } {
        let mut cargo = if wanted.debian { rust_web::cargo()? } else { process::cargo() };
        cargo.args(["check", "--locked", "--target", target]);
        if wanted.debian {
            // A separate folder: the build scripts of the ordinary compiler differ.
            cargo
                .arg("-Zbuild-std=std,panic_unwind")
                .env("CARGO_TARGET_DIR", process::target_dir().join("targets"));
        }
        process::run(cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package])))?;
        println!("{target}: compiled");
    }
    Ok(())
}
