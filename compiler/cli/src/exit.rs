//! Exit codes and final messages of commands.

use std::{io::ErrorKind, process::ExitCode};

/// The exit codes in `kiln --help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0   success
  1   the source has errors, a module is invalid, or a result differs from the expected one
  2   wrong usage, or a file, device or runtime failure
  3   a launch has a race, accesses memory out of bounds, or has other undefined behavior
  4   a device shows an outcome that the memory model forbids
  70  internal error; the message names a file that reproduces it";

/// The result of a command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Success.
    Success,
    /// The source has errors, or a result differs from the expected one. The diagnostics were printed.
    Diagnostics,
    /// A launch has undefined behavior, such as a race. It was reported.
    Undefined,
    /// A device showed an outcome that the memory model forbids. It was reported.
    Forbidden,
    /// An internal error, already reported.
    Crash,
}

/// A failure of usage, a file or a device, as a message for the user.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Returns a failure with this message.
pub(crate) fn failure<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(message.into()))
}

/// Prints a line to standard error. If that fails, for example because the disk is full, the line is lost: there is no
/// other place to report it.
macro_rules! stderr_line {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let text = format!($($text)*);
        let _ = writeln!(anstream::stderr(), "{}", $crate::paths::shown(&text));
    }};
}

pub(crate) use stderr_line;

/// Prints a failure and returns the exit code.
pub(crate) fn report(outcome: Result<Outcome, Failure>) -> ExitCode {
    match outcome {
        Ok(Outcome::Success) => ExitCode::SUCCESS,
        Ok(Outcome::Diagnostics) => ExitCode::from(1),
        Ok(Outcome::Undefined) => ExitCode::from(3),
        Ok(Outcome::Forbidden) => ExitCode::from(4),
        // EX_SOFTWARE of sysexits.h.
        Ok(Outcome::Crash) => ExitCode::from(70),
        Err(Failure(message)) => {
            stderr_line!("kiln: error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Prints a usage error or the requested help.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        // A reader such as `head` may close the pipe early.
        Err(reason) if !error.use_stderr() && reason.kind() != ErrorKind::BrokenPipe => {
            report(failure(format!("cannot write standard output: {reason}")))
        }
        _ if error.use_stderr() => ExitCode::from(2),
        _ => ExitCode::SUCCESS,
    }
}
