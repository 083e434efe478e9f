//! Waves: submissions of the commands that can run, until there are no more.
//!
//! Owns the transfer of records from the device. A wave is one submission: its kernels, and the copy of what they have
//! enqueued. Must not depend on what wait lists mean (`commands.rs`).

use std::ops::Range;
use std::sync::Arc;

use kiln_vocabulary::device_queue::{self as format, header};

use super::Store;
use super::commands::{Commands, Ready};
use super::records::{self, EventId, Space};
use crate::backend::Command;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::interface::ArgumentKind;
use crate::kernel::{ArgValue, Kernel};
use crate::launch;
use crate::ndrange::NdRange;
use crate::printf::Printing;
use crate::queue::Queue;
use crate::staging::{self, Arrival};

/// The bytes that the host reads after every wave. More records need another copy.
const FIRST_READ_BYTES: u64 = 64 << 10;
/// The size of the header in bytes.
const HEADER: u64 = 4 * header::WORDS as u64;

/// Copies the header and the first records to the host.
pub(super) fn read_start(queue: &Queue, store: &Store) -> Result<Arrival> {
    queue.arrival(&store.memory, 0, FIRST_READ_BYTES.min(store.layout.bytes))
}

/// The commands that one launch of a kernel has enqueued.
pub(super) struct Waves {
    /// The parent, which keeps the memory of its arguments.
    parent: Kernel,
    store: Store,
    queue: Queue,
    commands: Commands,
    /// The statuses of user events, by number - 1, if a command waits for one.
    user: Vec<u32>,
    /// The times of events that kernels may read.
    times: Vec<(EventId, [u64; 2])>,
    /// Whether the list of free events differs from 0, 1, 2, …
    has_list: bool,
}

impl Waves {
    pub(super) fn new(queue: &Queue, parent: &Kernel, store: Store) -> Self {
        let (parent, queue) = (parent.clone(), queue.clone());
        let (user, times) = (Vec::new(), Vec::new());
        let commands = Commands::new(reads_times(&parent));
        Self { parent, store, queue, commands, user, times, has_list: false }
    }

    /// Runs the commands that were read, and what they enqueue.
    pub(super) fn run(mut self, written: Arrival) -> Result<()> {
        let mut written = written;
        loop {
            let taken = self.read_records(written)?;
            if self.commands.is_empty() {
                return Ok(());
            }
            if self.commands.waits_for_user() {
                self.user = self.read_events(taken)?.into_iter().map(|[_, status]| status).collect();
            }
            let levels = self.take_ready();
            if levels.is_empty() {
                return if self.commands.is_empty() { Ok(()) } else { Err(self.stuck_error()) };
            }
            let most = if self.has_list { format::EVENTS } else { taken };
            let is_low = self.has_list || taken > format::EVENTS / 2;
            let free = if is_low { Some(self.free_events(most)?) } else { None };
            written = self.run_wave(&levels, free)?;
        }
    }

    fn take_ready(&mut self) -> Vec<Vec<Ready>> {
        let (user, program) = (&self.user, &self.parent.program);
        let status = |event: EventId| match event.checked_sub(1).and_then(|event| user.get(event as usize)) {
            Some(&status) => status as i32,
            // No event has this number.
            None => 0,
        };
        let blocks = &program.interface().blocks;
        self.commands.take(status, |block| blocks.get(block as usize).is_none_or(|block| !block.uses_queue))
    }

    fn stuck_error(&self) -> Error {
        let reason = "it enqueued commands that wait for events that never complete".to_owned();
        Error::Launch { kernel: self.parent.name().to_owned(), reason }
    }

