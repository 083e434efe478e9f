//! Text for C: strings with a zero at their end, and an owner that keeps them in place.

use std::{
    ffi::{CString, c_char},
    ptr,
};

/// A text as a C string. A zero inside it becomes U+FFFD.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default())
}

/// Strings and lists of strings that do not move while more are added.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    texts: Vec<CString>,
    lists: Vec<Box<[*const c_char]>>,
}

impl Strings {
    /// Keeps a string.
    pub(crate) fn keep(&mut self, text: &str) -> *const c_char {
        let text = c_string(text);
        let pointer = text.as_ptr();
        self.texts.push(text);
        pointer
    }

    /// Keeps a list of strings. An empty list is null.
    pub(crate) fn keep_all(&mut self, texts: &[String]) -> *const *const c_char {
        if texts.is_empty() {
            return ptr::null();
        }
        let list: Box<[_]> = texts.iter().map(|text| self.keep(text)).collect();
        let pointer = list.as_ptr();
        self.lists.push(list);
        pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_characters_are_replaced() {
        assert_eq!(c_string("a\0b").to_str(), Ok("a\u{fffd}b"));
    }

    #[test]
    fn strings_do_not_move() {
        let mut strings = Strings::default();
        let first = strings.keep("first");
        for _ in 0..100 {
            strings.keep_all(&["other".to_owned()]);
        }
        assert_eq!(strings.texts[0].as_ptr(), first);
        assert!(strings.keep_all(&[]).is_null());
    }
}
