//! The syntax tree: what was written, in the order it was written, before any name is looked up.
//!
//! What the parser moves about is small: large things stand in boxes. It knows no types and no values; a literal is its spelling. The one thing decided here is whether a name
//! is a type name, because C cannot be parsed without it.

use crate::{
    span::{Span, Spanned},
    symbol::Symbol,
};

/// A name where it is written.
pub type Ident = Spanned<Symbol>;

/// A whole program source (C99 6.9).
#[derive(Clone, Debug, Default)]
pub struct TranslationUnit {
    /// Everything at program scope.
    pub items: Vec<Item>,
}

/// Something at program scope.
#[derive(Clone, Debug)]
pub enum Item {
    /// A function with its body.
    Function(Box<FunctionDefinition>),
    /// A declaration.
    Declaration(Box<Declaration>),
    /// A pragma between declarations.
    Pragma(Ident),
    /// `_Static_assert` of C11
    StaticAssert(Box<StaticAssertion>),
    /// A stray `;`
    Empty(Span),
    /// `asm(…);`, which OpenCL C has not; kept to say so
    Asm(Span),
    /// Source that could not be parsed; reported.
    Error(Span),
}

/// A function definition (C99 6.9.1).
#[derive(Clone, Debug)]
pub struct FunctionDefinition {
    /// What stands before the declarator.
    pub specifiers: Specifiers,
    /// Name and parameters.
    pub declarator: Declarator,
    /// Declarations between the parameter list and the body, as in K&R C: never valid here, kept to say so.
    pub old_style: Vec<Declaration>,
    /// The body.
    pub body: Block,
}

/// A declaration (C99 6.7).
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What all its declarators share.
    pub specifiers: Specifiers,
    /// The things declared; none in `struct S { … };`.
    pub declarators: Vec<InitDeclarator>,
    /// The whole, `;` included.
    pub span: Span,
}

/// A declarator with its initialiser.
#[derive(Clone, Debug)]
pub struct InitDeclarator {
    /// The declarator.
    pub declarator: Declarator,
    /// What stands after `=`.
    pub init: Option<Initializer>,
}

/// `_Static_assert(condition, "message")` of C11.
#[derive(Clone, Debug)]
pub struct StaticAssertion {
    /// What must not be zero.
    pub condition: Expr,
    /// The string literals after it, if any.
    pub message: Vec<Ident>,
    /// The whole, `;` included.
    pub span: Span,
}

/// Declaration specifiers in the order written, sorted by sort (C99 6.7, OpenCL C 6.8).
#[derive(Clone, Debug, Default)]
pub struct Specifiers {
    /// Storage classes.
    pub storage: Vec<Spanned<Storage>>,
    /// Words that together name the type.
    pub types: Vec<TypeSpecifier>,
    /// Qualifiers, address spaces and access qualifiers included.
    pub qualifiers: Vec<Spanned<Qualifier>>,
    /// `inline`, `kernel` and others.
    pub functions: Vec<Spanned<FunctionSpecifier>>,
    /// `__attribute__`s among them.
    pub attributes: Vec<Attribute>,
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
#[derive(Clone, Debug)]
pub struct TypeSpecifier {
    /// What it is.
    pub kind: TypeSpecifierKind,
    /// Where.
    pub span: Span,
}

/// The sorts of type specifier (C99 6.7.2).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum TypeSpecifierKind {
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
    Record(Box<RecordSpecifier>),
    Enum(Box<EnumSpecifier>),
    /// `_Atomic(type)`
    Atomic(Box<TypeName>),
    /// `typeof(expression)`
    TypeofExpr(Box<Expr>),
    /// `typeof(type)`
    TypeofType(Box<TypeName>),
}

/// `struct` or `union`, with or without members (C99 6.7.2.1).
#[derive(Clone, Debug)]
pub struct RecordSpecifier {
    /// Which of the two.
    pub kind: RecordKind,
    /// The tag.
    pub tag: Option<Ident>,
    /// The members, if the braces are there.
    pub members: Option<Vec<Member>>,
    /// Attributes before the tag and after the brace.
    pub attributes: Vec<Attribute>,
}

