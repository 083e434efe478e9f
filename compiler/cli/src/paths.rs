//! Bytes that are not UTF-8, in arguments, paths and sources. In the program, all of these are text in which characters
//! stand for such bytes; the functions that open files turn them back.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

/// The character for a byte that is not UTF-8 is this number plus the byte.
const STAND_IN: u32 = 0x0010_FF00;

/// The bytes as text.
pub(crate) fn text_of_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let stand_in = |byte: &u8| char::from_u32(STAND_IN + u32::from(*byte));
        text.extend(chunk.invalid().iter().filter_map(stand_in));
    }
    text
}

/// The bytes of a text.
pub(crate) fn bytes_of_text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

/// The byte that a character stands for. Only bytes from 0x80 can be invalid in UTF-8.
fn byte(c: char) -> Option<u8> {
    u8::try_from((c as u32).checked_sub(STAND_IN)?).ok().filter(|byte| !byte.is_ascii())
}

/// An argument or a path as text.
#[cfg(unix)]
pub(crate) fn text(argument: &OsStr) -> String {
    text_of_bytes(std::os::unix::ffi::OsStrExt::as_bytes(argument))
}

#[cfg(not(unix))]
pub(crate) fn text(argument: &OsStr) -> String {
    argument.to_string_lossy().into_owned()
}

/// The path that a text names.
#[cfg(unix)]
pub(crate) fn path(text: &str) -> PathBuf {
    let bytes = bytes_of_text(text);
    PathBuf::from(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

#[cfg(not(unix))]
pub(crate) fn path(text: &str) -> PathBuf {
    PathBuf::from(OsString::from(text))
}

/// A text as it is shown to the user.
pub(crate) fn shown(text: &str) -> String {
    text.chars().map(|c| if byte(c).is_some() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_survive() {
        let all: Vec<u8> = (0..=255).collect();
        let text = text_of_bytes(&all);
        assert_eq!(bytes_of_text(&text), all);
        assert_eq!(shown("a\u{10ffff}"), "a\u{fffd}");
        assert_eq!(bytes_of_text("ä"), "ä".as_bytes());
    }

    #[cfg(unix)]
    #[test]
    fn paths_survive() {
        let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"a\xff.cl");
        assert_eq!(path(&text(name)).as_os_str(), name);
    }
}
