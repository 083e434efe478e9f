//! The call hierarchy: the functions that call a function, and those that it calls.

use kiln_frontend::sema::{Meaning, Role};
use kiln_session::source::FileId;
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, DocumentSymbol, Location, Range,
    SymbolKind, Uri,
};

use crate::{
    analysis::{Analysis, Cursor},
    features::{definition, symbols},
    names::Entity,
    uri,
};

/// The function of the program at the cursor.
pub(crate) fn prepare(cursor: &Cursor<'_>) -> Option<CallHierarchyItem> {
    item_of(cursor.analysis, cursor.name()?.entity)
}

/// The item of a function: at its definition, or else at its declaration.
fn item_of(analysis: &Analysis, entity: Entity) -> Option<CallHierarchyItem> {
    let Entity::Program(Meaning::Function(_)) = entity else { return None };
    let location = definition::locations(analysis, entity, Role::Definition).into_iter().next()?;
    let file = analysis.file(&uri::name(&location.uri))?;
    enclosing_function(analysis, file, location.range).map(|symbol| item(symbol, location.uri))
}

fn item(symbol: DocumentSymbol, uri: Uri) -> CallHierarchyItem {
    CallHierarchyItem {
        name: symbol.name,
        kind: SymbolKind::FUNCTION,
        tags: None,
        detail: symbol.detail,
        uri,
        range: symbol.range,
        selection_range: symbol.selection_range,
        data: None,
    }
}

/// The function around a range.
fn enclosing_function(analysis: &Analysis, file: FileId, range: Range) -> Option<DocumentSymbol> {
    let is_function = |symbol: &DocumentSymbol| {
        matches!(symbol.kind, SymbolKind::FUNCTION | SymbolKind::EVENT)
            && symbol.detail.as_deref() != Some("macro")
    };
    let contains =
        |symbol: &DocumentSymbol| symbol.range.start <= range.start && range.end <= symbol.range.end;
    symbols::symbols(analysis, file).into_iter().find(|symbol| is_function(symbol) && contains(symbol))
}

/// Adds the functions of an analysis that use an entity, with the locations of the uses.
pub(crate) fn incoming(analysis: &Analysis, entity: Entity, found: &mut Vec<CallHierarchyIncomingCall>) {
    for name in analysis.occurrences(entity).filter(|name| name.role == Role::Use) {
        let Some(Location { uri, range }) = analysis.location(&name.location) else { continue };
        let Some(caller) = enclosing_function(analysis, name.location.file, range) else { continue };
        let from = item(caller, uri);
        let is_same = |call: &CallHierarchyIncomingCall| {
            call.from.uri == from.uri && call.from.selection_range == from.selection_range
        };
        match found.iter_mut().find(|call| is_same(call)) {
            // A header that is included twice contains each use twice.
            Some(known) if known.from_ranges.contains(&range) => {}
            Some(known) => known.from_ranges.push(range),
            None => found.push(CallHierarchyIncomingCall { from, from_ranges: vec![range] }),
        }
    }
}

/// The functions of the program that are used inside of the function at the cursor.
pub(crate) fn outgoing(cursor: &Cursor<'_>) -> Vec<CallHierarchyOutgoingCall> {
    let (analysis, here) = (cursor.analysis, cursor.range(&(cursor.offset..cursor.offset)));
    let Some(caller) = enclosing_function(analysis, cursor.file, here) else { return Vec::new() };
    let mut found: Vec<CallHierarchyOutgoingCall> = Vec::new();
    for name in analysis.names_in(cursor.file).iter().filter(|name| name.role == Role::Use) {
        let range = analysis.range(cursor.file, &name.location.range);
        let is_inside = caller.range.start <= range.start && range.end <= caller.range.end;
        let Some(to) = item_of(analysis, name.entity).filter(|_| is_inside) else { continue };
        let is_same = |call: &CallHierarchyOutgoingCall| {
            call.to.uri == to.uri && call.to.selection_range == to.selection_range
        };
        match found.iter_mut().find(|call| is_same(call)) {
            Some(known) => known.from_ranges.push(range),
            None => found.push(CallHierarchyOutgoingCall { to, from_ranges: vec![range] }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const TEXT: &str = "int leaf(int a) { return a; }\n\
        int twice(int a) { return $0leaf(a) + leaf(a); }\n\
        kernel void k(global int *out) { out[0] = twice(leaf(1)); }\n";

    #[test]
    fn callers_have_the_ranges_of_their_calls() {
        let fixture = Fixture::new(TEXT);
        let cursor = fixture.cursor();
        let item = prepare(&cursor).expect("a function");
        assert_eq!((item.name.as_str(), item.range.start.line), ("leaf", 0));
        let mut found = Vec::new();
        incoming(cursor.analysis, cursor.name().expect("a name").entity, &mut found);
        let callers: Vec<_> =
            found.iter().map(|call| (call.from.name.as_str(), call.from_ranges.len())).collect();
        assert_eq!(callers, [("twice", 2), ("k", 1)]);
    }

    #[test]
    fn callees_are_functions_of_the_program() {
        let fixture = Fixture::new(&TEXT.replace("$0", "").replace("void k", "void $0k"));
        let found = outgoing(&fixture.cursor());
        let callees: Vec<_> = found.iter().map(|call| call.to.name.as_str()).collect();
        assert_eq!(callees, ["twice", "leaf"]);
        assert!(prepare(&Fixture::new("int a; int f() { return $0a; }").cursor()).is_none());
    }
}