/// `struct` or `union`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RecordKind {
    Struct,
    Union,
}

/// A member declaration: one line of a `struct`.
#[derive(Clone, Debug)]
pub struct Member {
    /// The type.
    pub specifiers: Specifiers,
    /// The names; none for an anonymous struct or union.
    pub declarators: Vec<MemberDeclarator>,
    /// The whole line.
    pub span: Span,
}

/// One name of a member declaration.
#[derive(Clone, Debug)]
pub struct MemberDeclarator {
    /// The declarator; abstract for an unnamed bit-field.
    pub declarator: Box<Declarator>,
    /// The width after `:`, which OpenCL C forbids.
    pub width: Option<Box<Expr>>,
}

/// `enum` (C99 6.7.2.2).
#[derive(Clone, Debug)]
pub struct EnumSpecifier {
    /// The tag.
    pub tag: Option<Ident>,
    /// The enumerators, if the braces are there.
    pub enumerators: Option<Vec<Enumerator>>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
}

/// An enumerator.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Its name.
    pub name: Ident,
    /// Its value, if given.
    pub value: Option<Box<Expr>>,
}

/// A declarator (C99 6.7.5): a name and how the type is derived.
#[derive(Clone, Debug, Default)]
pub struct Declarator {
    /// The name; none in an abstract declarator.
    pub name: Option<Ident>,
    /// Derivations read from the name outwards: `*a[3]` is `[Array 3, Pointer]`.
    pub chunks: Vec<Derivation>,
    /// Attributes after the declarator.
    pub attributes: Vec<Attribute>,
    /// The whole.
    pub span: Span,
}

/// One step of a declarator.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// Which.
    pub kind: DerivationKind,
    /// Where.
    pub span: Span,
}

/// The ways to derive a type.
#[derive(Clone, Debug)]
pub enum DerivationKind {
    /// `* qualifiers`
    Pointer(Vec<Spanned<Qualifier>>, Vec<Attribute>),
    /// `^ qualifiers`: a block (OpenCL C 6.14)
    Block(Vec<Spanned<Qualifier>>),
    /// `[…]`
    Array(Box<ArrayDerivation>),
    /// `(…)`
    Function(Box<FunctionDerivation>),
}

/// `[…]` (C99 6.7.5.2).
#[derive(Clone, Debug)]
pub struct ArrayDerivation {
    /// Qualifiers between the brackets.
    pub qualifiers: Vec<Spanned<Qualifier>>,
    /// Whether `static` stands there.
    pub is_static: bool,
    /// What stands for the length.
    pub size: ArraySize,
}

/// The length of an array declarator.
#[derive(Clone, Debug)]
pub enum ArraySize {
    /// `[]`
    Unspecified,
    /// `[*]`
    Star,
    /// `[n]`
    Expr(Box<Expr>),
}

/// `(…)` (C99 6.7.5.3).
#[derive(Clone, Debug)]
pub struct FunctionDerivation {
    /// The parameters; none for `()` and for `(void)` alike, which mean the same here (OpenCL C 6.11.g).
    pub parameters: Vec<Parameter>,
    /// The `...`
    pub variadic: Option<Span>,
    /// Names without types, as in K&R C: never valid here, kept to say so.
    pub old_style: Vec<Ident>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its specifiers.
    pub specifiers: Specifiers,
    /// Its declarator, perhaps abstract.
    pub declarator: Declarator,
    /// The whole.
    pub span: Span,
}

/// A type name (C99 6.7.6).
#[derive(Clone, Debug)]
pub struct TypeName {
    /// Its specifiers.
    pub specifiers: Specifiers,
    /// Its abstract declarator.
    pub declarator: Declarator,
    /// The whole.
    pub span: Span,
}

/// One attribute of an `__attribute__((a, b(…)))` list (OpenCL C 6.13).
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name, underscores as written.
    pub name: Ident,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The attribute, arguments included.
    pub span: Span,
}

