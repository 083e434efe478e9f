//! Executes the pages of `docs/diagnostics`: the wrong examples are rejected, the corrected ones are accepted. The warning of
//! a page is enabled for it.

use std::process::ExitCode;

use kiln_testsuite::{
    root,
    suite::{self, Depth, Suite},
};

fn main() -> ExitCode {
    let options = |name: &str| vec![format!("-W{name}")];
    let suite = Suite { options, depth: Depth::Diagnostics, requirement: Some(shows_its_own_code) };
    suite::main(&root().join("docs/diagnostics"), suite)
}

fn shows_its_own_code(name: &str, codes: &[String]) -> Result<(), String> {
    if codes.iter().any(|code| code == name) {
        return Ok(());
    }
    Err(format!("no example on the page leads to [{name}]"))
}
