//! The pages of `docs/diagnostics` are executed: what they show as wrong is refused, what they show as right is not.

use std::{path::Path, process::ExitCode};

use kiln_testsuite::{root, suite};

fn main() -> ExitCode {
    suite::main(&root().join("docs/diagnostics"), Some(shows_its_own_code))
}

fn shows_its_own_code(page: &Path, codes: &[String]) -> Result<(), String> {
    let name = page.file_stem().unwrap_or_default().to_string_lossy();
    if codes.iter().any(|code| *code == name) {
        return Ok(());
    }
    Err(format!("no example on the page leads to [{name}]"))
}
