//! Messages for the parts of a `for`.

use kiln_session::diag::Diagnostic;

use super::{
    common_mistakes::ErrorContext,
    words::{enclosing, identifier_end, last_word},
};

impl ErrorContext<'_> {
    /// A `for` whose parts are separated by `,`, or one over the elements of an array. The error is in its parentheses.
    pub(super) fn part_of_for(&self) -> Option<Diagnostic> {
        let before = self.before();
        let open = enclosing(before).filter(|&open| before[open..].starts_with('('))?;
        let (word, parts) = (last_word(before[..open].trim_end()), &before[open + 1..]);
        let is_element = matches!(&self.text[self.at.clone()], ":" | "in") && !parts.contains([';', '=']);
        if is_element && matches!(word, "for" | "foreach") {
            let diagnostic = self.report("OpenCL C has no loop over the elements of an array");
            return Some(diagnostic.help("use an index: `for (int i = 0; i < n; i++)`"));
        }
        if word != "for" || parts.matches(';').count() > 1 {
            return None;
        }
        let comma = last_separator(parts)?;
        let next = parts[comma + 1..].trim_start().trim_start_matches(['+', '-']);
        let name = &next[..identifier_end(next)];
        let is_name = |word: &str| !name.is_empty() && word == name;
        if !parts[..comma].split(|c: char| !(c.is_alphanumeric() || c == '_')).any(is_name) {
            return None;
        }
        let comma = open + 1 + comma..open + 2 + comma;
        Some(self.replace(comma, "the parts of `for` are separated by `;`, not `,`", ";"))
    }
}

/// The last `,` of a text that is not in brackets.
fn last_separator(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => depth -= 1,
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}
