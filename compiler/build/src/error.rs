//! Errors of a build script.

use std::{fmt, io, path::PathBuf};

/// The result of a build.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Why a build failed. Return it from `main` to print it in readable form.
pub enum Error {
    /// Sources have errors, which were already reported to Cargo. Contains the messages with source lines.
    Diagnostics(String),
    /// A file could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: io::Error,
    },
    /// Invalid use of the builder: no such file, duplicate module names, or an unknown version.
    Usage(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diagnostics(text) => write!(f, "kernels have errors\n\n{text}"),
            Self::File { path, reason } => write!(f, "`{}`: {reason}", path.display()),
            Self::Usage(text) => f.write_str(text),
        }
    }
}

/// `main` prints errors with `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { reason, .. } => Some(reason),
            Self::Diagnostics(_) | Self::Usage(_) => None,
        }
    }
}
