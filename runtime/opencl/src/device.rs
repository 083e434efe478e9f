//! Devices and what they offer (OpenCL API 4.2). The values come from the runtime's capabilities, and the extensions
//! and features from the table of `kiln-vocabulary`, which the compiler uses too.

use std::sync::{Arc, OnceLock};

use kiln_compiler::target::Target;
use kiln_runtime::extensions::{Extension, Extensions};
use kiln_runtime::{Buffer, Capabilities, DeviceInfo, DeviceKind, Environment, Queue, Selector, Timers};
use opencl_sys::*;

use crate::error::{Code, Result, ensure, fail};
use crate::object::{self, Handle, Object};
use crate::{ffi, limits, platform};

/// A device.
pub(crate) struct Device {
    handle: Handle,
    info: DeviceInfo,
    pub(crate) kind: cl_device_type,
    /// Whether it is the device of `CL_DEVICE_TYPE_DEFAULT`.
    is_default: bool,
    /// Whether its buffers are in memory of the host, which maps them without a copy.
    has_host_buffers: bool,
    opened: OnceLock<Result<Opened>>,
}

/// A device that a context uses.
pub(crate) struct Opened {
    /// The runtime's device.
    pub(crate) device: kiln_runtime::Device,
    /// A queue for blocking transfers, which no user event holds back.
    pub(crate) transfers: Queue,
    /// Whether shared virtual memory has the same address on the host and the device.
    pub(crate) same_addresses: bool,
}

impl Object for Device {
    const INVALID: cl_int = CL_INVALID_DEVICE;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Device {
    /// A device of the platform.
    pub(crate) fn new(info: DeviceInfo, is_default: bool, is_custom: bool) -> Result<Arc<Self>> {
        let kind = match info.kind {
            _ if is_custom => CL_DEVICE_TYPE_CUSTOM,
            DeviceKind::Cpu => CL_DEVICE_TYPE_CPU,
            DeviceKind::Other if info.is_strict => CL_DEVICE_TYPE_CPU,
            DeviceKind::Other => CL_DEVICE_TYPE_ACCELERATOR,
            _ => CL_DEVICE_TYPE_GPU,
        };
        // A test can treat a CPU device as a GPU.
        let is_treated_as_gpu = std::env::var_os("KILN_HOST_BUFFERS").is_some_and(|value| value == "0");
        let has_host_buffers = info.kind == DeviceKind::Cpu && !is_treated_as_gpu;
        let opened = OnceLock::new();
        object::create(|handle| Ok(Self { handle, info, kind, is_default, has_host_buffers, opened }))
    }

    /// The runtime's description of the device.
    pub(crate) fn description(&self) -> &DeviceInfo {
        &self.info
    }

    /// The device's capabilities.
    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.info.capabilities
    }

    /// Opens the device on first use.
    pub(crate) fn open(&self) -> Result<&Opened> {
        let opened = self.opened.get_or_init(|| {
            let instance = platform::get()?.instance().ok_or(Code(CL_DEVICE_NOT_AVAILABLE))?;
            let device = instance.device(&Selector::Index(self.info.index))?;
            let transfers = device.queue()?;
            let same_addresses = device.svm::<u32>(1).is_ok_and(|memory| memory.same_addresses());
            Ok(Opened { device, transfers, same_addresses })
        });
        opened.as_ref().map_err(|code| *code)
    }

