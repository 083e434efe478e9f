//! The times of kernels by their names, and their text: a line for each kernel with its name, the number of its launches, the
//! shortest time of one and the sum of all, in nanoseconds.

use std::{collections::BTreeMap, fmt::Write as _};

/// The times of kernels.
pub(crate) struct Times {
    of: BTreeMap<String, Total>,
    has_changed: bool,
}

/// The launches of a kernel.
struct Total {
    launches: u64,
    least: u64,
    sum: u64,
}

impl Times {
    pub(crate) const fn new() -> Self {
        Self { of: BTreeMap::new(), has_changed: false }
    }

    /// Adds a launch of a kernel, in nanoseconds.
    pub(crate) fn add(&mut self, kernel: &str, time: u64) {
        let none = Total { launches: 0, least: u64::MAX, sum: 0 };
        let total = self.of.entry(kernel.to_owned()).or_insert(none);
        total.launches += 1;
        total.least = total.least.min(time);
        total.sum += time;
        self.has_changed = true;
    }

    /// The text, if there are new times since the last call.
    pub(crate) fn changed(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        let mut text = String::new();
        for (kernel, Total { launches, least, sum }) in &self.of {
            let _ = writeln!(text, "{kernel} {launches} {least} {sum}");
        }
        Some(text)
    }
}
