//! The syntax tree: what was written, in the order it was written, before any name is looked up.
//!
//! Nodes stand in an arena and are plain data: parts are references, lists are slices. It knows no types and no values; a literal
//! is its spelling. The one thing decided here is whether a name is a type name, because C cannot be parsed without it.

use crate::{
    span::{Span, Spanned},
    symbol::Symbol,
};

/// A name where it is written.
pub type Ident = Spanned<Symbol>;

/// A whole program source (C99 6.9).
#[derive(Clone, Copy, Debug, Default)]
pub struct TranslationUnit<'a> {
    /// Everything at program scope.
    pub items: &'a [Item<'a>],
}

/// Something at program scope.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A function with its body.
    Function(&'a FunctionDefinition<'a>),
    /// A declaration.
    Declaration(&'a Declaration<'a>),
    /// A pragma between declarations.
    Pragma(Ident),
    /// `_Static_assert` of C11
    StaticAssert(&'a StaticAssertion<'a>),
    /// A stray `;`
    Empty(Span),
    /// `asm(…);`, which OpenCL C has not; kept to say so
    Asm(Span),
    /// Source that could not be parsed; reported.
    Error(Span),
}

/// A function definition (C99 6.9.1).
#[derive(Clone, Copy, Debug)]
pub struct FunctionDefinition<'a> {
    /// What stands before the declarator.
    pub specifiers: Specifiers<'a>,
    /// Name and parameters.
    pub declarator: Declarator<'a>,
    /// Declarations between the parameter list and the body, as in K&R C: never valid here, kept to say so.
    pub old_style: &'a [Declaration<'a>],
    /// The body.
    pub body: Block<'a>,
}

/// A declaration (C99 6.7).
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    /// What all its declarators share.
    pub specifiers: Specifiers<'a>,
    /// The things declared; none in `struct S { … };`.
    pub declarators: &'a [InitDeclarator<'a>],
    /// The whole, `;` included.
    pub span: Span,
}

/// A declarator with its initialiser.
#[derive(Clone, Copy, Debug)]
pub struct InitDeclarator<'a> {
    /// The declarator.
    pub declarator: Declarator<'a>,
    /// What stands after `=`.
    pub init: Option<Initializer<'a>>,
}

/// `_Static_assert(condition, "message")` of C11.
#[derive(Clone, Copy, Debug)]
pub struct StaticAssertion<'a> {
    /// What must not be zero.
    pub condition: Expr<'a>,
    /// The string literals after it, if any.
    pub message: &'a [Ident],
    /// The whole, `;` included.
    pub span: Span,
}

/// Declaration specifiers in the order written, sorted by sort (C99 6.7, OpenCL C 6.8).
#[derive(Clone, Copy, Debug, Default)]
pub struct Specifiers<'a> {
    /// Storage classes.
    pub storage: &'a [Spanned<Storage>],
    /// Words that together name the type.
    pub types: &'a [TypeSpecifier<'a>],
    /// Qualifiers, address spaces and access qualifiers included.
    pub qualifiers: &'a [Spanned<Qualifier>],
    /// `inline`, `kernel` and others.
    pub functions: &'a [Spanned<FunctionSpecifier>],
    /// `__attribute__`s among them.
    pub attributes: &'a [Attribute<'a>],
    /// From the first to the last.
    pub span: Span,
}

/// Storage-class specifiers (OpenCL C 6.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Storage {
    Typedef,
    Extern,
    Static,
    Auto,
    Register,
    ThreadLocal,
}

/// Function specifiers (C99 6.7.4, OpenCL C 6.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FunctionSpecifier {
    Inline,
    Kernel,
    Noreturn,
}

/// Qualifiers: C99's, address spaces (OpenCL C 6.7), access qualifiers (6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Qualifier {
    Const,
    Volatile,
    Restrict,
    Atomic,
    Global,
    Local,
    Constant,
    Private,
    Generic,
    ReadOnly,
    WriteOnly,
    ReadWrite,
    /// `uniform`, reserved.
    Uniform,
    /// `pipe`, which makes a pipe of the type it stands before (OpenCL C 6.3.3).
    Pipe,
}

