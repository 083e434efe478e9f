//! `--watch`: does a command again whenever a file changes that it has read, or has looked for.
//!
//! The system's word that something happened in a folder is only a reason to look; what counts is whether a file is another
//! than it was before it was read. It must never know what the command does.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver},
    time::Duration,
};

use notify::{RecursiveMode, Watcher as _};

use crate::{
    exit::{Failure, Outcome, failure},
    files::Files,
};

/// An editor writes a file in several steps; so long nothing must happen before it counts as written.
const CALM: Duration = Duration::from_millis(30);

/// Does a thing once, or again and again until it is interrupted.
pub(crate) fn each_change(
    is_wanted: bool,
    thing: impl Fn(&Files) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    if !is_wanted {
        return thing(&Files::default());
    }
    loop {
        clear();
        let files = Files::default();
        if let Err(Failure(message)) = thing(&files) {
            anstream::eprintln!("kiln: error: {message}");
        }
        let seen = files.seen();
        if seen.is_empty() {
            return failure("standard input does not change; name a file to watch");
        }
        let count = seen.keys().filter(|path| path.exists()).count();
        anstream::eprintln!("kiln: watching {count} {}", if count == 1 { "file" } else { "files" });
        let (events, happened) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(move |_| {
            // Nobody waits for the last ones.
            let _ = events.send(());
        })?;
        for folder in folders(seen.keys()) {
            // A folder that is not there holds nothing that changes.
            let _ = watcher.watch(&folder, RecursiveMode::NonRecursive);
        }
        // What changed before the folders were watched is seen as well, and may be half written as any other change.
        while !files.have_changed() {
            happened.recv()?;
        }
        calm(&happened);
    }
}

/// Waits until nothing more happens.
fn calm(happened: &Receiver<()>) {
    while happened.recv_timeout(CALM).is_ok() {}
}

/// The folders of files: an editor may put a new file in the place of the old one.
fn folders<'a>(files: impl Iterator<Item = &'a PathBuf>) -> BTreeSet<PathBuf> {
    let folder = |path: &'a PathBuf| path.parent().filter(|folder| !folder.as_os_str().is_empty());
    files.map(|path| folder(path).unwrap_or(Path::new(".")).to_owned()).collect()
}

/// A terminal shows the last state only.
fn clear() {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // Nothing is left to be done if the terminal is gone.
        let _ = stderr.write_all(b"\x1b[H\x1b[2J\x1b[3J");
    }
}
