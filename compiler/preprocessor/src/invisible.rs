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
    /// Warns about the first character of each kind in a file, except for characters that an error has reported.
    pub(super) fn warn_invisible(&mut self, id: FileId) {
        let File { text, .. } = self.map.file(id);
        let lo = self.map.span(id, 0..0).lo;
        let is_new = |&(at, _): &(usize, char)| !self.reported.contains(&(lo + at as u32));
        let (bidirectional, control): (Vec<_>, Vec<_>) =
            invisible(text).filter(is_new).partition(|&(_, c)| matches!(c, '\u{202A}'..='\u{2069}'));
        let bidirectional =
            bidirectional.first().map(|it| (*it, "changes the order in which the text is displayed"));
        let control = control.first().map(|it| (*it, "is a control character"));
        for ((at, c), what) in bidirectional.into_iter().chain(control) {
            let span = self.map.span(id, at..at + c.len_utf8());
            let message = format!("the character U+{:04X} {what}", c as u32);
            self.sink.report(
                Diagnostic::new(Code::InvisibleCharacter, span, message)
                    .help("remove it, or write an escape sequence in a literal")
                    .fix(span, "remove the character", ""),
            );
        }
    }
}
