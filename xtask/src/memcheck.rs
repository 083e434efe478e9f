//! `cargo xtask memcheck`: the runtime's tests under valgrind, on lavapipe. Whatever reads or writes what it should not, or is lost,
//! is a failure; `valgrind.supp` says what is not ours, and why.
//!
//! Only what is lost for certain counts: hash tables and the main thread's handle are held by pointers into the middle of their
//! memory, so that valgrind calls what hangs on the statics of a process possibly lost.
//!
//! The validation layer is left out: it tells of Vulkan's objects that are lost in the ordinary tests, and here it would only be slow.

use clap::Args;

use crate::{
    Outcome,
    process::{cargo, run},
    root, setup,
};

/// What to look at.
#[derive(Args)]
pub(crate) struct Memcheck {
    /// Run only the tests whose names contain this
    filter: Option<String>,
}

/// Beside what the tests need.
const VALGRIND: &[&str] = &["valgrind", "libc6-dbg"];

const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";

/// The tests of each package that go through the driver. Those that are left out launch millions of work-items, move hundreds of
/// megabytes, or measure the process themselves.
const TESTS: &[(&str, &str, &[&str])] = &[
    ("kiln-runtime", "devices", &["slow_kernels", "large_transfers"]),
    ("kiln-testsuite", "runtime", &["many_", "everything_goes", "random_index_spaces", "formats"]),
];

/// Runs them.
pub(crate) fn memcheck(arguments: &Memcheck) -> Outcome {
    setup::install(setup::TESTS)?;
    setup::install(VALGRIND)?;
    let suppressions = root().join("xtask/valgrind.supp");
    let valgrind = format!(
        "valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite \
         --errors-for-leak-kinds=definite --keep-debuginfo=yes --suppressions={}",
        suppressions.display()
    );
    for (package, test, left_out) in TESTS {
        let mut command = cargo();
        command.args(["test", "--package", package, "--test", test, "--", "--test-threads=1"]);
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
