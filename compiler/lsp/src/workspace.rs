//! Features that need several sources: references, renaming and symbols in all files of the workspace folders.
//!
//! Sources that are not open are analyzed on demand, and their analyses are not kept.

use std::{collections::BTreeSet, path::Path};

use lsp_types::{
    DocumentSymbol, Location, SymbolInformation, TextDocumentPositionParams, Uri, WorkspaceEdit,
};

use crate::{
    analysis::Analysis,
    client_state::ClientState,
    features::{actions, references, rename, symbols},
    requests::at_position,
    session::{Session, is_header, is_source},
    uri,
};

/// Limits on the number of files and the depth of folders to search.
const MAX_FILES: usize = 2000;
const DEEPEST: usize = 12;

/// The sources of the workspace folders, and the open ones.
pub(crate) fn sources(session: &Session) -> BTreeSet<String> {
    let mut found = session.roots();
    for folder in session.client_state.folders.iter() {
        collect(Path::new(folder), DEEPEST, &mut found);
    }
    found
}

fn collect(folder: &Path, depth: usize, found: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if found.len() >= MAX_FILES || name.starts_with('.') || name == "target" || name == "node_modules" {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), depth - 1, found);
        } else if kind.is_file() && is_source(&name) {
            found.insert(uri::name_of_path(&entry.path()));
        }
    }
}

/// A source on disk that includes this header, searched in the header's folder and its parents within the workspace.
pub(crate) fn including(client_state: &ClientState, header: &str) -> Option<String> {
    let file = header.rsplit('/').next()?;
    let mut folder = header;
    for _ in 0..DEEPEST {
        folder = folder.rsplit_once('/')?.0;
        for (name, is_folder) in client_state.list(folder) {
            let source = format!("{folder}/{name}");
            let is_candidate = !is_folder && is_source(&name);
            let text = if is_candidate { client_state.read(&source) } else { None };
            if text.is_some_and(|text| String::from_utf8_lossy(&text).contains(file))
                && Analysis::new(client_state, &source).is_some_and(|analysis| analysis.reads(header))
            {
                return Some(source);
            }
        }
        if !client_state.folders.iter().any(|root| folder.starts_with(root.as_str()) && folder != root) {
            return None;
        }
    }
    None
}

/// Visits each source that contains a text or includes a file.
fn visit_sources(session: &mut Session, text: &str, visit: &mut dyn FnMut(&Analysis)) {
    let open = session.roots();
    for name in sources(session) {
        if open.contains(&name) {
            if let Some((_, analysis)) = session.analysis(&name) {
                visit(analysis);
            }
            continue;
        }
        let Some(bytes) = session.client_state.read(&name) else { continue };
        let source = String::from_utf8_lossy(&bytes);
        if (source.contains(text) || source.contains("include"))
            && let Some(analysis) = Analysis::new(&session.client_state, &name)
        {
            visit(&analysis);
        }
    }
}

/// Every location of an entity.
pub(crate) fn references(
    session: &mut Session,
    key: &references::Key,
    with_declarations: bool,
) -> Vec<Location> {
    let mut all: Vec<Location> = Vec::new();
    visit_entity(session, key, &mut |analysis, entity| {
        for location in references::locations(analysis, entity, with_declarations) {
            if !all.contains(&location) {
                all.push(location);
            }
        }
    });
    all
}

/// Visits the sources that contain the declaration of an entity. Only a header can be part of several sources.
pub(crate) fn visit_entity(
    session: &mut Session,
    key: &references::Key,
    visit: &mut dyn FnMut(&Analysis, crate::names::Entity),
) {
    if is_header(&key.file) {
        visit_sources(session, &key.text, &mut |analysis| {
            if let Some(entity) = references::entity(analysis, key) {
                visit(analysis, entity);
            }
        });
    } else if let Some((_, analysis)) = session.analysis(&key.file)
        && let Some(entity) = references::entity(analysis, key)
    {
        visit(analysis, entity);
    }
}

/// Renames the entity at a position. The error is a message for the user.
pub(crate) fn rename(
    session: &mut Session,
    position: &TextDocumentPositionParams,
    new: &str,
) -> Result<WorkspaceEdit, String> {
    let (_, old) = at_position(session, position, rename::prepare).ok_or("there is no such document")??;
    let key = at_position(session, position, references::key).flatten().ok_or("it has no declaration")?;
    let mut edits = rename::Edits::new();
    let mut rejected = None;
    visit_entity(session, &key, &mut |analysis, entity| {
        rejected = rejected.take().or_else(|| rename::rejection(analysis, entity, &old, new));
        rename::edits(analysis, entity, new, &mut edits);
    });
    match rejected {
        Some(why) => Err(why),
        None => Ok(actions::workspace_edit(edits)),
    }
}

/// The symbols of all sources and headers whose names contain the letters of the query in order.
pub(crate) fn symbols(session: &mut Session, query: &str) -> Vec<SymbolInformation> {
    let query = query.to_lowercase();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    visit_sources(session, "", &mut |analysis| {
        let names: BTreeSet<&str> = analysis.file_names().collect();
        for name in names {
            if seen.insert(name.to_owned())
                && let (Some(file), Some(uri)) = (analysis.file(name), uri::uri(name))
            {
                flatten(symbols::symbols(analysis, file), &uri, None, &query, &mut found);
            }
        }
    });
    found
}

fn flatten(
    symbols: Vec<DocumentSymbol>,
    uri: &Uri,
    container: Option<&str>,
    query: &str,
    found: &mut Vec<SymbolInformation>,
) {
    for symbol in symbols {
        let inside = symbol.children.unwrap_or_default();
        flatten(inside, uri, Some(&symbol.name), query, found);
        if !has_letters(&symbol.name, query) {
            continue;
        }
        #[allow(deprecated, reason = "the structure has a deprecated field")]
        found.push(SymbolInformation {
            name: symbol.name,
            kind: symbol.kind,
            tags: None,
            deprecated: None,
            location: Location { uri: uri.clone(), range: symbol.selection_range },
            container_name: container.map(str::to_owned),
        });
    }
}

/// Whether a name contains these letters in order.
fn has_letters(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contain_the_letters_in_order() {
        assert!(has_letters("reduceLocal", "rl"));
        assert!(has_letters("x", ""));
        assert!(!has_letters("local", "loo"));
    }
}
