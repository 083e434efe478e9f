//! Transfers of images: between images of all shapes, to and from buffers and memory of the caller, and fills.
//!
//! Owns copies that need two back-end commands, with packed texels in memory between them. An image that views a buffer
//! is copied as a buffer. Must not depend on how a device lays texels out.

#![allow(unsafe_code, reason = "memory of the caller; each states why it is sound")]

use std::ptr::NonNull;

use bytemuck::Pod;

use super::{Image, ImageRegion, Texel, part};
use crate::backend::{Command, ImageCommand, Memory, Placement};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::host::HostRows;
use crate::queue::{Queue, check_size};
use crate::rect::{Rect, Size};
use crate::reference;
use crate::staging::{self, Arrival};

impl Image {
    /// The size of a region's box in memory: bytes of a row, rows, and slices.
    pub(crate) fn size_of(&self, region: ImageRegion) -> Size {
        let [width, rows, slices] = region.size.map(u64::from);
        [width * self.desc().format.texel_size(), rows, slices]
    }
}

impl Queue {
    /// Copies a region of an image to another image of the same format, at a position (`clEnqueueCopyImage`). The shapes
    /// may differ: layers of an array of 1D images are rows, and those of an array of 2D images are slices.
    pub fn copy_image(
        &self,
        source: &Image,
        region: ImageRegion,
        target: &Image,
        to: [u32; 3],
    ) -> Result<Event> {
        let into = ImageRegion { origin: to, size: region.size };
        self.check_region(source, region, None)?;
        self.check_region(target, into, None)?;
        let overlaps = (0..3).all(|at| {
            region.origin[at] < to[at] + region.size[at] && to[at] < region.origin[at] + region.size[at]
        });
        let rejected = |reason: &str| Error::ImageCommand { command: "copied", reason: reason.to_owned() };
        if source.desc.format != target.desc.format {
            return Err(rejected("their formats differ"));
        }
        match (part(source, region)?, part(target, into)?) {
            (Some(from), Some(to)) => self.copy(&from, &to),
            (Some(from), None) => self.copy_buffer_to_image(&from, target, into),
            (None, Some(to)) => self.copy_image_to_buffer(source, region, &to),
            (None, None) if source.memory.is(&target.memory) && overlaps => {
                Err(rejected("the parts overlap"))
            }
            (None, None) if source.desc.kind.shares_layout(target.desc.kind) => {
                let (source, target) = (source.memory.clone(), target.memory.clone());
                self.enqueue(Command::Image(ImageCommand::Copy { source, region, target, to }))
            }
            (None, None) => {
                let bytes = source.size_of(region).iter().product();
                self.through_memory(
                    bytes,
                    |memory| download(source, region, memory, 0),
                    |memory| upload(memory, 0, target, into),
                )
            }
        }
    }

    /// Copies a region of an image to the start of a buffer, tightly packed (`clEnqueueCopyImageToBuffer`).
    pub fn copy_image_to_buffer<T: Pod>(
        &self,
        source: &Image,
        region: ImageRegion,
        target: &Buffer<T>,
    ) -> Result<Event> {
        self.check_region(source, region, None)?;
        self.check_device(target)?;
        let bytes = source.size_of(region).iter().product();
        check_size(target, bytes)?;
        if let Some(from) = part(source, region)? {
            return self.copy(&from, &target.untyped().slice(..bytes as usize)?);
        }
        let (memory, to) = (target.memory.clone(), target.offset);
        if to.is_multiple_of(source.desc.format.texel_size()) {
            return self.enqueue(download(source, region, memory, to));
        }
        self.through_memory(
            bytes,
            |packed| download(source, region, packed, 0),
            |packed| Command::Copy { source: packed, from: 0, target: memory, to, bytes },
        )
    }

    /// Copies the start of a buffer, tightly packed texels, to a region of an image (`clEnqueueCopyBufferToImage`).
    pub fn copy_buffer_to_image<T: Pod>(
        &self,
        source: &Buffer<T>,
        target: &Image,
        region: ImageRegion,
    ) -> Result<Event> {
        self.check_region(target, region, None)?;
        self.check_device(source)?;
        let bytes = target.size_of(region).iter().product();
        check_size(source, bytes)?;
        if let Some(to) = part(target, region)? {
            return self.copy(&source.untyped().slice(..bytes as usize)?, &to);
        }
        let (memory, from) = (source.memory.clone(), source.offset);
        if from.is_multiple_of(target.desc.format.texel_size()) {
            return self.enqueue(upload(memory, from, target, region));
        }
        self.through_memory(
            bytes,
            |packed| Command::Copy { source: memory, from, target: packed, to: 0, bytes },
            |packed| upload(packed, 0, target, region),
        )
    }

