//! Runs random programs on Kiln and on other OpenCL implementations, and compares the results.
//!
//! Owns the configurations to compare and the decision which result is correct. Every implementation has bugs: if a
//! reference differs from Kiln, or two from each other, clang's module on the reference device also votes, and the
//! majority decides.

mod runner;
mod tally;

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    sync::mpsc,
    thread,
    time::Duration,
};

pub use self::{
    runner::Runner,
    tally::{Count, Tally},
};
use crate::{
    device::{self, Device},
    oracle::Oracle,
    programs::{self, Program, ProgramKind},
};

/// A configuration in which to run a program.
#[derive(Clone, Copy, Debug)]
pub enum Configuration {
    /// Another implementation compiles the source.
    Source(Oracle),
    /// Kiln or clang compiles at this level, and `kiln run` runs the module on this device.
    Device(&'static Device, &'static str),
    /// Kiln compiles for a device without these features, and this device runs the module.
    Lesser(&'static Device, &'static str),
    /// Kiln's OpenCL driver runs the program on this device, in a process that runs many: some drivers take longer to open a device
    /// than to compile a program.
    Driver(&'static Device),
    /// Kiln compiles for OpenCL at this level, and another implementation runs the module.
    Module(Oracle, &'static str),
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(oracle) => write!(f, "{oracle:?} from source"),
            Self::Device(device, level) => write!(f, "{} {level}", device.name),
            Self::Lesser(device, changes) => write!(f, "{} {changes}", device.name),
            Self::Driver(device) => write!(f, "{} through the OpenCL driver", device.name),
            Self::Module(oracle, level) => write!(f, "{oracle:?} from a module {level}"),
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The printed numbers.
    Results(String),
    /// Kiln reports that the device lacks a feature.
    Rejected,
    /// The run timed out.
    Late,
    /// Any other failure.
    Failed(String),
}

/// A configuration that is applied to some of the programs.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The configuration.
    pub configuration: Configuration,
    /// Applied to one in this many programs.
    pub every: u64,
}

/// The parameters of a comparison.
#[derive(Clone)]
pub struct Comparison {
    /// The kind of the programs.
    pub kind: ProgramKind,
    /// The references, whose results are correct if they agree.
    pub references: Vec<Oracle>,
    /// The configurations to test.
    pub trials: Vec<Trial>,
    /// The time limit of a run.
    pub limit: Duration,
    /// Whether to report failures of a single reference as well.
    pub reports_references: bool,
    /// Whether clang's module on the reference device votes if results differ.
    pub has_judge: bool,
}

/// The compiler that decides between differing results.
const JUDGE: &str = "clang";

impl Comparison {
    /// Compares every device with PoCL, which CI has.
    pub fn with_pocl() -> Self {
        Self {
            kind: ProgramKind::Plain,
            references: vec![Oracle::Pocl],
            trials: devices(),
            limit: LIMIT,
            reports_references: false,
            has_judge: true,
        }
    }

    /// Compares with Intel's runtime, and with PoCL if it supports the language; includes modules for OpenCL and, on
    /// request, generic pointers.
    pub fn with_intel(kind: ProgramKind) -> Self {
        let mut trials = devices();
        trials.extend(
            ["-O0", "-O3"]
                .map(|level| Trial { configuration: Configuration::Module(Oracle::Intel, level), every: 4 }),
        );
        let references = match kind {
            ProgramKind::Plain | ProgramKind::Counting => vec![Oracle::Pocl, Oracle::Intel],
            ProgramKind::Generic | ProgramKind::Composition => vec![Oracle::Intel],
        };
        Self { kind, references, trials, limit: LIMIT, reports_references: false, has_judge: true }
    }

    /// Compares with clang on the reference device, which is the fastest reference.
    pub fn with_clang(kind: ProgramKind) -> Self {
        Self {
            kind,
            references: Vec::new(),
            trials: devices(),
            limit: LIMIT,
            reports_references: false,
            has_judge: true,
        }
    }

