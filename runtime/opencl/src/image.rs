//! Images: creation, queries and commands (OpenCL API 5.3).

#[cfg(test)]
mod tests;

use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};

use kiln_runtime::extensions::Extension;
use kiln_runtime::{ImageDesc, ImageKind};
use opencl_sys::*;

use crate::context::Context;
use crate::copy::{Rect, gather};
use crate::error::{Code, Result, ensure, fail};
use crate::ffi;
use crate::format;
use crate::info::{Answer, answer};
use crate::memory::{self, Content, ImageInfo, Memory, MemoryKind, check_flags, host_memory, inherited};
use crate::object;
use crate::residence::Residence;

impl ImageInfo {
    /// The size of a texel in bytes.
    pub(crate) fn texel(&self) -> usize {
        self.desc.format.texel_size() as usize
    }

    /// Whether it has slices: it is 3D or an array.
    pub(crate) fn has_slices(&self) -> bool {
        matches!(self.desc.kind, ImageKind::D3 | ImageKind::D1Array | ImageKind::D2Array)
    }

    /// A level, which `origin` names after the coordinates of the image (cl_khr_mipmap_image).
    pub(crate) fn level_at(&self, origin: *const usize) -> Result<u32> {
        let coordinates = match self.desc.kind {
            ImageKind::D1 | ImageKind::Buffer => 1,
            ImageKind::D1Array | ImageKind::D2 => 2,
            ImageKind::D2Array | ImageKind::D3 => 3,
        };
        if self.desc.levels == 1 {
            return Ok(0);
        }
        let level = match coordinates {
            3 => ffi::load(origin.cast::<[usize; 4]>()).ok_or(Code(CL_INVALID_VALUE))?[3],
            _ => ffi::triple(origin)?[coordinates],
        };
        let level = u32::try_from(level).ok().filter(|level| *level < self.desc.levels);
        level.ok_or(Code(CL_INVALID_MIP_LEVEL))
    }

    /// The coordinates of `origin`.
    pub(crate) fn origin(&self, origin: *const usize) -> Result<[usize; 3]> {
        let mut origin = ffi::triple(origin)?;
        if self.desc.levels > 1 {
            // The level may be among them.
            match self.desc.kind {
                ImageKind::D1 | ImageKind::Buffer => origin[1..].fill(0),
                ImageKind::D1Array | ImageKind::D2 => origin[2] = 0,
                ImageKind::D2Array | ImageKind::D3 => {}
            }
        }
        Ok(origin)
    }

    /// The layout of a region in host memory. The slices of a 1D array are its rows.
    pub(crate) fn rect(&self, size: [usize; 3], row_pitch: usize, slice_pitch: usize) -> Result<Rect> {
        let bytes = size[0] * self.texel();
        if self.desc.kind == ImageKind::D1Array {
            let row_pitch = if slice_pitch == 0 { row_pitch } else { slice_pitch };
            return Rect::new([0; 3], [bytes, size[1], 1], row_pitch, 0);
        }
        Rect::new(
            [0; 3],
            [bytes, size[1], size[2]],
            row_pitch,
            if self.has_slices() { slice_pitch } else { 0 },
        )
    }

    /// The offset of a texel in the application's memory.
    pub(crate) fn offset(&self, origin: [usize; 3]) -> usize {
        let [x, y, z] = origin;
        match self.desc.kind {
            ImageKind::D1Array => x * self.texel() + y * self.slice_pitch,
            _ => x * self.texel() + y * self.row_pitch + z * self.slice_pitch,
        }
    }

    /// The row pitch of a mapping.
    pub(crate) fn host_row_pitch(&self, rect: &Rect) -> usize {
        rect.row_pitch()
    }

    /// The slice pitch of a mapping.
    pub(crate) fn host_slice_pitch(&self, rect: &Rect) -> usize {
        if self.desc.kind == ImageKind::D1Array { rect.row_pitch() } else { rect.slice_pitch() }
    }

