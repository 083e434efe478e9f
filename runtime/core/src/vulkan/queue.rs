//! Queues: batches of commands, their submission, and their completion.
//!
//! Owns command buffers and the timeline. A batch holds everything that its commands use until it is complete. Must
//! not depend on what a command does (`commands.rs`).
//!
//! Every batch begins with a barrier against everything submitted before it to its `VkQueue`, waits for the
//! semaphores that `timeline.rs` selects, and ends by signaling the next value of its timeline. In a batch, a barrier
//! precedes each ordered command. It orders the accesses since the last barrier before those of the command. Each
//! barrier starts where the previous one ended, so barriers form a chain.

use std::any::Any;
use std::collections::VecDeque;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ash::prelude::VkResult;
use ash::vk;
use smallvec::SmallVec;

use super::commands::{Accesses, Barriers, PreparedCommand};
use super::device::Device;
use super::timeline::{CompletedWaits, Timeline, TimelinePoint, TimelinePoints};
use crate::backend::{self, BackendQueue, Command, Purpose, Start};
use crate::capabilities::DeviceKind;
use crate::error::{Error, Result};
use crate::event::{Status, Times};

/// A batch of this many commands is submitted automatically.
const BATCH: usize = 256;
/// The number of queries of a batch: two timestamps for each command.
const QUERIES: u32 = 2 * BATCH as u32;
/// The batch size at which an idle device gets its first commands.
const FIRST_BATCH: usize = 32;
/// How long the host polls for completion before it sleeps.
const POLLING: Duration = Duration::from_micros(200);

/// How often a dropped queue waits, if waiting itself fails.
const LAST_WAITS: usize = 8;

/// A runtime queue: a timeline on a `VkQueue`.
pub(super) struct Queue {
    device: Arc<Device>,
    timeline: Arc<Timeline>,
    purpose: Purpose,
    state: Mutex<State>,
    /// The last value of the timeline that the host has seen: queries of earlier values do not call the driver.
    reached: AtomicU64,
    /// Set when a wait has timed out; dropping the queue then does not wait indefinitely.
    overdue: AtomicBool,
}

/// The `BackendQueue` of a queue.
pub(super) struct Handle(Arc<Queue>);

struct State {
    pool: vk::CommandPool,
    free: Vec<Slot>,
    open: Option<Batch>,
    pending: VecDeque<Batch>,
    /// The value that the last submitted batch signals.
    last: u64,
    /// The values that submitted batches have waited for.
    waited: CompletedWaits,
    /// When the last command ended whose times are known, in nanoseconds since the device was opened.
    last_end: u64,
}

/// The reusable objects of a batch.
struct Slot {
    commands: vk::CommandBuffer,
    /// Two timestamps for each command; null without profiling or timestamp support.
    queries: vk::QueryPool,
    /// The number of queries that must be reset before the next batch, from the first.
    written: u32,
}

/// Commands that are submitted together.
struct Batch {
    slot: Slot,
    records: Vec<Arc<Record>>,
    /// The commands; they and all they use live until the batch is complete.
    commands: Vec<PreparedCommand>,
    /// The currently bound pipeline.
    bound: vk::Pipeline,
    barriers: Barriers,
    /// The values of other timelines that the batch waits for.
    after: TimelinePoints,
}

/// The record of a command.
struct Record {
    /// The timeline value that its batch signals.
    value: u64,
    /// Nanoseconds since the device was opened.
    queued: u64,
    submitted: OnceLock<std::result::Result<u64, Error>>,
    times: OnceLock<Times>,
}

/// The completion of a command.
struct Completion {
    queue: Arc<Queue>,
    record: Arc<Record>,
}

impl Handle {
    pub(super) fn new(device: &Arc<Device>, purpose: Purpose) -> Result<Self> {
        Ok(Self(Arc::new(Queue::new(device, purpose)?)))
    }
}

impl BackendQueue for Handle {
    fn push(&self, command: Command, start: Start<'_>) -> Result<Arc<dyn backend::Completion>> {
        let queue = &self.0;
        let record = queue.push(PreparedCommand::new(&queue.device, command)?, start)?;
        Ok(Arc::new(Completion { queue: queue.clone(), record }))
    }

