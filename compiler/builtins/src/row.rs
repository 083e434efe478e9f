//! The contents of a table row.
//!
//! `sema` handles the lowerings with their own HIR nodes (atomics, fences, barriers, `printf`). `lower` handles the
//! rest.

use kiln_types::ops::Rounding;
use kiln_vocabulary::opencl::{AtomicOp, Scope};

use super::{name::named, pattern::Signature};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The name.
    pub name: &'static str,
    /// The part of the specification that defines it.
    pub family: Family,
    /// What a pass can assume about calls of a built-in function.
    pub attributes: Attributes,
    /// Its lowering.
    pub lowering: Lowering,
    /// The overloads.
    pub(super) signature: Signature,
}

named! {
    /// The families of built-in functions.
    Family {
        "workitem" => WorkItem,
        "math" => Math,
        "integer" => Integer,
        "common" => Common,
        "geometric" => Geometric,
        "relational" => Relational,
        "vload" => VectorData,
        "sync" => Synchronization,
        "space" => AddressSpace,
        "async" => AsyncCopy,
        "atomic" => Atomic,
        "legacy_atomic" => LegacyAtomic,
        "misc" => Miscellaneous,
        "image" => Image,
        "workgroup" => WorkGroup,
        "subgroup" => SubGroup,
        "pipe" => Pipe,
        "enqueue" => Enqueue,
        "vendor" => Vendor,
    }
}

/// What a pass can assume about calls of a built-in function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// It accesses no memory: the result depends only on the arguments.
    pub is_const: bool,
    /// It writes no memory.
    pub is_pure: bool,
    /// It is convergent: it must not be moved into or out of divergent control flow.
    pub is_convergent: bool,
}

/// The lowering of a built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// A function of an extended instruction set or of Kiln's library.
    Library(Library),
    /// A work-item query (OpenCL C 6.15.1, 6.15.20).
    WorkItem(WorkItem),
    /// A clock with this scope (cl_khr_kernel_clock).
    Clock(Scope),
    /// `vloadn` and its variants (OpenCL C 6.15.7).
    VectorLoad(Object),
    /// `vstoren` and its variants.
    VectorStore(Object),
    /// An atomic operation, with its own HIR node.
    Atomic(AtomicForm),
    /// A fence, with its own HIR node.
    Fence(Fence),
    /// A barrier, with its own HIR node.
    Barrier(Barrier),
    /// `to_global` and similar functions. The result determines the address space (OpenCL C 6.15.10).
    ToSpace,
    /// `get_fence`
    GetFence,
    /// Copies by a work-group (OpenCL C 6.15.11).
    Async(AsyncCopy),
    /// An operation of a work-group or sub-group (OpenCL C 6.15.16, 6.15.20).
    Collective(Scope, Collective, Participants),
    /// Images (OpenCL C 6.15.15).
    Image(ImageOp),
    /// A pipe operation (OpenCL C 6.15.18) of a work-item or a group.
    Pipe(PipeOp, Scope),
    /// Device-side enqueue (OpenCL C 6.15.19).
    Enqueue(Enqueue),
    /// `shuffle`, `shuffle2`: selects components of the concatenated sources. The mask is the last argument.
    Shuffle,
    /// `printf`, with its own HIR node.
    Printf,
    /// `__builtin_trap` and similar functions, which end the launch, with its own HIR node.
    Trap,
    /// `__builtin_prefetch`: evaluates the address.
    Prefetch,
    /// `atomic_init`: a plain store.
    AtomicInit,
    /// `__builtin_memcpy` and similar functions.
    Bytes(Bytes),
}

/// The lowerings of a pure function: an extended instruction of the OpenCL set, and one of several lowerings on Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// The instruction of the OpenCL set. `None` if core instructions implement it.
    pub opencl: Option<Instruction>,
    /// The lowering on Vulkan.
    pub vulkan: Vulkan,
}

/// An instruction of an extended instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its name in the specification of the set.
    pub name: &'static str,
    /// Whether it has the prefix `s_`/`u_` (OpenCL) or `S`/`U` (GLSL), depending on the signedness of the first
    /// operand.
    pub by_sign: bool,
}

/// The lowering of a library function on Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vulkan {
    /// An instruction of the GLSL set that meets OpenCL's error bounds.
    Glsl(Instruction),
    /// An instruction of the GLSL set. For `double`, a function of Kiln's library.
    GlslNotDouble(Instruction),
    /// A function of Kiln's library. If lower accuracy is allowed, an instruction of the GLSL set for `float`.
    OwnOrGlsl(Instruction),
    /// A function of Kiln's library. If the driver's `Fma` rounds once, that instruction for `float` and `double`.
    OwnOrFused(Instruction),
    /// Core instructions, in both environments. `lower` selects them by the function's name.
    Core,
    /// A function of Kiln's library, in OpenCL C.
    Own,
}

named! {
    /// Indices and sizes.
    WorkItem {
        "WorkDim" => WorkDim,
        "GlobalSize" => GlobalSize,
        "GlobalId" => GlobalId,
        "LocalSize" => LocalSize,
        "EnqueuedLocalSize" => EnqueuedLocalSize,
        "LocalId" => LocalId,
        "NumGroups" => NumGroups,
        "GroupId" => GroupId,
        "GlobalOffset" => GlobalOffset,
        "GlobalLinearId" => GlobalLinearId,
        "LocalLinearId" => LocalLinearId,
        "SubGroupSize" => SubGroupSize,
        "MaxSubGroupSize" => MaxSubGroupSize,
        "NumSubGroups" => NumSubGroups,
        "EnqueuedNumSubGroups" => EnqueuedNumSubGroups,
        "SubGroupId" => SubGroupId,
        "SubGroupLocalId" => SubGroupLocalId,
    }
}

