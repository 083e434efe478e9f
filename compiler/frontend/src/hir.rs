//! The typed tree: conversions are explicit, calls are resolved, and objects have their address space.
//!
//! Built by `sema`, consumed by `lower`. Contains no unresolved names and no errors: the tree of a program with
//! errors is not lowered. Lvalues (`Lvalue`) and values (`Expr`) are different types.

pub mod jumps;
mod print;
pub mod visit;

pub use kiln_types::ops::{BinaryOp, CompareOp, Const, Conversion, LoopHints, Rounding, UnaryOp};
pub use print::{Positions, print};

use kiln_builtins::BuiltinId;
use kiln_syntax::{Interner, Span, Symbol};
use kiln_types::{
    id_type,
    index::Table,
    ty::{QualTy, TyId, Types},
};
use kiln_vocabulary::opencl::{AtomicOp, FenceFlags, Linkage, Order, Scope};
use smallvec::SmallVec;

id_type! {
    /// An object at program scope, a `static` object of a function, or a string literal.
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

/// The typed tree of a program: its types, objects and functions.
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
    /// Its name. `None` for a string literal.
    pub name: Option<Symbol>,
    /// Its type. The address space is global or constant; constant for a literal.
    pub ty: QualTy,
    /// Alignment in bytes, if the declaration requests more than the type's.
    pub align: Option<u64>,
    /// Its initial bytes. `None` if zero.
    pub init: Option<Image>,
    /// Its linkage: whether other modules may refer to it.
    pub linkage: Linkage,
    /// The position of its declaration.
    pub span: Span,
}

/// The initial bytes of an object, with the addresses in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The bytes. Addresses are zero here.
    pub bytes: Vec<u8>,
    /// The addresses, 8 bytes each.
    pub relocations: Vec<Relocation>,
}

/// An address inside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The offset in the image.
    pub offset: u64,
    /// The object that it refers to.
    pub target: GlobalId,
    /// The offset in that object in bytes.
    pub addend: i64,
}

/// A function of the program, with its typed body if it is defined.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Symbol,
    /// Its result type.
    pub result: TyId,
    /// Its parameters, which are the first locals. A block's captures follow them.
    pub parameters: Vec<LocalId>,
    /// The number of parameters that are captures of a block.
    pub captures: usize,
    /// Parameters and variables.
    pub locals: Table<LocalId, Local>,
    /// Its body. `None` if it is only declared.
    pub body: Option<Vec<Stmt>>,
    /// Set for kernels.
    pub kernel: Option<Kernel>,
    /// Its linkage: whether other modules may refer to it.
    pub linkage: Linkage,
    /// The position of its name.
    pub span: Span,
}

impl Function {
    /// A function with only a name, a result type and a position.
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

/// The properties that only kernels have.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// `reqd_work_group_size`
    pub required_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub size_hint: Option<[u32; 3]>,
    /// `vec_type_hint`
    pub vec_type_hint: Option<TyId>,
    /// The information for `clGetKernelArgInfo`, one entry for each parameter.
    pub arguments: Vec<ArgumentInfo>,
}

impl Kernel {
    /// `CL_KERNEL_ATTRIBUTES` (OpenCL API 5.9.3): as in the source, separated by single spaces.
    pub fn attributes(&self, types: &Types, interner: &Interner) -> String {
        let size = |name: &str, size: Option<[u32; 3]>| size.map(|[x, y, z]| format!("{name}({x},{y},{z})"));
        let vector = self.vec_type_hint.map(|ty| format!("vec_type_hint({})", types.show(ty, interner)));
        let all = [
            size("reqd_work_group_size", self.required_size),
            size("work_group_size_hint", self.size_hint),
            vector,
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The information for `clGetKernelArgInfo` about a parameter.
#[derive(Clone, Debug)]
pub struct ArgumentInfo {
    /// The type as written, without address space and qualifiers.
    pub type_name: String,
    /// `const`, `volatile` and `restrict` of a pointer's pointee, and the access of an image.
    pub quals: QualTy,
}

/// A parameter or a variable with automatic lifetime, or a `local` one.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name. `None` for an unnamed parameter or a temporary.
    pub name: Option<Symbol>,
    /// Its type. The address space is private or local.
    pub ty: QualTy,
    /// Alignment in bytes, if the declaration requests more than the type's.
    pub align: Option<u64>,
    /// The position of its declaration.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its kind.
    pub kind: StmtKind,
    /// Its span.
    pub span: Span,
}

/// Statements. There are no scopes: the lifetime of a variable starts each time its `Declare` is executed.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    /// Starts the lifetime of a variable. Its value is undefined until stored.
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

/// All three C loops. `test_first` is false for `do`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Loop {
    pub test_first: bool,
    pub condition: Option<Expr>,
    pub step: Option<Expr>,
    pub body: Vec<Stmt>,
    pub hints: LoopHints,
}

/// `switch (value) body`. Labels may be anywhere in the body, as in C.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Switch {
    pub value: Expr,
    pub body: Vec<Stmt>,
}

