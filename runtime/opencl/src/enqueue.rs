//! Commands without memory objects: markers, barriers, native kernels (OpenCL API 5.10, 5.12).

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::*;

use crate::error::{Code, Result, ensure, fail};
use crate::ffi::{self, Host, Native};
use crate::memory::Memory;
use crate::residence::Access;
use crate::svm::Unit;
use crate::work::Submission;

pub(crate) extern "C" fn marker_with_waits(
    queue: cl_command_queue,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_MARKER, event)?;
        command.wait_for(count, waits)?;
        let marker = command.inner().marker()?;
        command.finish(marker, CL_FALSE)
    })
}

pub(crate) extern "C" fn barrier_with_waits(
    queue: cl_command_queue,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_BARRIER, event)?;
        command.wait_for(count, waits)?;
        let barrier = command.inner().barrier()?;
        command.finish(barrier, CL_FALSE)
    })
}

pub(crate) extern "C" fn marker(queue: cl_command_queue, event: *mut cl_event) -> cl_int {
    ffi::call(|| {
        let command = Submission::new(queue, CL_COMMAND_MARKER, event)?;
        ensure(!event.is_null(), CL_INVALID_VALUE)?;
        let marker = command.inner().marker()?;
        command.finish(marker, CL_FALSE)
    })
}

pub(crate) extern "C" fn barrier(queue: cl_command_queue) -> cl_int {
    ffi::call(|| {
        let command = Submission::new(queue, CL_COMMAND_BARRIER, std::ptr::null_mut())?;
        let barrier = command.inner().barrier()?;
        command.finish(barrier, CL_FALSE)
    })
}

/// Later commands wait for the events.
pub(crate) extern "C" fn wait_for_events(
    queue: cl_command_queue,
    count: cl_uint,
    events: *const cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_BARRIER, std::ptr::null_mut())?;
        ensure(count > 0 && !events.is_null(), CL_INVALID_VALUE)?;
        command.wait_for(count, events).map_err(|code| match code {
            Code(CL_INVALID_EVENT_WAIT_LIST) => Code(CL_INVALID_EVENT),
            other => other,
        })?;
        let barrier = command.inner().barrier()?;
        command.finish(barrier, CL_FALSE)
    })
}

/// The arguments of a native kernel: a copy of the application's block.
struct Block {
    words: Vec<u64>,
    /// The byte offsets of memory objects in the block.
    offsets: Vec<usize>,
}

impl Block {
    fn new(arguments: *mut c_void, size: usize, locations: &[*const c_void]) -> Result<Self> {
        let mut words = vec![0u64; size.div_ceil(size_of::<u64>())];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        bytes[..size].copy_from_slice(ffi::slice(arguments.cast_const().cast(), size));
        let offset = |location: &*const c_void| {
            let offset = location.addr().checked_sub(arguments.addr());
            offset.filter(|offset| offset + size_of::<usize>() <= size).ok_or(Code(CL_INVALID_VALUE))
        };
        let offsets = locations.iter().map(offset).collect::<Result<_>>()?;
        Ok(Self { words, offsets })
    }

    fn store_pointer(&mut self, index: usize, pointer: Host) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let offset = self.offsets[index];
        bytes[offset..offset + size_of::<usize>()].copy_from_slice(&pointer.address().to_ne_bytes());
    }
}

/// The buffers of a native kernel.
#[derive(Default)]
struct Buffers {
    /// Each buffer once.
    memories: Vec<Arc<Memory>>,
    /// For each handle of the application, its index in `memories`; none for null.
    places: Vec<Option<usize>>,
}

impl Buffers {
    fn new(command: &mut Submission, handles: &[cl_mem]) -> Result<Self> {
        let mut buffers = Self::default();
        for &raw in handles {
            let place = if raw.is_null() { None } else { Some(buffers.place(command.memory(raw)?)?) };
            buffers.places.push(place);
        }
        Ok(buffers)
    }

    fn place(&mut self, memory: Arc<Memory>) -> Result<usize> {
        memory.check_buffer()?;
        let known = self.memories.iter().position(|known| Arc::ptr_eq(known, &memory));
        Ok(known.unwrap_or_else(|| {
            self.memories.push(memory);
            self.memories.len() - 1
        }))
    }
}

/// Runs a function of the application on copies of the memory objects, and writes the copies back.
pub(crate) extern "C" fn native_kernel(
    queue: cl_command_queue,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    arguments: *mut c_void,
    size: usize,
    memory_count: cl_uint,
    memories: *const cl_mem,
    locations: *mut *const c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_NATIVE_KERNEL, event)?;
        let Some(function) = function.map(Native) else { return fail(CL_INVALID_VALUE) };
        ensure(arguments.is_null() == (size == 0), CL_INVALID_VALUE)?;
        ensure(!arguments.is_null() || memory_count == 0, CL_INVALID_VALUE)?;
        let handles = ffi::list(memories, memory_count as usize, CL_INVALID_VALUE)?;
        let locations = ffi::list(locations.cast_const(), memory_count as usize, CL_INVALID_VALUE)?;
        let Buffers { memories, places } = Buffers::new(&mut command, handles)?;
        command.wait_for(count, waits)?;
        memories.iter().try_for_each(|memory| command.migrate(memory, Access::Write))?;
        let mut block = Block::new(arguments, size, locations)?;
        let index = command.queue().index();
        let buffers = memories.iter().map(|memory| memory.buffer(index)).collect::<Result<Vec<_>>>()?;
        let transfers = command.queue().opened()?.transfers.clone();
        let done = command.host(move || {
            let mut copies = Vec::with_capacity(buffers.len());
            for buffer in &buffers {
                let bytes = transfers.read(buffer)?;
                let mut copy: Vec<Unit> =
                    vec![bytemuck::Zeroable::zeroed(); bytes.len().div_ceil(size_of::<Unit>())];
                let pointer = Host::new(copy.as_mut_ptr());
                pointer.write(&bytes);
                copies.push((copy, pointer));
            }
            for (index, place) in places.iter().enumerate() {
                let pointer = place.map_or(Host::new(std::ptr::null::<u8>()), |place| copies[place].1);
                block.store_pointer(index, pointer);
            }
            function.call(&mut block.words);
            for (buffer, (copy, pointer)) in buffers.iter().zip(copies) {
                transfers.write(buffer, pointer.bytes(buffer.bytes() as usize))?.wait()?;
                drop(copy);
            }
            Ok(())
        })?;
        command.finish(done, CL_FALSE)
    })
}
