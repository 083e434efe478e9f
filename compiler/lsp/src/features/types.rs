//! The type hierarchy. OpenCL C has no inheritance: a type is built on the types that it contains. The supertypes of a
//! struct or a union are the types of its members, and that of a typedef is the type that it names. Includes only types
//! that the program declares. A pointer to a type does not count as containing it.

use kiln_frontend::sema::Meaning;
use kiln_syntax::{
    Arena, Span,
    ast::{Declarator, DerivationKind, Ident, RecordSpecifier, Specifiers, Storage, TypeSpecifierKind},
};
use lsp_types::{SymbolKind, TypeHierarchyItem};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    analysis::{Analysis, Cursor},
    features::definition,
    names::Entity,
    tree::{self, Node},
    uri,
};

/// The type at the cursor, or the type of the variable, member or function there.
pub(crate) fn prepare(cursor: &Cursor<'_>) -> Option<TypeHierarchyItem> {
    let analysis = cursor.analysis;
    let entity = subject(cursor)?;
    types(analysis).iter().find(|ty| ty.entity == entity)?.item(analysis)
}

/// The subject of a request at the cursor.
pub(crate) fn subject(cursor: &Cursor<'_>) -> Option<Entity> {
    let entity = cursor.name()?.entity;
    match entity {
        Entity::Program(Meaning::Typedef(_) | Meaning::Record(_) | Meaning::Enum(_)) => Some(entity),
        _ => definition::tag_of(cursor.analysis, cursor.analysis.type_of(entity)?.ty),
    }
}

/// The types that the type at the cursor contains or names.
pub(crate) fn supertypes(cursor: &Cursor<'_>) -> Vec<TypeHierarchyItem> {
    let all = types(cursor.analysis);
    let Some(ty) = subject(cursor).and_then(|entity| all.iter().find(|ty| ty.entity == entity)) else {
        return Vec::new();
    };
    let supers = ty.supers.iter().filter_map(|entity| all.iter().find(|ty| ty.entity == *entity));
    supers.filter_map(|ty| ty.item(cursor.analysis)).collect()
}

/// Adds the types of an analysis that contain or name a type.
pub(crate) fn subtypes(analysis: &Analysis, entity: Entity, found: &mut Vec<TypeHierarchyItem>) {
    for ty in types(analysis).iter().filter(|ty| ty.supers.contains(&entity)) {
        // Several sources can include the same header.
        if let Some(item) = ty.item(analysis).filter(|item| !found.contains(item)) {
            found.push(item);
        }
    }
}

/// The definition of a type.
struct Definition {
    entity: Entity,
    name: Ident,
    whole: Span,
    kind: SymbolKind,
    supers: Vec<Entity>,
}

impl Definition {
    fn item(&self, analysis: &Analysis) -> Option<TypeHierarchyItem> {
        let name = analysis.resolve(self.name.span)?;
        let whole = analysis.in_file(name.file, self.whole).unwrap_or_else(|| name.range.clone());
        // A macro can produce a name outside the range of its definition; the range must contain it.
        let whole = whole.start.min(name.range.start)..whole.end.max(name.range.end);
        Some(TypeHierarchyItem {
            name: analysis.symbol(self.name.node).to_owned(),
            kind: self.kind,
            tags: None,
            detail: None,
            uri: uri::uri(analysis.file_name(name.file)?)?,
            range: analysis.range(name.file, &whole),
            selection_range: analysis.range(name.file, &name.range),
            data: None,
        })
    }
}

/// The types that the program defines, in source order.
fn types(analysis: &Analysis) -> Vec<Definition> {
    let occurrences = analysis.survey.facts.occurrences.iter();
    let meanings = occurrences.map(|occurrence| (occurrence.span, occurrence.meaning)).collect();
    let mut collector = Collector { meanings, found: Vec::new() };
    tree::walk(analysis.survey.tree(&Arena::default()), &mut |node| match node {
        Node::Function(function) => drop(collector.specifiers(&function.specifiers)),
        Node::Declaration(declaration) => {
            let named = collector.specifiers(&declaration.specifiers);
            if !declaration.specifiers.storage.iter().any(|storage| storage.node == Storage::Typedef) {
                return;
            }
            for declarator in declaration.declarators.iter().map(|it| &it.declarator) {
                let supers = if is_value(declarator) { named.clone() } else { Vec::new() };
                collector.define(declarator.name, declaration.span, SymbolKind::CLASS, supers);
            }
        }
        Node::Statement(_) | Node::Block(_) => {}
    });
    collector.found
}

/// Whether a declarator declares a value or an array of values, not a pointer, a block or a function.
fn is_value(declarator: &Declarator) -> bool {
    declarator.derivations.iter().all(|derivation| matches!(derivation.kind, DerivationKind::Array(_)))
}

