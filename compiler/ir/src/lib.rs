//! The IR: structured SSA.
//!
//! `if`, `loop`, `switch` and `block` are instructions that own their blocks. Block parameters and construct results
//! replace phis, and the nesting of blocks replaces dominance. Memory consists of bytes: a pointer has an address
//! space but no pointee type, and the access has the type. Aggregates exist only in memory. Orders and scopes are
//! OpenCL's. Independent of SPIR-V.
//!
//! Scoping: a value is visible from its definition to the end of its block, including nested blocks. A loop's
//! `continuing` block sees only its own parameters and the values outside the loop, and leaves the loop only by
//! `Next`.
//!
//! ```
//! let text = "function #0 \"f\"(%0: i32) -> i32 {\n  %1: i32 = add %0, %0\n  return %1\n}\n";
//! let module = kiln_ir::parse(text).expect("valid text");
//! assert!(kiln_ir::verify(&module).is_empty());
//! assert_eq!(module.to_string(), text);
//! ```

mod binary;
mod build;
mod check;
mod classify;
pub mod flow;
mod lex;
mod merge;
mod parse;
mod print;
mod renumber;
mod replace;
mod synchronization;
mod text;
mod verify;
mod walk;

pub use build::{Builder, OpenIf, OpenLoop, OpenSwitch};
pub use merge::reachable_functions;
pub use parse::{ParseError, parse};
pub use print::Positions;
pub use replace::Replacements;
pub use synchronization::{barrier_sync, fence_sync};
pub use verify::{check_after, verify};
pub use walk::align_at_offset;

use kiln_builtins::BuiltinId;
use kiln_syntax::Span;
use kiln_types::{
    id_type,
    index::Table,
    ops::{CompareOp, Conversion, LoopHints},
    ty::{self, ImageTy},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, FenceFlags, Linkage, Order, Scope};
use smallvec::SmallVec;

id_type! {
    /// A function.
    FuncId
}
id_type! {
    /// An object in memory: of the module, or a private object of a function.
    VarId
}
id_type! {
    /// A block of a function.
    BlockId
}
id_type! {
    /// An instruction of a function.
    InstId
}
id_type! {
    /// A value of a function.
    ValueId
}

/// The IR of a program: its functions, and its objects with static lifetime.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Objects in global, constant and local memory.
    pub vars: Table<VarId, Var>,
    /// Functions.
    pub functions: Table<FuncId, Function>,
    /// The memory that a launch passes to kernels. Set by the target's passes.
    pub interface: Interface,
    /// The table for bounds checks, if they are enabled.
    pub bounds: Option<Bounds>,
}

/// The table of `passes/check_bounds`, filled by the launch. It contains the number of ranges (32 bits); whether an
/// access was out of bounds (32 bits) and, if so, its address (64 bits), its size and the number of its site (32 bits
/// each); then the start and end address of each range; then the size of local memory for each kernel argument (32
/// bits). In local and private memory, the address is the offset from the start of the object.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The table.
    pub table: VarId,
    /// The maximum number of kernel arguments.
    pub locals: u64,
    /// The checked accesses, by number, with the names of the local or private objects that they must stay in.
    pub sites: Vec<(Span, String)>,
    /// The positions of `sites`, as `file:line:column`.
    pub positions: Vec<String>,
}

impl Bounds {
    /// The size of the part before the ranges in bytes.
    pub const HEADER: u64 = 24;
    /// The maximum number of ranges.
    pub const RANGES: u64 = 64;

    /// The offset of an argument's size.
    pub const fn local(argument: u64) -> u64 {
        Self::HEADER + 16 * Self::RANGES + 4 * argument
    }

    /// The size of a table for this number of arguments in bytes.
    pub const fn size(locals: u64) -> u64 {
        Self::local(locals).next_multiple_of(8)
    }
}

