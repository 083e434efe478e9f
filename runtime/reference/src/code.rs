//! The executable form of a program: functions of operations on numbered registers.
//!
//! Owns the operations. A register is 64 bits and contains one scalar; vectors use consecutive registers. Must not
//! depend on the ids of a module, nor on how operations are executed.

use spirv::OpenclStd100Op;

use crate::{
    Environment,
    alu::{Conversion, F1, F2, F3, Imprecise},
    memory::Buffer,
    pipe::End,
    poison::{Poison, Shift},
    types::{Part, Scalar},
};

/// The index of a register in its function.
pub(crate) type Slot = u32;
/// The index of an operation in its function.
pub(crate) type Position = u32;

/// An operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Copy {
        to: Slot,
        from: Slot,
        count: u32,
    },
    One {
        f: F1,
        to: Slot,
        a: Slot,
        count: u16,
    },
    Two {
        f: F2,
        to: Slot,
        a: Slot,
        b: Slot,
        count: u16,
    },
    Three {
        f: F3,
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
        count: u16,
    },
    // Specialized single-lane operations.
    AddI32(Lane),
    SubI32(Lane),
    MulI32(Lane),
    AddI64(Lane),
    SubI64(Lane),
    MulI64(Lane),
    ShiftLeftI32(Lane),
    ShiftRightI32(Lane),
    ShiftLeftI64(Lane),
    ShiftRightI64(Lane),
    /// Any other shift.
    Shift {
        f: F2,
        lane: Lane,
        shift: Shift,
        size: u8,
    },
    And(Lane),
    Or(Lane),
    /// Of numbers that are 0 or 1.
    LogicalOr(Lane),
    Xor(Lane),
    Equal(Lane),
    NotEqual(Lane),
    LessU(Lane),
    LessEqualU(Lane),
    LessI32(Lane),
    LessEqualI32(Lane),
    AddF32(Lane),
    SubF32(Lane),
    MulF32(Lane),

    Convert {
        how: u32,
        to: Slot,
        from: Slot,
        count: u16,
    },
    /// Truncates integers to their low bytes.
    Truncate {
        to: Slot,
        from: Slot,
        count: u16,
        size: u8,
    },
    /// Selects by one condition, or by one for each lane.
    Select {
        to: Slot,
        condition: Slot,
        a: Slot,
        b: Slot,
        count: u16,
        per_lane: bool,
    },
    ExtractDynamic {
        to: Slot,
        vector: Slot,
        index: Slot,
        count: u16,
    },
    InsertDynamic {
        to: Slot,
        scalar: Slot,
        index: Slot,
        count: u16,
    },
    /// Reinterprets the bits as lanes of another size.
    Repack {
        to: Slot,
        from: Slot,
        count: u16,
        from_size: u8,
        to_size: u8,
    },
    Any {
        to: Slot,
        from: Slot,
        count: u16,
    },
    All {
        to: Slot,
        from: Slot,
        count: u16,
    },
    Undefined {
        to: Slot,
        count: u32,
    },

    /// `base + index * stride`, with a signed index of this size.
    Offset {
        to: Slot,
        base: Slot,
        index: Slot,
        size: u8,
        stride: i64,
    },
    Advance {
        to: Slot,
        base: Slot,
        bytes: i64,
    },
    /// The address of one of the function's variables.
    Variable {
        to: Slot,
        object: u32,
    },
    Input {
        to: Slot,
        input: Input,
        component: u8,
        count: u8,
        size: u8,
    },
    Load {
        to: Slot,
        pointer: Slot,
        size: u8,
        count: u8,
        how: Operands,
    },
    LoadParts {
        to: Slot,
        pointer: Slot,
        parts: u32,
        how: Operands,
    },
    Store {
        pointer: Slot,
        from: Slot,
        size: u8,
        count: u8,
        how: Operands,
    },
    StoreParts {
        pointer: Slot,
        from: Slot,
        parts: u32,
        how: Operands,
    },
    /// Stores constant bytes; no bytes mean zeros.
    StoreBytes {
        pointer: Slot,
        data: u32,
        how: Operands,
    },
    CopyMemory {
        to: Slot,
        from: Slot,
        size: Slot,
        align: u8,
    },
    /// Makes the contents of a variable undefined.
    Forget {
        pointer: Slot,
        size: u32,
    },
    /// Converts a generic pointer to a pointer to a space, or null.
    ToSpace {
        to: Slot,
        pointer: Slot,
        space: u8,
    },
    /// The memory semantics for the space of a generic pointer.
    SpaceSemantics {
        to: Slot,
        pointer: Slot,
    },
    Atomic(u32),
    Fence(u32),
    /// Waits for other work-items, then executes a group operation.
    Collective(u32),
    Library(u32),
    /// A floating-point operation with several allowed results.
    Imprecise(u32),
    Image(u32),
    Pipe(u32),
    Enqueue(u32),

    Jump(Position),
    Branch {
        condition: Slot,
        then: Position,
        otherwise: Position,
    },
    Switch(u32),
    Call(u32),
    Return,
    ReturnValue {
        from: Slot,
        count: u32,
    },
    Unreachable,
    /// The beginning of a statement, at which a debugger can stop.
    Statement,

    /// Strict: poisons a result if a condition on two operands is non-zero.
    Taint {
        f: F2,
        to: Slot,
        a: Slot,
        b: Slot,
        count: u16,
        why: Poison,
    },
    /// Strict: checks a signed index of this size against a number of elements.
    CheckIndex {
        index: Slot,
        size: u8,
        length: u64,
    },
    /// Strict: checks for division by zero and signed overflow.
    CheckDivision {
        a: Slot,
        b: Slot,
        count: u16,
        size: u8,
        is_signed: bool,
    },
    /// Strict: checks that shifts are less than the width.
    CheckShift {
        b: Slot,
        count: u16,
        bits: u8,
    },
    /// Strict: checks that an integer type can represent the values.
    CheckConversion {
        how: u32,
        from: Slot,
        count: u16,
    },
    /// Strict: checks operands for which a function is undefined: `f` must be zero.
    CheckOperands {
        f: F2,
        a: Slot,
        b: Slot,
        count: u16,
        what: NoResult,
    },
    /// Strict: checks an addition, subtraction or multiplication for overflow.
    CheckOverflow {
        a: Slot,
        b: Slot,
        count: u16,
        size: u8,
        operation: Overflow,
    },
}

