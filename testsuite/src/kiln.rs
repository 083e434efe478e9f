//! The binary `kiln`: where it is, what it is told, the diagnostics that it gives.

use std::{env, path::PathBuf, process::Command, sync::OnceLock, time::Duration};

use serde::Deserialize;

use crate::{
    process::{self, Finished},
    root,
};

/// Longer than any compilation or launch takes on a busy machine; what takes longer hangs.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The binary, built from the sources as they are.
pub fn binary() -> PathBuf {
    program("kiln")
}

/// A program of the workspace, built from the sources as they are.
pub fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        // This program is target/PROFILE/NAME, or a test in `deps` there; a profile's folder bears its name, but for `dev`.
        let this = env::current_exe().expect("a program knows where it is");
        let beside = this.parent().expect("programs lie in folders");
        let folder = if beside.ends_with("deps") { beside.parent().expect("a profile") } else { beside };
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // The whole workspace, so that dependencies have the features of `cargo test --workspace`.
        cargo.args(["build", "--quiet", "--workspace", "--bin", "kiln", "--bin", "kiln-oracle"]);
        cargo.args(["--profile", profile, "--target-dir"]);
        cargo.arg(folder.parent().expect("a profile lies in the target folder")).current_dir(root());
        let built = cargo.status().expect("cargo starts");
        assert!(built.success(), "kiln does not build");
        folder.to_owned()
    });
    folder.join(name)
}

/// What may decide whether text has colours: `TERM=dumb` counts for less than `CI`, where logs show colours.
pub const COLOURS: [&str; 4] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"];

/// A call of `kiln` that sees nothing of the user's environment that it might look at.
pub fn command() -> Command {
    let mut command = Command::new(binary());
    for variable in ["KILN_DEVICE", "KILN_VALIDATION"].into_iter().chain(COLOURS) {
        command.env_remove(variable);
    }
    // Tests leave nothing in the user's folders, and find nothing there.
    command.env("KILN_CACHE", "off");
    command
}

/// Runs a call to its end.
pub fn run(command: &mut Command) -> Result<Finished, String> {
    process::run(command, b"", LIMIT)
}

/// A diagnostic, as `--diagnostic-format json` writes it.
#[derive(Debug, Deserialize)]
pub struct Diagnostic {
    /// `error` or `warning`
    pub severity: String,
    /// The name in brackets.
    pub code: String,
    /// The sentence.
    pub message: String,
    /// Where, if anywhere.
    pub location: Option<Location>,
}

/// A place in a source.
#[derive(Debug, Deserialize)]
pub struct Location {
    /// As given on the command line, or as the include directive finds it.
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// Reads the diagnostics on standard error. Anything else there is an error of ours: a panic, most likely.
pub fn diagnostics(finished: &Finished) -> Result<Vec<Diagnostic>, String> {
    finished
        .stderr
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|_| format!("kiln ({}) wrote what is no diagnostic:\n{}", finished.status, finished.stderr))
}
