//! The documents that are open in the editor. Their text overrides the file on disk.

use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::position::{Encoding, Lines};

/// A document that is open in the editor.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The URI, as the client writes it.
    pub(crate) uri: Uri,
    /// The version, incremented by each change.
    pub(crate) version: i32,
    /// The text.
    pub(crate) text: Arc<str>,
}

impl Document {
    /// Applies changes in order.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) {
        let mut text = String::from(&*self.text);
        for change in changes {
            let Some(range) = change.range else {
                text = change.text;
                continue;
            };
            let lines = Lines::new(&text, encoding);
            let start = lines.offset(&text, range.start);
            let end = lines.offset(&text, range.end).max(start);
            text.replace_range(start..end, &change.text);
        }
        self.text = text.into();
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use lsp_types::{Position, Range};

    use super::*;

    fn document(text: &str) -> Document {
        Document { uri: Uri::from_str("file:///a.cl").expect("a URI"), version: 1, text: text.into() }
    }

    fn change(start: (u32, u32), end: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let range = Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1));
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.to_owned() }
    }

    #[test]
    fn changes_apply_in_order() {
        let mut document = document("int a;\nint é;\n");
        let changes =
            vec![change((1, 4), (1, 5), "bé"), change((1, 6), (1, 6), "!"), change((0, 0), (1, 0), "")];
        document.change(changes, Encoding::Utf16);
        assert_eq!(&*document.text, "int bé!;\n");
    }

    #[test]
    fn reversed_and_out_of_bounds_ranges_are_harmless() {
        let mut document = document("ab");
        document.change(vec![change((0, 2), (0, 0), "x"), change((7, 7), (9, 9), "y")], Encoding::Utf16);
        assert_eq!(&*document.text, "abxy");
    }
}
