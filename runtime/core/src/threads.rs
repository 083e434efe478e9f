//! The runtime's own threads, and the end of the process.
//!
//! Owns the count of threads that may be inside a driver. A driver must not be used while the process runs its
//! destructors, and a thread of the runtime can be the last owner of a queue: just after an event has ended, while the
//! main thread returns. So the process waits at exit until all runtime threads are idle, and they start nothing new
//! afterwards. Must not depend on what the threads do.

#![allow(unsafe_code, reason = "a call of the C library; it states why it is sound")]

use std::ffi::c_int;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// The timeout of the wait at exit, because a kernel or a callback may hang.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

struct State {
    busy: usize,
    is_exiting: bool,
}

static STATE: Mutex<State> = Mutex::new(State { busy: 0, is_exiting: false });
static CHANGED: Condvar = Condvar::new();

/// Counts the current thread as busy while it lives.
pub(crate) struct BusyGuard(());

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BusyGuard {
    /// Marks a thread of the runtime as busy. Does not return if the process is about to end.
    pub(crate) fn new() -> Self {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            // SAFETY: the function may be called at any time, and the handler does not unwind. Without it, the process
            // ends without waiting.
            unsafe { atexit(at_exit) };
        });
        let mut state = state();
        while state.is_exiting {
            state = CHANGED.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.busy += 1;
        Self(())
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        state().busy -= 1;
        CHANGED.notify_all();
    }
}

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
}

extern "C" fn at_exit() {
    let mut state = state();
    state.is_exiting = true;
    // If a runtime thread itself ends the process, this wait always times out.
    drop(CHANGED.wait_timeout_while(state, EXIT_TIMEOUT, |state| state.busy > 0));
}
