//! `--watch`: repeats a command whenever a file that it has read, or looked for, changes.
//!
//! A notification from the system only triggers a check: the command is repeated if a file differs from its state when it was
//! read. Independent of the command.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use notify::{RecursiveMode, Watcher as _};

use crate::{
    exit::{Failure, Outcome, failure, stderr_line},
    files::Files,
};

/// An editor writes a file in several steps; a file counts as written after this much time without events.
const QUIET_PERIOD: Duration = Duration::from_millis(30);

/// Runs a command once, or repeatedly until interrupted.
pub(crate) fn each_change(
    is_wanted: bool,
    run: impl Fn(&Files) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    if !is_wanted {
        return run(&Files::default());
    }
    loop {
        clear();
        let files = Files::default();
        if let Err(Failure(message)) = run(&files) {
            stderr_line!("kiln: error: {message}");
        }
        let seen = files.seen();
        if seen.is_empty() {
            return failure("standard input does not change; name a file to watch");
        }
        let count = seen.keys().filter(|path| path.exists()).count();
        stderr_line!("kiln: watching {count} {}", if count == 1 { "file" } else { "files" });
        let (events, notifications) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(move |_| {
            // After the receiver is dropped, events are ignored.
            let _ = events.send(());
        })?;
        for folder in folders(seen.keys()) {
            // A directory that does not exist cannot be watched.
            let _ = watcher.watch(&folder, RecursiveMode::NonRecursive);
        }
        // Detect changes made before the directories were watched too. Wait for the end of every change: an editor may
        // not have completed it.
        while !files.have_changed() {
            notifications.recv()?;
        }
        wait_until_quiet(&notifications);
    }
}

/// Waits until the files have not changed for a while.
fn wait_until_quiet(notifications: &Receiver<()>) {
    while notifications.recv_timeout(QUIET_PERIOD).is_ok() {}
}

/// The directories of the files. They are watched instead of the files, because an editor may replace a file by a new
/// one.
fn folders<'a>(files: impl Iterator<Item = &'a PathBuf>) -> BTreeSet<PathBuf> {
    let folder = |path: &'a PathBuf| path.parent().filter(|folder| !folder.as_os_str().is_empty());
    files.map(|path| folder(path).unwrap_or(Path::new(".")).to_owned()).collect()
}

/// Clears the terminal, to show the latest result only.
fn clear() {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // If the terminal is closed, there is nothing left to do.
        let _ = stderr.write_all(b"\x1b[H\x1b[2J\x1b[3J");
    }
}