    /// Whether it was lost. It is not opened again: objects of other contexts are on it.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.opened.get(), Some(Ok(opened)) if opened.device.is_lost())
    }

    /// A new buffer, with these contents or with undefined ones. The memory of a CPU device is the host's, which maps it
    /// without a copy.
    pub(crate) fn buffer(&self, size: usize, contents: Option<&[u8]>) -> Result<Buffer> {
        let device = &self.open()?.device;
        let is_host = self.has_host_buffers;
        Ok(match contents {
            Some(bytes) if is_host => device.host_buffer_from(bytes)?,
            Some(bytes) => device.buffer_from(bytes)?,
            None if is_host => device.host_buffer(size)?,
            None => device.buffer(size)?,
        })
    }

    /// The timers of the device and the host.
    pub(crate) fn timers(&self) -> Result<Timers> {
        Ok(self.open()?.device.timers())
    }

    /// The extensions and features of programs.
    pub(crate) fn features(&self) -> Extensions {
        self.info.extensions()
    }

    /// Whether programs have this extension or feature.
    pub(crate) fn has(&self, extension: Extension) -> bool {
        self.features().has(extension)
    }

    /// `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`
    pub(crate) fn has_independent_sub_groups(&self) -> bool {
        self.has(Extension::KhrSubgroups) && self.info.has_independent_sub_groups()
    }

    /// The names of `CL_DEVICE_EXTENSIONS`. cl_arm_printf also has properties of contexts, which this driver does not
    /// have, and cl_khr_subgroups requires independent forward progress.
    pub(crate) fn extensions(&self) -> Vec<&'static str> {
        let mut of_programs = self.features();
        of_programs.set(Extension::ArmPrintf, false);
        of_programs.set(Extension::KhrSubgroups, self.has_independent_sub_groups());
        of_programs.set(Extension::KhrSrgbWrites, self.has(Extension::Images));
        let of_programs = of_programs.iter().filter(|it| !it.is_feature()).map(Extension::name);
        let mut names: Vec<_> = limits::PLATFORM_EXTENSIONS.iter().copied().chain(of_programs).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The compiler's target.
    pub(crate) fn target(&self) -> Target {
        self.info.target()
    }

    /// Whether this is the reference device, which runs modules of OpenCL's environment as they are.
    pub(crate) fn is_reference(&self) -> bool {
        self.info.environment == Environment::OpenCl
    }

    /// `CL_DEVICE_SVM_CAPABILITIES`
    pub(crate) fn svm(&self) -> cl_device_svm_capabilities {
        if !self.open().is_ok_and(|opened| opened.same_addresses) {
            return 0;
        }
        let atomics = if self.capabilities().svm_atomics { CL_DEVICE_SVM_ATOMICS } else { 0 };
        CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | atomics
    }
}

/// The platform's devices of a type (OpenCL API, table 4).
pub(crate) fn of_type(kind: cl_device_type) -> Result<Vec<Arc<Device>>> {
    let all = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    let known = all | CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CUSTOM;
    let wanted = if kind == CL_DEVICE_TYPE_ALL { all | CL_DEVICE_TYPE_DEFAULT } else { kind };
    ensure(wanted != 0 && wanted & !known == 0, CL_INVALID_DEVICE_TYPE)?;
    let devices = platform::get()?.devices().iter().filter(|device| {
        device.kind & wanted != 0 || device.is_default && wanted & CL_DEVICE_TYPE_DEFAULT != 0
    });
    let devices: Vec<_> = devices.cloned().collect();
    if devices.is_empty() { fail(CL_DEVICE_NOT_FOUND) } else { Ok(devices) }
}

pub(crate) extern "C" fn get_ids(
    platform: cl_platform_id,
    kind: cl_device_type,
    count: cl_uint,
    devices: *mut cl_device_id,
    available: *mut cl_uint,
) -> cl_int {
    ffi::call(|| {
        platform::find(platform)?;
        let found: Vec<_> = of_type(kind)?.iter().map(|device| device.handle.raw()).collect();
        ffi::store_list(count as usize, devices, available, &found)
    })
}

/// Root devices are not reference-counted (OpenCL API 4.3).
pub(crate) extern "C" fn retain(device: cl_device_id) -> cl_int {
    ffi::call(|| object::get::<Device>(device).map(drop))
}

pub(crate) extern "C" fn release(device: cl_device_id) -> cl_int {
    ffi::call(|| object::get::<Device>(device).map(drop))
}

/// No device can be partitioned (`CL_DEVICE_PARTITION_PROPERTIES` is empty).
pub(crate) extern "C" fn create_sub_devices(
    device: cl_device_id,
    _properties: *const cl_device_partition_property,
    _count: cl_uint,
    _devices: *mut cl_device_id,
    _available: *mut cl_uint,
) -> cl_int {
    ffi::call(|| {
        object::get::<Device>(device)?;
        fail(CL_INVALID_VALUE)
    })
}
