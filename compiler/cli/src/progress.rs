//! Progress of slow operations: a line on the terminal that counts the seconds and disappears at the end.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// Operations shorter than this show no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// The update interval of the line.
const PERIOD: Duration = Duration::from_millis(200);

/// Runs an operation while the terminal shows its description.
pub(crate) fn show_while<T>(what: &(impl Fn() -> String + Sync), work: impl FnOnce() -> T) -> T {
    if io::stderr().is_terminal() { show_on(io::stderr(), PATIENCE, what, work) } else { work() }
}

fn show_on<T>(
    mut terminal: impl Write + Send,
    patience: Duration,
    what: &(impl Fn() -> String + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let begin = Instant::now();
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut pause, mut is_shown) = (patience, false);
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // If the terminal is closed, there is nothing left to do.
                let _ = write!(terminal, "\r\x1b[K{} ({} s)", what(), begin.elapsed().as_secs());
                let _ = terminal.flush();
                (pause, is_shown) = (PERIOD, true);
            }
            if is_shown {
                let _ = write!(terminal, "\r\x1b[K");
            }
        });
        let result = work();
        drop(end);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_operations_show_progress() {
        let mut quick = Vec::new();
        assert_eq!(show_on(&mut quick, PATIENCE, &|| "quick".into(), || 1), 1);
        assert_eq!(quick, b"");
        let mut slow = Vec::new();
        show_on(&mut slow, Duration::from_millis(1), &|| "slow".into(), || {
            thread::sleep(Duration::from_millis(50))
        });
        assert_eq!(String::from_utf8(slow).expect("text"), "\r\x1b[Kslow (0 s)\r\x1b[K");
    }
}