/// One word, or one construct, that names a type.
#[derive(Clone, Copy, Debug)]
pub struct TypeSpecifier<'a> {
    /// What it is.
    pub kind: TypeSpecifierKind<'a>,
    /// Where.
    pub span: Span,
}

/// The sorts of type specifier (C99 6.7.2).
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum TypeSpecifierKind<'a> {
    Void,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    Half,
    Signed,
    Unsigned,
    Bool,
    Complex,
    Imaginary,
    /// A typedef name, predeclared (`uint4`, `image2d_t`) or the program's.
    Name(Symbol),
    /// `struct` or `union`
    Record(&'a RecordSpecifier<'a>),
    Enum(&'a EnumSpecifier<'a>),
    /// `_Atomic(type)`
    Atomic(&'a TypeName<'a>),
    /// `typeof(expression)`
    TypeofExpr(&'a Expr<'a>),
    /// `typeof(type)`
    TypeofType(&'a TypeName<'a>),
}

/// `struct` or `union`, with or without members (C99 6.7.2.1).
#[derive(Clone, Copy, Debug)]
pub struct RecordSpecifier<'a> {
    /// Which of the two.
    pub kind: RecordKind,
    /// The tag.
    pub tag: Option<Ident>,
    /// The members, if the braces are there.
    pub members: Option<&'a [Member<'a>]>,
    /// Attributes before the tag and after the brace.
    pub attributes: &'a [Attribute<'a>],
}

/// `struct` or `union`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RecordKind {
    Struct,
    Union,
}

/// A member declaration: one line of a `struct`.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The type.
    pub specifiers: Specifiers<'a>,
    /// The names; none for an anonymous struct or union.
    pub declarators: &'a [MemberDeclarator<'a>],
    /// The whole line.
    pub span: Span,
}

/// One name of a member declaration.
#[derive(Clone, Copy, Debug)]
pub struct MemberDeclarator<'a> {
    /// The declarator; abstract for an unnamed bit-field.
    pub declarator: &'a Declarator<'a>,
    /// The width after `:`, which OpenCL C forbids.
    pub width: Option<&'a Expr<'a>>,
}

/// `enum` (C99 6.7.2.2).
#[derive(Clone, Copy, Debug)]
pub struct EnumSpecifier<'a> {
    /// The tag.
    pub tag: Option<Ident>,
    /// The enumerators, if the braces are there.
    pub enumerators: Option<&'a [Enumerator<'a>]>,
    /// Attributes.
    pub attributes: &'a [Attribute<'a>],
}

/// An enumerator.
#[derive(Clone, Copy, Debug)]
pub struct Enumerator<'a> {
    /// Its name.
    pub name: Ident,
    /// Its value, if given.
    pub value: Option<&'a Expr<'a>>,
}

/// A declarator (C99 6.7.5): a name and how the type is derived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Declarator<'a> {
    /// The name; none in an abstract declarator.
    pub name: Option<Ident>,
    /// Derivations read from the name outwards: `*a[3]` is `[Array 3, Pointer]`.
    pub chunks: &'a [Derivation<'a>],
    /// Attributes after the declarator.
    pub attributes: &'a [Attribute<'a>],
    /// The whole.
    pub span: Span,
}

/// One step of a declarator.
#[derive(Clone, Copy, Debug)]
pub struct Derivation<'a> {
    /// Which.
    pub kind: DerivationKind<'a>,
    /// Where.
    pub span: Span,
}

/// The ways to derive a type.
#[derive(Clone, Copy, Debug)]
pub enum DerivationKind<'a> {
    /// `* qualifiers`
    Pointer(&'a [Spanned<Qualifier>], &'a [Attribute<'a>]),
    /// `^ qualifiers`: a block (OpenCL C 6.14)
    Block(&'a [Spanned<Qualifier>]),
    /// `[…]`
    Array(&'a ArrayDerivation<'a>),
    /// `(…)`
    Function(&'a FunctionDerivation<'a>),
}

/// `[…]` (C99 6.7.5.2).
#[derive(Clone, Copy, Debug)]
pub struct ArrayDerivation<'a> {
    /// Qualifiers between the brackets.
    pub qualifiers: &'a [Spanned<Qualifier>],
    /// Whether `static` stands there.
    pub is_static: bool,
    /// What stands for the length.
    pub size: ArraySize<'a>,
}

/// The length of an array declarator.
#[derive(Clone, Copy, Debug)]
pub enum ArraySize<'a> {
    /// `[]`
    Unspecified,
    /// `[*]`
    Star,
    /// `[n]`
    Expr(&'a Expr<'a>),
}

