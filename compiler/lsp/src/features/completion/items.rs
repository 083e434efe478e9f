//! Completes names in scope and keywords, closest scope first.

use std::{fmt::Write as _, ops::Range};

use kiln_builtins as builtins;
use kiln_frontend::sema::{Meaning, Role};
use kiln_session::source::FileRange;
use kiln_syntax::token::Keyword;
use kiln_types::ty;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, Documentation, InsertTextFormat, MarkupContent,
    MarkupKind,
};
use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::{
    analysis::{Analysis, Cursor},
    documentation,
    features::{hover, signature},
    names::{Entity, is_word},
};

use super::Letters;

/// The prefix of the sort text by scope. Items without a sort text are sorted by their label, so names of the language
/// come after those of the program.
const LOCAL: Option<&str> = Some("1");
const PROGRAM: Option<&str> = Some("2");
const LANGUAGE: Option<&str> = None;

/// The maximum number of names of the program to offer before a letter is typed. A large program has thousands.
const NEAREST: usize = 200;

/// The names that are valid at the cursor, whose word starts at `start`, and that contain its letters. Without letters,
/// only the nearest names of the program.
pub(super) fn complete(cursor: &Cursor<'_>, start: usize, wanted: &Letters) -> CompletionList {
    let analysis = cursor.analysis;
    let mut items = Vec::new();
    let mut is_incomplete = false;
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let scopes = scopes(analysis, cursor, start);
    // The innermost declaration of a name is the last one.
    for occurrence in analysis.survey.facts.occurrences.iter().rev() {
        if occurrence.role == Role::Use {
            continue;
        }
        let Some(location) = analysis.spelling(occurrence.span) else { continue };
        let text = analysis.survey.sources.text(&location);
        if !is_word(text) || !wanted.are_in(text) {
            continue;
        }
        let is_seen_here = match occurrence.meaning {
            Meaning::Local(..) => is_in_scope(&scopes, cursor, &location, start),
            Meaning::Member(_) | Meaning::Label(..) => false,
            _ => location.file != cursor.file || location.range.start < start,
        };
        if !is_seen_here || !seen.insert(text) {
            continue;
        }
        if wanted.is_empty() && items.len() >= NEAREST {
            is_incomplete = true;
            break;
        }
        items.push(program_item(cursor, occurrence.meaning, text));
    }
    for item in macros(cursor, wanted) {
        if !seen.contains(item.label.as_str()) {
            items.push(item);
        }
    }
    language(cursor, wanted, &mut items);
    CompletionList { is_incomplete, items }
}

/// The function that contains the cursor, and the scopes in it.
fn scopes(analysis: &Analysis, cursor: &Cursor<'_>, start: usize) -> Vec<Range<usize>> {
    let all = analysis.survey.facts.scopes.iter();
    let mut scopes: Vec<Range<usize>> =
        all.filter_map(|scope| analysis.in_file(cursor.file, *scope)).collect();
    let around = scopes.iter().filter(|scope| scope.start <= start && start <= scope.end);
    let Some(outermost) = around.max_by_key(|scope| scope.len()).cloned() else { return Vec::new() };
    scopes.retain(|scope| outermost.start <= scope.start && scope.end <= outermost.end);
    scopes
}

/// Whether the innermost scope of a variable contains the cursor.
fn is_in_scope(scopes: &[Range<usize>], cursor: &Cursor<'_>, declared: &FileRange, start: usize) -> bool {
    let location = &declared.range;
    let holds = |scope: &&Range<usize>| scope.start <= location.start && location.end <= scope.end;
    let innermost = scopes.iter().filter(holds).min_by_key(|scope| scope.len());
    declared.file == cursor.file
        && location.start < start
        && innermost.is_some_and(|scope| scope.start <= start && start <= scope.end)
}

fn program_item(cursor: &Cursor<'_>, meaning: Meaning, text: &str) -> CompletionItem {
    let analysis = cursor.analysis;
    let (kind, nearness) = match meaning {
        Meaning::Local(..) => (CompletionItemKind::VARIABLE, LOCAL),
        Meaning::Function(_) => (CompletionItemKind::FUNCTION, PROGRAM),
        Meaning::Typedef(_) => (CompletionItemKind::CLASS, PROGRAM),
        Meaning::Record(_) => (CompletionItemKind::STRUCT, PROGRAM),
        Meaning::Enum(_) => (CompletionItemKind::ENUM, PROGRAM),
        Meaning::Enumerator(_) => (CompletionItemKind::ENUM_MEMBER, PROGRAM),
        _ => (CompletionItemKind::VARIABLE, PROGRAM),
    };
    let mut item = item(text, kind, nearness);
    item.detail = match meaning {
        Meaning::Function(function) => Some(hover::signature(analysis, function)),
        _ => analysis.type_of(Entity::Program(meaning)).map(|ty| hover::declared(analysis, ty, text)),
    };
    if let Meaning::Function(function) = meaning {
        let function = &analysis.survey.program.functions[function];
        let names = function
            .parameters
            .iter()
            .map(|local| function.locals[*local].name.map_or("", |name| analysis.symbol(name)));
        call(cursor, &mut item, names);
    }
    if let Meaning::Record(_) | Meaning::Enum(_) = meaning {
        let before = cursor.text()[..cursor.word().start].trim_end();
        if !["struct", "union", "enum"].iter().any(|word| before.ends_with(word)) {
            let word = if matches!(meaning, Meaning::Enum(_)) { "enum" } else { "struct" };
            item.insert_text = Some(format!("{word} {text}"));
        }
    }
    item
}

