//! The data that all stages of a compilation share: options, diagnostics and the source map.
//!
//! Independent of the language's grammar and types. A stage reports to a [`diag::Sink`] and continues:
//!
//! ```
//! use kiln_session::diag::{Code, Diagnostic, Severity, Sink};
//! use kiln_syntax::Span;
//!
//! let mut sink = Sink::default();
//! sink.report(Diagnostic::new(Code::Include, Span { lo: 0, hi: 8 }, "cannot find `a.h`"));
//! let (diagnostics, _) = sink.finish(|span| span.lo);
//! assert_eq!(diagnostics[0].severity, Severity::Error);
//! ```

pub mod defect;
pub mod diag;
pub mod extensions;
mod options;
pub mod source;

pub use options::{
    DEEP, DEEP_STACK, Loader, MacroOption, MathOptions, NoFiles, Options, SeqCst, Source, extension_switch,
};
