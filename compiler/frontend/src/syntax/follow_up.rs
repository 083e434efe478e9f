//! Suppresses follow-up errors: after a syntax error, most type errors in the same item are consequences. So are
//! reports of undeclared names that occur in the repaired item.

use kiln_session::{
    diag::{Code, Diagnostic},
    source::{FileRange, SourceMap},
};
use kiln_syntax::{Interner, Span, parse::RepairedRange};

/// The repaired ranges.
pub(crate) struct FollowUps<'a> {
    sources: &'a SourceMap,
    ranges: Vec<(FileRange, FileRange)>,
    /// The names in them, each with the start of a range.
    names: Vec<(&'a str, FileRange)>,
}

impl<'a> FollowUps<'a> {
    /// The ranges that the parser repaired.
    pub(crate) fn new(repaired: &[RepairedRange], sources: &'a SourceMap, interner: &'a Interner) -> Self {
        let location = |span: Span| sources.resolve(span);
        let ranges = repaired
            .iter()
            .filter_map(|repaired| Some((location(repaired.from)?, location(repaired.to)?)))
            .collect();
        let mut names = Vec::new();
        for repaired in repaired {
            let Some(from) = location(repaired.from) else { continue };
            names.extend(repaired.names.iter().map(|name| (interner.text(*name), from.clone())));
        }
        // Keeps the first range in the source for each name and file.
        names.sort_by_key(|(name, from)| (*name, from.range.start));
        names.dedup_by_key(|(name, from)| (*name, from.file));
        Self { sources, ranges, names }
    }

    /// Whether the diagnostic is probably a consequence.
    pub(crate) fn is_consequence(&self, diagnostic: &Diagnostic) -> bool {
        let Some(at) = self.sources.resolve(diagnostic.span) else { return false };
        let concerns_name = matches!(
            diagnostic.code,
            Code::UndeclaredName
                | Code::UndeclaredFunction
                | Code::UndefinedFunction
                | Code::UndefinedVariable
                | Code::UndefinedLabel
                | Code::UnknownType
        );
        let is_behind = |(from, to): &(FileRange, FileRange)| {
            at.file == from.file
                && at.range.start >= from.range.start
                && (to.file != from.file || at.range.start < to.range.end.max(from.range.end))
        };
        // A diagnostic before the error cannot be its consequence.
        let is_suspect = |name: &str| {
            let first = self.names.partition_point(|(other, _)| *other < name);
            self.names[first..]
                .iter()
                .take_while(|(other, _)| *other == name)
                .any(|(_, from)| from.file != at.file || at.range.start >= from.range.start)
        };
        concerns_name && is_suspect(self.sources.text(&at)) || self.ranges.iter().any(is_behind)
    }
}
