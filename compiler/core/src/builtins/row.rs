//! What a row of the table holds.
//!
//! Data and its vocabulary. `sema` looks at `Lowering` for what has a node of its own (atomics, fences,
//! barriers, `printf`), `lower` matches on the rest.

use crate::{
    hir::Rounding,
    opencl::{AtomicOp, Scope},
};

use super::{name::named, pattern::Signature};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The name.
    pub name: &'static str,
    /// The part of the specification that it belongs to.
    pub family: Family,
    /// What may be assumed of a call.
    pub attributes: Attributes,
    /// How it is expressed.
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

/// What may be assumed of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// It reads and writes no memory: the result depends on the arguments only.
    pub is_const: bool,
    /// It writes no memory.
    pub is_pure: bool,
    /// Work-items meet in it: it must not move into or out of divergent control flow.
    pub is_convergent: bool,
}

/// How a built-in function is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// A function of a library.
    Library(Library),
    /// An index or a size of the work-item (OpenCL C 6.15.1, 6.15.19).
    WorkItem(WorkItem),
    /// A clock that this scope shares (cl_khr_kernel_clock).
    Clock(Scope),
    /// `vloadn` and its kin (OpenCL C 6.15.7).
    VectorLoad(Object),
    /// `vstoren` and its kin.
    VectorStore(Object),
    /// An atomic operation: `sema` makes a node of its own.
    Atomic(AtomicForm),
    /// A fence: a node of its own.
    Fence(Fence),
    /// A barrier: a node of its own.
    Barrier(Barrier),
    /// `to_global` and its kin: the space of the result (OpenCL C 6.15.10).
    ToSpace,
    /// `get_fence`
    GetFence,
    /// Copies by a whole work-group (OpenCL C 6.15.11).
    Async(AsyncCopy),
    /// An operation of a work-group or a sub-group together (OpenCL C 6.15.16, 6.15.19).
    Collective(Scope, Collective, Participants),
    /// Images (OpenCL C 6.15.15).
    Image(ImageOp),
    /// Pipes (OpenCL C 6.15.17), used by a work-item alone or by a group together.
    Pipe(PipeOp, Scope),
    /// Kernels that enqueue kernels (OpenCL C 6.15.18).
    Enqueue(Enqueue),
    /// `shuffle`, `shuffle2`: the sources follow one another, the mask is last.
    Shuffle,
    /// `printf`: a node of its own.
    Printf,
    /// `__builtin_trap` and its kin, which end the launch: a node of its own.
    Trap,
    /// `atomic_init`: a plain store.
    AtomicInit,
}

/// Functions of values: an instruction of the OpenCL library there, and on Vulkan one of these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// The instruction of the OpenCL library; none where OpenCL has core instructions for it.
    pub opencl: Option<Instruction>,
    /// How Vulkan does it.
    pub vulkan: Vulkan,
}

/// An instruction of a library of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The name, as the library's specification has it.
    pub name: &'static str,
    /// Whether `s_`/`u_` (OpenCL) or `S`/`U` (GLSL) stands before it, by the signedness of the first operand.
    pub by_sign: bool,
}

/// How Vulkan does what a library function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vulkan {
    /// An instruction of the GLSL library, which meets the error bounds of OpenCL.
    Glsl(Instruction),
    /// The same, but for `double` a function of our own.
    GlslNotDouble(Instruction),
    /// A function of our own; where results may be less exact, an instruction of the GLSL library for `float`.
    OwnOrGlsl(Instruction),
    /// Instructions that both environments have: `lower` knows them by the name of the function.
    Core,
    /// A function of our own, in OpenCL C.
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

/// What a vector load or store touches in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// `half` in memory, `float` or `double` as a value: `vload_half`.
    pub is_half: bool,
    /// Whole vectors, three as four: `vloada_half`.
    pub is_aligned: bool,
    /// How a store rounds; none for the default mode.
    pub rounding: Option<Rounding>,
}

/// An atomic function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicForm {
    /// What it does.
    pub op: AtomicOp,
    /// Whether order and scope are arguments.
    pub is_explicit: bool,
    /// Whether it is of OpenCL 1.x.
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

/// A barrier: who waits.
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

/// Which work-items of a group an operation is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participants {
    /// All: control flow is uniform.
    All,
    /// Those that get there: `sub_group_non_uniform_all` and its kin.
    Active,
}

/// Operations of work-items together.
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
    /// `intel_sub_group_shuffle_down`: two values side by side.
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
    /// Masks of sub-group invocations by comparison with one's own.
    Mask {
        "eq" => Equal,
        "ge" => GreaterEqual,
        "gt" => Greater,
        "le" => LessEqual,
        "lt" => Less,
    }
}

/// What is done with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageOp {
    /// `read_image*`; with a sampler if the second parameter is one.
    Read,
    /// `write_image*`
    Write,
    /// What `get_image_*` asks.
    Query(ImageQuery),
}

named! {
    /// What is asked of an image.
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
    /// What is done with a pipe.
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
    /// Kernels that enqueue kernels.
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
