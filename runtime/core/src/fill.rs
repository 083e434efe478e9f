//! Fills of buffers with a repeated pattern.
//!
//! Owns the choice between a fill and copies of a replicated pattern. Must not depend on how bytes are copied.

use bytemuck::Pod;

use crate::backend::Command;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::queue::Queue;
use crate::staging;

/// The maximum size of a fill pattern (`clEnqueueFillBuffer`).
const MAX_PATTERN_BYTES: usize = 128;
/// A long pattern is replicated to about this many bytes, which are then copied.
const PATTERN_BYTES: u64 = 1 << 20;

impl Queue {
    /// Fills a buffer with a value (`clEnqueueFillBuffer`).
    pub fn fill<T: Pod>(&self, buffer: &Buffer<T>, value: T) -> Result<Event> {
        self.fill_pattern(&buffer.untyped(), bytemuck::bytes_of(&value))
    }

    /// Fills a buffer with a pattern of 1, 2, 4, 8, 16, 32, 64 or 128 bytes (`clEnqueueFillBuffer`).
    pub fn fill_pattern(&self, buffer: &Buffer, pattern: &[u8]) -> Result<Event> {
        self.check_device(buffer)?;
        if !pattern.len().is_power_of_two() || pattern.len() > MAX_PATTERN_BYTES {
            return Err(Error::FillPattern { bytes: pattern.len() });
        }
        let (target, at, bytes) = (buffer.memory.clone(), buffer.offset, buffer.bytes());
        let element = pattern.len() as u64;
        if !bytes.is_multiple_of(element) {
            return Err(Error::PartialElement { bytes, offset: at, element });
        }
        let word = <[u8; 4]>::try_from(pattern.repeat(4 / pattern.len().min(4))).map(u32::from_ne_bytes);
        if let (Ok(word), true) = (word, at.is_multiple_of(4) && bytes.is_multiple_of(4)) {
            return self.enqueue(Command::Fill { target, at, bytes, word });
        }
        let step = bytes.min(PATTERN_BYTES);
        let source =
            staging::filled(self.device().backend(), &pattern.repeat(step as usize / pattern.len()))?;
        let (mut first, mut last) = (None, None);
        for done in (0..bytes).step_by(step as usize) {
            let (source, target) = (source.clone(), target.clone());
            let bytes = step.min(bytes - done);
            let copied = self.enqueue(Command::Copy { source, from: 0, target, to: at + done, bytes })?;
            first.get_or_insert_with(|| copied.clone());
            last = Some(copied);
        }
        Ok(Event::of_parts(first, last))
    }
}
