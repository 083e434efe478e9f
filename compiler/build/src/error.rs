//! What can go wrong in a build script.

use std::{fmt, io, path::PathBuf};

/// The outcome of a build.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Why nothing was built. A build script returns it from `main`: what it prints then is for people.
pub enum Error {
    /// Sources have errors; they have been told as cargo shows them. The text shows them with their lines.
    Diagnostics(String),
    /// A file cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// The builder was asked for something that cannot be: no file, one name for two modules, a version unknown.
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

/// `main` prints errors in this form.
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
