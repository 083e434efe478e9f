//! Timelines: each runtime queue has a timeline semaphore, and a `VkQueue` to submit to. Each batch signals the next value
//! of the semaphore.
//!
//! Owns the dependencies between queues: which values a batch must wait for. Must not depend on what a batch contains.
//!
//! On one `VkQueue` the barrier at the start of a batch orders it after everything submitted before. Between two,
//! only a semaphore orders batches and makes writes visible. A batch therefore waits for the commands in its wait
//! lists, and for all batches that the host has already seen complete: a program that waits for an event and then
//! uses the result in another queue has ordered the two without a wait list.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::prelude::VkResult;
use ash::vk;
use smallvec::SmallVec;

/// The timeline of one queue at a time. The next queue to use it continues from the last value.
pub(super) struct Timeline {
    pub(super) semaphore: vk::Semaphore,
    /// Its index among the timelines of the device.
    index: usize,
    /// The index of its `VkQueue`.
    pub(super) queue: usize,
    /// The last value that batches of all other queues must wait for.
    due: AtomicU64,
}

/// All timelines of a device, for the lifetime of the device.
#[derive(Default)]
pub(super) struct Timelines(Mutex<State>);

#[derive(Default)]
struct State {
    all: Vec<Arc<Timeline>>,
    /// The timelines of dropped queues, with the last values that they signaled.
    free: Vec<(Arc<Timeline>, u64)>,
}

/// A value of a timeline semaphore: the end of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct TimelinePoint {
    timeline: usize,
    value: u64,
}

/// The values that a batch waits for.
pub(super) type TimelinePoints = SmallVec<[TimelinePoint; 2]>;

/// The values that a queue has waited for, by timeline.
#[derive(Default)]
pub(super) struct CompletedWaits(Vec<u64>);

impl Timeline {
    /// The end of the batch that signals this value.
    pub(super) fn point(&self, value: u64) -> TimelinePoint {
        TimelinePoint { timeline: self.index, value }
    }

    /// Makes every other queue wait for all batches up to this value, for example because the host has seen them
    /// complete.
    pub(super) fn mark_due(&self, value: u64) {
        self.due.fetch_max(value, Ordering::Relaxed);
    }
}

impl Timelines {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a timeline for a queue, with its last value. New ones are distributed round-robin among the `VkQueue`s.
    pub(super) fn take(
        &self,
        queues: usize,
        create: impl FnOnce() -> VkResult<vk::Semaphore>,
    ) -> VkResult<(Arc<Timeline>, u64)> {
        let mut state = self.state();
        if let Some(free) = state.free.pop() {
            return Ok(free);
        }
        let index = state.all.len();
        let timeline =
            Arc::new(Timeline { semaphore: create()?, index, queue: index % queues, due: AtomicU64::new(0) });
        state.all.push(timeline.clone());
        Ok((timeline, 0))
    }

    /// Returns the timeline of a dropped queue whose batches are all complete.
    pub(super) fn give_back(&self, timeline: &Arc<Timeline>, last: u64) {
        self.state().free.push((timeline.clone(), last));
    }

    /// The values that a batch must wait for: those in `named`, and the last value of each timeline that is due.
    pub(super) fn waits(
        &self,
        own: &Timeline,
        waited: &CompletedWaits,
        named: &[TimelinePoint],
    ) -> SmallVec<[(vk::Semaphore, TimelinePoint); 4]> {
        let state = self.state();
        let others = state.all.iter().filter(|timeline| timeline.queue != own.queue);
        others
            .filter_map(|timeline| {
                let index = timeline.index;
                let named =
                    named.iter().filter(|point| point.timeline == index).map(|point| point.value).max();
                let value = timeline.due.load(Ordering::Relaxed).max(named.unwrap_or(0));
                let point = TimelinePoint { timeline: index, value };
                (!waited.covers(point)).then_some((timeline.semaphore, point))
            })
            .collect()
    }

    /// All semaphores.
    pub(super) fn semaphores(&mut self) -> impl Iterator<Item = vk::Semaphore> {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.all.iter().map(|timeline| timeline.semaphore)
    }
}

impl CompletedWaits {
    pub(super) fn covers(&self, point: TimelinePoint) -> bool {
        self.0.get(point.timeline).copied().unwrap_or(0) >= point.value
    }

    pub(super) fn record_wait(&mut self, point: TimelinePoint) {
        if self.0.len() <= point.timeline {
            self.0.resize(point.timeline + 1, 0);
        }
        self.0[point.timeline] = point.value.max(self.0[point.timeline]);
    }
}

impl TimelinePoint {
    pub(super) fn value(self) -> u64 {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle as _;

    /// Creates timelines on this many `VkQueue`s.
    fn timelines<const N: usize>(queues: usize) -> (Timelines, [Arc<Timeline>; N]) {
        let all = Timelines::default();
        let taken = std::array::from_fn(|n| {
            let semaphore = vk::Semaphore::from_raw(100 + n as u64);
            all.take(queues, || Ok(semaphore)).expect("a semaphore").0
        });
        (all, taken)
    }

    fn waits(
        all: &Timelines,
        own: &Timeline,
        waited: &mut CompletedWaits,
        named: &[TimelinePoint],
    ) -> Vec<(u64, u64)> {
        let waits = all.waits(own, waited, named);
        waits.iter().for_each(|(_, point)| waited.record_wait(*point));
        waits.iter().map(|(semaphore, point)| (semaphore.as_raw(), point.value())).collect()
    }

    #[test]
    fn batches_wait_once_for_each_timeline() {
        let (all, [a, b, c]) = timelines(3);
        let mut waited = CompletedWaits::default();
        assert_eq!(waits(&all, &a, &mut waited, &[]), []);
        assert_eq!(waits(&all, &a, &mut waited, &[b.point(4), b.point(3)]), [(101, 4)]);
        assert_eq!(waits(&all, &a, &mut waited, &[b.point(2)]), []);
        // The host has seen some batches complete, and others not.
        b.mark_due(3);
        c.mark_due(7);
        assert_eq!(waits(&all, &a, &mut waited, &[]), [(102, 7)]);
        b.mark_due(9);
        b.mark_due(8);
        assert_eq!(waits(&all, &a, &mut waited, &[c.point(8)]), [(101, 9), (102, 8)]);
        // A queue need not wait for its own commands.
        a.mark_due(5);
        assert_eq!(waits(&all, &a, &mut waited, &[]), []);
    }

    #[test]
    fn queues_that_share_a_vk_queue_need_no_semaphore() {
        let (all, [a, b, c]) = timelines(2);
        assert_eq!([a.queue, b.queue, c.queue], [0, 1, 0]);
        c.mark_due(3);
        assert_eq!(waits(&all, &a, &mut CompletedWaits::default(), &[c.point(3)]), []);
        assert_eq!(waits(&all, &b, &mut CompletedWaits::default(), &[]), [(102, 3)]);
    }

    #[test]
    fn timelines_are_reused() {
        let (all, [_a, b]) = timelines(2);
        all.give_back(&b, 12);
        let (again, last) = all.take(2, || Err(vk::Result::ERROR_UNKNOWN)).expect("the one given back");
        assert!(Arc::ptr_eq(&b, &again));
        assert_eq!(last, 12);
    }
}
