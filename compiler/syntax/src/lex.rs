//! The lexer: converts text to preprocessing tokens (C99 6.4). It never fails: invalid characters become a token.
//!
//! Independent of directives, macros and keywords. Does not recognize header names, because their syntax depends on
//! the directive.

mod splice;

/// Generated from lexer.logos by `cargo xtask grammar`, so that users of this crate do not build Logos' generator.
#[allow(clippy::all, clippy::pedantic, unused)]
#[rustfmt::skip]
#[path = "generated/lexer.rs"]
mod raw;

use logos::Logos as _;

pub use splice::{BlankSplice, Spliced};

use self::raw::Raw;
use crate::token::Punct;

/// The kind of a preprocessing token. Its spelling is the text between its offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexeme {
    /// An identifier of basic letters, digits and `_`, including keywords.
    Identifier,
    /// An identifier with other characters, which may include invalid ones, or with universal character names.
    ExtendedIdentifier,
    /// A preprocessing number.
    Number,
    /// A character constant.
    Character,
    /// A string literal.
    String,
    /// Punctuation.
    Punct(Punct),
    /// A character constant or string literal without a closing quote on its line.
    Unterminated,
    /// A comment without an end. Always the last token.
    UnterminatedComment,
    /// Characters that cannot start a token.
    Unknown,
}

/// A preprocessing token with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexed {
    /// Its kind.
    pub lexeme: Lexeme,
    /// The offset of its first byte.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
    /// Whether it is the first token of its line.
    pub line_start: bool,
    /// Whether white space or a comment precedes it on its line.
    pub space: bool,
}

/// Lexes a text without line splices (see [`Spliced`]).
pub struct Lexer<'a> {
    raw: logos::Lexer<'a, Raw>,
    base: u32,
    line_start: bool,
    space: bool,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of a line. Skips a byte order mark.
    pub fn new(text: &'a str) -> Self {
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let base = (text.len() - body.len()) as u32;
        Self { raw: Raw::lexer(body), base, line_start: true, space: false }
    }

    /// Starts at a token that an earlier lexer returned.
    pub fn resume(text: &'a str, token: &Lexed) -> Self {
        let raw = Raw::lexer(&text[token.start as usize..]);
        Self { raw, base: token.start, line_start: token.line_start, space: token.space }
    }

    /// At the start of a line, skips lines that neither start with `#` nor contain a comment. Finds directives much faster
    /// than lexing.
    pub fn skip_plain_lines(&mut self) {
        while self.line_start {
            let rest = self.raw.remainder();
            let first = rest.bytes().find(|byte| !matches!(byte, b' ' | b'\t' | 0x0B | 0x0C));
            let stop = rest.bytes().position(|byte| matches!(byte, b'\n' | b'\r' | b'/'));
            let end = stop.unwrap_or(rest.len());
            if matches!(first, None | Some(b'#' | b'%')) || rest.as_bytes().get(end) == Some(&b'/') {
                return;
            }
            self.raw.bump((end + 1).min(rest.len()));
            self.space = false;
        }
    }

    /// Skips white space before a token.
    fn skip_blanks(&mut self) {
        let (mut length, mut line_start, mut space) = (0, self.line_start, self.space);
        for byte in self.raw.remainder().bytes() {
            match byte {
                b' ' | b'\t' => space = true,
                b'\n' => (line_start, space) = (true, false),
                _ => break,
            }
            length += 1;
        }
        if length != 0 {
            self.raw.bump(length);
            (self.line_start, self.space) = (line_start, space);
        }
    }

    /// Extends an invalid token by the invalid characters that follow it, and returns its end.
    #[cold]
    fn end_of_unknown(&mut self) -> usize {
        let mut ahead = self.raw.clone();
        while let Some(Err(())) = ahead.next() {
            self.raw = ahead.clone();
        }
        self.raw.span().end
    }
}

impl Iterator for Lexer<'_> {
    type Item = Lexed;

    /// The next token. Adjacent invalid characters form one token.
    #[inline]
    fn next(&mut self) -> Option<Lexed> {
        loop {
            self.skip_blanks();
            let raw = self.raw.next()?;
            let mut range = self.raw.span();
            let lexeme = match raw {
                Ok(Raw::Newline) => {
                    (self.line_start, self.space) = (true, false);
                    continue;
                }
                Ok(Raw::Space | Raw::Comment(Ending::Proper)) => {
                    self.space = true;
                    continue;
                }
                Ok(Raw::Comment(Ending::Missing)) => Lexeme::UnterminatedComment,
                Ok(Raw::Identifier) => Lexeme::Identifier,
                Ok(Raw::ExtendedIdentifier) => Lexeme::ExtendedIdentifier,
                Ok(Raw::Number) => Lexeme::Number,
                Ok(Raw::Character(Ending::Proper)) => Lexeme::Character,
                Ok(Raw::String(Ending::Proper)) => Lexeme::String,
                Ok(Raw::Character(Ending::Missing) | Raw::String(Ending::Missing)) => Lexeme::Unterminated,
                Ok(Raw::Punct(punct)) => Lexeme::Punct(punct),
                Err(()) => {
                    range.end = self.end_of_unknown();
                    Lexeme::Unknown
                }
            };
            let lexed = Lexed {
                lexeme,
                start: self.base + range.start as u32,
                end: self.base + range.end as u32,
                line_start: self.line_start,
                space: self.space,
            };
            (self.line_start, self.space) = (false, false);
            return Some(lexed);
        }
    }
}