/// The memory for launch state and kernel arguments, on a target whose entry points have no parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The launch state that kernels read, with its first word in the push constants. Equal in all kernels.
    pub state: Vec<(State, u32)>,
    /// The locations of each kernel's arguments, in order.
    pub arguments: Vec<(FuncId, Vec<ArgumentLocation>)>,
    /// The buffer of program-scope variables: its initial bytes, and the addresses in it.
    pub variables: Data,
    /// The offset of each module variable in that buffer.
    pub offsets: Vec<(VarId, u64)>,
    /// Format strings of `printf`, and strings that they print, by their number in the printf buffer.
    pub formats: Vec<Format>,
    /// The size of the part of the printf buffer that `printf` uses. A trap record follows.
    pub printed: u32,
    /// The program's traps, by their number in the trap record.
    pub traps: Vec<Trap>,
    /// The locations of the image properties that the launch passes to kernels.
    pub image_facts: Vec<ImageFact>,
    /// The locations of the bits of samplers that the launch binds.
    pub sampler_facts: Vec<SamplerFact>,
    /// The images whose levels the launch binds separately, because kernels write to them.
    pub written_levels: Vec<WrittenLevels>,
}

/// The size of the printf buffer in bytes (OpenCL API 4.2, `CL_DEVICE_PRINTF_BUFFER_SIZE`: at least a MiB).
pub const PRINTF_BUFFER_SIZE: u32 = 1 << 20;

/// A point at which a work-item stops its kernel with a message, such as a failed `assert`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Its source position.
    pub span: Span,
    /// Its source position as `file:line:column`.
    pub position: String,
    /// Its message.
    pub message: String,
}

impl Trap {
    /// The size of a trap record in the printf buffer: whether it is set, the number of the trap, and the work-item's
    /// global id in three words.
    pub const RECORD: u32 = 20;
}

/// A format string of `printf`, or a string that it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The text, without the terminator.
    pub text: Vec<u8>,
    /// The size of each argument in the printf buffer in bytes.
    pub sizes: Vec<u32>,
}

/// The location of an image property for a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageFact {
    /// The kernel.
    pub kernel: FuncId,
    /// The index of the image argument.
    pub argument: u32,
    /// `ChannelOrder` or `ChannelType`.
    pub what: ImageAction,
    /// The memory that contains it.
    pub memory: LaunchMemory,
    /// The offset of its four bytes.
    pub byte: u32,
}

/// An image whose levels a kernel writes. The descriptors of levels 1 and higher follow the descriptor of the image, up to
/// [`WrittenLevels::COUNT`] levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenLevels {
    /// The kernel.
    pub kernel: FuncId,
    /// The index of the image argument.
    pub argument: u32,
    /// The descriptor of the image.
    pub descriptor: u32,
}

impl WrittenLevels {
    /// The number of levels that are bound.
    pub const COUNT: u32 = kiln_vocabulary::target::IMAGE_LEVELS;
}

/// The location of the bits of a sampler for a kernel that samples with it and also reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerFact {
    /// The kernel.
    pub kernel: FuncId,
    /// The index of the sampler argument.
    pub argument: u32,
    /// The memory that contains the bits.
    pub memory: LaunchMemory,
    /// The offset of the four bytes.
    pub byte: u32,
}

/// The location of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentLocation {
    /// In launch memory, at this byte offset.
    Bytes(LaunchMemory, u32),
    /// The size of this local variable.
    Local(VarId),
    /// Bound as a descriptor with this number.
    Descriptor(u32),
    /// Unused.
    Nowhere,
}

/// The kinds of memory that a launch fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchMemory {
    /// Push constants.
    PushConstants,
    /// A uniform buffer, for arguments that do not fit into the push constants.
    Uniform,
}

/// State that a launch passes to all kernels: three words each, or two for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// `get_global_offset`
    GlobalOffset,
    /// `get_global_size`
    GlobalSize,
    /// `get_enqueued_local_size`
    EnqueuedLocalSize,
    /// `get_num_groups`
    NumGroups,
    /// The offset, plus the first work-item of the dispatched region.
    RegionOffset,
    /// The first work-group of the dispatched region.
    RegionGroupOffset,
    /// The address of the program-scope variables.
    Variables,
    /// The address of the buffer that `printf` writes to.
    Printf,
    /// The address of the queue for device-side enqueue.
    Queue,
    /// The number of the command that runs the kernel, which the commands that it enqueues refer to.
    /// Takes two words, like an address.
    Command,
}

/// Built-in inputs of the device: vectors of three I32, or one I32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Input {
    LocalId,
    /// Of the groups in this dispatch
    LocalSize,
    /// In this dispatch
    GroupId,
    /// In this dispatch
    GlobalId,
    /// One I32, like all that follow
    WorkDim,
    LocalIndex,
    SubGroupSize,
    SubGroupId,
    SubGroupLocalId,
}

