//! The typed tree: every conversion explicit, every call resolved, every object in its address space.
//!
//! Made by `sema`, read by `lower`. It has no names to look up and no errors: a program with errors has no HIR
//! that anyone reads. Places (what can be loaded from and stored to) and values are different types.

pub mod jumps;
mod print;
pub mod visit;

pub use print::print;

use kiln_syntax::{Span, Symbol};
use smallvec::SmallVec;

use crate::{
    builtins::BuiltinId,
    id_type,
    index::Table,
    opencl::{AtomicOp, FenceFlags, Linkage, Order, Scope},
    ty::{QualTy, TyId, Types},
};

id_type! {
    /// An object at program scope, a `static` one of a function, or a string literal.
    GlobalId
}
id_type! {
    /// A function of the program.
    FunctionId
}
id_type! {
    /// A parameter or a variable of a function.
    LocalId
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its types.
    pub types: Types,
    /// Its objects with static lifetime.
    pub globals: Table<GlobalId, Global>,
    /// Its functions.
    pub functions: Table<FunctionId, Function>,
}

/// An object with static lifetime.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name; none for a string literal.
    pub name: Option<Symbol>,
    /// Its type; the space is global, constant, or (for a literal) constant.
    pub ty: QualTy,
    /// Alignment in bytes, when the declaration asks for more than the type's.
    pub align: Option<u64>,
    /// Its first bytes; none when zero.
    pub init: Option<Image>,
    /// Who may use it by its name.
    pub linkage: Linkage,
    /// Where it is declared.
    pub span: Span,
}

/// The bytes of an object, with the addresses in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The bytes; addresses are zero here.
    pub bytes: Vec<u8>,
    /// The addresses, each 8 bytes.
    pub relocations: Vec<Relocation>,
}

/// An address inside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where in the image.
    pub offset: u64,
    /// Of which object.
    pub target: GlobalId,
    /// How many bytes into it.
    pub addend: i64,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Symbol,
    /// What it returns.
    pub result: TyId,
    /// Its parameters: the first locals; for a block, what it captures follows.
    pub parameters: Vec<LocalId>,
    /// How many of its parameters are what a block captures.
    pub captures: usize,
    /// Parameters and variables.
    pub locals: Table<LocalId, Local>,
    /// Its body; none when only declared.
    pub body: Option<Vec<Stmt>>,
    /// Set for a kernel.
    pub kernel: Option<Kernel>,
    /// Who may call it by its name.
    pub linkage: Linkage,
    /// Where its name stands.
    pub span: Span,
}

impl Function {
    /// A function of which nothing else is known yet.
    pub(crate) fn new(name: Symbol, result: TyId, span: Span) -> Self {
        Self {
            name,
            result,
            parameters: Vec::new(),
            captures: 0,
            locals: Table::new(),
            body: None,
            kernel: None,
            linkage: Linkage::Internal,
            span,
        }
    }
}

/// What only kernels have.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// `reqd_work_group_size`
    pub required_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub size_hint: Option<[u32; 3]>,
    /// `vec_type_hint`
    pub vec_type_hint: Option<TyId>,
    /// One for each parameter, as `clGetKernelArgInfo` tells it.
    pub arguments: Vec<ArgumentInfo>,
}

/// What `clGetKernelArgInfo` tells of a parameter.
#[derive(Clone, Debug)]
pub struct ArgumentInfo {
    /// The type as written, without address space and qualifiers.
    pub type_name: String,
    /// `const`, `volatile`, `restrict` of what a pointer points to, and the access of an image.
    pub quals: QualTy,
}

/// A parameter or a variable with automatic lifetime, or a `local` one.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; none for an unnamed parameter or a temporary.
    pub name: Option<Symbol>,
    /// Its type; the space is private or local.
    pub ty: QualTy,
    /// Alignment in bytes, when the declaration asks for more than the type's.
    pub align: Option<u64>,
    /// Where it is declared.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// The statements. Scopes are gone: a variable lives from its `Declare` on, anew each time it is reached.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    /// The lifetime of a variable begins; its value is undefined until stored.
    Declare(LocalId),
    Expr(Expr),
    Block(Vec<Stmt>),
    If(Box<If>),
    Loop(Box<Loop>),
    Switch(Box<Switch>),
    Case(Box<Case>),
    Default,
    Break,
    Continue,
    Return(Option<Box<Expr>>),
    Label(Symbol),
    Goto(Symbol),
}

/// `if (condition) then else otherwise`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct If {
    pub condition: Expr,
    pub then: Vec<Stmt>,
    pub otherwise: Vec<Stmt>,
}

/// All three C loops: `test_first` is false for `do`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Loop {
    pub test_first: bool,
    pub condition: Option<Expr>,
    pub step: Option<Expr>,
    pub body: Vec<Stmt>,
    pub hints: LoopHints,
}

/// `switch (value) body`. Labels may stand anywhere inside the body, as C allows.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Switch {
    pub value: Expr,
    pub body: Vec<Stmt>,
}