/// `(…)` (C99 6.7.5.3).
#[derive(Clone, Copy, Debug)]
pub struct FunctionDerivation<'a> {
    /// The parameters; none for `()` and for `(void)` alike, which mean the same here (OpenCL C 6.11.g).
    pub parameters: &'a [Parameter<'a>],
    /// The `...`
    pub variadic: Option<Span>,
    /// Names without types, as in K&R C: never valid here, kept to say so.
    pub old_style: &'a [Ident],
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Its specifiers.
    pub specifiers: Specifiers<'a>,
    /// Its declarator, perhaps abstract.
    pub declarator: Declarator<'a>,
    /// The whole.
    pub span: Span,
}

/// A type name (C99 6.7.6).
#[derive(Clone, Copy, Debug)]
pub struct TypeName<'a> {
    /// Its specifiers.
    pub specifiers: Specifiers<'a>,
    /// Its abstract declarator.
    pub declarator: Declarator<'a>,
    /// The whole.
    pub span: Span,
}

/// One attribute of an `__attribute__((a, b(…)))` list (OpenCL C 6.13).
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// Its name, underscores as written.
    pub name: Ident,
    /// Its arguments.
    pub arguments: &'a [Argument<'a>],
    /// The attribute, arguments included.
    pub span: Span,
}

/// An argument of an attribute or a form.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// An expression.
    Expr(Expr<'a>),
    /// A type, as in `vec_type_hint(float4)`.
    Type(&'a TypeName<'a>),
}

/// An initialiser (C99 6.7.8).
#[derive(Clone, Copy, Debug)]
pub enum Initializer<'a> {
    /// An expression.
    Expr(Expr<'a>),
    /// `{ … }`
    List(InitializerList<'a>),
}

/// `{ … }`
#[derive(Clone, Copy, Debug)]
pub struct InitializerList<'a> {
    /// The elements.
    pub items: &'a [InitializerItem<'a>],
    /// Braces included.
    pub span: Span,
}

/// One element of an initialiser list.
#[derive(Clone, Copy, Debug)]
pub struct InitializerItem<'a> {
    /// `.name` and `[index]` before `=`.
    pub designators: &'a [Designator<'a>],
    /// The value.
    pub value: Initializer<'a>,
}

/// A step of a designation (C99 6.7.8).
#[derive(Clone, Copy, Debug)]
pub enum Designator<'a> {
    /// `.name`
    Member(Ident),
    /// `[index]`
    Index(Expr<'a>),
    /// `[low ... high]` of GNU C
    Range(&'a Expr<'a>, &'a Expr<'a>),
}

/// A compound statement (C99 6.8.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Block<'a> {
    /// In order.
    pub items: &'a [BlockItem<'a>],
    /// Braces included.
    pub span: Span,
}

/// A declaration or a statement.
#[derive(Clone, Copy, Debug)]
pub enum BlockItem<'a> {
    /// A declaration.
    Declaration(&'a Declaration<'a>),
    /// A statement.
    Statement(&'a Statement<'a>),
    /// A pragma.
    Pragma(Ident),
    /// `_Static_assert` of C11
    StaticAssert(&'a StaticAssertion<'a>),
    /// A function defined inside a function, which GNU C has and OpenCL C has not; kept to say so.
    Function(&'a FunctionDefinition<'a>),
}

/// A statement (C99 6.8).
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// Which.
    pub kind: StatementKind<'a>,
    /// The whole.
    pub span: Span,
    /// `__attribute__`s before it, such as `opencl_unroll_hint` (OpenCL C 6.13.3).
    pub attributes: &'a [Attribute<'a>],
}

