//! Decodes character and string literals (C99 6.4.4.4, 6.4.5).

use std::{iter::Peekable, str::Chars};

use kiln_session::diag::Code;

/// Returns the prefix before the opening quote, the bytes between the quotes, and errors in the escapes. Non-ASCII
/// characters become UTF-8 bytes.
pub(super) fn decode(text: &str, quote: char) -> (&str, Vec<u8>, Vec<(Code, String)>) {
    let open = text.find(quote).unwrap_or(text.len());
    let (prefix, rest) = text.split_at(open);
    let inner = rest.strip_prefix(quote).unwrap_or(rest);
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    let (mut bytes, mut errors) = (Vec::new(), Vec::new());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match escape(&mut chars) {
                Ok(Escaped::Byte(byte)) => bytes.push(byte),
                Ok(Escaped::Char(c)) => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Ok(Escaped::Unknown(c)) => {
                    errors.push((
                        Code::UnknownEscape,
                        format!("`\\{c}` is not an escape sequence; it means `{c}`"),
                    ));
                    bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Err(error) => {
                    errors.push((Code::EscapeSequence, error));
                    // Insert one character, so that the length is as intended.
                    bytes.push(0);
                }
            },
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    (prefix, bytes, errors)
}

enum Escaped {
    Byte(u8),
    Char(char),
    Unknown(char),
}

fn escape(chars: &mut Peekable<Chars<'_>>) -> Result<Escaped, String> {
    let Some(c) = chars.next() else { return Err("a backslash needs a character after it".into()) };
    Ok(Escaped::Byte(match c {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'v' => 11,
        'e' => 27,
        '\\' | '\'' | '"' | '?' => c as u8,
        '0'..='7' => {
            let mut value = c.to_digit(8).unwrap_or_default();
            for _ in 0..2 {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                chars.next();
                value = value * 8 + digit;
            }
            u8::try_from(value)
                .map_err(|_| format!("the octal escape \\{value:o} does not fit into a character"))?
        }
        'x' => {
            let (value, count) = digits(chars, usize::MAX);
            if count == 0 {
                return Err("`\\x` needs hexadecimal digits after it".into());
            }
            u8::try_from(value)
                .map_err(|_| "this hexadecimal escape does not fit into a character".to_owned())?
        }
        'u' | 'U' => {
            let wanted = if c == 'u' { 4 } else { 8 };
            let (value, count) = digits(chars, wanted);
            let named = (count == wanted).then_some(value).and_then(char::from_u32);
            return named
                .map(Escaped::Char)
                .ok_or_else(|| format!("`\\{c}` needs {wanted} hexadecimal digits that name a character"));
        }
        _ => return Ok(Escaped::Unknown(c)),
    }))
}

/// Parses at most `at_most` hexadecimal digits, saturating. Also returns their number.
fn digits(chars: &mut Peekable<Chars<'_>>, at_most: usize) -> (u32, usize) {
    let (mut value, mut count) = (0u32, 0);
    while count < at_most
        && let Some(digit) = chars.peek().and_then(|c| c.to_digit(16))
    {
        chars.next();
        value = value.saturating_mul(16).saturating_add(digit);
        count += 1;
    }
    (value, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_decoded() {
        let bytes = |text| decode(text, '"').1;
        assert_eq!(bytes(r#""a\n\0\x41\101""#), b"a\n\0AA");
        assert_eq!(bytes(r#""\u00e9""#), "é".as_bytes());
        assert_eq!(decode("L'a'", '\'').0, "L");
        assert_eq!(decode(r"'\''", '\'').1, b"'");
        assert_eq!(decode(r"'\q'", '\'').2.len(), 1);
        assert_eq!(decode(r"'\xfff'", '\'').2.len(), 1);
        assert_eq!(decode(r"'\777'", '\'').2.len(), 1);
    }
}
