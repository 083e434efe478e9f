//! The tests of `testsuite/cases`.

use std::process::ExitCode;

use kiln_testsuite::{
    root,
    suite::{self, Suite},
};

fn main() -> ExitCode {
    suite::main(&root().join("testsuite/cases"), Suite { options: |_| Vec::new(), demand: None })
}
