//! The syntax tree: the source as written, before name resolution.
//!
//! Nodes are plain data in an arena: children are references, lists are slices. The tree contains no types and no
//! values; a literal is its spelling. The parser only distinguishes type names from other names, because the
//! grammar of C requires it.

use crate::{
    span::{Span, Spanned},
    symbol::Symbol,
};

/// A name with its span.
pub type Ident = Spanned<Symbol>;

/// A whole program source (C99 6.9).
#[derive(Clone, Copy, Debug, Default)]
pub struct TranslationUnit<'a> {
    /// The items at program scope.
    pub items: &'a [Item<'a>],
}

/// An item at program scope.
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
    /// `asm(…);`, which OpenCL C does not support. Kept for a message.
    Asm(Span),
    /// Source that could not be parsed. It has been reported.
    Error(Span),
}

/// A function definition (C99 6.9.1).
#[derive(Clone, Copy, Debug)]
pub struct FunctionDefinition<'a> {
    /// The specifiers before the declarator.
    pub specifiers: Specifiers<'a>,
    /// Name and parameters.
    pub declarator: Declarator<'a>,
    /// Declarations between the parameter list and the body, as in K&R C. Invalid; kept for a message.
    pub old_style: &'a [Declaration<'a>],
    /// The body.
    pub body: Block<'a>,
}

/// A declaration (C99 6.7).
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    /// The specifiers of all declarators.
    pub specifiers: Specifiers<'a>,
    /// The declarators. Empty in `struct S { … };`.
    pub declarators: &'a [InitDeclarator<'a>],
    /// The span, including `;`.
    pub span: Span,
}

/// A declarator with its initializer.
#[derive(Clone, Copy, Debug)]
pub struct InitDeclarator<'a> {
    /// The declarator.
    pub declarator: Declarator<'a>,
    /// The initializer after `=`.
    pub init: Option<Initializer<'a>>,
}

/// `_Static_assert(condition, "message")` of C11.
#[derive(Clone, Copy, Debug)]
pub struct StaticAssertion<'a> {
    /// The condition, which must be nonzero.
    pub condition: Expr<'a>,
    /// The string literals after it, if any.
    pub message: &'a [Ident],
    /// The span, including `;`.
    pub span: Span,
}

/// Declaration specifiers, grouped by kind in source order (C99 6.7, OpenCL C 6.7 to 6.10).
#[derive(Clone, Copy, Debug, Default)]
pub struct Specifiers<'a> {
    /// Storage classes.
    pub storage: &'a [Spanned<Storage>],
    /// Words that together name the type.
    pub types: &'a [TypeSpecifier<'a>],
    /// Qualifiers, including address spaces and access qualifiers.
    pub qualifiers: &'a [Spanned<Qualifier>],
    /// `inline`, `kernel` and others.
    pub functions: &'a [Spanned<FunctionSpecifier>],
    /// `__attribute__`s among the specifiers.
    pub attributes: &'a [Attribute<'a>],
    /// The span from the first specifier to the last.
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

/// Qualifiers: C99's, address spaces (OpenCL C 6.7), access qualifiers (6.8).
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
    /// `pipe`, which makes a pipe type with the following packet type (OpenCL C 6.3.3).
    Pipe,
}

/// A keyword, name or construct that is part of a type.
#[derive(Clone, Copy, Debug)]
pub struct TypeSpecifier<'a> {
    /// Its kind.
    pub kind: TypeSpecifierKind<'a>,
    /// Its span.
    pub span: Span,
}

/// The kinds of type specifiers (C99 6.7.2).
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
    /// A typedef name, predeclared (`uint4`, `image2d_t`) or declared by the program.
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
    /// `struct` or `union`.
    pub kind: RecordKind,
    /// The tag.
    pub tag: Option<Ident>,
    /// The members, if it has braces.
    pub members: Option<&'a [Member<'a>]>,
    /// Attributes before the tag and after the closing brace.
    pub attributes: &'a [Attribute<'a>],
}

/// `struct` or `union`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RecordKind {
    Struct,
    Union,
}

/// A member declaration.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The type.
    pub specifiers: Specifiers<'a>,
    /// The declarators. Empty for an anonymous struct or union.
    pub declarators: &'a [MemberDeclarator<'a>],
    /// The span of the declaration.
    pub span: Span,
}

/// A declarator of a member declaration.
#[derive(Clone, Copy, Debug)]
pub struct MemberDeclarator<'a> {
    /// The declarator; abstract for an unnamed bit-field.
    pub declarator: &'a Declarator<'a>,
    /// The width of a bit-field after `:`, which OpenCL C does not allow.
    pub width: Option<&'a Expr<'a>>,
}

/// `enum` (C99 6.7.2.2).
#[derive(Clone, Copy, Debug)]
pub struct EnumSpecifier<'a> {
    /// The tag.
    pub tag: Option<Ident>,
    /// The enumerators, if it has braces.
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

/// A declarator (C99 6.7.5): a name, and how its type is derived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Declarator<'a> {
    /// The name. `None` for an abstract declarator.
    pub name: Option<Ident>,
    /// Derivations from the name outwards: `*a[3]` is `[Array 3, Pointer]`.
    pub derivations: &'a [Derivation<'a>],
    /// Attributes after the declarator.
    pub attributes: &'a [Attribute<'a>],
    /// The span of the declarator.
    pub span: Span,
}

