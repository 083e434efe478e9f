//! The intermediate form: structured SSA.
//!
//! `if`, `loop`, `switch` and `block` are instructions that own their blocks; values join through block
//! parameters and construct results, so there is no phi and no dominance to compute. Memory is bytes: pointers
//! know their address space and nothing of what they point to, accesses carry the type. Aggregates exist only
//! in memory. Orders and scopes keep OpenCL's vocabulary; it knows nothing of SPIR-V.
//!
//! Scoping: a value is visible from its definition to the end of its block, and in every block nested there. A
//! loop's `continuing` block sees what is outside the loop and its own parameters only; it leaves the loop by `Next`
//! alone.

mod build;
mod check;
mod lex;
mod parse;
mod print;
mod renumber;
mod replace;
mod text;
mod verify;
mod walk;

pub use build::{Builder, OpenIf, OpenLoop, OpenSwitch};
pub use parse::{ParseError, parse};
pub use replace::Replacements;
pub use verify::{check_after, verify};

use kiln_syntax::Span;
use smallvec::SmallVec;

use crate::{
    builtins::BuiltinId,
    hir::{CompareOp, Conversion, LoopHints},
    id_type,
    index::Table,
    opencl::{AddressSpace, AtomicOp, FenceFlags, Linkage, Order, Scope},
    ty::{self, ImageTy},
};

id_type! {
    /// A function.
    FuncId
}
id_type! {
    /// An object in memory: of the module, or a private one of a function.
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

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Objects in global, constant and local memory.
    pub vars: Table<VarId, Var>,
    /// Functions; a declared one without a body does not reach this form.
    pub functions: Table<FuncId, Function>,
    /// How a launch passes what kernels need, once the target's passes have decided it.
    pub interface: Interface,
    /// What accesses are checked against, where they are.
    pub bounds: Option<Bounds>,
}

/// The table of `passes/check_bounds`, filled by the launch: the number of ranges (32 bits); whether an access lay in none
/// (32 bits) and, if so, its address (64 bits), its size and the number of its site (32 bits each); then the ranges, an
/// address and the end behind it each; then for each argument of the kernel how many bytes of local memory it is (32 bits).
/// In local and private memory the address is the distance from the beginning of the object.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The table.
    pub table: VarId,
    /// How many arguments it has room for.
    pub locals: u64,
    /// What is checked, by number, and the names of the local or private objects that it should be in.
    pub sites: Vec<(Span, String)>,
    /// The same as `file:line:column`.
    pub places: Vec<String>,
}

impl Bounds {
    /// Bytes before the ranges.
    pub const HEADER: u64 = 24;
    /// The most ranges.
    pub const RANGES: u64 = 64;

    /// Where the size of an argument stands.
    pub const fn local(argument: u64) -> u64 {
        Self::HEADER + 16 * Self::RANGES + 4 * argument
    }

    /// Bytes of a table for so many arguments.
    pub const fn size(locals: u64) -> u64 {
        Self::local(locals).next_multiple_of(8)
    }
}

/// Where a launch puts its state and the kernels' arguments, on a target whose entry points have no parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The state that some kernel reads, and its first word among the push constants: the same in all kernels.
    pub state: Vec<(State, u32)>,
    /// Where each kernel's arguments are, in order.
    pub arguments: Vec<(FuncId, Vec<Place>)>,
    /// The buffer of program-scope variables: its first bytes, and which variable's address is stored where.
    pub variables: Data,
    /// Where each module variable lies in that buffer.
    pub offsets: Vec<(VarId, u64)>,
    /// What `printf` prints: format strings, and strings that they print, by their number in the printf buffer.
    pub formats: Vec<Format>,
    /// Bytes of the printf buffer that `printf` has for itself; a record of a trap follows.
    pub printed: u32,
    /// Where the program has traps, and what they say, by their number in that record.
    pub traps: Vec<Trap>,
    /// Where kernels find what the launch tells of their images.
    pub image_facts: Vec<ImageFact>,
}

/// Bytes of the buffer that `printf` writes to (OpenCL API 4.2, `CL_DEVICE_PRINTF_BUFFER_SIZE`: at least a MiB).
pub const PRINTF_BUFFER_SIZE: u32 = 1 << 20;

