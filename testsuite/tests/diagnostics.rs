//! The pages of `docs/diagnostics` are executed: what they show as wrong is refused, what they show as right is not.
//! The warning that a page is about is switched on for it.

use std::process::ExitCode;

use kiln_testsuite::{
    root,
    suite::{self, Suite},
};

fn main() -> ExitCode {
    let options = |name: &str| vec![format!("-W{name}")];
    suite::main(&root().join("docs/diagnostics"), Suite { options, demand: Some(shows_its_own_code) })
}

fn shows_its_own_code(name: &str, codes: &[String]) -> Result<(), String> {
    if codes.iter().any(|code| code == name) {
        return Ok(());
    }
    Err(format!("no example on the page leads to [{name}]"))
}
