//! Completes the attributes of OpenCL C (6.13).

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, InsertTextFormat};

use crate::documentation;

/// Attribute names, and the snippet that follows each.
const ATTRIBUTES: [(&str, &str); 9] = [
    ("reqd_work_group_size", "(${1:64}, ${2:1}, ${3:1})"),
    ("work_group_size_hint", "(${1:64}, ${2:1}, ${3:1})"),
    ("vec_type_hint", "(${1:float4})"),
    ("opencl_unroll_hint", "(${1:4})"),
    ("aligned", "(${1:16})"),
    ("packed", ""),
    ("endian", "(${1:device})"),
    ("nosvm", ""),
    ("unused", ""),
];

/// Whether an attribute is expected next.
pub(super) fn is_attribute_expected(before: &str) -> bool {
    let Some(start) = before.rfind("__attribute__") else { return false };
    let inside = &before[start + "__attribute__".len()..];
    let depth = inside.matches('(').count() as i64 - inside.matches(')').count() as i64;
    depth == 2 && before.ends_with(['(', ','])
}

/// All attributes.
pub(super) fn complete() -> Vec<CompletionItem> {
    let item = |(name, snippet): &(&str, &str)| CompletionItem {
        label: (*name).to_owned(),
        kind: Some(CompletionItemKind::PROPERTY),
        documentation: documentation::word(name).map(|text| Documentation::String(text.to_owned())),
        insert_text: Some(format!("{name}{snippet}")),
        insert_text_format: Some(InsertTextFormat::SNIPPET),
        ..CompletionItem::default()
    };
    ATTRIBUTES.iter().map(item).collect()
}