/// A trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Where it stands.
    pub span: Span,
    /// The same as `file:line:column`.
    pub place: String,
    /// What it says.
    pub message: String,
}

impl Trap {
    /// Bytes of a record in the printf buffer: whether there is one, the number of the trap, the work-item's global id in
    /// three words.
    pub const RECORD: u32 = 20;
}

/// A string that `printf` prints with, or prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// As written, without the final zero.
    pub text: Vec<u8>,
    /// Bytes of each argument in the printf buffer.
    pub sizes: Vec<u32>,
}

/// Where a kernel finds a fact of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageFact {
    /// The kernel.
    pub kernel: FuncId,
    /// The argument that the image is, by number.
    pub argument: u32,
    /// `ChannelOrder` or `ChannelType`.
    pub what: ImageAction,
    /// Where it is.
    pub memory: LaunchMemory,
    /// From this byte, four.
    pub byte: u32,
}

/// Where an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In launch memory from this byte.
    Bytes(LaunchMemory, u32),
    /// It is the size of this local variable.
    Local(VarId),
    /// It is bound as a descriptor of this number.
    Descriptor(u32),
    /// It is not used.
    Nowhere,
}

/// The kinds of memory that a launch fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchMemory {
    /// Push constants.
    PushConstants,
    /// A uniform buffer, for arguments that find no room there.
    Uniform,
}

/// What a launch tells all kernels: three words each, or two for an address.
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
    /// The offset, and the first work-item of the region that is dispatched.
    RegionOffset,
    /// The first group of the region that is dispatched.
    RegionGroupOffset,
    /// The address of the program-scope variables.
    Variables,
    /// The address of the buffer that `printf` writes to.
    Printf,
}

/// What the device tells of a work-item's place: vectors of three I32, or one I32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Input {
    LocalId,
    /// Of this dispatch's groups
    LocalSize,
    /// In this dispatch
    GroupId,
    /// In this dispatch
    GlobalId,
    /// One I32, as all that follow
    WorkDim,
    LocalIndex,
    SubGroupSize,
    NumSubGroups,
    SubGroupId,
    SubGroupLocalId,
}

impl WorkItem {
    /// What it gives: `size_t`, or `uint` for the number of dimensions and all of sub-groups (OpenCL C 6.15.1).
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
    /// For people.
    pub name: String,
    /// Where it lies.
    pub space: AddressSpace,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Its first bytes; none for zero (global, constant) or undefined (local, private).
    pub init: Option<Data>,
    /// Set where the launch decides the size: the kernel's argument, by number, that this local object is.
    pub argument: Option<u32>,
    /// Set by `passes/layout_vars`: the parameter of the function, by number, that this private object of a caller is.
    pub parameter: Option<u32>,
    /// Set by `passes/layout_vars`: what it is an array of, where a target has no byte addresses.
    pub element: Option<Type>,
    /// Who may use it by its name.
    pub linkage: Linkage,
    /// Where it is declared.
    pub span: Span,
}

impl Var {
    /// An object of so many bytes, aligned to so many, without an initial value.
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

/// The bytes of an object, with the addresses in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// The bytes; addresses are zero here.
    pub bytes: Vec<u8>,
    /// Addresses of 8 bytes: where, of which object of the module, and how many bytes into it.
    pub relocations: Vec<(u64, VarId, i64)>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it returns.
    pub result: Option<Type>,
    /// Set for a kernel.
    pub kernel: Option<Kernel>,
    /// Who may call it by its name; what is imported has a body that is never reached.
    pub linkage: Linkage,
    /// Its private objects.
    pub vars: Table<VarId, Var>,
    /// Set by `passes/specialize_calls`: the parameters, by number, that point into one local object of the module, and which.
    pub objects: Vec<(u32, VarId)>,
    /// Its values.
    pub values: Table<ValueId, Value>,
    /// Its instructions, in no order; blocks give the order.
    pub insts: Table<InstId, Inst>,
    /// Its blocks, in no order.
    pub blocks: Table<BlockId, Block>,
    /// The outermost block; its parameters are the function's.
    pub body: BlockId,
    /// Where its name stands.
    pub span: Span,
}

