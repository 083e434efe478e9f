//! Bytes to preprocessing tokens (C99 6.4). Never fails: what forms no token is itself a token.
//!
//! Knows nothing of directives, macros or keywords. Header names are not recognised here: their spelling depends
//! on the directive that they stand in.

mod splice;

/// Made from lexer.logos by `cargo xtask grammar`: who uses the library never builds Logos' generator.
#[allow(clippy::all, clippy::pedantic, unused)]
#[rustfmt::skip]
#[path = "generated/lexer.rs"]
mod raw;

use logos::Logos as _;

pub use splice::Spliced;

use self::raw::Raw;
use crate::token::Punct;

/// What a preprocessing token is. Its spelling is the text between its offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexeme {
    /// An identifier, keywords included; may contain characters that no identifier may contain, and universal
    /// character names.
    Identifier,
    /// A preprocessing number.
    Number,
    /// A character constant.
    Character,
    /// A string literal.
    String,
    /// Punctuation.
    Punct(Punct),
    /// A character constant or string literal that the end of the line cuts off.
    Unterminated,
    /// A comment that the end of the file cuts off; always the last token.
    UnterminatedComment,
    /// Characters that begin no token.
    Unknown,
}

/// A preprocessing token and where it stands in the text that was lexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexed {
    /// What it is.
    pub lexeme: Lexeme,
    /// The offset of its first byte.
    pub start: u32,
    /// The offset after its last byte.
    pub end: u32,
    /// Whether it is the first token of its line.
    pub line_start: bool,
    /// Whether white space or a comment stands before it on its line.
    pub space: bool,
}

/// The preprocessing tokens of a text without line splices (see [`Spliced`]).
pub struct Lexer<'a> {
    raw: logos::Lexer<'a, Raw>,
    base: u32,
    line_start: bool,
    space: bool,
    ahead: Option<Lexed>,
}

impl<'a> Lexer<'a> {
    /// Begins at the beginning of a line. A byte order mark is passed over.
    pub fn new(text: &'a str) -> Self {
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let base = (text.len() - body.len()) as u32;
        Self { raw: Raw::lexer(body), base, line_start: true, space: false, ahead: None }
    }

    fn advance(&mut self) -> Option<Lexed> {
        loop {
            let raw = self.raw.next()?;
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
                Ok(Raw::Number) => Lexeme::Number,
                Ok(Raw::Character(Ending::Proper)) => Lexeme::Character,
                Ok(Raw::String(Ending::Proper)) => Lexeme::String,
                Ok(Raw::Character(Ending::Missing) | Raw::String(Ending::Missing)) => Lexeme::Unterminated,
                Ok(Raw::Punct(punct)) => Lexeme::Punct(punct),
                Err(()) => Lexeme::Unknown,
            };
            let range = self.raw.span();
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

impl Iterator for Lexer<'_> {
    type Item = Lexed;

    /// The next token; adjacent unknown characters are one.
    fn next(&mut self) -> Option<Lexed> {
        let mut token = self.ahead.take().or_else(|| self.advance())?;
        while token.lexeme == Lexeme::Unknown {
            match self.advance() {
                Some(next) if next.lexeme == Lexeme::Unknown && next.start == token.end => {
                    token.end = next.end
                }
                next => {
                    self.ahead = next;
                    break;
                }
            }
        }
        Some(token)
    }
}

/// Whether a comment or literal has its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Proper,
    Missing,
}

/// C99 6.4.9: to the end of the line, which stays.
fn line_comment(lexer: &mut logos::Lexer<'_, Raw>) -> Ending {
    let rest = lexer.remainder();
    lexer.bump(rest.find(['\n', '\r']).unwrap_or(rest.len()));
    Ending::Proper
}

/// C99 6.4.9: to the next `*/`; newlines in between end no line.
fn block_comment(lexer: &mut logos::Lexer<'_, Raw>) -> Ending {
    let rest = lexer.remainder();
    match rest.find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            Ending::Proper
        }
        None => {
            lexer.bump(rest.len());
            Ending::Missing
        }
    }
}

/// C99 6.4.4.4, 6.4.5: to the closing quote on the same line.
fn literal(lexer: &mut logos::Lexer<'_, Raw>, quote: char) -> Ending {
    let rest = lexer.remainder();
    let mut from = 0;
    loop {
        let Some(found) = rest[from..].find([quote, '\\', '\n', '\r']) else {
            lexer.bump(rest.len());
            return Ending::Missing;
        };
        let at = from + found;
        match rest.as_bytes()[at] {
            b'\\' => {
                let escaped = rest[at + 1..].chars().next().filter(|c| !matches!(c, '\n' | '\r'));
                from = at + 1 + escaped.map_or(0, char::len_utf8);
            }
            b'\n' | b'\r' => {
                lexer.bump(at);
                return Ending::Missing;
            }
            _ => {
                lexer.bump(at + 1);
                return Ending::Proper;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Vec<(&str, Lexeme)> {
        Lexer::new(text).map(|t| (&text[t.start as usize..t.end as usize], t.lexeme)).collect()
    }

    #[test]
    fn longest_match() {
        let spellings: Vec<_> = lex("x+++++y>>=z<::>%:%:...").into_iter().map(|t| t.0).collect();
        assert_eq!(spellings, ["x", "++", "++", "+", "y", ">>=", "z", "<:", ":>", "%:%:", "..."]);
    }

    #[test]
    fn numbers_take_signed_exponents() {
        let spellings: Vec<_> = lex("0x1p-3f+1e+5.f .5x 1..2 0xE+1 1-1").into_iter().map(|t| t.0).collect();
        assert_eq!(spellings, ["0x1p-3f", "+", "1e+5.f", ".5x", "1..2", "0xE+1", "1", "-", "1"]);
    }

    #[test]
    fn literals_end_with_their_line() {
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
    fn comments_are_space_but_not_lines() {
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
    fn unknown_characters_are_merged() {
        assert_eq!(
            lex("@@`\\ a\0"),
            [("@@`\\", Lexeme::Unknown), ("a", Lexeme::Identifier), ("\0", Lexeme::Unknown)]
        );
        assert_eq!(lex("é\\u00e9x"), [("é\\u00e9x", Lexeme::Identifier)]);
        assert_eq!(lex("\u{FEFF}a"), [("a", Lexeme::Identifier)]);
    }

    #[test]
    fn long_runs_need_no_stack() {
        let many = "// comment\n".repeat(100_000) + &"/".repeat(3) + &"@".repeat(100_000);
        assert_eq!(lex(&many).len(), 0);
        let long =
            format!("/*{}*/ {} \"{}\"", "*".repeat(1 << 20), "a".repeat(1 << 20), "\\n".repeat(1 << 20));
        assert_eq!(lex(&long).len(), 2);
    }
}