/// A step of a declarator.
#[derive(Clone, Copy, Debug)]
pub struct Derivation<'a> {
    /// Its kind.
    pub kind: DerivationKind<'a>,
    /// Its span.
    pub span: Span,
}

/// The kinds of type derivation.
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
    /// Whether it contains `static`.
    pub is_static: bool,
    /// The length.
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
    /// The parameters. Empty for `()` and `(void)`, which are equivalent here (OpenCL C 6.11.g).
    pub parameters: &'a [Parameter<'a>],
    /// The `...`
    pub variadic: Option<Span>,
    /// Names without types, as in K&R C. Invalid; kept for a message.
    pub old_style: &'a [Ident],
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Its specifiers.
    pub specifiers: Specifiers<'a>,
    /// Its declarator, possibly abstract.
    pub declarator: Declarator<'a>,
    /// Its span.
    pub span: Span,
}

/// A type name (C99 6.7.6).
#[derive(Clone, Copy, Debug)]
pub struct TypeName<'a> {
    /// Its specifiers.
    pub specifiers: Specifiers<'a>,
    /// Its abstract declarator.
    pub declarator: Declarator<'a>,
    /// Its span.
    pub span: Span,
}

/// One attribute of an `__attribute__((a, b(…)))` list (OpenCL C 6.13).
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// Its name, including underscores.
    pub name: Ident,
    /// Its arguments.
    pub arguments: &'a [Argument<'a>],
    /// The span, including arguments.
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

/// An initializer (C99 6.7.8).
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
    /// Its span, including the braces.
    pub span: Span,
}

/// An element of an initializer list.
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
    /// The declarations and statements, in source order.
    pub items: &'a [BlockItem<'a>],
    /// Its span, including the braces.
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
    /// A nested function, as in GNU C. OpenCL C does not support it; kept for a message.
    Function(&'a FunctionDefinition<'a>),
}

/// A statement (C99 6.8).
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// Its kind.
    pub kind: StatementKind<'a>,
    /// Its span.
    pub span: Span,
    /// Preceding `__attribute__`s, such as `opencl_unroll_hint` (OpenCL C 6.13.5).
    pub attributes: &'a [Attribute<'a>],
}

/// The kinds of statements.
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
    /// `asm(…)`, which OpenCL C does not support. Kept for a message.
    Asm,
    /// Source that could not be parsed. It has been reported.
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

/// The first part of a `for` statement.
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
    /// Its kind.
    pub kind: ExprKind<'a>,
    /// Its span.
    pub span: Span,
}

/// The kinds of expressions. Each contains at most one reference, to keep trees small.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum ExprKind<'a> {
    Name(Symbol),
    /// The spelling of an integer constant
    Integer(Symbol),
    /// The spelling of a floating constant
    Floating(Symbol),
    /// The spelling of a character constant, including quotes
    Character(Symbol),
    /// The spellings of adjacent string literals, including quotes
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
    /// `({ … })`, which OpenCL C does not support. Kept for a message.
    StatementExpr(&'a Block<'a>),
    /// Source that could not be parsed. It has been reported.
    Error,
}

/// The parser copies expressions often.
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

/// A unary operator and its operand.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct UnaryExpr<'a> {
    pub op: Spanned<UnaryOp>,
    pub operand: Expr<'a>,
}

/// A binary operator and its operands.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct BinaryExpr<'a> {
    pub op: Spanned<BinaryOp>,
    pub left: Expr<'a>,
    pub right: Expr<'a>,
}

/// `=` if there is no `op`, otherwise `op=`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct AssignExpr<'a> {
    pub op: Spanned<Option<BinaryOp>>,
    pub left: Expr<'a>,
    pub right: Expr<'a>,
}

/// `condition ? then : otherwise`. GNU's `?:` without `then` is kept for a message.
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

/// `(type)operand`. A vector literal `(float4)(a, b)` is a cast of a parenthesized comma expression: the type checker
/// distinguishes the two.
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

/// `__builtin_offsetof(type, member.member[index])`. The first designator is a member.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct OffsetofExpr<'a> {
    pub ty: &'a TypeName<'a>,
    pub member: &'a [Designator<'a>],
}

/// A builtin of clang or GNU C with the syntax of a call, whose arguments are types, constants or unevaluated expressions.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct FormExpr<'a> {
    pub form: Spanned<Form>,
    pub arguments: &'a [Argument<'a>],
}

/// The kinds of these builtins.
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
    /// Its spelling.
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

/// An association of a generic selection (C11 6.5.1.1).
#[derive(Clone, Copy, Debug)]
pub struct Association<'a> {
    /// The type. `None` for `default`.
    pub ty: Option<&'a TypeName<'a>>,
    /// The selected expression.
    pub value: Expr<'a>,
    /// The span of the type or of `default`.
    pub span: Span,
}

/// A block literal (OpenCL C 6.14).
#[derive(Clone, Copy, Debug)]
pub struct BlockLiteral<'a> {
    /// The result type before the parameters, if written.
    pub result: Option<&'a TypeName<'a>>,
    /// The parameters, if written.
    pub parameters: Option<&'a FunctionDerivation<'a>>,
    /// The body.
    pub body: Block<'a>,
}

/// Unary operators (C99 6.5.2.4, 6.5.3).
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

/// Binary operators (C99 6.5.5–6.5.14).
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
    /// `^^`, reserved (OpenCL C 6.5.7)
    LogicalXor,
}

impl BinaryOp {
    /// Its spelling.
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
