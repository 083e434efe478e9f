//! The form in which a program is executed: functions of operations on numbered registers.
//!
//! Owns the operations. A register is 64 bits and holds one scalar; a vector lies in neighbours. It must never know the ids
//! of a module, nor how an operation is carried out.

use spirv::OpenclStd100Op;

use crate::{
    Environment,
    alu::{Conversion, F1, F2, F3},
    memory::Buffer,
    pipe::End,
    poison::Poison,
    types::{Part, Scalar},
};

/// A register of a function.
pub(crate) type Slot = u32;
/// An operation's position in its function.
pub(crate) type Position = u32;

/// What is done.
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
    // Of one lane, what kernels do most.
    AddI32(Lane),
    SubI32(Lane),
    MulI32(Lane),
    AddI64(Lane),
    SubI64(Lane),
    MulI64(Lane),
    ShiftLeftI32(Lane),
    ShiftRightI32(Lane),
    And(Lane),
    Or(Lane),
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
    /// The low bytes of integers.
    Truncate {
        to: Slot,
        from: Slot,
        count: u16,
        size: u8,
    },
    /// Of one condition, or of one for each lane.
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
    /// The same bits as lanes of another size.
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

    /// `base + index * stride`, of a signed index of some bytes.
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
    /// Stores constant bytes; none stands for zeros.
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
    /// What a variable holds is undefined from here.
    Forget {
        pointer: Slot,
        size: u32,
    },
    /// A generic pointer as one to a space, or null.
    ToSpace {
        to: Slot,
        pointer: Slot,
        space: u8,
    },
    /// The space of a generic pointer as memory semantics.
    SpaceSemantics {
        to: Slot,
        pointer: Slot,
    },
    Atomic(u32),
    Fence(u32),
    /// Waits for other work-items, and does something with them.
    Meet(u32),
    Library(u32),
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

    /// Strict: a result is poison where a condition on two operands is not zero.
    Taint {
        f: F2,
        to: Slot,
        a: Slot,
        b: Slot,
        count: u16,
        why: Poison,
    },
    /// Strict: an index, of some bytes and with a sign, into so many elements.
    CheckIndex {
        index: Slot,
        size: u8,
        length: u64,
    },
    /// Strict: divisors, and the one signed division that overflows.
    CheckDivision {
        a: Slot,
        b: Slot,
        count: u16,
        size: u8,
        is_signed: bool,
    },
    /// Strict: shifts by less than the width.
    CheckShift {
        b: Slot,
        count: u16,
        bits: u8,
    },
    /// Strict: numbers that integers of a type can hold.
    CheckConversion {
        how: u32,
        from: Slot,
        count: u16,
    },
    /// Strict: operands for which a function has no result: where `f` is not zero.
    CheckOperands {
        f: F2,
        a: Slot,
        b: Slot,
        count: u16,
        what: Without,
    },
    /// Strict: an addition, subtraction or multiplication that must not overflow.
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
    /// Whether it takes part in synchronisation: in the Vulkan environment, `NonPrivatePointer`.
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
    /// With the operands in the other order.
    pub(crate) fn turned(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }
}

/// What must not overflow as signed integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    Add,
    Subtract,
    Multiply,
}

/// Why a function has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    /// `clamp`: the minimum is above the maximum.
    Range,
    /// `smoothstep`: the first edge is not below the second.
    Edges,
    /// A bit field reaches beyond its integer.
    Field,
}

/// What a work-item may ask about its place.
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
    /// The work-items of the sub-group whose ids compare so with one's own, as bits.
    SubGroupMask(Comparison),
    /// The global id, the group's id and the number of groups as Vulkan counts them: within the dispatch.
    DispatchId,
    DispatchGroupId,
    DispatchGroups,
}

/// How ids compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    GreaterEqual,
    Greater,
    LessEqual,
    Less,
}

/// A set of work-items that synchronise.
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
    /// `MakeAvailable` and `MakeVisible`, which only Vulkan has.
    pub(crate) available: bool,
    pub(crate) visible: bool,
}

/// Something that is known when a module is decoded, or that a register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known<T> {
    Now(T),
    Then(Slot),
}

impl<T: Copy + From<u64>> Known<T> {
    /// What it is.
    #[inline]
    pub(crate) fn get(self, regs: &[u64]) -> T {
        match self {
            Self::Now(value) => value,
            Self::Then(slot) => T::from(regs[slot as usize]),
        }
    }

