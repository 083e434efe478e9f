//! Memory objects: the common part of buffers, images and pipes (OpenCL API 5.5).

use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use kiln_runtime::{Buffer, Device, Image, ImageDesc, ImageKind, Pipe};
use opencl_sys::*;

use crate::context::Context;
use crate::error::{Code, Result, ensure, fail};
use crate::ffi::{self, Host, Notify};
use crate::info::{Answer, answer};
use crate::map::Map;
use crate::object::{self, Handle, Object};
use crate::pinned::Spares;
use crate::residence::{self, Access, Residence, Use};

/// A memory object.
pub(crate) struct Memory {
    pub(crate) handle: Handle,
    pub(crate) context: Arc<Context>,
    pub(crate) flags: cl_mem_flags,
    pub(crate) properties: Vec<cl_mem_properties>,
    /// The application's pointer, with `CL_MEM_USE_HOST_PTR`.
    pub(crate) host: Option<Host>,
    /// The size in bytes.
    pub(crate) size: usize,
    pub(crate) memory_kind: MemoryKind,
    /// The memory on each device of the context that has used it.
    pub(crate) homes: Vec<OnceLock<Content>>,
    /// The devices that have the newest contents, of an object that owns its memory.
    pub(crate) residence: Arc<Residence>,
    pub(crate) maps: Mutex<Vec<Map>>,
    /// Memory for mappings of a buffer with `CL_MEM_ALLOC_HOST_PTR`. Those of other buffers use the context's.
    pub(crate) spares: Option<Arc<Spares>>,
    pub(crate) destructors: Mutex<Vec<Notify>>,
}

/// The kind of a memory object.
pub(crate) enum MemoryKind {
    /// A buffer.
    Buffer {
        /// The index of the device whose shared virtual memory it views.
        svm: Option<usize>,
    },
    /// A part of a buffer.
    Part {
        /// The buffer.
        parent: Arc<Memory>,
        /// The offset in the buffer.
        origin: usize,
    },
    /// An image.
    Image(ImageInfo),
    /// A pipe.
    Pipe {
        /// The size of a packet in bytes.
        packet_size: u32,
        /// The maximum number of packets.
        max_packets: u32,
    },
}

/// The description of an image.
pub(crate) struct ImageInfo {
    pub(crate) desc: ImageDesc,
    /// The format, as the application gave it.
    pub(crate) format: cl_image_format,
    /// The row pitch of the application's memory.
    pub(crate) row_pitch: usize,
    /// The slice pitch of the application's memory.
    pub(crate) slice_pitch: usize,
    /// The buffer or the image that it views, if any.
    pub(crate) parent: Option<Arc<Memory>>,
}

/// Memory of a device.
#[derive(Clone)]
pub(crate) enum Content {
    /// A buffer.
    Buffer(Buffer),
    /// An image.
    Image(Levels),
    /// A pipe.
    Pipe(Pipe),
}

/// An image of a device with all levels that the application asked for.
///
/// A device has no level after one of a single texel, but OpenCL does not forbid such levels, and Khronos' tests of
/// commands on images use them. Each is an image of its own here: commands reach it, kernels do not.
#[derive(Clone)]
pub(crate) struct Levels {
    /// The image that kernels get.
    image: Image,
    /// The levels that it does not have.
    further: Vec<Image>,
}

impl Levels {
    fn new(device: &Device, desc: &ImageDesc) -> kiln_runtime::Result<Self> {
        let own = desc.levels.min(desc.max_levels());
        let image = device.image(&desc.with_levels(own))?;
        let further = (own..desc.levels).map(|level| device.image(&desc.level(level)));
        Ok(Self { image, further: further.collect::<kiln_runtime::Result<_>>()? })
    }

