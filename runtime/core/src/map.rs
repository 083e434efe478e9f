//! Mapped buffers (`clEnqueueMapBuffer`).
//!
//! Owns the host copy and its write-back. A mapping is a copy: it costs a transfer each way, but does not require
//! host-visible memory.

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;

use crate::buffer::Buffer;
use crate::error::Result;
use crate::event::Event;
use crate::queue::Queue;

/// The mapped contents of a buffer. [`unmap`](Self::unmap), or dropping this, writes changes back.
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue) -> kiln_runtime::Result<()> {
/// let buffer = device.buffer_from(&[3u32, 1, 2])?;
/// let mut contents = queue.map(&buffer)?;
/// contents.sort_unstable();
/// contents.unmap()?;
/// # Ok(())
/// # }
/// ```
pub struct Mapped<T: Pod> {
    queue: Queue,
    buffer: Buffer<T>,
    contents: Vec<T>,
    changed: bool,
}

impl<T: Pod> Mapped<T> {
    pub(crate) fn new(queue: Queue, buffer: Buffer<T>, contents: Vec<T>) -> Self {
        Self { queue, buffer, contents, changed: false }
    }

    /// Unmaps the buffer and writes the contents back (`clEnqueueUnmapMemObject`). Writes nothing if the contents
    /// were never borrowed mutably.
    pub fn unmap(mut self) -> Result<Event> {
        self.write_back()
    }

    fn write_back(&mut self) -> Result<Event> {
        if std::mem::take(&mut self.changed) {
            self.queue.write(&self.buffer, &self.contents)
        } else {
            Ok(Event::done())
        }
    }
}

impl<T: Pod> Drop for Mapped<T> {
    fn drop(&mut self) {
        if let Err(error) = self.write_back() {
            tracing::error!("the changes to a mapped buffer are lost: {error}");
        }
    }
}

impl<T: Pod> Deref for Mapped<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.contents
    }
}

impl<T: Pod> DerefMut for Mapped<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.changed = true;
        &mut self.contents
    }
}

impl<T: Pod> fmt::Debug for Mapped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("len", &self.contents.len()).finish_non_exhaustive()
    }
}
