//! Selection ranges: word, expression, statement, block, function, file.

use std::ops::Range;

use kiln_syntax::{Arena, Span};
use lsp_types::SelectionRange;

use crate::{analysis::Cursor, tree};

/// The nested ranges at the cursor, innermost first.
pub(crate) fn enclosing_ranges(cursor: &Cursor<'_>) -> SelectionRange {
    let analysis = cursor.analysis;
    let whole = 0..cursor.text().len();
    let mut ranges: Vec<Range<usize>> = Vec::from([whole]);
    let mut add = |span: Span| {
        let range = analysis.in_file(cursor.file, span);
        ranges.extend(range.filter(|range| range.start <= cursor.offset && cursor.offset <= range.end));
    };
    tree::walk(analysis.survey.tree(&Arena::default()), &mut |node| {
        let span = node.span();
        add(span);
        if let tree::Node::Block(_) = node {
            add(Span::new(span.lo + 1, span.hi.saturating_sub(1).max(span.lo + 1)));
        }
    });
    ranges.extend(cursor.expressions().into_iter().map(|(range, _)| range));
    let word = cursor.word();
    if !word.is_empty() {
        ranges.push(word);
    }
    ranges.sort_by_key(|range| std::cmp::Reverse(range.len()));
    let mut chain: Option<SelectionRange> = None;
    let mut outer: Option<Range<usize>> = None;
    for range in ranges {
        // Ranges can overlap where macros are expanded.
        let is_inside = outer
            .as_ref()
            .is_none_or(|outer| *outer != range && outer.start <= range.start && range.end <= outer.end);
        if is_inside {
            chain = Some(SelectionRange { range: cursor.range(&range), parent: chain.map(Box::new) });
            outer = Some(range);
        }
    }
    chain.unwrap_or(SelectionRange { range: cursor.range(&(0..0)), parent: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn from_the_word_to_the_file() {
        let fixture = Fixture::new("int f(int a) { if (a) { return a + f($0a); } return 0; }");
        let mut chain = Vec::new();
        let mut next = Some(Box::new(enclosing_ranges(&fixture.cursor())));
        while let Some(here) = next {
            chain.push(here.range);
            next = here.parent;
        }
        assert_eq!(
            fixture.covered(chain),
            [
                "0:a",
                "0:f(a)",
                "0:a + f(a)",
                "0:return a + f(a);",
                "0: return a + f(a); ",
                "0:{ return a + f(a); }",
                "0:if (a) { return a + f(a); }",
                "0: if (a) { return a + f(a); } return 0; ",
                "0:{ if (a) { return a + f(a); } return 0; }",
                "0:int f(int a) { if (a) { return a + f(a); } return 0; }",
            ]
        );
    }
}
