//! A span for display: file name, lines and columns.

use kiln_session::source::{Place, SourceMap};

/// A location with the file name and line numbers that `#line` sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) end_line: u32,
    pub(super) end_column: u32,
    pub(super) bytes: std::ops::Range<usize>,
}

impl Spot {
    pub(super) fn new(map: &SourceMap, place: &Place) -> Self {
        let start = map.position(place.file, place.range.start);
        let end = map.position(place.file, place.range.end);
        let (file, line) = map.presumed(place.file, place.range.start);
        Self {
            file: file.to_string(),
            line,
            column: start.column,
            end_line: line + (end.line - start.line),
            end_column: end.column,
            bytes: place.range.clone(),
        }
    }

    /// `file:line:column`
    pub(super) fn start(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}