/// The statements.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum StatementKind<'a> {
    Empty,
    Expr(Expr<'a>),
    Block(Block<'a>),
    If {
        condition: Expr<'a>,
        then: &'a Statement<'a>,
        otherwise: Option<&'a Statement<'a>>,
    },
    Switch {
        value: Expr<'a>,
        body: &'a Statement<'a>,
    },
    While {
        condition: Expr<'a>,
        body: &'a Statement<'a>,
    },
    Do {
        body: &'a Statement<'a>,
        condition: Expr<'a>,
    },
    For(&'a For<'a>),
    /// `case low:`, or `case low ... high:` of GNU C
    Case {
        low: Expr<'a>,
        high: Option<&'a Expr<'a>>,
        body: &'a Statement<'a>,
    },
    Default {
        body: &'a Statement<'a>,
    },
    Label {
        name: Ident,
        body: &'a Statement<'a>,
    },
    Goto(Ident),
    Continue,
    Break,
    Return(Option<Expr<'a>>),
    /// `asm(…)`, which OpenCL C has not; kept to say so
    Asm,
    /// Source that could not be parsed; reported
    Error,
}

/// `for (init condition; step) body`
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct For<'a> {
    pub init: ForInit<'a>,
    pub condition: Option<Expr<'a>>,
    pub step: Option<Expr<'a>>,
    pub body: &'a Statement<'a>,
}

/// What stands first between the parentheses of `for`.
#[derive(Clone, Copy, Debug)]
pub enum ForInit<'a> {
    /// Nothing.
    None,
    /// An expression.
    Expr(Expr<'a>),
    /// A declaration.
    Declaration(&'a Declaration<'a>),
}

/// An expression (C99 6.5).
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// Which.
    pub kind: ExprKind<'a>,
    /// The whole.
    pub span: Span,
}

/// The expressions. Each holds one reference at most, so that trees are small.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum ExprKind<'a> {
    Name(Symbol),
    /// An integer constant as spelt
    Integer(Symbol),
    /// A floating constant as spelt
    Floating(Symbol),
    /// A character constant as spelt, quotes included
    Character(Symbol),
    /// Adjacent string literals as spelt, quotes included
    String(&'a &'a [Ident]),
    Paren(&'a Expr<'a>),
    Index(&'a IndexExpr<'a>),
    Call(&'a CallExpr<'a>),
    /// `base.name`: a member, or the components of a vector
    Member(&'a MemberExpr<'a>),
    /// `base->name`
    Arrow(&'a MemberExpr<'a>),
    Unary(&'a UnaryExpr<'a>),
    Binary(&'a BinaryExpr<'a>),
    Assign(&'a AssignExpr<'a>),
    Conditional(&'a ConditionalExpr<'a>),
    Comma(&'a CommaExpr<'a>),
    Cast(&'a CastExpr<'a>),
    CompoundLiteral(&'a CompoundLiteral<'a>),
    SizeofExpr(&'a Expr<'a>),
    SizeofType(&'a TypeName<'a>),
    AlignofExpr(&'a Expr<'a>),
    AlignofType(&'a TypeName<'a>),
    VecStepExpr(&'a Expr<'a>),
    VecStepType(&'a TypeName<'a>),
    /// `__builtin_astype(operand, type)`
    Astype(&'a CastExpr<'a>),
    Offsetof(&'a OffsetofExpr<'a>),
    Form(&'a FormExpr<'a>),
    Generic(&'a GenericExpr<'a>),
    /// `^ (parameters) { … }` (OpenCL C 6.14)
    Block(&'a BlockLiteral<'a>),
    /// `({ … })`, which OpenCL C has not; kept to say so
    StatementExpr(&'a Block<'a>),
    /// Source that could not be parsed; reported
    Error,
}

/// The parser moves expressions about.
const _: () = assert!(size_of::<Expr<'_>>() <= 24);

/// `base[index]`
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct IndexExpr<'a> {
    pub base: Expr<'a>,
    pub index: Expr<'a>,
}

/// `callee(arguments)`
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CallExpr<'a> {
    pub callee: Expr<'a>,
    pub arguments: &'a [Expr<'a>],
}

/// `base.name`, `base->name`
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct MemberExpr<'a> {
    pub base: Expr<'a>,
    pub name: Ident,
}

/// An operator and its operand.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct UnaryExpr<'a> {
    pub op: Spanned<UnaryOp>,
    pub operand: Expr<'a>,
}

/// An operator and its two operands.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct BinaryExpr<'a> {
    pub op: Spanned<BinaryOp>,
    pub left: Expr<'a>,
    pub right: Expr<'a>,
}

