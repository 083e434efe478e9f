//! Gives the shared library its name for the dynamic linker (docs/c-api.md, "ABI").

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_FAMILY") == "unix" && variable("CARGO_CFG_TARGET_VENDOR") != "apple" {
        let (major, minor) = (variable("CARGO_PKG_VERSION_MAJOR"), variable("CARGO_PKG_VERSION_MINOR"));
        let version = if major == "0" { format!("0.{minor}") } else { major };
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libkiln.so.{version}");
    }
}