/// An argument of an attribute or a form.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An expression.
    Expr(Expr),
    /// A type, as in `vec_type_hint(float4)`.
    Type(Box<TypeName>),
}

/// An initialiser (C99 6.7.8).
#[derive(Clone, Debug)]
pub enum Initializer {
    /// An expression.
    Expr(Expr),
    /// `{ … }`
    List(InitializerList),
}

/// `{ … }`
#[derive(Clone, Debug)]
pub struct InitializerList {
    /// The elements.
    pub items: Vec<InitializerItem>,
    /// Braces included.
    pub span: Span,
}

/// One element of an initialiser list.
#[derive(Clone, Debug)]
pub struct InitializerItem {
    /// `.name` and `[index]` before `=`.
    pub designators: Vec<Designator>,
    /// The value.
    pub value: Initializer,
}

/// A step of a designation (C99 6.7.8).
#[derive(Clone, Debug)]
pub enum Designator {
    /// `.name`
    Member(Ident),
    /// `[index]`
    Index(Expr),
    /// `[low ... high]` of GNU C
    Range(Box<Expr>, Box<Expr>),
}

/// A compound statement (C99 6.8.2).
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In order.
    pub items: Vec<BlockItem>,
    /// Braces included.
    pub span: Span,
}

/// A declaration or a statement.
#[derive(Clone, Debug)]
pub enum BlockItem {
    /// A declaration.
    Declaration(Box<Declaration>),
    /// A statement.
    Statement(Box<Statement>),
    /// A pragma.
    Pragma(Ident),
    /// `_Static_assert` of C11
    StaticAssert(Box<StaticAssertion>),
    /// A function defined inside a function, which GNU C has and OpenCL C has not; kept to say so.
    Function(Box<FunctionDefinition>),
}

/// A statement (C99 6.8).
#[derive(Clone, Debug)]
pub struct Statement {
    /// Which.
    pub kind: StatementKind,
    /// The whole.
    pub span: Span,
    /// `__attribute__`s before it, such as `opencl_unroll_hint` (OpenCL C 6.13.3).
    pub attributes: Vec<Attribute>,
}

/// The statements.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StatementKind {
    Empty,
    Expr(Expr),
    Block(Block),
    If {
        condition: Expr,
        then: Box<Statement>,
        otherwise: Option<Box<Statement>>,
    },
    Switch {
        value: Expr,
        body: Box<Statement>,
    },
    While {
        condition: Expr,
        body: Box<Statement>,
    },
    Do {
        body: Box<Statement>,
        condition: Expr,
    },
    For(Box<For>),
    /// `case low:`, or `case low ... high:` of GNU C
    Case {
        low: Expr,
        high: Option<Box<Expr>>,
        body: Box<Statement>,
    },
    Default {
        body: Box<Statement>,
    },
    Label {
        name: Ident,
        body: Box<Statement>,
    },
    Goto(Ident),
    Continue,
    Break,
    Return(Option<Expr>),
    /// `asm(…)`, which OpenCL C has not; kept to say so
    Asm,
    /// Source that could not be parsed; reported
    Error,
}

/// `for (init condition; step) body`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct For {
    pub init: ForInit,
    pub condition: Option<Expr>,
    pub step: Option<Expr>,
    pub body: Box<Statement>,
}

/// What stands first between the parentheses of `for`.
#[derive(Clone, Debug)]
pub enum ForInit {
    /// Nothing.
    None,
    /// An expression.
    Expr(Expr),
    /// A declaration.
    Declaration(Box<Declaration>),
}

/// An expression (C99 6.5).
#[derive(Clone, Debug)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// The whole.
    pub span: Span,
}