/// `=` without `op`, otherwise `op=`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct AssignExpr<'a> {
    pub op: Spanned<Option<BinaryOp>>,
    pub left: Expr<'a>,
    pub right: Expr<'a>,
}

/// `condition ? then : otherwise`; without `then`, GNU's `?:`, kept to say so.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ConditionalExpr<'a> {
    pub condition: Expr<'a>,
    pub then: Option<Expr<'a>>,
    pub otherwise: Expr<'a>,
}

/// `left, right`
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CommaExpr<'a> {
    pub left: Expr<'a>,
    pub right: Expr<'a>,
}

/// `(type)operand`. A vector literal `(float4)(a, b)` is a cast of a parenthesised comma expression:
/// only the type checker knows which names are vectors.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CastExpr<'a> {
    pub ty: &'a TypeName<'a>,
    pub operand: Expr<'a>,
}

/// `(type){ … }`
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CompoundLiteral<'a> {
    pub ty: &'a TypeName<'a>,
    pub init: InitializerList<'a>,
}

/// `__builtin_offsetof(type, member.member[index])`; the first designator is a member.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct OffsetofExpr<'a> {
    pub ty: &'a TypeName<'a>,
    pub member: &'a [Designator<'a>],
}

/// A form of clang and GNU C that looks like a call, but whose arguments are types, constants, or not evaluated.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct FormExpr<'a> {
    pub form: Spanned<Form>,
    pub arguments: &'a [Argument<'a>],
}

/// Such forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `__builtin_bit_cast(type, value)`
    BitCast,
    /// `__builtin_choose_expr(constant, value, value)`
    ChooseExpr,
    /// `__builtin_constant_p(value)`
    ConstantP,
    /// `__builtin_convertvector(value, type)`
    ConvertVector,
    /// `__builtin_shufflevector(vector, vector, constant, …)`
    ShuffleVector,
    /// `__builtin_types_compatible_p(type, type)`
    TypesCompatible,
}

impl Form {
    /// As it is written.
    pub fn spelling(self) -> &'static str {
        match self {
            Self::BitCast => "__builtin_bit_cast",
            Self::ChooseExpr => "__builtin_choose_expr",
            Self::ConstantP => "__builtin_constant_p",
            Self::ConvertVector => "__builtin_convertvector",
            Self::ShuffleVector => "__builtin_shufflevector",
            Self::TypesCompatible => "__builtin_types_compatible_p",
        }
    }
}

/// `_Generic(control, type: value, …, default: value)` (C11 6.5.1.1).
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct GenericExpr<'a> {
    pub control: Expr<'a>,
    pub associations: &'a [Association<'a>],
}

/// One choice of a generic selection (C11 6.5.1.1).
#[derive(Clone, Copy, Debug)]
pub struct Association<'a> {
    /// The type; none for `default`.
    pub ty: Option<&'a TypeName<'a>>,
    /// The value that it chooses.
    pub value: Expr<'a>,
    /// The type or the word `default`.
    pub span: Span,
}

/// A block literal (OpenCL C 6.14).
#[derive(Clone, Copy, Debug)]
pub struct BlockLiteral<'a> {
    /// The type before the parameters, if written.
    pub result: Option<&'a TypeName<'a>>,
    /// The parameters, if written.
    pub parameters: Option<&'a FunctionDerivation<'a>>,
    /// The body.
    pub body: Block<'a>,
}

/// Operators with one operand (C99 6.5.2.4, 6.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    PreIncrement,
    PreDecrement,
    PostIncrement,
    PostDecrement,
    AddressOf,
    Dereference,
    Plus,
    Minus,
    BitNot,
    LogicalNot,
}

/// Operators with two operands (C99 6.5.5–6.5.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    LogicalAnd,
    LogicalOr,
    /// `^^`, reserved (OpenCL C 6.5.8)
    LogicalXor,
}

impl BinaryOp {
    /// As written.
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Less => "<",
            Self::Greater => ">",
            Self::LessEqual => "<=",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::BitAnd => "&",
            Self::BitXor => "^",
            Self::BitOr => "|",
            Self::LogicalAnd => "&&",
            Self::LogicalOr => "||",
            Self::LogicalXor => "^^",
        }
    }
}