/// The memory object of a vector load or store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// `half` in memory, `float` or `double` as a value: `vload_half`.
    pub is_half: bool,
    /// Whole vectors, where 3 components occupy the memory of 4: `vloada_half`.
    pub is_aligned: bool,
    /// The rounding mode of a store. `None` for the default mode.
    pub rounding: Option<Rounding>,
}

/// The form of an atomic function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicForm {
    /// The operation.
    pub op: AtomicOp,
    /// Whether it takes order and scope arguments.
    pub is_explicit: bool,
    /// Whether it is a function of OpenCL 1.x.
    pub is_legacy: bool,
    /// `atomic_inc`, `atomic_dec`: the operand is 1.
    pub by_one: bool,
}

named! {
    /// Fences.
    Fence {
        "item" => WorkItemFence,
        "mem" => MemFence,
        "read" => ReadMemFence,
        "write" => WriteMemFence,
    }
}

/// The form of a barrier function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// The work-items that wait for each other.
    pub execution: Scope,
}

named! {
    /// Copies by a whole work-group.
    AsyncCopy {
        "copy" => Copy,
        "strided" => Strided,
        "wait" => Wait,
        "prefetch" => Prefetch,
        "fence" => Fence,
        "copy_2d" => Copy2d,
        "copy_3d" => Copy3d,
    }
}

/// The participating work-items of a group operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participants {
    /// All work-items: control flow must be uniform.
    All,
    /// The active work-items: `sub_group_non_uniform_all` and similar functions.
    Active,
}

/// Group operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Collective {
    All,
    Any,
    AllEqual,
    Elect,
    Broadcast,
    BroadcastFirst,
    Reduce(Arithmetic),
    ScanInclusive(Arithmetic),
    ScanExclusive(Arithmetic),
    ClusteredReduce(Arithmetic),
    Ballot,
    InverseBallot,
    BallotBitExtract,
    BallotBitCount,
    BallotScanInclusive,
    BallotScanExclusive,
    BallotFindLsb,
    BallotFindMsb,
    Mask(Mask),
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// `intel_sub_group_shuffle_down`: shuffles the concatenation of two values.
    ShuffleDownPair,
    ShuffleUpPair,
    Rotate,
    ClusteredRotate,
    BlockRead,
    BlockWrite,
}

named! {
    /// How values of work-items are combined.
    Arithmetic {
        "add" => Add,
        "mul" => Multiply,
        "min" => Min,
        "max" => Max,
        "and" => And,
        "or" => Or,
        "xor" => Xor,
        "logical_and" => LogicalAnd,
        "logical_or" => LogicalOr,
        "logical_xor" => LogicalXor,
    }
}

named! {
    /// Sub-group masks: which invocations to include, by a comparison of their ids with the id of the current one.
    Mask {
        "eq" => Equal,
        "ge" => GreaterEqual,
        "gt" => Greater,
        "le" => LessEqual,
        "lt" => Less,
    }
}

/// Image operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageOp {
    /// `read_image*`. With a sampler if the second parameter is one.
    Read,
    /// `write_image*`
    Write,
    /// `get_image_*`
    Query(ImageQuery),
}

named! {
    /// The queried property of an image.
    ImageQuery {
        "width" => Width,
        "height" => Height,
        "depth" => Depth,
        "dim" => Dim,
        "array_size" => ArraySize,
        "channel_data_type" => ChannelDataType,
        "channel_order" => ChannelOrder,
        "num_mip_levels" => MipLevels,
        "num_samples" => Samples,
    }
}

named! {
    /// Functions on byte ranges: `memcpy` and similar functions.
    Bytes {
        "copy" => Copy,
        "move" => Move,
        "set" => Set,
    }
}

named! {
    /// Pipe operations.
    PipeOp {
        "read" => Read,
        "write" => Write,
        "reserve_read" => ReserveRead,
        "reserve_write" => ReserveWrite,
        "commit_read" => CommitRead,
        "commit_write" => CommitWrite,
        "is_valid" => IsValidReserveId,
        "num_packets" => NumPackets,
        "max_packets" => MaxPackets,
    }
}

named! {
    /// Functions of device-side enqueue.
    Enqueue {
        "kernel" => Kernel,
        "marker" => Marker,
        "work_group_size" => WorkGroupSize,
        "preferred_multiple" => PreferredMultiple,
        "sub_group_count" => SubGroupCount,
        "max_sub_group_size" => MaxSubGroupSize,
        "create_event" => CreateUserEvent,
        "retain_event" => RetainEvent,
        "release_event" => ReleaseEvent,
        "is_valid_event" => IsValidEvent,
        "set_event_status" => SetUserEventStatus,
        "profiling_info" => CaptureProfilingInfo,
        "default_queue" => DefaultQueue,
        "ndrange" => NdRange,
    }
}

impl Enqueue {
    /// The number of arguments of `enqueue_kernel` before the sizes of local memory, after lowering: a block is four.
    pub const FIXED_ARGUMENTS: usize = 10;
}
