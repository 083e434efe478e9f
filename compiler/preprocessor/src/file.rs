//! The files that the preprocessor reads. Each is loaded once. Also converts lexemes to preprocessing tokens.

use std::{
    cell::{Cell, OnceCell},
    rc::Rc,
    sync::Arc,
};

use kiln_session::{Loader, source::NOT_UTF8};
use kiln_syntax::{
    Interner, Symbol,
    lex::{Lexeme, Spliced},
};
use rustc_hash::FxHashMap;

use super::{buffers::Buffers, piece::Piece, token::Kind};

/// A source text, shared by all its inclusions.
pub(super) struct SourceFile {
    pub(super) name: Arc<str>,
    pub(super) text: Arc<str>,
    pub(super) spliced: Spliced,
    /// The name of its encoding, if that is UTF-16 or UTF-32. Its text is then empty.
    pub(super) wide: Option<&'static str>,
    /// The macro X if the file starts with `#ifndef X` or `#if !defined X`. Computed on demand.
    opening: OnceCell<Option<Symbol>>,
    /// Whether the file consists of one conditional group. Computed on demand.
    is_one_group: OnceCell<bool>,
    /// All tokens. Computed when the file is read for the second time.
    whole: OnceCell<Rc<Piece>>,
    was_read: Cell<bool>,
}

impl SourceFile {
    pub(super) fn new(name: Arc<str>, bytes: Vec<u8>) -> Self {
        let wide = wide_encoding(&bytes);
        let text: Arc<str> = if wide.is_some() { "".into() } else { decode(bytes).into() };
        let spliced = Spliced::new(&text);
        Self {
            name,
            text,
            spliced,
            wide,
            opening: OnceCell::new(),
            is_one_group: OnceCell::new(),
            whole: OnceCell::new(),
            was_read: Cell::new(false),
        }
    }

    /// The first piece to read. If the file was read before, the piece contains all its tokens.
    pub(super) fn begin(&self, buffers: &mut Buffers, interner: &mut Interner) -> Rc<Piece> {
        match self.was_read.replace(true) {
            true => self.whole(interner).clone(),
            false => Rc::new(Piece::before(buffers.take())),
        }
    }

    fn whole(&self, interner: &mut Interner) -> &Rc<Piece> {
        self.whole.get_or_init(|| Rc::new(Piece::whole(self, interner)))
    }

    /// Whether the file can be skipped: it consists of `#ifndef X … #endif`, and X is defined.
    pub(super) fn is_guarded(
        &self,
        interner: &mut Interner,
        is_defined: impl FnOnce(Symbol) -> bool,
    ) -> bool {
        let opening = *self.opening.get_or_init(|| Piece::first_line(self, interner).opening(interner));
        opening.is_some_and(is_defined)
            && *self.is_one_group.get_or_init(|| self.whole(interner).is_one_group(interner))
    }
}

/// The preprocessing token for a lexeme and its spelling.
pub(super) fn kind(lexeme: Lexeme, spelling: &str, interner: &mut Interner) -> Kind {
    match lexeme {
        Lexeme::Identifier => Kind::Name(interner.intern(spelling)),
        Lexeme::ExtendedIdentifier => name(spelling, interner),
        Lexeme::Number => number_token(spelling, interner),
        Lexeme::Character => Kind::Character(interner.intern(spelling)),
        Lexeme::String => Kind::String(interner.intern(spelling)),
        Lexeme::Punct(punct) => Kind::Punct(punct),
        Lexeme::Unterminated => Kind::Unterminated(interner.intern(spelling)),
        Lexeme::Unknown | Lexeme::UnterminatedComment => Kind::Unknown(interner.intern(spelling)),
    }
}

fn number_token(spelling: &str, interner: &mut Interner) -> Kind {
    let text = interner.intern(spelling);
    if is_floating(spelling) { Kind::Floating(text) } else { Kind::Integer(text) }
}

/// A floating constant contains a point or an exponent (C99 6.4.4.2).
fn is_floating(text: &str) -> bool {
    let is_hexadecimal = matches!(text.as_bytes(), [b'0', b'x' | b'X', ..]);
    let exponent = if is_hexadecimal { b'p' } else { b'e' };
    text.bytes().any(|byte| byte == b'.' || byte | b' ' == exponent)
}

