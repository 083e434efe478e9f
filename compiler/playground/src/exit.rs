//! Errors of a launch, as messages for the user.

/// A mistake in the description of a launch.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

/// Returns a failure with this message.
pub(crate) fn failure<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(message.into()))
}
