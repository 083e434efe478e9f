//! Warns about invisible characters: control characters, which can control a terminal, and bidirectional formatting
//! characters, which change the order in which the text is displayed (CVE-2021-42574).

use kiln_session::{
    diag::{Code, Diagnostic},
    source::{File, FileId, is_invisible},
};

use super::Preprocessor;

/// The invisible characters of a text, with their positions.
fn invisible(text: &str) -> impl Iterator<Item = (usize, char)> {
    // ASCII text, which is nearly all, is tested by bytes.
    let is_suspect = |byte: u8| byte < b' ' && !(b'\t'..=b'\r').contains(&byte) || byte >= 0x7F;
    let first = text.bytes().position(is_suspect).unwrap_or(text.len());
    text[first..].char_indices().map(move |(at, c)| (first + at, c)).filter(|(_, c)| is_invisible(*c))
}

impl Preprocessor<'_> {
    /// Warns about the first invisible character of a file that has not been reported as an error.
    pub(super) fn warn_invisible(&mut self, id: FileId) {
        let File { text, .. } = self.map.file(id);
        let lo = self.map.span(id, 0..0).lo;
        let is_new = |&(at, _): &(usize, char)| !self.reported.contains(&(lo + at as u32));
        let Some((at, c)) = invisible(text).find(is_new) else { return };
        let what = match c {
            '\u{202A}'..='\u{2069}' => "changes the order in which the text is displayed",
            _ => "is a control character",
        };
        let span = self.map.span(id, at..at + c.len_utf8());
        let message = format!("the character U+{:04X} {what}", c as u32);
        self.sink.report(
            Diagnostic::new(Code::InvisibleCharacter, span, message)
                .help("remove it, or write an escape sequence in a literal")
                .fix(span, "remove the character", ""),
        );
    }
}
