//! The preprocessor (C99 6.10, OpenCL C 6.12): converts source text to tokens for the parser.
//!
//! Independent of grammar, types and the meaning of pragmas. Reads files only through the caller's `Loader`. It works
//! in one pass: it reads tokens from the innermost file or from pending macro expansions, executes directives as they
//! occur, and expands names as they are read.
//!
//! ```
//! use kiln_preprocessor::{LineMarkers, preprocess_to_print, print};
//! use kiln_session::{NoFiles, Options, Source, diag::Sink, source::SourceMap};
//! use kiln_syntax::Interner;
//!
//! let (mut sources, mut names, mut sink) = (SourceMap::default(), Interner::new(), Sink::default());
//! let source = Source { name: "a.cl".into(), text: b"#define TWICE(x) x x\nTWICE(int)".to_vec() };
//! let done = preprocess_to_print(&Options::default(), source, &NoFiles, &mut sources, &mut names, &mut sink);
//! assert_eq!(done.tokens.len(), 2);
//! assert!(print(&done.tokens, &sources, &names, LineMarkers::Omit).ends_with("int int\n"));
//! ```

mod arguments;
mod buffers;
mod condition;
mod define;
mod directive;
mod emit;
mod expand;
mod file;
mod frame;
mod hide;
mod include;
mod invisible;
mod limits;
mod macros;
mod operators;
mod piece;
pub mod pragma;
mod pragma_directive;
mod predefined;
mod print;
mod splices;
mod substitute;
mod token;
mod trace;

#[cfg(test)]
mod tests;

pub use predefined::constants;
pub use print::{LineMarkers, print};
pub use trace::{Inclusion, MacroDefinition, MacroUse, Trace};

use std::{rc::Rc, sync::Arc};

use buffers::Buffers;
use file::{Files, SourceFile};
use frame::Frame;
use hide::HideSets;
use kiln_session::{
    Loader, MacroOption, Options, Source,
    diag::{Code, Diagnostic, Sink},
    extensions::{self, Extensions},
    source::{FileKind, SourceMap},
};
use kiln_syntax::{
    Interner, Span, Symbol,
    token::{Keyword, Token},
};
use limits::Limits;
use macros::Macros;
use rustc_hash::FxHashSet;
use token::Tok;

/// The result of preprocessing.
#[derive(Debug)]
pub struct Preprocessed {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The end position of the source.
    pub end: Span,
    /// The paths of included files, without duplicates, in the order of first use.
    pub dependencies: Vec<String>,
}

/// What the tokens are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Parse,
    /// Text for the user, which other compilers can read too: calls of functions of GNU C keep their names.
    Print,
}

/// Preprocesses a source with the macros, directories and forced includes of the options. Fills `trace` if given.
pub fn preprocess(
    options: &Options,
    source: Source,
    loader: &dyn Loader,
    map: &mut SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    trace: Option<&mut Trace>,
) -> Preprocessed {
    run(options, source, loader, map, interner, sink, trace, Purpose::Parse, Limits::default())
}

/// As [`preprocess`], for [`print()`].
pub fn preprocess_to_print(
    options: &Options,
    source: Source,
    loader: &dyn Loader,
    map: &mut SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
) -> Preprocessed {
    run(options, source, loader, map, interner, sink, None, Purpose::Print, Limits::default())
}

#[allow(
    clippy::too_many_arguments,
    reason = "the arguments of `preprocess`, their use, and limits for tests"
)]
fn run(
    options: &Options,
    source: Source,
    loader: &dyn Loader,
    map: &mut SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    trace: Option<&mut Trace>,
    purpose: Purpose,
    limits: Limits,
) -> Preprocessed {
    let words = Words::new(interner);
    let extensions = extensions::enabled(options);
    let mut preprocessor = Preprocessor {
        keywords: emit::keywords(options),
        options,
        purpose,
        extensions,
        loader,
        map,
        interner,
        sink,
        trace,
        words,
        macros: Macros::default(),
        hide_sets: HideSets::default(),
        files: Files::default(),
        frames: Vec::new(),
        pending: Vec::new(),
        buffers: Buffers::default(),
        isolated: false,
        collecting: 0,
        in_condition: false,
        depth: 0,
        counter: 0,
        limits,
        stopped: false,
        dependencies: Vec::new(),
        reported: FxHashSet::default(),
    };
    preprocessor.predefine();
    let name: Arc<str> = source.name.into();
    let main = Rc::new(SourceFile::new(name, source.text));
    preprocessor.enter(main, FileKind::User, None);
    let end = preprocessor.end_of_file();
    for path in options.forced_includes.iter().rev() {
        preprocessor.force_include(path);
    }
    preprocessor.enter_command_line(&options.macros);
    let tokens = preprocessor.emit_all();
    Preprocessed { tokens, end, dependencies: preprocessor.dependencies }
}

