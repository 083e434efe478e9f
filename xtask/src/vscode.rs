//! `cargo xtask vscode`: builds the extension for VS Code as it is published. Run it by hand, because it needs the npm
//! registry; `testsuite/tests/editors/extension.rs` tests the parts that do not need it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use crate::{Outcome, process, root};

/// The targets of extensions with a program, by Rust's names of the architecture and the system.
const TARGETS: [(&str, &str, &str); 6] = [
    ("x86_64", "linux", "linux-x64"),
    ("aarch64", "linux", "linux-arm64"),
    ("x86_64", "macos", "darwin-x64"),
    ("aarch64", "macos", "darwin-arm64"),
    ("x86_64", "windows", "win32-x64"),
    ("aarch64", "windows", "win32-arm64"),
];

#[derive(Args)]
pub(crate) struct Vscode {
    /// Include the program `kiln`; the extension is then specific to this system
    #[arg(long)]
    pub(crate) server: bool,
    /// Use this program `kiln` instead of building one
    #[arg(long, value_name = "FILE", value_parser = process::absolute)]
    pub(crate) kiln: Option<PathBuf>,
}

/// Checks, tests, bundles and packages, and prints where.
pub(crate) fn vscode(options: &Vscode) -> Outcome {
    for path in package(options)? {
        println!("{}", path.display());
    }
    Ok(())
}

/// Checks, tests, bundles and packages. Returns the packages.
pub(crate) fn package(options: &Vscode) -> Result<Vec<PathBuf>, String> {
    let source = root().join("compiler/lsp/editors/vscode");
    let kiln = options.kiln.clone().map_or_else(process::release_kiln, Ok)?;
    // Keeps npm's files out of the source tree.
    let folder = process::target_dir().join("vscode");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    clean(&folder).map_err(|e| format!("cannot clean `{}`: {e}", folder.display()))?;
    process::run(Command::new("cp").arg("-rT").arg(&source).arg(&folder))?;
    let mut package = vec!["run", "package"];
    if options.server {
        let server = folder.join("server");
        let name = kiln.file_name().ok_or("the program has no name")?;
        fs::create_dir_all(&server)
            .and_then(|()| fs::copy(&kiln, server.join(name)))
            .map_err(|e| format!("cannot copy `{}`: {e}", kiln.display()))?;
        package.extend(["--", "--target", target()?]);
    }
    for words in
        [&["ci", "--no-audit", "--no-fund"][..], &["run", "check"], &["test"], &["run", "bundle"], &package]
    {
        process::run(Command::new("npm").current_dir(&folder).env("KILN", &kiln).args(words))?;
    }
    packages(&folder).map_err(|e| format!("cannot read `{}`: {e}", folder.display()))
}

/// The packages in a folder.
fn packages(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths: io::Result<Vec<PathBuf>> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let is_package = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "vsix");
    Ok(paths?.into_iter().filter(is_package).collect())
}

/// Removes the program and packages of an earlier build.
fn clean(folder: &Path) -> io::Result<()> {
    let server = folder.join("server");
    if server.exists() {
        fs::remove_dir_all(server)?;
    }
    packages(folder)?.into_iter().try_for_each(fs::remove_file)
}

/// The target of this system, as VS Code names it.
fn target() -> Result<&'static str, String> {
    let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
    TARGETS
        .iter()
        .find(|(of, on, _)| (*of, *on) == (architecture, system))
        .map(|(.., target)| *target)
        .ok_or_else(|| format!("VS Code has no target for {architecture} and {system}"))
}
