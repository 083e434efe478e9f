//! Completes after `.` and `->`: members of records, components of vectors (OpenCL C 6.3.7).

use kiln_types::ty::{RecordId, Scalar, Ty, TyId, Types};
use lsp_types::{CompletionItem, CompletionItemKind, TextEdit};

use crate::{
    analysis::{Analysis, Cursor},
    features::hover,
};

/// The token before the name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// `.`
    Dot,
    /// `->`
    Arrow,
}

/// A placeholder for the name that is not written yet.
const PLACEHOLDER: &str = "kiln_member;";

/// The members of the expression that ends at `base`.
pub(super) fn complete(cursor: &Cursor<'_>, base: usize, access: Access) -> Vec<CompletionItem> {
    let file = cursor.analysis.file_name(cursor.file);
    if let Some(ty) = type_before(cursor.analysis, cursor, base) {
        return members_of_type(cursor.analysis, cursor, ty, base, access);
    }
    // Insert the placeholder, because the parser may drop an expression without a member name.
    let Some(file) = file else { return Vec::new() };
    let mut text = cursor.text().to_owned();
    text.insert_str(cursor.word().start, PLACEHOLDER);
    let Some(repaired) = Analysis::with_text(cursor.client_state, &cursor.analysis.root, file, text) else {
        return Vec::new();
    };
    let Some(file) = repaired.file(file) else { return Vec::new() };
    let there = cursor.in_analysis(&repaired, file);
    match type_before(&repaired, &there, base) {
        Some(ty) => members_of_type(&repaired, &there, ty, base, access),
        None => Vec::new(),
    }
}

/// The type of the longest expression that ends there.
fn type_before(analysis: &Analysis, cursor: &Cursor<'_>, end: usize) -> Option<TyId> {
    let end = cursor.text()[..end].trim_end().len();
    let there = Cursor { analysis, offset: end, ..*cursor };
    let ending = there.expressions().into_iter().filter(|(range, _)| range.end == end);
    let ending = ending.map(|(range, typed)| (range.len(), typed.ty.ty));
    // `a + b.` accesses `b`: only a primary expression binds more tightly than the access.
    let text = cursor.text();
    let primary = ending.filter(|(length, _)| is_primary(&text[end - length..end]));
    primary.max_by_key(|(length, _)| *length).map(|(_, ty)| ty).filter(|ty| *ty != TyId::ERROR)
}

/// Whether the text has no operator outside brackets.
fn is_primary(text: &str) -> bool {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if text[..at].ends_with('-') => {}
            '-' if text[at..].starts_with("->") => {}
            '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' | '=' | '?' | ':' | '!' | '~' | ','
                if depth == 0 =>
            {
                return false;
            }
            _ => {}
        }
    }
    // A cast binds less tightly, except in a vector literal.
    true
}

fn members_of_type(
    analysis: &Analysis,
    cursor: &Cursor<'_>,
    ty: TyId,
    base: usize,
    access: Access,
) -> Vec<CompletionItem> {
    let types = &analysis.survey.program.types;
    let mut items = Vec::new();
    match (types.get(ty), access) {
        (Ty::Record(record), Access::Dot) => fields(analysis, *record, &mut items),
        (Ty::Vector(element, count), Access::Dot) => components(*element, *count, &mut items),
        (Ty::Pointer(to), _) => {
            match types.get(to.ty) {
                Ty::Record(record) => fields(analysis, *record, &mut items),
                Ty::Vector(element, count) if access == Access::Arrow => {
                    components(*element, *count, &mut items);
                }
                _ => {}
            }
            if access == Access::Dot {
                let edit = TextEdit { range: cursor.range(&(base..base + 1)), new_text: "->".to_owned() };
                items.iter_mut().for_each(|item| item.additional_text_edits = Some(vec![edit.clone()]));
            }
        }
        _ => {}
    }
    items
}

/// Adds the fields of a record, including those of anonymous members.
fn fields(analysis: &Analysis, record: RecordId, items: &mut Vec<CompletionItem>) {
    let types = &analysis.survey.program.types;
    for field in types.records[record].fields.iter().flatten() {
        match (field.name, types.get(field.ty.ty)) {
            (Some(name), _) => {
                let name = analysis.symbol(name);
                items.push(CompletionItem {
                    label: name.to_owned(),
                    kind: Some(CompletionItemKind::FIELD),
                    detail: Some(hover::declared(analysis, field.ty, name)),
                    sort_text: Some(format!("{:04}", items.len())),
                    ..CompletionItem::default()
                });
            }
            (None, Ty::Record(inner)) => fields(analysis, *inner, items),
            _ => {}
        }
    }
}

/// Single components, halves, and prefixes of the vector.
fn components(element: Scalar, count: u8, items: &mut Vec<CompletionItem>) {
    let count = usize::from(count);
    let letters = &["x", "y", "z", "w"][..count.min(4)];
    let mut names: Vec<(String, usize)> = letters.iter().map(|letter| ((*letter).to_owned(), 1)).collect();
    names.extend((2..=letters.len()).map(|length| (letters[..length].concat(), length)));
    if count == 4 {
        names.push(("zw".to_owned(), 2));
    }
    let half = count.div_ceil(2);
    names.extend(["lo", "hi", "even", "odd"].map(|name| (name.to_owned(), half)));
    names.extend((0..count).map(|number| (format!("s{number:x}"), 1)));
    let mut types = Types::new();
    for (name, length) in names {
        let ty = if length == 1 { TyId::scalar(element) } else { types.vector(element, length as u8) };
        items.push(CompletionItem {
            label: name,
            kind: Some(CompletionItemKind::FIELD),
            detail: Some(types.show(ty, &kiln_syntax::Interner::new())),
            sort_text: Some(format!("{:04}", items.len())),
            ..CompletionItem::default()
        });
    }
}