    fn flush(&self) -> Result<()> {
        self.0.flush(&mut self.0.state())
    }
}

impl Queue {
    fn new(device: &Arc<Device>, purpose: Purpose) -> Result<Self> {
        let failed = |result| device.failure("creating a queue", result, 0);
        let (timeline, last) = device
            .timelines
            .take(device.queues.len(), || {
                let mut kind =
                    vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
                let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
                // SAFETY: the device has timeline semaphores.
                unsafe { device.raw.create_semaphore(&info, None) }
            })
            .map_err(failed)?;
        let purpose = match purpose {
            Purpose::Commands { profiled } => {
                Purpose::Commands { profiled: profiled && device.clock.exists() }
            }
            Purpose::FirstContents => purpose,
        };
        // From here on, dropping the queue releases what was created.
        let mut queue = Self {
            device: device.clone(),
            timeline,
            purpose,
            state: Mutex::new(State {
                pool: vk::CommandPool::null(),
                free: Vec::new(),
                open: None,
                pending: VecDeque::new(),
                last,
                waited: CompletedWaits::default(),
                last_end: 0,
            }),
            reached: AtomicU64::new(last),
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

    /// Adds a command to the open batch, or to a new one if it waits for other queues and the current batch does not.
    fn push(&self, command: PreparedCommand, start: Start<'_>) -> Result<Arc<Record>> {
        let mut state = self.state();
        let mut after = self.points_on_other_queues(start.after);
        after.retain(|point| !state.waited.covers(*point));
        let known = |batch: &Batch| after.iter().all(|end| batch.after.contains(end));
        if !state.open.as_ref().is_none_or(known) {
            self.flush(&mut state)?;
        }
        let value = state.last + 1;
        let mut batch = match state.open.take() {
            Some(batch) => batch,
            None => self.open_batch(&mut state)?,
        };
        batch.after.extend(after);
        let queued = start.queued.saturating_duration_since(self.device.open_time).as_nanos() as u64;
        let record = Arc::new(Record { value, queued, submitted: OnceLock::new(), times: OnceLock::new() });
        let (raw, commands, first) = (&self.device.raw, batch.slot.commands, 2 * batch.records.len() as u32);
        if let Some((earlier, later)) = batch.barriers.before(command.accesses(), start.ordered) {
            self.barrier(commands, earlier, later);
        }
        self.timestamp(&batch.slot, first);
        command.record(raw, commands, &mut batch.bound);
        self.timestamp(&batch.slot, first + 1);
        batch.records.push(record.clone());
        batch.commands.push(command);
        let max = if state.pending.is_empty() { FIRST_BATCH } else { BATCH };
        let is_full = batch.records.len() >= max;
        state.open = Some(batch);
        if is_full {
            self.flush(&mut state)?;
        }
        Ok(record)
    }

    /// The ends of the commands that were submitted to another `VkQueue`.
    fn points_on_other_queues(&self, after: &[Arc<dyn backend::Completion>]) -> TimelinePoints {
        let ours = |completion: &Arc<dyn backend::Completion>| {
            let completion: &dyn Any = &**completion;
            let Completion { queue, record } = completion.downcast_ref()?;
            (queue.timeline.queue != self.timeline.queue).then(|| queue.timeline.point(record.value))
        };
        after.iter().filter_map(ours).collect()
    }

    fn is_profiled(&self) -> bool {
        self.purpose == Purpose::Commands { profiled: true }
    }

    /// Starts a batch.
    fn open_batch(&self, state: &mut State) -> Result<Batch> {
        self.reclaim(state)?;
        let slot = match state.free.pop() {
            Some(slot) => slot,
            None => self.new_slot(state.pool)?,
        };
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let raw = &self.device.raw;
        // SAFETY: the slot is free, so its command buffer is not pending; the state lock serializes the use of its
        // pool.
        if let Err(result) = unsafe { raw.begin_command_buffer(slot.commands, &begin) } {
            state.free.push(slot);
            return Err(self.device.failure("preparing commands", result, 0));
        }
        self.reset_queries(&slot);
        self.barrier(slot.commands, Accesses::ANYTHING, Accesses::ANYTHING);
        Ok(Batch {
            slot,
            records: Vec::new(),
            commands: Vec::new(),
            bound: vk::Pipeline::null(),
            barriers: Barriers::default(),
            after: TimelinePoints::new(),
        })
    }

    /// Resets the queries of a free slot, whose command buffer is being recorded. If the host does it, an H200 needs 7 µs from
    /// one batch to the next, otherwise 11 µs.
    fn reset_queries(&self, slot: &Slot) {
        if !self.is_profiled() {
            return;
        }
        let raw = &self.device.raw;
        // SAFETY: the pool has these queries, which no pending command uses. The host resets them only if the feature is enabled.
        unsafe {
            if self.device.resets_queries {
                raw.reset_query_pool(slot.queries, 0, slot.written);
            } else {
                raw.cmd_reset_query_pool(slot.commands, slot.queries, 0, QUERIES);
            }
        }
    }

    /// Makes earlier writes visible to later commands, and orders later writes after earlier reads.
    fn barrier(&self, commands: vk::CommandBuffer, earlier: Accesses, later: Accesses) {
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(earlier.writes)
            .dst_access_mask(later.reads | later.writes)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded.
        unsafe {
            let (from, to) = (earlier.stages, later.stages);
            self.device.raw.cmd_pipeline_barrier(commands, from, to, none, &memory, &[], &[]);
        }
    }

    fn timestamp(&self, slot: &Slot, query: u32) {
        if self.is_profiled() {
            let stage = vk::PipelineStageFlags::ALL_COMMANDS;
            // SAFETY: the command buffer is being recorded; the pool has two queries for each command of a batch.
            unsafe { self.device.raw.cmd_write_timestamp(slot.commands, stage, slot.queries, query) };
        }
    }

    /// Submits the open batch.
    fn flush(&self, state: &mut State) -> Result<()> {
        let Some(batch) = state.open.take() else { return Ok(()) };
        let value = state.last + 1;
        let submitted = self.device.now();
        let waits = self.device.timelines.waits(&self.timeline, &state.waited, &batch.after);
        if let Err(result) = self.submit(&batch.slot, &waits, value) {
            let error = match self.device.failure("submitting commands", result, 0) {
                Error::DeviceLost { .. } => Error::DeviceLost { kernel: first_kernel(&batch) },
                error => error,
            };
            for record in &batch.records {
                let _ = record.submitted.set(Err(error.clone()));
            }
            // Nothing was submitted: the slot and the commands' resources can be released.
            state.free.push(batch.slot);
            return Err(error);
        }
        state.last = value;
        waits.iter().for_each(|(_, point)| state.waited.record_wait(*point));
        if self.purpose == Purpose::FirstContents {
            self.timeline.mark_due(value);
        }
        for record in &batch.records {
            let _ = record.submitted.set(Ok(submitted));
        }
        state.pending.push_back(batch);
        Ok(())
    }

    fn submit(&self, slot: &Slot, waits: &[(vk::Semaphore, TimelinePoint)], value: u64) -> VkResult<()> {
        let raw = &self.device.raw;
        let to_host = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let (host, none) = (vk::PipelineStageFlags::HOST, vk::DependencyFlags::empty());
        let (commands, semaphores, values) = ([slot.commands], [self.timeline.semaphore], [value]);
        let awaited: SmallVec<[vk::Semaphore; 4]> = waits.iter().map(|(semaphore, _)| *semaphore).collect();
        let ends: SmallVec<[u64; 4]> = waits.iter().map(|(_, end)| end.value()).collect();
        let stages: SmallVec<[_; 4]> = waits.iter().map(|_| Accesses::ANYTHING.stages).collect();
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&ends)
            .signal_semaphore_values(&values);
        let submit = [vk::SubmitInfo::default()
            .wait_semaphores(&awaited)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline)];
        // SAFETY: the command buffer is being recorded.
        unsafe {
            let all = Accesses::ANYTHING.stages;
            raw.cmd_pipeline_barrier(slot.commands, all, host, none, &to_host, &[], &[]);
            raw.end_command_buffer(slot.commands)?;
        }
        let _code = self.device.exclude_code_changes();
        let queue = &self.device.queues[self.timeline.queue];
        let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock serializes the use of the queue; the command buffer is recorded and not pending; the
        // batches that signal the awaited values have been submitted.
        unsafe { raw.queue_submit(*queue, &submit, vk::Fence::null()) }
    }