/// `case low ... high`, values in the type of the promoted switch value; `low == high` for one.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Case {
    pub low: i128,
    pub high: i128,
}

/// `opencl_unroll_hint` and pragmas of the same meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopHints {
    /// `Some(0)`: unroll as you like; `Some(1)`: do not; `Some(n)`: n times.
    pub unroll: Option<u32>,
}

/// A place: an object, or a part of one, that can be loaded from, stored to, and mostly pointed to.
#[derive(Clone, Debug)]
pub struct Place {
    /// Which.
    pub kind: PlaceKind,
    /// Its type, qualifiers and address space included.
    pub ty: QualTy,
    /// Where it is named.
    pub span: Span,
}

impl Place {
    /// The place that this is, or is a part of: no member, element or components of another.
    pub fn whole(&self) -> &Self {
        match &self.kind {
            PlaceKind::Field(field) => field.base.whole(),
            PlaceKind::Element(element) => element.base.whole(),
            PlaceKind::Swizzle(swizzle) => swizzle.base.whole(),
            _ => self,
        }
    }

    /// The parameter or variable of the function that this is, or is a part of.
    pub fn local(&self) -> Option<LocalId> {
        match self.whole().kind {
            PlaceKind::Local(local) => Some(local),
            _ => None,
        }
    }
}

/// The places. What they are parts of and are found by stands in one box.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum PlaceKind {
    Local(LocalId),
    Global(GlobalId),
    /// `*pointer`
    Deref(Box<Expr>),
    /// A member of a struct or union place.
    Field(Box<Field>),
    /// An element of an array place, or a component of a vector place; the index is a 64-bit integer.
    Element(Box<Element>),
    /// Components of a vector place, each at most once if it is stored to (OpenCL C 6.3.7).
    Swizzle(Box<Swizzle<Place>>),
    /// A struct, union or vector that is a value, such as a call's result, so that its parts can be read.
    Temporary(Box<Expr>),
}

/// A member of a place.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Field {
    pub base: Place,
    /// In bytes.
    pub offset: u64,
}

/// An element of a place.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Element {
    pub base: Place,
    pub index: Expr,
}

/// Components of a vector, which is a place or a value.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Swizzle<T> {
    pub base: T,
    pub components: Components,
}

/// The numbers of components of a vector, in the order in which they are named.
pub type Components = SmallVec<[u8; 16]>;

/// A value.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Its type.
    pub ty: TyId,
    /// Where.
    pub span: Span,
}

/// The values. Operands have exactly the types that the operation needs. What is large stands in a box, and all of it in
/// one: trees are walked more than once, and small ones of few pieces faster. A place that is read is there itself.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Const(Const),
    Load(Place),
    /// `&place`, and the decay of an array place to its first element.
    AddressOf(Box<Place>),
    /// Arithmetic on one operand, componentwise; the operand has the expression's type.
    Unary(UnaryOp, Box<Expr>),
    /// Arithmetic, componentwise; both operands have the expression's type (a scalar shift amount is widened).
    /// Shift amounts are taken modulo the width (OpenCL C 6.5.7).
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// A `Binary` of floats that is never contracted with another operation (OpenCL C 6.15.2.1, `FP_CONTRACT OFF`).
    Exact(Box<Expr>),
    /// Operands of one type. Scalars give `int` 0 or 1, vectors 0 or -1 in each component (OpenCL C 6.5.8).
    /// Pointers compare by address.
    Compare(CompareOp, Box<[Expr; 2]>),
    /// Scalars or pointers give `int` 0 or 1, vectors 0 or -1.
    LogicalNot(Box<Expr>),
    /// `&&`, `||` on scalars: the right operand is evaluated only if needed. Both operands are scalars or pointers.
    Logical(LogicalOp, Box<[Expr; 2]>),
    /// `&&`, `||` on vectors: both operands are evaluated; 0 or -1 in each component.
    VectorLogical(LogicalOp, Box<[Expr; 2]>),
    /// `?:` with a scalar or pointer condition: one branch is evaluated.
    Conditional(Box<Conditional>),
    /// `?:` with a vector condition: componentwise by the most significant bit (OpenCL C 6.5.9).
    VectorSelect(Box<Conditional>),
    /// An arithmetic conversion, componentwise; to `bool` it compares with zero.
    Convert(Conversion, Box<Expr>),
    /// The same bits as another type of the same size: `as_type` (OpenCL C 6.4.4.2).
    Bitcast(Box<Expr>),
    /// A pointer of another pointee type or space.
    PointerCast(Box<Expr>),
    /// A pointer as an integer of the expression's type, and back.
    PointerToInt(Box<Expr>),
    IntToPointer(Box<Expr>),
    /// A scalar in every component.
    Splat(Box<Expr>),
    /// A vector from scalars and vectors whose counts add up.
    Vector(Box<[Expr]>),
    /// Components of a vector value; one component gives a scalar.
    Swizzle(Box<Swizzle<Expr>>),
    /// `pointer + index` in elements; the index is a 64-bit signed integer.
    Offset(Box<Offset>),
    /// `left - right` in elements.
    Difference {
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `place = value`; gives the stored value in the place's type.
    Assign(Box<Assign>),
    /// `op=`, `++`, `--`: the place is evaluated once; `new` computes from `ExprKind::Current`, the loaded value,
    /// already converted back to the place's type.
    Update(Box<Update>),
    /// The value loaded by the `Update` around it.
    Current,
    Comma(Box<Expr>, Box<Expr>),
    /// `({ … value; })` of GNU C: statements, none of which jumps into or across another, and then the value.
    Statements(Box<(Vec<Stmt>, Expr)>),
    Call {
        function: FunctionId,
        arguments: Box<[Expr]>,
    },
    /// A built-in function that has no node of its own, with the argument and result types of the overload chosen.
    Builtin {
        builtin: BuiltinId,
        arguments: Box<[Expr]>,
    },
    Atomic(Box<Atomic>),
    /// `atomic_work_item_fence`, `mem_fence` and its kin.
    Fence(Box<Fence>),
    /// `work_group_barrier`, `barrier`, `sub_group_barrier`.
    Barrier(Box<Barrier>),
    Printf(Box<Printf>),
    /// `__builtin_trap` and its kin: what the launch fails with.
    Trap {
        message: Vec<u8>,
    },
    /// A block: a function whose last parameters take what the block captures (OpenCL C 6.14). Calls of blocks
    /// are calls of that function; as a value, only the functions that enqueue kernels look at it.
    Block {
        function: FunctionId,
        captures: Box<[Expr]>,
    },
    /// An aggregate in parts, for initialisers: what is not named is zero. Offsets are in bytes.
    Aggregate(Vec<(u64, Expr)>),
}

