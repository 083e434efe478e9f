//! Refactorings: changes of correct code that keep its meaning. Each is a file.

mod address_space;
mod explicit;
mod extract;
mod inline;
mod narrow;
mod variable;

use std::ops::Range;

use kiln_session::source::FileId;
use lsp_types::{CodeAction, CodeActionKind, TextEdit};

use crate::{
    analysis::Analysis,
    features::actions::{is_wanted, workspace_edit},
    uri,
};

/// The range of a file that a request selects.
pub(crate) struct Selection<'a> {
    analysis: &'a Analysis,
    file: FileId,
    range: Range<usize>,
}

/// A change of the file, with its title.
struct Change {
    title: String,
    kind: CodeActionKind,
    edits: Vec<(Range<usize>, String)>,
}

type Refactoring = fn(&Selection<'_>) -> Option<Change>;

const ALL: [Refactoring; 6] = [
    explicit::explicit,
    narrow::narrow,
    address_space::add,
    inline::inline,
    extract::extract,
    variable::extract,
];

/// The refactorings for a range of a file, restricted to the requested kinds, if any.
pub(crate) fn refactorings(
    analysis: &Analysis,
    file: FileId,
    range: &Range<usize>,
    wanted: Option<&[CodeActionKind]>,
) -> Vec<CodeAction> {
    let selection = Selection { analysis, file, range: range.clone() };
    let Some(uri) = analysis.file_name(file).and_then(uri::uri) else { return Vec::new() };
    let changes = ALL.iter().filter_map(|refactoring| refactoring(&selection));
    let actions = changes.filter(|change| is_wanted(wanted, &change.kind)).map(|change| {
        let edits = change.edits.into_iter().map(|(range, new_text)| {
            (uri.clone(), TextEdit { range: analysis.range(file, &range), new_text })
        });
        CodeAction {
            title: change.title,
            kind: Some(change.kind),
            edit: Some(workspace_edit(edits.collect())),
            ..CodeAction::default()
        }
    });
    actions.collect()
}

impl Selection<'_> {
    fn text(&self) -> &str {
        self.analysis.text(self.file)
    }

    fn unexpanded_range(&self, span: kiln_syntax::Span) -> Option<Range<usize>> {
        self.analysis.unexpanded_range(self.file, span)
    }

    /// Whether the selection is inside of a range, or touches it.
    fn is_in(&self, range: &Range<usize>) -> bool {
        range.start <= self.range.start && self.range.end <= range.end
    }

    /// Whether the selection is inside of a call, from its name to its last argument, or of a statement that is the call.
    fn is_in_call(&self, name: &Range<usize>, last: &Range<usize>) -> bool {
        let rest = &self.text()[last.end..];
        let end = rest.find(')').map_or(last.end, |at| last.end + at + 1);
        let end = if self.text()[end..].starts_with(';') { end + 1 } else { end };
        self.is_in(&(name.start..end))
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::fixture::Fixture;

    /// Applies the refactoring whose title contains a text, at the mark `$0`, or to the range from `$0` to `$1`.
    pub(super) fn apply(text: &str, title: &str) -> Option<String> {
        let end = text.replace("$0", "").find("$1");
        let fixture = Fixture::new(&text.replace("$1", ""));
        let cursor = fixture.cursor();
        let range = cursor.offset..end.unwrap_or(cursor.offset);
        let selection = Selection { analysis: cursor.analysis, file: cursor.file, range };
        let change = ALL
            .iter()
            .filter_map(|refactoring| refactoring(&selection))
            .find(|it| it.title.contains(title))?;
        let mut text = cursor.text().to_owned();
        let mut edits = change.edits;
        edits.sort_by_key(|(range, _)| range.start);
        for (range, new) in edits.into_iter().rev() {
            text.replace_range(range, &new);
        }
        // What compiled before compiles after.
        let errors = |fixture: &Fixture| {
            let all = fixture.analysis.survey.diagnostics.iter();
            all.filter(|it| it.severity == kiln_session::diag::Severity::Error).count()
        };
        assert_eq!(errors(&fixture), 0, "{text}");
        assert_eq!(errors(&Fixture::new(&text)), 0, "{text}");
        Some(text)
    }
}
