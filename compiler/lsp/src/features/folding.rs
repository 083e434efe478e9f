//! Folding ranges: bodies, records, comments, conditionals, groups of includes.

use kiln_session::source::FileId;
use lsp_types::{FoldingRange, FoldingRangeKind};

use crate::{
    analysis::Analysis,
    lexical::{self, Piece},
};

/// The first and last line of a group.
type Row = Option<(u32, u32)>;

/// The ranges of a file that span more than one line.
pub(crate) fn ranges(analysis: &Analysis, file: FileId) -> Vec<FoldingRange> {
    let Some(lines) = analysis.lines(file) else { return Vec::new() };
    let line = |offset| lines.position(offset).line;
    let mut ranges = Vec::new();
    let mut add = |start: u32, end: u32, kind| {
        if end > start {
            ranges.push(FoldingRange { start_line: start, end_line: end, kind, ..FoldingRange::default() });
        }
    };
    let text = analysis.text(file);
    let (mut braces, mut conditions) = (Vec::new(), Vec::new());
    // The current group of comments and of includes.
    let (mut comments, mut includes): (Row, Row) = (None, None);
    for piece in lexical::pieces(text) {
        let here = line(piece.range().start);
        let last = line(piece.range().end);
        match piece {
            Piece::Comment(_) => match &mut comments {
                Some((_, end)) if here <= *end + 1 => *end = last,
                row => {
                    if let Some((start, end)) = row.replace((here, last)) {
                        add(start, end, Some(FoldingRangeKind::Comment));
                    }
                }
            },
            Piece::Directive(ref range) => match lexical::directive_word(&text[range.clone()]) {
                "if" | "ifdef" | "ifndef" => conditions.push(here),
                "else" | "elif" => {
                    if let Some(start) = conditions.pop() {
                        add(start, here.saturating_sub(1), Some(FoldingRangeKind::Region));
                    }
                    conditions.push(here);
                }
                "endif" => {
                    if let Some(start) = conditions.pop() {
                        add(start, here, Some(FoldingRangeKind::Region));
                    }
                }
                "include" => match &mut includes {
                    Some((_, end)) if here <= *end + 2 => *end = last,
                    row => {
                        if let Some((start, end)) = row.replace((here, last)) {
                            add(start, end, Some(FoldingRangeKind::Imports));
                        }
                    }
                },
                _ => {}
            },
            Piece::Open(_) => braces.push(here),
            Piece::Close(_) => {
                if let Some(start) = braces.pop() {
                    // The closing brace stays visible.
                    add(start, here.saturating_sub(1), None);
                }
            }
        }
    }
    for ((start, end), kind) in comments
        .into_iter()
        .zip([FoldingRangeKind::Comment])
        .chain(includes.into_iter().zip([FoldingRangeKind::Imports]))
    {
        add(start, end, Some(kind));
    }
    ranges.sort_by_key(|range| (range.start_line, range.end_line));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn bodies_comments_conditionals_and_includes() {
        let text = "// a\n// b\n#include <a>\n#include <b>\n#if A\nint a;\n#else\nint b;\n#endif\nvoid f() {\n  if (1) {\n    ;\n  }\n}\n/* c\n*/\nstruct { int a; };\n";
        let fixture = Fixture::new(text);
        let found: Vec<_> = ranges(&fixture.analysis, fixture.cursor().file)
            .into_iter()
            .map(|range| (range.start_line, range.end_line))
            .collect();
        assert_eq!(found, [(0, 1), (2, 3), (4, 5), (6, 8), (9, 12), (10, 11), (14, 15)]);
    }

    #[test]
    fn unmatched_braces_are_ignored() {
        let fixture = Fixture::new("}}\n{\n#endif\n#else\n");
        assert!(ranges(&fixture.analysis, fixture.cursor().file).is_empty());
    }
}
