//! Tokenizes the text form. `//` starts a comment.

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// Letters, digits and `_`, starting with a letter or `_`.
    Word(&'t str),
    /// Starts with a digit or `-`.
    Number(&'t str),
    /// The bytes between quotation marks.
    Text(Vec<u8>),
    /// Anything else.
    Mark(char),
    /// `->`
    Arrow,
    /// The end of the text, or an invalid character.
    End,
}

/// The tokens with their line numbers, starting at 1.
pub(super) fn lex(text: &str) -> Vec<(Token<'_>, usize)> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with("//") {
            let (token, length) = token(rest);
            tokens.push((token, number + 1));
            rest = rest[length..].trim_start();
        }
    }
    let last = text.lines().count().max(1);
    tokens.push((Token::End, last));
    tokens
}

fn token(text: &str) -> (Token<'_>, usize) {
    let first = text.chars().next().unwrap_or(' ');
    let second = text[first.len_utf8()..].chars().next().unwrap_or(' ');
    if text.starts_with("->") {
        (Token::Arrow, 2)
    } else if first.is_ascii_alphabetic() || first == '_' {
        let length = word_length(text);
        (Token::Word(&text[..length]), length)
    } else if first.is_ascii_digit() || (first == '-' && second.is_ascii_digit()) {
        let length = number_length(text);
        (Token::Number(&text[..length]), length)
    } else if first == '"' {
        quoted(text)
    } else {
        (Token::Mark(first), first.len_utf8())
    }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Decimal and hexadecimal integers, and decimal fractions with an exponent.
fn number_length(text: &str) -> usize {
    let is_hex = text.starts_with("0x");
    let mut previous = ' ';
    for (index, c) in text.char_indices() {
        let is_sign = c == '-' && (index == 0 || (previous == 'e' && !is_hex));
        if !(c.is_ascii_alphanumeric() || c == '.' || is_sign) {
            return index;
        }
        previous = c;
    }
    text.len()
}

fn quoted(text: &str) -> (Token<'_>, usize) {
    let bytes = text.as_bytes();
    let mut content = Vec::new();
    let mut index = 1;
    while index < bytes.len() {
        match (bytes[index], bytes.get(index + 1)) {
            (b'"', _) => return (Token::Text(content), index + 1),
            (b'\\', Some(b'x')) => {
                let digits = text.get(index + 2..index + 4).and_then(|hex| u8::from_str_radix(hex, 16).ok());
                let Some(byte) = digits else { break };
                content.push(byte);
                index += 4;
            }
            (b'\\', Some(&byte)) => {
                content.push(byte);
                index += 2;
            }
            (byte, _) => {
                content.push(byte);
                index += 1;
            }
        }
    }
    (Token::End, text.len())
}
