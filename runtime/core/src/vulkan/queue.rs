//! Queues: recording commands, submitting them, and knowing when they are complete.
//!
//! Owns command buffers and the timeline. A command holds everything it uses until it is complete. It must never know arguments.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ash::prelude::VkResult;
use ash::vk;

use super::device::Device;
use crate::error::{Error, Result};
use crate::event::Times;

/// A queue of ours: a timeline on the device's queue.
pub(super) struct Queue {
    pub(super) device: Arc<Device>,
    timeline: vk::Semaphore,
    state: Mutex<State>,
    /// A wait has run out of time, so waiting without end is no option any more.
    overdue: AtomicBool,
}

struct State {
    pool: vk::CommandPool,
    free: Vec<Slot>,
    pending: VecDeque<Pending>,
    /// The value that the last command signals.
    last: u64,
    /// What to add to the device's clock, in nanoseconds, to get the host's. It grows where a command would otherwise have begun
    /// before it was submitted.
    clock: Option<i128>,
}

/// What one command needs, used again and again.
struct Slot {
    commands: vk::CommandBuffer,
    /// Two timestamps; null where the device has none.
    queries: vk::QueryPool,
}

/// A command that may still run.
struct Pending {
    slot: Slot,
    record: Arc<Record>,
    _keep: Vec<Box<dyn Any + Send + Sync>>,
}

/// What is remembered of a command.
struct Record {
    value: u64,
    /// The kernel, if it is a launch.
    kernel: Option<String>,
    queued: u64,
    submitted: OnceLock<u64>,
    times: OnceLock<Times>,
}

/// The end of a command.
pub(super) struct Completion {
    queue: Arc<Queue>,
    record: Arc<Record>,
}

