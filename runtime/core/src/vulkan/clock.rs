//! Relates the device's clock to the host's.
//!
//! Owns the conversion of timestamps. All queues of a device share one clock, so that their times can be compared.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ash::{ext, vk};

/// How long a calibration is used: clocks drift.
const CALIBRATION_LIFETIME: Duration = Duration::from_secs(1);
/// How often both clocks are read for a calibration. The reading that took the shortest time counts.
const READINGS: usize = 4;

pub(super) struct Clock {
    /// With `VK_EXT_calibrated_timestamps`.
    api: Option<ext::calibrated_timestamps::Device>,
    /// The number of valid bits in a timestamp.
    bits: u32,
    /// Nanoseconds for each tick.
    period: f64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// From the device's clock to the host's, in nanoseconds.
    offset: Option<i128>,
    calibrated: Option<Instant>,
}

impl Clock {
    pub(super) fn new(api: Option<ext::calibrated_timestamps::Device>, bits: u32, period: f32) -> Self {
        Self { api, bits, period: f64::from(period), state: Mutex::default() }
    }

    /// Whether commands can record times.
    pub(super) const fn exists(&self) -> bool {
        self.bits > 0
    }

    /// Converts a timestamp, or the difference of two.
    pub(super) fn nanoseconds(&self, ticks: u64) -> i128 {
        let mask = u64::MAX.checked_shr(64 - self.bits).unwrap_or(0);
        match ticks & mask {
            ticks if self.period == 1.0 => i128::from(ticks),
            ticks => (ticks as f64 * self.period) as i128,
        }
    }

    /// Compares both clocks, if that was not done recently.
    pub(super) fn calibrate(&self, opened: Instant) {
        let Some(api) = &self.api else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.calibrated.is_some_and(|at| at.elapsed() < CALIBRATION_LIFETIME) {
            return;
        }
        let device = [vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE)];
        let readings = (0..READINGS).filter_map(|_| {
            let before = opened.elapsed();
            // SAFETY: the extension is enabled, and the device's clock can be calibrated.
            let (ticks, _) = unsafe { api.get_calibrated_timestamps(&device) }.ok()?;
            let after = opened.elapsed();
            let middle = (before + after).as_nanos() as i128 / 2;
            Some((after - before, middle - self.nanoseconds(*ticks.first()?)))
        });
        if let Some((_, offset)) = readings.min_by_key(|(duration, _)| *duration) {
            *state = State { offset: Some(offset), calibrated: Some(Instant::now()) };
        }
    }

    /// Converts the time at which a command started to the host's clock. No command starts before its submission, so the
    /// offset increases if it would.
    pub(super) fn on_host(&self, start: u64, submitted: u64) -> u64 {
        let start = self.nanoseconds(start);
        let min = i128::from(submitted) - start;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = state.offset.map_or(min, |offset| offset.max(min));
        state.offset = Some(offset);
        (start + offset) as u64
    }
}
