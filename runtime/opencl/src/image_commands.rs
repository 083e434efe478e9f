//! Commands on images (OpenCL API 5.3.3 to 5.3.5).

use std::ffi::c_void;

use kiln_runtime::{ChannelOrder, ImageKind, ImageRegion, Texel, TexelClass};
use opencl_sys::*;

use crate::error::{Code, Result, ensure};
use crate::ffi::{self, Host};
use crate::memory::{ImageInfo, Memory};
use crate::residence::Access;
use crate::work::{Submission, check_range};

/// The region of an image; fails with `CL_INVALID_VALUE` if it is empty or outside.
pub(crate) fn region_of(
    info: &ImageInfo,
    level: u32,
    origin: [usize; 3],
    size: [usize; 3],
) -> Result<ImageRegion> {
    let whole = info.desc.level(level).size;
    for axis in 0..3 {
        ensure(size[axis] > 0, CL_INVALID_VALUE)?;
        check_range(origin[axis], size[axis], whole[axis] as usize)?;
    }
    Ok(ImageRegion { origin: origin.map(|at| at as u32), size: size.map(|size| size as u32) })
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
        let info = memory.image_info()?;
        command.wait_for(count, waits)?;
        let level = info.level_at(origin)?;
        let (origin, size) = (info.origin(origin)?, ffi::triple(region)?);
        ensure(!target.is_null(), CL_INVALID_VALUE)?;
        let region = region_of(info, level, origin, size)?;
        ensure(slice_pitch == 0 || info.has_slices(), CL_INVALID_VALUE)?;
        let rect = info.rect(size, row_pitch, slice_pitch)?;
        memory.host_access(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        command.migrate(&memory, Access::Read)?;
        let source = memory.level(command.queue().index(), level)?;
        let target = Host::new(target.cast::<u8>());
        let done = ffi::read_image(&command.transfers(blocking), (&source, region), (target, rect.inner()))?;
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
        let info = memory.image_info()?;
        command.wait_for(count, waits)?;
        let level = info.level_at(origin)?;
        let (origin, size) = (info.origin(origin)?, ffi::triple(region)?);
        ensure(!source.is_null(), CL_INVALID_VALUE)?;
        let region = region_of(info, level, origin, size)?;
        ensure(slice_pitch == 0 || info.has_slices(), CL_INVALID_VALUE)?;
        let rect = info.rect(size, row_pitch, slice_pitch)?;
        memory.host_access(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        command.migrate(&memory, Access::Write)?;
        let target = memory.level(command.queue().index(), level)?;
        let source = Host::new(source.cast::<u8>());
        let queue = command.transfers(blocking);
        let written = ffi::write_image(&queue, (&target, region), (source, rect.inner()))?;
        command.finish_write(written, blocking, size.iter().product::<usize>() * info.texel())
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
        let (from, to) = (source.image_info()?, target.image_info()?);
        command.wait_for(count, waits)?;
        ensure(from.desc.format == to.desc.format, CL_IMAGE_FORMAT_MISMATCH)?;
        let levels = [from.level_at(source_origin)?, to.level_at(target_origin)?];
        let (start, end) = (from.origin(source_origin)?, to.origin(target_origin)?);
        let size = ffi::triple(region)?;
        let region = region_of(from, levels[0], start, size)?;
        // The slices of a 1D array are in the second dimension, as the rows of others.
        let target_region = region_of(to, levels[1], end, size)?;
        if std::ptr::eq(&*source, &*target) && levels[0] == levels[1] {
            let apart =
                |axis: usize| start[axis] + size[axis] <= end[axis] || end[axis] + size[axis] <= start[axis];
            ensure((0..3).any(apart), CL_MEM_COPY_OVERLAP)?;
        }
        command.migrate(&source, Access::Read)?;
        command.migrate(&target, Access::Write)?;
        let index = command.queue().index();
        let (source, target) = (source.level(index, levels[0])?, target.level(index, levels[1])?);
        let copied = command.inner().copy_image(&source, region, &target, target_region.origin)?;
        command.finish(copied, CL_FALSE)
    })
}

/// The texel of a fill color: a float for depth, else four components of the image's class.
fn color(info: &ImageInfo, color: *const c_void) -> Result<Texel> {
    let words: [u32; 4] = match info.desc.format.order {
        ChannelOrder::Depth => [ffi::load(color.cast::<u32>()).ok_or(Code(CL_INVALID_VALUE))?, 0, 0, 0],
        _ => ffi::load(color.cast::<[u32; 4]>()).ok_or(Code(CL_INVALID_VALUE))?,
    };
    Ok(match info.desc.format.class() {
        TexelClass::Float => Texel::Float(words.map(f32::from_bits)),
        TexelClass::Signed => Texel::Signed(words.map(|word| word as i32)),
        TexelClass::Unsigned => Texel::Unsigned(words),
    })
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
        let info = memory.image_info()?;
        command.wait_for(count, waits)?;
        let texel = color(info, fill_color)?;
        let level = info.level_at(origin)?;
        let region = region_of(info, level, info.origin(origin)?, ffi::triple(region)?)?;
        command.migrate(&memory, Access::Write)?;
        let image = memory.level(command.queue().index(), level)?;
        let filled = command.inner().fill_image_region(&image, region, texel)?;
        command.finish(filled, CL_FALSE)
    })
}

/// Checks that a 1D image does not view the buffer of a copy.
fn check_apart(info: &ImageInfo, buffer: &Memory) -> Result {
    let views = info.parent.as_ref().is_some_and(|parent| std::ptr::eq(&**parent, buffer));
    ensure(!(views && info.desc.kind == ImageKind::Buffer), CL_INVALID_MEM_OBJECT)
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
        let info = source.image_info()?;
        target.check_buffer()?;
        check_apart(info, &target)?;
        command.wait_for(count, waits)?;
        let level = info.level_at(origin)?;
        let (origin, size) = (info.origin(origin)?, ffi::triple(region)?);
        let region = region_of(info, level, origin, size)?;
        let bytes = size.iter().product::<usize>() * info.texel();
        check_range(offset, bytes, target.size)?;
        command.migrate(&source, Access::Read)?;
        command.migrate(&target, Access::Write)?;
        let index = command.queue().index();
        let (image, buffer) =
            (source.level(index, level)?, target.buffer(index)?.slice(offset..offset + bytes)?);
        let copied = command.inner().copy_image_to_buffer(&image, region, &buffer)?;
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
        let info = target.image_info()?;
        check_apart(info, &source)?;
        command.wait_for(count, waits)?;
        let level = info.level_at(origin)?;
        let (origin, size) = (info.origin(origin)?, ffi::triple(region)?);
        let region = region_of(info, level, origin, size)?;
        let bytes = size.iter().product::<usize>() * info.texel();
        check_range(offset, bytes, source.size)?;
        command.migrate(&source, Access::Read)?;
        command.migrate(&target, Access::Write)?;
        let index = command.queue().index();
        let (buffer, image) =
            (source.buffer(index)?.slice(offset..offset + bytes)?, target.level(index, level)?);
        let copied = command.inner().copy_buffer_to_image(&buffer, &image, region)?;
        command.finish(copied, CL_FALSE)
    })
}
