//! Files and standard streams: sources read, outputs written whole or not at all.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};

use kiln_compiler::session::{Loader, Source};

use crate::exit::{Failure, failure};

/// The file system, for `#include`.
pub(crate) struct FileSystem;

impl Loader for FileSystem {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }
}

/// Reads the source: a path, or `-` for standard input.
pub(crate) fn read_source(path: &str) -> Result<Source, Failure> {
    if path == "-" {
        let mut text = Vec::new();
        io::stdin()
            .lock()
            .read_to_end(&mut text)
            .map_err(|e| Failure(format!("cannot read standard input: {e}")))?;
        return Ok(Source { name: "<stdin>".to_owned(), text });
    }
    match fs::read(path) {
        Ok(text) => Ok(Source { name: path.to_owned(), text }),
        Err(error) => failure(format!("cannot read `{path}`: {error}")),
    }
}

/// Writes an output: a path, or `-` for standard output. A file is written beside its place and renamed, so
/// that no one ever sees half of it.
pub(crate) fn write_output(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path == "-" {
        let mut stdout = io::stdout().lock();
        return stdout
            .write_all(bytes)
            .and_then(|()| stdout.flush())
            .map_err(|e| Failure(format!("cannot write standard output: {e}")));
    }
    write_file(Path::new(path), bytes).map_err(|e| Failure(format!("cannot write `{path}`: {e}")))
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or a pipe cannot be replaced by a file.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, bytes);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