fn item(label: &str, kind: CompletionItemKind, nearness: Option<&str>) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        sort_text: nearness.map(|nearness| [nearness, label].concat()),
        ..CompletionItem::default()
    }
}

/// Converts an item to a call with a placeholder for each argument, if the client supports snippets and no
/// parenthesis follows.
fn call<'n>(cursor: &Cursor<'_>, item: &mut CompletionItem, names: impl Iterator<Item = &'n str>) {
    if !cursor.client_state.client.takes_snippets || cursor.text()[cursor.word().end..].starts_with('(') {
        return;
    }
    let mut text = format!("{}(", item.label);
    for (number, name) in names.enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}${{{}:{name}}}", number + 1);
    }
    text.push(')');
    item.insert_text = Some(text);
    item.insert_text_format = Some(InsertTextFormat::SNIPPET);
}

/// The macros that the program defines and that contain these letters.
pub(super) fn macros(cursor: &Cursor<'_>, wanted: &Letters) -> Vec<CompletionItem> {
    let analysis = cursor.analysis;
    let mut seen = FxHashSet::default();
    let definitions = analysis.survey.trace.definitions.iter();
    definitions
        .filter(|it| wanted.are_in(analysis.symbol(it.name)) && seen.insert(it.name))
        .map(|definition| {
            let name = analysis.symbol(definition.name);
            let kind = match definition.parameters {
                Some(_) => CompletionItemKind::FUNCTION,
                None => CompletionItemKind::CONSTANT,
            };
            let mut item = item(name, kind, PROGRAM);
            item.detail = Some(hover::macro_line(analysis, definition.span, name));
            if let Some(parameters) = &definition.parameters {
                call(cursor, &mut item, parameters.iter().map(|name| analysis.symbol(*name)));
            }
            item
        })
        .collect()
}

/// Frequently used macros of the language; the specification defines their values.
const PREDEFINED: [&str; 22] = [
    "CLK_LOCAL_MEM_FENCE",
    "CLK_GLOBAL_MEM_FENCE",
    "CLK_IMAGE_MEM_FENCE",
    "CLK_NORMALIZED_COORDS_TRUE",
    "CLK_NORMALIZED_COORDS_FALSE",
    "CLK_ADDRESS_NONE",
    "CLK_ADDRESS_CLAMP",
    "CLK_ADDRESS_CLAMP_TO_EDGE",
    "CLK_ADDRESS_REPEAT",
    "CLK_ADDRESS_MIRRORED_REPEAT",
    "CLK_FILTER_NEAREST",
    "CLK_FILTER_LINEAR",
    "INFINITY",
    "NAN",
    "NULL",
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "M_PI_F",
    "INT_MAX",
    "INT_MIN",
    "UINT_MAX",
];

/// Adds the functions, constants, types and keywords of OpenCL C that contain these letters.
fn language(cursor: &Cursor<'_>, wanted: &Letters, items: &mut Vec<CompletionItem>) {
    let context = &cursor.analysis.survey.context;
    for name in builtins::names_that(context, |name| wanted.are_in(name)) {
        let mut function = item(name, CompletionItemKind::FUNCTION, LANGUAGE);
        let row = documentation::builtin(name);
        call(
            cursor,
            &mut function,
            row.first().map(|row| row.parameters.as_slice()).unwrap_or_default().iter().copied(),
        );
        function.data = Some(Value::Bool(true));
        items.push(function);
    }
    let orders = kiln_vocabulary::opencl::Order::ALL.iter().map(|order| order.spelling());
    let scopes = kiln_vocabulary::opencl::Scope::ALL.iter().map(|scope| scope.spelling());
    let constants = orders.chain(scopes).chain(["true", "false"]).filter(|word| {
        ty::constant(word).is_some_and(|it| it.missing(context.version, context.extensions).is_none())
    });
    for word in constants.chain(PREDEFINED).filter(|word| wanted.are_in(word)) {
        let mut constant = item(word, CompletionItemKind::CONSTANT, LANGUAGE);
        constant.data = Some(Value::Bool(true));
        items.push(constant);
    }
    kiln_syntax::predeclared::each(|name, _| {
        if wanted.are_in(name) && !ty::is_reserved(name) {
            items.push(item(name, CompletionItemKind::CLASS, LANGUAGE));
        }
    });
    for (spelling, _) in Keyword::ALL
        .iter()
        .filter(|(spelling, _)| !spelling.starts_with("__") || *spelling == "__attribute__")
        .filter(|(spelling, _)| wanted.are_in(spelling))
    {
        items.push(item(spelling, CompletionItemKind::KEYWORD, LANGUAGE));
    }
}

/// Adds the details of a selected item that are expensive to compute. `data` marks the items with such details.
pub(crate) fn resolve(analysis: &Analysis, mut item: CompletionItem) -> CompletionItem {
    if item.data != Some(Value::Bool(true)) {
        return item;
    }
    let name = &item.label;
    let mut text = documentation::word(name).unwrap_or_default().to_owned();
    if builtins::is_name(name) {
        let forms: Vec<String> = signature::forms(analysis, name).into_iter().map(|form| form.line).collect();
        text = hover::join([hover::code(&forms.join("\n")), hover::about(name)]);
        item.detail = forms.into_iter().next();
    }
    item.documentation =
        Some(Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: text }));
    item
}
