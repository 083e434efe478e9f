//! `cargo xtask playground`: builds the page that compiles and runs kernels in the browser, in `target/playground`.
//!
//! Needs a compiler with the target wasm32-unknown-unknown: that of `rustup target add`, or the compiler and the sources of
//! Debian's rustc-web, which this unpacks on request.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use crate::{Outcome, process, root};

/// How to build the page.
#[derive(Args)]
pub(crate) struct Playground {
    /// Download the compiler from Debian, and build the standard library with it; needs cargo of a nightly toolchain
    #[arg(long)]
    debian: bool,
}

const TARGET: &str = "wasm32-unknown-unknown";
/// Debian's compiler packages for building web browsers, which are newer than Debian's rustc.
const DEBIAN: &[&str] = &["rustc-web", "libstd-rust-web-dev", "rust-web-src", "libllvm22"];
/// The maximum compressed size of the page, in bytes.
const LARGEST: u64 = 3 << 20;

/// Builds the page and prints its size.
pub(crate) fn playground(wanted: &Playground) -> Outcome {
    let mut cargo = process::cargo();
    if wanted.debian {
        let (rustc, libraries) = debian()?;
        cargo.env("RUSTC", rustc).env("LD_LIBRARY_PATH", libraries).env("RUSTC_BOOTSTRAP", "1");
        cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker()?);
    }
    cargo.args(["build", "--release", "--package", "kiln-playground", "--lib", "--target", TARGET]);
    if wanted.debian {
        cargo.arg("-Zbuild-std=std,panic_abort");
    }
    cargo.env("RUSTFLAGS", "-Clink-arg=-zstack-size=4194304").env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s");
    cargo.env("CARGO_PROFILE_RELEASE_PANIC", "abort");
    process::run(&mut cargo)?;
    let page = process::target_dir().join("playground");
    let web = root().join("compiler/playground/web");
    fs::create_dir_all(&page).map_err(|error| cannot_write(&page, &error))?;
    for name in ["index.html", "page.js", "examples.js", "style.css"] {
        fs::copy(web.join(name), page.join(name)).map_err(|error| cannot_write(&page, &error))?;
    }
    let module = page.join("kiln.wasm");
    let built = process::target_dir().join(TARGET).join("release/kiln_playground.wasm");
    fs::copy(built, &module).map_err(|error| cannot_write(&module, &error))?;
    let compressed =
        process::output(Command::new("sh").args(["-c", "gzip -9 -c \"$0\" | wc -c"]).arg(&module))?;
    let bytes: u64 = compressed.trim().parse().map_err(|_| "gzip failed")?;
    println!("{}: {} KiB compressed", page.display(), bytes.div_ceil(1024));
    if bytes > LARGEST { Err(format!("the page may have {} KiB", LARGEST >> 10)) } else { Ok(()) }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

/// Unpacks Debian's compiler. Returns its path and that of its libraries.
fn debian() -> Result<(PathBuf, PathBuf), String> {
    let folder = process::target_dir().join("rustc-web");
    let rustc = folder.join("usr/bin/rustc");
    let libraries = folder.join("usr/lib/x86_64-linux-gnu");
    if !rustc.exists() {
        fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        let standard = process::output(Command::new("apt-cache").args([
            "depends",
            "--important",
            "libstd-rust-web-dev",
        ]))?;
        let standard = standard.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
        process::run(
            Command::new("apt-get").current_dir(&folder).arg("download").args(DEBIAN).args(standard),
        )?;
        process::run(
            Command::new("sh").current_dir(&folder).args(["-c", "for p in *.deb; do dpkg -x \"$p\" .; done"]),
        )?;
    }
    Ok((rustc, libraries))
}

/// The linker of the installed toolchain.
fn linker() -> Result<PathBuf, String> {
    let mut rustc = Command::new("rustc");
    let sysroot = process::output(rustc.args(["--print", "sysroot"]))?;
    let host = "lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld";
    Ok(Path::new(sysroot.trim()).join(host))
}
