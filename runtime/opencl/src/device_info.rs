//! The answers of `clGetDeviceInfo` (OpenCL API, table 5).

use std::ffi::c_void;

use kiln_runtime::driver_bugs::DriverBug;
use kiln_runtime::extensions::Extension;
use kiln_runtime::{DeviceKind, DeviceQueue, ImageLimits, Order, Scope};
use opencl_sys::*;

use crate::device::Device;
use crate::error::{Code, Result};
use crate::info::{Answer, answer};
use crate::object::{self, Object};
use crate::{limits, platform, spirv_queries};

#[allow(non_upper_case_globals, reason = "a name of the specification")]
impl Device {
    /// The versions of OpenCL C.
    fn language_versions(&self) -> Vec<(&'static str, cl_version)> {
        let version = |major, minor| ("OpenCL C", make_version(major, minor, 0));
        let mut versions = vec![version(1, 0), version(1, 1), version(1, 2), version(3, 0)];
        versions.extend((self.minor() == 1).then(|| version(3, 1)));
        versions
    }

    /// The minor version of OpenCL 3 that the device has. 3.1 requires sub-groups (OpenCL API, appendix E).
    pub(crate) fn minor(&self) -> cl_version {
        cl_version::from(self.has(Extension::FeatureSubgroups))
    }

    fn info(&self, name: cl_device_info) -> Result<Answer> {
        self.identity(name)
            .or_else(|| self.execution(name))
            .or_else(|| self.memory(name))
            .or_else(|| self.images(name))
            .or_else(|| self.numbers(name))
            .or_else(|| self.optional(name))
            .or_else(|| self.queues(name))
            .or_else(|| spirv_queries::answer(self, name))
            .ok_or(Code(CL_INVALID_VALUE))
    }

    fn identity(&self, name: cl_device_info) -> Option<Answer> {
        let info = self.description();
        Some(match name {
            CL_DEVICE_TYPE => Answer::from_value(self.kind),
            CL_DEVICE_VENDOR_ID => Answer::from_value(0u32),
            CL_DEVICE_NAME => Answer::text(&info.name),
            CL_DEVICE_VENDOR => Answer::text("Kiln"),
            CL_DRIVER_VERSION if info.driver.is_empty() => Answer::text(limits::VERSION),
            CL_DRIVER_VERSION => Answer::text(&format!("{} ({})", limits::VERSION, info.driver)),
            CL_DEVICE_PROFILE => Answer::text("FULL_PROFILE"),
            CL_DEVICE_VERSION => Answer::text(&format!("OpenCL 3.{} Kiln", self.minor())),
            CL_DEVICE_NUMERIC_VERSION => Answer::from_value(make_version(3, self.minor(), 0)),
            CL_DEVICE_OPENCL_C_VERSION => Answer::text("OpenCL C 1.2 Kiln"),
            CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => Answer::from_value(make_version(1, 2, 0)),
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
            // Kiln has not gone through the official process. The answer must have this format.
            CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => Answer::text("v0000-01-01-00"),
            CL_DEVICE_BUILT_IN_KERNELS => Answer::text(""),
            CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => Answer::default(),
            CL_DEVICE_IL_VERSION => {
                let versions: Vec<String> =
                    self.spirv_minors().map(|minor| format!("SPIR-V_1.{minor}")).collect();
                Answer::text(&versions.join(" "))
            }
            CL_DEVICE_ILS_WITH_VERSION => {
                Answer::versions(self.spirv_minors().map(|minor| ("SPIR-V", make_version(1, minor, 0))))
            }
            CL_DEVICE_UUID => Answer::list(&info.identity.device),
            CL_DRIVER_UUID => Answer::list(&info.identity.driver),
            CL_DEVICE_LUID_VALID => Answer::flag(info.identity.local.is_some()),
            CL_DEVICE_LUID => Answer::list(&info.identity.local.map_or([0; 8], |(luid, _)| luid)),
            CL_DEVICE_NODE_MASK => Answer::from_value(info.identity.local.map_or(0, |(_, nodes)| nodes)),
            CL_DEVICE_PLATFORM => Answer::pointer(platform::get().ok()?.handle().raw()),
            CL_DEVICE_REFERENCE_COUNT => Answer::from_value(1u32),
            CL_DEVICE_AVAILABLE => Answer::flag(!self.is_lost()),
            CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => Answer::flag(true),
            _ => return None,
        })
    }

