//! Random programs on a device, compared with the built-in reference device. Needs only this binary.
//!
//! Programs run in processes of this binary (`--serve`), because drivers crash.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, BufRead as _, Write as _},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use kiln_testsuite::{
    device,
    programs::{self, Program, ProgramKind},
    reduce::reduce,
    server::{Ending, Server},
};
use tempfile::TempDir;

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
    /// Generate compositions of atomic objects, in OpenCL C 1.2, 2.0 and 3.0
    #[arg(long, conflicts_with_all = ["generic", "neighbors"])]
    compositions: bool,
    /// Generate loops whose start, bound and step are values
    #[arg(long, conflicts_with_all = ["generic", "compositions"])]
    counting: bool,
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
    /// Driver bugs to work around, as in `kiln compile --workarounds` [default: those of the device's driver]
    #[arg(long)]
    workarounds: Option<String>,
    /// Time limit of a program in seconds
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// Write programs with wrong results to this folder
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Read the programs from the files that `--keep` wrote to this folder
    #[arg(long)]
    from: Option<PathBuf>,
    /// Reduce programs with wrong results
    #[arg(long, requires = "keep")]
    reduce: bool,
    /// Run the programs of another process of this binary
    #[arg(long, hide = true)]
    serve: bool,
}

/// Stack size of a thread in bytes: compilers of drivers recurse deeply.
const STACK_SIZE: usize = 64 << 20;

/// The result of a program.
enum Verdict {
    Right,
    /// The device lacks a feature that the program needs.
    Rejected,
    Wrong(String),
}

pub(crate) fn random(options: &Random) -> Result<(), String> {
    if options.serve {
        return on_large_stack(|| serve(options));
    }
    let device = Kiln::with_target(&options.device, &options.feature, options.workarounds.as_deref())?;
    println!("{}", device.name());
    let seeds: Vec<u64> = match &options.only[..] {
        [] => (options.seed..options.seed + options.count).collect(),
        only => only.to_vec(),
    };
    let (next, begin) = (AtomicU64::new(0), Instant::now());
    let is_time_left = || begin.elapsed() < Duration::from_secs(options.seconds);
    let tally = Mutex::new(BTreeMap::<&str, usize>::new());
    let work = || -> Result<(), String> {
        let mut worker = Worker::new(options)?;
        while is_time_left()
            && let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed) as usize)
        {
            let verdict = worker.verdict(seed)?;
            *tally.lock().expect("no thread has failed").entry(verdict.word()).or_default() += 1;
            if let Verdict::Wrong(reason) = verdict {
                println!("program {seed}: {reason}");
                worker.keep(seed, &reason, is_time_left)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no thread fails"))
    })?;
    let tally = tally.into_inner().expect("no thread has failed");
    println!("{tally:?} in {:.1} s", begin.elapsed().as_secs_f64());
    if tally.contains_key("wrong") { Err("some programs are wrong".to_owned()) } else { Ok(()) }
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Rejected => "rejected",
            Self::Wrong(_) => "wrong",
        }
    }
}

/// A process that runs programs.
struct Worker<'o> {
    options: &'o Random,
    server: Server,
    scratch: TempDir,
}

impl<'o> Worker<'o> {
    fn new(options: &'o Random) -> Result<Self, String> {
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut command = Command::new(env::current_exe().map_err(|e| e.to_string())?);
        command.args(env::args_os().skip(1)).arg("--serve");
        let server = Server::new(command, scratch.path().join("errors"));
        Ok(Self { options, server, scratch })
    }

    fn verdict(&mut self, seed: u64) -> Result<Verdict, String> {
        self.verdict_of(seed, &self.options.source(seed)?)
    }

    /// Runs this source with the launch of the program with this seed.
    fn verdict_of(&mut self, seed: u64, source: &str) -> Result<Verdict, String> {
        let file = self.scratch.path().join("program.cl");
        fs::write(&file, source).map_err(|e| e.to_string())?;
        let request = [seed.to_string(), file.display().to_string()];
        let limit = Duration::from_secs(self.options.limit);
        Ok(match self.server.run(&request, limit)?.as_ref().map(|answer| answer.trim_end()) {
            Ok("right") => Verdict::Right,
            Ok("rejected") => Verdict::Rejected,
            Ok(reason) => Verdict::Wrong(reason.to_owned()),
            Err(Ending::Late) => Verdict::Wrong(format!("does not end within {limit:?}")),
            Err(Ending::Failed(reason)) => Verdict::Wrong(reason.clone()),
        })
    }