/// `condition ? then : otherwise`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Conditional {
    pub condition: Expr,
    pub then: Expr,
    pub otherwise: Expr,
}

/// `pointer + index`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Offset {
    pub pointer: Expr,
    pub index: Expr,
}

/// A place, and what it is given, computed from what it has.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Update {
    pub place: Place,
    pub new: Expr,
    pub result: UpdateResult,
}

/// `place = value`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Assign {
    pub place: Place,
    pub value: Expr,
}

/// A fence.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Fence {
    pub flags: Known<FenceFlags>,
    pub order: Known<Order>,
    pub scope: Known<Scope>,
}

/// A barrier.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Barrier {
    pub execution: Scope,
    pub flags: Known<FenceFlags>,
    pub scope: Known<Scope>,
}

/// `printf`: the format's bytes without the final zero, and the arguments after default promotions.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Printf {
    pub format: Vec<u8>,
    pub arguments: Vec<Expr>,
}

/// Half of what a tree takes is in values: they stay small.
const _: () = assert!(size_of::<Expr>() <= 48 && size_of::<Place>() <= 32 && size_of::<Stmt>() <= 56);

/// A value that is known now, or an expression that will tell.
#[derive(Clone, Debug)]
pub enum Known<T> {
    /// It is this.
    Constant(T),
    /// It is the value of this `int`-like expression.
    Dynamic(Box<Expr>),
}

/// An operation on an atomic object (OpenCL C 6.15.12.7).
#[derive(Clone, Debug)]
pub struct Atomic {
    /// What it does.
    pub op: AtomicOp,
    /// The address of the object.
    pub object: Expr,
    /// The type of the value in the object: `int` for an `atomic_int`, and for `atomic_flag` too.
    pub value_ty: TyId,
    /// The value stored, exchanged or combined, converted to `value_ty`.
    pub operand: Option<Expr>,
    /// The address of the expected value of a compare-exchange, in any space.
    pub expected: Option<Expr>,
    /// The order (of success).
    pub order: Known<Order>,
    /// The order of failure of a compare-exchange.
    pub failure: Option<Known<Order>>,
    /// The scope.
    pub scope: Known<Scope>,
    /// Whether it is one of OpenCL 1.x, which compares by value (`atomic_cmpxchg`) and returns the old value.
    pub is_legacy: bool,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Const {
    /// The bits, sign- or zero-extended to 64 according to the type.
    Int(u64),
    /// The value, exactly representable in the type.
    Float(f64),
    Vector(Vec<Const>),
    NullPointer,
    /// Every byte zero, for any type.
    Zero,
    /// Any value will do.
    Undefined,
}

/// How an arithmetic conversion rounds and saturates (OpenCL C 6.4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The rounding mode; none for the default of the conversion.
    pub rounding: Option<Rounding>,
    /// `_sat`
    pub saturate: bool,
}

/// Rounding modes (OpenCL C 6.4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    ToEven,
    ToZero,
    ToPositive,
    ToNegative,
}

/// Arithmetic on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Negate,
    BitNot,
}

/// Arithmetic on two operands; signedness is that of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitXor,
    BitOr,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// `&&` and `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LogicalOp {
    And,
    Or,
}

/// What an update gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpdateResult {
    /// The value before, as postfix `++` does.
    Old,
    /// The value after.
    New,
}