    /// The minor versions of SPIR-V 1 that programs may use: those that the translator reads or the reference device
    /// executes.
    pub(crate) fn spirv_minors(&self) -> std::ops::RangeInclusive<u32> {
        if self.is_reference() { 0..=4 } else { 0..=6 }
    }

    fn execution(&self, name: cl_device_info) -> Option<Answer> {
        let capabilities = self.capabilities();
        let sizes = capabilities.max_work_item_sizes.map(|size| size as usize);
        let sub_group = capabilities.sub_groups.as_ref().map(|groups| groups.max_size.max(1));
        Some(match name {
            CL_DEVICE_MAX_COMPUTE_UNITS => Answer::from_value(self.compute_units()),
            CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => Answer::from_value(3u32),
            CL_DEVICE_MAX_WORK_ITEM_SIZES => Answer::list(&sizes),
            CL_DEVICE_MAX_WORK_GROUP_SIZE => Answer::from_value(capabilities.max_work_group_size as usize),
            CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
                Answer::from_value(sub_group.unwrap_or(1) as usize)
            }
            CL_DEVICE_MAX_NUM_SUB_GROUPS => {
                let max = sub_group.map_or(0, |size| (capabilities.max_work_group_size / size).max(1));
                Answer::from_value(if self.has(Extension::FeatureSubgroups) { max } else { 0 })
            }
            CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => {
                Answer::flag(self.has_independent_sub_groups())
            }
            CL_DEVICE_MAX_CLOCK_FREQUENCY => Answer::from_value(0u32),
            CL_DEVICE_ADDRESS_BITS => Answer::from_value(64u32),
            CL_DEVICE_ENDIAN_LITTLE => Answer::flag(true),
            CL_DEVICE_ERROR_CORRECTION_SUPPORT => Answer::flag(false),
            CL_DEVICE_EXECUTION_CAPABILITIES => Answer::from_value(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL),
            CL_DEVICE_PROFILING_TIMER_RESOLUTION => {
                Answer::from_value((capabilities.timer_resolution.ceil() as usize).max(1))
            }
            CL_DEVICE_PRINTF_BUFFER_SIZE => Answer::from_value(limits::PRINTF_BUFFER),
            CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => Answer::flag(true),
            CL_DEVICE_PARENT_DEVICE => Answer::from_value(0usize),
            CL_DEVICE_PARTITION_MAX_SUB_DEVICES => Answer::from_value(0u32),
            CL_DEVICE_PARTITION_PROPERTIES => Answer::from_value(0usize),
            CL_DEVICE_PARTITION_TYPE => Answer::from_value(0usize),
            CL_DEVICE_PARTITION_AFFINITY_DOMAIN => Answer::from_value(0u64),
            _ => return None,
        })
    }

    /// `CL_DEVICE_MAX_COMPUTE_UNITS`. The units of a CPU are its threads; of another device whose driver reports no
    /// number, only the minimum of the specification is known.
    fn compute_units(&self) -> cl_uint {
        let threads = || match self.description().kind {
            DeviceKind::Cpu => std::thread::available_parallelism().ok().map(|count| count.get() as cl_uint),
            _ => None,
        };
        self.capabilities().compute_units.or_else(threads).unwrap_or(1)
    }

    fn memory(&self, name: cl_device_info) -> Option<Answer> {
        let capabilities = self.capabilities();
        let allocation = capabilities.max_allocation.min(capabilities.global_memory);
        Some(match name {
            CL_DEVICE_GLOBAL_MEM_SIZE => Answer::from_value(capabilities.global_memory),
            CL_DEVICE_MAX_MEM_ALLOC_SIZE => Answer::from_value(allocation),
            CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => Answer::from_value(CL_NONE),
            CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => Answer::from_value(0u32),
            CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => Answer::from_value(0u64),
            CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => Answer::from_value(allocation),
            CL_DEVICE_MAX_CONSTANT_ARGS => Answer::from_value(capabilities.max_parameter_size / 8),
            CL_DEVICE_LOCAL_MEM_TYPE => Answer::from_value(CL_LOCAL),
            CL_DEVICE_LOCAL_MEM_SIZE => Answer::from_value(capabilities.local_memory),
            CL_DEVICE_MAX_PARAMETER_SIZE => Answer::from_value(capabilities.max_parameter_size as usize),
            CL_DEVICE_MEM_BASE_ADDR_ALIGN => Answer::from_value(8 * limits::BASE_ALIGNMENT as u32),
            CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => Answer::from_value(limits::BASE_ALIGNMENT as u32),
            CL_DEVICE_HOST_UNIFIED_MEMORY => Answer::flag(capabilities.unified_memory),
            CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => Answer::from_value(limits::PROGRAM_VARIABLES),
            CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => Answer::from_value(limits::PROGRAM_VARIABLES),
            CL_DEVICE_SVM_CAPABILITIES => Answer::from_value(self.svm()),
            CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
            | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
            | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => Answer::from_value(0u32),
            _ => return None,
        })
    }

    fn images(&self, name: cl_device_info) -> Option<Answer> {
        let has_images = self.has(Extension::Images);
        let limits = self.capabilities().images.filter(|_| has_images);
        let size =
            |pick: fn(&ImageLimits) -> u32| Answer::from_value(limits.as_ref().map_or(0, pick) as usize);
        let features = &self.description().features;
        let count = |count: u32| Answer::from_value(if has_images { count } else { 0 });
        Some(match name {
            CL_DEVICE_IMAGE_SUPPORT => Answer::flag(has_images),
            CL_DEVICE_IMAGE2D_MAX_WIDTH | CL_DEVICE_IMAGE2D_MAX_HEIGHT => size(|it| it.max_2d),
            CL_DEVICE_IMAGE3D_MAX_WIDTH | CL_DEVICE_IMAGE3D_MAX_HEIGHT | CL_DEVICE_IMAGE3D_MAX_DEPTH => {
                size(|it| it.max_3d)
            }
            CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => size(|it| it.max_buffer),
            CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => size(|it| it.max_layers),
            CL_DEVICE_MAX_READ_IMAGE_ARGS => count(features.target.read_images.min(limits::READ_IMAGES)),
            CL_DEVICE_MAX_WRITE_IMAGE_ARGS => {
                count(features.target.written_images.min(limits::WRITTEN_IMAGES))
            }
            CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => {
                let has_both = self.has(Extension::ReadWriteImages);
                count(if has_both { features.target.written_images.min(limits::WRITTEN_IMAGES) } else { 0 })
            }
            CL_DEVICE_MAX_SAMPLERS => {
                count(limits.as_ref().map_or(0, |it| it.max_samplers.min(limits::SAMPLERS)))
            }
            // In texels: 2D images from buffers have any pitch and start at any texel.
            CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => count(1),
            _ => return None,
        })
    }

    fn numbers(&self, name: cl_device_info) -> Option<Answer> {
        let has_double = self.has(Extension::KhrFp64);
        let has_half = self.has(Extension::KhrFp16);
        let info = self.description();
        let basic = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
        let denormals = |preserved: bool| if preserved { CL_FP_DENORM } else { 0 };
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
            | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT => Answer::from_value(1u32),
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE => {
                Answer::from_value(u32::from(has_double))
            }
            CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => {
                Answer::from_value(u32::from(has_half))
            }
            CL_DEVICE_SINGLE_FP_CONFIG => {
                let denormals = denormals(info.preserves_subnormals());
                Answer::from_value(basic | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT | denormals)
            }
            CL_DEVICE_DOUBLE_FP_CONFIG if !has_double => Answer::from_value(0u64),
            CL_DEVICE_DOUBLE_FP_CONFIG => {
                let directed = CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF;
                Answer::from_value(basic | directed | CL_FP_FMA | CL_FP_DENORM)
            }
            CL_DEVICE_HALF_FP_CONFIG if !has_half => Answer::from_value(0u64),
            CL_DEVICE_HALF_FP_CONFIG => Answer::from_value(
                basic
                    | CL_FP_FMA
                    | denormals(info.is_strict || info.features.target.float_controls_denorm_preserve16),
            ),
            CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR => Answer::from_value(
                CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED
                    | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT,
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
                Answer::from_value(orders(&capabilities.atomic_orders) | scopes(&capabilities.atomic_scopes))
            }
            CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => {
                // A fence of work-item scope orders only the work-item itself, so every order is supported.
                let all = orders(&capabilities.fence_orders) | scopes(&capabilities.fence_scopes);
                Answer::from_value(all | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM)
            }
            limits::SINGLE_FP_ATOMICS => Answer::from_value(self.float_atomics([
                Fp32GlobalAdd,
                Fp32GlobalMinMax,
                Fp32LocalAdd,
                Fp32LocalMinMax,
            ])),
            limits::DOUBLE_FP_ATOMICS => Answer::from_value(self.float_atomics([
                Fp64GlobalAdd,
                Fp64GlobalMinMax,
                Fp64LocalAdd,
                Fp64LocalMinMax,
            ])),
            limits::HALF_FP_ATOMICS => Answer::from_value(0u64),
            CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR => Answer::from_value(self.clocks()),
            CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT => Answer::flag(true),
            CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT => {
                Answer::flag(self.has(Extension::WorkGroupCollectives))
            }
            CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => Answer::flag(self.has(Extension::GenericAddressSpace)),
            CL_DEVICE_PIPE_SUPPORT => Answer::flag(self.has(Extension::Pipes)),
            CL_DEVICE_MAX_PIPE_ARGS => self.pipe_limit(limits::PIPE_ARGUMENTS),
            CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => self.pipe_limit(self.pipe_reservations()),
            CL_DEVICE_PIPE_MAX_PACKET_SIZE => self.pipe_limit(limits::PIPE_PACKET_SIZE),
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

    /// A limit of pipes: 0 if the device does not have them.
    fn pipe_limit(&self, limit: u32) -> Answer {
        Answer::from_value(if self.has(Extension::Pipes) { limit } else { 0 })
    }

    /// `CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS`
    fn pipe_reservations(&self) -> u32 {
        let ends_loops = self.description().driver_bugs().any(|bug| bug == DriverBug::LoopIterationLimit);
        if ends_loops { limits::FEW_PIPE_RESERVATIONS } else { limits::PIPE_RESERVATIONS }
    }

    /// `cl_device_kernel_clock_capabilities_khr`
    fn clocks(&self) -> cl_bitfield {
        [
            (Extension::ClockDevice, CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR),
            (Extension::ClockWorkGroup, CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR),
            (Extension::ClockSubGroup, CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR),
        ]
        .into_iter()
        .filter(|(feature, _)| self.has(*feature))
        .fold(0, |all, (_, bit)| all | bit)
    }

    /// A limit of device-side enqueue: 0 if the device does not have it.
    fn enqueue_limit(&self, limit: u32) -> Answer {
        Answer::from_value(if self.has(Extension::DeviceEnqueue) { limit } else { 0 })
    }

    fn queues(&self, name: cl_device_info) -> Option<Answer> {
        Some(match name {
            CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
                Answer::from_value(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
            }
            CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => {
                let all = CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT;
                Answer::from_value(if self.has(Extension::DeviceEnqueue) { all } else { 0 })
            }
            CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => {
                let all = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
                Answer::from_value(if self.has(Extension::DeviceEnqueue) { all } else { 0 })
            }
            CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE => self.enqueue_limit(DeviceQueue::PREFERRED_SIZE),
            CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE => self.enqueue_limit(DeviceQueue::MAX_SIZE),
            CL_DEVICE_MAX_ON_DEVICE_QUEUES => self.enqueue_limit(limits::DEVICE_QUEUES),
            CL_DEVICE_MAX_ON_DEVICE_EVENTS => self.enqueue_limit(DeviceQueue::EVENTS),
            _ => return None,
        })
    }
}

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
            Scope::AllSvmDevices => CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES,
        }
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
