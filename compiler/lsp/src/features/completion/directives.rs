//! Completes directives: their names, files, extensions, macros.

use std::ops::Range;

use kiln_session::extensions::Extension;
use lsp_types::{CompletionItem, CompletionItemKind};

use super::{Letters, items};
use crate::{analysis::Cursor, configuration, lexical, uri};

const WORDS: [&str; 13] = [
    "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "line", "error",
    "warning", "pragma",
];

/// The items for the cursor in this directive.
pub(super) fn complete(cursor: &Cursor<'_>, directive: Range<usize>) -> Vec<CompletionItem> {
    let text = &cursor.text()[directive.start..cursor.offset];
    let word = lexical::directive_word(text);
    if text.trim_start_matches(['#', ' ', '\t']) == word {
        return WORDS.iter().map(|word| item(word, CompletionItemKind::KEYWORD)).collect();
    }
    match word {
        "include" => files(cursor, text),
        "pragma" => pragma(text),
        "ifdef" | "ifndef" | "undef" | "if" | "elif" => macros(cursor),
        "define" => {
            let mut items = items::complete(cursor, cursor.offset, &Letters::default()).items;
            items.extend(macros(cursor));
            items
        }
        _ => Vec::new(),
    }
}

fn item(label: &str, kind: CompletionItemKind) -> CompletionItem {
    CompletionItem { label: label.to_owned(), kind: Some(kind), ..CompletionItem::default() }
}

/// Macros of the program, and those of extensions and features.
fn macros(cursor: &Cursor<'_>) -> Vec<CompletionItem> {
    let mut items = items::macros(cursor, &Letters::default());
    let extensions =
        Extension::ALL.iter().map(|extension| item(extension.name(), CompletionItemKind::CONSTANT));
    items.extend(extensions);
    items.push(item("defined", CompletionItemKind::KEYWORD));
    items.push(item("__OPENCL_C_VERSION__", CompletionItemKind::CONSTANT));
    items
}

/// Folders and headers on the directive's search path.
fn files(cursor: &Cursor<'_>, directive: &str) -> Vec<CompletionItem> {
    let Some(open) = directive.find(['"', '<']) else { return Vec::new() };
    let typed = &directive[open + 1..];
    let below = typed.rfind('/').map_or("", |at| &typed[..at + 1]);
    let Some(name) = cursor.analysis.file_name(cursor.file) else { return Vec::new() };
    let mut folders = configuration::options(cursor.client_state, name, cursor.text()).include_dirs;
    if directive[open..].starts_with('"') {
        folders.insert(0, name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned());
    }
    let mut items: Vec<CompletionItem> = Vec::new();
    for folder in folders {
        for (found, is_folder) in cursor.client_state.list(&uri::normal(&format!("{folder}/{below}"))) {
            let is_relevant =
                is_folder || crate::session::is_header(&found) || crate::session::is_source(&found);
            if is_relevant && !items.iter().any(|item| item.label == found) {
                let kind = if is_folder { CompletionItemKind::FOLDER } else { CompletionItemKind::FILE };
                items.push(item(&found, kind));
            }
        }
    }
    items
}

/// `#pragma OPENCL EXTENSION name : enable` and the other pragmas (OpenCL C 6.12.1).
fn pragma(directive: &str) -> Vec<CompletionItem> {
    let words: Vec<&str> = directive.split_whitespace().skip(1).collect();
    let is_extension = words.first() == Some(&"OPENCL") && words.get(1) == Some(&"EXTENSION");
    if is_extension && directive.contains(':') {
        return ["enable", "disable"].map(|word| item(word, CompletionItemKind::KEYWORD)).to_vec();
    }
    if is_extension {
        let extensions = Extension::ALL.iter().filter(|extension| !extension.is_feature());
        let mut items: Vec<_> =
            extensions.map(|extension| item(extension.name(), CompletionItemKind::CONSTANT)).collect();
        items.push(item("all", CompletionItemKind::KEYWORD));
        return items;
    }
    ["OPENCL EXTENSION", "OPENCL FP_CONTRACT ON", "OPENCL FP_CONTRACT OFF", "once", "unroll"]
        .map(|text| item(text, CompletionItemKind::KEYWORD))
        .to_vec()
}