/// The state of the preprocessor.
struct Preprocessor<'a> {
    options: &'a Options,
    purpose: Purpose,
    extensions: Extensions,
    loader: &'a dyn Loader,
    map: &'a mut SourceMap,
    interner: &'a mut Interner,
    sink: &'a mut Sink,
    trace: Option<&'a mut Trace>,
    words: Words,
    /// The keywords of this language version, by symbol.
    keywords: Vec<Option<Keyword>>,
    macros: Macros,
    hide_sets: HideSets,
    files: Files,
    /// The files being read, outermost first.
    frames: Vec<Frame>,
    /// Tokens to read before those of the file, in reverse order.
    pending: Vec<Tok>,
    buffers: Buffers,
    /// Whether only pending tokens may be read.
    isolated: bool,
    /// The number of macro calls whose arguments are being read.
    collecting: usize,
    /// Whether `defined` and `__has_include` are operators.
    in_condition: bool,
    /// The nesting depth of argument expansion.
    depth: usize,
    /// The next value of `__COUNTER__`.
    counter: usize,
    limits: Limits,
    /// Whether a limit was exceeded, so that nothing more is read.
    stopped: bool,
    dependencies: Vec<String>,
    /// The positions of invalid characters that have been reported.
    reported: FxHashSet<u32>,
}

/// Names with a special meaning for the preprocessor.
struct Words {
    defined: Symbol,
    has_include: Symbol,
    /// clang's `__has_…` queries, which portable programs use.
    queries: [Symbol; 4],
    va_args: Symbol,
    va_opt: Symbol,
    pragma: Symbol,
}

impl Words {
    fn new(interner: &mut Interner) -> Self {
        Self {
            defined: interner.intern("defined"),
            has_include: interner.intern("__has_include"),
            queries: ["__has_builtin", "__has_extension", "__has_feature", "__has_attribute"]
                .map(|text| interner.intern(text)),
            va_args: interner.intern("__VA_ARGS__"),
            va_opt: interner.intern("__VA_OPT__"),
            pragma: interner.intern("_Pragma"),
        }
    }

    /// Whether this is one of the `__has_…` queries.
    fn is_query(&self, name: Symbol) -> bool {
        name == self.has_include || self.queries.contains(&name)
    }

    /// Whether this name is an operator in conditions.
    fn is_operator(&self, name: Symbol) -> bool {
        name == self.defined || self.is_query(name)
    }
}

impl Preprocessor<'_> {
    /// The next token, without expansion.
    #[inline]
    fn raw(&mut self) -> Option<Tok> {
        match self.pending.pop() {
            Some(token) if !self.stopped => Some(token),
            None if !self.isolated => self.read(),
            _ => None,
        }
    }

    /// The next token of the innermost file that is not exhausted.
    fn read(&mut self) -> Option<Tok> {
        while !self.stopped
            && let Some(frame) = self.frames.last_mut()
        {
            if let Some(token) = frame.next_of_run(self.interner) {
                return Some(token);
            }
            let Some(token) = frame.next(self.interner) else {
                if self.collecting != 0 {
                    return None;
                }
                self.leave();
                continue;
            };
            if let Some(pragma) = self.directive(token) {
                return Some(pragma);
            }
        }
        None
    }

    /// Starts reading a file.
    fn enter(&mut self, file: Rc<SourceFile>, kind: FileKind, from: Option<Span>) {
        let Some(id) = self.map.add_file(file.name.clone(), file.text.clone(), kind, from) else {
            return self.out_of_positions(from.unwrap_or_default());
        };
        if let Some(encoding) = file.wide {
            let message = format!("`{}` is encoded in {encoding}", file.name);
            let span = self.map.span(id, 0..0);
            self.stop(Diagnostic::new(Code::UnknownCharacter, span, message).help("save it in UTF-8"));
        }
        let lo = self.map.span(id, 0..0).lo;
        let piece = file.begin(&mut self.buffers, self.interner);
        self.frames.push(Frame::new(file, id, lo, piece));
    }

    /// Leaves the innermost file.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if self.map.file(frame.id).kind == FileKind::User {
            self.warn_invisible(frame.id);
            self.warn_blank_splices(frame.id, &frame.file);
        }
        if let Some(at) = frame.piece.open_comment {
            let span = self.map.span(frame.id, at..at + 2);
            let message = "this comment has no end";
            self.sink.report(Diagnostic::new(Code::UnterminatedComment, span, message));
        }
        if let Some(piece) = Rc::into_inner(frame.piece) {
            self.buffers.recycle(piece.tokens);
        }
        for condition in frame.conditions {
            let diagnostic =
                Diagnostic::new(Code::Conditional, condition.span, "this conditional has no `#endif`");
            self.sink.report(diagnostic);
        }
    }

    /// Converts `-D` and `-U` to directives in a separate file.
    fn enter_command_line(&mut self, macros: &[MacroOption]) {
        if macros.is_empty() {
            return;
        }
        let mut text = String::new();
        for option in macros {
            let line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
            let directive = match option {
                MacroOption::Define(definition) => match definition.split_once('=') {
                    Some((name, value)) => format!("#define {} {}\n", line(name), line(value)),
                    None => format!("#define {} 1\n", line(definition)),
                },
                MacroOption::Undefine(name) => format!("#undef {}\n", line(name)),
            };
            text.push_str(&directive);
        }
        let file = SourceFile::new("<command line>".into(), text.into_bytes());
        self.enter(Rc::new(file), FileKind::CommandLine, None);
    }

    /// The end position of the innermost file.
    fn end_of_file(&self) -> Span {
        self.frames.last().map_or(Span::default(), |frame| {
            let length = frame.file.text.len();
            self.map.span(frame.id, length..length)
        })
    }

    /// The presumed file name and line of the last token.
    fn presumed(&self) -> (Arc<str>, u32) {
        let Some(frame) = self.frames.last() else { return ("".into(), 0) };
        let offset = frame.last_read().map_or(0, |token| token.lo as usize);
        let (name, line) = self.map.presumed(frame.id, offset);
        (name.clone(), line)
    }
}
