//! Shared virtual memory (OpenCL API 5.6), on devices that use the host's addresses.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable;
use kiln_runtime::{Arg, ArgValue, Buffer, Svm};
use opencl_sys::*;

use crate::context::Context;
use crate::error::{Result, ensure, fail};
use crate::ffi::{self, FreeFunction, FreeNotify, Host};
use crate::limits;
use crate::object;
use crate::queue::Queue;
use crate::work::{Submission, check_range};

/// The unit of allocations, with the largest alignment of OpenCL's types.
#[derive(Clone, Copy, bytemuck::Pod, Zeroable)]
#[repr(C, align(128))]
pub(crate) struct Unit([u8; limits::BASE_ALIGNMENT]);

// `repr` takes literals only.
const _: () = assert!(align_of::<Unit>() == limits::BASE_ALIGNMENT);

/// The allocations of a context.
#[derive(Default)]
pub(crate) struct Allocations {
    /// The allocations that are not freed, by their first address.
    live: Mutex<BTreeMap<usize, Arc<Allocation>>>,
}

/// An allocation.
pub(crate) struct Allocation {
    /// Frees the memory when it is dropped.
    _memory: Svm<Unit>,
    buffer: Buffer,
    size: usize,
    /// The index of its device in the context.
    device: usize,
}

impl Allocation {
    /// The size that the application requested.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The index of its device in the context.
    pub(crate) fn device(&self) -> usize {
        self.device
    }

    /// The device's view.
    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

impl Allocations {
    fn live(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Allocation>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The allocation at an address, and the offset in it.
    pub(crate) fn find(&self, pointer: Host) -> Option<(Arc<Allocation>, usize)> {
        let live = self.live();
        let (first, allocation) = live.range(..=pointer.address()).next_back()?;
        let offset = pointer.address() - first;
        (offset < allocation.size).then(|| (allocation.clone(), offset))
    }

    fn free(&self, pointer: Host) -> Option<Arc<Allocation>> {
        self.live().remove(&pointer.address())
    }

    fn allocate(
        &self,
        context: &Context,
        flags: cl_svm_mem_flags,
        size: usize,
        alignment: cl_uint,
    ) -> Option<Host> {
        let atomics = CL_MEM_SVM_ATOMICS;
        let fine = CL_MEM_SVM_FINE_GRAIN_BUFFER;
        let access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
        let is_valid = flags & !(access | fine | atomics) == 0
            && (flags & access).count_ones() <= 1
            && (flags & atomics == 0 || flags & fine != 0);
        let is_alignment = alignment == 0 || alignment.is_power_of_two();
        if !is_valid || !is_alignment || alignment as usize > limits::BASE_ALIGNMENT || size == 0 {
            return None;
        }
        let wanted = [
            (true, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER),
            (flags & fine != 0, CL_DEVICE_SVM_FINE_GRAIN_BUFFER),
            (flags & atomics != 0, CL_DEVICE_SVM_ATOMICS),
        ];
        let bits = wanted.iter().filter(|(is_wanted, _)| *is_wanted).fold(0, |bits, (_, bit)| bits | bit);
        let index = context.devices().iter().position(|device| device.svm() & bits == bits)?;
        let device = &context.devices()[index].open().ok()?.device;
        if size as u64 > device.capabilities().max_allocation {
            return None;
        }
        let mut memory: Svm<Unit> = device.svm(size.div_ceil(size_of::<Unit>())).ok()?;
        // A device can have run out of addresses that the host has free.
        if !memory.same_addresses() {
            return None;
        }
        let first = Host::new(memory.as_mut_ptr());
        let ArgValue::Buffer(buffer) = (&memory).into_value() else { return None };
        let allocation = Allocation { _memory: memory, buffer, size, device: index };
        self.live().insert(first.address(), Arc::new(allocation));
        Some(first)
    }
}

pub(crate) extern "C" fn allocate(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let mut code = CL_SUCCESS;
    ffi::create(&raw mut code, || {
        let context = object::get::<Context>(context)?;
        let pointer = context.svm().allocate(&context, flags, size, alignment);
        pointer.map_or_else(|| fail(CL_MEM_OBJECT_ALLOCATION_FAILURE), |pointer| Ok(pointer.raw()))
    })
}

pub(crate) extern "C" fn free(context: cl_context, pointer: *mut c_void) {
    ffi::call(|| {
        let context = object::get::<Context>(context)?;
        context.svm().free(Host::new(pointer.cast::<u8>()));
        Ok(())
    });
}

/// Checks that the queue's device has shared virtual memory.
fn supported(queue: &Queue) -> Result {
    ensure(queue.device().svm() != 0, CL_INVALID_OPERATION)
}

pub(crate) extern "C" fn enqueue_free(
    queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *mut c_void,
    notify: Option<FreeFunction>,
    data: *mut c_void,
    wait_count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_SVM_FREE, event)?;
        supported(command.queue())?;
        let pointers = ffi::list(pointers.cast_const(), count as usize, CL_INVALID_VALUE)?;
        let pointers: Vec<Host> = pointers.iter().map(|pointer| Host::new(pointer.cast::<u8>())).collect();
        command.wait_for(wait_count, waits)?;
        let notify = FreeNotify::new(notify, data);
        let owner = command.queue().clone();
        let done = command.host(move || {
            match notify {
                Some(notify) => {
                    let raw = object::Object::handle(&*owner).raw();
                    notify.call(raw, &pointers);
                }
                None => pointers.iter().for_each(|pointer| drop(owner.context().svm().free(*pointer))),
            }
            Ok(())
        })?;
        command.finish(done, CL_FALSE)
    })
}