    /// The register that holds it.
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
        // CrossWorkgroupMemory in the OpenCL environment, UniformMemory in that of Vulkan.
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
    /// Of a compare-exchange that fails.
    pub(crate) failure: Known<Semantics>,
}

/// What an atomic operation does.
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

/// What work-items of a group do together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meet {
    /// Who takes part: a work-group or a sub-group.
    pub(crate) scope: Scope,
    /// Only those take part that come by.
    pub(crate) non_uniform: bool,
    pub(crate) what: Together,
    pub(crate) to: Slot,
    pub(crate) value: Slot,
    pub(crate) other: Slot,
    /// Lanes of the value.
    pub(crate) count: u16,
    /// Lanes of the other operand.
    pub(crate) other_count: u16,
    /// Bytes of a lane of the other operand.
    pub(crate) size: u8,
}

/// What is done when all have come.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Together {
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
    /// Within clusters of so many; of 0, all.
    Rotate(u32),
    Ballot,
    InverseBallot,
    BallotBitExtract,
    BallotBitCount(Scan),
    BallotFindLsb,
    BallotFindMsb,
    /// Combines values; the bits are those of the neutral element. Clusters of 0 are the whole.
    Combine {
        f: F2,
        scan: Scan,
        neutral: u64,
        is_clustered: bool,
    },
    /// A copy between local and global memory, of `count` elements of `size` bytes.
    Copy {
        from: Slot,
        elements: Slot,
        stride: Slot,
        bytes: u32,
        to_local: bool,
        /// The event that is given, and from then on the one that stands for the copy.
        event: Slot,
    },
    /// For the copies of so many events, which lie there.
    WaitEvents {
        count: Slot,
        events: Slot,
    },
    Pipe(Pipe),
}

/// How far values are combined.
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
    /// Where the arguments are and how many registers each has.
    pub(crate) arguments: Vec<(Slot, u32)>,
}

/// A choice among many.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    pub(crate) selector: Slot,
    pub(crate) cases: Vec<(u64, Position)>,
    pub(crate) default: Position,
}

/// A function of the library that is more than lanes.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    pub(crate) function: OpenclStd100Op,
    pub(crate) to: Slot,
    pub(crate) result: Lanes,
    pub(crate) operands: Vec<(Slot, Lanes)>,
    /// A literal behind the operands: a number of components or a rounding mode. Of `printf`, whether the work-item stops there.
    pub(crate) literal: u32,
}

/// An operation on an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Image {
    pub(crate) action: ImageAction,
    pub(crate) to: Slot,
    pub(crate) result: Lanes,
    pub(crate) image: Slot,
    pub(crate) sampler: Slot,
    /// Coordinates.
    pub(crate) place: (Slot, Lanes),
    /// What is written.
    pub(crate) texel: (Slot, Lanes),
    /// Dimensions of the image, without and with its layers.
    pub(crate) dims: u8,
    pub(crate) rank: u8,
    /// Whether it takes part in synchronisation: in the Vulkan environment, `NonPrivateTexel`.
    pub(crate) is_shared: bool,
}

/// What is done with an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageAction {
    Read,
    Write,
    Sample,
    Size,
    Number(FormatNumber),
}

/// What is asked of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatNumber {
    Order,
    Channel,
    /// Levels or samples: there is one.
    One,
}

/// An operation on a pipe. Not every one has all operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pipe {
    pub(crate) action: PipeAction,
    pub(crate) to: Slot,
    pub(crate) pipe: Option<Slot>,
    pub(crate) reservation: Option<Slot>,
    /// Of a packet in its reservation, or how many are reserved.
    pub(crate) index: Option<Slot>,
    pub(crate) pointer: Option<Slot>,
    /// Bytes of a packet.
    pub(crate) size: Option<Slot>,
}

/// What is done with a pipe.
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
    Most,
}

/// A function of device-side enqueue.
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

/// A kernel that is enqueued.
#[derive(Debug, Clone)]
pub(crate) struct Enqueued {
    pub(crate) to: Slot,
    pub(crate) queue: Slot,
    /// Dimensions, offset, local and global sizes.
    pub(crate) space: Slot,
    /// The events that it waits for: how many, and where.
    pub(crate) count: Slot,
    pub(crate) wait: Slot,
    /// Where its own event goes.
    pub(crate) event: Slot,
    /// Among the blocks of the program.
    pub(crate) block: u32,
    pub(crate) literal: Slot,
    pub(crate) size: Slot,
    /// Bytes of local memory.
    pub(crate) locals: Vec<Slot>,
}

