//! Tokens after preprocessing: the interface of the preprocessor and the parser.

use crate::{span::Span, symbol::Symbol};

/// A token after preprocessing. A literal contains its spelling; the type checker computes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its span. For a token from a macro, a position in the expansion.
    pub span: Span,
}

/// The kinds of tokens (C99 6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A reserved word.
    Keyword(Keyword),
    /// Any other identifier, including predeclared type names (`float4`, `size_t`, `atomic_int`).
    Name(Symbol),
    /// A preprocessing number without `.` or exponent: an integer constant, valid or not.
    Integer(Symbol),
    /// A preprocessing number with `.` or exponent: a floating constant, valid or not.
    Floating(Symbol),
    /// A character constant, including quotes.
    Character(Symbol),
    /// A string literal, including quotes. The grammar concatenates adjacent ones.
    String(Symbol),
    /// Punctuation.
    Punct(Punct),
    /// A `#pragma` or `_Pragma` for later stages: the text after `pragma`.
    Pragma(Symbol),
    /// Characters that do not form a token. The lexer has reported them.
    Unknown,
}

macro_rules! table {
    ($(#[$meta:meta])* $name:ident { $($spelling:literal => $variant:ident,)* }
     aliases { $($alias:literal => $target:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// Every spelling and its meaning.
            pub const ALL: &'static [(&'static str, Self)] =
                &[$(($spelling, Self::$variant),)* $(($alias, Self::$target),)*];

            /// The first spelling.
            #[inline]
            pub const fn spelling(self) -> &'static str {
                match self { $(Self::$variant => $spelling,)* }
            }
        }
    };
}

table! {
    /// Reserved words: C99's, OpenCL C's (6.1.9) and the GNU ones that kernels use. Type names that OpenCL C
    /// predeclares (`uint`, `float4`, `image2d_t`) are ordinary names. `uniform`, which 6.3.9
    /// reserves, is one too: other compilers accept it.
    Keyword {
        "auto" => Auto, "break" => Break, "case" => Case, "char" => Char, "const" => Const,
        "continue" => Continue, "default" => Default, "do" => Do, "double" => Double, "else" => Else,
        "enum" => Enum, "extern" => Extern, "float" => Float, "for" => For, "goto" => Goto, "if" => If,
        "inline" => Inline, "int" => Int, "long" => Long, "register" => Register, "restrict" => Restrict,
        "return" => Return, "short" => Short, "signed" => Signed, "sizeof" => Sizeof, "static" => Static,
        "struct" => Struct, "switch" => Switch, "typedef" => Typedef, "union" => Union,
        "unsigned" => Unsigned, "void" => Void, "volatile" => Volatile, "while" => While,
        "_Bool" => Bool, "half" => Half, "_Complex" => Complex, "_Imaginary" => Imaginary, "_Atomic" => Atomic,
        "_Thread_local" => ThreadLocal, "_Alignas" => Alignas, "_Alignof" => Alignof,
        "_Generic" => GenericSelection, "_Noreturn" => Noreturn, "_Static_assert" => StaticAssert,
        "kernel" => Kernel, "global" => Global, "local" => Local, "constant" => Constant,
        "private" => Private, "generic" => Generic,
        "read_only" => ReadOnly, "write_only" => WriteOnly, "read_write" => ReadWrite,
        "pipe" => Pipe, "vec_step" => VecStep,
        "__attribute__" => Attribute, "asm" => Asm, "typeof" => Typeof, "__extension__" => Extension,
        "__builtin_astype" => BuiltinAstype, "__builtin_offsetof" => BuiltinOffsetof,
        "__builtin_bit_cast" => BuiltinBitCast, "__builtin_choose_expr" => BuiltinChooseExpr,
        "__builtin_constant_p" => BuiltinConstantP, "__builtin_convertvector" => BuiltinConvertvector,
        "__builtin_shufflevector" => BuiltinShufflevector,
        "__builtin_types_compatible_p" => BuiltinTypesCompatibleP,
    }
    aliases {
        "bool" => Bool,
        "__kernel" => Kernel, "__global" => Global, "__local" => Local, "__constant" => Constant,
        "__private" => Private, "__generic" => Generic,
        "__read_only" => ReadOnly, "__write_only" => WriteOnly, "__read_write" => ReadWrite,
        "__const" => Const, "__const__" => Const, "__volatile" => Volatile, "__volatile__" => Volatile,
        "__restrict" => Restrict, "__restrict__" => Restrict, "__inline" => Inline, "__inline__" => Inline,
        "__signed" => Signed, "__signed__" => Signed, "__attribute" => Attribute,
        "__asm" => Asm, "__asm__" => Asm, "__typeof" => Typeof, "__typeof__" => Typeof,
        "__alignof" => Alignof, "__alignof__" => Alignof,
    }
}

table! {
    /// Punctuation (C99 6.4.6), and `^^`, which OpenCL C reserves (6.5.8).
    Punct {
        "[" => OpenBracket, "]" => CloseBracket, "(" => OpenParen, ")" => CloseParen,
        "{" => OpenBrace, "}" => CloseBrace, "." => Dot, "->" => Arrow, "++" => PlusPlus,
        "--" => MinusMinus, "&" => And, "*" => Star, "+" => Plus, "-" => Minus, "~" => Tilde,
        "!" => Not, "/" => Slash, "%" => Percent, "<<" => ShiftLeft, ">>" => ShiftRight, "<" => Less,
        ">" => Greater, "<=" => LessEqual, ">=" => GreaterEqual, "==" => EqualEqual, "!=" => NotEqual,
        "^" => Caret, "|" => Or, "&&" => AndAnd, "||" => OrOr, "^^" => CaretCaret, "?" => Question,
        ":" => Colon, ";" => Semicolon, "..." => Ellipsis, "=" => Equal, "*=" => StarEqual,
        "/=" => SlashEqual, "%=" => PercentEqual, "+=" => PlusEqual, "-=" => MinusEqual,
        "<<=" => ShiftLeftEqual, ">>=" => ShiftRightEqual, "&=" => AndEqual, "^=" => CaretEqual,
        "|=" => OrEqual, "," => Comma, "#" => Hash, "##" => HashHash,
    }
    aliases {
        "<:" => OpenBracket, ":>" => CloseBracket, "<%" => OpenBrace, "%>" => CloseBrace,
        "%:" => Hash, "%:%:" => HashHash,
    }
}
