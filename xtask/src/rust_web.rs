//! Debian's Rust compiler for building web browsers. It is newer than Debian's rustc, and comes with the sources of the standard
//! library, so that it compiles for all targets, even where rustup cannot add any.

use std::{fs, path::PathBuf, process::Command};

use crate::process;

const PACKAGES: &[&str] = &["rustc-web", "libstd-rust-web-dev", "rust-web-src", "libllvm22"];

/// Cargo with this compiler; its builds need `-Zbuild-std`.
pub(crate) fn cargo() -> Result<Command, String> {
    let (rustc, libraries) = unpacked()?;
    let mut cargo = process::cargo();
    cargo.env("RUSTC", rustc).env("LD_LIBRARY_PATH", libraries).env("RUSTC_BOOTSTRAP", "1");
    Ok(cargo)
}

/// Unpacks the compiler. Returns its path and that of its libraries.
fn unpacked() -> Result<(PathBuf, PathBuf), String> {
    let folder = process::target_dir().join("rustc-web");
    let rustc = folder.join("usr/bin/rustc");
    let libraries = folder.join("usr/lib/x86_64-linux-gnu");
    if !rustc.exists() {
        fs::create_dir_all(&folder).map_err(|error| process::cannot_write(&folder, &error))?;
        let standard = process::output(Command::new("apt-cache").args([
            "depends",
            "--important",
            "libstd-rust-web-dev",
        ]))?;
        let standard = standard.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
        process::run(
            Command::new("apt-get").current_dir(&folder).arg("download").args(PACKAGES).args(standard),
        )?;
        process::run(
            Command::new("sh").current_dir(&folder).args(["-c", "for p in *.deb; do dpkg -x \"$p\" .; done"]),
        )?;
    }
    Ok((rustc, libraries))
}
