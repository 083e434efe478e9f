//! `cargo xtask differential`: runs random programs on Kiln and on other OpenCL implementations.

use std::{fs, iter, path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use kiln_testsuite::{
    differential::{Comparison, Runner},
    programs::{self, Program, ProgramKind},
    reduce::reduce,
};

/// Runs random programs on Kiln and on other OpenCL implementations, and compares the results
#[derive(Parser)]
struct Arguments {
    /// Number of programs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// Number of the first program
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Reference: `pocl`, `intel` (PoCL and Intel), `generic` (Intel, with generic pointers), `clang` (clang's modules on the
    /// reference device), `generic-clang`, `counting` (PoCL, with loops that count by values), `compositions` (compositions on the
    /// reference device), `compositions-intel` or `devices` (the devices of `KILN_TEST_DEVICE`, compared with the first one)
    #[arg(long, default_value = "pocl")]
    oracle: String,
    /// Run modules that Kiln translates from kernel SPIR-V, its own and clang's
    #[arg(long)]
    translated: bool,
    /// Run only configurations whose names contain one of these
    #[arg(long, alias = "way")]
    configuration: Vec<String>,
    /// Run every configuration with every program, instead of the slow ones with one program in eight
    #[arg(long)]
    all: bool,
    /// Number of programs to run in parallel, including the smaller ones that `--reduce` tries
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Time limit of a run in seconds
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// Folder for programs with different results
    #[arg(long, default_value = "target/differential")]
    keep: PathBuf,
    /// Reduce programs with different results
    #[arg(long)]
    reduce: bool,
    /// Also report results that differ only in a reference
    #[arg(long)]
    references: bool,
    /// Print the program and stop
    #[arg(long)]
    print: bool,
    /// Program to compare instead of random ones, with the launch of the first one
    #[arg(long)]
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut comparison = match arguments.oracle.as_str() {
        "intel" => Comparison::with_intel(ProgramKind::Plain),
        "generic" => Comparison::with_intel(ProgramKind::Generic),
        "counting" => Comparison { kind: ProgramKind::Counting, ..Comparison::with_pocl() },
        "clang" => Comparison::with_clang(ProgramKind::Plain),
        "compositions" => Comparison::of_compositions(),
        "compositions-intel" => {
            Comparison { has_judge: false, ..Comparison::with_intel(ProgramKind::Composition) }
        }
        "devices" => Comparison { references: Vec::new(), has_judge: false, ..Comparison::with_pocl() },
        "generic-clang" => Comparison::with_clang(ProgramKind::Generic),
        _ => Comparison::with_pocl(),
    };
    if arguments.translated {
        comparison = comparison.through_kernel_spirv();
    }
    comparison.limit = Duration::from_secs(arguments.limit);
    comparison.reports_references = arguments.references;
    for trial in &mut comparison.trials {
        trial.every = if arguments.all || arguments.file.is_some() { 1 } else { trial.every };
    }
    if !arguments.configuration.is_empty() {
        let is_wanted = |name: &str| arguments.configuration.iter().any(|part| name.contains(part.as_str()));
        comparison.trials.retain(|trial| is_wanted(&trial.configuration.to_string()));
    }
    let seeds = arguments.seed..arguments.seed + arguments.count;
    if arguments.print {
        for seed in seeds {
            let program = programs::program(seed, comparison.kind);
            println!("// {}", program.launch().join(" "));
            print!("{}", program.source);
        }
        return ExitCode::SUCCESS;
    }
    let report = |seed, program: &Program, reason: String| {
        println!("program {seed}:\n{reason}");
        fs::create_dir_all(&arguments.keep).expect("a folder can be made");
        let file = arguments.keep.join(format!("{}-{seed}.cl", arguments.oracle));
        let keep = |source: &str| fs::write(&file, source).expect("a file can be written");
        keep(&program.source);
        if arguments.reduce {
            keep(&smaller(&comparison, program, &reason, arguments.jobs, keep));
        }
        println!("  in {}", file.display());
    };
    let tally = match &arguments.file {
        None => comparison.survey(seeds, arguments.jobs, report),
        Some(file) => {
            let source = fs::read_to_string(file).expect("a program");
            let program = Program { source, ..programs::program(arguments.seed, comparison.kind) };
            let (mut tally, complaints) = comparison.compare(arguments.seed, &program, &mut Runner::new());
            tally.different = complaints.len();
            if !complaints.is_empty() {
                report(arguments.seed, &program, complaints.join("\n"));
            }
            tally
        }
    };
    print!("{tally}");
    if tally.different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Removes everything from the program that the first failure does not need. Keeps each smaller program, because the search
/// can take long.
fn smaller(
    comparison: &Comparison,
    program: &Program,
    reason: &str,
    jobs: usize,
    keep: impl Fn(&str) + Sync,
) -> String {
    let named = comparison.trials.iter().find(|trial| reason.starts_with(&trial.configuration.to_string()));
    let first = |reason: &str| reason.split(": ").take(2).map(failure_kind).collect::<Vec<_>>();
    let wanted = first(reason);
    // Every comparison with references contains them and the judge. Devices are compared with each other.
    let narrow = match comparison.references.is_empty() && !comparison.has_judge {
        true => comparison.clone(),
        false => comparison.narrowed(named.unwrap_or(&comparison.trials[0]).configuration),
    };
    let mut runners: Vec<Runner> = iter::repeat_with(Runner::new).take(jobs.max(1)).collect();
    reduce(&program.source, &mut runners, |runner, source| {
        let program = Program { source: source.to_owned(), ..program.clone() };
        // Most attempts are invalid programs, which Kiln rejects fastest.
        let holds =
            runner.accepts(&program) && first(&narrow.compare(0, &program, runner).1.join("\n")) == wanted;
        if holds {
            keep(source);
        }
        holds
    })
}

/// The text of a failure without its numbers.
fn failure_kind(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).take(24).collect()
}
