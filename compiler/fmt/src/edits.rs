//! The difference between a text and the formatted one, as edits of the white space between tokens.

use std::ops::Range;

use crate::{
    Style, format,
    token::{Token, tokens},
};

/// A replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace.
    pub range: Range<usize>,
    /// Their replacement.
    pub text: String,
}

/// The edits that turn a text into the formatted text, in order.
pub fn edits(text: &str, formatted: &str) -> Vec<Edit> {
    let (old, new) = (tokens(text, 8), tokens(formatted, 8));
    if !have_same_tokens(&old, &new) {
        return Vec::new();
    }
    let mut edits = Vec::new();
    let (mut from, mut to) = (0, 0);
    for (old, new) in old.iter().zip(&new) {
        push(&mut edits, text, from..old.start, &formatted[to..new.start]);
        (from, to) = (old.start + old.text.len(), new.start + new.text.len());
        push(&mut edits, text, old.start..from, new.text);
    }
    push(&mut edits, text, from..text.len(), &formatted[to..]);
    edits
}

fn push(edits: &mut Vec<Edit>, text: &str, range: Range<usize>, new: &str) {
    if &text[range.clone()] != new {
        edits.push(Edit { range, text: new.to_owned() });
    }
}

/// The edits that touch the lines of a range.
pub fn touching_lines(edits: Vec<Edit>, text: &str, range: Range<usize>) -> Vec<Edit> {
    let start = text[..range.start].rfind('\n').map_or(0, |found| found + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |found| range.end + found);
    // The white space before the first line contains its indentation.
    let touches = |edit: &Edit| edit.range.end >= start && edit.range.start < end.max(start + 1);
    edits.into_iter().filter(touches).collect()
}

/// The indentation of a statement that starts at this offset.
pub fn indentation(text: &str, offset: usize, style: &Style) -> String {
    const MARK: &str = "kiln_here;";
    let line = text[..offset].rfind('\n').map_or(0, |found| found + 1);
    let formatted = format(&format!("{}{MARK}\n{}", &text[..line], &text[offset..]), style);
    let found = formatted.find(MARK).unwrap_or(0);
    let start = formatted[..found].rfind('\n').map_or(0, |found| found + 1);
    let before = &formatted[start..found];
    let content = before.trim_start_matches([' ', '\t']);
    before[..before.len() - content.len()].to_owned()
}

/// Whether both have the same tokens, directives and comments, apart from the indentation inside of comments.
pub(crate) fn have_same_tokens(old: &[Token<'_>], new: &[Token<'_>]) -> bool {
    let words = |token: &Token<'_>| token.text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let is_same = |(old, new): (&Token<'_>, &Token<'_>)| {
        old.kind == new.kind && (old.text == new.text || old.text.contains('\n') && words(old) == words(new))
    };
    old.len() == new.len() && old.iter().zip(new).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_make_the_formatted_text() {
        let text = "int  f ( ) {\nreturn 1 ;}\n\n\n// end  ";
        let formatted = format(text, &Style::default());
        let mut made = text.to_owned();
        for edit in edits(text, &formatted).into_iter().rev() {
            made.replace_range(edit.range, &edit.text);
        }
        assert_eq!(made, formatted);
        assert_eq!(made, "int f() {\n    return 1;\n}\n\n// end\n");
    }

    #[test]
    fn a_range_has_the_edits_of_its_lines() {
        let text = "int  a;\nint  b;\nint  c;\n";
        let all = edits(text, &format(text, &Style::default()));
        let found = touching_lines(all, text, 9..10);
        assert_eq!(found, [Edit { range: 11..13, text: " ".to_owned() }]);
    }

    #[test]
    fn a_new_line_is_indented_for_a_statement() {
        let style = Style::default();
        let at = |text: &str| indentation(&text.replace('|', ""), text.find('|').expect("a mark"), &style);
        assert_eq!(at("void f() {\n    if (x) {\n|\n    }\n}\n"), "        ");
        assert_eq!(at("void f() {\n    if (x)\n|\n}\n"), "        ");
        assert_eq!(at("void f() {\n}\n|"), "");
    }
}
