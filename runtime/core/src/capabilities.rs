//! What a device offers, in OpenCL's words, and what a compiler must know of it.
//!
//! Owns the vocabulary and the rules that follow from the memory model alone. It must never know how a back end finds these
//! facts: `vulkan/features.rs` derives them from Vulkan.

use std::fmt;

use kiln_vocabulary::extensions::{Extension, Extensions};
use kiln_vocabulary::faults::{Driver, Fault, Workarounds};
use kiln_vocabulary::{opencl, target};

/// A device as listed: its identity, what it offers, and whether it can run kernels.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// The position in the list, accepted by [`Selector::Index`](crate::Selector).
    pub index: usize,
    /// `CL_DEVICE_NAME`
    pub name: String,
    /// The driver and its version.
    pub driver: String,
    /// `CL_DEVICE_TYPE`
    pub kind: DeviceKind,
    /// The environment whose modules it takes.
    pub environment: Environment,
    /// Whether it is a reference device, which executes modules in this process and reports what is undefined.
    pub is_strict: bool,
    /// What it offers.
    pub capabilities: Capabilities,
    /// What a compiler must know.
    pub features: Features,
    /// The driver as the table of faults has it, if faults of it are known.
    pub known_driver: Option<Driver>,
    /// What it lacks to run kernels at all; empty for a usable device.
    pub lacks: Vec<String>,
}

impl DeviceInfo {
    /// Known faults of its driver: a correct kernel may fail because of them.
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        self.known_driver.into_iter().flat_map(Fault::of)
    }

    /// The extensions and optional features that OpenCL C 3.0 has on the device.
    pub fn extensions(&self) -> Extensions {
        self.features.extensions(self.environment)
    }

    /// The faults that modules for this device must work around.
    pub fn workarounds(&self) -> Workarounds {
        self.known_driver.map_or(Workarounds::NONE, Workarounds::of)
    }
}

/// What a module is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// Vulkan's.
    Vulkan,
    /// OpenCL's own.
    OpenCl,
}

/// `CL_DEVICE_TYPE`, with the two sorts of GPU apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// None of the others.
    Other,
    /// The host's processors.
    Cpu,
    /// A GPU that is simulated or shared by a hypervisor.
    VirtualGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// A GPU with its own memory.
    DiscreteGpu,
}

/// `memory_order`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_acquire`
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcqRel,
    /// `memory_order_seq_cst`
    SeqCst,
}

/// `memory_scope`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `memory_scope_work_item`
    WorkItem,
    /// `memory_scope_sub_group`
    SubGroup,
    /// `memory_scope_work_group`
    WorkGroup,
    /// `memory_scope_device`
    Device,
    /// `memory_scope_all_devices`, also called `memory_scope_all_svm_devices`
    AllDevices,
}

/// What a device offers to kernels, in the words of `clGetDeviceInfo`.
#[derive(Debug, Clone, PartialEq)]
pub struct Capabilities {
    /// `CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES`, the orders.
    pub atomic_orders: Vec<Order>,
    /// `CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES`, the scopes.
    pub atomic_scopes: Vec<Scope>,
    /// `CL_DEVICE_ATOMIC_FENCE_CAPABILITIES`, the orders.
    pub fence_orders: Vec<Order>,
    /// `CL_DEVICE_ATOMIC_FENCE_CAPABILITIES`, the scopes.
    pub fence_scopes: Vec<Scope>,
    /// `cl_khr_int64_base_atomics` and `cl_khr_int64_extended_atomics` on global memory.
    pub int64_global_atomics: bool,
    /// The same on local memory.
    pub int64_local_atomics: bool,
    /// `__opencl_c_ext_fp32_global_atomic_add` and `__opencl_c_ext_fp32_local_atomic_add` done by the device; they are offered
    /// everywhere.
    pub float_atomic_add: bool,
    /// `long` and `ulong` done by the device.
    pub int64: bool,
    /// `cl_khr_fp16`
    pub fp16: bool,
    /// `cl_khr_fp64`
    pub fp64: bool,
    /// Sub-groups (`CL_DEVICE_MAX_NUM_SUB_GROUPS` is not zero), and what they offer.
    pub sub_groups: Option<SubGroups>,
    /// Images (`CL_DEVICE_IMAGE_SUPPORT`), and how large they can be.
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
    /// `CL_DEVICE_HOST_UNIFIED_MEMORY`: the host and the device share their memory.
    pub unified_memory: bool,
    /// Memory of the host can be buffers where it lies (`CL_MEM_USE_HOST_PTR` without copies): what its address and its size are
    /// multiples of.
    pub host_memory_alignment: Option<u64>,
    /// `CL_DEVICE_SVM_ATOMICS`: atomics of the host and of a running kernel on shared virtual memory are in one order. Coarse-
    /// and fine-grained buffers are offered everywhere.
    pub svm_atomics: bool,
    /// `CL_DEVICE_PROFILING_TIMER_RESOLUTION` in nanoseconds; 0 where launches cannot be timed.
    pub timer_resolution: f32,
}

/// The images of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageLimits {
    /// Whether a kernel may both read and write one (`__opencl_c_read_write_images`).
    pub read_write: bool,
    /// `CL_DEVICE_IMAGE2D_MAX_WIDTH`, and the same of height.
    pub max_2d: u32,
    /// `CL_DEVICE_IMAGE3D_MAX_WIDTH`, and the same of height and depth.
    pub max_3d: u32,
    /// `CL_DEVICE_IMAGE_MAX_ARRAY_SIZE`
    pub max_layers: u32,
    /// `CL_DEVICE_IMAGE_MAX_BUFFER_SIZE`
    pub max_buffer: u32,
}