impl WorkItem {
    /// The result type: `size_t`, or `uint` for the number of dimensions and all sub-group queries (OpenCL C 6.15.1).
    pub const fn ty(self) -> Type {
        match self {
            Self::WorkDim
            | Self::SubGroupSize
            | Self::MaxSubGroupSize
            | Self::NumSubGroups
            | Self::EnqueuedNumSubGroups
            | Self::SubGroupId
            | Self::SubGroupLocalId => Type::I32,
            Self::GlobalSize
            | Self::GlobalId
            | Self::LocalSize
            | Self::EnqueuedLocalSize
            | Self::LocalId
            | Self::NumGroups
            | Self::GroupId
            | Self::GlobalOffset
            | Self::GlobalLinearId
            | Self::LocalLinearId => Type::I64,
        }
    }
}

/// An object in memory.
#[derive(Clone, Debug)]
pub struct Var {
    /// For diagnostics and debugging.
    pub name: String,
    /// Its address space.
    pub space: AddressSpace,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Its initial bytes. `None` for zero (global, constant) or undefined (local, private). A private variable has no bytes
    /// here: it is initialized with zeros.
    pub init: Option<Data>,
    /// Set if the launch decides the size: the index of the kernel argument for this local object.
    pub argument: Option<u32>,
    /// Set by `passes/lower_to_logical_pointers`: the index of the function parameter for this private object of a caller.
    pub parameter: Option<u32>,
    /// Set by `passes/lower_to_logical_pointers`: the element type of the array, on a target without byte addresses.
    pub element: Option<Type>,
    /// Which other modules may refer to it.
    pub linkage: Linkage,
    /// The position of its declaration.
    pub span: Span,
}

impl Var {
    /// An object with this size and alignment, without an initializer.
    pub fn new(name: &str, space: AddressSpace, (size, align): (u64, u64), span: Span) -> Self {
        Self {
            name: name.to_owned(),
            space,
            size,
            align,
            init: None,
            argument: None,
            parameter: None,
            element: None,
            linkage: Linkage::Internal,
            span,
        }
    }
}

/// The initial bytes of an object, with the addresses in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// The bytes. Addresses are zero here.
    pub bytes: Vec<u8>,
    /// Addresses of 8 bytes: the offset here, the target object of the module, and the offset in it.
    pub relocations: Vec<(u64, VarId, i64)>,
}

/// A function: its body, and the tables of its values, instructions and blocks.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its result type.
    pub result: Option<Type>,
    /// Set for kernels.
    pub kernel: Option<Kernel>,
    /// Which other modules may refer to it. An imported function has a body that is unreachable.
    pub linkage: Linkage,
    /// Its private objects.
    pub vars: Table<VarId, Var>,
    /// Set by `passes/specialize_variable_args`: the parameters, by number, that point into one local object of the module, each with
    /// the object.
    pub objects: Vec<(u32, VarId)>,
    /// Whether the passes before inlining would change nothing. Set for bodies from the library, which have been through
    /// these passes, and cleared if another pass changes them.
    pub is_simplified: bool,
    /// Its values.
    pub values: Table<ValueId, Value>,
    /// Its instructions. The order is that in the blocks.
    pub insts: Table<InstId, Inst>,
    /// Its blocks, in no particular order.
    pub blocks: Table<BlockId, Block>,
    /// The outermost block. Its parameters are the function's.
    pub body: BlockId,
    /// The position of its name.
    pub span: Span,
}

/// The properties that only kernels have.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// `reqd_work_group_size`
    pub required_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub size_hint: Option<[u32; 3]>,
    /// The attributes in the source, for reflection.
    pub attributes: String,
    /// The arguments, one for each parameter of the function.
    pub arguments: Vec<Argument>,
}

impl Kernel {
    /// Whether it is an enqueued block, which the host does not launch.
    pub fn is_block(&self) -> bool {
        matches!(self.arguments.first(), Some(Argument { kind: ArgumentKind::Captures { .. }, .. }))
    }
}

/// An argument of a kernel, as the host sees it.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its kind.
    pub kind: ArgumentKind,
    /// Its name.
    pub name: String,
    /// Its type as written, without address space and qualifiers.
    pub type_name: String,
    /// Whether the pointee is `const`.
    pub is_const: bool,
    /// Whether the pointee is `volatile`.
    pub is_volatile: bool,
    /// Whether the pointer is `restrict`.
    pub is_restrict: bool,
}