/// The memory operands of an access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands {
    pub(crate) align: u8,
    /// Whether the access is non-private: in the Vulkan environment, `NonPrivatePointer`.
    pub(crate) is_shared: bool,
}

/// The registers of an operation on one lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane {
    pub(crate) to: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

impl Lane {
    /// Swaps the operands.
    pub(crate) fn swapped(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }
}

/// A signed operation that must not overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    Add,
    Subtract,
    Multiply,
}

/// Why a function's result is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoResult {
    /// `clamp`: the minimum is greater than the maximum.
    Range,
    /// `smoothstep`: the first edge is not less than the second.
    Edges,
    /// A bit field extends beyond its integer.
    Field,
    /// An integer does not fit into a channel of an image.
    Texel,
    /// A broadcast from a work-item that the group does not have.
    Broadcast,
    /// A cluster is larger than a sub-group.
    Cluster,
    /// The stride of an asynchronous copy is 0.
    Stride,
}

/// A built-in variable of a work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    GlobalId,
    GlobalSize,
    GlobalOffset,
    GlobalLinearId,
    LocalId,
    LocalLinearId,
    LocalSize,
    EnqueuedLocalSize,
    GroupId,
    NumGroups,
    WorkDim,
    SubGroupSize,
    MaxSubGroupSize,
    NumSubGroups,
    EnqueuedNumSubGroups,
    SubGroupId,
    SubGroupLocalId,
    /// The mask of sub-group work-items whose ids compare this way with the own id.
    SubGroupMask(Comparison),
    /// Vulkan's global id, group id and number of groups, which are relative to the dispatch.
    DispatchId,
    DispatchGroupId,
    DispatchGroups,
    /// The time, and its upper half.
    Clock,
}

/// A comparison of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    GreaterEqual,
    Greater,
    LessEqual,
    Less,
}

/// A memory or execution scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scope {
    WorkItem,
    SubGroup,
    WorkGroup,
    Device,
    AllDevices,
}

/// `memory_order`
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SeqCst,
}

/// Memory semantics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Semantics {
    pub(crate) order: Order,
    pub(crate) local: bool,
    pub(crate) global: bool,
    pub(crate) image: bool,
    /// `MakeAvailable` and `MakeVisible`, in the Vulkan environment only.
    pub(crate) available: bool,
    pub(crate) visible: bool,
}

/// A value known at decoding, or in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known<T> {
    Now(T),
    Then(Slot),
}

impl<T: Copy + From<u64>> Known<T> {
    /// The value.
    #[inline]
    pub(crate) fn get(self, regs: &[u64]) -> T {
        match self {
            Self::Now(value) => value,
            Self::Then(slot) => T::from(regs[slot as usize]),
        }
    }

