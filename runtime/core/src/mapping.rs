//! Non-blocking mappings of buffers and image regions, whose address the caller may keep.
//!
//! Owns the memory of a mapping and its write-back. Must not depend on when commands run.

#![allow(unsafe_code, reason = "memory that commands of the host access; each states why it is sound")]

use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;
use kiln_vocabulary::opencl::MAX_TYPE_ALIGNMENT;

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::host::HostRows;
use crate::image::{Image, ImageRegion};
use crate::queue::Queue;
use crate::rect::{Rect, Size};

/// What the host does with a mapping (`cl_map_flags`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MapAccess {
    /// Reads it (`CL_MAP_READ`).
    Read,
    /// Reads and writes it (`CL_MAP_WRITE`).
    Write,
    /// Writes all of it, without reading it first (`CL_MAP_WRITE_INVALIDATE_REGION`).
    Overwrite,
}

/// A buffer or an image region in memory of the host. In contrast to [`Mapped`](crate::Mapped), creating and unmapping
/// it does not block, and its address is known immediately. Dropping it without [`unmap`](Self::unmap) discards changes.
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue) -> kiln_runtime::Result<()> {
/// use kiln_runtime::MapAccess;
/// let buffer = device.buffer_from(&[3u32, 1, 2])?;
/// let mut mapping = queue.map_later(&buffer, MapAccess::Write)?;
/// mapping.contents()?[0] = 7;
/// let written = mapping.unmap(&queue)?;
/// # Ok(())
/// # }
/// ```
pub struct Mapping {
    resource: Resource,
    access: MapAccess,
    block: Arc<Block>,
    size: Size,
    event: Event,
}

/// What is mapped.
enum Resource {
    Buffer(Buffer),
    Image(Image, ImageRegion),
}

/// Memory with the largest alignment of OpenCL's types.
#[repr(align(128))]
#[derive(Clone)]
struct Line(
    #[expect(dead_code, reason = "memory, which is used through its address")]
    [u8; MAX_TYPE_ALIGNMENT as usize],
);

// `repr` takes literals only.
const _: () = assert!(align_of::<Line>() as u64 == MAX_TYPE_ALIGNMENT);

/// The memory of a mapping.
pub(crate) struct Block(Box<[UnsafeCell<Line>]>);

// SAFETY: only the host command that fills the block, the mapping, and the host command that takes its contents access
// it, one at a time.
unsafe impl Sync for Block {}

impl Block {
    fn new(bytes: u64) -> Arc<Self> {
        let lines = bytes.div_ceil(size_of::<Line>() as u64) as usize;
        Arc::new(Self((0..lines).map(|_| UnsafeCell::new(Line([0; MAX_TYPE_ALIGNMENT as usize]))).collect()))
    }

    fn start(&self) -> NonNull<u8> {
        NonNull::from(&*self.0).cast()
    }

    /// Rows in this block, which they keep alive.
    fn rows(self: &Arc<Self>, size: Size) -> Result<HostRows> {
        // SAFETY: the block has room for the box, lives as long as the result, and is used by one command at a time.
        unsafe { Ok(HostRows::new(self.start(), Rect::default(), size)?.keeping(self.clone())) }
    }
}

impl Queue {
    /// Maps a buffer without blocking (`clEnqueueMapBuffer`). Do not use the buffer otherwise until it is unmapped.
    pub fn map_later<T: Pod>(&self, buffer: &Buffer<T>, access: MapAccess) -> Result<Mapping> {
        let buffer = buffer.untyped();
        let size = [buffer.bytes(), 1, 1];
        self.map_resource(Resource::Buffer(buffer), access, size)
    }

    /// Maps a region of an image without blocking (`clEnqueueMapImage`), tightly packed. Do not use the region otherwise
    /// until it is unmapped.
    pub fn map_image(&self, image: &Image, region: ImageRegion, access: MapAccess) -> Result<Mapping> {
        self.check_region(image, region, None)?;
        self.map_resource(Resource::Image(image.clone(), region), access, image.size_of(region))
    }

    fn map_resource(&self, resource: Resource, access: MapAccess, size: Size) -> Result<Mapping> {
        let block = Block::new(size.iter().product());
        let rows = block.rows(size)?;
        let event = match (&resource, access) {
            (_, MapAccess::Overwrite) => self.nothing()?,
            (Resource::Buffer(buffer), _) => self.read_rows(buffer, rows)?,
            (Resource::Image(image, region), _) => self.read_image_into(image, *region, rows)?,
        };
        Ok(Mapping { resource, access, block, size, event })
    }
}

impl Mapping {
    /// Completes when the contents are available.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The address of the first byte, a multiple of 128. It stays the same until the mapping is unmapped or dropped,
    /// and the contents are available when the event is complete.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.block.start()
    }

    /// The number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.size.iter().product::<u64>() as usize
    }

    /// The bytes from one row of an image region to the next.
    pub fn row_pitch(&self) -> u64 {
        self.size[0]
    }

    /// The bytes from one slice of an image region to the next.
    pub fn slice_pitch(&self) -> u64 {
        self.size[0] * self.size[1]
    }

    /// Waits for the contents.
    pub fn contents(&mut self) -> Result<&mut [u8]> {
        self.event.wait()?;
        // SAFETY: the block has this many initialized bytes. The command that filled it is complete, and the one that
        // takes its contents comes with `unmap`.
        Ok(unsafe { NonNull::slice_from_raw_parts(self.as_ptr(), self.len()).as_mut() })
    }

    /// Unmaps it (`clEnqueueUnmapMemObject`): writes the contents back if it was mapped for writing.
    pub fn unmap(self, queue: &Queue) -> Result<Event> {
        let device = match &self.resource {
            Resource::Buffer(buffer) => buffer.device(),
            Resource::Image(image, _) => image.device(),
        };
        if !device.is(queue.device()) {
            return Err(Error::WrongDevice { object: "the mapping".to_owned() });
        }
        if self.access == MapAccess::Read {
            return queue.nothing();
        }
        let rows = self.block.rows(self.size)?;
        // The mapping may still be in progress; if it fails, nothing is written back.
        let queue = queue.after([&self.event]);
        match &self.resource {
            Resource::Buffer(buffer) => queue.write_rows(buffer, rows),
            Resource::Image(image, region) => queue.write_image_rows_from(image, *region, rows),
        }
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping")
            .field("len", &self.len())
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
