//! What not to say: a mistake of syntax is told once, and what the type checker then finds in the same item is mostly
//! its consequence. So is that a name is not declared if it stands in the item that was mended.

use kiln_syntax::{Interner, Span, parse::Mended};

use crate::{
    diag::{Code, Diagnostic},
    source::{Place, SourceMap},
};

/// What is mended, by places.
pub(crate) struct Shadows<'a> {
    sources: &'a SourceMap,
    places: Vec<(Place, Place)>,
    names: Vec<&'a str>,
}

impl<'a> Shadows<'a> {
    /// Of what the parser mended.
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

    /// Whether this is likely a consequence.
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
