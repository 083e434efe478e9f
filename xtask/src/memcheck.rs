//! `cargo xtask memcheck`: runs the runtime's tests under valgrind, on lavapipe. Invalid accesses and leaks are
//! failures; `valgrind.supp` lists the exceptions outside Kiln, with reasons.
//!
//! Only definite leaks count: hash tables and the main thread's handle are referenced by interior pointers, so
//! valgrind reports everything reachable from them as possibly lost.
//!
//! The validation layer is off: the ordinary tests use it to find leaked Vulkan objects, and here it would only cost
//! time.

use clap::Args;

use crate::{
    Outcome,
    process::{cargo, run},
    root, setup,
};

/// Selects tests.
#[derive(Args)]
pub(crate) struct Memcheck {
    /// Run only the tests whose names contain this
    filter: Option<String>,
}

/// Packages required in addition to those of the tests.
const VALGRIND: &[&str] = &["valgrind", "libc6-dbg"];

const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";

/// The tests of each package that use the driver. Excludes tests that launch millions of work-items, move hundreds of
/// megabytes, or measure their own process.
const TESTS: &[(&str, &[&str], &[&str])] = &[
    ("kiln-runtime", &["--test", "devices"], &["slow_kernels", "large_transfers"]),
    (
        "kiln-testsuite",
        &["--test", "runtime"],
        &["many_", "load_of_all_commands", "random_index_spaces", "formats"],
    ),
    ("kiln-opencl", &["--lib"], &["damaged_", "wrong_calls"]),
];

/// Runs the tests.
pub(crate) fn memcheck(arguments: &Memcheck) -> Outcome {
    setup::install_for_tests(false)?;
    setup::install(VALGRIND)?;
    let suppressions = root().join("xtask/valgrind.supp");
    let valgrind = format!(
        "valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite \
         --errors-for-leak-kinds=definite --keep-debuginfo=yes --suppressions={}",
        suppressions.display()
    );
    for (package, test, left_out) in TESTS {
        let mut command = cargo();
        command.args(["test", "--package", package]).args(*test).args(["--", "--test-threads=1"]);
        for name in *left_out {
            command.args(["--skip", name]);
        }
        command.args(&arguments.filter);
        command
            .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", &valgrind)
            .env("VK_DRIVER_FILES", LAVAPIPE)
            .env("VK_ICD_FILENAMES", LAVAPIPE)
            .env("KILN_TEST_RUNTIME", "1")
            .env("KILN_TEST_VALIDATION", "0");
        run(&mut command)?;
    }
    Ok(())
}
