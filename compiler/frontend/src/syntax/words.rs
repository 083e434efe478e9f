//! Words and operators of other languages, and the text around a position.

/// The characters of operators.
pub(super) const OPERATORS: &[char] = &['=', '<', '>', '!', '&', '|', '+', '-', '*', '/', '%', '^'];

/// The operator that a word means.
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

/// The intended operator for two consecutive operators: an operator of another language, such as `=>`, or, if they are
/// not adjacent, an operator with a blank in it.
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

/// The text after the name in a definition of this macro.
pub(super) fn definition<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let value = directive.trim_start().strip_prefix(name)?;
    value.starts_with([' ', '\t']).then_some(value)
}

/// The start of the directive at the end of a text, which a backslash can continue on the next line.
pub(super) fn directive_start(text: &str) -> usize {
    let mut start = text.len();
    loop {
        start = text[..start].rfind('\n').map_or(0, |end| end + 1);
        match text[..start].strip_suffix('\n') {
            Some(line) if line.trim_end().ends_with('\\') => start = line.len(),
            _ => return start,
        }
    }
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

/// The text with spaces instead of comments and of the contents of literals.
pub(super) fn mask_literals_and_comments(text: &str) -> String {
    let mut mask_literals_and_comments = String::with_capacity(text.len());
    while mask_literals_and_comments.len() < text.len() {
        let rest = &text[mask_literals_and_comments.len()..];
        let Some(first) = rest.chars().next() else { break };
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' | '\'' => literal_length(rest, first),
            _ => {
                mask_literals_and_comments.push(first);
                continue;
            }
        };
        mask_literals_and_comments
            .extend(rest[..length].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    }
    mask_literals_and_comments
}

/// The length of the literal at the start of a text, at most the rest of its line.
fn literal_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The bracket that closes the one at the start of a text without comments and literals.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
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
