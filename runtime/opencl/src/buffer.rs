//! Buffers and sub-buffers (OpenCL API 5.2.1).

use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};

use opencl_sys::*;

use crate::context::Context;
use crate::error::{Code, Result, ensure, fail};
use crate::ffi;
use crate::limits;
use crate::memory::{Content, Memory, MemoryKind, check_flags, host_memory, inherited, properties, spares};
use crate::object;
use crate::residence::Residence;
use crate::work::check_range;

fn new(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host: *mut c_void,
    properties: Vec<cl_mem_properties>,
) -> Result<*mut c_void> {
    let context = object::get::<Context>(context)?;
    check_flags(flags)?;
    let largest = context.devices().iter().map(|device| device.capabilities().max_allocation).max();
    ensure(size > 0 && size as u64 <= largest.unwrap_or(0), CL_INVALID_BUFFER_SIZE)?;
    let host = host_memory(flags, host)?;
    let homes: Vec<OnceLock<Content>> = context.devices().iter().map(|_| OnceLock::new()).collect();
    let shared = host.filter(|_| flags & CL_MEM_USE_HOST_PTR != 0).and_then(|host| context.svm().find(host));
    let svm = shared.as_ref().map(|(allocation, _)| allocation.device());
    // One device has the contents until another one uses the buffer.
    let first = svm.unwrap_or(0);
    let device = &context.devices()[first];
    let content = match (shared, host) {
        (Some((allocation, offset)), _) => {
            check_range(offset, size, allocation.size()).map_err(|_| Code(CL_INVALID_BUFFER_SIZE))?;
            allocation.buffer().slice(offset..offset + size)?
        }
        (None, Some(host)) => device.buffer(size, Some(host.bytes(size)))?,
        (None, None) => device.buffer(size, None)?,
    };
    // The cell is new and empty.
    let _ = homes[first].set(Content::Buffer(content));
    let memory = object::create(|handle| {
        Ok(Memory {
            handle,
            context,
            flags,
            properties,
            host: host.filter(|_| flags & CL_MEM_USE_HOST_PTR != 0),
            size,
            memory_kind: MemoryKind::Buffer { svm },
            residence: Residence::new(size, homes.len(), host.map(|_| first)),
            homes,
            maps: Mutex::default(),
            spares: spares(flags),
            destructors: Mutex::default(),
        })
    })?;
    Ok(memory.handle.raw())
}

pub(crate) extern "C" fn create(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || new(context, flags, size, host, Vec::new()))
}

pub(crate) extern "C" fn create_with_properties(
    context: cl_context,
    list: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || new(context, flags, size, host, properties(list)?))
}

/// Checks the region of a sub-buffer: inside the buffer, and aligned for a device of the context.
fn check_region(parent: &Memory, region: cl_buffer_region) -> Result {
    check_range(region.origin, region.size, parent.size)?;
    ensure(region.size > 0, CL_INVALID_BUFFER_SIZE)?;
    ensure(region.origin.is_multiple_of(limits::BASE_ALIGNMENT), CL_MISALIGNED_SUB_BUFFER_OFFSET)
}

pub(crate) extern "C" fn create_part(
    buffer: cl_mem,
    flags: cl_mem_flags,
    kind: cl_buffer_create_type,
    region: *const c_void,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || {
        let parent: Arc<Memory> = object::get(buffer)?;
        ensure(matches!(parent.memory_kind, MemoryKind::Buffer { .. }), CL_INVALID_MEM_OBJECT)?;
        check_flags(flags)?;
        let flags = inherited(parent.flags, flags)?;
        if kind != CL_BUFFER_CREATE_TYPE_REGION {
            return fail(CL_INVALID_VALUE);
        }
        let region = ffi::load(region.cast::<cl_buffer_region>()).ok_or(Code(CL_INVALID_VALUE))?;
        check_region(&parent, region)?;
        let memory = object::create(|handle| {
            Ok(Memory {
                handle,
                context: parent.context.clone(),
                flags,
                properties: Vec::new(),
                host: parent.host.map(|host| host.at(region.origin)),
                size: region.size,
                memory_kind: MemoryKind::Part { origin: region.origin, parent },
                homes: Vec::new(),
                // Its parent owns the memory.
                residence: Residence::new(region.size, 1, None),
                maps: Mutex::default(),
                spares: spares(flags),
                destructors: Mutex::default(),
            })
        })?;
        Ok(memory.handle.raw())
    })
}