    fn new_slot(&self, pool: vk::CommandPool) -> Result<Slot> {
        let raw = &self.device.raw;
        let failed = |result| self.device.failure("preparing commands", result, 0);
        let mut queries = vk::QueryPool::null();
        if self.is_profiled() {
            let info =
                vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
            // SAFETY: the family has timestamps.
            queries = unsafe { raw.create_query_pool(&info, None) }.map_err(failed)?;
        }
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the caller holds the lock of the pool.
        match unsafe { raw.allocate_command_buffers(&info) }.as_deref() {
            Ok(&[commands]) => Ok(Slot { commands, queries, written: QUERIES }),
            other => {
                let result = other.err().copied().unwrap_or(vk::Result::ERROR_UNKNOWN);
                // SAFETY: no command uses the query pool.
                unsafe { raw.destroy_query_pool(queries, None) };
                Err(failed(result))
            }
        }
    }

    /// The timeline value of the last complete batch.
    fn completed_value(&self) -> Result<u64> {
        // SAFETY: the semaphore is a timeline of the device.
        let reached = unsafe { self.device.raw.get_semaphore_counter_value(self.timeline.semaphore) }
            .map_err(|result| self.device.failure("querying completion", result, 0))?;
        self.record_reached(reached);
        Ok(reached)
    }

