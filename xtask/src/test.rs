//! `cargo xtask test`: runs all tests and checks that a change must pass, and prints one summary.
//!
//! Runs cargo and parses libtest's output. The packages contain the tests; `tidy.rs` contains the repository's own
//! checks.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Read},
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use clap::Args;

use crate::{
    Outcome,
    process::{cargo, succeeds},
    release, setup, tidy,
};

/// Selects tests.
#[derive(Args)]
pub(crate) struct Test {
    /// Run only tests whose name contains this [default: all tests and checks]
    filter: Option<String>,
    /// Test complete domains instead of samples, on every device; takes hours
    #[arg(long)]
    nightly: bool,
    /// Run on these devices of this machine instead: comma-separated parts of their names
    #[arg(long)]
    device: Option<String>,
}

/// Runs the tests and prints a summary. Each test prints a line in libtest's format, and the only `test result:` line
/// is the last one.
pub(crate) fn test(arguments: &Test) -> Outcome {
    let begin = Instant::now();
    setup::install_for_tests(arguments.nightly)?;
    let mut totals = Totals::default();
    run_cargo_test(arguments, &mut totals)?;
    if arguments.filter.is_none() {
        for check in REPOSITORY_CHECKS {
            totals.record_check(check.name, (check.run)());
        }
    }
    totals.finish(begin)?;
    // A misspelt name must not look like a success.
    match &arguments.filter {
        Some(filter) if totals.passed + totals.ignored == 0 => {
            Err(format!("no test has a name that contains {filter}"))
        }
        _ => Ok(()),
    }
}

/// A check that is not a test of a package.
struct Check {
    name: &'static str,
    run: fn() -> Outcome,
}

const REPOSITORY_CHECKS: &[Check] = &[
    Check { name: "tidy", run: tidy::tidy },
    Check { name: "release", run: release::check },
    Check { name: "rustfmt", run: || component("fmt", &["--all", "--check"]) },
    Check {
        name: "clippy",
        run: || component("clippy", &["--quiet", "--workspace", "--all-targets", "--", "--deny=warnings"]),
    },
    Check { name: "rustdoc", run: documentation },
];

/// Runs a component of the toolchain, if it is installed.
fn component(name: &str, arguments: &[&str]) -> Outcome {
    if !succeeds(cargo().args([name, "--version"])) {
        eprintln!("{name} is not installed (`rustup component add` brings it); not checked");
        return Ok(());
    }
    without_output(cargo().arg(name).args(arguments))
}

