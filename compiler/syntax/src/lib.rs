//! `kiln-syntax`: tokens, grammar and syntax tree of OpenCL C. Independent of types, I/O and message texts.
//!
//! ```
//! use kiln_syntax::{
//!     Arena, Interner, Span, parse,
//!     parse::{MAX_DEPTH, NoLayout},
//!     print::print,
//!     token::{Keyword, Punct, Token, TokenKind},
//! };
//!
//! let mut interner = Interner::new();
//! let name = interner.intern("counter");
//! let kinds = [TokenKind::Keyword(Keyword::Int), TokenKind::Name(name), TokenKind::Punct(Punct::Semicolon)];
//! let tokens = kinds.map(|kind| Token { kind, span: Span::default() });
//! let arena = Arena::default();
//! let parsed = parse(&tokens, &arena, &NoLayout, MAX_DEPTH);
//! assert!(parsed.errors.is_empty());
//! assert!(print(&parsed.unit, &interner).contains("counter"));
//! ```

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