    /// Writes the program to the folder for programs with wrong results.
    fn keep(
        &mut self,
        seed: u64,
        reason: &str,
        is_time_left: impl Fn() -> bool + Sync,
    ) -> Result<(), String> {
        let Some(folder) = &self.options.keep else { return Ok(()) };
        let file = folder.join(format!("{seed}.cl"));
        let (source, launch) = (self.options.source(seed)?, self.options.program(seed).launch().join(" "));
        let keep = |source: &str| fs::write(&file, format!("// {launch}\n{}", without_launch(source)));
        let message = |e: io::Error| format!("cannot write `{}`: {e}", file.display());
        fs::create_dir_all(folder).and_then(|()| keep(&source)).map_err(message)?;
        if self.options.reduce {
            let kind = failure_kind(reason);
            let smallest = reduce(&source, &mut [self], |bench, source| {
                let verdict =
                    if is_time_left() { bench.verdict_of(seed, source) } else { Ok(Verdict::Rejected) };
                matches!(verdict, Ok(Verdict::Wrong(reason)) if self::failure_kind(&reason) == kind)
                    && keep(source).is_ok()
            });
            keep(&smallest).map_err(message)?;
        }
        Ok(())
    }
}

impl Random {
    fn program(&self, seed: u64) -> Program {
        let kind = match self {
            Self { compositions: true, .. } => ProgramKind::Composition,
            Self { generic: true, .. } => ProgramKind::Generic,
            Self { counting: true, .. } => ProgramKind::Counting,
            _ => ProgramKind::Plain,
        };
        programs::program(seed, kind)
    }

    /// The source of the program with this seed and of its neighbors.
    fn source(&self, seed: u64) -> Result<String, String> {
        if let Some(folder) = &self.from {
            let file = folder.join(format!("{seed}.cl"));
            return fs::read_to_string(&file).map_err(|e| format!("cannot read `{}`: {e}", file.display()));
        }
        let neighbors: Vec<Program> = (1..=self.neighbors).map(|step| self.program(seed + step)).collect();
        Ok(programs::with_neighbors(&self.program(seed), &neighbors).source)
    }
}

/// A source without the line that `keep` adds.
fn without_launch(source: &str) -> &str {
    let rest = source.strip_prefix("// --kernel").and_then(|rest| rest.split_once('\n'));
    rest.map_or(source, |(_, source)| source)
}

/// A reason without its numbers, so that a smaller program can have the same.
fn failure_kind(reason: &str) -> String {
    let message = reason.split("note:").next().unwrap_or_default();
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Runs programs for a `Worker`. Each line of standard input contains a seed and a file.
fn serve(options: &Random) -> Result<(), String> {
    let devices = Devices {
        tested: Kiln::with_target(&options.device, &options.feature, options.workarounds.as_deref())?,
        reference: Kiln::new("reference")?,
    };
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let (seed, file) = line.split_once('\t').ok_or("a request is a seed and a file")?;
        let source = fs::read_to_string(Path::new(file)).map_err(|e| e.to_string())?;
        let seed = seed.parse().map_err(|_| format!("`{seed}` is not a seed"))?;
        let verdict = compare(&devices, &Program { source, ..options.program(seed) });
        match &verdict {
            Verdict::Wrong(reason) => println!("{}", reason.trim_end().replace('\n', " ")),
            _ => println!("{}", verdict.word()),
        }
        println!("done");
        io::stdout().flush().map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn on_large_stack(work: impl FnOnce() -> Result<(), String> + Send) -> Result<(), String> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work);
        thread.expect("the system has room for another thread").join().expect("no thread fails")
    })
}

/// The device under test, and the reference.
struct Devices {
    tested: Kiln,
    reference: Kiln,
}

fn compare(devices: &Devices, program: &Program) -> Verdict {
    // Undefined behavior has no correct result, so this reduction is rejected.
    let Ok(right) = devices.reference.results(program) else { return Verdict::Rejected };
    match devices.tested.results(program) {
        Ok(results) => match (0..right.len()).find(|&it| right[it] != results[it]) {
            None => Verdict::Right,
            Some(at) => Verdict::Wrong(format!("word {at} is {} and not {}", results[at], right[at])),
        },
        Err(reason) if device::lacks_a_feature(&reason) => Verdict::Rejected,
        Err(reason) => Verdict::Wrong(reason),
    }
}
