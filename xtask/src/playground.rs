//! `cargo xtask playground`: builds the page that compiles and runs kernels in the browser, in `target/playground`.
//!
//! Needs npm and its registry, and a compiler with the target wasm32-unknown-unknown: that of `rustup target add` or, on
//! request, Debian's.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use crate::{Outcome, process, root, rust_web, setup};

/// How to build the page.
#[derive(Args)]
pub(crate) struct Playground {
    /// Download the compiler from Debian, and build the standard library with it
    #[arg(long)]
    debian: bool,
    /// Drive the page in Chromium afterwards, and write a screenshot next to it
    #[arg(long)]
    test: bool,
}

const TARGET: &str = "wasm32-unknown-unknown";
/// The files of the page, without the compiler.
const FILES: [&str; 4] = ["index.html", "page.js", "style.css", "licenses.txt"];
/// The maximum compressed size of the page, in bytes.
const LARGEST: u64 = 3 << 20;

/// Builds the page and prints its size.
pub(crate) fn playground(wanted: &Playground) -> Outcome {
    let mut cargo = if wanted.debian { rust_web::cargo()? } else { process::cargo() };
    if wanted.debian {
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
    fs::create_dir_all(&page).map_err(|error| process::cannot_write(&page, &error))?;
    let module = page.join("kiln.wasm");
    let built = process::target_dir().join(TARGET).join("release/kiln_playground.wasm");
    fs::copy(built, &module).map_err(|error| process::cannot_write(&module, &error))?;
    let web = root().join("compiler/playground/web");
    bundle(&web, &page)?;
    let mut compress = Command::new("sh");
    compress.args(["-c", "for file; do gzip -9 -c \"$file\"; done | wc -c", "sh"]);
    compress.args(FILES.map(|name| page.join(name))).arg(&module);
    let bytes: u64 = process::output(&mut compress)?.trim().parse().map_err(|_| "gzip failed")?;
    println!("{}: {} KiB compressed", page.display(), bytes.div_ceil(1024));
    if bytes > LARGEST {
        return Err(format!("the page may have {} KiB", LARGEST >> 10));
    }
    if wanted.test { drive(&page, &web) } else { Ok(()) }
}

/// Bundles the scripts with the editor, which npm downloads, and copies the page's files.
fn bundle(web: &Path, page: &Path) -> Outcome {
    setup::install(&["nodejs"])?;
    setup::install_npm()?;
    // Keeps npm's files out of the source tree.
    let folder = process::target_dir().join("playground-web");
    fs::create_dir_all(&folder).map_err(|error| process::cannot_write(&folder, &error))?;
    process::run(Command::new("cp").arg("-rT").arg(web).arg(&folder))?;
    for words in [&["ci", "--no-audit", "--no-fund"][..], &["run", "bundle"]] {
        process::run(Command::new("npm").current_dir(&folder).args(words))?;
    }
    for name in FILES {
        fs::copy(folder.join(name), page.join(name)).map_err(|error| process::cannot_write(page, &error))?;
    }
    Ok(())
}

/// Uses the page in Chromium as a user does.
fn drive(page: &Path, web: &Path) -> Outcome {
    setup::install(&["chromium"])?;
    let mut node = Command::new("node");
    node.arg(web.join("test.mjs")).arg(page).arg("chromium");
    process::run(node.arg(page.with_extension("png")))
}

/// The linker of the installed toolchain.
fn linker() -> Result<PathBuf, String> {
    let mut rustc = Command::new("rustc");
    let sysroot = process::output(rustc.args(["--print", "sysroot"]))?;
    let host = "lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld";
    Ok(Path::new(sysroot.trim()).join(host))
}
