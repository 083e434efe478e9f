//! Writes logical lines as text: indentation, empty lines, line breaks, trailing comments.

use crate::{
    Text,
    lines::{Line, LineKind, Owner},
    style::Tabs,
    token::{Kind, Token},
    wrap::{Tokens, widths, wrap},
};

/// A line of the output. Block comments and directives can have line ends inside.
#[derive(Debug, Default)]
struct Row {
    text: String,
    /// The number of columns of indentation with tabs, if the style has them.
    indent: usize,
    /// The number of empty lines before it.
    empty: usize,
    comment: Option<Comment>,
}

/// A trailing comment, or one on its own line below a trailing comment with which it is aligned.
#[derive(Debug)]
struct Comment {
    text: String,
    /// The column in the source.
    column: usize,
}

struct Renderer<'r, 'l, 't> {
    text: &'r Text<'l, 't>,
    rows: Vec<Row>,
}

/// Writes the lines of a text.
pub(crate) fn render(text: &Text<'_, '_>, lines: &[Line]) -> String {
    let mut renderer = Renderer { text, rows: Vec::new() };
    for (index, line) in lines.iter().enumerate() {
        renderer.line(line, index.checked_sub(1).map(|before| &lines[before]));
    }
    renderer.finish()
}

impl Renderer<'_, '_, '_> {
    fn line(&mut self, line: &Line, before: Option<&Line>) {
        let empty = self.empty_lines(line, before);
        let tokens = &self.text.tokens[line.tokens.clone()];
        let (roles, spaces) = self.text.annotate(line.tokens.clone());
        let indent = line.indent * self.text.style.indent_width;
        if line.kind == LineKind::Comment && self.continues_comment(&tokens[0], empty) {
            let comment = Comment { text: tokens[0].text.replace("\r\n", "\n"), column: tokens[0].column };
            self.rows.push(Row { comment: Some(comment), ..Row::default() });
            return;
        }
        let layout = Tokens {
            line: tokens,
            roles: &roles,
            spaces: &spaces,
            start: if tokens[0].is_raw() { 0 } else { indent },
            is_joined: line.is_joined,
        };
        let starts = wrap(&layout, self.text.style);
        self.rows.push(Row { empty, indent, text: " ".repeat(layout.start), ..Row::default() });
        for (index, token) in tokens.iter().enumerate() {
            if let Some(start) = starts[index] {
                self.rows.push(Row { indent, text: " ".repeat(start), ..Row::default() });
            }
            let row = self.rows.last_mut().expect("there is one");
            let is_start = index == 0 || starts[index].is_some();
            if token.kind == Kind::LineComment && !is_start {
                row.comment = Some(Comment { text: token.text.to_owned(), column: token.column });
                continue;
            }
            if spaces[index] && !is_start {
                row.text.push(' ');
            }
            let at = widths(&row.text).1;
            let text = if token.kind == Kind::BlockComment {
                token.shifted(at, self.text.style.tab_width)
            } else {
                token.text.replace("\r\n", "\n")
            };
            row.text.push_str(&text);
        }
    }

    fn empty_lines(&self, line: &Line, before: Option<&Line>) -> usize {
        let Some(before) = before else { return 0 };
        let style = self.text.style;
        let first = &self.text.tokens[line.tokens.start];
        let is_dropped = match before.kind {
            LineKind::Opens(_) => !style.empty_lines_in_blocks,
            LineKind::Head(owner) => owner != Owner::Case,
            LineKind::Wrapped(_) => true,
            _ => false,
        };
        if is_dropped || line.kind == LineKind::Closes && line.is_nested_end() {
            return 0;
        }
        first.newlines.saturating_sub(1).min(style.empty_lines)
    }

    /// Whether a comment on its own line belongs to the trailing comment above it.
    fn continues_comment(&self, token: &Token<'_>, empty: usize) -> bool {
        let above = self.rows.last().and_then(|row| row.comment.as_ref());
        token.kind == Kind::LineComment
            && empty == 0
            && above.is_some_and(|above| above.column == token.column)
    }

    /// Aligns the trailing comments of consecutive rows, and puts the rows together.
    fn finish(mut self) -> String {
        let style = self.text.style;
        let mut at = 0;
        let mut columns: Vec<usize> = vec![0; self.rows.len()];
        while at < self.rows.len() {
            let group = self.rows[at..]
                .iter()
                .enumerate()
                .take_while(|(index, row)| row.comment.is_some() && (*index == 0 || row.empty == 0));
            let end = at + group.count();
            let natural = |row: &Row| widths(&row.text).1 + style.before_comment;
            let rows = &self.rows[at..end];
            let aligned = rows.iter().filter(|row| !row.text.is_empty()).map(natural).max().unwrap_or(0);
            let width = rows.iter().filter_map(|row| row.comment.as_ref()).map(|it| widths(&it.text).0).max();
            let fits = style.column_limit == 0 || aligned + width.unwrap_or(0) <= style.column_limit;
            let mut above = 0;
            for (row, column) in rows.iter().zip(&mut columns[at..end]) {
                *column = match () {
                    () if fits && style.align_comments => aligned,
                    () if row.text.is_empty() => above,
                    () => natural(row),
                };
                above = *column;
            }
            at = end.max(at + 1);
        }
        let mut out = String::new();
        for (row, column) in self.rows.drain(..).zip(columns) {
            out.push_str(&"\n".repeat(row.empty));
            let mut text = row.text;
            if let Some(comment) = row.comment {
                let width = widths(&text).1;
                text.push_str(&" ".repeat(column.saturating_sub(width)));
                text.push_str(&comment.text);
            }
            out.push_str(&with_tabs(&text, row.indent, style.tabs, style.tab_width));
            out.push('\n');
        }
        out
    }
}

impl Line {
    /// Whether the line starts with a closing brace. Joined lines end with one.
    fn is_nested_end(&self) -> bool {
        !self.is_joined
    }
}

/// A row with tabs for its indentation.
fn with_tabs(row: &str, indent: usize, tabs: Tabs, tab_width: usize) -> String {
    let content = row.trim_start_matches(' ');
    let spaces = row.len() - content.len();
    let replaced = match tabs {
        Tabs::Never => 0,
        Tabs::Always => spaces,
        Tabs::ForIndentation => indent.min(spaces),
    };
    let count = replaced / tab_width.max(1);
    if count == 0 || content.is_empty() {
        return row.to_owned();
    }
    "\t".repeat(count) + &" ".repeat(spaces - count * tab_width) + content
}