    /// Adds the records that the last wave wrote. Returns the number of events that it allocated.
    fn read_records(&mut self, start: Arrival) -> Result<u32> {
        let mut bytes = vec![0; FIRST_READ_BYTES.min(self.store.layout.bytes) as usize];
        start.copy_when_done(&mut bytes)?;
        let word = |index: u32| {
            let word = bytes[4 * index as usize..].first_chunk().copied().unwrap_or_default();
            u32::from_le_bytes(word)
        };
        let tail = word(header::TAIL).min(self.store.layout.capacity);
        let taken = word(header::TAKEN).min(format::EVENTS);
        let end = HEADER + u64::from(tail);
        let there = bytes.len() as u64;
        if end > there {
            bytes.extend(self.read_bytes(there..end)?);
        }
        self.commands.add(records::decode(&words(&bytes[HEADER as usize..end as usize])));
        self.commands.end_all();
        Ok(taken)
    }

    /// Reads a part of the queue.
    fn read_bytes(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let queue = self.queue.children(false)?;
        queue
            .arrival(&self.store.memory, range.start, range.end - range.start)?
            .copy_when_done(&mut bytes)?;
        Ok(bytes)
    }

    /// The references and the status of the first events.
    fn read_events(&self, count: u32) -> Result<Vec<[u32; 2]>> {
        let count = if self.has_list { format::EVENTS } else { count };
        if count == 0 {
            return Ok(Vec::new());
        }
        let first = self.store.layout.slots;
        let bytes = self.read_bytes(first..first + 8 * u64::from(count))?;
        Ok(words(&bytes).as_chunks().0.to_vec())
    }

    /// The events that new commands can use: those among the first `max` without references, and all later ones.
    fn free_events(&mut self, max: u32) -> Result<Vec<EventId>> {
        let events = self.read_events(max)?;
        let unused = (1..).zip(&events).filter(|(_, [references, _])| *references as i32 <= 0);
        let unused: Vec<EventId> = unused.map(|(event, _)| event).collect();
        let mut free = self.commands.forget(unused);
        free.extend(max + 1..=format::EVENTS);
        self.has_list = true;
        Ok(free)
    }

    /// Runs kernels and reads what they have enqueued.
    fn run_wave(&mut self, levels: &[Vec<Ready>], free: Option<Vec<EventId>>) -> Result<Arrival> {
        // Time stamps separate the kernels, which then run one at a time.
        let is_profiled =
            reads_times(&self.parent) && levels.iter().flatten().any(|ready| ready.event.is_some());
        let queue = self.queue.children(is_profiled)?;
        // The host has seen the commands before this one complete.
        let begun = queue.barrier()?;
        match free {
            Some(free) => self.write_free_list(&queue.waiting_for(begun), &free)?,
            None => {
                let (target, at) = (self.store.memory.clone(), 4 * u64::from(header::TAIL));
                queue.waiting_for(begun).enqueue(Command::Fill { target, at, bytes: 4, word: 0 })?
            }
        };
        for (first, times) in consecutive_times(&mut self.times) {
            let begun = queue.barrier()?;
            let to = self.store.layout.times + 16 * u64::from(first - 1);
            self.send(&queue.waiting_for(begun), bytemuck::cast_slice(&times), to)?;
        }
        let mut launched = Vec::new();
        for level in levels {
            queue.barrier()?;
            for ready in level {
                if let Some(event) = self.launch(&queue, ready)? {
                    launched.push((event, ready.event));
                }
            }
        }
        let ended = queue.barrier()?;
        let written = read_start(&queue.waiting_for(ended), &self.store)?;
        written.event.wait()?;
        for (event, id) in launched {
            // The error of a kernel, if it has any.
            if event.launch_error.is_some() {
                event.wait()?;
            }
            event.status()?;
            if let (Some(id), Some(times)) = (id, event.times()) {
                // 0 means that the command is not complete.
                let time = times.end.saturating_sub(times.start).max(1);
                self.commands.record_times(id, [time, time]);
                self.times.push((id, [time, time]));
            }
        }
        Ok(written)
    }

