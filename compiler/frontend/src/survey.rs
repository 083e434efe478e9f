//! Front-end result for the language server: diagnostics, occurrences of names, types, and the macro trace. Runs the
//! same stages as a compilation, which record this information on request.

use kiln_builtins::Context;
use kiln_preprocessor::{self as pp, Trace};
use kiln_session::{
    Loader, Options, Source,
    diag::{Code, Diagnostic, Sink},
    extensions,
    source::SourceMap,
};
use kiln_syntax::{
    Arena, Interner, Span, ast,
    parse::{Parsed, SyntaxError, SyntaxErrorKind, parse},
    token::Token,
};

use crate::{
    hir,
    sema::{self, Facts, UnitKind},
    syntax,
};

/// The result of the front end, with the recorded information.
pub struct Survey {
    /// Errors and warnings, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of errors beyond the limit, which are counted but not listed.
    pub hidden_errors: usize,
    /// Maps spans to files and lines.
    pub sources: SourceMap,
    /// Maps symbols to names.
    pub interner: Interner,
    /// The tokens that the preprocessor gave to the parser.
    pub tokens: Vec<Token>,
    /// Macros, included files and skipped ranges.
    pub trace: Trace,
    /// The HIR. Incomplete if there are errors.
    pub program: hir::Module,
    /// The meanings of names and the types of expressions.
    pub facts: Facts,
    /// The language version and extensions, which determine the available built-in functions, types and constants.
    pub context: Context,
    /// [`Options::max_depth`]
    max_depth: u16,
}

impl Survey {
    /// Parses the tokens again. The tree includes the parser's error recovery.
    pub fn tree<'a>(&self, arena: &'a Arena) -> ast::TranslationUnit<'a> {
        parse(&self.tokens, arena, &self.sources, self.max_depth).unit
    }
}

/// Runs the front end. Reports the same diagnostics as a compilation with `Emit::Nothing`.
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
        check(parsed, UnitKind::Source, options, &sources, &mut interner, &mut sink, Some(&mut facts));
    let (diagnostics, hidden_errors) = sink.finish(|span| sources.order(span));
    // Surveys are long-lived.
    facts.expressions.shrink_to_fit();
    facts.occurrences.shrink_to_fit();
    Survey {
        diagnostics,
        hidden_errors,
        sources,
        interner,
        tokens: preprocessed.tokens,
        trace,
        program,
        facts,
        context: Context { version: options.std, extensions: extensions::enabled(options) },
        max_depth: options.max_depth,
    }
}

/// Runs the type checker and reports syntax errors.
pub fn check(
    parsed: Parsed<'_>,
    unit_kind: UnitKind,
    options: &Options,
    sources: &SourceMap,
    interner: &mut Interner,
    sink: &mut Sink,
    facts: Option<&mut Facts>,
) -> hir::Module {
    // Leave unknown type names to the type checker, which has better messages. It does not see those in removed ranges:
    // report them here, unless another error in the range explains more.
    let is_in = |error: &SyntaxError, range: &Span| range.lo <= error.span.lo && error.span.hi <= range.hi;
    let has_other =
        |range: &Span| parsed.errors.iter().any(|it| !it.kind.concerns_name() && is_in(it, range));
    let is_removed =
        |error: &SyntaxError| parsed.removed.iter().any(|range| is_in(error, range) && !has_other(range));
    let (names, errors): (Vec<_>, Vec<_>) =
        parsed.errors.iter().partition(|error| error.kind.concerns_name() && !is_removed(error));
    let reported = syntax::report_with_consequences(errors, sources, interner, sink);
    let previous = sink.count();
    let hir = sema::check(parsed.unit, unit_kind, options, sources, interner, sink, facts);
    sink.remove_consequences(previous, |diagnostic| reported.covers(diagnostic, sources));
    sink.replace(previous, |diagnostic| syntax::explain_in_macro(diagnostic, sources, interner));
    if !parsed.errors.is_empty() {
        // The code that assigns a variable may be what could not be parsed: `void f(int &x)`.
        sink.remove_consequences(previous, |diagnostic| diagnostic.code == Code::Uninitialized);
    }
    if !parsed.repaired.is_empty() {
        let follow_ups = syntax::FollowUps::new(&parsed.repaired, sources, interner);
        sink.remove_consequences(previous, |diagnostic| follow_ups.is_consequence(diagnostic));
    }
    // A use of a name whose declaration lacks a type, or was removed, is a consequence.
    let untyped: Vec<&str> = parsed
        .errors
        .iter()
        .filter_map(|error| match error.kind {
            SyntaxErrorKind::MissingType(name) => Some(interner.text(name)),
            _ => None,
        })
        .collect();
    let holds = |range: &&Span| {
        parsed
            .errors
            .iter()
            .any(|error| error.kind.concerns_name() && range.lo <= error.span.lo && error.span.hi <= range.hi)
    };
    let removed: Vec<&str> = parsed
        .removed
        .iter()
        .filter(holds)
        .filter_map(|range| sources.spelling(*range).map(|at| sources.text(&at)))
        .collect();
    if !(untyped.is_empty() && removed.is_empty()) {
        let is_in = |range: &&str, name: &str| range.split(|c: char| !is_word(c)).any(|word| word == name);
        sink.remove_consequences(previous, |diagnostic| {
            let text = sources.spelling(diagnostic.span).map(|at| sources.text(&at));
            matches!(diagnostic.code, Code::UndeclaredName | Code::UndeclaredFunction)
                && text.is_some_and(|text| {
                    untyped.contains(&text) || removed.iter().any(|range| is_in(range, text))
                })
        });
    }
    // Report the unknown type names that the type checker did not reach.
    if !sink.has_errors() {
        syntax::report(names, sources, interner, sink);
    }
    hir
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
