//! `kiln-syntax`: tokens, grammar and syntax tree of OpenCL C. Independent of types, I/O and message texts.

mod arena;
pub mod ast;
pub mod closest;
pub mod lex;
pub mod parse;
pub mod predeclared;
pub mod print;
pub mod span;
pub mod symbol;
pub mod token;

pub use arena::Arena;
pub use parse::{Parsed, SyntaxError, SyntaxErrorKind, parse};
pub use span::{Span, Spanned};
pub use symbol::{Interner, Symbol};
