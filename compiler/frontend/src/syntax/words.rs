//! Words and operators of other languages, and the text around a position.

/// The characters of operators.
pub(super) const OPERATORS: &[char] = &['=', '<', '>', '!', '&', '|', '+', '-', '*', '/', '%', '^'];

/// The operator that a word stands for.
pub(super) fn operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "&&",
        "or" => "||",
        "bitand" => "&",
        "bitor" => "|",
        "xor" => "^",
        "mod" => "%",
        "not_eq" => "!=",
        "eq" => "==",
        _ => return None,
    })
}

/// The operator that two operators stand for, if they are written one after another. Adjacent ones are operators of
/// other languages.
pub(super) fn joined(first: &str, second: &str, is_adjacent: bool) -> Option<&'static str> {
    Some(match (first, second) {
        ("=", ">") => ">=",
        ("=", "<") => "<=",
        ("<", ">") => "!=",
        ("==", "=") => "==",
        ("!=", "=") => "!=",
        _ if is_adjacent => return None,
        ("=", "=") => "==",
        ("!", "=") => "!=",
        ("<", "=") => "<=",
        (">", "=") => ">=",
        ("<", "<") => "<<",
        (">", ">") => ">>",
        ("+", "=") => "+=",
        ("-", "=") => "-=",
        ("*", "=") => "*=",
        ("/", "=") => "/=",
        ("%", "=") => "%=",
        ("&", "=") => "&=",
        ("|", "=") => "|=",
        ("^", "=") => "^=",
        ("<<", "=") => "<<=",
        (">>", "=") => ">>=",
        ("|", "|") => "||",
        _ => return None,
    })
}

/// What follows the name in a definition of this macro.
pub(super) fn definition<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let value = directive.trim_start().strip_prefix(name)?;
    value.starts_with([' ', '\t']).then_some(value)
}

/// The word at the end of a text.
pub(super) fn last_word(text: &str) -> &str {
    &text[text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len()..]
}

/// The end of the identifier at the start of a text.
pub(super) fn identifier_end(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// The innermost bracket that is open at the end of a text.
pub(super) fn enclosing(text: &str) -> Option<usize> {
    const LIMIT: usize = 4096;
    let mut closed = 0;
    for (at, c) in text.char_indices().rev().take(LIMIT) {
        match c {
            ')' | ']' | '}' => closed += 1,
            '(' | '[' | '{' if closed == 0 => return Some(at),
            '(' | '[' | '{' => closed -= 1,
            _ => {}
        }
    }
    None
}

/// The parenthesis that the last character of a text closes.
pub(super) fn opening(text: &str) -> Option<usize> {
    text.strip_suffix(')')?;
    let mut depth = 0;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            // A condition contains no statements.
            ';' | '{' | '}' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