impl Kernel {
    /// The kernel of a function that kernels enqueue: its arguments are the captured values, of this size and alignment in bytes,
    /// and pointers to local memory.
    pub fn enqueued(size: u64, align: u64, locals: usize) -> Self {
        let argument = |kind| Argument {
            kind,
            name: String::new(),
            type_name: "void*".to_owned(),
            is_const: false,
            is_volatile: false,
            is_restrict: false,
        };
        let local = argument(ArgumentKind::Local { element_size: 1, align: 16 });
        let mut arguments = vec![argument(ArgumentKind::Captures { size, align })];
        arguments.extend(std::iter::repeat_n(local, locals));
        Self { arguments, ..Self::default() }
    }
}

/// The kind of a kernel argument, which determines how it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A pointer to global or constant memory.
    Pointer {
        /// Global or constant.
        space: AddressSpace,
        /// Alignment of the pointee in bytes.
        align: u64,
    },
    /// A pointer to local memory that the launch allocates.
    Local {
        /// Size of one element in bytes.
        element_size: u64,
        /// Alignment of the pointee in bytes.
        align: u64,
    },
    /// A scalar or vector. The parameter is the value. Size and alignment as in OpenCL C.
    Value {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// A `struct` or `union`. The parameter is a private pointer to a copy.
    Aggregate {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// An image.
    Image(ImageTy),
    /// A sampler. An integer on Vulkan.
    Sampler,
    /// A pipe.
    Pipe {
        /// `write_only`
        is_written: bool,
    },
    /// A queue.
    Queue,
    /// The values that an enqueued block captures, after a header of [`ArgumentKind::CAPTURES`] bytes. The parameter is a
    /// generic pointer to the header. It is the first argument of a kernel that is not launched by the host.
    Captures {
        /// Size in bytes, with the header.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
}

impl ArgumentKind {
    /// The size of the header of captured values.
    pub const CAPTURES: u64 = 16;

    /// The number of bytes that the argument takes in launch memory.
    pub fn passed_size(self) -> u32 {
        match self {
            Self::Pointer { .. } | Self::Pipe { .. } | Self::Queue => 8,
            Self::Captures { size, .. } => u32::try_from(size - Self::CAPTURES).unwrap_or(u32::MAX),
            Self::Value { size, .. } | Self::Aggregate { size, .. } => {
                u32::try_from(size).unwrap_or(u32::MAX)
            }
            Self::Sampler => 4,
            Self::Local { .. } | Self::Image(_) => 0,
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A vector of 2, 3, 4, 8 or 16 components. Modules of other compilers have others, up to [`Type::MAX_COUNT`], as values
    /// and in accesses; `passes/split_vectors` splits them first.
    Vector(Scalar, u8),
    /// An address in this address space.
    Pointer(AddressSpace),
    /// An image.
    Image(ImageTy),
    /// `sampler_t`
    Sampler,
    /// An opaque handle.
    Handle(Handle),
}

/// Opaque handles, which only dedicated functions use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// `event_t`
    Event,
    /// `pipe`
    Pipe {
        /// `write_only`
        is_written: bool,
    },
    /// `reserve_id_t`
    ReserveId,
    /// `queue_t`
    Queue,
    /// `clk_event_t`
    DeviceEvent,
    /// A function for device-side enqueue: see `Op::Function`.
    Function,
}

/// Scalar types. Integers have no signedness; operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

/// A value in SSA form: its type and its definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// Its definition.
    pub def: ValueDef,
}

/// The definition of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueDef {
    /// A result of an instruction, by index.
    Result(InstId, u32),
    /// A parameter of a block, by index.
    Param(BlockId, u32),
    /// A constant.
    Const(Const),
}

/// A constant: the bits of each component, zero-extended to 64 bits. A null pointer has the bits 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// One number for each component.
    Bits(SmallVec<[u64; 2]>),
    /// An undefined value.
    Undefined,
}

/// A block: instructions, the last of which is a terminator.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its parameters.
    pub params: Vec<ValueId>,
    /// Its instructions.
    pub insts: Vec<InstId>,
}

