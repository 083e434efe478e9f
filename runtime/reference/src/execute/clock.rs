//! The kernel clock, and the times of commands.

use std::{sync::LazyLock, time::Instant};

/// The time zero.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since the first call. Always 0 in a browser: WebAssembly has no clock.
pub(super) fn nanoseconds() -> u64 {
    if cfg!(target_family = "wasm") { 0 } else { START.elapsed().as_nanos() as u64 }
}