/// C99 6.4.2.1, 6.4.3: identifiers may contain other letters and universal character names.
fn name(spelling: &str, interner: &mut Interner) -> Kind {
    let mut text = String::with_capacity(spelling.len());
    let mut rest = spelling;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let digits = if rest[at + 1..].starts_with('u') { 4 } else { 8 };
        let code = u32::from_str_radix(&rest[at + 2..at + 2 + digits], 16).ok().and_then(char::from_u32);
        text.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[at + 2 + digits..];
    }
    text.push_str(rest);
    let valid = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let symbol = interner.intern(&text);
    if valid { Kind::Name(symbol) } else { Kind::Unknown(symbol) }
}

/// The encoding of a text that starts with the byte order mark of UTF-16 or UTF-32, or with an ASCII character in one of
/// them.
fn wide_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0, 0, 0xFE, 0xFF, ..] | [0xFF, 0xFE, 0, 0, ..] => Some("UTF-32"),
        [0, 0, 0, a, 0, 0, 0, b, ..] | [a, 0, 0, 0, b, 0, 0, 0, ..] if *a != 0 && *b != 0 => Some("UTF-32"),
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => Some("UTF-16"),
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] if *a != 0 && *b != 0 => Some("UTF-16"),
        _ => None,
    }
}

/// Replaces bytes that are not UTF-8 by [`NOT_UTF8`].
fn decode(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let mut text = String::with_capacity(error.as_bytes().len());
            for chunk in error.as_bytes().utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| NOT_UTF8));
            }
            text
        }
    }
}

/// The loaded files, by path.
#[derive(Default)]
pub(super) struct Files {
    known: FxHashMap<String, Option<Rc<SourceFile>>>,
    /// The files with `#pragma once`.
    pub(super) once: Vec<String>,
}

impl Files {
    /// The file at this path, if it exists.
    pub(super) fn load(&mut self, path: &str, loader: &dyn Loader) -> Option<Rc<SourceFile>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let file = loader.load(path).map(|bytes| Rc::new(SourceFile::new(path.into(), bytes)));
        self.known.insert(path.to_owned(), file.clone());
        file
    }

    /// A header that is part of the compiler.
    pub(super) fn built_in(&mut self, name: &str, text: &str) -> Rc<SourceFile> {
        if let Some(Some(known)) = self.known.get(name) {
            return known.clone();
        }
        let file = Rc::new(SourceFile::new(name.into(), text.as_bytes().to_vec()));
        self.known.insert(name.to_owned(), Some(file.clone()));
        file
    }
}

/// Normalizes `.` and `..` in a path. For `#pragma once`.
pub(super) fn identity(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." if steps.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(text: &str) -> Option<String> {
        let mut interner = Interner::new();
        let file = SourceFile::new("a.h".into(), text.into());
        let mut guard = None;
        let guarded = file.is_guarded(&mut interner, |name| {
            guard = Some(name);
            true
        });
        guard.filter(|_| guarded).map(|name| interner.text(name).to_owned())
    }

    #[test]
    fn include_guards_are_recognized() {
        assert_eq!(
            guard("/* */\n#ifndef A\n#define A\n#if 1\n#else\n#endif\nx\n#endif // A\n").as_deref(),
            Some("A")
        );
        assert_eq!(guard("#if !defined(A)\n#endif").as_deref(), Some("A"));
        assert_eq!(guard("#if ! defined A\n#endif").as_deref(), Some("A"));
        assert_eq!(guard("#ifndef A\n#endif\nx"), None);
        assert_eq!(guard("#ifndef A\n#else\n#endif"), None);
        assert_eq!(guard("x\n#ifndef A\n#endif"), None);
        assert_eq!(guard("#ifndef A\n#endif\n#ifndef B\n#endif"), None);
    }

    #[test]
    fn equivalent_paths_have_one_identity() {
        assert_eq!(identity("./a/../b/./c.h"), "b/c.h");
        assert_eq!(identity("../a/../../b"), "../../b");
        assert_eq!(identity("/../b"), "/../b");
    }

    #[test]
    fn integers_and_floats() {
        assert!(["1.", ".5f", "1e3", "0x1p3", "0x.8", "1E+5"].iter().all(|text| is_floating(text)));
        assert!(["1", "0xE", "0x1f", "1f", "10u"].iter().all(|text| !is_floating(text)));
    }

    #[test]
    fn names_in_other_scripts() {
        let mut interner = Interner::new();
        assert_eq!(name("\\u00e9", &mut interner), name("é", &mut interner));
        assert!(matches!(name("a×b", &mut interner), Kind::Unknown(_)));
        assert!(matches!(name("\\UFFFFFFFFx", &mut interner), Kind::Unknown(_)));
    }
}
