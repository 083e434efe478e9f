//! `cargo xtask models`: generates programs, and checks that OpenCL allows every outcome that Vulkan permits for the module of
//! each.

use std::{process::ExitCode, thread, time::Duration};

use clap::Parser;
use kiln_testsuite::litmus::generated::{Limit, Statements, check_all, program};

/// Explores generated programs in both memory models, and checks that Vulkan modules permit no outcome that OpenCL
/// forbids
#[derive(Parser)]
struct Arguments {
    /// Number of programs
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// Number of the first program
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of threads [default: the processors]
    #[arg(long)]
    jobs: Option<usize>,
    /// Start no program after this time
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// Put each statement into a function that is not inlined
    #[arg(long)]
    functions: bool,
    /// Print the program and the findings of the models, and stop
    #[arg(long)]
    print: bool,
    /// Print the finding of each program, on one thread
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let statements = if arguments.functions { Statements::InFunctions } else { Statements::InKernel };
    if arguments.print {
        let program = program(arguments.seed, statements);
        print!("{}", program.source);
        println!("{:?}\n{:?}", program.launch, program.check());
        return ExitCode::SUCCESS;
    }
    if arguments.list {
        for number in arguments.seed..arguments.seed + arguments.count {
            println!("{number} {:?}", program(number, statements).check());
        }
        return ExitCode::SUCCESS;
    }
    let threads = arguments.jobs.or_else(|| thread::available_parallelism().ok().map(usize::from));
    let tally = check_all(Limit {
        first: arguments.seed,
        count: arguments.count,
        threads: threads.unwrap_or(1),
        time: arguments.seconds.map(Duration::from_secs),
        statements,
    });
    println!(
        "{} programs: {} racing, {} undecided, {} compared ({} with barriers, {} of 8 operations or more)",
        tally.checked, tally.racing, tally.undecided, tally.compared, tally.with_barriers, tally.long
    );
    println!(
        "{} consistent executions; {} modules lose outcomes; {} unsound",
        tally.executions,
        tally.stronger,
        tally.unsound.len()
    );
    for (number, what) in tally.unsound.iter().take(10) {
        let functions = if arguments.functions { " --functions" } else { "" };
        println!("--seed {number}{functions} --print: {what}");
    }
    if tally.unsound.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
