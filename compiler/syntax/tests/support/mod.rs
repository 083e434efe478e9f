//! A small tokenizer for the tests of the parser: preprocessed text to tokens. The real one belongs to the
//! preprocessor, which these tests do without.

use kiln_syntax::{
    Interner, Span,
    token::{Punct, Token, TokenKind},
};

/// The tokens of preprocessed text: no comments, no directives but `#pragma` and line markers.
pub fn tokenize(text: &str, interner: &mut Interner) -> Vec<Token> {
    let mut puncts: Vec<_> = Punct::ALL.to_vec();
    puncts.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
    let bytes = text.as_bytes();
    let mut tokens = vec![];
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let rest = &text[at..];
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            line_start |= byte == b'\n';
            at += 1;
            continue;
        }
        if byte == b'#' && line_start {
            let length = rest.find('\n').unwrap_or(rest.len());
            if let Some(pragma) = rest[..length].strip_prefix("#pragma") {
                let kind = TokenKind::Pragma(interner.intern(pragma.trim()));
                tokens.push(Token { kind, span: span(at, length) });
            }
            at += length;
            continue;
        }
        line_start = false;
        let (length, kind) = if byte.is_ascii_alphabetic() || byte == b'_' {
            let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            let name = interner.intern(&rest[..length]);
            (length, name.keyword().map_or(TokenKind::Name(name), TokenKind::Keyword))
        } else if byte.is_ascii_digit() || byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            let length = number(rest);
            let symbol = interner.intern(&rest[..length]);
            let hex = rest.starts_with("0x") || rest.starts_with("0X");
            let floating =
                rest[..length].contains(['.', 'p', 'P']) || !hex && rest[..length].contains(['e', 'E']);
            (length, if floating { TokenKind::Floating(symbol) } else { TokenKind::Integer(symbol) })
        } else if byte == b'"' || byte == b'\'' {
            let length = quoted(rest);
            let symbol = interner.intern(&rest[..length]);
            (length, if byte == b'"' { TokenKind::String(symbol) } else { TokenKind::Character(symbol) })
        } else if let Some((spelling, punct)) = puncts.iter().find(|(spelling, _)| rest.starts_with(spelling))
        {
            (spelling.len(), TokenKind::Punct(*punct))
        } else {
            (rest.chars().next().map_or(1, char::len_utf8), TokenKind::Unknown)
        };
        tokens.push(Token { kind, span: span(at, length) });
        at += length;
    }
    tokens
}

fn span(at: usize, length: usize) -> Span {
    Span::new(at as u32, (at + length) as u32)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn number(text: &str) -> usize {
    let mut previous = ' ';
    let ends = |&(_, c): &(usize, char)| {
        let exponent_sign = "+-".contains(c) && "eEpP".contains(previous);
        previous = c;
        !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || exponent_sign)
    };
    text.char_indices().find(ends).map_or(text.len(), |(i, _)| i)
}

fn quoted(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut escaped = false;
    for (i, byte) in text.bytes().enumerate().skip(1) {
        if byte == quote && !escaped {
            return i + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    text.len()
}
