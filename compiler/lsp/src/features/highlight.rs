//! Highlights the occurrences of the entity at the cursor in the same file, and marks writes.

use kiln_frontend::sema::{Meaning, Role};
use lsp_types::{DocumentHighlight, DocumentHighlightKind};

use crate::{
    analysis::Cursor,
    names::{Entity, Name},
};

/// The highlights.
pub(crate) fn highlight(cursor: &Cursor<'_>) -> Vec<DocumentHighlight> {
    let Some(here) = cursor.name() else { return Vec::new() };
    let names = cursor.analysis.names_in(cursor.file).iter().filter(|name| name.entity == here.entity);
    names
        .map(|name| DocumentHighlight {
            range: cursor.range(&name.location.range),
            kind: Some(kind(name, cursor.text())),
        })
        .collect()
}

fn kind(name: &Name, text: &str) -> DocumentHighlightKind {
    let Entity::Program(Meaning::Local(..) | Meaning::Global(_) | Meaning::Member(_)) = name.entity else {
        return DocumentHighlightKind::TEXT;
    };
    let before = text[..name.location.range.start].trim_end();
    let after = text[name.location.range.end..].trim_start();
    let is_stepped = |text: &str, at: fn(&str, &str) -> bool| at(text, "++") || at(text, "--");
    let is_written = name.role == Role::Definition
        || is_stepped(before, |text, step| text.ends_with(step))
        || is_stepped(after, |text, step| text.starts_with(step))
        || is_assigned(after);
    if is_written { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }
}

/// Whether an assignment operator follows.
fn is_assigned(after: &str) -> bool {
    let operators = ["<<", ">>", "+", "-", "*", "/", "%", "&", "|", "^"];
    let rest = operators.iter().find_map(|operator| after.strip_prefix(operator)).unwrap_or(after);
    rest.starts_with('=') && !rest.starts_with("==")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn assignments_are_writes() {
        let fixture =
            Fixture::new("int f(int $0a) {\na = 1;\na <<= 2;\na == 3;\n++a;\na[&b]; return a + a--; }");
        let kinds: Vec<_> = highlight(&fixture.cursor()).into_iter().filter_map(|it| it.kind).collect();
        let (read, write) = (DocumentHighlightKind::READ, DocumentHighlightKind::WRITE);
        assert_eq!(kinds, [write, write, write, read, write, read, read, write]);
    }
}
