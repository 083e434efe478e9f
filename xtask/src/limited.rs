//! Runs a program with limits on CPU time and memory, and on many files in parallel. For programs whose behavior on
//! their input is unknown.

use std::{
    ffi::OsStr,
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Command, Stdio},
    sync::{Mutex, atomic::AtomicUsize, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

/// The resource limits of a program.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// CPU time in seconds.
    pub(crate) seconds: u64,
    /// Address space in megabytes.
    pub(crate) megabytes: u64,
}

/// The result of a program.
pub(crate) struct Ended {
    pub(crate) end: End,
    /// Standard output and standard error.
    pub(crate) text: String,
    pub(crate) time: Duration,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It exited with this code.
    Code(i32),
    /// It exceeded its time limit.
    Time,
    /// It was killed by a signal, as after a stack overflow.
    Signal(i32),
}

/// Runs a program until it ends or exceeds a limit.
pub(crate) fn run(program: &Path, arguments: &[impl AsRef<OsStr>], limits: Limits) -> Result<Ended, String> {
    let begin = Instant::now();
    let output = Command::new("sh")
        .args(["-c", "ulimit -t \"$1\"; ulimit -v \"$2\"; ulimit -c 0; shift 2; exec \"$@\"", "sh"])
        .args([limits.seconds.to_string(), (limits.megabytes * 1024).to_string()])
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cannot start sh: {e}"))?;
    let end = match (output.status.code(), output.status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, Some(SIGXCPU | SIGKILL)) => End::Time,
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    };
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Ok(Ended { end, text, time: begin.elapsed() })
}

const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// Processes all items in parallel; the results are in the order of the items.
pub(crate) fn on_all<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((index, item)) = next_item(items, &next) {
                    let result = work(item);
                    results.lock().expect("no worker panics with the lock").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panics with the lock");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn next_item<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, items.get(index)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Limits = Limits { seconds: 1, megabytes: 200 };

    fn shell(script: &str) -> Ended {
        run(Path::new("sh"), &["-c", script], SMALL).unwrap()
    }

    #[test]
    fn exit_statuses_are_distinguished() {
        assert_eq!(shell("exit 3").end, End::Code(3));
        assert_eq!(shell("kill -SEGV $$").end, End::Signal(11));
        assert_eq!(shell("while :; do :; done").end, End::Time);
        assert_eq!(shell("echo out; echo err >&2").text, "out\nerr\n");
    }

    #[test]
    fn results_keep_their_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(on_all(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}
