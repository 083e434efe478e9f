//! The program of `cargo xtask fuzz`. A supervisor starts itself as a memory-limited worker, and replaces a worker that
//! ends early; the input that ended it is minimized and kept.

use std::{
    collections::BTreeSet,
    env, fs,
    io::Write as _,
    os::unix::fs::FileExt as _,
    panic,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio, exit},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use kiln_testsuite::fuzz::{Input, Mutator, Target, findings, minimize::minimize};
use nix::time::{ClockId, clock_gettime};

/// The limits for one input, besides time: the stack of a thread, and the memory of a process.
const STACK_BYTES: usize = 2 << 20;
const MEMORY_KIB: &str = "2000000";

/// The limit of CPU time for one input.
const CPU_TIME: Duration = Duration::from_secs(10);

/// Slower inputs are printed, when a worker is run by hand.
const SLOW_INPUT: Duration = Duration::from_millis(100);

/// The exit code of a worker that took too long.
const EXIT_TIMEOUT: i32 = 17;

/// Limits on minimizing a finding: the number of trials, and the time.
const MAX_TRIALS: usize = 1500;
const MAX_MINIMIZE_TIME: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<u64>().expect("a number");
    let target = |name: &str| {
        Target::parse(name).unwrap_or_else(|| {
            let names: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
            eprintln!("there is no target `{name}`; there are {}", names.join(", "));
            exit(2)
        })
    };
    match words[..] {
        ["run", name, executions, seed] => supervise(target(name), number(executions), number(seed)),
        ["work", name, from, to, seed, progress] => {
            run_inputs(target(name), number(from), number(to), number(seed), Path::new(progress))
        }
        ["one", name, path] => run_file(target(name), Path::new(path)),
        ["input", name, at, seed] => {
            let input = Mutator::new(target(name), number(seed)).input(number(at)).to_file();
            std::io::stdout().write_all(&input).expect("standard output can be written");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!(
                "usage: fuzz run TARGET EXECUTIONS SEED | fuzz one TARGET FILE | fuzz input TARGET NUMBER SEED"
            );
            ExitCode::from(2)
        }
    }
}

/// Executes inputs one at a time. Panics are printed and do not end the process; other failures do.
fn run_inputs(target: Target, from: u64, to: u64, seed: u64, progress: &Path) -> ExitCode {
    let mutator = Mutator::new(target, seed);
    let file = fs::File::options().write(true).open(progress).expect("the supervisor has made it");
    let current = Arc::new(AtomicU64::new(from));
    watch(Arc::clone(&current));
    let last_panic = Arc::new(Mutex::new(String::new()));
    remember_panics(Arc::clone(&last_panic));
    let worker = move || {
        for number in from..to {
            current.store(number, Ordering::Relaxed);
            file.write_all_at(&number.to_le_bytes(), 0).expect("the file can be written");
            let input = mutator.input(number);
            let begin = Instant::now();
            if panic::catch_unwind(|| target.execute(&input)).is_err() {
                println!("panic\t{number}\t{}", last_panic.lock().expect("it is only written"));
            }
            if begin.elapsed() > SLOW_INPUT {
                println!("slow\t{number}\t{} ms", begin.elapsed().as_millis());
            }
        }
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(worker).expect("a thread");
    thread.join().expect("panics are caught");
    ExitCode::SUCCESS
}

/// Ends the process when an input exceeds its limit. Measures CPU time, because the machine may be busy.
fn watch(current: Arc<AtomicU64>) {
    let now = || {
        let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every Linux has this clock");
        Duration::from(time)
    };
    thread::spawn(move || {
        let mut last = (u64::MAX, now());
        loop {
            thread::sleep(Duration::from_millis(200));
            let number = current.load(Ordering::Relaxed);
            if number != last.0 {
                last = (number, now());
            } else if now() - last.1 > CPU_TIME {
                exit(EXIT_TIMEOUT);
            }
        }
    });
}

/// Records the location of the last panic instead of printing it.
fn remember_panics(last_panic: Arc<Mutex<String>>) {
    panic::set_hook(Box::new(move |info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        *last_panic.lock().expect("it is only written") = at;
    }));
}

