//! Queues: commands in order.
//!
//! Owns the commands that a user gives and their checks. It must never know how a back end executes them.

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

use crate::backend::BackendQueue;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::kernel::Kernel;
use crate::launch;
use crate::ndrange::NdRange;

/// The largest fill pattern (`clEnqueueFillBuffer`).
const LARGEST_PATTERN: usize = 128;

/// An in-order queue: each command sees what the earlier ones wrote. Dropping it waits for its commands.
#[derive(Clone)]
pub struct Queue {
    device: Device,
    backend: Arc<dyn BackendQueue>,
}

impl Queue {
    pub(crate) fn new(device: Device, backend: Arc<dyn BackendQueue>) -> Self {
        Self { device, backend }
    }

    /// The device whose queue it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches a kernel with the arguments it has now.
    ///
    /// # Safety
    /// A kernel reaches memory through plain addresses, as C does. It must stay within the buffers that its arguments and their
    /// contents lead to, those buffers must live until the launch is complete (the runtime keeps the arguments' own buffers
    /// alive), and it must not race with other commands.
    #[allow(unsafe_code, reason = "the contract lies with the kernel, which the runtime cannot check")]
    pub unsafe fn launch(&self, kernel: &Kernel, range: impl Into<NdRange>) -> Result<Event> {
        if !kernel.program.inner.device.is(&self.device) {
            return Err(Error::WrongDevice { object: format!("kernel `{}`", kernel.name()) });
        }
        match launch::prepare(kernel, &range.into())? {
            Some(launch) => self.event(self.backend.launch(launch)?),
            None => Ok(Event::done()),
        }
    }

    /// Writes the beginning of a buffer. The slice may be changed as soon as this returns.
    pub fn write<T: Pod>(&self, buffer: &Buffer<T>, contents: &[T]) -> Result<Event> {
        self.own(buffer)?;
        let bytes: &[u8] = bytemuck::cast_slice(contents);
        if bytes.is_empty() {
            return Ok(Event::done());
        }
        inside(buffer, bytes.len() as u64)?;
        self.event(self.backend.write(&buffer.memory, buffer.offset, bytes)?)
    }

    /// Waits for the earlier commands and reads a buffer.
    pub fn read<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        let mut contents = vec![T::zeroed(); buffer.len()];
        self.read_into(buffer, &mut contents)?;
        Ok(contents)
    }

    /// Waits for the earlier commands and reads the beginning of a buffer.
    pub fn read_into<T: Pod>(&self, buffer: &Buffer<T>, contents: &mut [T]) -> Result<()> {
        self.own(buffer)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(contents);
        if bytes.is_empty() {
            return self.finish();
        }
        inside(buffer, bytes.len() as u64)?;
        self.backend.read(&buffer.memory, buffer.offset, bytes, self.device.watchdog())
    }

    /// Fills a buffer with one value (`clEnqueueFillBuffer`).
    pub fn fill<T: Pod>(&self, buffer: &Buffer<T>, value: T) -> Result<Event> {
        self.own(buffer)?;
        let pattern = bytemuck::bytes_of(&value);
        if !pattern.len().is_power_of_two() || pattern.len() > LARGEST_PATTERN {
            return Err(Error::FillPattern { bytes: pattern.len() });
        }
        self.event(self.backend.fill(&buffer.memory, buffer.offset, buffer.bytes(), pattern)?)
    }

    /// Copies one buffer to the beginning of another. Parts of one buffer must not overlap.
    pub fn copy<T: Pod>(&self, source: &Buffer<T>, target: &Buffer<T>) -> Result<Event> {
        self.own(source)?;
        self.own(target)?;
        let bytes = source.bytes();
        inside(target, bytes)?;
        let same = source.memory.address == target.memory.address;
        if same && source.offset < target.offset + bytes && target.offset < source.offset + bytes {
            return Err(Error::OverlappingCopy { from: source.offset, to: target.offset, bytes });
        }
        self.event(self.backend.copy(&source.memory, source.offset, &target.memory, target.offset, bytes)?)
    }

    /// An event that is complete when all earlier commands are.
    pub fn marker(&self) -> Result<Event> {
        self.event(self.backend.marker()?)
    }

    /// Waits for all commands.
    pub fn finish(&self) -> Result<()> {
        self.marker()?.wait()
    }

    fn event(&self, completion: Arc<dyn crate::backend::Completion>) -> Result<Event> {
        Ok(Event::new(completion, self.device.watchdog()))
    }

    fn own<T>(&self, buffer: &Buffer<T>) -> Result<()> {
        if buffer.device().is(&self.device) {
            Ok(())
        } else {
            Err(Error::WrongDevice { object: "the buffer".to_owned() })
        }
    }
}

fn inside<T>(buffer: &Buffer<T>, bytes: u64) -> Result<()> {
    if bytes <= buffer.bytes() {
        Ok(())
    } else {
        Err(Error::OutOfBounds { start: 0, end: bytes, size: buffer.bytes() })
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("device", &self.device).finish_non_exhaustive()
    }
}
