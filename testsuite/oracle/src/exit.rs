//! What stands in the way of a launch.

/// A sentence for people.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

/// A failure with this message.
pub(crate) fn failure<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(message.into()))
}
