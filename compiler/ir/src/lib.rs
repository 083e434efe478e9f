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
mod interface;
mod kernel;
mod lex;
mod merge;
mod parse;
mod print;
mod renumber;
mod replace;
mod synchronization;
mod text;
mod types;
mod verify;
mod walk;

pub use build::{Builder, OpenIf, OpenLoop, OpenSwitch};
pub use interface::{
    ArgumentLocation, Bounds, Format, ImageFact, Interface, LaunchMemory, PRINTF_BUFFER_SIZE, SamplerFact,
    State, Trap, WrittenLevels,
};
pub use kernel::{Argument, ArgumentKind, Kernel};
pub use merge::reachable_functions;
pub use parse::{ParseError, parse};
pub use print::Positions;
pub use replace::Replacements;
pub use synchronization::{barrier_sync, fence_sync};
pub use types::{Handle, Scalar, Type};
pub use verify::{check_after, verify};
pub use walk::align_at_offset;

use kiln_builtins::BuiltinId;
use kiln_syntax::Span;
use kiln_types::{
    id_type,
    index::Table,
    ops::{CompareOp, Conversion, LoopHints},
    ty,
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
