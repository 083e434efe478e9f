//! Runs the binary `kiln` and parses its diagnostics.

use std::{env, os::unix::fs::symlink, path::PathBuf, process::Command, sync::OnceLock, time::Duration};

use serde::Deserialize;
use tempfile::TempDir;

use crate::{
    process::{self, Finished},
    root,
};

/// The timeout, longer than any compilation or launch takes on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The path of the binary, built from the current sources.
pub fn binary() -> PathBuf {
    program("kiln")
}

/// The path of a program of the workspace, built from the current sources.
pub fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        // This program is target/PROFILE/NAME, or a test in `deps` there. The directory has the profile's name,
        // except for `dev`.
        let this = env::current_exe().expect("the path of this program is known");
        let folder_of_this = this.parent().expect("programs lie in folders");
        let folder = if folder_of_this.ends_with("deps") {
            folder_of_this.parent().expect("a profile")
        } else {
            folder_of_this
        };
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // Builds the whole workspace, so that dependencies have the features of `cargo test --workspace`.
        cargo.args([
            "build",
            "--quiet",
            "--workspace",
            "--bin",
            "kiln",
            "--bin",
            "kiln-oracle",
            "--bin",
            "xtask",
        ]);
        cargo.args(["--profile", profile, "--target-dir"]);
        cargo
            .arg(folder.parent().expect("the target folder contains the folder of the profile"))
            .current_dir(root());
        let built = cargo.status().expect("cargo starts");
        assert!(built.success(), "kiln does not build");
        folder.to_owned()
    });
    folder.join(name)
}

/// The path of a library of the workspace, which Cargo builds next to the tests that depend on it.
pub fn library(name: &str) -> PathBuf {
    let library = env::current_exe().expect("the path of this program is known").with_file_name(name);
    assert!(library.exists(), "{} is not built", library.display());
    library
}

/// A folder with the built files for `cargo xtask install --from`.
pub fn built() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let libraries = ["libkiln_opencl.so", "libkiln.so", "libkiln.a"].map(library);
    for file in libraries.into_iter().chain([program("kiln")]) {
        let link = folder.path().join(file.file_name().expect("a file"));
        symlink(file, link).expect("a link");
    }
    folder
}

/// Variables that control colors. `CI` overrides `TERM=dumb`, because CI logs show colors.
pub const COLORS: [&str; 4] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"];

/// A `kiln` command that is isolated from the user's environment.
pub fn command() -> Command {
    let mut command = Command::new(binary());
    for variable in ["KILN_DEVICE", "KILN_VALIDATION"].into_iter().chain(COLORS) {
        command.env_remove(variable);
    }
    // Tests must not use the user's directories.
    command.env("KILN_CACHE", "off");
    command
}

/// Runs a command until it exits.
pub fn run(command: &mut Command) -> Result<Finished, String> {
    process::run(command, b"", LIMIT)
}

/// A diagnostic, parsed from `--diagnostic-format json`.
#[derive(Debug, Deserialize)]
pub struct Diagnostic {
    /// `error` or `warning`
    pub severity: String,
    /// The diagnostic code.
    pub code: String,
    /// The message.
    pub message: String,
    /// The location, if it has one.
    pub location: Option<Location>,
    /// The suggested edit.
    #[serde(default)]
    pub fix: Option<Fix>,
}

/// A suggested edit.
#[derive(Debug, Deserialize)]
pub struct Fix {
    /// The text to replace, if it has a location in a file.
    pub location: Option<Range>,
    /// The new text.
    pub replacement: String,
}

/// A range of a file.
#[derive(Debug, Deserialize)]
pub struct Range {
    /// The file's name.
    pub file: String,
    /// The offset of the first byte.
    pub start_byte: usize,
    /// The offset after the last byte.
    pub end_byte: usize,
}

/// A location in a source.
#[derive(Debug, Deserialize)]
pub struct Location {
    /// The name as given on the command line, or resolved by an include directive.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// Parses the diagnostics on standard error. Any other output is an error, most likely a panic.
pub fn diagnostics(finished: &Finished) -> Result<Vec<Diagnostic>, String> {
    finished.stderr.lines().map(serde_json::from_str).collect::<Result<_, _>>().map_err(|_| {
        format!("kiln ({}) wrote output that is not a diagnostic:\n{}", finished.status, finished.stderr)
    })
}
