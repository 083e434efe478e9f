//! Exit codes: 0 for success, 1 for diagnostics and for results that are not as expected, 2 for usage, files and devices.

use std::process::ExitCode;

/// How a command ended, when nothing stood in its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what it was asked.
    Success,
    /// The source has errors, or a result is not as expected; it has been told.
    Diagnostics,
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
