//! A source as an editor wants to know it: not only whether it is right, but what stands where and what it means. The stages are
//! those of a compilation; they note on their way what they otherwise forget.

use kiln_syntax::{Interner, ast, token::Token};

use crate::{
    builtins::Context,
    diag::{Diagnostic, Sink},
    extensions::Extensions,
    hir,
    pp::{self, Trace},
    sema::{Extent, Facts},
    session::{Loader, Options, Source},
    source::SourceMap,
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
    /// What was written; with what the parser mended, if there was something to mend.
    pub unit: ast::TranslationUnit,
    /// The typed tree. Where there are errors, it is what could be understood.
    pub program: hir::Module,
    /// What names mean and which types expressions have.
    pub facts: Facts,
    /// Which built-in functions, types and constants there are.
    pub context: Context,
}

/// Surveys a source. It has the diagnostics of a compilation as far as `Emit::Nothing`.
pub fn survey(source: Source, options: &Options, loader: &dyn Loader) -> Survey {
    let mut sources = SourceMap::default();
    let mut interner = Interner::new();
    let mut sink = Sink::new(options.warnings.clone());
    let (mut trace, mut facts) = (Trace::default(), Facts::default());
    let preprocessed =
        pp::preprocess(options, source, loader, &mut sources, &mut interner, &mut sink, Some(&mut trace));
    let parsed = kiln_syntax::parse::parse(&preprocessed.tokens, &mut interner, &sources);
    let program =
        crate::check(&parsed, Extent::Source, options, &sources, &mut interner, &mut sink, Some(&mut facts));
    let (diagnostics, hidden_errors) = sink.finish(|span| sources.order(span));
    Survey {
        diagnostics,
        hidden_errors,
        sources,
        interner,
        tokens: preprocessed.tokens,
        trace,
        unit: parsed.unit,
        program,
        facts,
        context: Context { version: options.std, extensions: Extensions::of(options) },
    }
}
