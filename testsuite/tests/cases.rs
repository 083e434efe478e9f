//! The tests of `testsuite/cases`.

use std::process::ExitCode;

use kiln_testsuite::{root, suite};

fn main() -> ExitCode {
    suite::main(&root().join("testsuite/cases"), None)
}