/// What only kernels have.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// `reqd_work_group_size`
    pub required_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub size_hint: Option<[u32; 3]>,
    /// The source's attributes, as reflection tells them.
    pub attributes: String,
    /// One for each parameter of the function.
    pub arguments: Vec<Argument>,
}

/// A kernel's argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// How it is passed.
    pub kind: ArgumentKind,
    /// Its name.
    pub name: String,
    /// Its type as written, without address space and qualifiers.
    pub type_name: String,
    /// `const` of what a pointer points to.
    pub is_const: bool,
    /// `volatile` of what a pointer points to.
    pub is_volatile: bool,
    /// `restrict` of the pointer.
    pub is_restrict: bool,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A pointer to global or constant memory; alignment of what it points to.
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
    /// A scalar or a vector: the parameter is the value. Size in OpenCL's layout.
    Value {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// A `struct` or `union`: the parameter is a private pointer to a copy of it.
    Aggregate {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// An image.
    Image(ImageTy),
    /// A sampler; on Vulkan a number.
    Sampler,
    /// A pipe, a queue.
    Opaque,
}

impl ArgumentKind {
    /// Bytes of launch memory that the argument takes.
    pub fn passed_size(self) -> u32 {
        match self {
            Self::Pointer { .. } => 8,
            Self::Value { size, .. } | Self::Aggregate { size, .. } => {
                u32::try_from(size).unwrap_or(u32::MAX)
            }
            Self::Sampler => 4,
            Self::Local { .. } | Self::Image(_) | Self::Opaque => 0,
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// 2, 3, 4, 8 or 16 of a scalar.
    Vector(Scalar, u8),
    /// An address in a space.
    Pointer(AddressSpace),
    /// An image.
    Image(ImageTy),
    /// `sampler_t`
    Sampler,
    /// What only functions made for it understand.
    Handle(Handle),
}

/// Values that are nothing but what functions made for them say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// `event_t`
    Event,
    /// `pipe`, and whether packets are written to it
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
    /// A function that can be enqueued: see `Op::Function`.
    Function,
}

/// Scalars. Integers have no sign: operations have.
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

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub def: ValueDef,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueDef {
    /// A result of an instruction, and which.
    Result(InstId, u32),
    /// A parameter of a block, and which.
    Param(BlockId, u32),
    /// A constant.
    Const(Const),
}

/// A constant: the bits of each component, zero-extended to 64. A null pointer has the bits 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// One number for each component.
    Bits(SmallVec<[u64; 2]>),
    /// Any value will do.
    Undefined,
}

/// A block: instructions in order, the last a terminator.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its parameters.
    pub params: Vec<ValueId>,
    /// Its instructions.
    pub insts: Vec<InstId>,
}

/// An instruction.
#[derive(Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The values it reads, in the order that its operation documents.
    pub args: SmallVec<[ValueId; 4]>,
    /// The values it makes.
    pub results: SmallVec<[ValueId; 1]>,
    /// Where in the source.
    pub span: Span,
}

impl Clone for Inst {
    /// As it would be derived, but that the ids are copied at once: passes do that to every instruction.
    fn clone(&self) -> Self {
        Self {
            op: self.op.clone(),
            args: SmallVec::from_slice(&self.args),
            results: SmallVec::from_slice(&self.results),
            span: self.span,
        }
    }
}

