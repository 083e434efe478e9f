//! Images that are made of a buffer (`cl_khr_image2d_from_buffer`).
//!
//! The layout of a Vulkan image is private to the driver. The texels are therefore copied from the buffer before each
//! command on the image, and back after each command that writes them. OpenCL requires no more: accesses to the buffer
//! and to its image in one command are undefined (OpenCL API 5.3.1.3).

use ash::vk;

use super::{GENERAL, Texels, subresource};
use crate::backend::{ImageMemory, Memory};
use crate::error::Result;
use crate::image::{ImageDesc, ImageRegion};
use crate::vulkan::commands::Accesses;
use crate::vulkan::memory;

/// The buffer that an image is made of.
pub(super) struct Backing {
    buffer: Memory,
    /// The byte offset of the first texel.
    offset: u64,
    /// The number of texels from the start of a row to the start of the next.
    row: u32,
    whole: ImageRegion,
}

/// The copies around a command on an image that is made of a buffer.
pub(in crate::vulkan) struct Exchange {
    buffer: vk::Buffer,
    image: vk::Image,
    region: vk::BufferImageCopy,
    /// Whether the command writes texels.
    writes: bool,
}

impl Backing {
    pub(super) const fn new(buffer: Memory, offset: u64, row: u32, desc: &ImageDesc) -> Self {
        Self { buffer, offset, row, whole: desc.whole() }
    }
}

impl Exchange {
    /// The copies around a command on an image; `None` if the image has its own memory.
    pub(in crate::vulkan) fn for_command(image: &ImageMemory, writes: bool) -> Result<Option<Self>> {
        let super::Image::Texels(texels) = image.image()? else { return Ok(None) };
        let Texels { raw, kind, backing: Some(backing), .. } = texels else { return Ok(None) };
        let whole = subresource(*kind, backing.whole, 0);
        let region = vk::BufferImageCopy::default()
            .buffer_offset(backing.offset)
            .buffer_row_length(backing.row)
            .image_subresource(whole.layers)
            .image_extent(whole.extent);
        Ok(Some(Self { buffer: memory::buffer(&backing.buffer)?, image: *raw, region, writes }))
    }

    /// Records the copies from buffers to images, ordered after what was recorded before and before what follows.
    pub(in crate::vulkan) fn load(all: &[Self], raw: &ash::Device, commands: vk::CommandBuffer) {
        if all.is_empty() {
            return;
        }
        barrier(raw, commands);
        for Self { buffer, image, region, .. } in all {
            // SAFETY: the command buffer is being recorded; the region is within the image and the buffer, which live
            // until the command is complete; the image is in the general layout.
            unsafe { raw.cmd_copy_buffer_to_image(commands, *buffer, *image, GENERAL, &[*region]) };
        }
        barrier(raw, commands);
    }

    /// Records the copies of written images to their buffers, ordered as those of `load`.
    pub(in crate::vulkan) fn store(all: &[Self], raw: &ash::Device, commands: vk::CommandBuffer) {
        if all.is_empty() {
            return;
        }
        barrier(raw, commands);
        for Self { buffer, image, region, .. } in all.iter().filter(|it| it.writes) {
            // SAFETY: as above.
            unsafe { raw.cmd_copy_image_to_buffer(commands, *image, GENERAL, *buffer, &[*region]) };
        }
        barrier(raw, commands);
    }
}

/// Orders everything before it with everything after it.
fn barrier(raw: &ash::Device, commands: vk::CommandBuffer) {
    let Accesses { stages, reads, writes } = Accesses::ANYTHING;
    let memory = [vk::MemoryBarrier::default().src_access_mask(writes).dst_access_mask(reads | writes)];
    let none = vk::DependencyFlags::empty();
    // SAFETY: the command buffer is being recorded.
    unsafe { raw.cmd_pipeline_barrier(commands, stages, stages, none, &memory, &[], &[]) };
}