/// `case low ... high`, with values of the promoted type of the switch value. `low == high` for a single value.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Case {
    pub low: i128,
    pub high: i128,
}

/// An lvalue: an object or a part of one that can be loaded from, stored to and, in most cases, pointed to.
#[derive(Clone, Debug)]
pub struct Lvalue {
    /// Its kind.
    pub kind: LvalueKind,
    /// Its type, including qualifiers and address space.
    pub ty: QualTy,
    /// Its source position.
    pub span: Span,
}

impl Lvalue {
    /// The lvalue of the whole object: strips members, elements and components.
    pub fn whole(&self) -> &Self {
        match &self.kind {
            LvalueKind::Field(field) => field.base.whole(),
            LvalueKind::Element(element) => element.base.whole(),
            LvalueKind::Swizzle(swizzle) => swizzle.base.whole(),
            _ => self,
        }
    }

    /// The parameter or variable that this is, or is a part of.
    pub fn local(&self) -> Option<LocalId> {
        match self.whole().kind {
            LvalueKind::Local(local) => Some(local),
            _ => None,
        }
    }
}

/// Kinds of lvalues. The operands of each kind are in one box.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum LvalueKind {
    Local(LocalId),
    Global(GlobalId),
    /// `*pointer`
    Deref(Box<Expr>),
    /// A member of a struct or union.
    Field(Box<Field>),
    /// An element of an array, or a component of a vector. The index is a 64-bit integer.
    Element(Box<Element>),
    /// Components of a vector. If stored to, each occurs at most once (OpenCL C 6.3.7).
    Swizzle(Box<Swizzle<Lvalue>>),
    /// A struct, union or vector value, such as the result of a call, whose parts are read.
    Temporary(Box<Expr>),
}

/// A member of an lvalue.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Field {
    pub base: Lvalue,
    /// The offset in bytes.
    pub offset: u64,
}

/// An element of an lvalue.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Element {
    pub base: Lvalue,
    pub index: Expr,
}

/// Components of a vector, which is an lvalue or a value.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Swizzle<T> {
    pub base: T,
    pub components: Components,
}

/// Indices of vector components, in the order of the source.
pub type Components = SmallVec<[u8; 16]>;

/// A typed expression that has a value.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its type.
    pub ty: TyId,
    /// Its span.
    pub span: Span,
}