    /// Writes the list of free events, which replaces the one in use, and clears the records.
    fn write_free_list(&self, queue: &Queue, free: &[EventId]) -> Result<Event> {
        let layout = &self.store.layout;
        let numbers: Vec<u32> = free.iter().map(|event| event - 1).collect();
        let mut sent: Arc<[Event]> = Arc::from([]);
        if !numbers.is_empty() {
            let bytes: &[u8] = bytemuck::cast_slice(&numbers);
            sent = Arc::from([self.send(queue, bytes, layout.list)?]);
        }
        // Consecutive words: `TAIL` to `LIST`.
        let words = [0, format::EVENTS, 0, numbers.len() as u32, (layout.list / 4) as u32];
        let queue = if sent.is_empty() { queue.clone() } else { queue.waiting_for_all(sent) };
        self.send(&queue, bytemuck::bytes_of(&words), 4 * u64::from(header::TAIL))
    }

    fn send(&self, queue: &Queue, bytes: &[u8], to: u64) -> Result<Event> {
        let backend = self.queue.device().backend();
        debug_assert!(bytes.len() as u64 <= staging::CHUNK_BYTES, "one chunk");
        let source = staging::filled(backend, bytes)?;
        let target = self.store.memory.clone();
        queue.enqueue(Command::Copy { source, from: 0, target, to, bytes: bytes.len() as u64 })
    }

    /// Launches a block. `None` if the module has no such block.
    fn launch(&self, queue: &Queue, Ready { child, number, .. }: &Ready) -> Result<Option<Event>> {
        let Some(mut kernel) = self.parent.program.block(child.block as usize) else { return Ok(None) };
        kernel.default_queue = self.parent.default_queue;
        let kinds = kernel.interface().arguments.iter().map(|argument| argument.kind);
        let mut locals = child.locals.iter();
        let arguments = kinds.map(|kind| match kind {
            ArgumentKind::Value { size, .. } => {
                let mut bytes = child.captures.clone();
                bytes.resize(size as usize, 0);
                Some(ArgValue::Bytes(bytes))
            }
            ArgumentKind::Local { .. } => locals.next().map(|size| ArgValue::Local(*size as usize)),
            _ => None,
        });
        kernel.arguments = arguments.collect();
        let printing = Printing::for_kernel(&kernel)?;
        let memory = kernel.interface().uses_queue.then_some((&self.store.memory, *number));
        let launch = launch::prepare(&kernel, &range(&child.space), printing.as_ref(), memory)?;
        launch.map(|launch| queue.launch_prepared(launch, printing)).transpose()
    }
}

/// Whether kernels of the program read the times of commands.
fn reads_times(kernel: &Kernel) -> bool {
    kernel.program.interface().blocks.iter().any(|block| block.name == format::PROFILE_BLOCK)
}

/// The times of events with consecutive numbers, with the number of the first one.
fn consecutive_times(times: &mut Vec<(EventId, [u64; 2])>) -> Vec<(EventId, Vec<[u64; 2]>)> {
    times.sort_unstable();
    let mut runs: Vec<(EventId, Vec<[u64; 2]>)> = Vec::new();
    for (event, times) in times.drain(..) {
        match runs.last_mut() {
            Some((first, run)) if *first + run.len() as u32 == event => run.push(times),
            _ => runs.push((event, vec![times])),
        }
    }
    runs
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn range(space: &Space) -> NdRange {
    let size = |sizes: [u32; 3]| sizes.map(|size| size as usize);
    let ([x, y, z], offset, local) = (size(space.global), size(space.offset), size(space.local));
    let (range, dims) = match space.dimensions {
        1 => (NdRange::from([x]), 1),
        2 => (NdRange::from([x, y]), 2),
        _ => (NdRange::from([x, y, z]), 3),
    };
    let is_chosen = local.contains(&0);
    match dims {
        1 if is_chosen => range.offset([offset[0]]),
        1 => range.offset([offset[0]]).local([local[0]]),
        2 if is_chosen => range.offset([offset[0], offset[1]]),
        2 => range.offset([offset[0], offset[1]]).local([local[0], local[1]]),
        _ if is_chosen => range.offset(offset),
        _ => range.offset(offset).local(local),
    }
}
