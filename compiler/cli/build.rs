//! Makes `kiln` start faster on Linux: starting takes longer than compiling a small kernel.

#![expect(clippy::disallowed_macros, reason = "Cargo reads the standard output of build scripts")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    if target("OS") == "linux" && target("ENV") == "gnu" && target("ARCH") == "x86_64" && !is_static {
        // At a fixed address. A position-independent program has 20,000 addresses that the dynamic linker adjusts at every
        // start, which touches 100 pages.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // The unwinder of GCC, instead of a shared library that the dynamic linker loads.
        println!("cargo::rustc-link-lib=gcc_eh");
    }
}