/// An instruction: an operation with its operands and results.
#[derive(Debug)]
pub struct Inst {
    /// Its operation.
    pub op: Op,
    /// Its operands, in the order that the operation documents.
    pub args: SmallVec<[ValueId; 4]>,
    /// Its results.
    pub results: SmallVec<[ValueId; 1]>,
    /// Its source position.
    pub span: Span,
}

impl Inst {
    /// A temporary replacement of another instruction.
    pub fn placeholder() -> Self {
        Self { op: Op::Unreachable, args: SmallVec::new(), results: SmallVec::new(), span: Span::default() }
    }
}

impl Clone for Inst {
    /// Like the derived implementation, but copies the ids in bulk. Passes clone every instruction.
    fn clone(&self) -> Self {
        Self {
            op: self.op.clone(),
            args: SmallVec::from_slice(&self.args),
            results: SmallVec::from_slice(&self.results),
            span: self.span,
        }
    }
}

/// Operations, with their operands in brackets. Arithmetic on vectors is componentwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `[a]`
    Unary(UnaryOp),
    /// `[a, b]`, both of the result's type. A shift by at least the width is undefined: lowering has masked the
    /// amount.
    Binary(BinaryOp),
    /// `[a, b]`: like `Binary`. Floating-point operations are never contracted (`FP_CONTRACT OFF`). Integer
    /// operations are signed, and overflow is undefined (C99 6.5).
    Exact(BinaryOp),
    /// `[a, b]`: the result is `Bool`, or a vector of it.
    Compare(Compare),
    /// `[condition, then, otherwise]`. The condition is `Bool`, or a vector of it with the same component count.
    Select,
    /// `[a]`: converts to the result's type, with the same component count.
    Convert(Convert),
    /// `[a]`: reinterprets the bits of a number as a type of the same size.
    Bitcast,
    /// `[a, …]`: a vector of scalars and vectors.
    Construct,
    /// `[vector]`: one component.
    Extract(u8),
    /// `[vector, index]`
    ExtractDynamic,
    /// `[vector, scalar]`: the vector with one component replaced.
    Insert(u8),
    /// `[vector, scalar, index]`
    InsertDynamic,
    /// `[a, b]`: selects components of the concatenated vectors by index.
    Shuffle(SmallVec<[u8; 16]>),
    /// `[vector of Bool]`: whether any component is true.
    Any,
    /// `[vector of Bool]`: whether all components are true.
    All,

    /// `[]`: the address of an object of the module.
    ModuleVar(VarId),
    /// `[]`: the address of a private object of the function.
    PrivateVar(VarId),
    /// `[]`: the number of elements of a local object whose size the launch decides. Returns I32.
    ElementCount(VarId),
    /// `[pointer, index]`: `pointer + index * stride` bytes. The index is a signed I32 or I64.
    Offset {
        /// Bytes for each step of the index.
        stride: u64,
        /// The length of the array whose first element the pointer points to, if known and useful. Pointer arithmetic stays in
        /// an array (C99 6.5.6).
        count: Option<u32>,
    },
    /// `[address of variable, index]`: the address of an element (`Var::element`). The index is an I32. Made by
    /// `passes/lower_to_logical_pointers`; an access through it has exactly the element's type.
    Element,
    /// `[]`: a 32-bit word of launch memory (`Module::interface`), as I32 or F32; or two words of the push constants,
    /// starting at an even one, as I64. Made by `passes/bind_arguments`.
    LaunchWord(LaunchMemory, u32),
    /// `[]`: an address that a launch passes, as I64. `passes/bind_arguments` assigns its location.
    LaunchAddress(State),
    /// `[]`: an image or a sampler that a launch binds with this number. Made by `passes/bind_arguments`.
    Descriptor(u32),
    /// `[]`: a built-in input of the device. Made by `passes/lower_work_items`.
    Input(Input),
    /// `[pointer]`: the same address in another address space. To or from generic.
    PointerCast,
    /// `[pointer]`: converts to I64.
    PointerToInt,
    /// `[i64]`: converts to a pointer.
    IntToPointer,
    /// `[pointer]`: loads a value. After `passes/lower_addresses`, a pointer to global or constant memory is an I64,
    /// and after `passes/emulate_int64` a vector of two I32, low half first.
    Load(Access),
    /// `[pointer, value]`
    Store(Access),
    /// `[destination, source]`: copies memory. The ranges do not overlap.
    Copy {
        /// The number of bytes.
        size: u64,
        /// The properties of both accesses.
        access: Access,
    },
    /// `[pointer]`: clears memory.
    Zero {
        /// The number of bytes.
        size: u64,
        /// The properties of the access.
        access: Access,
    },
    /// `[pointer, operands …, dynamic order, failure order, scope …]`
    Atomic(Atomic),
    /// `[dynamic flags, order, scope …]`
    Fence {
        /// The memory it orders.
        flags: Known<FenceFlags>,
        /// Its order.
        order: Known<Order>,
        /// Its scope.
        scope: Known<Scope>,
    },
    /// `[dynamic flags, scope …]`
    Barrier {
        /// Which work-items wait for each other: `WorkGroup` or `SubGroup`.
        execution: Scope,
        /// The memory that it orders.
        flags: Known<FenceFlags>,
        /// The scope of the memory order.
        scope: Known<Scope>,
    },

    /// `[]`: a function, for built-in functions that enqueue or query it.
    Function(FuncId),
    /// `[arguments …]`
    Call(FuncId),
    /// `[arguments …]`: a built-in function, lowered as its table row states, with its parameter types.
    Builtin(BuiltinId, SmallVec<[BuiltinParam; 4]>),
    /// `[]`, or `[dimension]` (I32) if OpenCL requires one. Returns I64; `WorkDim` returns I32.
    WorkItem(WorkItem),
    /// `[arguments …]`: prints with this format. Returns I32.
    Printf(Box<[u8]>),
    /// `[]`: makes the launch fail with this message. After `passes/terminate_at_traps`, a jump out of the kernel follows.
    Trap(Box<[u8]>),
    /// `[image …]`: an image operation of the device. Made by `passes/lower_builtins`.
    Image(ImageAction),

    /// `[condition]`: both blocks leave by `Exit` of this instruction. The arguments of `Exit` are the results.
    If {
        /// For a true condition.
        then: BlockId,
        /// For a false condition.
        otherwise: BlockId,
    },
    /// `[initial values of the body's parameters …]`: left by `Exit`.
    Loop {
        /// Continues by `Continue`, whose arguments are the parameters of `continuing`.
        body: BlockId,
        /// Continues with the body by `Next`, whose arguments are the body's parameters.
        continuing: BlockId,
        /// Unrolling hints.
        hints: LoopHints,
    },
    /// `[value]` (I32 or I64): left by `Exit`.
    Switch {
        /// The cases. All values are distinct.
        cases: Vec<Case>,
        /// For all other values.
        default: BlockId,
    },
    /// `[]`: executed once; left by `Exit`.
    Block(BlockId),

    /// `[results …]`: jumps to the end of an enclosing construct, at any level.
    Exit(InstId),
    /// `[parameters …]`: jumps to the `continuing` block of an enclosing loop.
    Continue(InstId),
    /// `[parameters …]`: jumps from the `continuing` block to the body of its loop.
    Next(InstId),
    /// `[result]`, or `[]`.
    Return,
    /// Unreachable.
    Unreachable,
}

