//! Pipes (OpenCL API 5.4).

use std::ffi::c_void;
use std::sync::{Mutex, OnceLock};

use kiln_runtime::extensions::Extension;
use opencl_sys::*;

use crate::context::Context;
use crate::error::{Result, ensure, fail};
use crate::ffi;
use crate::info::{Answer, answer};
use crate::limits;
use crate::memory::{Memory, MemoryKind};
use crate::object;
use crate::residence::Residence;

fn new(context: cl_context, flags: cl_mem_flags, packet_size: u32, max_packets: u32) -> Result<cl_mem> {
    let context = object::get::<Context>(context)?;
    let has_pipes = context.devices().iter().any(|device| device.has(Extension::Pipes));
    ensure(has_pipes, CL_INVALID_OPERATION)?;
    // The host has no access to packets (OpenCL API 5.4.1).
    let allowed = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
    ensure(flags & !allowed == 0, CL_INVALID_VALUE)?;
    let is_valid = packet_size > 0 && packet_size <= limits::PIPE_PACKET_SIZE && max_packets > 0;
    ensure(is_valid, CL_INVALID_PIPE_SIZE)?;
    let homes: Vec<_> = context.devices().iter().map(|_| OnceLock::new()).collect();
    let size = (packet_size as usize).saturating_mul(max_packets as usize);
    // Each device makes an empty pipe.
    let residence = Residence::new(size, homes.len(), None);
    let memory = object::create(|handle| {
        let memory = Memory {
            handle,
            context,
            flags: if flags == 0 { allowed } else { flags },
            properties: Vec::new(),
            host: None,
            size,
            memory_kind: MemoryKind::Pipe { packet_size, max_packets },
            homes,
            residence,
            maps: Mutex::default(),
            spares: None,
            destructors: Mutex::default(),
        };
        // Allocates it on the first device, and returns an error if it is too large.
        memory.pipe(0)?;
        Ok(memory)
    })?;
    Ok(memory.handle.raw())
}

pub(crate) extern "C" fn create(
    context: cl_context,
    flags: cl_mem_flags,
    packet_size: cl_uint,
    max_packets: cl_uint,
    properties: *const cl_pipe_properties,
    error: *mut cl_int,
) -> cl_mem {
    ffi::create(error, || {
        // There are no properties.
        ensure(properties.is_null(), CL_INVALID_VALUE)?;
        new(context, flags, packet_size, max_packets)
    })
}

pub(crate) extern "C" fn get_info(
    pipe: cl_mem,
    name: cl_pipe_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || {
        let (packet_size, max_packets) = object::get::<Memory>(pipe)?.pipe_size()?;
        Ok(match name {
            CL_PIPE_PACKET_SIZE => Answer::from_value(packet_size),
            CL_PIPE_MAX_PACKETS => Answer::from_value(max_packets),
            CL_PIPE_PROPERTIES => Answer::default(),
            _ => return fail(CL_INVALID_VALUE),
        })
    })
}