    /// Records that the timeline has this value.
    fn record_reached(&self, value: u64) {
        self.reached.fetch_max(value, Ordering::Release);
        self.timeline.mark_due(value);
    }

    /// Whether the timeline has this value or a later one.
    fn is_complete(&self, value: u64) -> Result<bool> {
        Ok(self.reached.load(Ordering::Acquire) >= value || self.completed_value()? >= value)
    }

    /// Records the times of complete commands and releases their resources.
    fn reclaim(&self, state: &mut State) -> Result<()> {
        if state.pending.is_empty() {
            return Ok(());
        }
        while let Some(batch) = state.pending.front() {
            if let Some(record) = batch.records.first()
                && !self.is_complete(record.value)?
            {
                break;
            }
            if let Some(Batch { mut slot, records, .. }) = state.pending.pop_front() {
                if self.is_profiled() {
                    self.record_times(&slot, &records, &mut state.last_end);
                }
                slot.written = 2 * records.len() as u32;
                state.free.push(slot);
            }
        }
        Ok(())
    }

    /// Records the times of a complete batch on the host's clock. It started after `last_end`, the end of the queue's
    /// earlier batches.
    fn record_times(&self, slot: &Slot, records: &[Arc<Record>], last_end: &mut u64) {
        let Some(&Ok(submitted)) = records.first().and_then(|record| record.submitted.get()) else { return };
        let mut ticks = vec![[0u64; 2]; records.len()];
        let results = ticks.as_flattened_mut();
        let as_words = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the commands are complete, so they have written these queries.
        let got = unsafe { self.device.raw.get_query_pool_results(slot.queries, 0, results, as_words) };
        if got.is_err() {
            return;
        }
        let clock = &self.device.clock;
        clock.calibrate(self.device.open_time);
        let earliest = submitted.max(*last_end);
        let times = clock.on_host(&ticks, earliest, self.device.now());
        for (record, [start, end]) in records.iter().zip(times) {
            *last_end = end.max(*last_end);
            let _ = record.times.set(Times { queued: record.queued, submitted, start, end });
        }
    }

    /// Polls until the timeline reaches a value, for a limited time: most short kernels end before a sleeping processor wakes. Does not
    /// poll on CPU devices, which need the processors themselves. Returns whether the value is reached.
    fn poll(&self, value: u64, timeout: Option<Duration>) -> Result<bool> {
        if self.device.info.kind == DeviceKind::Cpu {
            return Ok(false);
        }
        let (begin, limit) = (Instant::now(), timeout.map_or(POLLING, |timeout| timeout.min(POLLING)));
        loop {
            let is_complete = self.is_complete(value)?;
            if is_complete || begin.elapsed() >= limit {
                return Ok(is_complete);
            }
            hint::spin_loop();
        }
    }

