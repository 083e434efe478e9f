//! A file as the preprocessor reads it: lexed once, however often it is included.

use std::{rc::Rc, sync::Arc};

use kiln_syntax::{
    Interner, Span, Symbol,
    lex::{Lexed, Lexeme, Lexer, Spliced},
    token::Punct,
};
use rustc_hash::FxHashMap;

use super::{
    hide::HideSet,
    token::{Flags, Kind, Tok},
};
use crate::{session::Loader, source::NOT_UTF8};

/// The tokens of a text; their spans count from its beginning.
pub(super) struct LexedFile {
    pub(super) name: Arc<str>,
    pub(super) text: Arc<str>,
    pub(super) tokens: Vec<Tok>,
    /// The places in `tokens` of the `#` that begin a line.
    pub(super) directives: Vec<u32>,
    /// Where a comment begins that has no end.
    pub(super) open_comment: Option<usize>,
    /// The macro X of a file that is `#ifndef X … #endif` and nothing else.
    pub(super) guard: Option<Symbol>,
}

impl LexedFile {
    pub(super) fn new(name: Arc<str>, bytes: Vec<u8>, interner: &mut Interner) -> Self {
        let text: Arc<str> = decode(bytes).into();
        let spliced = Spliced::new(&text);
        let mut tokens = Vec::with_capacity(text.len() / 6);
        let mut directives = Vec::new();
        let mut open_comment = None;
        let mut places = spliced.places();
        for lexed in Lexer::new(&spliced.text) {
            let (lo, hi) = places.original(lexed.start, lexed.end);
            if lexed.lexeme == Lexeme::UnterminatedComment {
                open_comment = Some(lo as usize);
                continue;
            }
            if lexed.line_start && lexed.lexeme == Lexeme::Punct(Punct::Hash) {
                directives.push(tokens.len() as u32);
            }
            tokens.push(token(&lexed, &spliced.text, Span::new(lo, hi), interner));
        }
        let mut file = Self { name, text: text.clone(), tokens, directives, open_comment, guard: None };
        file.guard = file.find_guard(interner);
        file
    }

    /// The `#` of the next directive at this place in `tokens` or behind it.
    pub(super) fn next_directive(&self, at: usize) -> Option<usize> {
        let next = self.directives.partition_point(|directive| (*directive as usize) < at);
        self.directives.get(next).map(|directive| *directive as usize)
    }

    /// Where the line ends that the token at `at` stands in.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = self.tokens.get(at + 1..).unwrap_or_default();
        rest.iter().position(Tok::starts_line).map_or(self.tokens.len(), |length| at + 1 + length)
    }

    /// The tokens of the directive whose `#` is at `at`, that one left out.
    fn directive(&self, at: usize) -> &[Tok] {
        &self.tokens[at + 1..self.line_end(at)]
    }

    fn find_guard(&self, interner: &mut Interner) -> Option<Symbol> {
        let word = |at: usize| self.directive(at).first().and_then(Tok::name);
        let first = *self.directives.first()? as usize;
        let last = *self.directives.last()? as usize;
        if first != 0 || self.line_end(last) != self.tokens.len() {
            return None;
        }
        let [ifndef, endif, ifdef, r#if, r#else, elif, defined] =
            ["ifndef", "endif", "ifdef", "if", "else", "elif", "defined"]
                .map(|word| Some(interner.intern(word)));
        let not_defined = |a: &Tok, b: &Tok| a.is(Punct::Not) && b.name() == defined;
        let guard = match self.directive(first) {
            [word, guard] if word.name() == ifndef => guard,
            [word, a, b, guard] if word.name() == r#if && not_defined(a, b) => guard,
            [word, a, b, _, guard, _] if word.name() == r#if && not_defined(a, b) => guard,
            _ => return None,
        };
        if word(last) != endif {
            return None;
        }
        let mut depth = 0_usize;
        for (index, at) in self.directives.iter().enumerate() {
            let word = word(*at as usize);
            if word == ifndef || word == ifdef || word == r#if {
                depth += 1;
            } else if word == endif {
                depth = depth.checked_sub(1)?;
                if depth == 0 && index + 1 != self.directives.len() {
                    return None;
                }
            } else if depth == 1 && (word == r#else || word == elif) {
                return None;
            }
        }
        guard.name()
    }
}

