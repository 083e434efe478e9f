//! Commands on images (OpenCL API 5.3.3 to 5.3.5).

use std::ffi::c_void;

use kiln_runtime::{ChannelOrder, Event, Image, ImageDesc, ImageKind, ImageRegion, Queue, Texel, TexelClass};
use opencl_sys::*;

use crate::copy::{gather, scatter};
use crate::error::{Code, Result, ensure};
use crate::ffi::{self, Host};
use crate::memory::Picture;
use crate::work::{Submission, inside};

/// The region of an image; fails with `CL_INVALID_VALUE` if it is empty or outside.
pub(crate) fn region_of(picture: &Picture, origin: [usize; 3], size: [usize; 3]) -> Result<ImageRegion> {
    for axis in 0..3 {
        ensure(size[axis] > 0, CL_INVALID_VALUE)?;
        inside(origin[axis], size[axis], picture.desc.size[axis] as usize)?;
    }
    Ok(ImageRegion { origin: origin.map(|at| at as u32), size: size.map(|size| size as u32) })
}

/// Writes texels, and waits.
pub(crate) fn write(
    queue: &Queue,
    image: &Image,
    region: ImageRegion,
    bytes: &[u8],
) -> kiln_runtime::Result<()> {
    queue.write_image_region(image, region, bytes)?.wait()
}

pub(crate) extern "C" fn read(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    target: *mut c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_READ_IMAGE, event)?;
        let memory = command.memory(image)?;
        let picture = memory.picture()?;
        command.wait_for(count, waits)?;
        let (origin, size) = (ffi::triple(origin)?, ffi::triple(region)?);
        ensure(!target.is_null(), CL_INVALID_VALUE)?;
        let region = region_of(picture, origin, size)?;
        let rect = picture.rect(size, row_pitch, slice_pitch)?;
        memory.host_access(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        command.bring(&[&memory])?;
        let source = memory.image(command.queue().index())?;
        let transfers = command.queue().opened()?.transfers.clone();
        let target = Host::new(target.cast::<u8>());
        let done = command.host(move || {
            scatter(&transfers.read_image_region::<u8>(&source, region)?, target, &rect);
            Ok(())
        })?;
        command.finish(done, blocking)
    })
}

pub(crate) extern "C" fn write_region(
    queue: cl_command_queue,
    image: cl_mem,
    blocking: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    source: *const c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_WRITE_IMAGE, event)?;
        let memory = command.memory(image)?;
        let picture = memory.picture()?;
        command.wait_for(count, waits)?;
        let (origin, size) = (ffi::triple(origin)?, ffi::triple(region)?);
        ensure(!source.is_null(), CL_INVALID_VALUE)?;
        let region = region_of(picture, origin, size)?;
        let rect = picture.rect(size, row_pitch, slice_pitch)?;
        memory.host_access(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        command.bring(&[&memory])?;
        let target = memory.image(command.queue().index())?;
        let source = Host::new(source.cast::<u8>());
        let transfers = command.queue().opened()?.transfers.clone();
        let written = command.host(move || write(&transfers, &target, region, &gather(source, &rect)))?;
        command.finish(written, blocking)
    })
}

pub(crate) extern "C" fn copy(
    queue: cl_command_queue,
    source: cl_mem,
    target: cl_mem,
    source_origin: *const usize,
    target_origin: *const usize,
    region: *const usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_COPY_IMAGE, event)?;
        let (source, target) = (command.memory(source)?, command.memory(target)?);
        let (from, to) = (source.picture()?, target.picture()?);
        command.wait_for(count, waits)?;
        ensure(from.desc.format == to.desc.format, CL_IMAGE_FORMAT_MISMATCH)?;
        let (start, end, size) =
            (ffi::triple(source_origin)?, ffi::triple(target_origin)?, ffi::triple(region)?);
        let region = region_of(from, start, size)?;
        // The slices of a 1D array are in the second dimension, as the rows of others.
        let target_region = region_of(to, end, size)?;
        if std::ptr::eq(&*source, &*target) {
            let apart =
                |axis: usize| start[axis] + size[axis] <= end[axis] || end[axis] + size[axis] <= start[axis];
            ensure((0..3).any(apart), CL_MEM_COPY_OVERLAP)?;
        }
        command.bring(&[&source, &target])?;
        let index = command.queue().index();
        let is_plane = |kind| matches!(kind, ImageKind::D2 | ImageKind::D2Array | ImageKind::D3);
        let (source_kind, target_kind) = (from.desc.kind, to.desc.kind);
        let same = source_kind == target_kind && source_kind != ImageKind::Buffer;
        let (source, target) = (source.image(index)?, target.image(index)?);
        let copied = if same || is_plane(source_kind) && is_plane(target_kind) {
            command.inner().copy_image(&source, region, &target, target_region.origin)?
        } else {
            let transfers = command.queue().opened()?.transfers.clone();
            command.host(move || {
                let texels = transfers.read_image_region::<u8>(&source, region)?;
                write(&transfers, &target, target_region, &texels)
            })?
        };
        command.finish(copied, CL_FALSE)
    })
}

