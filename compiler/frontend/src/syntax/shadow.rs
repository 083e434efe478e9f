//! Suppresses follow-up errors: after a syntax error, most type errors in the same item are consequences. So are
//! reports of undeclared names that occur in the repaired item.

use kiln_session::{
    diag::{Code, Diagnostic},
    source::{Place, SourceMap},
};
use kiln_syntax::{Interner, Span, parse::Mended};

/// The repaired ranges.
pub(crate) struct Shadows<'a> {
    sources: &'a SourceMap,
    places: Vec<(Place, Place)>,
    names: Vec<&'a str>,
}

impl<'a> Shadows<'a> {
    /// The ranges that the parser repaired.
    pub(crate) fn new(mended: &[Mended], sources: &'a SourceMap, interner: &'a Interner) -> Self {
        let place = |span: Span| sources.resolve(span);
        let places =
            mended.iter().filter_map(|mended| Some((place(mended.from)?, place(mended.to)?))).collect();
        let mut names: Vec<_> =
            mended.iter().flat_map(|mended| &mended.names).map(|name| interner.text(*name)).collect();
        names.sort_unstable();
        names.dedup();
        Self { sources, places, names }
    }

    /// Whether the diagnostic is probably a consequence.
    pub(crate) fn hide(&self, diagnostic: &Diagnostic) -> bool {
        let Some(at) = self.sources.resolve(diagnostic.span) else { return false };
        let is_of_a_name = matches!(
            diagnostic.code,
            Code::UndeclaredName
                | Code::UndeclaredFunction
                | Code::UndefinedFunction
                | Code::UndefinedVariable
                | Code::UndefinedLabel
                | Code::UnknownType
        );
        let is_behind = |(from, to): &(Place, Place)| {
            at.file == from.file
                && at.range.start >= from.range.start
                && (to.file != from.file || at.range.start < to.range.end.max(from.range.end))
        };
        is_of_a_name && self.names.binary_search(&self.sources.text(&at)).is_ok()
            || self.places.iter().any(is_behind)
    }
}