    /// Enqueues two commands with memory for packed texels between them.
    fn through_memory(
        &self,
        bytes: u64,
        first: impl FnOnce(Memory) -> Command,
        second: impl FnOnce(Memory) -> Command,
    ) -> Result<Event> {
        let packed = self.device().backend().allocate(bytes, Placement::Device)?;
        let first = self.enqueue(first(packed.clone()))?;
        let last = self.waiting_for(first.clone()).enqueue(second(packed))?;
        Ok(Event::of_parts(Some(first), Some(last)))
    }

    /// Sets every texel of an image to one value (`clEnqueueFillImage`).
    pub fn fill_image(&self, image: &Image, texel: Texel) -> Result<Event> {
        self.fill_image_region(image, image.desc.whole(), texel)
    }

    /// Sets every texel of a region to one value (`clEnqueueFillImage`), which is converted to the format as by
    /// `write_image`.
    pub fn fill_image_region(&self, image: &Image, region: ImageRegion, texel: Texel) -> Result<Event> {
        self.check_region(image, region, None)?;
        let format = image.desc.format;
        let rejected = |reason: String| Error::ImageCommand { command: "filled", reason };
        if texel.class() != format.class() {
            return Err(rejected(format!("its texels are {:?}, not {:?}", format.class(), texel.class())));
        }
        // A back end fills an image in the format of its memory, which for sRGB is linear on Vulkan.
        let is_memory = image.buffer.is_none() && !image.is_view && !format.order.is_srgb();
        if is_memory && region == image.desc.whole() {
            return self.enqueue(Command::Image(ImageCommand::Fill { target: image.memory.clone(), texel }));
        }
        let texel = reference::texel_bytes(format, texel);
        let texel = texel.ok_or_else(|| rejected(format!("{format} is not a format of OpenCL")))?;
        if let Some(buffer) = part(image, region)? {
            return self.fill_pattern(&buffer, &texel);
        }
        let [width, ..] = image.size_of(region);
        let max = (staging::CHUNK_BYTES / width).clamp(1, region.size[1].into()) as u32;
        let source = texel.repeat(max as usize * region.size[0] as usize);
        let source = staging::filled(self.device().backend(), &source)?;
        let (mut first, mut last) = (None, None);
        for z in 0..region.size[2] {
            for y in (0..region.size[1]).step_by(max as usize) {
                let [x0, y0, z0] = region.origin;
                let (origin, rows) = ([x0, y0 + y, z0 + z], max.min(region.size[1] - y));
                let rows = ImageRegion { origin, size: [region.size[0], rows, 1] };
                let filled = self.enqueue(upload(source.clone(), 0, image, rows))?;
                first.get_or_insert_with(|| filled.clone());
                last = Some(filled);
            }
        }
        Ok(Event::of_parts(first, last))
    }

    /// Reads a region of an image into rows of a slice, blocking (`clEnqueueReadImage` with pitches). The rows and
    /// slices of `to` are those of the region; layers of an array of 1D images are rows.
    pub fn read_image_rows(
        &self,
        image: &Image,
        region: ImageRegion,
        contents: &mut [u8],
        to: Rect,
    ) -> Result<()> {
        let size = self.rows_of(image, region, contents.len(), to)?;
        let start = NonNull::from(contents).cast();
        // SAFETY: the box is within the slice, which is borrowed exclusively and written before this returns.
        let host = unsafe { HostRows::new(start, to, size)? };
        let arrival = self.packed(image, region, host.bytes())?;
        arrival.event.wait()?;
        arrival.with(host.bytes(), |packed| host.scatter(0, packed))?;
        self.failures().report()
    }

    /// Writes a region of an image from rows of a slice, laid out as for [`read_image_rows`](Self::read_image_rows). The
    /// slice may be reused as soon as this returns (`clEnqueueWriteImage` with pitches).
    pub fn write_image_rows(
        &self,
        image: &Image,
        region: ImageRegion,
        contents: &[u8],
        from: Rect,
    ) -> Result<Event> {
        let size = self.rows_of(image, region, contents.len(), from)?;
        let start = NonNull::from(contents).cast();
        // SAFETY: the box is within the slice, which is only read, and before this returns.
        let host = unsafe { HostRows::new(start, from, size)? };
        let mut packed = vec![0; host.bytes() as usize];
        host.gather(0, &mut packed);
        self.write_image_region(image, region, &packed)
    }

