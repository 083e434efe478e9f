//! Files and standard streams: reads sources and modules, and writes outputs atomically.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use kiln_compiler::session::{Loader, Source};

use crate::{
    exit::{Failure, failure},
    paths,
};

/// The files that a command reads, with their state at that time.
#[derive(Default)]
pub(crate) struct Files(Mutex<BTreeMap<PathBuf, State>>);

/// Modification time and size of a file, to detect changes; `None` if it does not exist.
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

    /// The files read, and those looked for but not found.
    pub(crate) fn seen(&self) -> BTreeMap<PathBuf, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether any of these files has changed since.
    pub(crate) fn have_changed(&self) -> bool {
        self.seen().iter().any(|(path, before)| state(path) != *before)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let path = paths::path(path);
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

/// The first word of a SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;

/// Whether a file is a SPIR-V module in little-endian byte order.
pub(crate) fn is_module(contents: &[u8]) -> bool {
    contents.starts_with(&SPIRV_MAGIC.to_le_bytes())
}

/// Reads the words of a module, in either byte order (SPIR-V 2.3), from a path, or `-` for standard input.
pub(crate) fn read_module(path: &str) -> Result<Vec<u32>, Failure> {
    let bytes = if path == "-" {
        read_input()?
    } else {
        fs::read(paths::path(path)).map_err(|error| Failure(format!("cannot read `{path}`: {error}")))?
    };
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return failure(format!("`{path}` is not a module: its {} bytes are not whole words", bytes.len()));
    }
    let words = words.iter().map(|word| u32::from_le_bytes(*word));
    let is_swapped = words.clone().next().is_some_and(|first| first.swap_bytes() == SPIRV_MAGIC);
    Ok(words.map(|word| if is_swapped { word.swap_bytes() } else { word }).collect())
}

/// Writes an output to a path, or `-` for standard output. Files are written under a temporary name and then renamed,
/// so that no reader sees a partial file. An existing file keeps its permissions, and a symbolic link keeps its target.
pub(crate) fn write_output(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path == "-" {
        let mut stdout = io::stdout().lock();
        return match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            // A reader such as `head` may close the pipe early.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                failure(format!("cannot write standard output: {error}"))
            }
            _ => Ok(()),
        };
    }
    write_file(&paths::path(path), bytes).map_err(|e| Failure(format!("cannot write `{path}`: {e}")))
}

/// Writes a text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_output("-", text.as_bytes())
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or a pipe cannot be replaced by a file.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, bytes);
    }
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Fails here with the folder's name, because the user does not know the temporary name.
    fs::metadata(folder)?;
    match replace_file(path, folder, bytes) {
        // A folder that cannot be written may contain a file that can.
        Err(error) if path.exists() => fs::write(path, bytes).map_err(|_| error),
        ended => ended,
    }
}

/// Writes a temporary file and renames it. A failure leaves nothing behind.
fn replace_file(path: &Path, folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let kept = fs::metadata(path).map(|found| found.permissions()).ok();
    let file = tempfile::Builder::new().permissions(permissions()).tempfile_in(folder);
    // The error of `tempfile` names the temporary file.
    let mut file = file.map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(bytes)?;
    if let Some(kept) = kept {
        file.as_file().set_permissions(kept)?;
    }
    file.persist(path)?;
    Ok(())
}

/// The usual permissions of output files, restricted by the process's umask.
#[cfg(unix)]
fn permissions() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

#[cfg(not(unix))]
fn permissions() -> fs::Permissions {
    fs::metadata(".").map(|found| found.permissions()).expect("the current folder exists")
}
