//! Host commands, and transfers to and from memory of the caller.
//!
//! Owns the order in which the host touches the caller's memory. A transfer has two parts: the device copies between
//! its memory and staging memory, and the host copies between staging memory and the caller's: in a host command, or on the
//! caller's thread if the order allows it. If the device can access the caller's memory, it copies directly. Must not depend
//! on when commands run.

#![allow(unsafe_code, reason = "memory of the caller; each states why it is sound")]

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;

use crate::backend::{Command, Memory, Placement};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::event::Event;
use crate::mapping::Block;
use crate::queue::{Queue, check_size};
use crate::rect::{Grid, Rect, Size};
use crate::schedule::Task;
use crate::staging::{self, Arrival};

/// Rows of bytes in memory of the caller.
#[derive(Clone)]
pub(crate) struct HostRows {
    start: NonNull<u8>,
    grid: Grid,
    size: Size,
    _keep: Option<Arc<Block>>,
}

// SAFETY: `HostRows::new` lets the memory be used from any thread.
unsafe impl Send for HostRows {}
// SAFETY: as above; threads that share it transfer different bytes.
unsafe impl Sync for HostRows {}

impl HostRows {
    /// # Safety
    /// The bytes of the box are valid for reads or writes, whichever the command does, from any thread until it has
    /// ended.
    pub(crate) unsafe fn new(start: NonNull<u8>, rect: Rect, size: Size) -> Result<Self> {
        Ok(Self { start, grid: rect.grid(size)?, size, _keep: None })
    }

    /// Keeps the block that contains the rows alive.
    pub(crate) fn keeping(self, block: Arc<Block>) -> Self {
        Self { _keep: Some(block), ..self }
    }

    /// The addresses from the first byte to the last.
    fn range(&self) -> Range<usize> {
        let [width, rows, slices] = self.size;
        let (first, last) = (self.grid.at(0, 0), self.grid.at(rows - 1, slices - 1) + width);
        let at = |offset: u64| self.start.as_ptr().addr().saturating_add(offset as usize);
        at(first)..at(last)
    }

    /// The rows as a grid in memory in which the first byte has this offset.
    pub(crate) fn grid_from(&self, first: u64) -> Grid {
        self.grid.starting_at(first)
    }

    /// The bytes of a row.
    pub(crate) fn width(&self) -> u64 {
        self.size[0]
    }

    /// Whether there are no bytes between the rows.
    pub(crate) fn is_packed(&self) -> bool {
        self.range().len() as u64 == self.bytes()
    }

    /// The number of bytes of all rows.
    pub(crate) fn bytes(&self) -> u64 {
        self.size.iter().product()
    }

    /// Calls `each` with the address, the offset from `at`, and the length of each part of a row in the bytes `at..at +
    /// length` of the packed box.
    fn parts(&self, at: u64, length: u64, mut each: impl FnMut(*mut u8, usize, usize)) {
        let [width, rows, _] = self.size;
        let mut done = 0;
        while done < length {
            let (row, column) = ((at + done) / width, (at + done) % width);
            let part = (width - column).min(length - done);
            let offset = self.grid.at(row % rows, row / rows) + column;
            // The caller promises that the box is one object, so its offsets fit.
            each(self.start.as_ptr().wrapping_add(offset as usize), done as usize, part as usize);
            done += part;
        }
    }

    /// Writes bytes of the packed box to the caller's memory.
    pub(crate) fn scatter(&self, at: u64, packed: &[u8]) {
        self.parts(at, packed.len() as u64, |row, from, bytes| {
            // SAFETY: `new` guarantees the row; the staging memory is not the caller's.
            unsafe { row.copy_from_nonoverlapping(packed[from..][..bytes].as_ptr(), bytes) };
        });
    }

    /// Reads bytes of the packed box from the caller's memory.
    pub(crate) fn gather(&self, at: u64, packed: &mut [u8]) {
        self.parts(at, packed.len() as u64, |row, from, bytes| {
            // SAFETY: as above.
            unsafe { row.copy_to_nonoverlapping(packed[from..][..bytes].as_mut_ptr(), bytes) };
        });
    }
}