    /// Reads a region of an image into memory of the caller, without blocking (`clEnqueueReadImage`), laid out as for
    /// [`read_image_rows`](Self::read_image_rows).
    ///
    /// # Safety
    /// The bytes of the box that starts at `target` must be valid for writes, and nothing else may access them, until
    /// the event has ended.
    pub unsafe fn read_image_to(
        &self,
        image: &Image,
        region: ImageRegion,
        target: NonNull<u8>,
        to: Rect,
    ) -> Result<Event> {
        self.check_region(image, region, None)?;
        // SAFETY: the caller guarantees it.
        let host = unsafe { HostRows::new(target, to, image.size_of(region))? };
        self.read_image_into(image, region, host)
    }

    pub(crate) fn read_image_into(
        &self,
        image: &Image,
        region: ImageRegion,
        host: HostRows,
    ) -> Result<Event> {
        if let Some((target, at)) = self.shared_texels(image, &host) {
            return self.copy_directly(match part(image, region)? {
                Some(Buffer { memory: source, offset: from, .. }) => {
                    Command::Copy { source, from, target, to: at, bytes: host.bytes() }
                }
                None => download(image, region, target, at),
            });
        }
        let arrival = self.packed(image, region, host.bytes())?;
        self.deliver(vec![(0, host.bytes(), arrival)], host)
    }

    /// Writes memory of the caller to a region of an image, without blocking (`clEnqueueWriteImage`), laid out as for
    /// [`read_image_rows`](Self::read_image_rows) and read as by [`write_from`](Self::write_from).
    ///
    /// # Safety
    /// The bytes of the box that starts at `source` must be valid for reads, and nothing else may write them, until the
    /// event has ended. Earlier commands of the queue and commands of the wait list may.
    pub unsafe fn write_image_from(
        &self,
        image: &Image,
        region: ImageRegion,
        source: NonNull<u8>,
        from: Rect,
    ) -> Result<Event> {
        self.check_region(image, region, None)?;
        // SAFETY: the caller guarantees it.
        let host = unsafe { HostRows::new(source, from, image.size_of(region))? };
        self.write_image_rows_from(image, region, host)
    }

    pub(crate) fn write_image_rows_from(
        &self,
        image: &Image,
        region: ImageRegion,
        host: HostRows,
    ) -> Result<Event> {
        let buffer = part(image, region)?;
        let send = |source, from, bytes| match &buffer {
            Some(Buffer { memory, offset, .. }) => {
                Command::Copy { source, from, target: memory.clone(), to: *offset, bytes }
            }
            None => upload(source, from, image, region),
        };
        if let Some((source, at)) = self.shared_texels(image, &host) {
            return self.copy_directly(send(source, at, host.bytes()));
        }
        self.collect(host, u64::MAX, |source, _, bytes| send(source, 0, bytes))
    }

    /// The memory of the device in which the caller's texels lie, and their offset, if one command can copy them.
    fn shared_texels(&self, image: &Image, host: &HostRows) -> Option<(Memory, u64)> {
        // The texels of a view are in other memory too, which can be the caller's.
        if image.is_view || !host.is_packed() {
            return None;
        }
        let other = image.buffer.as_ref().map(|buffer| &buffer.memory);
        // Vulkan demands 4 for some formats and queues.
        let alignment = image.desc.format.texel_size().max(4);
        self.shared_rows(host, other).filter(|(_, at)| at.is_multiple_of(alignment))
    }

    /// Checks the rows of a region in a slice of the host, and returns the size of their box.
    fn rows_of(&self, image: &Image, region: ImageRegion, bytes: usize, rect: Rect) -> Result<Size> {
        self.check_region(image, region, None)?;
        let size = image.size_of(region);
        crate::rect::check_box(bytes, rect, size)?;
        Ok(size)
    }

    /// Copies a region to staging memory, tightly packed.
    fn packed(&self, image: &Image, region: ImageRegion, bytes: u64) -> Result<Arrival> {
        if let Some(buffer) = part(image, region)? {
            return self.arrival(&buffer.memory, buffer.offset, bytes);
        }
        let memory = self.device().backend().allocate(bytes, Placement::Download)?;
        let event = self.enqueue(download(image, region, memory.clone(), 0))?;
        Ok(Arrival { event, memory })
    }
}

fn download(source: &Image, region: ImageRegion, target: Memory, at: u64) -> Command {
    Command::Image(ImageCommand::Download { source: source.memory.clone(), region, target, at })
}

fn upload(source: Memory, at: u64, target: &Image, region: ImageRegion) -> Command {
    Command::Image(ImageCommand::Upload { source, at, target: target.memory.clone(), region })
}
