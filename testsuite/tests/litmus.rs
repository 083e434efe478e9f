//! Runs the litmus tests on every device: outcomes that OpenCL forbids never appear. A thousand instances of each test, or
//! a million with `--nightly`.
//!
//! To prove that the tests can fail, one test forbids every outcome. With `--nightly`, another weakens seq_cst to acquire
//! and release, which the store buffers of this machine's processor expose. Whether they do so in a given number of
//! instances depends on chance, so an ordinary run does not wait for it. The tests of the memory models find the weakened
//! mapping without chance (`tests/models`).

use std::{
    process::{Command, ExitCode},
    time::Duration,
};

use kiln_testsuite::{
    device::{self, Device},
    kiln,
    litmus::{
        self, Outcome, Setting, Space, Test,
        stress::{Counts, Stress, shown},
    },
    nightly,
};
use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut trials = device::trials(
        device::all(),
        &[("forbidden_outcomes_never_appear", forbidden_outcomes_never_appear)],
    );
    let lavapipe = device::all().filter(|device| device.name == "lavapipe");
    trials.extend(device::trials(
        lavapipe,
        &[
            ("a_forbidden_outcome_is_reported", a_forbidden_outcome_is_reported),
            ("weakened_store_buffering_is_observed", weakened_store_buffering_is_observed),
        ],
    ));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn stress(rounds: u64, options: &[&str]) -> Stress {
    Stress {
        kiln: kiln::binary().to_owned(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        rounds,
        teams: 1,
        width: 8,
        iterations: 64,
        launches: if rounds > 10_000 { 256 } else { 4 },
        limit: Duration::from_secs(300),
    }
}

fn run(stress: &Stress, test: &Test, setting: Setting, device: &'static Device) -> Result<Counts, String> {
    stress.run(test, setting, &|command: &mut Command| device.only(command))
}

fn forbidden_outcomes_never_appear(device: &'static Device) {
    let stress = stress(nightly::count("instances of each litmus test", 1000, 1_000_000) as u64, &[]);
    let (mut failures, mut total, mut lacking) = (Vec::new(), 0, Vec::new());
    for test in litmus::tests() {
        for setting in test.settings() {
            let name = format!("{}, {}", test.name, setting.name());
            match run(&stress, &test, setting, device) {
                // The translator crashes, or writes an invalid module, for some orders and scopes known only at run time.
                Err(reason)
                    if device.is_for_clang()
                        && test.name.starts_with("run_time: ")
                        && device::lacks_a_feature(&reason) =>
                {
                    lacking.push(name);
                }
                Err(reason) => failures.push(format!("{name}: {reason}")),
                Ok(counts) => {
                    total += counts.total();
                    failures.extend(wrong_outcomes(&test, &counts).map(|wrong| format!("{name}: {wrong}")));
                }
            }
        }
    }
    println!("{}: {total} instances; not translated: {lacking:?}", device.name);
    assert!(lacking.len() <= 9, "{lacking:?} do not run");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Describes the outcomes that OpenCL forbids, with the number of times that each outcome was seen.
fn wrong_outcomes(test: &Test, counts: &Counts) -> Option<String> {
    let wrong = counts.matching(&test.forbidden) + counts.strange;
    let seen = counts.seen.iter().map(|(outcome, count)| format!("\n    {} {count}", shown(outcome)));
    (wrong > 0).then(|| format!("{wrong} wrong outcomes of {}{}", counts.total(), seen.collect::<String>()))
}

/// An outcome that appears although the test forbids it is reported: here every outcome is forbidden.
fn a_forbidden_outcome_is_reported(device: &'static Device) {
    let mut test = litmus::tests().swap_remove(0);
    test.forbidden = vec![Outcome::new()];
    let counts = run(&stress(1000, &[]), &test, test.settings()[0], device).expect("it runs");
    let wrong = wrong_outcomes(&test, &counts).expect("every outcome is forbidden");
    assert!(wrong.starts_with(&format!("{0} wrong outcomes of {0}\n", counts.total())), "{wrong}");
}

/// The processor's store buffers expose accesses that acquire and release do not order, and the tests detect it.
fn weakened_store_buffering_is_observed(device: &'static Device) {
    if !nightly::tests_all("0 of 4 weakened mappings are observed on the processor") {
        return;
    }
    let setting = Setting { space: Space::Global, one_group: false };
    for (name, options) in [
        ("seq_cst: Store buffering", &["--seq-cst", "acq-rel"][..]),
        ("seq_cst: Store buffering with fences", &["--seq-cst", "acq-rel"]),
        ("seq_cst: Store buffering with release and acquire", &[]),
        ("seq_cst: Store buffering with acq_rel fences", &[]),
    ] {
        let test = litmus::tests().into_iter().find(|test| test.name == name).expect("a test of this name");
        let weak = if test.weak.is_empty() { &test.allowed[..1] } else { &test.weak[..] };
        // On a busy machine the groups rarely run at the same time, so this repeats the test.
        let mut seen = 0;
        for attempt in 0..50 {
            // The more work-items run between a store and a load, the more stores have reached memory by then.
            let width = [8, 2, 4, 1][attempt % 4];
            let counts =
                run(&Stress { width, ..stress(100_000, options) }, &test, setting, device).expect("it runs");
            seen = counts.matching(weak);
            if seen > 0 {
                println!("{name}, {options:?}: {seen} of {}", counts.total());
                break;
            }
        }
        assert!(seen > 0, "{name}: {} was never seen", shown(&weak[0]));
    }
}
