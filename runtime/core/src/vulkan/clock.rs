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
            Some((after - before, middle - i128::from(self.nanoseconds(*ticks.first()?))))
        });
        if let Some((_, offset)) = readings.min_by_key(|(duration, _)| *duration) {
            *state = State { offset: Some(offset), calibrated: Some(Instant::now()) };
        }
    }

    /// Converts the timestamps of a batch's commands, `[start, end]`, to the host's clock. None of them started before
    /// `earliest`, and all have ended by `now`: if the current offset says otherwise, it changes.
    ///
    /// One offset for the whole batch keeps the device's durations and gaps. If both bounds cannot hold, because one
    /// clock is faster, the first does.
    pub(super) fn on_host(&self, commands: &[[u64; 2]], earliest: u64, now: u64) -> Vec<[u64; 2]> {
        let Some(&[first, _]) = commands.first() else { return Vec::new() };
        // The device's clock may wrap around within the batch, so all times are relative to the first.
        let since_first = |ticks: u64| i128::from(self.nanoseconds(ticks.wrapping_sub(first)));
        let last = commands.iter().map(|[_, end]| since_first(*end)).max().unwrap_or_default();
        let first_on_device = i128::from(self.nanoseconds(first));
        let min = i128::from(earliest) - first_on_device;
        let max = i128::from(now) - last - first_on_device;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = state.offset.map_or(min, |offset| offset.min(max).max(min));
        state.offset = Some(offset);
        let first_on_host = first_on_device + offset;
        commands.iter().map(|times| times.map(|ticks| (first_on_host + since_first(ticks)) as u64)).collect()
    }

    /// Converts a timestamp, or the difference of two, to nanoseconds. Large ones are negative.
    fn nanoseconds(&self, ticks: u64) -> i64 {
        let unused = 64 - self.bits;
        match (ticks << unused) as i64 >> unused {
            ticks if self.period == 1.0 => ticks,
            ticks => (ticks as f64 * self.period) as i64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(bits: u32, offset: Option<i128>) -> Clock {
        let state = Mutex::new(State { offset, calibrated: None });
        Clock { api: None, bits, period: 1.0, state }
    }

    #[test]
    fn the_offset_moves_but_durations_and_gaps_stay() {
        let batch = [[1000, 1007], [1009, 1020]];
        let on_host = |offset, earliest, now| clock(64, offset).on_host(&batch, earliest, now);
        assert_eq!(on_host(Some(500), 0, 9999), [[1500, 1507], [1509, 1520]], "the offset fits");
        assert_eq!(on_host(Some(500), 1502, 9999), [[1502, 1509], [1511, 1522]], "submitted later");
        assert_eq!(on_host(Some(500), 0, 1516), [[1496, 1503], [1505, 1516]], "complete earlier");
        assert_eq!(
            on_host(Some(500), 1500, 1516),
            [[1500, 1507], [1509, 1520]],
            "the device's clock is faster"
        );
        assert_eq!(on_host(None, 42, 9999), [[42, 49], [51, 62]], "not calibrated");
    }

    #[test]
    fn a_moved_offset_is_kept() {
        let clock = clock(64, Some(500));
        clock.on_host(&[[1000, 1020]], 0, 1516);
        assert_eq!(clock.on_host(&[[2000, 2020]], 0, 9999), [[2496, 2516]]);
    }

    #[test]
    fn timestamps_wrap_around() {
        let times = clock(36, Some(2000)).on_host(&[[0xf_ffff_fffe, 3], [5, 8]], 0, 9999);
        assert_eq!(times, [[1998, 2003], [2005, 2008]]);
    }
}
