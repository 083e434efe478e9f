//! Staging memory, which host and device share during a transfer, and the transfers themselves.
//!
//! Owns the chunks of a large transfer, which let the host copy one while the device copies another. Must not depend
//! on queues.

#![allow(unsafe_code, reason = "bytes of memory that a device shares; each states why it is sound")]

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use crate::backend::{Backend, Command, Memory, Placement};
use crate::error::{Error, Result};
use crate::event::Event;

/// The chunk size: large enough to outweigh the cost of a command, small enough for copies to overlap.
pub(crate) const CHUNK_BYTES: u64 = 4 << 20;
/// The maximum number of chunks in flight.
pub(crate) const MAX_CHUNKS_IN_FLIGHT: usize = 4;
/// The size up to which all chunks of a transfer may be in flight together.
pub(crate) const MAX_BYTES_IN_FLIGHT: u64 = CHUNK_BYTES * MAX_CHUNKS_IN_FLIGHT as u64;

/// The offset and size of each chunk.
pub(crate) fn chunks(bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..bytes.div_ceil(CHUNK_BYTES)).map(move |index| chunk(index, bytes))
}

/// The offset and size of a chunk of a transfer.
fn chunk(index: u64, total: u64) -> (u64, u64) {
    (index * CHUNK_BYTES, CHUNK_BYTES.min(total - index * CHUNK_BYTES))
}

/// Allocates memory that contains these bytes, for the device to copy from.
pub(crate) fn filled(backend: &dyn Backend, contents: &[u8]) -> Result<Memory> {
    let memory = backend.allocate(contents.len() as u64, Placement::Upload)?;
    fill(&memory, contents.len() as u64, |bytes| bytes.copy_from_slice(contents))?;
    Ok(memory)
}

/// Writes upload memory of this size. Only later commands may read it.
pub(crate) fn fill(memory: &Memory, bytes: u64, write: impl FnOnce(&mut [u8])) -> Result<()> {
    let host = memory.handle.host().ok_or_else(unmapped_error)?;
    // SAFETY: the memory has this many initialized bytes, and no other code has access to them yet.
    write(unsafe { std::slice::from_raw_parts_mut(host.as_ptr(), bytes as usize) });
    Ok(())
}

/// Fills each chunk of a transfer from a slice.
pub(crate) fn from_slice(contents: &[u8]) -> impl Fn(u64, &mut [u8]) {
    |at, chunk| chunk.copy_from_slice(&contents[at as usize..][..chunk.len()])
}

/// Copies this many bytes to device memory in chunks, which `fill_from` writes from their offset on. Returns the event of the
/// last one.
pub(crate) fn send(
    backend: &dyn Backend,
    (target, offset): (&Memory, u64),
    total: u64,
    fill_from: impl Fn(u64, &mut [u8]),
    enqueue: impl Fn(Command) -> Result<Event>,
    flush: impl Fn() -> Result<()>,
) -> Result<Event> {
    let mut events = VecDeque::new();
    let mut first = None;
    for (at, bytes) in chunks(total) {
        // Must not wait for chunks that a user event holds back.
        if events.len() == MAX_CHUNKS_IN_FLIGHT
            && let Some(oldest) = events.pop_front().filter(|event: &Event| !event.node.is_held())
        {
            oldest.wait()?;
        }
        let source = backend.allocate(bytes, Placement::Upload)?;
        fill(&source, bytes, |chunk| fill_from(at, chunk))?;
        let (target, to) = (target.clone(), offset + at);
        let event = enqueue(Command::Copy { source, from: 0, target, to, bytes })?;
        first.get_or_insert_with(|| event.clone());
        events.push_back(event);
        if total > CHUNK_BYTES {
            flush()?;
        }
    }
    Ok(Event::of_parts(first, events.pop_back()))
}

/// Copies this many bytes from device memory in chunks, and calls `read` with the offset and the bytes of each. `request`
/// enqueues the copy of a chunk with this offset and size.
pub(crate) fn receive(
    total: u64,
    request: impl Fn(u64, u64) -> Result<Arrival>,
    flush: impl Fn() -> Result<()>,
    read: impl FnMut(u64, &[u8]),
) -> Result<()> {
    receive_chunks(0..total.div_ceil(CHUNK_BYTES), (total, MAX_CHUNKS_IN_FLIGHT), request, flush, read)
}

