//! The kernel clock, the times of commands, and deadlines. The only reader of the clock, because WebAssembly has none.
#![expect(clippy::disallowed_methods, reason = "here is the only reader")]

use std::{sync::LazyLock, time::Instant};

/// The time zero.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since the first call. Always 0 in a browser.
pub(super) fn nanoseconds() -> u64 {
    if cfg!(target_family = "wasm") { 0 } else { START.elapsed().as_nanos() as u64 }
}

/// Whether the deadline has passed. Nobody can set one in a browser.
pub(super) fn has_passed(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}