impl Queue {
    /// Runs a closure on the host, in the order of the queue: after its wait list is complete and, in an in-order
    /// queue, after all earlier commands. Later commands wait for it as for any other (`clEnqueueNativeKernel`,
    /// `clEnqueueSVMFree`).
    ///
    /// The closure sees what those commands wrote. It runs on a thread of the queue, without any lock of the runtime:
    /// it may enqueue commands, complete user events, and wait for commands that do not wait for it. If it returns an
    /// error or panics, its event fails.
    ///
    /// ```
    /// # fn example(queue: kiln_runtime::Queue, kernel: kiln_runtime::Kernel) -> kiln_runtime::Result<()> {
    /// // SAFETY: the kernel stays within its buffers.
    /// unsafe { queue.launch(&kernel, 1024)? };
    /// queue.host(|| {
    ///     println!("the first launch is complete, and the second has not started");
    ///     Ok(())
    /// })?;
    /// // SAFETY: as above.
    /// unsafe { queue.launch(&kernel, 1024)? };
    /// # Ok(())
    /// # }
    /// ```
    pub fn host(&self, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<Event> {
        self.enqueue(Task::Host(Box::new(work)))
    }

    /// A command that does nothing, in the order of the queue: for operations that need no work on this device, such as
    /// `clEnqueueMigrateMemObjects`. In contrast to a [`marker`](Self::marker), it does not wait for the earlier
    /// commands of an out-of-order queue.
    pub fn nothing(&self) -> Result<Event> {
        self.enqueue(Command::Nothing)
    }

    /// Reads the start of a buffer into memory of the caller, without blocking (`clEnqueueReadBuffer`).
    ///
    /// # Safety
    /// The memory must be valid for writes, and nothing else may access it, until the event has ended.
    pub unsafe fn read_to<T: Pod>(&self, buffer: &Buffer<T>, target: NonNull<[T]>) -> Result<Event> {
        self.check_device(buffer)?;
        let bytes = target.len() as u64 * size_of::<T>() as u64;
        check_size(buffer, bytes)?;
        if bytes == 0 {
            return self.nothing();
        }
        // SAFETY: the caller guarantees it.
        let host = unsafe { HostRows::new(target.cast(), Rect::default(), [bytes, 1, 1])? };
        self.read_rows(buffer, host)
    }

    /// Reads the start of a buffer into contiguous rows.
    pub(crate) fn read_rows<T: Pod>(&self, buffer: &Buffer<T>, host: HostRows) -> Result<Event> {
        self.check_device(buffer)?;
        let bytes = host.bytes();
        if let Some((target, to)) = self.shared_rows(&host, Some(&buffer.memory)) {
            let (source, from) = (buffer.memory.clone(), buffer.offset);
            return self.copy_directly(Command::Copy { source, from, target, to, bytes });
        }
        if bytes > staging::MAX_BYTES_IN_FLIGHT {
            let (device, memory, offset) = (self.device().clone(), buffer.memory.clone(), buffer.offset);
            return self.large_transfer(move || {
                device.receive((&memory, offset), bytes, |at, packed| host.scatter(at, packed))
            });
        }
        let chunks = staging::chunks(bytes).map(|(at, size)| {
            let arrival = self.arrival(&buffer.memory, buffer.offset + at, size)?;
            if bytes > staging::CHUNK_BYTES {
                // The host scatters this chunk while the device copies the next one.
                self.flush()?;
            }
            Ok((at, size, arrival))
        });
        self.deliver(chunks.collect::<Result<_>>()?, host)
    }

    /// Writes memory of the caller to the start of a buffer, without blocking (`clEnqueueWriteBuffer`). The memory is
    /// read when the command runs, or earlier if no command can change it before that.
    ///
    /// # Safety
    /// The memory must be valid for reads, and nothing else may write it, until the event has ended. Earlier commands
    /// of the queue and commands of the wait list may.
    pub unsafe fn write_from<T: Pod>(&self, buffer: &Buffer<T>, source: NonNull<[T]>) -> Result<Event> {
        self.check_device(buffer)?;
        let bytes = source.len() as u64 * size_of::<T>() as u64;
        check_size(buffer, bytes)?;
        if bytes == 0 {
            return self.nothing();
        }
        // SAFETY: the caller guarantees it.
        let host = unsafe { HostRows::new(source.cast(), Rect::default(), [bytes, 1, 1])? };
        self.write_rows(buffer, host)
    }

    /// Writes contiguous rows to the start of a buffer.
    pub(crate) fn write_rows<T: Pod>(&self, buffer: &Buffer<T>, host: HostRows) -> Result<Event> {
        self.check_device(buffer)?;
        let bytes = host.bytes();
        if let Some((source, from)) = self.shared_rows(&host, Some(&buffer.memory)) {
            let (target, to) = (buffer.memory.clone(), buffer.offset);
            return self.copy_directly(Command::Copy { source, from, target, to, bytes });
        }
        if bytes > staging::MAX_BYTES_IN_FLIGHT {
            let (device, memory, offset) = (self.device().clone(), buffer.memory.clone(), buffer.offset);
            return self.large_transfer(move || {
                device.send((&memory, offset), bytes, |at, packed| host.gather(at, packed))?.wait()
            });
        }
        self.collect(host, staging::CHUNK_BYTES, |source, at, bytes| Command::Copy {
            source,
            from: 0,
            target: buffer.memory.clone(),
            to: buffer.offset + at,
            bytes,
        })
    }

    /// The memory of the device in which the caller's rows lie, and the offset of the first one, if it is not the other memory of
    /// the transfer: a copy must not overlap. The reference devices have no staging memory to avoid.
    pub(crate) fn shared_rows(&self, host: &HostRows, other: Option<&Memory>) -> Option<(Memory, u64)> {
        if self.device().info().is_strict {
            return None;
        }
        self.device()
            .shared_memory()
            .find(&host.range())
            .filter(|(memory, _)| other.is_none_or(|other| !memory.is(other)))
    }

    /// Copies between the device and memory of the caller that it can access. A blocking write waits, too: the memory may be
    /// reused only then.
    pub(crate) fn copy_directly(&self, copy: Command) -> Result<Event> {
        let event = self.enqueue(copy)?;
        if self.is_blocking() {
            event.wait()?;
        }
        Ok(event)
    }

    /// Transfers memory of the caller in a host command, because the transfer waits for its chunks.
    fn large_transfer(&self, transfer: impl FnOnce() -> Result<()> + Send + 'static) -> Result<Event> {
        let event = self.host(transfer)?;
        if self.is_blocking() {
            event.wait()?;
        }
        Ok(event)
    }

    /// Delivers chunks of a packed box, at these offsets and of these sizes, to memory of the caller.
    pub(crate) fn deliver(&self, chunks: Vec<(u64, u64, Arrival)>, host: HostRows) -> Result<Event> {
        let events: Arc<[Event]> = chunks.iter().map(|(_, _, arrival)| arrival.event.clone()).collect();
        let first = events.first().cloned();
        if self.is_blocking() {
            for (at, bytes, arrival) in chunks {
                arrival.event.wait()?;
                arrival.with(bytes, |packed| host.scatter(at, packed))?;
            }
            return Ok(Event::of_parts(first, events.last().cloned()));
        }
        let work = move || {
            for (at, bytes, arrival) in chunks {
                arrival.with(bytes, |packed| host.scatter(at, packed))?;
            }
            Ok(())
        };
        let last = self.waiting_for_all(events).host(work)?;
        Ok(Event::of_parts(first, Some(last)))
    }

    /// Copies a box from memory of the caller to staging memory, in chunks of at most this many bytes, and enqueues the
    /// command that `send` returns for each.
    pub(crate) fn collect(
        &self,
        host: HostRows,
        max: u64,
        send: impl Fn(Memory, u64, u64) -> Command,
    ) -> Result<Event> {
        let total = host.bytes();
        let mut chunks = Vec::new();
        for at in (0..total).step_by(usize::try_from(max).unwrap_or(usize::MAX)) {
            let bytes = max.min(total - at);
            chunks.push((at, bytes, self.device().backend().allocate(bytes, Placement::Upload)?));
        }
        let (mut first, mut last) = (None, None);
        if self.can_gather_now(&host.range()) {
            for (at, bytes, memory) in chunks {
                staging::fill(&memory, bytes, |packed| host.gather(at, packed))?;
                let sent = self.enqueue(send(memory, at, bytes))?;
                first.get_or_insert_with(|| sent.clone());
                last = Some(sent);
                if total > max {
                    // The device copies this chunk while the host gathers the next one.
                    self.flush()?;
                }
            }
            return Ok(Event::of_parts(first, last));
        }
        let targets = chunks.clone();
        let gathered = self.host(move || {
            targets.iter().try_for_each(|(at, bytes, memory)| {
                staging::fill(memory, *bytes, |packed| host.gather(*at, packed))
            })
        })?;
        let queue = self.waiting_for(gathered.clone());
        for (at, bytes, memory) in chunks {
            last = Some(queue.enqueue(send(memory, at, bytes))?);
        }
        if self.is_blocking() {
            gathered.wait()?;
        }
        Ok(Event::of_parts(Some(gathered), last))
    }

    /// Whether no earlier command that the next one waits for can still change these bytes of the host.
    fn can_gather_now(&self, range: &Range<usize>) -> bool {
        self.holds_nothing() && !self.device().shared_memory().overlaps(range)
    }
}
