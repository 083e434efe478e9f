//! Devices with replaced functions, for tests of what a driver does seldom.

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::device;
use super::instance::Instance;
use crate::capabilities::DeviceInfo;

/// The original of a replaced function.
pub(super) struct Original(AtomicPtr<c_void>);

impl Original {
    pub(super) const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The function.
    ///
    /// # Safety
    /// `F` is the type of the function that [`open`] stored here.
    pub(super) unsafe fn function<F: Copy>(&self) -> F {
        let pointer = self.0.load(Ordering::Relaxed);
        assert!(!pointer.is_null() && size_of::<F>() == size_of_val(&pointer));
        // SAFETY: as the caller promises.
        unsafe { std::mem::transmute_copy(&pointer) }
    }
}

/// The first usable device.
pub(super) fn usable_device(instance: &Instance) -> DeviceInfo {
    let infos = instance.devices().expect("devices");
    infos.into_iter().find(|info| info.lacks.is_empty()).expect("a usable device")
}

/// Opens a device. `replacement` returns the place for the original of a function, and the function that replaces it.
pub(super) fn open(
    instance: &Instance,
    info: &DeviceInfo,
    replacement: impl Fn(&CStr) -> Option<(&'static Original, *const c_void)>,
) -> device::Handle {
    let mut handle = instance.open_handle(info, None).expect("an open device");
    let device = Arc::get_mut(&mut handle.0).expect("this is the only reference");
    let raw = instance.raw();
    let load = |name: &CStr| -> *const c_void {
        // SAFETY: the device belongs to the instance.
        let real = unsafe { (raw.fp_v1_0().get_device_proc_addr)(device.raw.handle(), name.as_ptr()) };
        let real = real.map_or(std::ptr::null(), |real| real as *const c_void);
        let Some((original, fake)) = replacement(name) else { return real };
        original.0.store(real.cast_mut(), Ordering::Relaxed);
        fake
    };
    // SAFETY: every function is the device's, or calls it.
    device.raw = unsafe { ash::Device::load_with(load, device.raw.handle()) };
    handle
}
