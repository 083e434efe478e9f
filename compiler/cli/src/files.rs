//! Files and standard streams: sources and modules read, outputs written whole or not at all.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use kiln_compiler::session::{Loader, Source};

use crate::exit::{Failure, failure};

/// The files that a command reads, and what they were like before.
#[derive(Default)]
pub(crate) struct Files(Mutex<BTreeMap<PathBuf, State>>);

/// What tells whether a file is still the same: when it was changed, and its size; none if it is not there.
type State = Option<(SystemTime, u64)>;

fn state(path: &Path) -> State {
    let data = fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

impl Files {
    /// Reads the source: a path, or `-` for standard input.
    pub(crate) fn source(&self, path: &str) -> Result<Source, Failure> {
        if path == "-" {
            return Ok(Source { name: "<stdin>".to_owned(), text: read_input()? });
        }
        match self.read(path) {
            Ok(text) => Ok(Source { name: path.to_owned(), text }),
            Err(error) => failure(format!("cannot read `{path}`: {error}")),
        }
    }

    /// What has been read, and what was looked for.
    pub(crate) fn seen(&self) -> BTreeMap<PathBuf, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether any of it is another since.
    pub(crate) fn have_changed(&self) -> bool {
        self.seen().iter().any(|(path, before)| state(path) != *before)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let path = PathBuf::from(path);
        let before = state(&path);
        let text = fs::read(&path);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_insert(before);
        text
    }
}

impl Loader for Files {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        self.read(path).ok()
    }
}

fn read_input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure(format!("cannot read standard input: {error}")))?;
    Ok(bytes)
}

/// Reads a module's words, in whichever order their bytes stand (SPIR-V 2.3): a path, or `-` for standard input.
pub(crate) fn read_module(path: &str) -> Result<Vec<u32>, Failure> {
    const MAGIC: u32 = 0x0723_0203;
    let bytes = if path == "-" {
        read_input()?
    } else {
        fs::read(path).map_err(|error| Failure(format!("cannot read `{path}`: {error}")))?
    };
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return failure(format!("`{path}` is no module: its {} bytes are not whole words", bytes.len()));
    }
    let words = words.iter().map(|word| u32::from_le_bytes(*word));
    let is_swapped = words.clone().next().is_some_and(|first| first.swap_bytes() == MAGIC);
    Ok(words.map(|word| if is_swapped { word.swap_bytes() } else { word }).collect())
}

/// Writes an output: a path, or `-` for standard output. A file is written beside its place and renamed, so
/// that no one ever sees half of it.
pub(crate) fn write_output(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path == "-" {
        let mut stdout = io::stdout().lock();
        return match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            // `head` has read all that it wanted.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                failure(format!("cannot write standard output: {error}"))
            }
            _ => Ok(()),
        };
    }
    write_file(Path::new(path), bytes).map_err(|e| Failure(format!("cannot write `{path}`: {e}")))
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or a pipe cannot be replaced by a file.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, bytes);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Else the name of a file that nobody knows would be told.
    fs::metadata(folder)?;
    let mut file = tempfile::Builder::new().permissions(permissions()).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// As a compiler's output has them; the process's mask takes its part away.
#[cfg(unix)]
fn permissions() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

#[cfg(not(unix))]
fn permissions() -> fs::Permissions {
    fs::metadata(".").map(|found| found.permissions()).expect("the current folder exists")
}
