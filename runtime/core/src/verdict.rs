//! What kernels say of their own launches: traps.
//!
//! Owns who is told, and how often: everybody who waits for the launch, and otherwise the first who waits for its queue, or the log
//! if the queue is gone. It must never know where it is read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::error::{Error, Result};

/// What a launch says of itself once it is complete.
#[derive(Default)]
pub(crate) struct Verdict {
    error: OnceLock<Error>,
    is_told: AtomicBool,
}

/// The launches of a queue that have failed by their own word, and whose users may not know yet.
#[derive(Clone, Default)]
pub(crate) struct Failures(Arc<Untold>);

#[derive(Default)]
struct Untold(Mutex<Vec<Arc<Verdict>>>);

impl Verdict {
    /// What the launch said, if it is complete and has been listened to.
    pub(crate) fn get(&self) -> Result<()> {
        let Some(error) = self.error.get() else { return Ok(()) };
        self.is_told.store(true, Ordering::Relaxed);
        Err(error.clone())
    }
}

impl Failures {
    /// A launch has failed.
    pub(crate) fn add(&self, verdict: Option<&Arc<Verdict>>, error: Error) {
        if let Some(verdict) = verdict
            && verdict.error.set(error).is_ok()
        {
            self.0.lock().push(verdict.clone());
        }
    }

    /// The first failure that nobody knows.
    pub(crate) fn tell(&self) -> Result<()> {
        self.0.next()
    }
}

impl Untold {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Verdict>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Result<()> {
        let mut failed = self.lock();
        failed.retain(|verdict| !verdict.is_told.load(Ordering::Relaxed));
        if failed.is_empty() { Ok(()) } else { failed.remove(0).get() }
    }
}

impl Drop for Untold {
    fn drop(&mut self) {
        while let Err(error) = self.next() {
            tracing::error!("a launch that nobody waited for has failed: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_once() {
        let error = |number: u64| Error::OutOfMemory { bytes: number, device: String::new() };
        let (failures, verdicts) = (Failures::default(), [(); 3].map(|()| Arc::new(Verdict::default())));
        assert!(failures.tell().is_ok() && verdicts[0].get().is_ok());
        (0..).zip(&verdicts).for_each(|(number, verdict)| failures.add(Some(verdict), error(number)));
        // Who waits for the launch itself is told each time, the queue then no more.
        assert_eq!([verdicts[1].get(), verdicts[1].get()], [Err(error(1)), Err(error(1))]);
        assert_eq!(
            [failures.tell(), failures.tell(), failures.tell()],
            [Err(error(0)), Err(error(2)), Ok(())]
        );
        assert_eq!(verdicts[0].get(), Err(error(0)));
    }
}
