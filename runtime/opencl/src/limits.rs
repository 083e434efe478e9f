//! Values that are the same for every device, and the minimums of the full profile (OpenCL API, table 5).

use kiln_compiler::opencl::MAX_TYPE_ALIGNMENT;
use opencl_sys::{cl_bitfield, cl_device_info, cl_version, make_version};

/// The version of this driver.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Extensions of the API that every device has.
pub(crate) const PLATFORM_EXTENSIONS: &[&str] = &[
    "cl_khr_create_command_queue",
    "cl_khr_device_uuid",
    "cl_khr_extended_versioning",
    "cl_khr_icd",
    "cl_khr_il_program",
    "cl_khr_spirv_linkonce_odr",
    "cl_khr_spirv_no_integer_wrap_decoration",
    "cl_khr_spirv_queries",
    "cl_khr_suggested_local_work_size",
];

/// The version of an extension.
pub(crate) fn extension_version(name: &str) -> cl_version {
    match name {
        "cl_khr_icd" | "cl_khr_integer_dot_product" => make_version(2, 0, 0),
        _ => make_version(1, 0, 0),
    }
}

/// `CL_DEVICE_MEM_BASE_ADDR_ALIGN` in bytes: the alignment of all buffers.
pub(crate) const BASE_ALIGNMENT: usize = MAX_TYPE_ALIGNMENT as usize;
// The minimums of the full profile. A device that has more reports no more: programs may use all that it reports, and the
// other arguments have limits, too. A device that has fewer reports its own number.

/// `CL_DEVICE_MAX_READ_IMAGE_ARGS`
pub(crate) const READ_IMAGES: u32 = 128;
/// `CL_DEVICE_MAX_WRITE_IMAGE_ARGS`, which is the limit of `read_write` images too.
pub(crate) const WRITTEN_IMAGES: u32 = 64;
/// `CL_DEVICE_MAX_SAMPLERS`
pub(crate) const SAMPLERS: u32 = 16;
/// `CL_DEVICE_PRINTF_BUFFER_SIZE`
pub(crate) const PRINTF_BUFFER: usize = 1 << 20;
/// `CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE`
pub(crate) const PROGRAM_VARIABLES: usize = 64 << 10;
/// `CL_DEVICE_MAX_PIPE_ARGS`: the minimum, although pipes are like other arguments.
pub(crate) const PIPE_ARGUMENTS: u32 = 16;
/// `CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS`. There is no limit but that of packets.
pub(crate) const PIPE_RESERVATIONS: u32 = 1 << 14;
/// The same for drivers with `DriverBug::LoopIterationLimit`: the loops of a work-item have 65,535 iterations in all, too few to
/// make, fill and commit 8,192 reservations.
pub(crate) const FEW_PIPE_RESERVATIONS: u32 = 1 << 12;
/// `CL_DEVICE_MAX_ON_DEVICE_QUEUES`. A queue of the device is only a size, but NVIDIA's compiler takes 12 s for a kernel with 300
/// queues, and more than 40 s for one with 1000.
pub(crate) const DEVICE_QUEUES: u32 = 64;
/// `CL_DEVICE_PIPE_MAX_PACKET_SIZE`
pub(crate) const PIPE_PACKET_SIZE: u32 = 1024;
/// The largest fill pattern of a buffer.
pub(crate) const PATTERN: usize = 128;

// cl_ext_float_atomics, which `opencl-sys` does not have yet.

/// `CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT`
pub(crate) const SINGLE_FP_ATOMICS: cl_device_info = 0x4231;
/// `CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT`
pub(crate) const DOUBLE_FP_ATOMICS: cl_device_info = 0x4232;
/// `CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT`
pub(crate) const HALF_FP_ATOMICS: cl_device_info = 0x4233;
/// `CL_DEVICE_GLOBAL_FP_ATOMIC_LOAD_STORE_EXT`
pub(crate) const GLOBAL_FP_ATOMIC_LOAD_STORE: cl_bitfield = 1 << 0;
/// `CL_DEVICE_GLOBAL_FP_ATOMIC_ADD_EXT`
pub(crate) const GLOBAL_FP_ATOMIC_ADD: cl_bitfield = 1 << 1;
/// `CL_DEVICE_GLOBAL_FP_ATOMIC_MIN_MAX_EXT`
pub(crate) const GLOBAL_FP_ATOMIC_MIN_MAX: cl_bitfield = 1 << 2;
/// `CL_DEVICE_LOCAL_FP_ATOMIC_LOAD_STORE_EXT`
pub(crate) const LOCAL_FP_ATOMIC_LOAD_STORE: cl_bitfield = 1 << 16;
/// `CL_DEVICE_LOCAL_FP_ATOMIC_ADD_EXT`
pub(crate) const LOCAL_FP_ATOMIC_ADD: cl_bitfield = 1 << 17;
/// `CL_DEVICE_LOCAL_FP_ATOMIC_MIN_MAX_EXT`
pub(crate) const LOCAL_FP_ATOMIC_MIN_MAX: cl_bitfield = 1 << 18;