/// Expressions. Operands have exactly the types that the operation requires. The operands of a large expression are
/// in one box, which keeps nodes small and traversal fast. A `Load` contains its lvalue inline.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Const(Const),
    Load(Lvalue),
    /// `&lvalue`, and the decay of an array to a pointer to its first element.
    AddressOf(Box<Lvalue>),
    /// Unary arithmetic, componentwise. The operand has the expression's type.
    Unary(UnaryOp, Box<Expr>),
    /// Binary arithmetic, componentwise. Both operands have the expression's type (a scalar shift amount is widened).
    /// Shift amounts are taken modulo the width (OpenCL C 6.5.10).
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// A floating-point `Binary` that is never contracted with another operation (OpenCL C 6.15.2.1, `FP_CONTRACT
    /// OFF`).
    Exact(Box<Expr>),
    /// A comparison of operands of one type. Scalars return `int` 0 or 1; vectors return 0 or -1 in each component
    /// (OpenCL C 6.5.4, 6.5.5). Pointers compare by address.
    Compare(CompareOp, Box<[Expr; 2]>),
    /// Scalars and pointers return `int` 0 or 1; vectors return 0 or -1.
    LogicalNot(Box<Expr>),
    /// `&&`, `||` on scalars or pointers. The right operand is evaluated only if needed.
    Logical(LogicalOp, Box<[Expr; 2]>),
    /// `&&`, `||` on vectors. Both operands are evaluated. Returns 0 or -1 in each component.
    VectorLogical(LogicalOp, Box<[Expr; 2]>),
    /// `?:` with a scalar or pointer condition. Only one branch is evaluated.
    Conditional(Box<Conditional>),
    /// `?:` with a vector condition. Selects each component by the most significant bit (OpenCL C 6.5.9).
    VectorSelect(Box<Conditional>),
    /// An arithmetic conversion, componentwise. A conversion to `bool` compares with zero.
    Convert(Conversion, Box<Expr>),
    /// `as_type`: reinterprets the bits as a type of the same size (OpenCL C 6.4.4.2).
    Bitcast(Box<Expr>),
    /// Changes the pointee type or address space of a pointer.
    PointerCast(Box<Expr>),
    /// Converts a pointer to an integer of the expression's type.
    PointerToInt(Box<Expr>),
    IntToPointer(Box<Expr>),
    /// A vector with the same scalar in every component.
    Splat(Box<Expr>),
    /// A vector of scalars and vectors.
    Vector(Box<[Expr]>),
    /// Components of a vector value. The result of one component is a scalar.
    Swizzle(Box<Swizzle<Expr>>),
    /// `pointer + index` in elements. The index is a signed 64-bit integer.
    Offset(Box<Offset>),
    /// `left - right` in elements.
    Difference {
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `lvalue = value`. Returns the stored value, in the type of the lvalue.
    Assign(Box<Assign>),
    /// `op=`, `++`, `--`. Evaluates the lvalue once. `new` is computed from `ExprKind::Current`, the loaded value,
    /// and is already converted to the type of the lvalue.
    Update(Box<Update>),
    /// The loaded value of the enclosing `Update`.
    Current,
    Comma(Box<Expr>, Box<Expr>),
    /// `({ … value; })` of GNU C: statements without jumps into or across each other, then the value.
    Statements(Box<(Vec<Stmt>, Expr)>),
    Call {
        function: FunctionId,
        arguments: Box<[Expr]>,
    },
    /// A built-in function without its own node, with the argument and result types of the selected overload.
    Builtin {
        builtin: BuiltinId,
        arguments: Box<[Expr]>,
    },
    Atomic(Box<Atomic>),
    /// `atomic_work_item_fence`, `mem_fence` and similar functions.
    Fence(Box<Fence>),
    /// `work_group_barrier`, `barrier`, `sub_group_barrier`.
    Barrier(Box<Barrier>),
    Printf(Box<Printf>),
    /// `__builtin_trap` and similar functions: the launch fails with this message.
    Trap {
        message: Vec<u8>,
    },
    /// A block: a function whose last parameters take the captures (OpenCL C 6.14). Calls of blocks are calls of that
    /// function. As values, blocks are only used by the functions that enqueue kernels.
    Block {
        function: FunctionId,
        captures: Box<[Expr]>,
    },
    /// An aggregate initializer. Parts that are not listed are zero. Offsets are in bytes.
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

/// An lvalue, and its new value computed from its current value.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Update {
    pub lvalue: Lvalue,
    pub new: Expr,
    pub result: UpdateResult,
}

/// `lvalue = value`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Assign {
    pub lvalue: Lvalue,
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

/// `printf`: the bytes of the format without the terminator, and the arguments after default promotions.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Printf {
    pub format: Vec<u8>,
    pub arguments: Vec<Expr>,
}

/// Expressions take half of a tree's memory, so keep them small.
const _: () = assert!(size_of::<Expr>() <= 48 && size_of::<Lvalue>() <= 32 && size_of::<Stmt>() <= 56);

/// A constant, or an expression that is evaluated at run time.
#[derive(Clone, Debug)]
pub enum Known<T> {
    /// The constant.
    Constant(T),
    /// The `int`-like expression.
    Dynamic(Box<Expr>),
}

/// An operation on an atomic object (OpenCL C 6.15.12.7).
#[derive(Clone, Debug)]
pub struct Atomic {
    /// The operation.
    pub op: AtomicOp,
    /// The address of the object.
    pub object: Expr,
    /// The type of the object's value. `int` for `atomic_int` and `atomic_flag`.
    pub value_ty: TyId,
    /// The operand: stored, exchanged or combined. Converted to `value_ty`.
    pub operand: Option<Expr>,
    /// The address of a compare-exchange's expected value, in any address space.
    pub expected: Option<Expr>,
    /// The order. Of a compare-exchange, the success order.
    pub order: Known<Order>,
    /// The failure order of a compare-exchange.
    pub failure: Option<Known<Order>>,
    /// The scope.
    pub scope: Known<Scope>,
    /// Whether it is an operation of OpenCL 1.x, whose compare-exchange takes the expected value (`atomic_cmpxchg`)
    /// and which return the old value.
    pub is_legacy: bool,
}

/// `&&` and `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LogicalOp {
    And,
    Or,
}

/// The result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpdateResult {
    /// The old value, as for postfix `++`.
    Old,
    /// The new value.
    New,
}
