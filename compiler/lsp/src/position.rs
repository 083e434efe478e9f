//! Offsets of a text and positions of the protocol, in the encoding that the client and the server agreed on.

use std::ops::Range;

use line_index::{LineCol, LineIndex, TextSize, WideEncoding, WideLineCol};
use lsp_types::{Position, PositionEncodingKind};

/// How the characters of a line are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// In bytes.
    Utf8,
    /// In units of UTF-16, which every client knows.
    #[default]
    Utf16,
    /// In characters.
    Utf32,
}

impl Encoding {
    /// The best of those that the client offers.
    pub(crate) fn negotiated(offered: Option<&[PositionEncodingKind]>) -> Self {
        let offers = |kind| offered.is_some_and(|offered| offered.contains(&kind));
        if offers(PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if offers(PositionEncodingKind::UTF16) || !offers(PositionEncodingKind::UTF32) {
            Self::Utf16
        } else {
            Self::Utf32
        }
    }

    /// Its name in the protocol.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn wide(self) -> Option<WideEncoding> {
        match self {
            Self::Utf8 => None,
            Self::Utf16 => Some(WideEncoding::Utf16),
            Self::Utf32 => Some(WideEncoding::Utf32),
        }
    }
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    index: LineIndex,
    encoding: Encoding,
}

impl Lines {
    /// Of this text.
    pub(crate) fn new(text: &str, encoding: Encoding) -> Self {
        Self { index: LineIndex::new(text), encoding }
    }

    /// The position of an offset, which is that of a character.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = TextSize::from(offset as u32).min(self.index.len());
        let Some(at) = self.index.try_line_col(offset) else { return Position::default() };
        match self.encoding.wide().and_then(|wide| self.index.to_wide(wide, at)) {
            Some(wide) => Position::new(wide.line, wide.col),
            None => Position::new(at.line, at.col),
        }
    }

    /// The range of the protocol.
    pub(crate) fn range(&self, range: &Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(range.start), self.position(range.end))
    }

    /// The offset of a position. What lies behind a line's end is that end, what lies behind the text its end.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let Some(line) = self.index.line(position.line) else { return text.len() };
        let line = usize::from(line.start())..usize::from(line.end());
        let end = line.start + text[line.clone()].trim_end_matches(['\r', '\n']).len();
        let plain = LineCol { line: position.line, col: position.character };
        let at = match self.encoding.wide() {
            None => Some(plain),
            // The index counts from the line's end backwards where a line is wide: it must not be asked for more.
            Some(wide) => (position.character as usize <= wide.measure(&text[line.start..end]))
                .then(|| {
                    let wide_at = WideLineCol { line: position.line, col: position.character };
                    self.index.to_utf8(wide, wide_at)
                })
                .flatten(),
        };
        let offset = at.map_or(end, |at| line.start + at.col as usize).min(end);
        (0..=offset).rev().find(|offset| text.is_char_boundary(*offset)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_counts_its_own_units() {
        let text = "a\né😀b\r\n";
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)] {
            let lines = Lines::new(text, encoding);
            assert_eq!(lines.position(8), Position::new(1, column), "{encoding:?}");
            assert_eq!(lines.offset(text, Position::new(1, column)), 8, "{encoding:?}");
        }
    }

    #[test]
    fn positions_outside_are_brought_inside() {
        let text = "ab\r\n😀";
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let lines = Lines::new(text, encoding);
            assert_eq!(lines.offset(text, Position::new(0, 99)), 2);
            assert_eq!(lines.offset(text, Position::new(1, 99)), 8);
            assert_eq!(lines.offset(text, Position::new(9, 0)), 8);
        }
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.offset(text, Position::new(1, 1)), 4, "in the middle of a character");
    }

    #[test]
    fn utf8_is_taken_where_it_is_offered() {
        let kinds = [PositionEncodingKind::UTF16, PositionEncodingKind::UTF8];
        assert_eq!(Encoding::negotiated(Some(&kinds)), Encoding::Utf8);
        assert_eq!(Encoding::negotiated(None), Encoding::Utf16);
        assert_eq!(Encoding::negotiated(Some(&[PositionEncodingKind::UTF32])), Encoding::Utf32);
    }
}
