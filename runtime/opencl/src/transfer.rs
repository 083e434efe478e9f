//! Commands on whole ranges of buffers: read, write, copy, fill (OpenCL API 5.2.2).

use std::ffi::c_void;
use std::sync::Arc;

use kiln_runtime::Buffer;
use opencl_sys::*;

use crate::error::{Result, ensure};
use crate::ffi::{self, Host};
use crate::limits;
use crate::memory::Memory;
use crate::residence::Access;
use crate::work::{Submission, check_range};

/// A part of a buffer on the queue's device.
fn part(command: &Submission, memory: &Memory, offset: usize, size: usize) -> Result<Buffer> {
    Ok(memory.buffer(command.queue().index())?.slice(offset..offset + size)?)
}

pub(crate) extern "C" fn read(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    target: *mut c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_READ_BUFFER, event)?;
        let memory = command.memory(buffer)?;
        memory.check_buffer()?;
        ensure(!target.is_null(), CL_INVALID_VALUE)?;
        check_range(offset, size, memory.size)?;
        command.wait_for(count, waits)?;
        memory.host_access(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        if size == 0 {
            return command.finish_nothing(blocking);
        }
        command.migrate(&memory, Access::Read)?;
        let source = part(&command, &memory, offset, size)?;
        let target = Host::new(target.cast::<u8>());
        let done = ffi::read(&command.transfers(blocking), &source, target)?;
        command.finish(done, blocking)
    })
}

pub(crate) extern "C" fn write(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    source: *const c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_WRITE_BUFFER, event)?;
        let memory = command.memory(buffer)?;
        memory.check_buffer()?;
        ensure(!source.is_null(), CL_INVALID_VALUE)?;
        check_range(offset, size, memory.size)?;
        command.wait_for(count, waits)?;
        memory.host_access(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)?;
        if size == 0 {
            return command.finish_nothing(blocking);
        }
        command.migrate(&memory, Access::Write)?;
        let target = part(&command, &memory, offset, size)?;
        let source = Host::new(source.cast::<u8>());
        let written = ffi::write(&command.transfers(blocking), &target, source)?;
        command.finish_write(written, blocking, size)
    })
}

pub(crate) extern "C" fn copy(
    queue: cl_command_queue,
    source: cl_mem,
    target: cl_mem,
    from: usize,
    to: usize,
    size: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_COPY_BUFFER, event)?;
        let (source, target) = (command.memory(source)?, command.memory(target)?);
        source.check_buffer()?;
        target.check_buffer()?;
        check_range(from, size, source.size)?;
        check_range(to, size, target.size)?;
        command.wait_for(count, waits)?;
        if size == 0 {
            return command.finish_nothing(CL_FALSE);
        }
        command.migrate(&source, Access::Read)?;
        command.migrate(&target, Access::Write)?;
        let (source, target) = (part(&command, &source, from, size)?, part(&command, &target, to, size)?);
        let copied = command.inner().copy(&source, &target)?;
        command.finish(copied, CL_FALSE)
    })
}

pub(crate) extern "C" fn fill(
    queue: cl_command_queue,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_FILL_BUFFER, event)?;
        let memory = command.memory(buffer)?;
        memory.check_buffer()?;
        check_range(offset, size, memory.size)?;
        let is_size = pattern_size.is_power_of_two() && pattern_size <= limits::PATTERN;
        ensure(!pattern.is_null() && is_size, CL_INVALID_VALUE)?;
        let is_aligned = offset.is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size);
        ensure(is_aligned, CL_INVALID_VALUE)?;
        command.wait_for(count, waits)?;
        if size == 0 {
            return command.finish_nothing(CL_FALSE);
        }
        command.migrate(&memory, Access::Write)?;
        let target = part(&command, &memory, offset, size)?;
        let filled = command.inner().fill_pattern(&target, ffi::slice(pattern.cast(), pattern_size))?;
        command.finish(filled, CL_FALSE)
    })
}

/// Moves objects to the queue's device in advance of later commands.
pub(crate) extern "C" fn migrate(
    queue: cl_command_queue,
    count: cl_uint,
    memories: *const cl_mem,
    flags: cl_mem_migration_flags,
    wait_count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, event)?;
        ensure(count > 0 && !memories.is_null(), CL_INVALID_VALUE)?;
        ensure(
            flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) == 0,
            CL_INVALID_VALUE,
        )?;
        let handles = ffi::slice(memories, count as usize);
        let memories: Vec<Arc<Memory>> =
            handles.iter().map(|raw| command.memory(*raw)).collect::<Result<_>>()?;
        command.wait_for(wait_count, waits)?;
        if flags & CL_MIGRATE_MEM_OBJECT_HOST == 0 {
            memories.iter().try_for_each(|memory| command.migrate(memory, Access::Read))?;
        }
        command.finish_nothing(CL_FALSE)
    })
}
