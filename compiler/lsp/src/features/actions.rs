//! Code actions: the fixes of the compiler's diagnostics, one at a time or all at once, and refactorings.

use std::{collections::HashMap, ops::Range};

use kiln_session::{
    diag::{Diagnostic, Edit, compatible_edits},
    source::FileId,
};
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, TextEdit, Uri, WorkspaceEdit};

use crate::{analysis::Analysis, diagnostics, features::refactor, uri};

/// The kind of the action that applies all fixes.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::SOURCE_FIX_ALL;

/// The actions for a range of a file, restricted to the requested kinds, if any.
pub(crate) fn actions(
    analysis: &Analysis,
    file: FileId,
    range: &Range<usize>,
    wanted: Option<&[CodeActionKind]>,
) -> Vec<CodeActionOrCommand> {
    let is_wanted = |kind: &CodeActionKind| is_wanted(wanted, kind);
    let mut actions = Vec::new();
    if is_wanted(&CodeActionKind::QUICKFIX) {
        actions.extend(quick_fixes(analysis, file, range));
    }
    if is_wanted(&FIX_ALL) {
        actions.extend(fix_all(analysis, file));
    }
    actions.extend(refactor::refactorings(analysis, file, range, wanted));
    actions.into_iter().map(CodeActionOrCommand::CodeAction).collect()
}

/// Whether actions of a kind are requested.
pub(crate) fn is_wanted(wanted: Option<&[CodeActionKind]>, kind: &CodeActionKind) -> bool {
    wanted.is_none_or(|wanted| wanted.iter().any(|it| contains(it, kind)))
}

/// Whether a kind of action equals or contains the other: `source` contains `source.fixAll`.
fn contains(whole: &CodeActionKind, part: &CodeActionKind) -> bool {
    let rest = part.as_str().strip_prefix(whole.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || whole.as_str().is_empty())
}

fn quick_fixes(analysis: &Analysis, file: FileId, range: &Range<usize>) -> Vec<CodeAction> {
    let here = analysis.survey.diagnostics.iter().filter_map(|diagnostic| {
        let location = analysis.in_file(file, diagnostic.span)?;
        let touches = location.start <= range.end && range.start <= location.end;
        let fix = diagnostic.fix.as_ref().filter(|_| touches)?;
        let (uri, edit) = text_edit(analysis, fix.edit(&analysis.survey.sources)?)?;
        Some((diagnostic, fix, uri, edit, analysis.range(file, &location)))
    });
    let mut actions: Vec<CodeAction> = here
        .map(|(diagnostic, fix, uri, edit, range)| CodeAction {
            title: title(&fix.title),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostics::convert(analysis, diagnostic, range)]),
            edit: Some(workspace_edit(vec![(uri, edit)])),
            ..CodeAction::default()
        })
        .collect();
    if let [only] = actions.as_mut_slice() {
        only.is_preferred = Some(true);
    }
    actions
}

/// All fixes of the file that do not overlap with an earlier one.
fn fix_all(analysis: &Analysis, file: FileId) -> Option<CodeAction> {
    let is_here = |diagnostic: &&Diagnostic| {
        diagnostic.fix.as_ref().is_some_and(|fix| analysis.in_file(file, fix.span).is_some())
    };
    let here = analysis.survey.diagnostics.iter().filter(is_here);
    let edits: Vec<(Uri, TextEdit)> = compatible_edits(here, &analysis.survey.sources)
        .into_iter()
        .filter_map(|(_, edit)| text_edit(analysis, edit))
        .collect();
    (edits.len() > 1).then(|| CodeAction {
        title: format!("Fix all {} problems with a single fix", edits.len()),
        kind: Some(FIX_ALL),
        edit: Some(workspace_edit(edits)),
        ..CodeAction::default()
    })
}

/// An edit of one of the user's files. It can change a macro definition.
fn text_edit(analysis: &Analysis, Edit { location, text }: Edit) -> Option<(Uri, TextEdit)> {
    let uri = uri::uri(analysis.file_name(location.file)?)?;
    Some((uri, TextEdit { range: analysis.range(location.file, &location.range), new_text: text }))
}

/// Groups edits by file, as the protocol requires.
pub(crate) fn workspace_edit(edits: Vec<(Uri, TextEdit)>) -> WorkspaceEdit {
    #[allow(clippy::mutable_key_type, reason = "the protocol's types have it so, and nothing changes a key")]
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (uri, edit) in edits {
        changes.entry(uri).or_default().push(edit);
    }
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

/// Capitalizes a title for a menu.
fn title(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn titles(text: &str, wanted: Option<&[CodeActionKind]>) -> Vec<String> {
        let fixture = Fixture::new(text);
        let cursor = fixture.cursor();
        let here = cursor.offset..cursor.offset;
        let actions = actions(&fixture.analysis, cursor.file, &here, wanted);
        let titles = actions.into_iter().map(|action| match action {
            CodeActionOrCommand::CodeAction(action) => action.title,
            CodeActionOrCommand::Command(command) => command.title,
        });
        titles.collect()
    }

    #[test]
    fn a_fix_where_the_cursor_is() {
        assert_eq!(titles("int f(int value) { return $0valeu; }", None), ["Replace with `value`"]);
        assert!(titles("$0int f(int value) { return valeu; }", None).is_empty());
    }

    #[test]
    fn all_fixes_at_once() {
        let text = "$0int f(int value) { return valeu; }\nint g(int value) { return valeu; }";
        let wanted = [CodeActionKind::SOURCE];
        assert_eq!(titles(text, Some(&wanted)), ["Fix all 2 problems with a single fix"]);
        assert!(titles(text, Some(&[CodeActionKind::REFACTOR])).is_empty());
    }
}