/// Image operations of a device. Coordinates and sizes are I32, and coordinates of `Sample` F32: one for each dimension
/// of the image, and one for the layers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageAction {
    /// `[image, coordinates]`, then the level if it is not the first: loads a texel with four components. Coordinates and
    /// level must be in bounds.
    Load(Texel),
    /// `[image, normalized coordinates, sampler]`, then the level of detail or two gradients, by default the first level:
    /// four F32 components, by a sampler of the device. The sampler is an I32 with the bits of OpenCL C, and after
    /// `passes/bind_arguments` a constant or a `Descriptor`.
    Sample,
    /// `[image, coordinates, four components]`
    Store(Texel),
    /// `[image]`
    Size,
    /// `[image]`: `get_image_channel_order`
    ChannelOrder,
    /// `[image]`: `get_image_channel_data_type`
    ChannelType,
    /// `[image]`: `get_image_num_mip_levels`, an I32
    Levels,
}

/// The properties of a texel access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texel {
    /// The type of its components.
    pub kind: TexelKind,
    /// Whether other work-items may observe it. Set by `passes/mark_nonprivate_accesses`.
    pub is_shared: bool,
}

/// The type of a texel's components: F32, or signed or unsigned I32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TexelKind {
    Float,
    Signed,
    Unsigned,
}