impl Pipe {
    /// The registers that it reads.
    pub(crate) fn operands(&self) -> impl Iterator<Item = Slot> {
        [self.pipe, self.reservation, self.index, self.pointer, self.size].into_iter().flatten()
    }
}

impl Enqueue {
    /// The registers that it reads, but for the index space.
    pub(crate) fn operands(&self) -> Vec<Slot> {
        match self {
            Self::Kernel(it) => {
                let fixed = [it.queue, it.count, it.wait, it.event, it.literal, it.size];
                fixed.into_iter().chain(it.locals.iter().copied()).collect()
            }
            Self::Marker { queue, count, wait, event, .. } => vec![*queue, *count, *wait, *event],
            Self::SubGroups { space, .. } => vec![*space],
            Self::UserEvent { .. } => Vec::new(),
            Self::IsValid { event, .. } | Self::Count { event, .. } => vec![*event],
            Self::Status { event, status } => vec![*event, *status],
            Self::Profile { event, pointer } => vec![*event, *pointer],
        }
    }
}

/// What a value consists of.
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

/// A variable of a module for Vulkan that is bound by a launch.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) place: ResourcePlace,
}

/// What is bound to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourcePlace {
    PushConstants,
    Descriptor { set: u32, binding: u32 },
}

/// Where the operations from a position on come from.
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
    /// The first of its operations among all of the program.
    pub(crate) first: u32,
    pub(crate) code: Vec<Op>,
    /// What registers hold from the beginning.
    pub(crate) presets: Vec<(Slot, u64)>,
    /// Constants without value.
    pub(crate) undefined: Vec<(Slot, u32)>,
    pub(crate) slots: u32,
    pub(crate) objects: Vec<Object>,
    pub(crate) lines: Vec<Line>,
    /// The registers of each parameter, and how they lie in memory.
    pub(crate) parameters: Vec<Vec<Part>>,
    /// Registers of the result.
    pub(crate) result: u32,
    /// Declared here and defined elsewhere.
    pub(crate) is_import: bool,
    /// Whether a work-item may wait for others in it.
    pub(crate) meets: bool,
}

/// Bytes, and their number: no bytes stand for zeros.
pub(crate) type Bytes = (Vec<u8>, u64);

/// Operands that do not fit into an operation.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) conversions: Vec<Conversion>,
    pub(crate) parts: Vec<Vec<Part>>,
    pub(crate) data: Vec<Bytes>,
    pub(crate) atomics: Vec<Atomic>,
    pub(crate) fences: Vec<Fence>,
    pub(crate) meets: Vec<Meet>,
    pub(crate) libraries: Vec<Library>,
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
    /// Those that the host launches, and behind them those that only kernels enqueue.
    pub(crate) kernels: Vec<crate::interface::Kernel>,
    /// How many the host launches.
    pub(crate) launched: usize,
    /// The variables in local memory.
    pub(crate) locals: Vec<Object>,
    /// The variables in global memory, and their names.
    pub(crate) globals: Vec<(Buffer, String)>,
    /// The variables of the module in private memory, with their initial bytes.
    pub(crate) privates: Vec<(Object, Option<Bytes>)>,
    /// The variables that a launch binds.
    pub(crate) resources: Vec<Resource>,
    /// The size of work-groups that the module has as a constant.
    pub(crate) group_size: Option<[u32; 3]>,
    pub(crate) files: Vec<String>,
}

impl Program {
    /// Where an operation of the program is.
    pub(crate) fn line_at(&self, site: u32) -> Option<Line> {
        let after = self.functions.partition_point(|function| function.first <= site);
        let function = self.functions[..after].last()?;
        function.line(site - function.first)
    }
}

impl Function {
    /// The registers of each parameter.
    pub(crate) fn parameter_slots(&self) -> Vec<u32> {
        self.parameters.iter().map(|parts| parts.iter().map(|part| part.count).sum()).collect()
    }

    /// The source line of an operation.
    pub(crate) fn line(&self, position: Position) -> Option<Line> {
        let after = self.lines.partition_point(|line| line.position <= position);
        self.lines[..after].last().copied().filter(|line| line.line != 0)
    }
}
