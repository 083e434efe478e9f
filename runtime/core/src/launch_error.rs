//! Errors that kernels report about their own launches: traps.
//!
//! Owns where an error is reported, and how often: to every wait for the launch, otherwise to the first wait for its
//! queue, or to the log if the queue is gone. Must not depend on how the error is detected.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::error::{Error, Result};

/// The error that a completed launch reported, if any.
#[derive(Default)]
pub(crate) struct LaunchError {
    error: OnceLock<Error>,
    is_reported: AtomicBool,
}

/// The failed launches of a queue whose errors may not have been reported yet.
#[derive(Clone, Default)]
pub(crate) struct Failures(Arc<Unreported>);

#[derive(Default)]
struct Unreported(Mutex<Vec<Arc<LaunchError>>>);

impl LaunchError {
    /// The launch's error, if its results have been read. Marks the error as reported.
    pub(crate) fn get(&self) -> Result<()> {
        let Some(error) = self.error.get() else { return Ok(()) };
        self.is_reported.store(true, Ordering::Relaxed);
        Err(error.clone())
    }
}

impl Failures {
    /// Records that a launch has failed.
    pub(crate) fn add(&self, launch_error: Option<&Arc<LaunchError>>, error: Error) {
        if let Some(launch_error) = launch_error
            && launch_error.error.set(error).is_ok()
        {
            self.0.lock().push(launch_error.clone());
        }
    }

    /// Returns the first failure that has not been reported.
    pub(crate) fn report(&self) -> Result<()> {
        self.0.take_next()
    }
}

impl Unreported {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<LaunchError>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_next(&self) -> Result<()> {
        let mut failed = self.lock();
        failed.retain(|launch_error| !launch_error.is_reported.load(Ordering::Relaxed));
        if failed.is_empty() { Ok(()) } else { failed.remove(0).get() }
    }
}

impl Drop for Unreported {
    fn drop(&mut self) {
        while let Err(error) = self.take_next() {
            tracing::error!("a launch failed, and nothing waited for it: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_reported_once() {
        let error = |number: u64| Error::OutOfMemory { bytes: number, device: String::new() };
        let (failures, errors) = (Failures::default(), [(); 3].map(|()| Arc::new(LaunchError::default())));
        assert!(failures.report().is_ok() && errors[0].get().is_ok());
        (0..).zip(&errors).for_each(|(number, launch_error)| failures.add(Some(launch_error), error(number)));
        // Waits for the launch return the error every time; the queue then no longer reports it.
        assert_eq!([errors[1].get(), errors[1].get()], [Err(error(1)), Err(error(1))]);
        assert_eq!(
            [failures.report(), failures.report(), failures.report()],
            [Err(error(0)), Err(error(2)), Ok(())]
        );
        assert_eq!(errors[0].get(), Err(error(0)));
    }
}