/// Executes one file, and returns its result.
fn run_file(target: Target, path: &Path) -> ExitCode {
    let input = Input::from_file(&fs::read(path).expect("a file"));
    watch(Arc::new(AtomicU64::new(0)));
    panic::set_hook(Box::new(|info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        println!("panic at {at}");
        eprintln!("{info}");
    }));
    let thread = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || target.execute(&input))
        .expect("a thread");
    if thread.join().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A command for this program with its memory limit.
fn limited(words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v \"$1\"; ulimit -c 0; shift; exec \"$@\"", "sh", MEMORY_KIB]);
    command.arg(env::current_exe().expect("this program")).args(words).stdin(Stdio::null());
    command
}

fn supervise(target: Target, executions: u64, seed: u64) -> ExitCode {
    let begin = Instant::now();
    let folder = tempfile::tempdir().expect("a folder");
    let progress = folder.path().join("progress");
    fs::write(&progress, 0u64.to_le_bytes()).expect("a file");
    let mutator = Mutator::new(target, seed);
    let mut found = BTreeSet::new();
    let mut from = 0;
    while from < executions {
        let (first, last, seed) = (from.to_string(), executions.to_string(), seed.to_string());
        let progress_path = progress.to_str().expect("a temporary path");
        let output = limited(&["work", target.name(), &first, &last, &seed, progress_path])
            .stderr(Stdio::null())
            .output()
            .expect("a worker starts");
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines().filter_map(|line| line.strip_prefix("panic\t")) {
            let (number, location) = line.split_once('\t').expect("a line of progress");
            let number = number.parse().expect("a number that the worker has printed");
            if found.insert(location.to_owned()) {
                save_finding(target, &mutator.input(number), location, folder.path());
            }
        }
        if output.status.success() {
            break;
        }
        let bytes = fs::read(&progress).expect("the file is there");
        let number = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let end = end_of(&mutator.input(number), target, folder.path());
        // A failure that does not recur when the input runs alone was caused by a busy machine.
        match end {
            Some(end) => {
                if found.insert(end.clone()) || found.len() < 20 {
                    save_finding(target, &mutator.input(number), &end, folder.path());
                }
            }
            None => println!(
                "{}: input {number} ended a worker ({}) and not another",
                target.name(),
                output.status
            ),
        }
        from = number + 1;
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{}: {executions} executions with seed {seed} in {seconds:.0} s ({:.0} each second), {} findings",
        target.name(),
        executions as f64 / seconds,
        found.len()
    );
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How an input fails when it runs alone, if it does.
fn end_of(input: &Input, target: Target, folder: &Path) -> Option<String> {
    let path = folder.join("input.cl");
    fs::write(&path, input.to_file()).expect("a file");
    let words = ["one", target.name(), path.to_str().expect("a temporary path")];
    let output = limited(&words).stderr(Stdio::null()).output().expect("it starts");
    if output.status.success() {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned);
    Some(said.unwrap_or_else(|| output.status.to_string()))
}

/// Minimizes a finding and keeps it.
fn save_finding(target: Target, input: &Input, location: &str, folder: &Path) {
    let with = |text: &[u8]| Input { text: text.to_vec(), ..input.clone() };
    let Some(end) = end_of(input, target, folder) else { return };
    let begin = Instant::now();
    let mut fails = |text: &[u8]| {
        begin.elapsed() < MAX_MINIMIZE_TIME && end_of(&with(text), target, folder).as_ref() == Some(&end)
    };
    let small = with(&minimize(target, &input.text, MAX_TRIALS, &mut fails));
    let path = path_of(target, &small.to_file());
    fs::create_dir_all(findings(target)).expect("a folder");
    fs::write(&path, small.to_file()).expect("a file");
    println!("{}: {location}: {end}\n    {}", target.name(), path.display());
}

/// A file name derived from the content (FNV-1a).
fn path_of(target: Target, bytes: &[u8]) -> PathBuf {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    findings(target).join(format!("{hash:016x}.{}", target.extension()))
}
