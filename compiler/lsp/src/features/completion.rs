//! Completion. The characters before the cursor select the kind of items; scopes and types select the items.

mod attributes;
mod directives;
mod items;
mod members;
mod sync;

use lsp_types::CompletionList;

use crate::{analysis::Cursor, lexical::LexicalContext, names::is_word};

pub(crate) use items::resolve;

/// The characters that trigger completion, besides letters.
pub(crate) const TRIGGERS: [&str; 7] = [".", ">", "#", "\"", "<", "/", "("];

/// The items at the cursor.
pub(crate) fn complete(cursor: &Cursor<'_>) -> CompletionList {
    let text = cursor.text();
    let start = cursor.word().start;
    let word = &text[start..cursor.offset];
    let before = text[..start].trim_end_matches([' ', '\t']);
    let wanted = Letters::in_word(word);
    let mut is_cut = false;
    let lexical_context = cursor.lexical_context();
    let mut items = if let LexicalContext::Directive(directive) = lexical_context {
        directives::complete(cursor, directive)
    } else if lexical_context == LexicalContext::CommentOrLiteral {
        Vec::new()
    } else if let Some(base) = before.strip_suffix("->") {
        members::complete(cursor, base.len(), members::Access::Arrow)
    } else if let Some(base) = before.strip_suffix('.') {
        match ends_a_number(base) {
            true => Vec::new(),
            false => members::complete(cursor, base.len(), members::Access::Dot),
        }
    } else if attributes::is_attribute_expected(&before[cursor.code_before(start).min(before.len())..]) {
        attributes::complete()
    } else {
        let mut items = sync::complete(cursor, start);
        let taken: Vec<String> = items.iter().map(|item| item.label.clone()).collect();
        let others = items::complete(cursor, start, &wanted);
        is_cut = others.is_incomplete;
        items.extend(others.items.into_iter().filter(|item| !taken.contains(&item.label)));
        items
    };
    items.retain(|item| wanted.are_in(&item.label));
    // Incomplete, because a different word can match items that were left out.
    CompletionList { is_incomplete: is_cut || !word.is_empty(), items }
}

/// Whether a `.` after this text is a decimal point.
fn ends_a_number(base: &str) -> bool {
    let word = base.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    base[word..].starts_with(|c: char| c.is_ascii_digit())
}

/// The letters of the word at the cursor. An item must contain them in this order, in either case.
#[derive(Default)]
struct Letters(Vec<char>);

impl Letters {
    fn in_word(word: &str) -> Self {
        Self(if is_word(word) { word.chars().flat_map(char::to_lowercase).collect() } else { Vec::new() })
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn are_in(&self, text: &str) -> bool {
        let mut wanted = self.0.iter();
        let Some(mut next) = wanted.next() else { return true };
        for letter in text.chars() {
            let is_same = match letter.is_ascii() {
                true => letter.to_ascii_lowercase() == *next,
                false => letter.to_lowercase().eq([*next]),
            };
            if is_same {
                match wanted.next() {
                    Some(letter) => next = letter,
                    None => return true,
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