/// The OpenCL C type of a parameter of a built-in function, with signedness and pointee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinParam {
    /// A number, or a vector with this component count.
    Value(ty::Scalar, u8),
    /// A pointer to such a value.
    Pointer(ty::Scalar, u8),
    /// An image, an event, and so on. The value's type is sufficient.
    Other,
}

/// The properties of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Whether other work-items may observe it. The target orders only such accesses. Set by `passes/mark_nonprivate_accesses`.
    pub is_shared: bool,
    /// The known alignment in bytes.
    pub align: u32,
    /// Whether the object is volatile.
    pub is_volatile: bool,
}

/// The cases of a switch with a common block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The values, as bits.
    pub values: Vec<u64>,
    /// The block.
    pub block: BlockId,
}

/// A unary arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    /// Of integers, wrapping
    Neg,
    FNeg,
    /// Of integers and `Bool`
    Not,
    /// The number of bits that are set, of 32-bit integers: Vulkan counts no others without `VK_KHR_maintenance9`
    /// (VUID-RuntimeSpirv-None-10824)
    BitCount,
}

/// A binary arithmetic operator. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// The upper half of the product of unsigned integers of 32 or 64 bits
    UMulHigh,
    SDiv,
    UDiv,
    SRem,
    URem,
    Shl,
    AShr,
    LShr,
    /// For integers and `Bool`, like the next two
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// The remainder with the sign of the dividend
    FRem,
}

/// A comparison operator, and the type of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compare {
    /// The comparison.
    pub op: CompareOp,
    /// The operand type. Pointers compare as unsigned. Floating-point comparisons are ordered, except `NotEqual`,
    /// which is true for NaN.
    pub kind: CompareKind,
}

/// The operand type of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareKind {
    Signed,
    Unsigned,
    Float,
}

/// A conversion between numeric types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convert {
    /// To a narrower integer.
    Truncate,
    /// To a wider integer.
    SignExtend,
    /// To a wider integer, or from `Bool`.
    ZeroExtend,
    /// Between floating-point types, and between those and integers.
    Number {
        /// Rounding and saturation.
        conversion: Conversion,
        /// Whether an integer operand is signed.
        from_signed: bool,
        /// Whether an integer result is signed.
        to_signed: bool,
    },
}

/// An operation on an atomic object. `CompareExchange…` takes `[pointer, desired, expected value]` and returns the
/// old value. `FlagTestAndSet` returns `Bool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// The operation.
    pub op: AtomicOp,
    /// The type of the object's value: an integer or a float.
    pub ty: Scalar,
    /// Whether `Min` and `Max` compare as signed.
    pub is_signed: bool,
    /// The order; for a compare-exchange, the order on success.
    pub order: Known<Order>,
    /// The failure order of a compare-exchange.
    pub failure: Option<Known<Order>>,
    /// The scope.
    pub scope: Known<Scope>,
    /// The memory that it orders. `None` for the memory of its object. `passes/legalize_atomics` adds to it (R1, R7).
    pub spaces: Option<FenceFlags>,
    /// Whether the object is volatile.
    pub is_volatile: bool,
}

impl Atomic {
    /// A relaxed operation at device scope on a 32-bit integer, which passes use for counters and flags.
    pub const fn counting(op: AtomicOp) -> Self {
        Self {
            op,
            ty: Scalar::I32,
            is_signed: false,
            order: Known::Constant(Order::Relaxed),
            failure: None,
            scope: Known::Constant(Scope::Device),
            spaces: None,
            is_volatile: false,
        }
    }
}

/// An operand that is a constant, or is known only at run time. Dynamic values are the last arguments of the instruction, in
/// the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known<T> {
    /// The constant.
    Constant(T),
    /// The value of an I32 argument.
    Dynamic,
}

/// Work-item functions (OpenCL C 6.15.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum WorkItem {
    WorkDim,
    GlobalSize,
    GlobalId,
    LocalSize,
    EnqueuedLocalSize,
    LocalId,
    NumGroups,
    GroupId,
    GlobalOffset,
    GlobalLinearId,
    LocalLinearId,
    SubGroupSize,
    MaxSubGroupSize,
    NumSubGroups,
    EnqueuedNumSubGroups,
    SubGroupId,
    SubGroupLocalId,
}
