//! The preprocessor (C99 6.10, OpenCL C 6.12): bytes of files in, tokens for the parser out.
//!
//! Knows nothing of grammar, types or what a pragma means, and reaches files only through the caller's
//! `Loader`. One pass: tokens are read from the innermost file or from what a macro left to be read again,
//! directives act when they are met, and names are replaced as they come.

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
mod limits;
mod macros;
mod operators;
mod piece;
mod pragma;
mod predefined;
mod print;
mod substitute;
mod token;
mod trace;

#[cfg(test)]
mod tests;

pub use print::{LineMarkers, print};
pub use trace::{Inclusion, MacroDefinition, MacroUse, Trace};

use std::{rc::Rc, sync::Arc};

use kiln_syntax::{
    Interner, Span, Symbol,
    token::{Keyword, Token},
};
use rustc_hash::FxHashSet;

use crate::{
    diag::{Code, Diagnostic, Sink},
    extensions::{self, Extensions},
    session::{Loader, MacroOption, Options, Source},
    source::{FileKind, SourceMap},
};

use buffers::Buffers;
use file::{Files, SourceFile};
use frame::Frame;
use hide::HideSets;
use limits::Limits;
use macros::Macros;
use token::Tok;

/// What the preprocessor makes of a source.
#[derive(Debug)]
pub struct Preprocessed {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The end of the source.
    pub end: Span,
    /// The paths of the files that were included, each once, in the order of their first use.
    pub dependencies: Vec<String>,
}

/// Preprocesses a source with the options' macros, directories and forced includes; traces what it meets for who wants that.
pub fn preprocess(
    options: &Options,
    source: Source,
    loader: &dyn Loader,
    map: &mut SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    trace: Option<&mut Trace>,
) -> Preprocessed {
    run(options, source, loader, map, interner, sink, trace, Limits::default())
}

#[allow(clippy::too_many_arguments, reason = "that of all but tests, and their limits")]
fn run(
    options: &Options,
    source: Source,
    loader: &dyn Loader,
    map: &mut SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    trace: Option<&mut Trace>,
    limits: Limits,
) -> Preprocessed {
    let words = Words::new(interner);
    let extensions = extensions::of(options);
    let mut preprocessor = Preprocessor {
        keywords: emit::keywords(options),
        options,
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
        told: FxHashSet::default(),
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

/// The state of a preprocessing.
struct Preprocessor<'a> {
    options: &'a Options,
    extensions: Extensions,
    loader: &'a dyn Loader,
    map: &'a mut SourceMap,
    interner: &'a mut Interner,
    sink: &'a mut Sink,
    trace: Option<&'a mut Trace>,
    words: Words,
    /// By symbol: the keywords of this version.
    keywords: Vec<Option<Keyword>>,
    macros: Macros,
    hide_sets: HideSets,
    files: Files,
    /// The files that are being read, the innermost last.
    frames: Vec<Frame>,
    /// Tokens to be read before the file's next, the next one last.
    pending: Vec<Tok>,
    buffers: Buffers,
    /// Only the pending tokens may be read.
    isolated: bool,
    /// The calls of macros whose arguments are being read.
    collecting: usize,
    /// `defined` and `__has_include` are operators.
    in_condition: bool,
    /// How deep the expansion of arguments is nested.
    depth: usize,
    /// The next value of `__COUNTER__`.
    counter: usize,
    limits: Limits,
    /// A limit was met: nothing more is read.
    stopped: bool,
    dependencies: Vec<String>,
    /// Where the characters stand that form no token and have been reported.
    told: FxHashSet<u32>,
}

/// The names that mean something to the preprocessor.
struct Words {
    defined: Symbol,
    has_include: Symbol,
    /// The questions of clang that programs ask of any compiler.
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

    /// Whether this asks what there is.
    fn is_query(&self, name: Symbol) -> bool {
        name == self.has_include || self.queries.contains(&name)
    }

    /// Whether a conditional computes with this name.
    fn is_operator(&self, name: Symbol) -> bool {
        name == self.defined || self.is_query(name)
    }
}

impl Preprocessor<'_> {
    /// The next token, not expanded.
    #[inline]
    fn raw(&mut self) -> Option<Tok> {
        match self.pending.pop() {
            Some(token) if !self.stopped => Some(token),
            None if !self.isolated => self.read(),
            _ => None,
        }
    }

    /// The next token of the innermost file that has one.
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

    /// Begins to read a text.
    fn enter(&mut self, file: Rc<SourceFile>, kind: FileKind, from: Option<Span>) {
        let Some(id) = self.map.add_file(file.name.clone(), file.text.clone(), kind, from) else {
            return self.out_of_positions(from.unwrap_or_default());
        };
        let lo = self.map.span(id, 0..0).lo;
        let piece = file.begin(&mut self.buffers, self.interner);
        self.frames.push(Frame::new(file, id, lo, piece));
    }

    /// Ends the innermost file.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if let Some(at) = frame.piece.open_comment {
            let span = self.map.span(frame.id, at..at + 2);
            let message = "this comment has no end";
            self.sink.report(Diagnostic::new(Code::UnterminatedComment, span, message));
        }
        if let Some(piece) = Rc::into_inner(frame.piece) {
            self.buffers.give(piece.tokens);
        }
        for condition in frame.conditions {
            let diagnostic =
                Diagnostic::new(Code::Conditional, condition.span, "this conditional has no `#endif`");
            self.sink.report(diagnostic);
        }
    }

    /// `-D` and `-U` are directives of a file of their own.
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

    /// The end of the innermost file.
    fn end_of_file(&self) -> Span {
        self.frames.last().map_or(Span::default(), |frame| {
            let length = frame.file.text.len();
            self.map.span(frame.id, length..length)
        })
    }

    /// The name and line that the token read last goes by.
    fn presumed(&self) -> (Arc<str>, u32) {
        let Some(frame) = self.frames.last() else { return ("".into(), 0) };
        let offset = frame.last_read().map_or(0, |token| token.lo as usize);
        let (name, line) = self.map.presumed(frame.id, offset);
        (name.clone(), line)
    }
}
