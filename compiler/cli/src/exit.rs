//! How a command ends: its exit code, and the words for it.

use std::process::ExitCode;

/// What `kiln --help` says of exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0   it is done
  1   the source has errors, a module breaks rules, or a result is not as expected; it has been told
  2   the usage, a file, a device or the runtime stood in the way
  70  a fault of kiln's own; it names a file that brings it about again";

/// How a command ended, when nothing stood in its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It did what it was asked.
    Success,
    /// The source has errors, or a result is not as expected; it has been told.
    Diagnostics,
    /// Kiln failed; it has been told.
    Crash,
}

/// What stood in its way: usage, a file, a device. A sentence for the user.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// A failure with this message.
pub(crate) fn failure<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(message.into()))
}

/// Tells of a failure and gives the exit code.
pub(crate) fn report(outcome: Result<Outcome, Failure>) -> ExitCode {
    match outcome {
        Ok(Outcome::Success) => ExitCode::SUCCESS,
        Ok(Outcome::Diagnostics) => ExitCode::from(1),
        // EX_SOFTWARE of sysexits.h.
        Ok(Outcome::Crash) => ExitCode::from(70),
        Err(Failure(message)) => {
            anstream::eprintln!("kiln: error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Tells of wrong usage, or prints the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to be done if the terminal is gone.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
