//! Buffers that several devices use: a copy on each, which is brought up to date when a command needs it.
//!
//! Owns which copies are current. The decision is made when a command runs, not when it is enqueued, because wait lists
//! and user events determine the order of commands on different devices. Must not depend on what commands do with a
//! copy.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Result;
use crate::event::Event;
use crate::queue::Queue;

/// A buffer of a context with several devices. Each device that uses it has a copy, allocated on first use. Clones refer
/// to the same buffer.
///
/// Commands on different devices must be ordered by events, as OpenCL demands (OpenCL API 3.3.6.3, appendix A).
///
/// ```
/// # fn example(one: kiln_runtime::Queue, two: kiln_runtime::Queue) -> kiln_runtime::Result<()> {
/// use kiln_runtime::{DeviceUse, MigratingBuffer};
/// let shared = MigratingBuffer::new(4096);
/// let (copy, ready) = shared.acquire(&one, DeviceUse::Write)?;
/// let filled = one.after(&ready).fill(&copy, 7)?;
/// // The other device gets the contents when `filled` is complete.
/// let (copy, ready) = shared.acquire(&two.after([&filled]), DeviceUse::Read)?;
/// let contents = two.after(&ready).read(&copy)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MigratingBuffer {
    bytes: usize,
    copies: Arc<Mutex<Vec<Copy>>>,
}

/// What a command does with a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceUse {
    /// The command only reads the buffer: copies of other devices stay current.
    Read,
    /// The command may write the buffer, wholly or in part.
    Write,
}

/// The copy of one device.
struct Copy {
    buffer: Buffer,
    /// For migrations.
    queue: Queue,
    is_current: bool,
}

impl MigratingBuffer {
    /// A buffer of this many bytes, with undefined contents and without memory on any device.
    pub fn new(bytes: usize) -> Self {
        Self { bytes, copies: Arc::default() }
    }

    /// The number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "`acquire` rejects empty buffers")]
    pub fn len(&self) -> usize {
        self.bytes
    }

    fn copies(&self) -> MutexGuard<'_, Vec<Copy>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the copy of the queue's device for the next command, and the event that this command must wait for in
    /// addition to the queue's wait list; `None` if it need not wait.
    pub fn acquire(&self, queue: &Queue, usage: DeviceUse) -> Result<(Buffer, Option<Event>)> {
        let mut copies = self.copies();
        let own = match position(&copies, queue.device()) {
            Some(own) => own,
            None => {
                let (device, is_current) = (queue.device(), copies.is_empty());
                let buffer = device.buffer(self.bytes)?;
                copies.push(Copy { buffer, queue: device.queue()?, is_current });
                copies.len() - 1
            }
        };
        let buffer = copies[own].buffer.clone();
        // A command submitted now cannot depend on a device that starts to use the buffer later.
        if copies.len() == 1 && queue.holds_nothing() {
            return Ok((buffer, None));
        }
        drop(copies);
        let (shared, device) = (self.clone(), queue.device().clone());
        let ready = queue.host(move || shared.update(&device, usage))?;
        Ok((buffer, Some(ready)))
    }

    /// Brings the copy of a device up to date, blocking. All commands that it depends on must be complete.
    fn update(&self, device: &Device, usage: DeviceUse) -> Result<()> {
        let mut copies = self.copies();
        let Some(own) = position(&copies, device) else { return Ok(()) };
        if !copies[own].is_current
            && let Some(source) = copies.iter().find(|copy| copy.is_current)
        {
            let contents = source.queue.read(&source.buffer)?;
            copies[own].queue.write(&copies[own].buffer, &contents)?.wait()?;
        }
        if usage == DeviceUse::Write {
            copies.iter_mut().for_each(|copy| copy.is_current = false);
        }
        copies[own].is_current = true;
        Ok(())
    }
}

fn position(copies: &[Copy], device: &Device) -> Option<usize> {
    copies.iter().position(|copy| copy.buffer.device().is(device))
}

impl fmt::Debug for MigratingBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MigratingBuffer").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
