//! A source as an editor wants to know it: not only whether it is right, but what stands where and what it means. The stages are
//! those of a compilation; they note on their way what they otherwise forget.

use kiln_syntax::{
    Arena, Interner, ast,
    parse::{Parsed, parse},
    token::Token,
};

use crate::{
    builtins::Context,
    diag::{Diagnostic, Sink},
    extensions, hir,
    pp::{self, Trace},
    sema::{self, Extent, Facts},
    session::{Loader, Options, Source},
    source::SourceMap,
    syntax,
};

/// What the front end made of a source and noted on its way.
pub struct Survey {
    /// Errors and warnings in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// Errors beyond the limit that are only counted.
    pub hidden_errors: usize,
    /// What positions mean.
    pub sources: SourceMap,
    /// Names.
    pub interner: Interner,
    /// The tokens that the preprocessor gave to the parser.
    pub tokens: Vec<Token>,
    /// Macros, included files and what was passed over.
    pub trace: Trace,
    /// The typed tree. Where there are errors, it is what could be understood.
    pub program: hir::Module,
    /// What names mean and which types expressions have.
    pub facts: Facts,
    /// Which built-in functions, types and constants there are.
    pub context: Context,
    /// [`Options::max_depth`]
    max_depth: u16,
}

impl Survey {
    /// What was written, read from the tokens once more; with what the parser mended, if there was something to mend.
    pub fn tree<'a>(&self, arena: &'a Arena) -> ast::TranslationUnit<'a> {
        parse(&self.tokens, arena, &self.sources, self.max_depth).unit
    }
}

/// Surveys a source. It has the diagnostics of a compilation as far as `Emit::Nothing`.
pub fn survey(source: Source, options: &Options, loader: &dyn Loader) -> Survey {
    let mut sources = SourceMap::default();
    let mut interner = Interner::new();
    let mut sink = Sink::new(options.warnings.clone());
    let (mut trace, mut facts) = (Trace::default(), Facts::default());
    let preprocessed =
        pp::preprocess(options, source, loader, &mut sources, &mut interner, &mut sink, Some(&mut trace));
    let arena = Arena::default();
    let parsed = parse(&preprocessed.tokens, &arena, &sources, options.max_depth);
    let program =
        check(parsed, Extent::Source, options, &sources, &mut interner, &mut sink, Some(&mut facts));
    let (diagnostics, hidden_errors) = sink.finish(|span| sources.order(span));
    Survey {
        diagnostics,
        hidden_errors,
        sources,
        interner,
        tokens: preprocessed.tokens,
        trace,
        program,
        facts,
        context: Context { version: options.std, extensions: extensions::of(options) },
        max_depth: options.max_depth,
    }
}

/// The type checker, and what is said of mistakes of syntax beside it.
pub(crate) fn check(
    parsed: Parsed<'_>,
    extent: Extent,
    options: &Options,
    sources: &SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    facts: Option<&mut Facts>,
) -> hir::Module {
    let (names, errors): (Vec<_>, Vec<_>) = parsed.errors.iter().partition(|error| error.kind.is_of_a_name());
    syntax::report(errors, sources, interner, sink);
    let told = sink.len();
    let hir = sema::check(parsed.unit, extent, options, interner, sink, facts);
    if !parsed.mended.is_empty() {
        let shadows = syntax::Shadows::new(&parsed.mended, sources, interner);
        sink.forget(told, |diagnostic| shadows.hide(diagnostic));
    }
    // The type checker knows more of a name that is no type; what it did not come to is told here.
    if !sink.has_errors() {
        syntax::report(names, sources, interner, sink);
    }
    hir
}