    /// This comparison, with modules translated from kernel SPIR-V of Kiln and clang instead of Kiln's own.
    pub fn through_kernel_spirv(mut self) -> Self {
        let levels = |device| {
            ["-O0", "-O3"]
                .map(|level| Trial { configuration: Configuration::Device(device, level), every: 1 })
        };
        let is_alone = self.references.is_empty();
        let is_kept = |configuration| {
            is_alone
                && matches!(configuration, Configuration::Device(device, "-O3") if device.name == "reference")
        };
        self.trials.retain(|trial| is_kept(trial.configuration));
        self.trials.extend(device::translated().flat_map(levels));
        self
    }

    /// Compares compositions on every device with each other, the reference device first.
    pub fn of_compositions() -> Self {
        let mut trials: Vec<Trial> = device::all()
            .filter(|device| !device.is_for_clang())
            .flat_map(|device| {
                let configuration = |level| Configuration::Device(device, level);
                // Without optimization, the lowering of pointers has more to do.
                let levels = [
                    Trial { configuration: configuration("-O3"), every: 1 },
                    Trial { configuration: configuration("-O0"), every: 8 },
                ];
                // Most functions of compositions are short and would be inlined.
                let kept = Trial { configuration: configuration("--keep-functions"), every: 4 };
                levels.into_iter().chain(device.is_vulkan().then_some(kept)).chain(through_driver(device))
            })
            .collect();
        trials
            .sort_by_key(|trial| !matches!(trial.configuration, Configuration::Device(device, _) if device.name == "reference"));
        Self {
            kind: ProgramKind::Composition,
            references: Vec::new(),
            trials,
            limit: LIMIT,
            reports_references: false,
            has_judge: false,
        }
    }

    /// This comparison, with one configuration only.
    pub fn narrowed(&self, configuration: Configuration) -> Self {
        Self {
            references: self.references.clone(),
            trials: vec![Trial { configuration, every: 1 }],
            kind: self.kind,
            limit: self.limit,
            reports_references: self.reports_references,
            has_judge: self.has_judge,
        }
    }

