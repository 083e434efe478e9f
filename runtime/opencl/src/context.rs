//! Contexts: the devices that share objects (OpenCL API 4.4).

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use opencl_sys::*;

use crate::device::{self, Device};
use crate::error::{Result, ensure, fail};
use crate::ffi::{self, ContextFunction, ContextNotify, Notify};
use crate::info::{Answer, answer};
use crate::object::{self, Handle, Object};
use crate::pinned::Spares;
use crate::platform;
use crate::queue::Queue;
use crate::svm::Allocations;

/// A context.
pub(crate) struct Context {
    handle: Handle,
    devices: Vec<Arc<Device>>,
    properties: Vec<cl_context_properties>,
    notify: Option<ContextNotify>,
    destructors: Mutex<Vec<Notify>>,
    svm: Allocations,
    /// Memory for mappings of buffers.
    spares: Arc<Spares>,
    /// The queue of each device that `get_default_queue` returns, unless it was released.
    default_queues: Mutex<Vec<Weak<Queue>>>,
}

impl Object for Context {
    const INVALID: cl_int = CL_INVALID_CONTEXT;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Context {
    fn create(
        properties: *const cl_context_properties,
        devices: Vec<Arc<Device>>,
        notify: Option<ContextNotify>,
    ) -> Result<*mut c_void> {
        let pairs = ffi::properties(properties);
        check(pairs.as_deref().unwrap_or_default())?;
        for device in &devices {
            device.open()?;
            ensure(!device.is_lost(), CL_DEVICE_NOT_AVAILABLE)?;
        }
        let flat = pairs.map(|pairs| pairs.into_iter().flat_map(|(key, value)| [key, value]).chain([0]));
        let properties = flat.map(Iterator::collect).unwrap_or_default();
        let context = object::create(|handle| {
            let (destructors, svm) = (Mutex::default(), Allocations::default());
            let spares = Spares::of_context();
            let default_queues = Mutex::new(devices.iter().map(|_| Weak::new()).collect());
            Ok(Self { handle, devices, properties, notify, destructors, svm, spares, default_queues })
        })?;
        Ok(context.handle.raw())
    }

    /// The devices, in the given order.
    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The index of a device; fails with `CL_INVALID_DEVICE` for a device of another context.
    pub(crate) fn index_of(&self, device: &Arc<Device>) -> Result<usize> {
        let found = self.devices.iter().position(|own| Arc::ptr_eq(own, device));
        found.map_or_else(|| fail(CL_INVALID_DEVICE), Ok)
    }

    /// Devices of this context, by their handles; all of them without a list.
    pub(crate) fn select(&self, count: cl_uint, list: *const cl_device_id) -> Result<Vec<usize>> {
        let handles = ffi::list(list, count as usize, CL_INVALID_VALUE)?;
        if handles.is_empty() {
            return Ok((0..self.devices.len()).collect());
        }
        let find = |&handle: &cl_device_id| self.index_of(&object::get(handle)?);
        handles.iter().map(find).collect()
    }

    /// The queue that `get_default_queue` returns on a device, by the device's index.
    pub(crate) fn default_queue(&self, index: usize) -> Option<Arc<Queue>> {
        let queues = self.default_queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.get(index).and_then(Weak::upgrade)
    }

    /// Sets the queue that `get_default_queue` returns on its device.
    pub(crate) fn set_default_queue(&self, queue: &Arc<Queue>) {
        let mut queues = self.default_queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues[queue.index()] = Arc::downgrade(queue);
    }

    /// The allocations of shared virtual memory.
    pub(crate) fn svm(&self) -> &Allocations {
        &self.svm
    }

    /// Memory for mappings of buffers.
    pub(crate) fn spares(&self) -> &Arc<Spares> {
        &self.spares
    }

    /// Reports an error that no function returns.
    pub(crate) fn report(&self, message: &str) {
        if let Some(notify) = self.notify {
            notify.call(message);
        }
    }

    /// Whether this is the other context.
    pub(crate) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    fn info(&self, name: cl_context_info) -> Result<Answer> {
        Ok(match name {
            CL_CONTEXT_REFERENCE_COUNT => Answer::from_value(object::count(&self.handle)),
            CL_CONTEXT_NUM_DEVICES => Answer::from_value(self.devices.len() as cl_uint),
            CL_CONTEXT_DEVICES => Answer::pointers(self.devices.iter().map(|device| device.handle().raw())),
            CL_CONTEXT_PROPERTIES => Answer::list(&self.properties),
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let destructors = std::mem::take(self.destructors.get_mut().unwrap_or_else(PoisonError::into_inner));
        // In the reverse order of registration (OpenCL API 4.4).
        destructors.into_iter().rev().for_each(|notify| notify.call(self.handle.raw()));
    }
}

/// Checks the properties of a new context.
fn check(properties: &[(cl_context_properties, cl_context_properties)]) -> Result {
    for (index, &(key, value)) in properties.iter().enumerate() {
        ensure(properties[..index].iter().all(|(known, _)| *known != key), CL_INVALID_PROPERTY)?;
        match key {
            CL_CONTEXT_PLATFORM => {
                let raw = std::ptr::with_exposed_provenance_mut::<c_void>(value as usize);
                object::get::<platform::Platform>(raw)?;
            }
            CL_CONTEXT_INTEROP_USER_SYNC => {
                ensure(value == 0 || value == 1, CL_INVALID_PROPERTY)?;
            }
            _ => return fail(CL_INVALID_PROPERTY),
        }
    }
    Ok(())
}

pub(crate) extern "C" fn create(
    properties: *const cl_context_properties,
    count: cl_uint,
    devices: *const cl_device_id,
    notify: Option<ContextFunction>,
    data: *mut c_void,
    error: *mut cl_int,
) -> cl_context {
    ffi::create(error, || {
        ensure(count > 0 && !devices.is_null(), CL_INVALID_VALUE)?;
        let notify = ContextNotify::new(notify, data)?;
        let mut found: Vec<Arc<Device>> = Vec::new();
        for &handle in ffi::slice(devices, count as usize) {
            let device = object::get::<Device>(handle)?;
            // Duplicates are ignored (OpenCL API 4.4).
            if !found.iter().any(|known| Arc::ptr_eq(known, &device)) {
                found.push(device);
            }
        }
        Context::create(properties, found, notify)
    })
}

pub(crate) extern "C" fn create_from_type(
    properties: *const cl_context_properties,
    kind: cl_device_type,
    notify: Option<ContextFunction>,
    data: *mut c_void,
    error: *mut cl_int,
) -> cl_context {
    ffi::create(error, || {
        let notify = ContextNotify::new(notify, data)?;
        Context::create(properties, device::of_type(kind)?, notify)
    })
}

pub(crate) extern "C" fn retain(context: cl_context) -> cl_int {
    ffi::call(|| object::retain::<Context>(context))
}

pub(crate) extern "C" fn release(context: cl_context) -> cl_int {
    ffi::call(|| object::release::<Context>(context).map(drop))
}

pub(crate) extern "C" fn get_info(
    context: cl_context,
    name: cl_context_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Context>(context)?.info(name))
}

pub(crate) extern "C" fn set_destructor_callback(
    context: cl_context,
    notify: Option<unsafe extern "C" fn(cl_context, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    ffi::call(|| {
        let context = object::get::<Context>(context)?;
        let Some(notify) = Notify::new(notify, data)? else { return fail(CL_INVALID_VALUE) };
        context.destructors.lock().unwrap_or_else(PoisonError::into_inner).push(notify);
        Ok(())
    })
}
