//! Random programs on a device, compared with the built-in reference device. Needs nothing but this binary.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use kiln_testsuite::{
    programs::{self, Program, Sort},
    reduce::reduce,
};

use crate::kiln::Kiln;

#[derive(Args)]
pub(crate) struct Random {
    /// Part of the device's name
    device: String,
    /// Seed of the first program
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of programs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// Run only the programs with these seeds
    #[arg(long, value_delimiter = ',')]
    only: Vec<u64>,
    /// Generate OpenCL C 2.0 with generic pointers
    #[arg(long)]
    generic: bool,
    /// Number of kernels of other programs to add to each module
    #[arg(long, default_value_t = 0)]
    neighbors: u64,
    /// Number of programs to run in parallel
    #[arg(long, default_value_t = 8)]
    jobs: usize,
    /// Stop after this many seconds
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// Device features to enable or disable, such as `-int64`
    #[arg(long, allow_hyphen_values = true)]
    feature: Vec<String>,
    /// Driver faults to work around, as in `kiln compile --workarounds` [default: those of the device's driver]
    #[arg(long)]
    workarounds: Option<String>,
    /// Write programs with wrong results to this folder
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Reduce programs with wrong results
    #[arg(long)]
    reduce: bool,
}

/// Stack size of a thread in bytes: compilers of drivers recurse deeply.
const STACK_SIZE: usize = 64 << 20;

/// The result of a program.
enum Verdict {
    Right,
    /// The device lacks what the program needs.
    Refused,
    Wrong(String),
}

pub(crate) fn random(options: &Random) -> Result<(), String> {
    let devices = Devices {
        tested: Kiln::with_target(&options.device, &options.feature, options.workarounds.as_deref())?,
        reference: Kiln::new("reference")?,
    };
    println!("{}", devices.tested.name());
    let seeds: Vec<u64> = match &options.only[..] {
        [] => (options.seed..options.seed + options.count).collect(),
        only => only.to_vec(),
    };
    let (next, begin) = (AtomicU64::new(0), Instant::now());
    let tally = Mutex::new(BTreeMap::<&str, usize>::new());
    thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            let work = || {
                while begin.elapsed() < Duration::from_secs(options.seconds)
                    && let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize)
                {
                    let word = match verdict(&devices, options, seed) {
                        Verdict::Right => "right",
                        Verdict::Refused => "refused",
                        Verdict::Wrong(reason) => {
                            println!("program {seed}: {}", reason.trim_end());
                            "wrong"
                        }
                    };
                    *tally.lock().expect("no thread has failed").entry(word).or_default() += 1;
                }
            };
            let worker = thread::Builder::new().stack_size(STACK_SIZE);
            worker.spawn_scoped(scope, work).expect("the system has room for another thread");
        }
    });
    let tally = tally.into_inner().expect("no thread has failed");
    println!("{tally:?} in {:.1} s", begin.elapsed().as_secs_f64());
    if tally.contains_key("wrong") { Err("some programs are wrong".to_owned()) } else { Ok(()) }
}

/// The device under test, and the one that says what is right.
struct Devices {
    tested: Kiln,
    reference: Kiln,
}

fn verdict(devices: &Devices, options: &Random, seed: u64) -> Verdict {
    let sort = if options.generic { Sort::Generic } else { Sort::Plain };
    let program = programs::program(seed, sort);
    let neighbors: Vec<Program> =
        (1..=options.neighbors).map(|step| programs::program(seed + step, sort)).collect();
    let verdict = compare(devices, &program, &neighbors, options.generic);
    let Verdict::Wrong(reason) = &verdict else { return verdict };
    if let Some(folder) = &options.keep {
        let mut source = programs::with_neighbors(&program, &neighbors).source;
        if options.reduce {
            let kind = kind(reason);
            source = reduce(&source, |source| {
                let program = Program { source: source.to_owned(), ..program.clone() };
                matches!(compare(devices, &program, &[], options.generic), Verdict::Wrong(it) if self::kind(&it) == kind)
            });
        }
        let source = format!("// {}\n{source}", program.launch().join(" "));
        if let Err(error) =
            fs::create_dir_all(folder).and_then(|()| fs::write(folder.join(format!("{seed}.cl")), source))
        {
            println!("cannot write into `{}`: {error}", folder.display());
        }
    }
    verdict
}

/// A reason without its numbers, so that a smaller program can have the same.
fn kind(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_ascii_digit()).take(24).collect()
}

fn compare(devices: &Devices, program: &Program, neighbors: &[Program], is_generic: bool) -> Verdict {
    // What is undefined has no right result; the program is reduced no further that way.
    let Ok(right) = devices.reference.results(program, is_generic) else { return Verdict::Refused };
    match devices.tested.results(&programs::with_neighbors(program, neighbors), is_generic) {
        Ok(results) => match (0..right.len()).find(|&it| right[it] != results[it]) {
            None => Verdict::Right,
            Some(at) => Verdict::Wrong(format!("word {at} is {} and not {}", results[at], right[at])),
        },
        Err(reason) if reason.contains("target-feature") || reason.contains("cl_khr_fp64") => {
            Verdict::Refused
        }
        Err(reason) => Verdict::Wrong(reason),
    }
}
