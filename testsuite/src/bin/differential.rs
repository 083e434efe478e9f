//! `cargo xtask differential`: random programs on Kiln and on the OpenCL of others, as many as wanted.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Parser;
use kiln_testsuite::{
    differential::{Comparison, Tally, Way},
    programs::{self, Program, Sort},
    reduce::reduce,
};

/// Runs random programs on Kiln and on the OpenCL of others and compares the results
#[derive(Parser)]
struct Arguments {
    /// How many programs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// The first program's number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Who is right: `pocl`, `intel`, or `generic`, which is Intel's with pointers of no named address space
    #[arg(long, default_value = "pocl")]
    oracle: String,
    /// Try only ways whose names contain this
    #[arg(long, default_value = "")]
    way: String,
    /// Where programs that differ are put
    #[arg(long, default_value = "target/differential")]
    keep: PathBuf,
    /// Make programs that differ smaller
    #[arg(long)]
    reduce: bool,
    /// Print the program and stop
    #[arg(long)]
    print: bool,
    /// A program to compare in place of random ones
    #[arg(long)]
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut comparison = match arguments.oracle.as_str() {
        "intel" => Comparison::with_intel(Sort::Plain),
        "generic" => Comparison::with_intel(Sort::Generic),
        _ => Comparison::with_pocl(),
    };
    comparison.ways.retain(|way: &Way| way.to_string().contains(&arguments.way));
    let scratch = tempfile::tempdir().expect("a folder for files");
    let mut tally = Tally::default();
    let mut different = 0;
    for seed in arguments.seed..arguments.seed + arguments.count {
        let mut program = programs::program(seed, comparison.sort);
        if let Some(file) = &arguments.file {
            program.source = fs::read_to_string(file).expect("a program");
        }
        if arguments.print {
            print!("{}", program.source);
            continue;
        }
        match comparison.compare(&program, scratch.path()) {
            Ok(more) => tally += more,
            Err(reason) => {
                different += 1;
                println!("program {seed}:\n{reason}");
                fs::create_dir_all(&arguments.keep).expect("a folder can be made");
                let file = arguments.keep.join(format!("{}-{seed}.cl", arguments.oracle));
                let source = if arguments.reduce {
                    smaller(&comparison, &program, &reason)
                } else {
                    program.source.clone()
                };
                fs::write(&file, source).expect("a file can be written");
                println!("  in {}", file.display());
            }
        }
    }
    println!(
        "{} programs: {different} differ, {} not judged; {} runs the same, {} refused for lack of a feature",
        arguments.count, tally.unjudged, tally.same, tally.refused
    );
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The program without what the first complaint has no need of.
fn smaller(comparison: &Comparison, program: &Program, reason: &str) -> String {
    let first = |reason: &str| reason.split(": ").take(2).map(kind).collect::<Vec<_>>();
    let wanted = first(reason);
    let named = |way: &&Way| reason.starts_with(&way.to_string());
    let way = *comparison.ways.iter().find(named).expect("a complaint names its way");
    let narrow = comparison.narrowed(way);
    let scratch = tempfile::tempdir().expect("a folder for files");
    reduce(&program.source, |source| {
        let program = Program { source: source.to_owned(), ..program.clone() };
        // Most attempts are no programs any more, which Kiln tells soonest.
        narrow.accepts(&program, scratch.path())
            && narrow.compare(&program, scratch.path()).is_err_and(|reason| first(&reason) == wanted)
    })
}

/// What a complaint is about, without its numbers.
fn kind(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).take(24).collect()
}