/// The texel of a fill color: a float for depth, else four components of the image's class.
fn color(picture: &Picture, color: *const c_void) -> Result<Texel> {
    let words: [u32; 4] = match picture.desc.format.order {
        ChannelOrder::Depth => [ffi::load(color.cast::<u32>()).ok_or(Code(CL_INVALID_VALUE))?, 0, 0, 0],
        _ => ffi::load(color.cast::<[u32; 4]>()).ok_or(Code(CL_INVALID_VALUE))?,
    };
    Ok(match picture.desc.format.class() {
        TexelClass::Float => Texel::Float(words.map(f32::from_bits)),
        TexelClass::Signed => Texel::Signed(words.map(|word| word as i32)),
        TexelClass::Unsigned => Texel::Unsigned(words),
    })
}

/// Fills a region of an image: fills an image of its size and copies that.
fn fill_region(queue: &Queue, image: &Image, region: ImageRegion, texel: Texel) -> Result<Event> {
    if region == image.desc().whole() && image.desc().kind != ImageKind::Buffer {
        return Ok(queue.fill_image(image, texel)?);
    }
    let desc = ImageDesc { size: region.size, ..*image.desc() };
    let filled = queue.device().image(&desc)?;
    let done = queue.fill_image(&filled, texel)?;
    Ok(queue.after([&done]).copy_image(&filled, desc.whole(), image, region.origin)?)
}

/// The bytes of a texel of a format.
fn encode(queue: &Queue, image: &Image, texel: Texel) -> kiln_runtime::Result<Vec<u8>> {
    let one = queue.device().image(&ImageDesc::d2(image.desc().format, 1, 1))?;
    queue.fill_image(&one, texel)?;
    queue.read_image(&one)
}

pub(crate) extern "C" fn fill(
    queue: cl_command_queue,
    image: cl_mem,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_FILL_IMAGE, event)?;
        let memory = command.memory(image)?;
        let picture = memory.picture()?;
        command.wait_for(count, waits)?;
        let texel = color(picture, fill_color)?;
        let region = region_of(picture, ffi::triple(origin)?, ffi::triple(region)?)?;
        command.bring(&[&memory])?;
        let image = memory.image(command.queue().index())?;
        let filled = if picture.desc.kind == ImageKind::Buffer {
            let transfers = command.queue().opened()?.transfers.clone();
            command.host(move || {
                let texels = encode(&transfers, &image, texel)?.repeat(region.size[0] as usize);
                write(&transfers, &image, region, &texels)
            })?
        } else {
            fill_region(&command.inner(), &image, region, texel)?
        };
        command.finish(filled, CL_FALSE)
    })
}

pub(crate) extern "C" fn copy_to_buffer(
    queue: cl_command_queue,
    source: cl_mem,
    target: cl_mem,
    origin: *const usize,
    region: *const usize,
    offset: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, event)?;
        let (source, target) = (command.memory(source)?, command.memory(target)?);
        let picture = source.picture()?;
        target.check_buffer()?;
        command.wait_for(count, waits)?;
        let (origin, size) = (ffi::triple(origin)?, ffi::triple(region)?);
        let region = region_of(picture, origin, size)?;
        let bytes = size.iter().product::<usize>() * picture.texel();
        inside(offset, bytes, target.size)?;
        command.bring(&[&source, &target])?;
        let index = command.queue().index();
        let (image, buffer) = (source.image(index)?, target.buffer(index)?.slice(offset..offset + bytes)?);
        let transfers = command.queue().opened()?.transfers.clone();
        let copied = command.host(move || {
            let texels = transfers.read_image_region::<u8>(&image, region)?;
            transfers.write(&buffer, &texels)?.wait()
        })?;
        command.finish(copied, CL_FALSE)
    })
}

pub(crate) extern "C" fn copy_from_buffer(
    queue: cl_command_queue,
    source: cl_mem,
    target: cl_mem,
    offset: usize,
    origin: *const usize,
    region: *const usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, event)?;
        let (source, target) = (command.memory(source)?, command.memory(target)?);
        source.check_buffer()?;
        let picture = target.picture()?;
        command.wait_for(count, waits)?;
        let (origin, size) = (ffi::triple(origin)?, ffi::triple(region)?);
        let region = region_of(picture, origin, size)?;
        let bytes = size.iter().product::<usize>() * picture.texel();
        inside(offset, bytes, source.size)?;
        command.bring(&[&source, &target])?;
        let index = command.queue().index();
        let (buffer, image) = (source.buffer(index)?.slice(offset..offset + bytes)?, target.image(index)?);
        let transfers = command.queue().opened()?.transfers.clone();
        let copied = command.host(move || write(&transfers, &image, region, &transfers.read(&buffer)?))?;
        command.finish(copied, CL_FALSE)
    })
}