    /// The register, if the value is dynamic.
    pub(crate) fn slot(self) -> Option<Slot> {
        match self {
            Self::Now(_) => None,
            Self::Then(slot) => Some(slot),
        }
    }
}

impl From<u64> for Scope {
    /// SPIR-V 3.27
    fn from(number: u64) -> Self {
        match number {
            1 => Self::Device,
            2 => Self::WorkGroup,
            3 => Self::SubGroup,
            4 => Self::WorkItem,
            _ => Self::AllDevices,
        }
    }
}

impl From<u64> for Semantics {
    /// SPIR-V 3.25
    fn from(bits: u64) -> Self {
        let order = match bits & 0x1e {
            0 => Order::Relaxed,
            2 => Order::Acquire,
            4 => Order::Release,
            8 | 6 => Order::AcquireRelease,
            _ => Order::SeqCst,
        };
        // CrossWorkgroupMemory in the OpenCL environment, UniformMemory in the Vulkan environment.
        Self {
            order,
            local: bits & 0x100 != 0,
            global: bits & 0x240 != 0,
            image: bits & 0x800 != 0,
            available: bits & 0x2000 != 0,
            visible: bits & 0x4000 != 0,
        }
    }
}

/// An atomic operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Atomic {
    pub(crate) action: Action,
    pub(crate) scalar: Scalar,
    pub(crate) to: Option<Slot>,
    pub(crate) pointer: Slot,
    pub(crate) value: Slot,
    pub(crate) comparator: Slot,
    pub(crate) scope: Known<Scope>,
    pub(crate) semantics: Known<Semantics>,
    /// The semantics of a failed compare-exchange.
    pub(crate) failure: Known<Semantics>,
}

/// The action of an atomic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Load,
    Store,
    Exchange,
    CompareExchange,
    Increment,
    Decrement,
    Add,
    Subtract,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
    TestAndSet,
    Clear,
}

/// A fence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fence {
    pub(crate) scope: Known<Scope>,
    pub(crate) semantics: Known<Semantics>,
}

/// A collective operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collective {
    /// The participants: a work-group or a sub-group.
    pub(crate) scope: Scope,
    /// Whether only the active work-items participate.
    pub(crate) non_uniform: bool,
    pub(crate) kind: CollectiveKind,
    pub(crate) to: Slot,
    pub(crate) value: Slot,
    pub(crate) other: Slot,
    /// The number of lanes of the value.
    pub(crate) count: u16,
    /// The number of lanes of the other operand.
    pub(crate) other_count: u16,
    /// The size in bytes of a lane of the other operand.
    pub(crate) size: u8,
}

/// The action when all participants have arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CollectiveKind {
    Barrier {
        memory: Known<Scope>,
        semantics: Known<Semantics>,
    },
    All,
    Any,
    AllEqual,
    Elect,
    Broadcast,
    BroadcastFirst,
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// Within clusters of this size; 0 is the whole group.
    Rotate(u32),
    Ballot,
    InverseBallot,
    BallotBitExtract,
    BallotBitCount(Scan),
    BallotFindLsb,
    BallotFindMsb,
    /// Reduces or scans values. In clusters, the other operand is their size.
    Combine {
        f: F2,
        scan: Scan,
        identity: u64,
        is_clustered: bool,
    },
    /// Copies elements of this many bytes between local and global memory.
    Copy {
        from: Slot,
        elements: Slot,
        stride: Slot,
        bytes: u32,
        to_local: bool,
        /// The event operand, replaced by the event of the copy.
        event: Slot,
    },
    /// Waits for an array of events.
    WaitEvents {
        count: Slot,
        events: Slot,
    },
    Pipe(Pipe),
}

/// The form of a reduction or scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    Reduce,
    Inclusive,
    Exclusive,
}

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) function: u32,
    pub(crate) to: Slot,
    /// The first register and the register count of each argument.
    pub(crate) arguments: Vec<(Slot, u32)>,
}

/// A multi-way branch.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    pub(crate) selector: Slot,
    pub(crate) cases: Vec<(u64, Position)>,
    pub(crate) default: Position,
}

/// A library function that accesses memory or mixes lanes.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    pub(crate) function: OpenclStd100Op,
    pub(crate) to: Slot,
    pub(crate) result: Lanes,
    pub(crate) operands: Vec<(Slot, Lanes)>,
    /// The literal operand: a component count or a rounding mode. For `printf`, whether it is a trap.
    pub(crate) literal: u32,
}

/// A floating-point operation with several allowed results, on each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImpreciseLanes {
    pub(crate) imprecise: Imprecise,
    pub(crate) to: Slot,
    /// Its operands; the last one is repeated if there are fewer.
    pub(crate) operands: [Slot; 3],
    pub(crate) count: u16,
}

