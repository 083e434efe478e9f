//! Devices and what they offer (OpenCL API 4.2). The values come from the runtime's capabilities, and the extensions
//! and features from the table of `kiln-vocabulary`, which the compiler uses too.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use kiln_compiler::{opencl, target::Target};
use kiln_runtime::extensions::{Extension, Extensions};
use kiln_runtime::{Capabilities, DeviceInfo, DeviceKind, Environment, ImageLimits, Order, Queue, Scope, Selector};
use opencl_sys::*;

use crate::error::{Code, Result, ensure, fail};
use crate::info::{Answer, answer};
use crate::object::{self, Handle, Object};
use crate::{ffi, limits, platform};

/// A device.
pub(crate) struct Device {
    handle: Handle,
    info: DeviceInfo,
    kind: cl_device_type,
    opened: OnceLock<Result<Opened>>,
}

/// A device that a context uses.
pub(crate) struct Opened {
    /// The runtime's device.
    pub(crate) device: kiln_runtime::Device,
    /// A queue for transfers that the host waits for. No user event holds it back.
    pub(crate) transfers: Queue,
    /// Whether shared virtual memory has the same address on the host and the device.
    pub(crate) same_addresses: bool,
    since: Instant,
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
        let kind = if is_default { kind | CL_DEVICE_TYPE_DEFAULT } else { kind };
        object::create(|handle| Ok(Self { handle, info, kind, opened: OnceLock::new() }))
    }

    /// What the runtime knows of the device.
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
            Ok(Opened { device, transfers, same_addresses, since: Instant::now() })
        });
        opened.as_ref().map_err(|code| *code)
    }

    /// Nanoseconds of the clock of the device's events.
    pub(crate) fn time(&self) -> Result<u64> {
        Ok(self.open()?.since.elapsed().as_nanos() as u64)
    }

    /// The extensions and features of programs. Device-side enqueue and pipes need objects that this driver does not
    /// create.
    pub(crate) fn features(&self) -> Extensions {
        let mut features = self.info.extensions();
        for absent in ABSENT {
            features.set(*absent, false);
        }
        features
    }

    /// Whether programs have this extension or feature.
    pub(crate) fn has(&self, extension: Extension) -> bool {
        self.features().has(extension)
    }

    /// The names of `CL_DEVICE_EXTENSIONS`.
    pub(crate) fn extensions(&self) -> Vec<&'static str> {
        let of_programs = self.features();
        let of_programs = of_programs.iter().filter(|it| !it.is_feature()).map(Extension::name);
        let mut names: Vec<_> = limits::PLATFORM_EXTENSIONS.iter().copied().chain(of_programs).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The compiler's target.
    pub(crate) fn target(&self) -> Target {
        match self.info.environment {
            Environment::OpenCl => Target::full(opencl::Environment::OpenCl),
            Environment::Vulkan => {
                let mut target = Target::full(opencl::Environment::Vulkan);
                target.workarounds = self.info.workarounds();
                target.features = self.info.features.target_features();
                target.precision = self.info.precision();
                target
            }
        }
    }

    /// The versions of OpenCL C. 2.0 needs device-side enqueue and pipes.
    fn language_versions(&self) -> Vec<(&'static str, cl_version)> {
        let version = |major, minor| ("OpenCL C", make_version(major, minor, 0));
        vec![version(1, 0), version(1, 1), version(1, 2), version(3, 0)]
    }

    /// `CL_DEVICE_SVM_CAPABILITIES`
    pub(crate) fn svm(&self) -> cl_device_svm_capabilities {
        if !self.open().is_ok_and(|opened| opened.same_addresses) {
            return 0;
        }
        let atomics = if self.capabilities().svm_atomics { CL_DEVICE_SVM_ATOMICS } else { 0 };
        CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | atomics
    }

    fn info(&self, name: cl_device_info) -> Result<Answer> {
        self.identity(name)
            .or_else(|| self.execution(name))
            .or_else(|| self.memory(name))
            .or_else(|| self.images(name))
            .or_else(|| self.numbers(name))
            .or_else(|| self.optional(name))
            .or_else(|| self.queues(name))
            .ok_or(Code(CL_INVALID_VALUE))
    }

    fn identity(&self, name: cl_device_info) -> Option<Answer> {
        let info = &self.info;
        Some(match name {
            CL_DEVICE_TYPE => Answer::of(self.kind),
            CL_DEVICE_VENDOR_ID => Answer::of(0u32),
            CL_DEVICE_NAME => Answer::text(&info.name),
            CL_DEVICE_VENDOR => Answer::text("Kiln"),
            CL_DRIVER_VERSION if info.driver.is_empty() => Answer::text(limits::VERSION),
            CL_DRIVER_VERSION => Answer::text(&format!("{} ({})", limits::VERSION, info.driver)),
            CL_DEVICE_PROFILE => Answer::text("FULL_PROFILE"),
            CL_DEVICE_VERSION => Answer::text("OpenCL 3.0 Kiln"),
            CL_DEVICE_NUMERIC_VERSION => Answer::of(make_version(3, 0, 0)),
            CL_DEVICE_OPENCL_C_VERSION => Answer::text("OpenCL C 1.2 Kiln"),
            CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => Answer::of(make_version(1, 2, 0)),
            CL_DEVICE_OPENCL_C_ALL_VERSIONS => Answer::versions(self.language_versions()),
            CL_DEVICE_OPENCL_C_FEATURES => {
                let features = self.features();
                let features = features.iter().filter(|it| it.is_feature()).map(Extension::name);
                Answer::versions(features.map(|name| (name, make_version(3, 0, 0))))
            }
            CL_DEVICE_EXTENSIONS => Answer::text(&self.extensions().join(" ")),
            CL_DEVICE_EXTENSIONS_WITH_VERSION => {
                let names = self.extensions();
                Answer::versions(names.into_iter().map(|name| (name, limits::extension_version(name))))
            }
            CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED | CL_DEVICE_BUILT_IN_KERNELS => Answer::text(""),
            CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => Answer::default(),
            CL_DEVICE_IL_VERSION => Answer::text(if self.takes_il() { "SPIR-V_1.4" } else { "" }),
            CL_DEVICE_ILS_WITH_VERSION if !self.takes_il() => Answer::default(),
            CL_DEVICE_ILS_WITH_VERSION => {
                Answer::versions((0..=4).map(|minor| ("SPIR-V", make_version(1, minor, 0))))
            }
            CL_DEVICE_PLATFORM => Answer::pointer(platform::get().ok()?.handle().raw()),
            CL_DEVICE_REFERENCE_COUNT => Answer::of(1u32),
            CL_DEVICE_AVAILABLE | CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => {
                Answer::flag(true)
            }
            _ => return None,
        })
    }

    /// Whether the device runs modules of OpenCL's environment. Vulkan devices run only Kiln's own.
    pub(crate) fn takes_il(&self) -> bool {
        self.info.environment == Environment::OpenCl
    }

    fn execution(&self, name: cl_device_info) -> Option<Answer> {
        let capabilities = self.capabilities();
        let sizes = capabilities.max_work_item_sizes.map(|size| size as usize);
        let sub_group = capabilities.sub_groups.as_ref().map(|groups| groups.max_size.max(1));
        Some(match name {
            CL_DEVICE_MAX_COMPUTE_UNITS => Answer::of(self.compute_units()),
            CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => Answer::of(3u32),
            CL_DEVICE_MAX_WORK_ITEM_SIZES => Answer::list(&sizes),
            CL_DEVICE_MAX_WORK_GROUP_SIZE => Answer::of(capabilities.max_work_group_size as usize),
            CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => Answer::of(sub_group.unwrap_or(1) as usize),
            CL_DEVICE_MAX_NUM_SUB_GROUPS => {
                let most = sub_group.map_or(0, |size| (capabilities.max_work_group_size / size).max(1));
                Answer::of(if self.has(Extension::FeatureSubgroups) { most } else { 0 })
            }
            CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => Answer::flag(false),
            CL_DEVICE_MAX_CLOCK_FREQUENCY => Answer::of(0u32),
            CL_DEVICE_ADDRESS_BITS => Answer::of(64u32),
            CL_DEVICE_ENDIAN_LITTLE => Answer::flag(true),
            CL_DEVICE_ERROR_CORRECTION_SUPPORT => Answer::flag(false),
            CL_DEVICE_EXECUTION_CAPABILITIES => Answer::of(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL),
            CL_DEVICE_PROFILING_TIMER_RESOLUTION => {
                Answer::of((capabilities.timer_resolution.ceil() as usize).max(1))
            }
            CL_DEVICE_PRINTF_BUFFER_SIZE => Answer::of(limits::PRINTF_BUFFER),
            CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => Answer::flag(true),
            CL_DEVICE_PARENT_DEVICE => Answer::of(0usize),
            CL_DEVICE_PARTITION_MAX_SUB_DEVICES => Answer::of(0u32),
            CL_DEVICE_PARTITION_PROPERTIES => Answer::of(0usize),
            CL_DEVICE_PARTITION_TYPE => Answer::of(0usize),
            CL_DEVICE_PARTITION_AFFINITY_DOMAIN => Answer::of(0u64),
            _ => return None,
        })
    }

    /// `CL_DEVICE_MAX_COMPUTE_UNITS`: Vulkan tells the number of no device but the host's own.
    fn compute_units(&self) -> cl_uint {
        match self.info.kind {
            DeviceKind::Cpu => std::thread::available_parallelism().map_or(1, |count| count.get() as cl_uint),
            _ => 1,
        }
    }

    fn memory(&self, name: cl_device_info) -> Option<Answer> {
        let capabilities = self.capabilities();
        let allocation = capabilities.max_allocation.min(capabilities.global_memory);
        Some(match name {
            CL_DEVICE_GLOBAL_MEM_SIZE => Answer::of(capabilities.global_memory),
            CL_DEVICE_MAX_MEM_ALLOC_SIZE => Answer::of(allocation),
            CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => Answer::of(CL_NONE),
            CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => Answer::of(0u32),
            CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => Answer::of(0u64),
            CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => Answer::of(allocation),
            CL_DEVICE_MAX_CONSTANT_ARGS => Answer::of(capabilities.max_parameter_size / 8),
            CL_DEVICE_LOCAL_MEM_TYPE => Answer::of(CL_LOCAL),
            CL_DEVICE_LOCAL_MEM_SIZE => Answer::of(capabilities.local_memory),
            CL_DEVICE_MAX_PARAMETER_SIZE => Answer::of(capabilities.max_parameter_size as usize),
            CL_DEVICE_MEM_BASE_ADDR_ALIGN => Answer::of(8 * limits::BASE_ALIGNMENT as u32),
            CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => Answer::of(limits::BASE_ALIGNMENT as u32),
            CL_DEVICE_HOST_UNIFIED_MEMORY => Answer::flag(capabilities.unified_memory),
            CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => Answer::of(limits::PROGRAM_VARIABLES),
            CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => Answer::of(limits::PROGRAM_VARIABLES),
            CL_DEVICE_SVM_CAPABILITIES => Answer::of(self.svm()),
            CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
            | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
            | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => Answer::of(0u32),
            _ => return None,
        })
    }

    fn images(&self, name: cl_device_info) -> Option<Answer> {
        let has_images = self.has(Extension::Images);
        let limits = self.capabilities().images.filter(|_| has_images);
        let size = |pick: fn(&ImageLimits) -> u32| Answer::of(limits.as_ref().map_or(0, pick) as usize);
        let count = |count: u32| Answer::of(if has_images { count } else { 0 });
        Some(match name {
            CL_DEVICE_IMAGE_SUPPORT => Answer::flag(has_images),
            CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => size(|it| it.max_2d),
            CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => {
                size(|it| it.max_3d)
            }
            CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => size(|it| it.max_buffer),
            CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => size(|it| it.max_layers),
            CL_DEVICE_MAX_READ_IMAGE_ARGS => count(limits::READ_IMAGES),
            CL_DEVICE_MAX_WRITE_IMAGE_ARGS => count(limits::WRITTEN_IMAGES),
            CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => {
                let has_both = self.has(Extension::ReadWriteImages);
                count(if has_both { limits::WRITTEN_IMAGES } else { 0 })
            }
            CL_DEVICE_MAX_SAMPLERS => count(limits::SAMPLERS),
            CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => Answer::of(0u32),
            _ => return None,
        })
    }

    fn numbers(&self, name: cl_device_info) -> Option<Answer> {
        let has_double = self.has(Extension::KhrFp64);
        let has_half = self.has(Extension::KhrFp16);
        let features = &self.info.features;
        let basic = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
        let denormals = |preserved: bool| {
            if preserved || self.takes_il() { CL_FP_DENORM } else { 0 }
        };
        Some(match name {
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
            | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => Answer::of(1u32),
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => {
                Answer::of(u32::from(has_double))
            }
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => {
                Answer::of(u32::from(has_half))
            }
            CL_DEVICE_SINGLE_FP_CONFIG => {
                let denormals = denormals(features.float_controls_denorm_preserve32);
                Answer::of(basic | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT | denormals)
            }
            CL_DEVICE_DOUBLE_FP_CONFIG if !has_double => Answer::of(0u64),
            CL_DEVICE_DOUBLE_FP_CONFIG => {
                let directed = CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF;
                Answer::of(basic | directed | CL_FP_FMA | CL_FP_DENORM)
            }
            CL_DEVICE_HALF_FP_CONFIG if !has_half => Answer::of(0u64),
            CL_DEVICE_HALF_FP_CONFIG => {
                Answer::of(basic | CL_FP_FMA | denormals(features.float_controls_denorm_preserve16))
            }
            CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR => Answer::of(
                CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT,
            ),
            CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR
            | CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR => {
                Answer::list(&[CL_FALSE; 6])
            }
            _ => return None,
        })
    }

    fn optional(&self, name: cl_device_info) -> Option<Answer> {
        let capabilities = self.capabilities();
        use Extension::{
            Fp32GlobalAdd, Fp32GlobalMinMax, Fp32LocalAdd, Fp32LocalMinMax, Fp64GlobalAdd, Fp64GlobalMinMax,
            Fp64LocalAdd, Fp64LocalMinMax,
        };
        Some(match name {
            CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => {
                Answer::of(orders(&capabilities.atomic_orders) | scopes(&capabilities.atomic_scopes))
            }
            CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => {
                // Every fence of a work-item alone is an ordering within the work-item, which programs have anyway.
                let all = orders(&capabilities.fence_orders) | scopes(&capabilities.fence_scopes);
                Answer::of(all | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM)
            }
            limits::SINGLE_FP_ATOMICS => {
                Answer::of(self.float_atomics([Fp32GlobalAdd, Fp32GlobalMinMax, Fp32LocalAdd, Fp32LocalMinMax]))
            }
            limits::DOUBLE_FP_ATOMICS => {
                Answer::of(self.float_atomics([Fp64GlobalAdd, Fp64GlobalMinMax, Fp64LocalAdd, Fp64LocalMinMax]))
            }
            limits::HALF_FP_ATOMICS => Answer::of(0u64),
            CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => Answer::flag(true),
            CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => {
                Answer::flag(self.has(Extension::WorkGroupCollectives))
            }
            CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => Answer::flag(self.has(Extension::GenericAddressSpace)),
            CL_DEVICE_PIPE_SUPPORT => Answer::flag(self.has(Extension::Pipes)),
            CL_DEVICE_MAX_PIPE_ARGS
            | CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS
            | CL_DEVICE_PIPE_MAX_PACKET_SIZE => Answer::of(0u32),
            _ => return None,
        })
    }

    /// `cl_device_fp_atomic_capabilities_ext`, from the features for addition and minimum in global and local memory.
    fn float_atomics(&self, [add, min, local_add, local_min]: [Extension; 4]) -> cl_bitfield {
        let bit = |feature, bit| if self.has(feature) { bit } else { 0 };
        let moves = limits::GLOBAL_FP_ATOMIC_LOAD_STORE | limits::LOCAL_FP_ATOMIC_LOAD_STORE;
        bit(add, limits::GLOBAL_FP_ATOMIC_ADD | moves)
            | bit(min, limits::GLOBAL_FP_ATOMIC_MIN_MAX)
            | bit(local_add, limits::LOCAL_FP_ATOMIC_ADD)
            | bit(local_min, limits::LOCAL_FP_ATOMIC_MIN_MAX)
    }

    fn queues(&self, name: cl_device_info) -> Option<Answer> {
        Some(match name {
            CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
                Answer::of(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
            }
            CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES | CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => Answer::of(0u64),
            CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE
            | CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
            | CL_DEVICE_MAX_ON_DEVICE_QUEUES
            | CL_DEVICE_MAX_ON_DEVICE_EVENTS => Answer::of(0u32),
            _ => return None,
        })
    }
}