    /// Generates programs and runs them in parallel. Reports differences immediately.
    pub fn survey(
        &self,
        seeds: std::ops::Range<u64>,
        jobs: usize,
        mut report: impl FnMut(u64, &Program, String),
    ) -> Tally {
        let next = AtomicU64::new(seeds.start);
        let (sender, receiver) = mpsc::channel();
        let mut tally = Tally::default();
        thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                let (sender, next, end) = (sender.clone(), &next, seeds.end);
                scope.spawn(move || {
                    let mut runner = Runner::new();
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= end {
                            break;
                        }
                        let program = programs::program(seed, self.kind);
                        let outcome = self.compare(seed, &program, &mut runner);
                        sender.send((seed, program, outcome)).expect("the receiver outlives the threads");
                    }
                });
            }
            drop(sender);
            for (seed, program, (more, complaints)) in receiver {
                tally += more;
                // Prints the progress, in case the run is interrupted.
                if tally.programs.is_multiple_of(100) {
                    eprint!("{tally}");
                }
                if !complaints.is_empty() {
                    tally.different += 1;
                    report(seed, &program, complaints.join("\n"));
                }
            }
        });
        tally
    }

    /// Runs a program in all configurations. Returns the counts and the failures, as messages.
    pub fn compare(&self, seed: u64, program: &Program, runner: &mut Runner) -> (Tally, Vec<String>) {
        let mut tally = Tally { programs: 1, ..Tally::default() };
        let mut runs = Vec::new();
        let mut run = |configuration, runs: &mut Vec<(Configuration, Outcome)>| {
            let (outcome, time) = runner.run(configuration, program, self);
            tally.count_mut(configuration).time += time;
            runs.push((configuration, outcome));
        };
        let references = self.references.iter().map(|&oracle| Configuration::Source(oracle));
        let tried =
            self.trials.iter().filter(|trial| seed.is_multiple_of(trial.every)).map(|it| it.configuration);
        references.chain(tried).for_each(|configuration| run(configuration, &mut runs));
        let mut right = undisputed(&runs);
        if right.is_none() {
            if self.has_judge && !runs.iter().any(|(configuration, _)| is_judge(*configuration)) {
                let judge = Device::named(JUDGE).expect("it is among the devices");
                run(Configuration::Device(judge, "-O0"), &mut runs);
            }
            right = majority(&runs);
        }
        tally.unjudged += usize::from(right.is_none());
        let complaints = self.count(&mut tally, seed, right, runs);
        (tally, complaints)
    }

    /// Counts the outcomes of a program with this correct result, if it is known. Returns the failures, as messages.
    fn count(
        &self,
        tally: &mut Tally,
        seed: u64,
        right: Option<String>,
        runs: Vec<(Configuration, Outcome)>,
    ) -> Vec<String> {
        let mut complaints = Vec::new();
        // Without results from a reference, Kiln's results must at least agree with each other.
        let (first, are_same) = agreement(&runs, |_| true);
        let first = right.clone().or_else(|| first.cloned()).unwrap_or_default();
        let right = right.or_else(|| are_same.then(|| first.clone()));
        // An implementation that compiles a source incorrectly also miscompiles its modules.
        let mistaken: Vec<Oracle> = runs
            .iter()
            .filter_map(|(configuration, outcome)| match (configuration, outcome) {
                (Configuration::Source(oracle), Outcome::Results(results))
                    if Some(results) != right.as_ref() =>
                {
                    Some(*oracle)
                }
                _ => None,
            })
            .collect();
        let is_theirs = |configuration: Configuration| match configuration {
            Configuration::Source(_) => true,
            Configuration::Module(oracle, _) => mistaken.contains(&oracle),
            Configuration::Device(..) | Configuration::Lesser(..) | Configuration::Driver(_) => false,
        };
        for (configuration, outcome) in runs {
            let is_theirs = is_theirs(configuration);
            let count = tally.count_mut(configuration);
            match outcome {
                Outcome::Results(results) if Some(&results) == right.as_ref() => count.same += 1,
                Outcome::Results(results) => {
                    count.different += 1;
                    // Failures of other implementations are only counted.
                    if right.is_some() && is_theirs && !self.reports_references {
                        count.seeds.push(seed);
                    } else {
                        complaints.push(format!("{configuration}: {}", difference(&first, &results)));
                    }
                }
                Outcome::Rejected => count.rejected += 1,
                Outcome::Late => {
                    count.late += 1;
                    count.seeds.push(seed);
                }
                Outcome::Failed(_) if matches!(configuration, Configuration::Source(_)) => {
                    count.failed += 1;
                    count.seeds.push(seed);
                }
                Outcome::Failed(reason) => {
                    count.failed += 1;
                    complaints.push(format!("{configuration}: {reason}"));
                }
            }
        }
        complaints
    }
}

/// The result of the references, if they agree and no other run has another result.
fn undisputed(runs: &[(Configuration, Outcome)]) -> Option<String> {
    let (reference, agree) =
        agreement(runs, |configuration| matches!(configuration, Configuration::Source(_)));
    let all = runs.iter().all(|(_, outcome)| match outcome {
        Outcome::Results(results) => Some(results) == reference,
        _ => true,
    });
    if agree && all { reference.cloned() } else { None }
}

/// The time limit, far longer than any correct program takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The first result among the wanted runs, and whether all of their results agree.
fn agreement(
    runs: &[(Configuration, Outcome)],
    wanted: impl Fn(Configuration) -> bool,
) -> (Option<&String>, bool) {
    let mut results =
        runs.iter().filter(|(configuration, _)| wanted(*configuration)).filter_map(|(_, outcome)| {
            match outcome {
                Outcome::Results(results) => Some(results),
                _ => None,
            }
        });
    let first = results.next();
    (first, results.all(|it| Some(it) == first))
}

fn is_judge(configuration: Configuration) -> bool {
    matches!(configuration, Configuration::Device(device, _) if device.is_for_clang() && device.is_strict())
}