fn token(lexed: &Lexed, text: &str, span: Span, interner: &mut Interner) -> Tok {
    let spelling = &text[lexed.start as usize..lexed.end as usize];
    let (kind, digraph) = match lexed.lexeme {
        // More than half of all tokens: what is not much to do is done here.
        Lexeme::Punct(punct) => (Kind::Punct(punct), is_digraph(punct, spelling)),
        lexeme => (kind(lexeme, spelling, interner), false),
    };
    let flags = Flags::new(lexed.line_start, lexed.space, digraph);
    Tok { kind, span, hide: HideSet::default(), flags }
}

/// Whether this is punctuation in its second spelling (C99 6.4.6 paragraph 3), which is twice as long as the first.
pub(super) fn is_digraph(punct: Punct, spelling: &str) -> bool {
    punct.spelling().len() != spelling.len()
}

/// The token of this lexeme and spelling.
pub(super) fn kind(lexeme: Lexeme, spelling: &str, interner: &mut Interner) -> Kind {
    match lexeme {
        Lexeme::Identifier => Kind::Name(interner.intern(spelling)),
        Lexeme::ExtendedIdentifier => name(spelling, interner),
        Lexeme::Number => number(spelling, interner),
        Lexeme::Character => Kind::Character(interner.intern(spelling)),
        Lexeme::String => Kind::String(interner.intern(spelling)),
        Lexeme::Punct(punct) => Kind::Punct(punct),
        Lexeme::Unterminated => Kind::Unterminated(interner.intern(spelling)),
        Lexeme::Unknown | Lexeme::UnterminatedComment => Kind::Unknown(interner.intern(spelling)),
    }
}

fn number(spelling: &str, interner: &mut Interner) -> Kind {
    let text = interner.intern(spelling);
    if is_floating(spelling) { Kind::Floating(text) } else { Kind::Integer(text) }
}

/// A floating constant has a point or an exponent (C99 6.4.4.2).
fn is_floating(text: &str) -> bool {
    let is_hexadecimal = matches!(text.as_bytes(), [b'0', b'x' | b'X', ..]);
    let exponent = if is_hexadecimal { b'p' } else { b'e' };
    text.bytes().any(|byte| byte == b'.' || byte | b' ' == exponent)
}

/// C99 6.4.2.1, 6.4.3: letters of other scripts and universal character names may stand in identifiers.
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

/// Bytes that are not UTF-8 keep their place as [`NOT_UTF8`].
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

/// The files that have been looked for, by path.
#[derive(Default)]
pub(super) struct Files {
    known: FxHashMap<String, Option<Rc<LexedFile>>>,
    /// The files that said `#pragma once`.
    pub(super) once: Vec<String>,
}

impl Files {
    /// The file at this path, if there is one.
    pub(super) fn load(
        &mut self,
        path: &str,
        loader: &dyn Loader,
        interner: &mut Interner,
    ) -> Option<Rc<LexedFile>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let file = loader.load(path).map(|bytes| Rc::new(LexedFile::new(path.into(), bytes, interner)));
        self.known.insert(path.to_owned(), file.clone());
        file
    }

    /// A file of ours.
    pub(super) fn own(&mut self, name: &str, text: &str, interner: &mut Interner) -> Rc<LexedFile> {
        if let Some(Some(known)) = self.known.get(name) {
            return known.clone();
        }
        let file = Rc::new(LexedFile::new(name.into(), text.as_bytes().to_vec(), interner));
        self.known.insert(name.to_owned(), Some(file.clone()));
        file
    }
}

/// The same for two paths that differ only in `.` and `..` steps: what `#pragma once` goes by.
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
        let file = LexedFile::new("a.h".into(), text.into(), &mut interner);
        file.guard.map(|name| interner.text(name).to_owned())
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
    fn paths_that_mean_the_same() {
        assert_eq!(identity("./a/../b/./c.h"), "b/c.h");
        assert_eq!(identity("../a/../../b"), "../../b");
        assert_eq!(identity("/../b"), "/../b");
    }

    #[test]
    fn numbers_of_both_sorts() {
        assert!(["1.", ".5f", "1e3", "0x1p3", "0x.8", "1E+5"].iter().all(|text| is_floating(text)));
        assert!(["1", "0xE", "0x1f", "1f", "10u"].iter().all(|text| !is_floating(text)));
    }

    #[test]
    fn names_of_other_scripts() {
        let mut interner = Interner::new();
        assert_eq!(name("\\u00e9", &mut interner), name("é", &mut interner));
        assert!(matches!(name("a×b", &mut interner), Kind::Unknown(_)));
        assert!(matches!(name("\\UFFFFFFFFx", &mut interner), Kind::Unknown(_)));
    }
}
