//! Formatting of documents, of ranges, and while typing.

use std::ops::Range;

use kiln_fmt::{Edit, Style, edits, find, format, indentation, touching_lines};

use crate::{
    client_state::ClientState,
    lexical::{Piece, pieces},
    uri,
};

/// The style of a document: that of the nearest `.clang-format`.
pub(crate) fn style(client_state: &ClientState, name: &str) -> Style {
    if !uri::is_path(name) {
        return Style::default();
    }
    let folders = std::iter::successors(Some(name), |path| path.rsplit_once('/').map(|(folder, _)| folder));
    let read = |path: &str| Some(String::from_utf8_lossy(&client_state.read(path)?).into_owned());
    find(folders.skip(1), &read).style
}

/// The edits for a document.
pub(crate) fn format_document(text: &str, style: &Style) -> Vec<Edit> {
    edits(text, &format(text, style))
}

/// The edits for the lines of a range.
pub(crate) fn range(text: &str, range: Range<usize>, style: &Style) -> Vec<Edit> {
    touching_lines(format_document(text, style), text, range)
}

/// The edits after a typed character: `;` formats its line, `}` its block, and a line break the previous line and the
/// indentation of the new one.
pub(crate) fn on_type(text: &str, offset: usize, typed: &str, style: &Style) -> Vec<Edit> {
    match typed {
        "}" => range(text, block(text, offset)..offset, style),
        ";" => range(text, offset..offset, style),
        "\n" => new_line(text, offset, style),
        _ => Vec::new(),
    }
}

/// The start of the block that ends at an offset.
fn block(text: &str, end: usize) -> usize {
    let mut open = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Open(range) => open.push(range.start),
            Piece::Close(range) => {
                let start = open.pop();
                if range.end >= end {
                    return start.unwrap_or(range.start).min(end);
                }
            }
            Piece::Comment(_) | Piece::Directive(_) => {}
        }
    }
    end
}

fn new_line(text: &str, offset: usize, style: &Style) -> Vec<Edit> {
    if style.disabled {
        return Vec::new();
    }
    let start = text[..offset].rfind('\n').map_or(0, |found| found + 1);
    let rest = &text[start..];
    let line = rest.split('\n').next().unwrap_or_default();
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    let mut found = format_document(text, style);
    if !line.trim().is_empty() {
        // The white space before the code that has moved to the new line.
        let indent = start..start + blank;
        found.retain(|edit| edit.range.end == indent.end && edit.text.contains('\n'));
        let last = |edit: Edit| edit.text.rsplit('\n').next().unwrap_or_default().to_owned();
        return found.pop().map(|edit| Edit { range: indent, text: last(edit) }).into_iter().collect();
    }
    // Edit only within the previous line: the code may be incomplete, so no line breaks are added or removed.
    let before = text[..start.saturating_sub(1)].rfind('\n').map_or(0, |found| found + 1);
    found.retain(|edit| {
        edit.range.start > before && edit.range.end < start.saturating_sub(1) && !edit.text.contains('\n')
    });
    let wanted = indentation(text, start + blank, style);
    if line[..blank] != wanted {
        found.push(Edit { range: start..start + blank, text: wanted });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    /// Applies the edits at the mark `$0`.
    fn typed(text: &str, typed: &str) -> String {
        let offset = text.find("$0").expect("a mark");
        let mut text = text.replace("$0", "");
        for edit in on_type(&text.clone(), offset, typed, &Style::default()).into_iter().rev() {
            text.replace_range(edit.range, &edit.text);
        }
        text
    }

    #[test]
    fn a_semicolon_formats_its_line() {
        assert_eq!(
            typed("void f() {\n  int  a ;\n int  b=1;$0\n}\n", ";"),
            "void f() {\n  int  a ;\n    int b = 1;\n}\n"
        );
    }

    #[test]
    fn a_brace_formats_its_block() {
        assert_eq!(
            typed("int  a;\nvoid f() {\nif(a) {\n b=1;\n}$0\n}\n", "}"),
            "int  a;\nvoid f() {\n    if (a) {\n        b = 1;\n    }\n}\n"
        );
    }

    #[test]
    fn a_new_line_is_indented() {
        assert_eq!(typed("void f() {\n$0\n}\n", "\n"), "void f() {\n    \n}\n");
        assert_eq!(typed("void f() {\n    if(x)\n$0\n}\n", "\n"), "void f() {\n    if (x)\n        \n}\n");
        assert_eq!(typed("void f() {\n$0return;\n}\n", "\n"), "void f() {\n    return;\n}\n");
    }

    #[test]
    fn the_style_is_read_from_the_folder() {
        let fixture =
            Fixture::new("//- /a/b.cl\nint a;\n//- /a/.clang-format\nBasedOnStyle: Google\nIndentWidth: 3\n");
        assert_eq!(style(&fixture.client_state, "/a/b.cl").indent_width, 3);
        assert_eq!(style(&fixture.client_state, "/b.cl"), Style::default());
    }
}