/// Operations; arguments stand in brackets. Arithmetic is componentwise on vectors.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `[a]`
    Unary(UnaryOp),
    /// `[a, b]`, both of the result's type. A shift by the width or more is undefined: lowering has masked it.
    Binary(BinaryOp),
    /// `[a, b]`: as `Binary`; of floats, never contracted with another operation (`FP_CONTRACT OFF`); of integers, signed, and
    /// what overflows is undefined (C99 6.5).
    Exact(BinaryOp),
    /// `[a, b]`: `Bool`, or a vector of it.
    Compare(Compare),
    /// `[condition, then, otherwise]`; the condition is `Bool`, or a vector of it of the same count.
    Select,
    /// `[a]`: to the result's type, same component count.
    Convert(Convert),
    /// `[a]`: the same bits; sizes are equal. Numbers only.
    Bitcast,
    /// `[a, …]`: a vector from scalars and vectors.
    Construct,
    /// `[vector]`: one component.
    Extract(u8),
    /// `[vector, index]`
    ExtractDynamic,
    /// `[vector, scalar]`: the vector with one component replaced.
    Insert(u8),
    /// `[vector, scalar, index]`
    InsertDynamic,
    /// `[a, b]`: components of the two in a row, by number.
    Shuffle(SmallVec<[u8; 16]>),
    /// `[vector of Bool]`: whether any, or all, are true.
    Any,
    /// See `Any`.
    All,

    /// `[]`: the address of an object of the module.
    ModuleVar(VarId),
    /// `[]`: the address of a private object of the function.
    PrivateVar(VarId),
    /// `[pointer, index]`: `pointer + index * stride` bytes; the index is a signed I32 or I64.
    Offset {
        /// Bytes for each step of the index.
        stride: u64,
        /// Elements of the array that the pointer points to the first of and the result to one of, where that is known and may
        /// matter: arithmetic on pointers stays in an array (C99 6.5.6).
        count: Option<u32>,
    },
    /// `[variable's address, index]`: the address of an element (`Var::element`); the index is an I32. Made by
    /// `passes/layout_vars`; an access through it has exactly the element's type.
    Element,
    /// `[]`: a 32-bit word of what a launch passes (`Module::interface`), as I32 or F32; or, from an even one of the push
    /// constants, two as I64. Made by `passes/bind_arguments`.
    LaunchWord(LaunchMemory, u32),
    /// `[]`: an address that a launch passes, as an I64. `passes/bind_arguments` gives it a place.
    LaunchAddress(State),
    /// `[]`: an image that a launch binds by this number. Made by `passes/bind_arguments`.
    Descriptor(u32),
    /// `[]`: what the device tells of the work-item's place. Made by `passes/lower_work_items`.
    Input(Input),
    /// `[pointer]`: the same address in another space: to and from generic.
    PointerCast,
    /// `[pointer]`: as I64.
    PointerToInt,
    /// `[i64]`: as a pointer.
    IntToPointer,
    /// `[pointer]`: the object's value. After `passes/lower_addresses` a pointer to global or constant memory is an
    /// I64, and after `passes/emulate_int64` a vector of two I32, low half first.
    Load(Access),
    /// `[pointer, value]`
    Store(Access),
    /// `[destination, source]`: so many bytes; the two do not overlap.
    Copy {
        /// Bytes.
        size: u64,
        /// How.
        access: Access,
    },
    /// `[pointer]`: so many zero bytes.
    Zero {
        /// Bytes.
        size: u64,
        /// How.
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
        /// Who waits for whom: `WorkGroup` or `SubGroup`.
        execution: Scope,
        /// The memory it orders.
        flags: Known<FenceFlags>,
        /// The scope of that.
        scope: Known<Scope>,
    },

    /// `[]`: a function that functions of the built-in table enqueue or ask about.
    Function(FuncId),
    /// `[arguments …]`
    Call(FuncId),
    /// `[arguments …]`: a function of the built-in table, expressed by its row; and what its parameters are.
    Builtin(BuiltinId, SmallVec<[BuiltinParam; 4]>),
    /// `[]`, or `[dimension]` (I32) where OpenCL asks for one; gives I64, `WorkDim` I32.
    WorkItem(WorkItem),
    /// `[arguments …]`: prints by the format; gives I32.
    Printf(Box<[u8]>),
    /// `[]`: the launch fails with this message. After `passes/leave_at_traps` a way out of the kernel follows.
    Trap(Box<[u8]>),
    /// `[image …]`: what a device does with images itself. Made by `passes/express_builtins`.
    Image(ImageAction),

    /// `[condition]`: both blocks leave by `Exit` of this instruction, whose arguments are the results.
    If {
        /// When true.
        then: BlockId,
        /// When false.
        otherwise: BlockId,
    },
    /// `[first values of the body's parameters …]`: left by `Exit`.
    Loop {
        /// Goes round by `Continue`, whose arguments are the parameters of `continuing`.
        body: BlockId,
        /// Goes back to the body by `Next`, whose arguments are the body's parameters.
        continuing: BlockId,
        /// Unrolling.
        hints: LoopHints,
    },
    /// `[value]` (I32 or I64): left by `Exit`.
    Switch {
        /// The cases; no two with the same value.
        cases: Vec<Case>,
        /// For every other value.
        default: BlockId,
    },
    /// `[]`: runs once; left by `Exit`.
    Block(BlockId),

    /// `[results …]`: to the end of an enclosing construct, any number of levels up.
    Exit(InstId),
    /// `[parameters …]`: to the `continuing` block of an enclosing loop.
    Continue(InstId),
    /// `[parameters …]`: from the `continuing` block to the body of its loop.
    Next(InstId),
    /// `[result]`, or `[]`.
    Return,
    /// Control does not come here.
    Unreachable,
}