/// An operation on an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Image {
    pub(crate) action: ImageAction,
    pub(crate) to: Slot,
    pub(crate) result: Lanes,
    pub(crate) image: Slot,
    pub(crate) sampler: Slot,
    /// The coordinates.
    pub(crate) coordinates: (Slot, Lanes),
    /// The texel to write.
    pub(crate) texel: (Slot, Lanes),
    /// What selects the level.
    pub(crate) level: LevelSelector,
    /// The number of dimensions of the image, without and with its layers.
    pub(crate) dims: u8,
    pub(crate) rank: u8,
    /// Whether the access is non-private: in the Vulkan environment, `NonPrivateTexel`.
    pub(crate) is_shared: bool,
    /// Strict: whether written integers must be in the range of the channels, because Vulkan does not saturate them.
    pub(crate) must_fit: bool,
    /// Strict: whether OpenCL C's rules for samplers apply.
    pub(crate) checks_sampler: bool,
}

/// What selects the level of an image operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LevelSelector {
    /// The first level.
    First,
    /// A level by its number, or a level of detail for a sampler.
    Level(Slot, Lanes),
    /// Two gradients.
    Gradients([(Slot, Lanes); 2]),
}

/// The action of an image operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageAction {
    Read,
    Write,
    Sample,
    Size,
    Number(FormatNumber),
}

/// A queried property of an image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatNumber {
    Order,
    Channel,
    /// The number of levels.
    Levels,
    /// The number of samples, which is always 1.
    One,
}

/// A pipe operation. Some operands are present only for some actions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pipe {
    pub(crate) action: PipeAction,
    pub(crate) to: Slot,
    pub(crate) pipe: Option<Slot>,
    pub(crate) reservation: Option<Slot>,
    /// The index of a packet in its reservation, or the number of packets to reserve.
    pub(crate) index: Option<Slot>,
    pub(crate) pointer: Option<Slot>,
    /// The size of a packet.
    pub(crate) size: Option<Slot>,
}

/// The action of a pipe operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeAction {
    Read,
    Write,
    ReadReserved,
    WriteReserved,
    Reserve(End),
    Commit(End),
    IsValid,
    Ready,
    MaxPackets,
}

/// A device-side enqueue function.
#[derive(Debug, Clone)]
pub(crate) enum Enqueue {
    Kernel(Box<Enqueued>),
    Marker {
        to: Slot,
        queue: Slot,
        count: Slot,
        wait: Slot,
        event: Slot,
    },
    SubGroups {
        to: Slot,
        space: Slot,
    },
    /// The size of a work-group with this many sub-groups.
    LocalSize {
        to: Slot,
        count: Slot,
    },
    UserEvent {
        to: Slot,
    },
    IsValid {
        to: Slot,
        event: Slot,
    },
    /// Retains or releases.
    Count {
        event: Slot,
        by: i64,
    },
    Status {
        event: Slot,
        status: Slot,
    },
    Profile {
        event: Slot,
        pointer: Slot,
    },
}

/// An enqueued kernel.
#[derive(Debug, Clone)]
pub(crate) struct Enqueued {
    pub(crate) to: Slot,
    pub(crate) queue: Slot,
    pub(crate) flags: Slot,
    /// The first register of the index space: dimensions, offset, local and global sizes.
    pub(crate) space: Slot,
    /// The wait list: its length and address.
    pub(crate) count: Slot,
    pub(crate) wait: Slot,
    /// The address for its event.
    pub(crate) event: Slot,
    /// The index of the block in the program.
    pub(crate) block: u32,
    pub(crate) literal: Slot,
    pub(crate) size: Slot,
    /// The sizes of local memory arguments.
    pub(crate) locals: Vec<Slot>,
}

impl Pipe {
    /// The registers that it reads.
    pub(crate) fn operands(&self) -> impl Iterator<Item = Slot> {
        [self.pipe, self.reservation, self.index, self.pointer, self.size].into_iter().flatten()
    }
}

impl Enqueue {
    /// The registers that it reads, except the index space.
    pub(crate) fn operands(&self) -> Vec<Slot> {
        match self {
            Self::Kernel(it) => {
                let fixed = [it.queue, it.flags, it.count, it.wait, it.event, it.literal, it.size];
                fixed.into_iter().chain(it.locals.iter().copied()).collect()
            }
            Self::Marker { queue, count, wait, event, .. } => vec![*queue, *count, *wait, *event],
            Self::SubGroups { space, .. } => vec![*space],
            Self::LocalSize { count, .. } => vec![*count],
            Self::UserEvent { .. } => Vec::new(),
            Self::IsValid { event, .. } | Self::Count { event, .. } => vec![*event],
            Self::Status { event, status } => vec![*event, *status],
            Self::Profile { event, pointer } => vec![*event, *pointer],
        }
    }
}