/// The same on several threads, because one copies at a fraction of the speed of the bus.
pub(crate) fn receive_on_threads(
    total: u64,
    request: impl Fn(u64, u64) -> Result<Arrival> + Sync,
    flush: impl Fn() -> Result<()> + Sync,
    read: impl Fn(u64, &[u8]) + Sync,
) -> Result<()> {
    let (count, threads) = (total.div_ceil(CHUNK_BYTES), receivers());
    let receive = |index| {
        let shape = (total, MAX_CHUNKS_IN_FLIGHT / threads as usize);
        receive_chunks(part(index, threads, count), shape, &request, &flush, &read)
    };
    let receive = &receive;
    thread::scope(|scope| {
        let start = |index| thread::Builder::new().spawn_scoped(scope, move || receive(index));
        let others: Vec<_> = (1..threads).map(|index| (index, start(index))).collect();
        others.into_iter().fold(receive(0), |all, (index, other)| {
            all.and(match other {
                Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has no thread left.
                Err(_) => receive(index),
            })
        })
    })
}

/// The part of `count` chunks that a thread receives.
fn part(thread: u64, threads: u64, count: u64) -> Range<u64> {
    count * thread / threads..count * (thread + 1) / threads
}

/// The number of threads that receive a large transfer. Most processors are for the program.
fn receivers() -> u64 {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    (processors / 4).clamp(1, MAX_CHUNKS_IN_FLIGHT) as u64
}

/// Receives these chunks of a transfer of `total` bytes, at most `max_in_flight` at a time.
fn receive_chunks(
    chunks: Range<u64>,
    (total, max_in_flight): (u64, usize),
    request: impl Fn(u64, u64) -> Result<Arrival>,
    flush: impl Fn() -> Result<()>,
    mut read: impl FnMut(u64, &[u8]),
) -> Result<()> {
    let mut arrivals = VecDeque::new();
    let mut requested = chunks.map(|index| chunk(index, total));
    loop {
        while arrivals.len() < max_in_flight
            && let Some((at, bytes)) = requested.next()
        {
            arrivals.push_back((at, bytes, request(at, bytes)?));
            flush()?;
        }
        let Some((at, bytes, arrival)) = arrivals.pop_front() else { return Ok(()) };
        arrival.event.wait()?;
        arrival.with(bytes, |chunk| read(at, chunk))?;
    }
}

/// Bytes that the device copies to host-visible memory.
pub(crate) struct Arrival {
    pub(crate) event: Event,
    /// Written only by the command of `event`.
    pub(crate) memory: Memory,
}

impl Arrival {
    /// Copies a range of device memory to host-visible memory.
    pub(crate) fn request(
        backend: &dyn Backend,
        (source, from): (&Memory, u64),
        bytes: u64,
        enqueue: impl FnOnce(Command) -> Result<Event>,
    ) -> Result<Self> {
        let memory = backend.allocate(bytes, Placement::Download)?;
        let (source, target) = (source.clone(), memory.clone());
        let event = enqueue(Command::Copy { source, from, target, to: 0, bytes })?;
        Ok(Self { event, memory })
    }

    /// Waits for the bytes and copies them. `into` must have the requested size.
    pub(crate) fn copy_when_done(self, into: &mut [u8]) -> Result<()> {
        self.event.wait()?;
        self.copy_to(into)
    }

    /// Waits for the bytes with a timeout.
    pub(crate) fn copy_when_done_within(self, timeout: Option<Duration>, into: &mut [u8]) -> Result<()> {
        timeout.map_or_else(|| self.event.wait(), |timeout| self.event.wait_for(timeout))?;
        self.copy_to(into)
    }

    fn copy_to(self, into: &mut [u8]) -> Result<()> {
        self.with(into.len() as u64, |bytes| into.copy_from_slice(bytes))
    }

    /// Calls `read` with this many bytes of the memory. The event must be complete.
    pub(crate) fn with(self, bytes: u64, read: impl FnOnce(&[u8])) -> Result<()> {
        let host = self.memory.handle.host().ok_or_else(unmapped_error)?;
        // SAFETY: the memory has this many bytes, and the only command that writes them is complete.
        read(unsafe { std::slice::from_raw_parts(host.as_ptr(), bytes as usize) });
        Ok(())
    }
}

fn unmapped_error() -> Error {
    Error::Driver { operation: "mapping memory".to_owned(), detail: "it is not mapped".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_all_bytes() {
        assert_eq!(chunks(0).count(), 0);
        assert_eq!(chunks(5).collect::<Vec<_>>(), [(0, 5)]);
        let parts = [0, 1, 2, 3].map(|thread| part(thread, 4, 9));
        assert_eq!(parts, [0..2, 2..4, 4..6, 6..9]);
        assert_eq!(chunks(CHUNK_BYTES + 1).collect::<Vec<_>>(), [(0, CHUNK_BYTES), (CHUNK_BYTES, 1)]);
    }
}
