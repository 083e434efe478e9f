//! What a device offers, in OpenCL terms, and what a compiler must know to target it.
//!
//! Owns the vocabulary and the rules that follow from the memory model alone. Must not depend on how a back end
//! obtains these values: `vulkan/features.rs` derives them from Vulkan.

use std::fmt;

use kiln_vocabulary::driver_bugs::{Driver, DriverBug, DriverId, Workarounds};
use kiln_vocabulary::extensions::{Extension, Extensions};
pub use kiln_vocabulary::opencl::{Environment, Order, Scope};
use kiln_vocabulary::{
    precision::Precision,
    target::{self, Target},
    tuning::Tuning,
};

/// A listed device: its identity, its capabilities, and whether it can run kernels.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// The index in the device list, as used by [`Selector::Index`](crate::Selector).
    pub index: usize,
    /// `CL_DEVICE_NAME`
    pub name: String,
    /// The driver's name and version.
    pub driver: String,
    /// `CL_DEVICE_TYPE`
    pub kind: DeviceKind,
    /// What identifies it across processes and interfaces.
    pub identity: Identity,
    /// The SPIR-V environment of modules for this device.
    pub environment: Environment,
    /// Whether this is the reference device: a built-in interpreter that reports undefined behavior.
    pub is_strict: bool,
    /// What it supports, in OpenCL terms.
    pub capabilities: Capabilities,
    /// Features that the compiler needs to target it.
    pub features: Features,
    /// The driver's entry in the table of driver bugs, if it has one.
    pub known_driver: Option<Driver>,
    /// Missing requirements that prevent it from running kernels; empty for a usable device.
    pub lacks: Vec<String>,
}

/// The identifiers of a device (cl_khr_device_uuid).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// `CL_DEVICE_UUID`
    pub device: [u8; 16],
    /// `CL_DRIVER_UUID`
    pub driver: [u8; 16],
    /// `CL_DEVICE_LUID` and `CL_DEVICE_NODE_MASK`, on systems that have them.
    pub local: Option<([u8; 8], u32)>,
}

impl DeviceInfo {
    /// Known bugs of the driver, which can break correct kernels.
    pub fn driver_bugs(&self) -> impl Iterator<Item = DriverBug> {
        self.known_driver.into_iter().flat_map(DriverBug::for_driver)
    }

    /// The extensions and optional features that OpenCL C 3.0 has on the device.
    pub fn extensions(&self) -> Extensions {
        self.features.extensions(self.environment)
    }

    /// The compiler's target for the device. The reference device for OpenCL runs modules with any feature.
    pub fn target(&self) -> Target {
        let mut target = Target::full(self.environment);
        if self.environment == Environment::Vulkan {
            target.workarounds = self.workarounds();
            target.features = self.features.target.clone();
            target.precision = self.precision();
            target.tuning = self.tuning();
        }
        target
    }

    /// The driver bugs that modules for this device must work around.
    pub fn workarounds(&self) -> Workarounds {
        self.known_driver.map_or(Workarounds::NONE, Workarounds::for_driver)
    }

    /// Whether arithmetic of `float` preserves subnormal numbers (`CL_FP_DENORM`): by a guarantee of the driver, or as
    /// measured. No version of lavapipe flushes them, but it does not report that.
    pub fn preserves_subnormals(&self) -> bool {
        let is_measured = self.known_driver.is_some_and(|driver| driver.id == DriverId::Lavapipe);
        self.is_strict || self.features.target.float_controls_denorm_preserve32 || is_measured
    }

    /// Whether the sub-groups of a work-group make progress independently of each other
    /// (`CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`). Vulkan does not guarantee it, and drivers for CPUs run a sub-group until
    /// it reaches a barrier. NVIDIA's GPUs schedule each sub-group of a work-group for itself.
    pub fn has_independent_sub_groups(&self) -> bool {
        let is_scheduled = self.known_driver.is_some_and(|driver| driver.id == DriverId::Nvidia);
        self.is_strict || is_scheduled
    }

    /// The known precision of the driver's instructions.
    pub fn precision(&self) -> Precision {
        self.known_driver.map_or(Precision::GUARANTEED, Precision::for_driver)
    }

    /// Known properties of the driver's compiler. The reference device for Vulkan has all of them, so that it checks the code of
    /// passes that run for some drivers only.
    pub fn tuning(&self) -> Tuning {
        if self.is_strict && self.environment == Environment::Vulkan {
            return Tuning::ALL;
        }
        self.known_driver.map_or(Tuning::NONE, Tuning::for_driver)
    }
}

/// `CL_DEVICE_TYPE`, with separate kinds of GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// None of the other kinds.
    Other,
    /// The host's CPU.
    Cpu,
    /// A simulated GPU, or one that a hypervisor shares.
    VirtualGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// A GPU with its own memory.
    DiscreteGpu,
}