impl Queue {
    pub(super) fn new(device: &Arc<Device>) -> Result<Self> {
        let failed = |result| device.failure("creating a queue", result, 0);
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has timeline semaphores.
        let timeline = unsafe { device.raw.create_semaphore(&info, None) }.map_err(failed)?;
        // From here on, dropping the queue destroys what was made.
        let mut queue = Self {
            device: device.clone(),
            timeline,
            state: Mutex::new(State {
                pool: vk::CommandPool::null(),
                free: Vec::new(),
                pending: VecDeque::new(),
                last: 0,
                clock: None,
            }),
            overdue: AtomicBool::new(false),
        };
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device has this family.
        let pool = unsafe { device.raw.create_command_pool(&info, None) }.map_err(failed)?;
        queue.state.get_mut().unwrap_or_else(PoisonError::into_inner).pool = pool;
        Ok(queue)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a command and submits it after all earlier ones. `keep` lives until the command is complete.
    pub(super) fn submit(
        self: &Arc<Self>,
        kernel: Option<String>,
        keep: Vec<Box<dyn Any + Send + Sync>>,
        commands: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<Completion> {
        let queued = self.device.now();
        let mut state = self.state();
        self.reclaim(&mut state)?;
        let slot = match state.free.pop() {
            Some(slot) => slot,
            None => self.slot(state.pool)?,
        };
        let value = state.last + 1;
        let record = Arc::new(Record {
            value,
            kernel: kernel.clone(),
            queued,
            submitted: OnceLock::new(),
            times: OnceLock::new(),
        });
        let submitted = self.record(&slot, commands).and_then(|()| {
            let _ = record.submitted.set(self.device.now());
            self.hand_over(&slot, value)
        });
        if let Err(result) = submitted {
            // Nothing was submitted: the slot can be used again, and what it would have used may go.
            state.free.push(slot);
            return Err(match self.device.failure("submitting a command", result, 0) {
                Error::DeviceLost { .. } => Error::DeviceLost { kernel },
                error => error,
            });
        }
        state.last = value;
        state.pending.push_back(Pending { slot, record: record.clone(), _keep: keep });
        drop(state);
        Ok(Completion { queue: self.clone(), record })
    }

    fn record(&self, slot: &Slot, commands: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> VkResult<()> {
        let raw = &self.device.raw;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let everything = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        let timed = slot.queries != vk::QueryPool::null();
        // SAFETY: the slot is free, so its command buffer is not pending; the state lock serialises the use of its pool.
        unsafe {
            raw.begin_command_buffer(slot.commands, &begin)?;
            if timed {
                raw.cmd_reset_query_pool(slot.commands, slot.queries, 0, 2);
            }
            raw.cmd_pipeline_barrier(
                slot.commands,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::DependencyFlags::empty(),
                &everything,
                &[],
                &[],
            );
            if timed {
                raw.cmd_write_timestamp(slot.commands, vk::PipelineStageFlags::ALL_COMMANDS, slot.queries, 0);
            }
        }
        commands(raw, slot.commands);
        // SAFETY: the command buffer is being recorded.
        unsafe {
            if timed {
                raw.cmd_write_timestamp(slot.commands, vk::PipelineStageFlags::ALL_COMMANDS, slot.queries, 1);
            }
            raw.end_command_buffer(slot.commands)
        }
    }

    fn hand_over(&self, slot: &Slot, value: u64) -> VkResult<()> {
        let (commands, semaphores, values) = ([slot.commands], [self.timeline], [value]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let submit = [vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline)];
        let queue = self.device.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock serialises the use of the queue; the command buffer is complete and not pending.
        unsafe { self.device.raw.queue_submit(*queue, &submit, vk::Fence::null()) }
    }

    fn slot(&self, pool: vk::CommandPool) -> Result<Slot> {
        let raw = &self.device.raw;
        let failed = |result| self.device.failure("preparing a command", result, 0);
        let mut queries = vk::QueryPool::null();
        if self.device.timestamp_bits > 0 {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            // SAFETY: the family has timestamps.
            queries = unsafe { raw.create_query_pool(&info, None) }.map_err(failed)?;
        }
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the caller holds the lock of the pool.
        match unsafe { raw.allocate_command_buffers(&info) }.as_deref() {
            Ok(&[commands]) => Ok(Slot { commands, queries }),
            other => {
                let result = other.err().copied().unwrap_or(vk::Result::ERROR_UNKNOWN);
                // SAFETY: no command uses the pool of queries.
                unsafe { raw.destroy_query_pool(queries, None) };
                Err(failed(result))
            }
        }
    }

    /// The value of the last complete command.
    fn reached(&self) -> Result<u64> {
        // SAFETY: the semaphore is a timeline of the device.
        unsafe { self.device.raw.get_semaphore_counter_value(self.timeline) }
            .map_err(|result| self.device.failure("asking for completion", result, 0))
    }

    /// Notes the times of complete commands and lets go of what they used.
    fn reclaim(&self, state: &mut State) -> Result<()> {
        if state.pending.is_empty() {
            return Ok(());
        }
        let reached = self.reached()?;
        while state.pending.front().is_some_and(|pending| pending.record.value <= reached) {
            if let Some(Pending { slot, record, .. }) = state.pending.pop_front() {
                if let Some((times, clock)) = self.times(&slot, &record, state.clock) {
                    let _ = record.times.set(times);
                    state.clock = Some(clock);
                }
                state.free.push(slot);
            }
        }
        Ok(())
    }

    /// The times of a complete command on the host's clock.
    fn times(&self, slot: &Slot, record: &Record, clock: Option<i128>) -> Option<(Times, i128)> {
        if slot.queries == vk::QueryPool::null() {
            return None;
        }
        let mut ticks = [0u64; 2];
        // SAFETY: the command has written both queries, for it is complete.
        unsafe {
            self.device.raw.get_query_pool_results(slot.queries, 0, &mut ticks, vk::QueryResultFlags::TYPE_64)
        }
        .ok()?;
        let mask = u64::MAX.checked_shr(64 - self.device.timestamp_bits).unwrap_or(0);
        let period = f64::from(self.device.limits.timestamp_period);
        let nanoseconds = |ticks: u64| ((ticks & mask) as f64 * period) as i128;
        let start = if period == 1.0 { i128::from(ticks[0] & mask) } else { nanoseconds(ticks[0]) };
        let elapsed = nanoseconds(ticks[1].wrapping_sub(ticks[0]));
        let submitted = record.submitted.get().copied().unwrap_or(record.queued);
        let least = i128::from(submitted) - start;
        let clock = clock.map_or(least, |clock| clock.max(least));
        let start = (start + clock) as u64;
        Some((Times { queued: record.queued, submitted, start, end: start + elapsed as u64 }, clock))
    }

    /// The first kernel that is not known to be complete.
    fn running_kernel(&self) -> Option<String> {
        self.state().pending.iter().find_map(|pending| pending.record.kernel.clone())
    }

    /// Waits until the timeline reaches a value.
    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<()> {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let nanoseconds =
            timeout.map_or(u64::MAX, |timeout| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        // SAFETY: the semaphore is a timeline of the device.
        let waited = unsafe { self.device.raw.wait_semaphores(&info, nanoseconds) };
        match waited {
            Ok(()) => {
                self.overdue.store(false, Ordering::Relaxed);
                self.reclaim(&mut self.state())
            }
            Err(vk::Result::TIMEOUT) => {
                self.overdue.store(true, Ordering::Relaxed);
                // What is complete must not be blamed.
                self.reclaim(&mut self.state())?;
                Err(Error::Timeout { kernel: self.running_kernel(), after: timeout.unwrap_or(Duration::MAX) })
            }
            Err(vk::Result::ERROR_DEVICE_LOST) => Err(Error::DeviceLost { kernel: self.running_kernel() }),
            Err(result) => Err(self.device.failure("waiting", result, 0)),
        }
    }
}

impl crate::backend::Completion for Completion {
    fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        self.queue.wait(self.record.value, timeout)
    }

    fn is_complete(&self) -> Result<bool> {
        Ok(self.queue.reached()? >= self.record.value)
    }

    fn times(&self) -> Option<Times> {
        if self.record.times.get().is_none() {
            self.queue.reclaim(&mut self.queue.state()).ok()?;
        }
        self.record.times.get().copied()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let last = self.state().last;
        let patience = if self.overdue.load(Ordering::Relaxed) { Some(Duration::ZERO) } else { None };
        let finished = matches!(self.wait(last, patience), Ok(()) | Err(Error::DeviceLost { .. }));
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !finished {
            // A kernel hangs. What it uses must outlive it, and that is the process: destroying it is undefined, and waiting
            // would hang us too.
            std::mem::forget(std::mem::take(&mut state.pending));
            std::mem::forget(self.device.clone());
            return;
        }
        let raw = &self.device.raw;
        // SAFETY: no command of this queue runs any more. Null handles are allowed.
        unsafe {
            for slot in state.free.iter().chain(state.pending.iter().map(|pending| &pending.slot)) {
                raw.destroy_query_pool(slot.queries, None);
            }
            raw.destroy_command_pool(state.pool, None);
            raw.destroy_semaphore(self.timeline, None);
        }
    }
}
