//! Converts between byte offsets and the protocol's positions, in the negotiated encoding.

use std::ops::Range;

use line_index::{LineCol, LineIndex, TextSize, WideEncoding, WideLineCol};
use lsp_types::{Position, PositionEncodingKind};

/// The unit of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client supports.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The preferred encoding among those that the client supports.
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

    /// The protocol's name.
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

/// The line index of a text.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    index: LineIndex,
    encoding: Encoding,
}

impl Lines {
    /// Indexes a text.
    pub(crate) fn new(text: &str, encoding: Encoding) -> Self {
        Self { index: LineIndex::new(text), encoding }
    }

    /// The position of an offset, which must be on a character boundary.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = TextSize::from(offset as u32).min(self.index.len());
        let Some(at) = self.index.try_line_col(offset) else { return Position::default() };
        match self.encoding.wide().and_then(|wide| self.index.to_wide(wide, at)) {
            Some(wide) => Position::new(wide.line, wide.col),
            None => Position::new(at.line, at.col),
        }
    }

    /// Converts a range to the protocol's.
    pub(crate) fn range(&self, range: &Range<usize>) -> lsp_types::Range {
        lsp_types::Range::new(self.position(range.start), self.position(range.end))
    }

    /// The offset of a position. Columns beyond the end of the line and lines beyond the end of the text are clamped.
    pub(crate) fn offset(&self, text: &str, position: Position) -> usize {
        let Some(line) = self.index.line(position.line) else { return text.len() };
        let line = usize::from(line.start())..usize::from(line.end());
        let end = line.start + text[line.clone()].trim_end_matches(['\r', '\n']).len();
        let plain = LineCol { line: position.line, col: position.character };
        let at = match self.encoding.wide() {
            None => Some(plain),
            // On lines with wide characters, the index computes wrong offsets for columns beyond the end of the line.
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
    fn positions_out_of_bounds_are_clamped() {
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
    fn utf8_is_preferred() {
        let kinds = [PositionEncodingKind::UTF16, PositionEncodingKind::UTF8];
        assert_eq!(Encoding::negotiated(Some(&kinds)), Encoding::Utf8);
        assert_eq!(Encoding::negotiated(None), Encoding::Utf16);
        assert_eq!(Encoding::negotiated(Some(&[PositionEncodingKind::UTF32])), Encoding::Utf32);
    }
}