pub(crate) extern "C" fn copy(
    queue: cl_command_queue,
    blocking: cl_bool,
    target: *mut c_void,
    source: *const c_void,
    size: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_SVM_MEMCPY, event)?;
        supported(command.queue())?;
        command.wait_for(count, waits)?;
        ensure(!target.is_null() && !source.is_null(), CL_INVALID_VALUE)?;
        let (target, source) = (Host::new(target.cast::<u8>()), Host::new(source.cast::<u8>()));
        let distance = target.address().abs_diff(source.address());
        ensure(size == 0 || distance >= size, CL_MEM_COPY_OVERLAP)?;
        let done = command.host(move || {
            source.copy_to(target, size);
            Ok(())
        })?;
        command.finish(done, blocking)
    })
}

pub(crate) extern "C" fn fill(
    queue: cl_command_queue,
    target: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_SVM_MEMFILL, event)?;
        supported(command.queue())?;
        command.wait_for(count, waits)?;
        let is_size = pattern_size.is_power_of_two() && pattern_size <= limits::PATTERN;
        ensure(!target.is_null() && !pattern.is_null() && is_size, CL_INVALID_VALUE)?;
        let target = Host::new(target.cast::<u8>());
        let is_aligned = target.address().is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size);
        ensure(is_aligned, CL_INVALID_VALUE)?;
        let pattern = ffi::slice(pattern.cast::<u8>(), pattern_size).repeat(size / pattern_size);
        let done = command.host(move || {
            target.write(&pattern);
            Ok(())
        })?;
        command.finish(done, CL_FALSE)
    })
}

/// Host and device share the memory, so a map only orders the commands.
pub(crate) extern "C" fn map(
    queue: cl_command_queue,
    blocking: cl_bool,
    flags: cl_map_flags,
    pointer: *mut c_void,
    size: usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_SVM_MAP, event)?;
        supported(command.queue())?;
        command.wait_for(count, waits)?;
        ensure(!pointer.is_null() && size > 0, CL_INVALID_VALUE)?;
        crate::map::check_flags(flags)?;
        let mapped = command.inner().nothing()?;
        command.finish(mapped, blocking)
    })
}

pub(crate) extern "C" fn unmap(
    queue: cl_command_queue,
    pointer: *mut c_void,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_SVM_UNMAP, event)?;
        supported(command.queue())?;
        command.wait_for(count, waits)?;
        ensure(!pointer.is_null(), CL_INVALID_VALUE)?;
        let unmapped = command.inner().nothing()?;
        command.finish(unmapped, CL_FALSE)
    })
}

/// Every device can access the memory.
pub(crate) extern "C" fn migrate(
    queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *const c_void,
    sizes: *const usize,
    flags: cl_mem_migration_flags,
    wait_count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_SVM_MIGRATE_MEM, event)?;
        supported(command.queue())?;
        let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        ensure(count > 0 && !pointers.is_null() && flags & !known == 0, CL_INVALID_VALUE)?;
        let context = command.queue().context().clone();
        for (index, &pointer) in ffi::slice(pointers.cast_const(), count as usize).iter().enumerate() {
            let Some((allocation, offset)) = context.svm().find(Host::new(pointer.cast::<u8>())) else {
                return fail(CL_INVALID_VALUE);
            };
            let size = ffi::slice(sizes, if sizes.is_null() { 0 } else { count as usize }).get(index);
            check_range(offset, size.copied().unwrap_or(0), allocation.size)?;
        }
        command.wait_for(wait_count, waits)?;
        let moved = command.inner().nothing()?;
        command.finish(moved, CL_FALSE)
    })
}
