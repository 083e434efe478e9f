//! The platform and its devices (OpenCL API 4.1).

use std::ffi::c_void;
use std::sync::{Arc, LazyLock};

use kiln_runtime::{DeviceInfo, Environment, Instance, Options, Selector};
use opencl_sys::*;

use crate::device::Device;
use crate::error::{Result, fail, log};
use crate::info::{Answer, answer};
use crate::object::{self, Handle, Object};
use crate::{ffi, limits};

/// The platform.
pub(crate) struct Platform {
    handle: Handle,
    devices: Vec<Arc<Device>>,
    /// `None` if the machine's devices cannot be listed.
    instance: Option<Instance>,
}

impl Object for Platform {
    const INVALID: cl_int = CL_INVALID_PLATFORM;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

static PLATFORM: LazyLock<Option<Arc<Platform>>> = LazyLock::new(|| {
    let instance = Instance::for_device(Options::from_env(), &Selector::Default)
        .inspect_err(|error| log(&error.to_string()))
        .ok();
    let infos = instance.as_ref().map(|instance| selected(instance.devices())).unwrap_or_default();
    object::create(|handle| {
        let devices = infos.into_iter().enumerate();
        let devices = devices.map(|(index, (info, is_custom))| Device::new(info, index == 0, is_custom));
        let devices = devices.collect::<Result<_>>()?;
        Ok(Platform { handle, devices, instance })
    })
    .ok()
});

/// The devices to list, best first. `KILN_DEVICE` selects devices: a part of a name, or an index. By default, lists all Vulkan devices,
/// and the reference device as a custom device, which `CL_DEVICE_TYPE_ALL` does not include.
fn selected(infos: &[DeviceInfo]) -> Vec<(DeviceInfo, bool)> {
    let usable = infos.iter().filter(|info| info.lacks.is_empty());
    let wanted = std::env::var("KILN_DEVICE").unwrap_or_default();
    let wanted = wanted.trim().to_lowercase();
    if !wanted.is_empty() {
        let is_wanted = |info: &&DeviceInfo| match wanted.parse::<usize>() {
            Ok(index) => info.index == index,
            Err(_) => info.name.to_lowercase().contains(&wanted),
        };
        return usable.filter(is_wanted).map(|info| (info.clone(), false)).collect();
    }
    let mut listed: Vec<_> =
        usable.filter(|info| !info.is_strict).map(|info| (info.clone(), false)).collect();
    listed.sort_by_key(|(info, _)| std::cmp::Reverse(info.kind));
    let has_driver = !listed.is_empty();
    let reference = infos.iter().find(|info| info.is_strict && info.environment == Environment::OpenCl);
    listed.extend(reference.map(|info| (info.clone(), has_driver)));
    listed
}

/// The platform; fails if the machine's devices cannot be listed.
pub(crate) fn get() -> Result<&'static Arc<Platform>> {
    PLATFORM.as_ref().map_or_else(|| fail(CL_OUT_OF_HOST_MEMORY), Ok)
}

/// The platform of this handle; null is the only platform.
pub(crate) fn find(raw: cl_platform_id) -> Result<Arc<Platform>> {
    let platform = get()?;
    if raw.is_null() { Ok(platform.clone()) } else { object::get(raw) }
}

impl Platform {
    /// The devices, best first.
    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The instance of the runtime.
    pub(crate) fn instance(&self) -> Option<&Instance> {
        self.instance.as_ref()
    }

    fn extensions(&self) -> String {
        // A platform has the extensions that all of its devices have (OpenCL API 4.1).
        let mut common: Vec<&str> = limits::PLATFORM_EXTENSIONS.to_vec();
        if let Some((first, others)) = self.devices.split_first() {
            let is_everywhere = |name: &&str| others.iter().all(|device| device.extensions().contains(name));
            common.extend(first.extensions().into_iter().filter(is_everywhere));
        }
        common.sort_unstable();
        common.dedup();
        common.join(" ")
    }

    fn info(&self, name: cl_platform_info) -> Result<Answer> {
        Ok(match name {
            CL_PLATFORM_PROFILE => Answer::text("FULL_PROFILE"),
            CL_PLATFORM_VERSION => Answer::text(&format!("OpenCL 3.1 Kiln {}", limits::VERSION)),
            CL_PLATFORM_NUMERIC_VERSION => Answer::from_value(make_version(3, 1, 0)),
            CL_PLATFORM_NAME => Answer::text("Kiln"),
            CL_PLATFORM_VENDOR => Answer::text("Kiln"),
            CL_PLATFORM_EXTENSIONS => Answer::text(&self.extensions()),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => {
                let extensions = self.extensions();
                Answer::versions(extensions.split(' ').map(|name| (name, limits::extension_version(name))))
            }
            CL_PLATFORM_HOST_TIMER_RESOLUTION => Answer::from_value(1u64),
            CL_PLATFORM_ICD_SUFFIX_KHR => Answer::text("KILN"),
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

pub(crate) extern "C" fn get_ids(
    count: cl_uint,
    platforms: *mut cl_platform_id,
    available: *mut cl_uint,
) -> cl_int {
    ffi::call(|| ffi::store_list(count as usize, platforms, available, &[get()?.handle.raw()]))
}

pub(crate) extern "C" fn get_info(
    platform: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || find(platform)?.info(name))
}

pub(crate) extern "C" fn unload_compiler(platform: cl_platform_id) -> cl_int {
    ffi::call(|| object::get::<Platform>(platform).map(drop))
}

pub(crate) extern "C" fn get_host_timer(device: cl_device_id, host: *mut cl_ulong) -> cl_int {
    ffi::call(|| {
        object::get::<Device>(device)?;
        crate::error::ensure(!host.is_null(), CL_INVALID_VALUE)?;
        ffi::store(host, kiln_runtime::Timers::host());
        Ok(())
    })
}

pub(crate) extern "C" fn get_device_and_host_timer(
    device: cl_device_id,
    device_time: *mut cl_ulong,
    host: *mut cl_ulong,
) -> cl_int {
    ffi::call(|| {
        let device = object::get::<Device>(device)?;
        crate::error::ensure(!device_time.is_null() && !host.is_null(), CL_INVALID_VALUE)?;
        let timers = device.timers()?;
        ffi::store(device_time, timers.device);
        ffi::store(host, timers.host);
        Ok(())
    })
}
