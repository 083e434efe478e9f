//! Runs other programs: cargo, apt, the binary `kiln`; their paths and messages. Must not depend on xtask's commands.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Outcome, root};

/// Cargo, in the root directory of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a program with inherited standard streams.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|e| cannot_start(command, &e))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", program_name(command))) }
}

/// Runs a program and returns its standard output; standard error is inherited.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| cannot_start(command, &e))?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", program_name(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} wrote what is not UTF-8", program_name(command)))
}

/// Whether the program starts and succeeds; its output is discarded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Whether a program with this name is in the path.
pub(crate) fn installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Builds the release binary `kiln` and returns its path.
pub(crate) fn release_kiln() -> Result<PathBuf, String> {
    run(cargo().args(["build", "--release", "--package", "kiln"]))?;
    Ok(target_dir().join("release/kiln"))
}

/// Cargo's target directory, derived from the path of this program.
pub(crate) fn target_dir() -> PathBuf {
    let this = env::current_exe().expect("a program knows where it is");
    this.ancestors().nth(2).map_or_else(|| root().join("target"), Path::to_path_buf)
}

/// Makes a path of the command line absolute, for programs that run in other folders.
pub(crate) fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| error.to_string())
}

/// The message for a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

fn program_name(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(OsStr::to_string_lossy));
    format!("`{}`", words.join(" "))
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start {}: {error}", program_name(command))
}
