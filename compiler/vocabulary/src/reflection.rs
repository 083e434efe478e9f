//! The numbers of the instructions that describe kernels in a module. The emitter writes them, and the runtime reads them.
//!
//! `runtime/core/src/interface.rs` describes the instructions and their operands.

/// Kiln's own set, for what `NonSemantic.ClspvReflection` cannot express.
pub mod kiln {
    /// The name of the set.
    pub const SET: &str = "NonSemantic.Kiln.1";
    /// The offset of the table for bounds checks in the variables' buffer, and the maximum number of ranges.
    pub const BOUNDS: u32 = 1;
    /// The source position of the next checked access.
    pub const BOUNDS_SITE: u32 = 2;
    /// The offset of the trap record in the printf buffer.
    pub const TRAPS: u32 = 3;
    /// The source position and message of the next trap.
    pub const TRAP: u32 = 4;
    /// The name of a driver bug that the module works around.
    pub const WORKAROUND: u32 = 5;
    /// The location of a sampler's bits in a uniform buffer.
    pub const SAMPLER_UNIFORM: u32 = 6;
    /// The name and type of an argument that the kernel does not use.
    pub const UNUSED_ARGUMENT: u32 = 7;
    /// The offset of the address of the queue for device-side enqueue.
    pub const DEVICE_QUEUE: u32 = 8;
    /// A kernel that uses that queue.
    pub const USES_QUEUE: u32 = 9;
    /// A kernel that is an enqueued block.
    pub const BLOCK: u32 = 10;
    /// The offset of the number of the command that runs a kernel.
    pub const COMMAND: u32 = 11;
    /// A level of an image that the kernel writes, and its descriptor.
    pub const WRITTEN_LEVEL: u32 = 12;
    /// The only launch for which the module is valid.
    pub const PROVED_LAUNCH: u32 = 13;
}

/// The only launch of a kernel for which a module is valid: its operations have the forms that a proof for this launch found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProvedLaunch {
    /// The kernel.
    pub kernel: String,
    /// The number of work-items in each dimension.
    pub global: [u32; 3],
    /// The number of work-items of a group in each dimension.
    pub local: [u32; 3],
    /// The source lines whose operations have changed.
    pub lines: Vec<u32>,
}

/// The set `NonSemantic.ClspvReflection` (SPIRV-Registry, `nonsemantic/NonSemantic.ClspvReflection`).
#[allow(missing_docs)]
pub mod clspv {
    /// The flag of a kernel that may call `printf`.
    pub const MAY_USE_PRINTF: u32 = 1;

    pub const KERNEL: u32 = 1;
    pub const ARGUMENT_INFO: u32 = 2;
    pub const STORAGE_BUFFER: u32 = 3;
    pub const UNIFORM_BUFFER: u32 = 4;
    pub const POD_STORAGE_BUFFER: u32 = 5;
    pub const POD_UNIFORM: u32 = 6;
    pub const POD_PUSH_CONSTANT: u32 = 7;
    pub const SAMPLED_IMAGE: u32 = 8;
    pub const STORAGE_IMAGE: u32 = 9;
    pub const SAMPLER: u32 = 10;
    pub const WORKGROUP: u32 = 11;
    pub const SPEC_CONSTANT_WORKGROUP_SIZE: u32 = 12;
    pub const SPEC_CONSTANT_GLOBAL_OFFSET: u32 = 13;
    pub const SPEC_CONSTANT_WORK_DIM: u32 = 14;
    pub const GLOBAL_OFFSET: u32 = 15;
    pub const ENQUEUED_LOCAL_SIZE: u32 = 16;
    pub const GLOBAL_SIZE: u32 = 17;
    pub const REGION_OFFSET: u32 = 18;
    pub const NUM_WORKGROUPS: u32 = 19;
    pub const REGION_GROUP_OFFSET: u32 = 20;
    pub const CONSTANTS_STORAGE_BUFFER: u32 = 21;
    pub const CONSTANTS_UNIFORM: u32 = 22;
    pub const LITERAL_SAMPLER: u32 = 23;
    pub const REQUIRED_WORKGROUP_SIZE: u32 = 24;
    pub const SPEC_CONSTANT_SUBGROUP_MAX_SIZE: u32 = 25;
    pub const POINTER_PUSH_CONSTANT: u32 = 26;
    pub const POINTER_UNIFORM: u32 = 27;
    pub const VARIABLES_STORAGE_BUFFER: u32 = 28;
    pub const VARIABLE_RELOCATION: u32 = 29;
    pub const CHANNEL_ORDER_PUSH_CONSTANT: u32 = 30;
    pub const CHANNEL_TYPE_PUSH_CONSTANT: u32 = 31;
    pub const CHANNEL_ORDER_UNIFORM: u32 = 32;
    pub const CHANNEL_TYPE_UNIFORM: u32 = 33;
    pub const STORAGE_TEXEL_BUFFER: u32 = 34;
    pub const UNIFORM_TEXEL_BUFFER: u32 = 35;
    pub const CONSTANTS_POINTER: u32 = 36;
    pub const VARIABLES_POINTER: u32 = 37;
    pub const PRINTF_INFO: u32 = 38;
    pub const PRINTF_BUFFER_STORAGE_BUFFER: u32 = 39;
    pub const PRINTF_BUFFER_POINTER: u32 = 40;
    pub const SAMPLER_PUSH_CONSTANT: u32 = 41;
    pub const WORKGROUP_VARIABLE_SIZE: u32 = 42;
}
