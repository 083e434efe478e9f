//! Command-queues (OpenCL API 5.1, 5.15).

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kiln_runtime::extensions::Extension;
use kiln_runtime::{DeviceQueue, Event, QueueOptions, QueueOrder, Status};
use opencl_sys::*;

use crate::context::Context;
use crate::device::{Device, Opened};
use crate::error::{Result, ensure, fail};
use crate::ffi;
use crate::info::{Answer, answer};
use crate::object::{self, Handle, Object};

/// Objects that a command uses, which live until it has ended.
pub(crate) type KeepAlive = Vec<Arc<dyn Any + Send + Sync>>;

/// The number of commands after which ended ones are removed.
const SWEEP: usize = 64;
/// The maximum number of bytes of blocking writes that are not waited for. They use memory until the device has them.
const MAX_PENDING_WRITES: usize = 16 << 20;

/// A command-queue.
pub(crate) struct Queue {
    handle: Handle,
    context: Arc<Context>,
    device: Arc<Device>,
    index: usize,
    bits: cl_command_queue_properties,
    properties: Vec<cl_queue_properties>,
    /// The commands of the host.
    queue: kiln_runtime::Queue,
    /// Set if it is a queue of the device, which has no commands of the host.
    on_device: Option<DeviceQueue>,
    pending: Pending,
}

/// The commands that may not have ended yet.
#[derive(Default)]
struct Pending {
    commands: Mutex<VecDeque<(Event, KeepAlive)>>,
    /// The bytes of blocking writes since one was waited for.
    written: AtomicUsize,
}

