//! A span for display: file name, lines and columns.

use kiln_session::source::{FileRange, SourceMap};

/// A location with the file name and line numbers that `#line` sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresumedRange {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the end.
    pub end_column: u32,
    /// The offsets in the file's text.
    pub bytes: std::ops::Range<usize>,
}

impl PresumedRange {
    /// The location of a resolved span.
    pub fn new(map: &SourceMap, location: &FileRange) -> Self {
        let start = map.position(location.file, location.range.start);
        let end = map.position(location.file, location.range.end);
        let (file, line) = map.presumed(location.file, location.range.start);
        Self {
            file: file.to_string(),
            line,
            column: start.column,
            end_line: line + (end.line - start.line),
            end_column: end.column,
            bytes: location.range.clone(),
        }
    }

    /// `file:line:column`
    pub(super) fn start(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}