/// What a device offers to kernels, in the terms of `clGetDeviceInfo`.
#[derive(Debug, Clone, PartialEq)]
pub struct Capabilities {
    /// The memory orders of `CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES`.
    pub atomic_orders: Vec<Order>,
    /// The memory scopes of `CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES`.
    pub atomic_scopes: Vec<Scope>,
    /// The memory orders of `CL_DEVICE_ATOMIC_FENCE_CAPABILITIES`.
    pub fence_orders: Vec<Order>,
    /// The memory scopes of `CL_DEVICE_ATOMIC_FENCE_CAPABILITIES`.
    pub fence_scopes: Vec<Scope>,
    /// `cl_khr_int64_base_atomics` and `cl_khr_int64_extended_atomics` on global memory.
    pub int64_global_atomics: bool,
    /// `cl_khr_int64_base_atomics` and `cl_khr_int64_extended_atomics` on local memory.
    pub int64_local_atomics: bool,
    /// Native support for `__opencl_c_ext_fp32_global_atomic_add` and `__opencl_c_ext_fp32_local_atomic_add`. Devices
    /// without it still offer both, emulated.
    pub float_atomic_add: bool,
    /// Native support for `long` and `ulong`.
    pub int64: bool,
    /// `cl_khr_fp16`
    pub fp16: bool,
    /// `cl_khr_fp64`
    pub fp64: bool,
    /// Sub-group support (`CL_DEVICE_MAX_NUM_SUB_GROUPS` is not zero).
    pub sub_groups: Option<SubGroups>,
    /// Image support (`CL_DEVICE_IMAGE_SUPPORT`) and its limits.
    pub images: Option<ImageLimits>,
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`
    pub max_work_group_size: u32,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES`
    pub max_work_item_sizes: [u32; 3],
    /// `CL_DEVICE_LOCAL_MEM_SIZE`
    pub local_memory: u64,
    /// `CL_DEVICE_GLOBAL_MEM_SIZE`
    pub global_memory: u64,
    /// `CL_DEVICE_MAX_MEM_ALLOC_SIZE`
    pub max_allocation: u64,
    /// `CL_DEVICE_MAX_PARAMETER_SIZE`
    pub max_parameter_size: u32,
    /// `CL_DEVICE_HOST_UNIFIED_MEMORY`: the host and the device share memory.
    pub unified_memory: bool,
    /// Required alignment of address and size for host memory used as a buffer without copying
    /// (`CL_MEM_USE_HOST_PTR`); `None` if unsupported.
    pub host_memory_alignment: Option<u64>,
    /// `CL_DEVICE_SVM_ATOMICS`: the host and a running kernel can synchronize by atomics on shared virtual memory.
    /// [`Device::svm`](crate::Device::svm) works on every device.
    pub svm_atomics: bool,
    /// `CL_DEVICE_MAX_COMPUTE_UNITS`; `None` if the driver does not report it.
    pub compute_units: Option<u32>,
    /// `CL_DEVICE_PROFILING_TIMER_RESOLUTION` in nanoseconds; 0 if launches cannot be timed.
    pub timer_resolution: f32,
}

/// Image limits of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageLimits {
    /// Whether a kernel may both read and write one image (`__opencl_c_read_write_images`).
    pub read_write: bool,
    /// `CL_DEVICE_IMAGE2D_MAX_WIDTH`; the maximum height is the same.
    pub max_2d: u32,
    /// `CL_DEVICE_IMAGE3D_MAX_WIDTH`; the maximum height and depth are the same.
    pub max_3d: u32,
    /// `CL_DEVICE_IMAGE_MAX_ARRAY_SIZE`
    pub max_layers: u32,
    /// `CL_DEVICE_IMAGE_MAX_BUFFER_SIZE`
    pub max_buffer: u32,
    /// `CL_DEVICE_MAX_SAMPLERS`
    pub max_samplers: u32,
}

/// Sub-group support of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubGroups {
    /// The maximum sub-group size, in work-items.
    pub max_size: u32,
    /// The supported sub-group extensions, such as `cl_khr_subgroup_ballot`.
    pub extensions: Vec<&'static str>,
}

/// Features that modules depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    /// The features that the compiler's target has, too.
    pub target: target::Features,
    /// The newest SPIR-V version that the device accepts.
    pub spirv: (u8, u8),
    /// Votes of a sub-group
    pub subgroup_vote: bool,
    /// Reductions and scans of a sub-group
    pub subgroup_arithmetic: bool,
    /// Ballots of a sub-group
    pub subgroup_ballot: bool,
    /// Shuffles in a sub-group
    pub subgroup_shuffle: bool,
    /// Relative shuffles in a sub-group
    pub subgroup_shuffle_relative: bool,
    /// Reductions of parts of a sub-group
    pub subgroup_clustered: bool,
    /// Sub-group operations on 8-, 16- and 64-bit types
    pub subgroup_extended_types: bool,
    /// Bytes of local memory
    pub local_memory: u32,
}

impl Features {
    /// The extensions and optional features that OpenCL C 3.0 has on a device with these features.
    pub(crate) fn extensions(&self, environment: Environment) -> Extensions {
        Extensions::offered(environment, &self.target)
    }
}

/// The orders of atomic operations and fences that a device with these extensions has (OpenCL API, table 5).
pub(crate) fn orders(extensions: Extensions) -> Vec<Order> {
    let has = |order: &Order| match order {
        Order::Relaxed => true,
        Order::Acquire | Order::Release | Order::AcqRel => extensions.has(Extension::OrderAcqRel),
        Order::SeqCst => extensions.has(Extension::OrderSeqCst),
    };
    Order::ALL.into_iter().filter(has).collect()
}

/// The scopes of atomic operations that a device with these extensions has (OpenCL API, table 5).
pub(crate) fn scopes(extensions: Extensions) -> Vec<Scope> {
    let has = |scope: &Scope| match scope {
        Scope::WorkItem => false,
        Scope::WorkGroup => true,
        Scope::SubGroup => extensions.has(Extension::FeatureSubgroups),
        Scope::Device => extensions.has(Extension::ScopeDevice),
        Scope::AllSvmDevices => extensions.has(Extension::ScopeAllDevices),
    };
    Scope::ALL.into_iter().filter(has).collect()
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Other => "other",
            Self::Cpu => "cpu",
            Self::VirtualGpu => "virtual gpu",
            Self::IntegratedGpu => "integrated gpu",
            Self::DiscreteGpu => "discrete gpu",
        })
    }
}