/// Builds the documentation of all packages. A warning, such as a broken link, is an error.
fn documentation() -> Outcome {
    let mut command = cargo();
    command.args(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny=warnings");
    without_output(&mut command)
}

/// Runs a command. The error is its output.
fn without_output(command: &mut Command) -> Outcome {
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

fn run_cargo_test(arguments: &Test, totals: &mut Totals) -> Outcome {
    let Test { filter, nightly, device } = arguments;
    let mut command = cargo();
    // Tests choose between a sample and the whole domain, and report samples (`testsuite/src/nightly.rs`).
    let samples = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
    command.env("KILN_NIGHTLY", if *nightly { "1" } else { "0" }).env("KILN_SAMPLES", samples.path());
    if let Some(device) = device {
        command.env("KILN_TEST_DEVICE", device);
    }
    command.args(["test", "--workspace", "--no-fail-fast"]);
    if let Some(filter) = filter {
        command.args(["--", filter]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("cannot start cargo: {e}"))?;
    let messages = child.stderr.take().expect("standard error is piped");
    let messages = thread::spawn(move || failures_of_cargo(messages));
    let lines = BufReader::new(child.stdout.take().expect("standard output is piped"));
    for line in lines.split(b'\n') {
        let line = line.map_err(|e| format!("cannot read what cargo prints: {e}"))?;
        totals.line(&String::from_utf8_lossy(&line));
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    let samples = fs::read_to_string(samples.path()).map_err(|e| e.to_string())?;
    totals.samples = samples.lines().map(str::to_owned).collect();
    let messages = messages.join().map_err(|_| "cannot read the messages of cargo")?;
    // Failed tests are already counted. A test program that crashes or does not compile prints no result.
    for crash in messages.iter().filter(|line| is_crash(line)) {
        totals.record_check("crash", Err(crash.clone()));
    }
    if !status.success() && totals.failures.is_empty() {
        totals
            .record_check("cargo-test", Err(format!("cargo test failed: {status}\n{}", messages.join("\n"))));
    }
    Ok(())
}

/// Passes on what cargo and the tests print to standard error, and returns the lines that can name a failure.
fn failures_of_cargo(from: impl Read) -> Vec<String> {
    let lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
    let lines =
        lines.map(|line| String::from_utf8_lossy(&line).into_owned()).inspect(|line| eprintln!("{line}"));
    lines.filter(|line| line.trim_start().starts_with("error") || line.contains(EXIT)).collect()
}

/// Precedes the status of a program in cargo's messages.
const EXIT: &str = "process didn't exit successfully";

/// Whether cargo reports a program that a signal ended. libtest exits with 101 if a test fails.
fn is_crash(line: &str) -> bool {
    line.contains(EXIT) && line.contains("(signal: ")
}

/// The results of all tests.
#[derive(Default)]
struct Totals {
    passed: usize,
    failed: usize,
    ignored: usize,
    filtered: usize,
    failures: Vec<String>,
    /// The samples that were tested instead of whole domains.
    samples: BTreeSet<String>,
}

impl Totals {
    /// Parses a line of libtest's output, and prints it unless it is a partial summary.
    fn line(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.add(counts);
            return;
        }
        println!("{line}");
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failures.push(name.trim_end().to_owned());
        }
    }

    /// Adds the counts of `FAILED. 2 passed; 1 failed; 0 ignored; …`.
    fn add(&mut self, counts: &str) {
        let words: Vec<&str> = counts.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let Ok(count) = pair[0].parse::<usize>() else { continue };
            match pair[1] {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                "filtered" => self.filtered += count,
                _ => {}
            }
        }
    }

    fn record_check(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("test house::{name} ... ok");
            }
            Err(report) => {
                self.failed += 1;
                self.failures.push(format!("house::{name}"));
                println!("test house::{name} ... FAILED\n\n---- house::{name} ----\n{report}\n");
            }
        }
    }

    fn finish(&self, begin: Instant) -> Outcome {
        if !self.samples.is_empty() {
            println!("\nsamples, which `cargo xtask test --nightly` runs in full:");
            for sample in &self.samples {
                println!("    {sample}");
            }
        }
        if !self.failures.is_empty() {
            println!("\nfailures:");
            for name in &self.failures {
                println!("    {name}");
            }
        }
        let verdict = if self.failed == 0 { "ok" } else { "FAILED" };
        println!(
            "\ntest result: {verdict}. {} passed; {} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s",
            self.passed,
            self.failed,
            self.ignored,
            self.filtered,
            begin.elapsed().as_secs_f64()
        );
        if self.failed == 0 { Ok(()) } else { Err(format!("{} tests failed", self.failed)) }
    }
}

/// `cargo xtask bless`: runs the tests and lets them update their expected results. Review with `git diff`.
pub(crate) fn bless(arguments: &Test) -> Outcome {
    setup::install_for_tests(true)?;
    let mut command: Command = cargo();
    command.env("KILN_BLESS", "1").args([
        "test",
        "--quiet",
        "--package",
        "kiln-testsuite",
        "--package",
        "kiln-capi",
        "--package",
        "kiln-passes",
        "--package",
        "kiln-memory",
        "--package",
        "kiln-vocabulary",
        "--no-fail-fast",
        "--",
    ]);
    crate::process::run(command.args(&arguments.filter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_and_failures_are_distinguished() {
        let text = "   Compiling a\nerror: test failed, to rerun pass `--test a`\n\nCaused by:\n  \
                    process didn't exit successfully: `target/debug/deps/a-1` (signal: 11, SIGSEGV)\n";
        let lines = failures_of_cargo(text.as_bytes());
        assert_eq!(lines.len(), 2);
        assert_eq!(lines.iter().filter(|line| is_crash(line)).count(), 1);
        assert!(!is_crash("process didn't exit successfully: `target/debug/deps/a-1` (exit status: 101)"));
    }

    #[test]
    fn results_are_added_up() {
        let mut totals = Totals::default();
        totals.line(
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s",
        );
        totals.line("test a::b ... FAILED");
        totals.line("test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.01s");
        assert_eq!((totals.passed, totals.failed, totals.ignored, totals.filtered), (14, 1, 1, 7));
        assert_eq!(totals.failures, ["a::b"]);
        assert!(totals.finish(Instant::now()).is_err());
    }
}