    /// Waits until the timeline reaches a value.
    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<()> {
        if self.poll(value, timeout)? {
            self.overdue.store(false, Ordering::Relaxed);
            return self.reclaim(&mut self.state());
        }
        let (semaphores, values) = ([self.timeline.semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let nanoseconds =
            timeout.map_or(u64::MAX, |timeout| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        // SAFETY: the semaphore is a timeline of the device.
        let waited = unsafe { self.device.raw.wait_semaphores(&info, nanoseconds) };
        match waited {
            Ok(()) => {
                self.overdue.store(false, Ordering::Relaxed);
                self.record_reached(value);
                self.reclaim(&mut self.state())
            }
            Err(vk::Result::TIMEOUT) => {
                // The error must not name a kernel that is complete.
                self.reclaim(&mut self.state())?;
                Err(Error::Timeout { kernel: self.running_kernel(), after: timeout.unwrap_or(Duration::MAX) })
            }
            Err(vk::Result::ERROR_DEVICE_LOST) => Err(self.device.record_loss(self.running_kernel())),
            Err(result) => Err(self.device.failure("waiting", result, 0)),
        }
    }

    /// Waits until the timeline reaches a value, and tries again if the driver lacks memory. Returns false if a kernel hangs.
    fn wait_until_finished(&self, value: u64, timeout: Option<Duration>) -> bool {
        let wait = |_| match self.wait(value, timeout) {
            Ok(()) | Err(Error::DeviceLost { .. }) => Some(true),
            Err(Error::Timeout { .. }) => Some(false),
            Err(_) => None,
        };
        (0..LAST_WAITS).find_map(wait).unwrap_or(false)
    }

    /// The first kernel that is not known to be complete.
    fn running_kernel(&self) -> Option<String> {
        self.state().pending.iter().find_map(first_kernel)
    }
}

fn first_kernel(batch: &Batch) -> Option<String> {
    batch.commands.iter().find_map(PreparedCommand::kernel).map(|kernel| (**kernel).to_owned())
}

impl Completion {
    /// Whether the command has been submitted, or the error of its submission.
    fn submitted(&self) -> Result<bool> {
        match self.record.submitted.get() {
            Some(Err(error)) => Err(error.clone()),
            Some(Ok(_)) => Ok(true),
            None => Ok(false),
        }
    }
}

impl backend::Completion for Completion {
    fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        if !self.submitted()? {
            self.queue.flush(&mut self.queue.state())?;
            self.submitted()?;
        }
        self.queue.wait(self.record.value, timeout)
    }

    fn give_up(&self) {
        self.queue.overdue.store(true, Ordering::Relaxed);
    }

    fn status(&self) -> Result<Status> {
        Ok(match self.submitted()? {
            false => Status::Queued,
            true if self.queue.is_complete(self.record.value)? => Status::Complete,
            true => Status::Submitted,
        })
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
        let mut state = self.state();
        if let Err(error) = self.flush(&mut state) {
            tracing::error!("the last commands of a queue were lost: {error}");
        }
        let last = state.last;
        drop(state);
        let patience = if self.overdue.load(Ordering::Relaxed) { Some(Duration::ZERO) } else { None };
        let finished = self.wait_until_finished(last, patience);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !finished {
            // A kernel hangs. Its resources must outlive it, which means leaking them: destroying them is undefined,
            // and waiting would hang too.
            std::mem::forget(std::mem::take(&mut state.pending));
            std::mem::forget(self.device.clone());
            return;
        }
        let raw = &self.device.raw;
        // SAFETY: no command of this queue is running any more. Null handles are allowed.
        unsafe {
            for slot in state.free.iter().chain(state.pending.iter().map(|batch| &batch.slot)) {
                raw.destroy_query_pool(slot.queries, None);
            }
            raw.destroy_command_pool(state.pool, None);
        }
        self.device.timelines.give_back(&self.timeline, last);
    }
}

#[cfg(test)]
mod tests;