/// Whether a comment or literal is terminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Proper,
    Missing,
}

/// C99 6.4.9: up to the end of the line, exclusive.
fn line_comment(lexer: &mut logos::Lexer<'_, Raw>) -> Ending {
    let rest = lexer.remainder();
    let end = rest.bytes().position(|byte| matches!(byte, b'\n' | b'\r'));
    lexer.bump(end.unwrap_or(rest.len()));
    Ending::Proper
}

/// C99 6.4.9: up to the next `*/`. Newlines inside do not end the line.
fn block_comment(lexer: &mut logos::Lexer<'_, Raw>) -> Ending {
    let rest = lexer.remainder();
    let closes = |slash: &usize| rest.as_bytes()[..*slash].ends_with(b"*");
    match rest.match_indices('/').map(|(slash, _)| slash).find(closes) {
        Some(slash) => {
            lexer.bump(slash + 1);
            Ending::Proper
        }
        None => {
            lexer.bump(rest.len());
            Ending::Missing
        }
    }
}

/// C99 6.4.4.4, 6.4.5: up to the closing quote on the same line.
fn literal(lexer: &mut logos::Lexer<'_, Raw>, quote: u8) -> Ending {
    let rest = lexer.remainder();
    let mut bytes = rest.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                let escaped = bytes.clone().next();
                if escaped.is_some_and(|(_, byte)| !matches!(byte, b'\n' | b'\r')) {
                    bytes.next();
                }
            }
            b'\n' | b'\r' => {
                lexer.bump(at);
                return Ending::Missing;
            }
            _ if byte == quote => {
                lexer.bump(at + 1);
                return Ending::Proper;
            }
            _ => {}
        }
    }
    lexer.bump(rest.len());
    Ending::Missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Vec<(&str, Lexeme)> {
        Lexer::new(text).map(|t| (&text[t.start as usize..t.end as usize], t.lexeme)).collect()
    }

    #[test]
    fn the_longest_token_matches() {
        let spellings: Vec<_> = lex("x+++++y>>=z<::>%:%:...").into_iter().map(|t| t.0).collect();
        assert_eq!(spellings, ["x", "++", "++", "+", "y", ">>=", "z", "<:", ":>", "%:%:", "..."]);
    }

    #[test]
    fn numbers_take_signed_exponents() {
        let spellings: Vec<_> = lex("0x1p-3f+1e+5.f .5x 1..2 0xE+1 1-1").into_iter().map(|t| t.0).collect();
        assert_eq!(spellings, ["0x1p-3f", "+", "1e+5.f", ".5x", "1..2", "0xE+1", "1", "-", "1"]);
    }

    #[test]
    fn literals_end_at_the_end_of_their_line() {
        use Lexeme::*;
        assert_eq!(
            lex("\"a\\\"b\" 'c' L'd' don't\n\"x\\\ny"),
            [
                ("\"a\\\"b\"", String),
                ("'c'", Character),
                ("L'd'", Character),
                ("don", Identifier),
                ("'t", Unterminated),
                ("\"x\\", Unterminated),
                ("y", Identifier)
            ]
        );
    }

    #[test]
    fn comments_are_space_without_new_lines() {
        let text = "a/* \n */#b//c\n  #d/*";
        let tokens: Vec<_> = Lexer::new(text).collect();
        let flags: Vec<_> = tokens.iter().map(|t| (t.line_start, t.space)).collect();
        assert_eq!(
            flags,
            [(true, false), (false, true), (false, false), (true, true), (false, false), (false, false)]
        );
        assert_eq!(tokens[5].lexeme, Lexeme::UnterminatedComment);
        assert_eq!(tokens[5].end as usize, text.len());
    }

    #[test]
    fn plain_lines_are_skipped() {
        let next = |text: &str| {
            let mut lexer = Lexer::new(text);
            lexer.skip_plain_lines();
            lexer.next().map(|token| (token.start, token.line_start))
        };
        assert_eq!(next("a \"b\n\r\n\r 'c\r\n \t#d"), Some((15, true)));
        assert_eq!(next("a\n\n %: b"), Some((4, true)));
        assert_eq!(next("a\nb // c\n# d"), Some((2, true)));
        assert_eq!(next("a\nb"), None);
        assert_eq!(next("a\n \t"), None);
    }

    #[test]
    fn unknown_characters_are_merged() {
        assert_eq!(
            lex("@@`\\ a\0"),
            [("@@`\\", Lexeme::Unknown), ("a", Lexeme::Identifier), ("\0", Lexeme::Unknown)]
        );
        assert_eq!(lex("é\\u00e9x"), [("é\\u00e9x", Lexeme::ExtendedIdentifier)]);
        assert_eq!(lex("\u{FEFF}a"), [("a", Lexeme::Identifier)]);
    }

    #[test]
    fn long_runs_use_no_stack() {
        let many = "// comment\n".repeat(100_000) + &"/".repeat(3) + &"@".repeat(100_000);
        assert_eq!(lex(&many).len(), 0);
        let long =
            format!("/*{}*/ {} \"{}\"", "*".repeat(1 << 20), "a".repeat(1 << 20), "\\n".repeat(1 << 20));
        assert_eq!(lex(&long).len(), 2);
    }
}