/// The type of a value's lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) scalar: Scalar,
    pub(crate) count: u16,
}

/// A variable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// A variable that a launch binds, in a Vulkan module.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) location: ResourceLocation,
}

/// What a variable is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceLocation {
    PushConstants,
    Descriptor { set: u32, binding: u32 },
}

/// The source location of operations from a position on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) position: Position,
    pub(crate) file: u32,
    pub(crate) line: u32,
}

/// A function. Its first registers are the parameters.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The program-wide index of its first operation.
    pub(crate) first: u32,
    pub(crate) code: Vec<Op>,
    /// The initial values of registers.
    pub(crate) presets: Vec<(Slot, u64)>,
    /// Undefined constants.
    pub(crate) undefined: Vec<(Slot, u32)>,
    pub(crate) slots: u32,
    pub(crate) objects: Vec<Object>,
    pub(crate) lines: Vec<Line>,
    /// The registers of each parameter, and their memory layout.
    pub(crate) parameters: Vec<Vec<Part>>,
    /// The number of result registers.
    pub(crate) result: u32,
    /// Whether it is declared here and defined in another module.
    pub(crate) is_import: bool,
    /// Whether a work-item may wait for others in it.
    pub(crate) has_collectives: bool,
}

/// Bytes and their number; no bytes mean zeros.
pub(crate) type Bytes = (Vec<u8>, u64);

/// Operands that are too large for an operation.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) conversions: Vec<Conversion>,
    pub(crate) parts: Vec<Vec<Part>>,
    pub(crate) data: Vec<Bytes>,
    pub(crate) atomics: Vec<Atomic>,
    pub(crate) fences: Vec<Fence>,
    pub(crate) collectives: Vec<Collective>,
    pub(crate) libraries: Vec<Library>,
    pub(crate) imprecise: Vec<ImpreciseLanes>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) calls: Vec<Call>,
    pub(crate) images: Vec<Image>,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) enqueues: Vec<Enqueue>,
}

/// A decoded module with its program-scope variables.
#[derive(Debug)]
pub struct Program {
    pub(crate) environment: Environment,
    pub(crate) functions: Vec<Function>,
    pub(crate) tables: Tables,
    /// The kernels that the host can launch, followed by those that can only be enqueued.
    pub(crate) kernels: Vec<crate::interface::Kernel>,
    /// The number of kernels that the host can launch.
    pub(crate) launched: usize,
    /// The variables in local memory.
    pub(crate) locals: Vec<Object>,
    /// The variables in global memory, and their names.
    pub(crate) globals: Vec<(Buffer, String)>,
    /// The variables of the module in private memory, with their initial bytes.
    pub(crate) privates: Vec<(Object, Option<Bytes>)>,
    /// The variables that a launch binds.
    pub(crate) resources: Vec<Resource>,
    /// The work-group size that the module declares as a constant.
    pub(crate) group_size: Option<[u32; 3]>,
    pub(crate) files: Vec<String>,
}

impl Program {
    /// The statements of a program that was decoded with [`Statements::Marked`](crate::Statements): their files, lines
    /// and functions.
    pub fn statements(&self) -> Vec<(&str, u32, &str)> {
        let mut found = Vec::new();
        for function in &self.functions {
            let marks = function.code.iter().zip(0..).filter(|(op, _)| matches!(op, Op::Statement));
            let lines = marks.filter_map(|(_, position)| function.line(position));
            found.extend(lines.filter_map(|line| {
                Some((self.files.get(line.file as usize)?.as_str(), line.line, function.name.as_str()))
            }));
        }
        found
    }

    /// The source location of an operation, by its program-wide index.
    pub(crate) fn line_at(&self, site: u32) -> Option<Line> {
        let after = self.functions.partition_point(|function| function.first <= site);
        let function = self.functions[..after].last()?;
        function.line(site - function.first)
    }
}

impl Function {
    /// The number of registers of each parameter.
    pub(crate) fn parameter_slots(&self) -> Vec<u32> {
        self.parameters.iter().map(|parts| parts.iter().map(|part| part.count).sum()).collect()
    }

    /// The source line of an operation.
    pub(crate) fn line(&self, position: Position) -> Option<Line> {
        let after = self.lines.partition_point(|line| line.position <= position);
        self.lines[..after].last().copied().filter(|line| line.line != 0)
    }
}