/// The expressions. Each holds one box at most, so that trees are small and few pieces of memory make one.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Name(Symbol),
    /// An integer constant as spelt
    Integer(Symbol),
    /// A floating constant as spelt
    Floating(Symbol),
    /// A character constant as spelt, quotes included
    Character(Symbol),
    /// Adjacent string literals as spelt, quotes included
    String(Box<Vec<Ident>>),
    Paren(Box<Expr>),
    Index(Box<IndexExpr>),
    Call(Box<CallExpr>),
    /// `base.name`: a member, or the components of a vector
    Member(Box<MemberExpr>),
    /// `base->name`
    Arrow(Box<MemberExpr>),
    Unary(Box<UnaryExpr>),
    Binary(Box<BinaryExpr>),
    Assign(Box<AssignExpr>),
    Conditional(Box<ConditionalExpr>),
    Comma(Box<CommaExpr>),
    Cast(Box<CastExpr>),
    CompoundLiteral(Box<CompoundLiteral>),
    SizeofExpr(Box<Expr>),
    SizeofType(Box<TypeName>),
    AlignofExpr(Box<Expr>),
    AlignofType(Box<TypeName>),
    VecStepExpr(Box<Expr>),
    VecStepType(Box<TypeName>),
    /// `__builtin_astype(operand, type)`
    Astype(Box<CastExpr>),
    Offsetof(Box<OffsetofExpr>),
    Form(Box<FormExpr>),
    Generic(Box<GenericExpr>),
    /// `^ (parameters) { … }` (OpenCL C 6.14)
    Block(Box<BlockLiteral>),
    /// `({ … })`, which OpenCL C has not; kept to say so
    StatementExpr(Box<Block>),
    /// Source that could not be parsed; reported
    Error,
}

/// The parser moves expressions about.
const _: () = assert!(size_of::<Expr>() <= 24);

/// `base[index]`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct IndexExpr {
    pub base: Expr,
    pub index: Expr,
}

/// `callee(arguments)`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CallExpr {
    pub callee: Expr,
    pub arguments: Vec<Expr>,
}

/// `base.name`, `base->name`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct MemberExpr {
    pub base: Expr,
    pub name: Ident,
}

/// An operator and its operand.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct UnaryExpr {
    pub op: Spanned<UnaryOp>,
    pub operand: Expr,
}

/// An operator and its two operands.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct BinaryExpr {
    pub op: Spanned<BinaryOp>,
    pub left: Expr,
    pub right: Expr,
}

/// `=` without `op`, otherwise `op=`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AssignExpr {
    pub op: Spanned<Option<BinaryOp>>,
    pub left: Expr,
    pub right: Expr,
}

/// `condition ? then : otherwise`; without `then`, GNU's `?:`, kept to say so.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ConditionalExpr {
    pub condition: Expr,
    pub then: Option<Expr>,
    pub otherwise: Expr,
}

/// `left, right`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CommaExpr {
    pub left: Expr,
    pub right: Expr,
}

/// `(type)operand`. A vector literal `(float4)(a, b)` is a cast of a parenthesised comma expression:
/// only the type checker knows which names are vectors.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CastExpr {
    pub ty: Box<TypeName>,
    pub operand: Expr,
}

/// `(type){ … }`
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct CompoundLiteral {
    pub ty: Box<TypeName>,
    pub init: InitializerList,
}

/// `__builtin_offsetof(type, member.member[index])`; the first designator is a member.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct OffsetofExpr {
    pub ty: Box<TypeName>,
    pub member: Vec<Designator>,
}

/// A form of clang and GNU C that looks like a call, but whose arguments are types, constants, or not evaluated.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FormExpr {
    pub form: Spanned<Form>,
    pub arguments: Vec<Argument>,
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
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct GenericExpr {
    pub control: Expr,
    pub associations: Vec<Association>,
}

/// One choice of a generic selection (C11 6.5.1.1).
#[derive(Clone, Debug)]
pub struct Association {
    /// The type; none for `default`.
    pub ty: Option<Box<TypeName>>,
    /// The value that it chooses.
    pub value: Expr,
    /// The type or the word `default`.
    pub span: Span,
}

/// A block literal (OpenCL C 6.14).
#[derive(Clone, Debug)]
pub struct BlockLiteral {
    /// The type before the parameters, if written.
    pub result: Option<Box<TypeName>>,
    /// The parameters, if written.
    pub parameters: Option<Box<FunctionDerivation>>,
    /// The body.
    pub body: Block,
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
