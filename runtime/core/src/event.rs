//! Events: waiting for commands and learning when they ran.
//!
//! Owns `Event` and its times. It must never know how a back end signals completion.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::Completion;
use crate::error::Result;

/// The end of a command. Dropping it does not stop the command.
#[derive(Clone)]
pub struct Event {
    /// Nothing for a command that had nothing to do.
    completion: Option<Arc<dyn Completion>>,
    watchdog: Option<Duration>,
}

/// When a command ran, in nanoseconds since the device was opened (`CL_PROFILING_COMMAND_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When the host enqueued it.
    pub queued: u64,
    /// When it was handed to the device.
    pub submitted: u64,
    /// When the device began.
    pub start: u64,
    /// When the device had finished.
    pub end: u64,
}

impl Times {
    /// How long the device worked.
    pub fn execution(&self) -> Duration {
        Duration::from_nanos(self.end - self.start)
    }
}

impl Event {
    pub(crate) fn new(completion: Arc<dyn Completion>, watchdog: Option<Duration>) -> Self {
        Self { completion: Some(completion), watchdog }
    }

    /// The event of a command that had nothing to do.
    pub(crate) fn done() -> Self {
        Self { completion: None, watchdog: None }
    }

    /// Waits until the command is complete, or until the watchdog of [`Options`](crate::Options) barks.
    pub fn wait(&self) -> Result<()> {
        self.completion.as_ref().map_or(Ok(()), |completion| completion.wait(self.watchdog))
    }

    /// Waits at most this long; after that the error names the kernel, and the event can be waited for again.
    pub fn wait_for(&self, timeout: Duration) -> Result<()> {
        self.completion.as_ref().map_or(Ok(()), |completion| completion.wait(Some(timeout)))
    }

    /// Whether the command is complete.
    pub fn is_complete(&self) -> Result<bool> {
        self.completion.as_ref().map_or(Ok(true), |completion| completion.is_complete())
    }

    /// When the command ran. `None` before it is complete, for a command that had nothing to do, and on devices that cannot
    /// tell.
    pub fn times(&self) -> Option<Times> {
        self.completion.as_ref()?.times()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("times", &self.times()).finish_non_exhaustive()
    }
}
