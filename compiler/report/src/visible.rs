//! Replaces the characters of sources and messages that could control a terminal.

use std::borrow::Cow;

use kiln_session::source::{FileId, SourceMap, is_invisible};

/// The text with a placeholder of the same length for each invisible character, so that positions stay the same.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let placeholder = |c: char| match c.len_utf8() {
        _ if !is_invisible(c) => c,
        1 => '?',
        2 => '¿',
        _ => char::REPLACEMENT_CHARACTER,
    };
    Cow::Owned(text.chars().map(placeholder).collect())
}

/// The files with invisible characters, and the text to display for them.
pub(super) fn files(map: &SourceMap) -> Vec<(FileId, String)> {
    let displayed = map.files().map(|(id, file)| (id, visible(&file.text)));
    displayed
        .filter_map(|(id, text)| match text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some((id, text)),
        })
        .collect()
}