    fn info(&self, name: cl_image_info) -> Result<Answer> {
        use ImageKind::{D1, D1Array, D2, D2Array, D3};
        let [width, second, third] = self.desc.size.map(|size| size as usize);
        let kind = self.desc.kind;
        let height = if matches!(kind, D2 | D2Array | D3) { second } else { 0 };
        let layers = match kind {
            D1Array => second,
            D2Array => third,
            _ => 0,
        };
        Ok(match name {
            CL_IMAGE_FORMAT => {
                Answer::list(&[self.format.image_channel_order, self.format.image_channel_data_type])
            }
            CL_IMAGE_ELEMENT_SIZE => Answer::from_value(self.texel()),
            CL_IMAGE_ROW_PITCH => Answer::from_value(self.row_pitch),
            CL_IMAGE_SLICE_PITCH => {
                let has_none = matches!(kind, D1 | D2 | ImageKind::Buffer);
                Answer::from_value(if has_none { 0 } else { self.slice_pitch })
            }
            CL_IMAGE_WIDTH => Answer::from_value(width),
            CL_IMAGE_HEIGHT => Answer::from_value(height),
            CL_IMAGE_DEPTH => Answer::from_value(if kind == D3 { third } else { 0 }),
            CL_IMAGE_ARRAY_SIZE => Answer::from_value(layers),
            CL_IMAGE_BUFFER => {
                let buffer = self.parent.as_ref().filter(|parent| parent.is_buffer());
                let buffer = buffer.map(|buffer| buffer.handle.raw());
                Answer::pointer(buffer.unwrap_or(std::ptr::null_mut()))
            }
            // An image without levels has none, not one.
            CL_IMAGE_NUM_MIP_LEVELS => {
                Answer::from_value(if self.desc.levels == 1 { 0 } else { self.desc.levels })
            }
            CL_IMAGE_NUM_SAMPLES => Answer::from_value(0u32),
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

/// The size of an image, as the runtime counts it; `None` for an invalid description.
fn extent(kind: ImageKind, desc: &cl_image_desc) -> Option<[u32; 3]> {
    let size = |value: usize| u32::try_from(value).ok().filter(|value| *value > 0);
    let [width, height] = [desc.image_width, desc.image_height].map(size);
    Some(match kind {
        ImageKind::D1 | ImageKind::Buffer => [width?, 1, 1],
        ImageKind::D1Array => [width?, size(desc.image_array_size)?, 1],
        ImageKind::D2 => [width?, height?, 1],
        ImageKind::D2Array => [width?, height?, size(desc.image_array_size)?],
        ImageKind::D3 => [width?, height?, size(desc.image_depth)?],
    })
}

/// The pitches of the application's memory (OpenCL API 5.3.1.2).
fn pitches(desc: &cl_image_desc, image: &ImageDesc, has_host: bool) -> Result<(usize, usize)> {
    let invalid = CL_INVALID_IMAGE_DESCRIPTOR;
    let texel = image.format.texel_size() as usize;
    let tight = image.size[0] as usize * texel;
    let (row, slice) = (desc.image_row_pitch, desc.image_slice_pitch);
    let is_of_memory = has_host || !ffi::image_buffer(desc).is_null();
    ensure(is_of_memory || row == 0 && slice == 0, invalid)?;
    ensure(row == 0 || row >= tight && row.is_multiple_of(texel), invalid)?;
    let row = if row == 0 { tight } else { row };
    let rows = if image.kind == ImageKind::D1Array { 1 } else { image.size[1] as usize };
    let has_slices = !matches!(image.kind, ImageKind::D1 | ImageKind::D2 | ImageKind::Buffer);
    ensure(!has_slices || slice == 0 || slice >= row * rows && slice.is_multiple_of(row), invalid)?;
    Ok((row, if slice == 0 || !has_slices { row * rows } else { slice }))
}

/// Checks that a device of the context has images of this size.
fn check_size(context: &Context, image: &ImageDesc) -> Result {
    let fits = context.devices().iter().any(|device| {
        let Some(limits) = device.capabilities().images else { return false };
        let [x, y, z] = image.size;
        match image.kind {
            ImageKind::D1 => x <= limits.max_2d,
            ImageKind::D1Array => x <= limits.max_2d && y <= limits.max_layers,
            ImageKind::Buffer => x <= limits.max_buffer,
            ImageKind::D2 => x.max(y) <= limits.max_2d,
            ImageKind::D2Array => x.max(y) <= limits.max_2d && z <= limits.max_layers,
            ImageKind::D3 => x.max(y).max(z) <= limits.max_3d,
        }
    });
    ensure(fits, CL_INVALID_IMAGE_SIZE)
}

/// The maximum number of levels of an image. The largest images of devices have no more.
const MAX_LEVELS: u32 = 16;

/// Checks a description and converts it.
fn describe(
    context: &Context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    desc: &cl_image_desc,
) -> Result<(cl_image_format, ImageDesc, Option<Arc<Memory>>)> {
    let numbers = ffi::load(format).ok_or(Code(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR))?;
    let format = format::format(numbers).ok_or(Code(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR))?;
    let kind = format::kind(desc.image_type).ok_or(Code(CL_INVALID_IMAGE_DESCRIPTOR))?;
    ensure(desc.num_samples == 0, CL_INVALID_IMAGE_DESCRIPTOR)?;
    let raw = ffi::image_buffer(desc);
    let (is_view, has_parent) = (kind == ImageKind::Buffer, !raw.is_null());
    ensure(is_view == has_parent || kind == ImageKind::D2, CL_INVALID_IMAGE_DESCRIPTOR)?;
    let has_images = context.devices().iter().any(|device| device.has(Extension::Images));
    ensure(has_images, CL_INVALID_OPERATION)?;
    let size = extent(kind, desc).ok_or(Code(CL_INVALID_IMAGE_SIZE))?;
    let image = ImageDesc { kind, format, size, levels: desc.num_mip_levels.max(1) };
    let can_have = !has_parent && image.levels <= MAX_LEVELS;
    ensure(image.levels == 1 || can_have, CL_INVALID_IMAGE_DESCRIPTOR)?;
    check_size(context, &image)?;
    let parent = if has_parent { Some(object::get::<Memory>(raw)?) } else { None };
    if let Some(parent) = &parent {
        ensure(std::ptr::eq(context, &**parent.context()), CL_INVALID_CONTEXT)?;
        match &parent.image_info() {
            Ok(info) => check_image(info, desc, &image)?,
            Err(_) => check_buffer(parent, desc, &image)?,
        }
    }
    ensure(format::is_supported(context, kind, format, flags)?, CL_IMAGE_FORMAT_NOT_SUPPORTED)?;
    Ok((numbers, image, parent))
}

/// Checks the image that a new one views with another channel order (OpenCL API 5.3.1.1).
fn check_image(viewed: &ImageInfo, desc: &cl_image_desc, image: &ImageDesc) -> Result {
    let is_plane = image.kind == ImageKind::D2 && viewed.desc.levels == 1 && viewed.parent.is_none();
    let is_same = viewed.desc == ImageDesc { format: viewed.desc.format, ..*image };
    let [rows, slices] =
        [(desc.image_row_pitch, viewed.row_pitch), (desc.image_slice_pitch, viewed.slice_pitch)]
            .map(|(given, own)| given == 0 || given == own);
    ensure(is_plane && is_same && rows && slices, CL_INVALID_IMAGE_DESCRIPTOR)?;
    ensure(image.format.can_view(viewed.desc.format), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
}

/// Checks the buffer of a new image.
fn check_buffer(buffer: &Memory, desc: &cl_image_desc, image: &ImageDesc) -> Result {
    ensure(buffer.is_buffer(), CL_INVALID_IMAGE_DESCRIPTOR)?;
    let texel = image.format.texel_size() as usize;
    let [width, height, _] = image.size.map(|size| size as usize);
    let tight = width * texel;
    let row = if desc.image_row_pitch == 0 || image.kind == ImageKind::Buffer {
        tight
    } else {
        desc.image_row_pitch
    };
    ensure(row >= tight && row.is_multiple_of(texel), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    let bytes = row.checked_mul(height - 1).and_then(|bytes| bytes.checked_add(tight));
    ensure(bytes.is_some_and(|bytes| bytes <= buffer.size), CL_INVALID_IMAGE_SIZE)
}

fn new(
    context: cl_context,
    properties: Vec<cl_mem_properties>,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    desc: Option<&cl_image_desc>,
    host: *mut c_void,
) -> Result<*mut c_void> {
    let context = object::get::<Context>(context)?;
    check_flags(flags)?;
    let given = desc.ok_or(Code(CL_INVALID_IMAGE_DESCRIPTOR))?;
    let (format, desc, parent) = describe(&context, flags, format, given)?;
    let host = host_memory(flags, host)?;
    // cl_khr_mipmap_image: such an image has no contents at first.
    ensure(host.is_none() || desc.levels == 1, CL_INVALID_HOST_PTR)?;
    let flags = parent.as_ref().map_or(Ok(flags), |parent| inherited(parent.flags, flags))?;
    let (row_pitch, slice_pitch) = pitches(given, &desc, host.is_some())?;
    let info = ImageInfo { desc, format, row_pitch, slice_pitch, parent };
    let homes: Vec<OnceLock<Content>> = context.devices().iter().map(|_| OnceLock::new()).collect();
    let device = &context.devices()[0].open()?.device;
    if let Some(host) = host {
        let size = desc.size.map(|size| size as usize);
        let rect = info.rect(size, row_pitch, slice_pitch)?;
        // The cell is new and empty.
        let _ = homes[0].set(Content::Image(device.image_from(&desc, &gather(host, &rect))?.into()));
    }
    let size = desc.bytes() as usize;
    let created = object::create(|handle| {
        let memory = Memory {
            handle,
            context,
            flags,
            properties,
            host: host.filter(|_| flags & CL_MEM_USE_HOST_PTR != 0),
            size,
            memory_kind: MemoryKind::Image(info),
            residence: Residence::new(size, homes.len(), host.map(|_| 0)),
            homes,
            maps: Mutex::default(),
            spares: None,
            destructors: Mutex::default(),
        };
        // The memory is allocated now, so that its failure is an error of this function.
        memory.image(0)?;
        Ok(memory)
    })?;
    Ok(created.handle.raw())
}

pub(crate) extern "C" fn create(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    desc: *const cl_image_desc,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || new(context, Vec::new(), flags, format, ffi::load(desc).as_ref(), host))
}

pub(crate) extern "C" fn create_with_properties(
    context: cl_context,
    list: *const cl_mem_properties,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    desc: *const cl_image_desc,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || {
        new(context, memory::properties(list)?, flags, format, ffi::load(desc).as_ref(), host)
    })
}

pub(crate) extern "C" fn create_2d(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    row_pitch: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || {
        let mut desc = ffi::empty_image_desc();
        desc.image_type = CL_MEM_OBJECT_IMAGE2D;
        (desc.image_width, desc.image_height, desc.image_row_pitch) = (width, height, row_pitch);
        new(context, Vec::new(), flags, format, Some(&desc), host)
    })
}

pub(crate) extern "C" fn create_3d(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || {
        let mut desc = ffi::empty_image_desc();
        desc.image_type = CL_MEM_OBJECT_IMAGE3D;
        (desc.image_width, desc.image_height, desc.image_depth) = (width, height, depth);
        (desc.image_row_pitch, desc.image_slice_pitch) = (row_pitch, slice_pitch);
        new(context, Vec::new(), flags, format, Some(&desc), host)
    })
}

pub(crate) extern "C" fn get_info(
    image: cl_mem,
    name: cl_image_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Memory>(image)?.image_info()?.info(name))
}