/// What the sub-groups of a device offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubGroups {
    /// Work-items in the largest sub-group.
    pub max_size: u32,
    /// The extensions whose functions they have, such as `cl_khr_subgroup_ballot`.
    pub extensions: Vec<&'static str>,
}

/// What modules depend on, as plain data with the names that the compiler's target gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// The newest SPIR-V version that the device takes.
    pub spirv: (u8, u8),
    /// 8-bit integer arithmetic
    pub int8: bool,
    /// 16-bit integer arithmetic
    pub int16: bool,
    /// 64-bit integer arithmetic
    pub int64: bool,
    /// 16-bit floating-point arithmetic
    pub fp16: bool,
    /// 64-bit floating-point arithmetic
    pub fp64: bool,
    /// 8-bit loads and stores of global memory
    pub storage8: bool,
    /// 16-bit loads and stores of global memory
    pub storage16: bool,
    /// 8-bit push constants
    pub push_constant8: bool,
    /// 16-bit push constants
    pub push_constant16: bool,
    /// 64-bit atomics on global memory
    pub int64_global_atomics: bool,
    /// 64-bit atomics on local memory
    pub int64_local_atomics: bool,
    /// 32-bit floating-point atomic addition on global and on local memory
    pub float32_atomic_add: bool,
    /// Pointers to local memory as values
    pub variable_pointers: bool,
    /// Local memory with an explicit layout, for reinterpretation
    pub workgroup_explicit_layout: bool,
    /// The device scope of the memory model
    pub device_scope: bool,
    /// Chains of availability and visibility
    pub availability_chains: bool,
    /// Basic sub-group operations
    pub subgroups: bool,
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
    /// Bytes of push constants
    pub push_constant_size: u32,
    /// Bytes of local memory
    pub local_memory: u32,
    /// Signed zeros, infinities and NaNs of 32-bit floats can be demanded
    pub float_controls_preserve32: bool,
    /// The same of 16-bit floats
    pub float_controls_preserve16: bool,
    /// The same of 64-bit floats
    pub float_controls_preserve64: bool,
    /// Denormals of 32-bit floats are kept where a module demands it, along with those of other widths
    pub float_controls_denorm_preserve32: bool,
    /// The same of 16-bit floats
    pub float_controls_denorm_preserve16: bool,
    /// The same of 64-bit floats
    pub float_controls_denorm_preserve64: bool,
    /// Images
    pub images: bool,
    /// Images that a kernel both reads and writes
    pub read_write_images: bool,
    /// Rounding to nearest even of 32-bit floats can be demanded
    pub float_controls_rte32: bool,
}

impl Features {
    /// What the compiler makes modules for.
    pub fn target_features(&self) -> target::Features {
        target::Features {
            int8: self.int8,
            int16: self.int16,
            int64: self.int64,
            fp16: self.fp16,
            fp64: self.fp64,
            storage8: self.storage8,
            storage16: self.storage16,
            push_constant8: self.push_constant8,
            push_constant16: self.push_constant16,
            int64_global_atomics: self.int64_global_atomics,
            int64_local_atomics: self.int64_local_atomics,
            float32_atomic_add: self.float32_atomic_add,
            variable_pointers: self.variable_pointers,
            workgroup_explicit_layout: self.workgroup_explicit_layout,
            device_scope: self.device_scope,
            availability_chains: self.availability_chains,
            subgroups: self.subgroups,
            float_controls_preserve32: self.float_controls_preserve32,
            float_controls_preserve16: self.float_controls_preserve16,
            float_controls_preserve64: self.float_controls_preserve64,
            float_controls_denorm_preserve32: self.float_controls_denorm_preserve32,
            float_controls_denorm_preserve16: self.float_controls_denorm_preserve16,
            float_controls_denorm_preserve64: self.float_controls_denorm_preserve64,
            images: self.images,
            read_write_images: self.read_write_images,
            push_constant_size: self.push_constant_size,
        }
    }

    /// The extensions and optional features that OpenCL C 3.0 has on a device with these features.
    pub(crate) fn extensions(&self, environment: Environment) -> Extensions {
        let environment = match environment {
            Environment::Vulkan => opencl::Environment::Vulkan,
            Environment::OpenCl => opencl::Environment::OpenCl,
        };
        Extensions::offered(environment, &self.target_features())
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
        Scope::AllDevices => extensions.has(Extension::ScopeAllDevices),
    };
    Scope::ALL.into_iter().filter(has).collect()
}

impl Scope {
    /// Every scope, narrowest first.
    pub const ALL: [Self; 5] =
        [Self::WorkItem, Self::SubGroup, Self::WorkGroup, Self::Device, Self::AllDevices];
}

impl Order {
    /// Every order.
    pub const ALL: [Self; 5] = [Self::Relaxed, Self::Acquire, Self::Release, Self::AcqRel, Self::SeqCst];
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WorkItem => "work_item",
            Self::SubGroup => "sub_group",
            Self::WorkGroup => "work_group",
            Self::Device => "device",
            Self::AllDevices => "all_devices",
        })
    }
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
