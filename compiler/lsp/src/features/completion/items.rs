//! Completes names in scope and keywords, closest scope first.

use std::ops::Range;

use kiln_builtins as builtins;
use kiln_frontend::sema::{Meaning, Role};
use kiln_syntax::{Arena, token::Keyword};
use kiln_types::ty;
use lsp_types::{
    CompletionItem, CompletionItemKind, Documentation, InsertTextFormat, MarkupContent, MarkupKind,
};
use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::{
    analysis::{Analysis, Cursor},
    documentation,
    features::{hover, signature},
    names::{Name, Thing},
    tree::{self, Node},
};

/// Sort prefixes by scope.
const LOCAL: u8 = b'1';
const PROGRAM: u8 = b'2';
const LANGUAGE: u8 = b'3';
const WORD: u8 = b'4';

/// All names that are valid at the cursor, whose word starts at `start`.
pub(super) fn complete(cursor: &Cursor<'_>, start: usize) -> Vec<CompletionItem> {
    let analysis = cursor.analysis;
    let mut items = Vec::new();
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let scopes = scopes(analysis, cursor);
    // The innermost declaration of a name is the last one.
    for name in analysis.names().iter().rev().filter(|name| name.role != Role::Use) {
        let Thing::Program(meaning) = name.thing else { continue };
        let text = analysis.survey.sources.text(&name.location);
        let is_seen_here = match meaning {
            Meaning::Local(..) => is_in_scope(&scopes, cursor, name, start),
            Meaning::Member(_) | Meaning::Label(..) => false,
            _ => name.location.file != cursor.file || name.location.range.start < start,
        };
        if is_seen_here && seen.insert(text) {
            items.push(of_program(cursor, meaning, text));
        }
    }
    for item in macros(cursor) {
        if !seen.contains(item.label.as_str()) {
            items.push(item);
        }
    }
    language(cursor, &mut items);
    items
}

/// The scopes in the function that contains the cursor, and the function itself. Variables of other functions are in
/// none of them.
fn scopes(analysis: &Analysis, cursor: &Cursor<'_>) -> Vec<Range<usize>> {
    let mut scopes: Vec<Range<usize>> = Vec::new();
    tree::walk(analysis.survey.tree(&Arena::default()), &mut |node| {
        if !matches!(node, Node::Declaration(_)) {
            scopes.extend(analysis.in_file(cursor.file, node.span()));
        }
    });
    let around = scopes.iter().filter(|scope| scope.start <= cursor.offset && cursor.offset <= scope.end);
    let Some(outermost) = around.max_by_key(|scope| scope.len()).cloned() else { return Vec::new() };
    scopes.retain(|scope| outermost.start <= scope.start && scope.end <= outermost.end);
    scopes
}

/// Whether the innermost scope of a variable contains the cursor.
fn is_in_scope(scopes: &[Range<usize>], cursor: &Cursor<'_>, name: &Name, start: usize) -> bool {
    let location = &name.location.range;
    let holds = |scope: &&Range<usize>| scope.start <= location.start && location.end <= scope.end;
    let innermost = scopes.iter().filter(holds).min_by_key(|scope| scope.len());
    name.location.file == cursor.file
        && location.start < start
        && innermost.is_some_and(|scope| scope.start <= cursor.offset && cursor.offset <= scope.end)
}

fn of_program(cursor: &Cursor<'_>, meaning: Meaning, text: &str) -> CompletionItem {
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
        _ => analysis.type_of(Thing::Program(meaning)).map(|ty| hover::declared(analysis, ty, text)),
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

fn item(label: &str, kind: CompletionItemKind, nearness: u8) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        sort_text: Some(format!("{}{label}", char::from(nearness))),
        ..CompletionItem::default()
    }
}

/// Converts an item to a call with a placeholder for each argument, if the client supports snippets and no
/// parenthesis follows.
fn call<'n>(cursor: &Cursor<'_>, item: &mut CompletionItem, names: impl Iterator<Item = &'n str>) {
    if !cursor.world.client.takes_snippets || cursor.text()[cursor.word().end..].starts_with('(') {
        return;
    }
    let locations: Vec<String> =
        names.enumerate().map(|(at, name)| format!("${{{}:{name}}}", at + 1)).collect();
    item.insert_text = Some(format!("{}({})", item.label, locations.join(", ")));
    item.insert_text_format = Some(InsertTextFormat::SNIPPET);
}

/// The macros that the program defines.
pub(super) fn macros(cursor: &Cursor<'_>) -> Vec<CompletionItem> {
    let analysis = cursor.analysis;
    let mut seen = FxHashSet::default();
    let definitions = analysis.survey.trace.definitions.iter().filter(|it| seen.insert(it.name));
    definitions
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

/// The functions, constants, types and keywords of OpenCL C.
fn language(cursor: &Cursor<'_>, items: &mut Vec<CompletionItem>) {
    let context = &cursor.analysis.survey.context;
    for name in builtins::names(context) {
        let mut function = item(name, CompletionItemKind::FUNCTION, LANGUAGE);
        let row = documentation::builtin(name);
        call(
            cursor,
            &mut function,
            row.first().map(|row| row.parameters.as_slice()).unwrap_or_default().iter().copied(),
        );
        function.data = Some(Value::from(name));
        items.push(function);
    }
    let orders = kiln_vocabulary::opencl::Order::ALL.iter().map(|order| order.spelling());
    let scopes = kiln_vocabulary::opencl::Scope::ALL.iter().map(|scope| scope.spelling());
    let constants = orders.chain(scopes).chain(["true", "false"]).filter(|word| {
        ty::constant(word).is_some_and(|it| it.missing(context.version, context.extensions).is_none())
    });
    for word in constants.chain(PREDEFINED) {
        let mut constant = item(word, CompletionItemKind::CONSTANT, LANGUAGE);
        constant.data = Some(Value::from(word));
        items.push(constant);
    }
    kiln_syntax::predeclared::each(|name, _| {
        if !ty::is_reserved(name) {
            items.push(item(name, CompletionItemKind::CLASS, LANGUAGE));
        }
    });
    for (spelling, _) in Keyword::ALL
        .iter()
        .filter(|(spelling, _)| !spelling.starts_with("__") || *spelling == "__attribute__")
    {
        items.push(item(spelling, CompletionItemKind::KEYWORD, WORD));
    }
}

/// Adds the details of a selected item that are expensive to compute.
pub(crate) fn resolve(analysis: &Analysis, mut item: CompletionItem) -> CompletionItem {
    let Some(name) = item.data.as_ref().and_then(Value::as_str).map(str::to_owned) else { return item };
    let mut text = documentation::word(&name).unwrap_or_default().to_owned();
    if builtins::is_name(&name) {
        let forms: Vec<String> =
            signature::forms(analysis, &name).into_iter().map(|form| form.line).collect();
        item.detail = forms.first().cloned();
        text = hover::join([hover::code(&forms.join("\n")), hover::about(&name)]);
    }
    item.documentation =
        Some(Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: text }));
    item
}
