//! The tests of `testsuite/cases`.

use std::process::ExitCode;

use kiln_testsuite::{
    root,
    suite::{self, Depth, Suite},
};

fn main() -> ExitCode {
    let suite = Suite { options: |_| Vec::new(), depth: Depth::Modules, requirement: None };
    suite::main(&root().join("testsuite/cases"), suite)
}