/// What a device does with an image itself. Coordinates and sizes are I32, as many as the image has dimensions and
/// one more for the layers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageAction {
    /// `[image, coordinates]`: four components of the texel there. The coordinates are inside the image.
    Load(Texel),
    /// `[image, coordinates, four components]`
    Store(Texel),
    /// `[image]`
    Size,
    /// `[image]`: `get_image_channel_order`
    ChannelOrder,
    /// `[image]`: `get_image_channel_data_type`
    ChannelType,
}

/// How a texel is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texel {
    /// What its components are.
    pub kind: TexelKind,
    /// Whether other work-items may see it. Set by `passes/mark_shared`.
    pub is_shared: bool,
}

/// What the components of a texel are: F32, or I32 read with or without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TexelKind {
    Float,
    Signed,
    Unsigned,
}

/// What a parameter of a built-in function is in OpenCL C, where values have signs and pointers a pointee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinParam {
    /// A number, or a vector of so many.
    Value(ty::Scalar, u8),
    /// A pointer to one.
    Pointer(ty::Scalar, u8),
    /// An image, an event …: as its value's type says.
    Other,
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Whether other work-items may see it: the target orders only such accesses. Set by `passes/mark_shared`.
    pub is_shared: bool,
    /// The alignment in bytes that is certain.
    pub align: u32,
    /// Whether the object is volatile.
    pub is_volatile: bool,
}

/// Cases of a switch that share a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The values, as bits.
    pub values: Vec<u64>,
    /// What is done.
    pub block: BlockId,
}

/// Arithmetic on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    /// Of integers, wrapping
    Neg,
    FNeg,
    /// Of integers and `Bool`
    Not,
}

/// Arithmetic on two operands; integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    SDiv,
    UDiv,
    SRem,
    URem,
    Shl,
    AShr,
    LShr,
    /// Of integers and `Bool`, as the next two
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

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compare {
    /// Which.
    pub op: CompareOp,
    /// Of what. Pointers compare as unsigned; floats are ordered, but for `NotEqual`, which is true of NaN.
    pub kind: CompareKind,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareKind {
    Signed,
    Unsigned,
    Float,
}

/// A numeric conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convert {
    /// To a narrower integer.
    Truncate,
    /// To a wider integer.
    SignExtend,
    /// To a wider integer, or from `Bool`.
    ZeroExtend,
    /// Between floats; to an integer; from one. Signs say how the integers are read.
    Number {
        /// Rounding and saturation.
        conversion: Conversion,
        /// Whether an integer source is signed.
        from_signed: bool,
        /// Whether an integer destination is signed.
        to_signed: bool,
    },
}

/// An operation on an atomic object. `CompareExchange…` is `[pointer, desired, expected value]` and gives the old
/// value; `FlagTestAndSet` gives `Bool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// What it does.
    pub op: AtomicOp,
    /// The type of the object's value: an integer or a float.
    pub ty: Scalar,
    /// Whether `Min` and `Max` compare as signed.
    pub is_signed: bool,
    /// The order (of success).
    pub order: Known<Order>,
    /// The order of failure of a compare-exchange.
    pub failure: Option<Known<Order>>,
    /// The scope.
    pub scope: Known<Scope>,
    /// The memory it orders; none for that of its object. Legalisation adds to it (memory.md R1, R7).
    pub spaces: Option<FenceFlags>,
    /// Whether the object is volatile.
    pub is_volatile: bool,
}

impl Atomic {
    /// A relaxed operation at device scope on a 32-bit integer: what passes count and mark with.
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

/// A value that is known now, or the argument that will tell: dynamic ones are the last arguments of the
/// instruction, in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known<T> {
    /// It is this.
    Constant(T),
    /// It is the value of an I32 argument.
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
