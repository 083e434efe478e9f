//! Suggested edits of the source. A stage describes an edit by spans; the source map provides the text.

use kiln_syntax::Span;

use super::Diagnostic;
use crate::source::{FileRange, SourceMap};

/// A suggested edit of the source.
#[derive(Clone, Debug)]
pub struct Fix {
    /// A description of the edit, for an editor's menu.
    pub title: String,
    /// The span of the text that changes.
    pub span: Span,
    /// The change.
    pub change: Change,
}

/// What changes at the span of a fix.
#[derive(Clone, Debug)]
pub enum Change {
    /// Replaces it with this text. In a macro, edits the definition.
    Replace(String),
    /// Replaces an expression with these pieces. Produces no edit for an expression from a part of a macro, because the
    /// edit would change other uses of the macro.
    Rewrite(Vec<OwnedPiece>),
    /// Removes it, with the blanks after it.
    Remove,
    /// Inserts this line before its line.
    LineBefore(String),
    /// Inserts this line at the start of its file.
    FirstLine(String),
}

/// A piece of a new text.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// This text.
    Text(&'a str),
    /// The source's text of an expression.
    Source(Span),
    /// The source's text of an expression, in parentheses if it can be more than one operand.
    Operand(Span),
    /// The address of an object: `&` with the source's text, or, for `*p`, the pointer.
    Address(Span),
}

/// A piece that owns its text.
#[derive(Clone, Debug)]
pub enum OwnedPiece {
    /// See [`Piece::Text`].
    Text(String),
    /// See [`Piece::Source`].
    Source(Span),
    /// See [`Piece::Operand`].
    Operand(Span),
    /// See [`Piece::Address`].
    Address(Span),
}

impl From<Piece<'_>> for OwnedPiece {
    fn from(piece: Piece<'_>) -> Self {
        match piece {
            Piece::Text(text) => Self::Text(text.to_owned()),
            Piece::Source(span) => Self::Source(span),
            Piece::Operand(span) => Self::Operand(span),
            Piece::Address(span) => Self::Address(span),
        }
    }
}

/// A fix, resolved to an edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The text to replace.
    pub location: FileRange,
    /// The new text.
    pub text: String,
}

impl Fix {
    /// Replaces the text of a span with another one.
    pub fn replacement(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { title: format!("replace with `{text}`"), span, change: Change::Replace(text) }
    }

    /// The edit of a file. `None` if the text is not in one file.
    pub fn edit(&self, map: &SourceMap) -> Option<Edit> {
        match &self.change {
            Change::Replace(text) => Some(Edit { location: map.spelling(self.span)?, text: text.clone() }),
            Change::Rewrite(pieces) => {
                let text: Option<String> = pieces.iter().map(|piece| piece.text(map)).collect();
                Some(Edit { location: map.whole(self.span)?, text: text? })
            }
            Change::Remove => {
                let mut location = map.spelling(self.span)?;
                let behind = &map.file(location.file).text[location.range.end..];
                location.range.end += behind.len() - behind.trim_start_matches([' ', '\t']).len();
                Some(Edit { location, text: String::new() })
            }
            Change::LineBefore(line) => {
                let FileRange { file, range } = map.spelling(self.span)?;
                let start = map.line_range(file, map.position(file, range.start).line).start;
                Some(Edit { location: FileRange { file, range: start..start }, text: format!("{line}\n") })
            }
            Change::FirstLine(line) => {
                let file = map.resolve(self.span)?.file;
                Some(Edit { location: FileRange { file, range: 0..0 }, text: format!("{line}\n") })
            }
        }
    }
}

/// The edits of diagnostics with a fix, without those that overlap an earlier one.
pub fn compatible_edits<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    map: &SourceMap,
) -> Vec<(&'d Diagnostic, Edit)> {
    let mut edits: Vec<(&Diagnostic, Edit)> = Vec::new();
    for diagnostic in diagnostics {
        let Some(edit) = diagnostic.fix.as_ref().and_then(|fix| fix.edit(map)) else { continue };
        if !edits.iter().any(|(_, other)| edit.overlaps(other)) {
            edits.push((diagnostic, edit));
        }
    }
    edits
}

impl Edit {
    fn overlaps(&self, other: &Self) -> bool {
        let (own, others) = (&self.location.range, &other.location.range);
        let conflicts = own.start < others.end && others.start < own.end;
        self.location.file == other.location.file && (conflicts || own == others)
    }
}

impl OwnedPiece {
    fn text(&self, map: &SourceMap) -> Option<String> {
        let source = |span: Span| Some(map.text(&map.whole(span)?));
        Some(match self {
            Self::Text(text) => text.clone(),
            Self::Source(span) => source(*span)?.to_owned(),
            Self::Operand(span) => match source(*span)? {
                text if is_operand(text) => text.to_owned(),
                text => format!("({text})"),
            },
            Self::Address(span) => match source(*span)? {
                text if text.strip_prefix('*').is_some_and(is_operand) => text[1..].to_owned(),
                text => format!("&{text}"),
            },
        })
    }
}

/// Whether a text is an operand without operators: a name, a constant, a call, an element, a member, or in parentheses.
fn is_operand(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().all(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => return depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '.'),
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileKind;

    /// The source after a fix of the text between the marks.
    fn fixed(text: &str, change: impl Fn(Span) -> Change) -> String {
        let (start, end) = (text.find('«').unwrap(), text.find('»').unwrap() - '«'.len_utf8());
        let mut text = text.replace(['«', '»'], "");
        let mut map = SourceMap::default();
        let file = map.add_file("a.cl", text.clone(), FileKind::User, None).unwrap();
        let span = map.span(file, start..end);
        let edit = Fix { title: String::new(), span, change: change(span) }.edit(&map).unwrap();
        text.replace_range(edit.location.range, &edit.text);
        text
    }

    #[test]
    fn changes_become_edits() {
        let cast = |span| Change::Rewrite(vec![OwnedPiece::Text("(int)".into()), OwnedPiece::Operand(span)]);
        assert_eq!(fixed("x = «3.7f»;", cast), "x = (int)3.7f;");
        assert_eq!(fixed("x = «a + b»;", cast), "x = (int)(a + b);");
        assert_eq!(fixed("x = «(a + b)»;", cast), "x = (int)(a + b);");
        assert_eq!(fixed("x = «(a) + (b)»;", cast), "x = (int)((a) + (b));");
        assert_eq!(fixed("x = «f(a, b)[1].x»;", cast), "x = (int)f(a, b)[1].x;");
        let address = |span| Change::Rewrite(vec![OwnedPiece::Address(span)]);
        assert_eq!(fixed("«*p»", address), "p");
        assert_eq!(fixed("«p[1]»", address), "&p[1]");
        assert_eq!(fixed("long «long»  x;", |_| Change::Remove), "long x;");
        assert_eq!(fixed("a\n  #«b»", |_| Change::LineBefore("#undef b".into())), "a\n#undef b\n  #b");
        assert_eq!(fixed("a\n«b»", |_| Change::FirstLine("c".into())), "c\na\nb");
    }
}