struct Collector {
    meanings: FxHashMap<Span, Meaning>,
    found: Vec<Definition>,
}

impl Collector {
    /// Collects the types that are defined in specifiers. Returns the types that the specifiers name: more than one for
    /// an unnamed struct, which stands for its members.
    fn specifiers(&mut self, specifiers: &Specifiers) -> Vec<Entity> {
        let mut named = Vec::new();
        for specifier in specifiers.types {
            match &specifier.kind {
                TypeSpecifierKind::Name(_) => named.extend(self.entity(specifier.span)),
                TypeSpecifierKind::Record(record) => {
                    let members = self.members(record);
                    match record.tag {
                        Some(tag) => named.extend(self.entity(tag.span)),
                        None => named.extend(&members),
                    }
                    if record.members.is_some() {
                        self.define(record.tag, specifier.span, SymbolKind::STRUCT, members);
                    }
                }
                TypeSpecifierKind::Enum(list) => {
                    named.extend(list.tag.and_then(|tag| self.entity(tag.span)));
                    if list.enumerators.is_some() {
                        self.define(list.tag, specifier.span, SymbolKind::ENUM, Vec::new());
                    }
                }
                _ => {}
            }
        }
        named
    }

    /// The types of the members.
    fn members(&mut self, record: &RecordSpecifier) -> Vec<Entity> {
        let mut contained = Vec::new();
        for member in record.members.unwrap_or_default() {
            let named = self.specifiers(&member.specifiers);
            let is_unnamed = member.declarators.is_empty();
            if is_unnamed || member.declarators.iter().any(|it| is_value(it.declarator)) {
                contained.extend(named);
            }
        }
        let mut seen = FxHashSet::default();
        contained.retain(|entity| seen.insert(*entity));
        contained
    }

    fn define(&mut self, name: Option<Ident>, whole: Span, kind: SymbolKind, supers: Vec<Entity>) {
        if let Some(name) = name
            && let Some(entity) = self.entity(name.span)
        {
            self.found.push(Definition { entity, name, whole, kind, supers });
        }
    }

    /// The type with a name at this span, if the program declares it.
    fn entity(&self, span: Span) -> Option<Entity> {
        let meaning = *self.meanings.get(&span)?;
        matches!(meaning, Meaning::Typedef(_) | Meaning::Record(_) | Meaning::Enum(_))
            .then_some(Entity::Program(meaning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const TEXT: &str = "typedef float real;\n\
        struct point { real x, y; };\n\
        enum side { LEFT, RIGHT };\n\
        typedef struct { struct point at[2]; enum side side; struct point *next; int n; } item;\n\
        typedef item node;\n\
        union u { struct { node a; }; int4 b; };\n\
        kernel void k(global item *all) { struct point p = all[0].at[1]; }\n";

    /// Checks the supertypes and the subtypes of the type after a text.
    #[track_caller]
    fn check(after: &str, name: &str, supers: &[&str], subs: &[&str]) {
        let at = TEXT.find(after).expect("it is in the text") + after.len();
        let fixture = Fixture::new(&format!("{}$0{}", &TEXT[..at], &TEXT[at..]));
        let cursor = fixture.cursor();
        let names = |items: &[TypeHierarchyItem]| -> Vec<String> {
            items.iter().map(|item| item.name.clone()).collect()
        };
        assert_eq!(prepare(&cursor).map(|item| item.name).as_deref(), Some(name));
        assert_eq!(names(&supertypes(&cursor)), supers);
        let mut found = Vec::new();
        subtypes(cursor.analysis, subject(&cursor).expect("a type"), &mut found);
        assert_eq!(names(&found), subs);
    }

    #[test]
    fn types_contain_types() {
        check("typedef float ", "real", &[], &["point"]);
        check("struct ", "point", &["real"], &["item"]);
        check("enum ", "side", &[], &["item"]);
        check("int n; } ", "item", &["point", "side"], &["node"]);
        check("typedef item ", "node", &["item"], &["u"]);
        check("union ", "u", &["node"], &[]);
    }

    #[test]
    fn variables_and_members_have_types() {
        check("global item *", "item", &["point", "side"], &["node"]);
        check("{ struct point p = all[0].", "point", &["real"], &["item"]);
        let none = Fixture::new("kernel void k(global int4 *$0a) {}");
        assert!(prepare(&none.cursor()).is_none());
    }

    #[test]
    fn the_range_holds_the_definition() {
        let fixture = Fixture::new("struct $0a { int b; };\ntypedef struct a *pointer;\n");
        let item = prepare(&fixture.cursor()).expect("a type");
        assert_eq!(fixture.covered([item.range, item.selection_range]), ["0:struct a { int b; }", "0:a"]);
        let mut found = Vec::new();
        subtypes(&fixture.analysis, subject(&fixture.cursor()).expect("a type"), &mut found);
        assert_eq!(found, []);
    }
}