    pub(crate) fn level(&self, level: u32) -> kiln_runtime::Result<Image> {
        let after = level.checked_sub(self.image.desc().levels);
        match after.and_then(|at| self.further.get(at as usize)) {
            Some(image) => Ok(image.clone()),
            None => self.image.level(level),
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.image.desc().levels + self.further.len() as u32
    }
}

impl From<Image> for Levels {
    fn from(image: Image) -> Self {
        Self { image, further: Vec::new() }
    }
}

impl Object for Memory {
    const INVALID: cl_int = CL_INVALID_MEM_OBJECT;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Memory {
    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The buffer on a device; fails with `CL_INVALID_MEM_OBJECT` for an image.
    pub(crate) fn buffer(&self, index: usize) -> Result<Buffer> {
        match &self.memory_kind {
            MemoryKind::Part { parent, origin } => {
                Ok(parent.buffer(index)?.slice(*origin..*origin + self.size)?)
            }
            _ => match self.content(index)? {
                Content::Buffer(buffer) => Ok(buffer.clone()),
                Content::Image(_) | Content::Pipe(_) => fail(CL_INVALID_MEM_OBJECT),
            },
        }
    }

    /// The image on a device; fails with `CL_INVALID_MEM_OBJECT` for a buffer.
    pub(crate) fn image(&self, index: usize) -> Result<Image> {
        Ok(self.levels(index)?.image.clone())
    }

    /// A level of the image on a device; fails with `CL_INVALID_MEM_OBJECT` for a buffer.
    pub(crate) fn level(&self, index: usize, level: u32) -> Result<Image> {
        Ok(self.levels(index)?.level(level)?)
    }

    fn levels(&self, index: usize) -> Result<&Levels> {
        self.image_info()?;
        match self.content(index)? {
            Content::Image(levels) => Ok(levels),
            Content::Buffer(_) | Content::Pipe(_) => fail(CL_INVALID_MEM_OBJECT),
        }
    }

    /// The pipe on a device; fails with `CL_INVALID_MEM_OBJECT` for other objects.
    pub(crate) fn pipe(&self, index: usize) -> Result<Pipe> {
        self.pipe_size()?;
        match self.content(index)? {
            Content::Pipe(pipe) => Ok(pipe.clone()),
            Content::Buffer(_) | Content::Image(_) => fail(CL_INVALID_MEM_OBJECT),
        }
    }

    /// The size of a packet and the maximum number of packets; fails with `CL_INVALID_MEM_OBJECT` for other objects.
    pub(crate) fn pipe_size(&self) -> Result<(u32, u32)> {
        match self.memory_kind {
            MemoryKind::Pipe { packet_size, max_packets } => Ok((packet_size, max_packets)),
            _ => fail(CL_INVALID_MEM_OBJECT),
        }
    }

    /// The description of the image; fails with `CL_INVALID_MEM_OBJECT` for a buffer.
    pub(crate) fn image_info(&self) -> Result<&ImageInfo> {
        match &self.memory_kind {
            MemoryKind::Image(info) => Ok(info),
            _ => fail(CL_INVALID_MEM_OBJECT),
        }
    }

    /// Whether it is a buffer or a part of one.
    pub(crate) fn is_buffer(&self) -> bool {
        matches!(self.memory_kind, MemoryKind::Buffer { .. } | MemoryKind::Part { .. })
    }

    /// Checks that it is a buffer.
    pub(crate) fn check_buffer(&self) -> Result {
        ensure(self.is_buffer(), CL_INVALID_MEM_OBJECT)
    }

    fn content(&self, index: usize) -> Result<&Content> {
        let home = self.homes.get(index).ok_or(Code(CL_INVALID_CONTEXT))?;
        if let Some(content) = home.get() {
            return Ok(content);
        }
        let owner = &self.context.devices()[index];
        let device = &owner.open()?.device;
        let made = match &self.memory_kind {
            MemoryKind::Image(ImageInfo { desc, parent: Some(parent), .. }) if !parent.is_buffer() => {
                Content::Image(device.image_of_image(&parent.image(index)?, desc.format)?.into())
            }
            MemoryKind::Image(ImageInfo { desc, row_pitch, parent: Some(parent), .. }) => {
                let texels = parent.buffer(index)?;
                if desc.kind == ImageKind::D2 {
                    let size = [desc.size[0], desc.size[1]];
                    let pitch = *row_pitch as u64;
                    Content::Image(device.buffer_image_2d(&texels, desc.format, size, pitch)?.into())
                } else {
                    let bytes = desc.bytes() as usize;
                    Content::Image(device.buffer_image(&texels.slice(..bytes)?, desc.format)?.into())
                }
            }
            MemoryKind::Image(info) => Content::Image(Levels::new(device, &info.desc)?),
            MemoryKind::Pipe { packet_size, max_packets } => {
                Content::Pipe(device.pipe(*packet_size, *max_packets)?)
            }
            _ => Content::Buffer(owner.buffer(self.size, None)?),
        };
        Ok(home.get_or_init(|| made))
    }

    /// The object that owns this one's memory.
    pub(crate) fn root(self: &Arc<Self>) -> &Arc<Self> {
        match &self.memory_kind {
            MemoryKind::Part { parent, .. } => parent.root(),
            MemoryKind::Image(ImageInfo { parent: Some(parent), .. }) => parent.root(),
            _ => self,
        }
    }

    /// The index of the device whose shared virtual memory it views.
    pub(crate) fn svm(&self) -> Option<usize> {
        match &self.memory_kind {
            MemoryKind::Buffer { svm } => *svm,
            MemoryKind::Part { parent, .. } => parent.svm(),
            _ => None,
        }
    }

    /// Its bytes in the object that owns its memory.
    fn range(&self) -> Range<usize> {
        match &self.memory_kind {
            MemoryKind::Part { origin, .. } => *origin..*origin + self.size,
            MemoryKind::Image(ImageInfo { parent: Some(parent), .. }) => parent.range(),
            _ => 0..self.size,
        }
    }

    /// Announces that a command on a device uses the contents.
    pub(crate) fn announce(self: &Arc<Self>, index: usize, access: Access) -> Result<Use> {
        let root = self.root();
        // The memory is allocated now, so that its failure is an error of the command.
        root.content(index)?;
        Ok(residence::announce(root, self.range(), index, access))
    }

    /// The mapped regions.
    pub(crate) fn maps(&self) -> MutexGuard<'_, Vec<Map>> {
        self.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The flags for the host's access, of the parent too.
    pub(crate) fn host_access(&self, forbidden: cl_mem_flags) -> Result {
        ensure(self.flags & forbidden == 0, CL_INVALID_OPERATION)
    }

    /// `CL_MEM_TYPE`
    pub(crate) fn kind(&self) -> cl_mem_object_type {
        match &self.memory_kind {
            MemoryKind::Buffer { .. } | MemoryKind::Part { .. } => CL_MEM_OBJECT_BUFFER,
            MemoryKind::Pipe { .. } => CL_MEM_OBJECT_PIPE,
            MemoryKind::Image(info) => match info.desc.kind {
                ImageKind::D1 => CL_MEM_OBJECT_IMAGE1D,
                ImageKind::D1Array => CL_MEM_OBJECT_IMAGE1D_ARRAY,
                ImageKind::Buffer => CL_MEM_OBJECT_IMAGE1D_BUFFER,
                ImageKind::D2 => CL_MEM_OBJECT_IMAGE2D,
                ImageKind::D2Array => CL_MEM_OBJECT_IMAGE2D_ARRAY,
                ImageKind::D3 => CL_MEM_OBJECT_IMAGE3D,
            },
        }
    }

    fn info(&self, name: cl_mem_info) -> Result<Answer> {
        let (associated, origin, is_svm) = match &self.memory_kind {
            MemoryKind::Part { parent, origin } => (parent.handle.raw(), *origin, parent.svm().is_some()),
            MemoryKind::Image(ImageInfo { parent: Some(parent), .. }) => (parent.handle.raw(), 0, false),
            MemoryKind::Buffer { svm } => (std::ptr::null_mut(), 0, svm.is_some()),
            MemoryKind::Image(_) | MemoryKind::Pipe { .. } => (std::ptr::null_mut(), 0, false),
        };
        Ok(match name {
            CL_MEM_TYPE => Answer::from_value(self.kind()),
            CL_MEM_FLAGS => Answer::from_value(self.flags),
            CL_MEM_SIZE => Answer::from_value(self.size),
            CL_MEM_HOST_PTR => Answer::pointer(self.host.map_or(std::ptr::null_mut(), |host| host.raw())),
            CL_MEM_MAP_COUNT => Answer::from_value(self.maps().len() as cl_uint),
            CL_MEM_REFERENCE_COUNT => Answer::from_value(object::count(&self.handle)),
            CL_MEM_CONTEXT => Answer::pointer(self.context.handle().raw()),
            CL_MEM_ASSOCIATED_MEMOBJECT => Answer::pointer(associated),
            CL_MEM_OFFSET => Answer::from_value(origin),
            CL_MEM_USES_SVM_POINTER => Answer::flag(is_svm),
            CL_MEM_PROPERTIES => Answer::list(&self.properties),
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let destructors = std::mem::take(self.destructors.get_mut().unwrap_or_else(PoisonError::into_inner));
        // In the reverse order of registration (OpenCL API 5.5.4).
        destructors.into_iter().rev().for_each(|notify| notify.call(self.handle.raw()));
    }
}

const KERNEL_ACCESS: cl_mem_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
const HOST_ACCESS: cl_mem_flags = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
const HOST_MEMORY: cl_mem_flags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// Checks flags (OpenCL API, table 12).
pub(crate) fn check_flags(flags: cl_mem_flags) -> Result {
    let known = KERNEL_ACCESS | HOST_ACCESS | HOST_MEMORY | CL_MEM_KERNEL_READ_AND_WRITE;
    let is_one_or_none = |mask: cl_mem_flags| (flags & mask).count_ones() <= 1;
    let uses = flags & CL_MEM_USE_HOST_PTR != 0;
    let others = flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    let is_valid = flags & !known == 0
        && is_one_or_none(KERNEL_ACCESS)
        && is_one_or_none(HOST_ACCESS)
        && !(uses && others);
    ensure(is_valid, CL_INVALID_VALUE)
}

/// The application's memory, which must be passed exactly if the flags name it.
pub(crate) fn host_memory(flags: cl_mem_flags, host: *mut c_void) -> Result<Option<Host>> {
    let is_wanted = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    ensure(host.is_null() != is_wanted, CL_INVALID_HOST_PTR)?;
    Ok(is_wanted.then(|| Host::new(host.cast::<u8>())))
}

/// The flags of an object that views another (OpenCL API 5.2.1): unspecified flags are inherited, and forbidden
/// accesses remain forbidden.
pub(crate) fn inherited(parent: cl_mem_flags, flags: cl_mem_flags) -> Result<cl_mem_flags> {
    let is = |set: cl_mem_flags, bits: cl_mem_flags| set & bits != 0;
    let denied = is(parent, CL_MEM_WRITE_ONLY) && is(flags, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)
        || is(parent, CL_MEM_READ_ONLY) && is(flags, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)
        || is(flags, HOST_MEMORY)
        || is(parent, CL_MEM_HOST_WRITE_ONLY) && is(flags, CL_MEM_HOST_READ_ONLY)
        || is(parent, CL_MEM_HOST_READ_ONLY) && is(flags, CL_MEM_HOST_WRITE_ONLY)
        || is(parent, CL_MEM_HOST_NO_ACCESS) && is(flags, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY);
    ensure(!denied, CL_INVALID_VALUE)?;
    let or = |mask: cl_mem_flags| if is(flags, mask) { flags & mask } else { parent & mask };
    Ok(or(KERNEL_ACCESS) | or(HOST_ACCESS) | parent & HOST_MEMORY)
}

/// The memory that a buffer with these flags keeps for its mappings.
pub(crate) fn spares(flags: cl_mem_flags) -> Option<Arc<Spares>> {
    (flags & CL_MEM_ALLOC_HOST_PTR != 0).then(Spares::of_object)
}

/// A property list of a new memory object, as the query for it returns it. No properties exist.
pub(crate) fn properties(first: *const cl_mem_properties) -> Result<Vec<cl_mem_properties>> {
    match ffi::properties(first) {
        None => Ok(Vec::new()),
        Some(pairs) if pairs.is_empty() => Ok(vec![0]),
        Some(_) => fail(CL_INVALID_PROPERTY),
    }
}

pub(crate) extern "C" fn retain(memory: cl_mem) -> cl_int {
    ffi::call(|| object::retain::<Memory>(memory))
}

pub(crate) extern "C" fn release(memory: cl_mem) -> cl_int {
    ffi::call(|| object::release::<Memory>(memory).map(drop))
}

pub(crate) extern "C" fn get_info(
    memory: cl_mem,
    name: cl_mem_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Memory>(memory)?.info(name))
}

pub(crate) extern "C" fn set_destructor_callback(
    memory: cl_mem,
    notify: Option<unsafe extern "C" fn(cl_mem, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    ffi::call(|| {
        let memory = object::get::<Memory>(memory)?;
        let Some(notify) = Notify::new(notify, data)? else { return fail(CL_INVALID_VALUE) };
        memory.destructors.lock().unwrap_or_else(PoisonError::into_inner).push(notify);
        Ok(())
    })
}