impl Object for Queue {
    const INVALID: cl_int = CL_INVALID_COMMAND_QUEUE;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Queue {
    fn create(
        context: cl_context,
        device: cl_device_id,
        bits: cl_command_queue_properties,
        size: Option<cl_uint>,
        properties: Vec<cl_queue_properties>,
    ) -> Result<*mut c_void> {
        let context = object::get::<Context>(context)?;
        let device = object::get::<Device>(device)?;
        let index = context.index_of(&device)?;
        let known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
        let on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
        ensure(bits & !(known | on_device) == 0, CL_INVALID_VALUE)?;
        if bits & on_device != 0 {
            return Self::create_on_device(&context, device, (bits, size), properties);
        }
        // Only queues of the device have a size.
        ensure(size.is_none(), CL_INVALID_VALUE)?;
        let is_unordered = bits & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0;
        let order = if is_unordered { QueueOrder::OutOfOrder } else { QueueOrder::InOrder };
        let options = QueueOptions { order, profiling: bits & CL_QUEUE_PROFILING_ENABLE != 0 };
        let queue = device.open()?.device.queue_with(options)?;
        let queue = object::create(|handle| {
            let (pending, on_device) = (Pending::default(), None);
            Ok(Self { handle, context, device, index, bits, properties, queue, on_device, pending })
        })?;
        Ok(queue.handle.raw())
    }

    /// A queue of the device (OpenCL API 5.1): out of order, with a size. There is one default queue for each device of a
    /// context.
    fn create_on_device(
        context: &Arc<Context>,
        device: Arc<Device>,
        (bits, size): (cl_command_queue_properties, Option<cl_uint>),
        properties: Vec<cl_queue_properties>,
    ) -> Result<*mut c_void> {
        let is_default = bits & CL_QUEUE_ON_DEVICE_DEFAULT != 0;
        let needed = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        ensure(bits & needed == needed, CL_INVALID_VALUE)?;
        ensure(device.has(Extension::DeviceEnqueue), CL_INVALID_QUEUE_PROPERTIES)?;
        let size = size.unwrap_or(DeviceQueue::PREFERRED_SIZE);
        ensure(size > 0 && size <= DeviceQueue::MAX_SIZE, CL_INVALID_QUEUE_PROPERTIES)?;
        let index = context.index_of(&device)?;
        if let Some(known) = context.default_queue(index).filter(|_| is_default) {
            object::retain::<Self>(known.handle.raw())?;
            return Ok(known.handle.raw());
        }
        let queue = device.open()?.transfers.clone();
        let queue = object::create(|handle| {
            let (context, on_device) = (context.clone(), Some(DeviceQueue::new(size)));
            let pending = Pending::default();
            Ok(Self { handle, context, device, index, bits, properties, queue, on_device, pending })
        })?;
        if is_default {
            context.set_default_queue(&queue);
        }
        Ok(queue.handle.raw())
    }

    /// The queue of a handle, to which the host can enqueue commands.
    pub(crate) fn of_host(raw: cl_command_queue) -> Result<Arc<Self>> {
        let queue = object::get::<Self>(raw)?;
        ensure(queue.on_device.is_none(), CL_INVALID_COMMAND_QUEUE)?;
        Ok(queue)
    }

    /// The kernel argument for a queue of the device.
    pub(crate) fn on_device(&self) -> Option<DeviceQueue> {
        self.on_device
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The open device.
    pub(crate) fn opened(&self) -> Result<&Opened> {
        self.device.open()
    }

    /// The index of the device in the context.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The runtime's queue.
    pub(crate) fn inner(&self) -> &kiln_runtime::Queue {
        &self.queue
    }

    /// Whether events record when their commands ran.
    pub(crate) fn is_profiled(&self) -> bool {
        self.bits & CL_QUEUE_PROFILING_ENABLE != 0
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<(Event, KeepAlive)>> {
        self.pending.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a blocking write of this many bytes may return before it is complete.
    pub(crate) fn may_leave_pending(&self, bytes: usize) -> bool {
        let is_little = self
            .pending
            .written
            .fetch_add(bytes, Ordering::Relaxed)
            .checked_add(bytes)
            .is_some_and(|sum| sum <= MAX_PENDING_WRITES);
        if !is_little {
            self.pending.written.store(0, Ordering::Relaxed);
        }
        is_little
    }

    /// Keeps objects alive until a command has ended.
    pub(crate) fn keep(&self, event: Event, keep: KeepAlive) {
        if keep.is_empty() {
            return;
        }
        let mut pending = self.pending();
        pending.push_back((event, keep));
        let is_long = pending.len().is_multiple_of(SWEEP);
        drop(pending);
        if is_long {
            self.release_completed();
        }
    }

    /// Releases the objects of commands that have ended.
    pub(crate) fn release_completed(&self) {
        let mut ended = Vec::new();
        let mut pending = self.pending();
        while let Some((event, _)) = pending.front()
            && !matches!(event.status(), Ok(Status::Queued | Status::Submitted | Status::Running))
        {
            ended.extend(pending.pop_front());
        }
        drop(pending);
        // Destructor callbacks run here, without a lock.
        drop(ended);
    }

    fn info(&self, name: cl_command_queue_info) -> Result<Answer> {
        Ok(match name {
            CL_QUEUE_CONTEXT => Answer::pointer(self.context.handle().raw()),
            CL_QUEUE_DEVICE => Answer::pointer(self.device.handle().raw()),
            CL_QUEUE_REFERENCE_COUNT => Answer::from_value(object::count(&self.handle)),
            CL_QUEUE_PROPERTIES => Answer::from_value(self.bits),
            CL_QUEUE_PROPERTIES_ARRAY => Answer::list(&self.properties),
            // Only queues of the device have it (OpenCL API 5.1).
            CL_QUEUE_SIZE => match self.on_device {
                Some(queue) => Answer::from_value(queue.size()),
                None => return fail(CL_INVALID_COMMAND_QUEUE),
            },
            CL_QUEUE_DEVICE_DEFAULT => {
                let queue = self.context.default_queue(self.index);
                Answer::pointer(queue.map_or(std::ptr::null_mut(), |queue| queue.handle.raw()))
            }
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Releasing a queue flushes it (OpenCL API 5.1). Its objects live until the last command has ended.
        let pending = std::mem::take(self.pending.commands.get_mut().unwrap_or_else(PoisonError::into_inner));
        let _ = self.queue.flush();
        for (event, keep) in pending {
            event.on_end(move |_| drop(keep));
        }
    }
}

pub(crate) extern "C" fn create(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    error: *mut cl_int,
) -> cl_command_queue {
    ffi::create(error, || {
        ensure(properties & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT) == 0, CL_INVALID_VALUE)?;
        Queue::create(context, device, properties, None, Vec::new())
    })
}

pub(crate) extern "C" fn create_with_properties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    error: *mut cl_int,
) -> cl_command_queue {
    ffi::create(error, || {
        let pairs = ffi::properties(properties);
        let (mut bits, mut size) = (0, None);
        for &(key, value) in pairs.iter().flatten() {
            match key {
                _ if key == cl_queue_properties::from(CL_QUEUE_PROPERTIES) => bits = value,
                _ if key == cl_queue_properties::from(CL_QUEUE_SIZE) => {
                    size = Some(cl_uint::try_from(value).or(fail(CL_INVALID_QUEUE_PROPERTIES))?);
                }
                _ => return fail(CL_INVALID_VALUE),
            }
        }
        let flat = pairs.map(|pairs| pairs.into_iter().flat_map(|(key, value)| [key, value]).chain([0]));
        Queue::create(context, device, bits, size, flat.map(Iterator::collect).unwrap_or_default())
    })
}

pub(crate) extern "C" fn retain(queue: cl_command_queue) -> cl_int {
    ffi::call(|| object::retain::<Queue>(queue))
}

pub(crate) extern "C" fn release(queue: cl_command_queue) -> cl_int {
    ffi::call(|| {
        let flushed = object::get::<Queue>(queue)?.queue.flush();
        object::release::<Queue>(queue)?;
        Ok(flushed?)
    })
}

pub(crate) extern "C" fn get_info(
    queue: cl_command_queue,
    name: cl_command_queue_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Queue>(queue)?.info(name))
}

/// Deprecated since OpenCL 1.1: the properties of a queue do not change.
pub(crate) extern "C" fn set_property(
    queue: cl_command_queue,
    _properties: cl_command_queue_properties,
    _enable: cl_bool,
    _old: *mut cl_command_queue_properties,
) -> cl_int {
    ffi::call(|| {
        object::get::<Queue>(queue)?;
        fail(CL_INVALID_OPERATION)
    })
}

pub(crate) extern "C" fn set_default_device_queue(
    context: cl_context,
    device: cl_device_id,
    queue: cl_command_queue,
) -> cl_int {
    ffi::call(|| {
        let context = object::get::<Context>(context)?;
        let device = object::get::<Device>(device)?;
        let index = context.index_of(&device)?;
        ensure(device.has(Extension::DeviceEnqueue), CL_INVALID_OPERATION)?;
        let queue = object::get::<Queue>(queue)?;
        let is_own = queue.context.is(&context) && queue.index == index && queue.on_device.is_some();
        ensure(is_own, CL_INVALID_COMMAND_QUEUE)?;
        context.set_default_queue(&queue);
        Ok(())
    })
}

pub(crate) extern "C" fn flush(queue: cl_command_queue) -> cl_int {
    ffi::call(|| Ok(Queue::of_host(queue)?.queue.flush()?))
}

/// A failed command fails its own event, not the queue (OpenCL API 5.11).
pub(crate) extern "C" fn finish(queue: cl_command_queue) -> cl_int {
    ffi::call(|| {
        let queue = Queue::of_host(queue)?;
        let ended = queue.queue.finish();
        queue.release_completed();
        match ended {
            Err(error @ (kiln_runtime::Error::DeviceLost { .. } | kiln_runtime::Error::Timeout { .. })) => {
                Err(error.into())
            }
            Err(error) => {
                queue.context.report(&error.to_string());
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    })
}
