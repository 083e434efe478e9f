//! Samples: the parts of domains that ordinary runs test, while `cargo xtask test --nightly` tests all. The summary of
//! `cargo xtask test` reports every sample.

use std::{env, fs::OpenOptions, io::Write as _};

/// Set by `cargo xtask test --nightly`.
const NIGHTLY: &str = "KILN_NIGHTLY";
/// The file to which samples are reported, set by `cargo xtask test`.
const SAMPLES: &str = "KILN_SAMPLES";

/// Whether this run tests everything.
pub fn is_on() -> bool {
    env::var_os(NIGHTLY).is_some_and(|value| value == "1")
}

/// The number of inputs to test: `all`, or `sample` without `--nightly`.
pub fn count(what: &str, sample: usize, all: usize) -> usize {
    if tests_all(&format!("{sample} of {all} {what}")) { all } else { sample }
}

/// Whether to test everything; otherwise reports the part that is tested.
pub fn tests_all(sample: &str) -> bool {
    if !is_on()
        && let Some(file) = env::var_os(SAMPLES)
    {
        let file = OpenOptions::new().append(true).open(file);
        file.and_then(|mut file| file.write_all(format!("{sample}\n").as_bytes()))
            .expect("the file is there");
    }
    is_on()
}