/// Features of the reference device for which this driver has no objects.
pub(crate) const ABSENT: &[Extension] = &[Extension::DeviceEnqueue, Extension::Pipes];

fn orders(orders: &[Order]) -> cl_device_atomic_capabilities {
    orders.iter().fold(0, |bits, order| {
        bits | match order {
            Order::Relaxed => CL_DEVICE_ATOMIC_ORDER_RELAXED,
            Order::Acquire | Order::Release | Order::AcqRel => CL_DEVICE_ATOMIC_ORDER_ACQ_REL,
            Order::SeqCst => CL_DEVICE_ATOMIC_ORDER_SEQ_CST,
        }
    })
}

fn scopes(scopes: &[Scope]) -> cl_device_atomic_capabilities {
    scopes.iter().fold(0, |bits, scope| {
        bits | match scope {
            Scope::WorkItem => CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM,
            // The API has no capability for the scope of sub-groups.
            Scope::SubGroup => 0,
            Scope::WorkGroup => CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP,
            Scope::Device => CL_DEVICE_ATOMIC_SCOPE_DEVICE,
            Scope::AllDevices => CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES,
        }
    })
}

/// The platform's devices of a type (OpenCL API, table 4).
pub(crate) fn of_type(kind: cl_device_type) -> Result<Vec<Arc<Device>>> {
    let all = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    let known = all | CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CUSTOM;
    let wanted = if kind == CL_DEVICE_TYPE_ALL { all | CL_DEVICE_TYPE_DEFAULT } else { kind };
    ensure(wanted != 0 && wanted & !known == 0, CL_INVALID_DEVICE_TYPE)?;
    let devices = platform::get()?.devices().iter().filter(|device| device.kind & wanted != 0);
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

pub(crate) extern "C" fn get_info(
    device: cl_device_id,
    name: cl_device_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Device>(device)?.info(name))
}

/// Devices of the platform are not counted (OpenCL API 4.3).
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