/// The majority result: each reference has one vote, clang has one, and all of Kiln has one.
fn majority(runs: &[(Configuration, Outcome)]) -> Option<String> {
    let is_other = |configuration: Configuration| {
        is_judge(configuration) || matches!(configuration, Configuration::Source(_))
    };
    let (ours, _) = agreement(runs, |configuration| !is_other(configuration));
    let others =
        runs.iter().filter(|(configuration, _)| is_other(*configuration)).filter_map(|(_, outcome)| {
            match outcome {
                Outcome::Results(results) => Some(results),
                _ => None,
            }
        });
    let all: Vec<&String> = others.chain(ours).collect();
    let count = |results: &String| all.iter().filter(|it| **it == results).count();
    let best = all.iter().copied().max_by_key(|results| count(results))?;
    let is_only = all.iter().all(|results| *results == best || count(results) < count(best));
    (count(best) > 1 && is_only).then(|| best.clone())
}

/// Every device, without and with optimization. The slowest software driver runs only some of the programs, and so
/// does clang, whose modules test other code. Missing features are emulated: each integer type, alone and with the
/// others.
fn devices() -> Vec<Trial> {
    let configurations = |device: &'static Device| {
        let (levels, every): (&[_], _) = match device {
            device if device.is_for_clang() || device.is_translated() => (&["-O0"], 8),
            device if device.is_minimal() => (&["-O3"], 8),
            _ => (&["-O0", "-O3"], 1),
        };
        let levels = levels
            .iter()
            .map(move |level| Trial { configuration: Configuration::Device(device, level), every });
        levels.chain(through_driver(device))
    };
    let lesser = device::all().filter(|device| device.has_profile()).flat_map(|device| {
        LACKING
            .iter()
            .map(move |changes| Trial { configuration: Configuration::Lesser(device, changes), every: 8 })
    });
    device::all().flat_map(configurations).chain(lesser).collect()
}

/// The configuration that runs programs fastest on a device of this machine.
fn through_driver(device: &'static Device) -> Option<Trial> {
    device.is_local().then_some(Trial { configuration: Configuration::Driver(device), every: 1 })
}

/// Features that devices may lack but programs do not need, in the syntax of `--feature`.
const LACKING: &[&str] = &["-int8", "-int16", "-int8,-int16", "-int64"];

/// The first difference of two lists of numbers.
fn difference(right: &str, found: &str) -> String {
    for (right, found) in right.lines().zip(found.lines()) {
        let words = right.split(' ').zip(found.split(' ')).enumerate();
        for (index, (one, other)) in words {
            if one != other {
                let name = right.split(' ').next().unwrap_or_default();
                return format!("{name} differs in word {index}: {other} and not {one}");
            }
        }
    }
    if right == found { "has the first result" } else { "the numbers of lines differ" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(results: &[(Configuration, &str)]) -> Vec<(Configuration, Outcome)> {
        results
            .iter()
            .map(|(configuration, text)| (*configuration, Outcome::Results((*text).to_owned())))
            .collect()
    }

    #[test]
    fn the_majority_is_right_and_kiln_has_one_vote() {
        let device = |name| Configuration::Device(Device::named(name).unwrap(), "-O3");
        let (judge, lavapipe, strict) = (device("clang"), device("lavapipe"), device("reference"));
        let (pocl, intel) = (Configuration::Source(Oracle::Pocl), Configuration::Source(Oracle::Intel));
        let right = |results: &[_]| majority(&runs(results));
        assert_eq!(right(&[(pocl, "a"), (lavapipe, "b"), (judge, "b")]).as_deref(), Some("b"));
        assert_eq!(right(&[(pocl, "a"), (lavapipe, "b"), (strict, "b"), (judge, "a")]).as_deref(), Some("a"));
        assert_eq!(right(&[(pocl, "a"), (lavapipe, "b"), (judge, "c")]), None);
        assert_eq!(right(&[(pocl, "a"), (intel, "b"), (lavapipe, "a"), (judge, "b")]), None);
    }
}
