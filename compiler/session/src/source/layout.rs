//! Indentation of lines, which the parser uses to locate a missing brace.

use kiln_syntax::{
    Span,
    parse::{Layout, Line},
};

use super::{EntryKind, SourceMap};

/// Tab stops are multiples of this.
const TAB: u32 = 8;

impl Layout for SourceMap {
    fn line(&self, position: u32) -> Option<Line> {
        let entry = self.entry(position)?;
        let EntryKind::File(file) = entry.kind else { return None };
        let file = self.file(file);
        let start = file.lines()[file.line_of((position - entry.lo) as usize)];
        let space =
            file.text.as_bytes()[start as usize..].iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
        let (mut indent, mut length) = (0, 0);
        for byte in space {
            indent = if *byte == b'\t' { (indent / TAB + 1) * TAB } else { indent + 1 };
            length += 1;
        }
        Some(Line { start: entry.lo + start, text: entry.lo + start + length, indent })
    }

    fn text(&self, span: Span) -> &str {
        self.spelling(span).map_or("", |location| self.text(&location))
    }
}
