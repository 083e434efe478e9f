//! Go to definition, declaration and type definition.

use kiln_frontend::sema::{Meaning, Role};
use kiln_session::source::FileRange;
use kiln_types::ty::{Ty, TyId};
use lsp_types::{Location, Range};

use crate::{
    analysis::{Analysis, Cursor},
    features::hover,
    names::Entity,
    pages, uri,
};

/// The definition of the entity at the cursor, or else its declarations; for an include, the file.
pub(crate) fn definition(cursor: &Cursor<'_>) -> Vec<Location> {
    locations_of_name(cursor, Role::Definition)
}

/// The declarations of the entity, or else its definition.
pub(crate) fn declaration(cursor: &Cursor<'_>) -> Vec<Location> {
    locations_of_name(cursor, Role::Declaration)
}

/// The definition of the entity's type, if the program defines it.
pub(crate) fn type_definition(cursor: &Cursor<'_>) -> Vec<Location> {
    let named = cursor.name().and_then(|name| cursor.analysis.type_of(name.entity)).map(|ty| ty.ty);
    let Some(ty) = named.or_else(|| expression_type(cursor)) else { return Vec::new() };
    tag_of(cursor.analysis, ty)
        .map_or_else(Vec::new, |entity| locations(cursor.analysis, entity, Role::Definition))
}

fn locations_of_name(cursor: &Cursor<'_>, role: Role) -> Vec<Location> {
    if let Some(file) = included(cursor) {
        return vec![file];
    }
    let Some(name) = cursor.name() else { return Vec::new() };
    if let Entity::Program(Meaning::Builtin(symbol)) = name.entity {
        return builtin(cursor.analysis, cursor.analysis.symbol(symbol)).into_iter().collect();
    }
    locations(cursor.analysis, name.entity, role)
}

/// Built-in functions have no definition; returns a page that lists their overloads.
fn builtin(analysis: &Analysis, name: &str) -> Option<Location> {
    let page = pages::builtin(name, || {
        let about = hover::about(name)
            .lines()
            .filter(|line| !line.is_empty())
            .fold(String::new(), |all, line| all + "// " + line.trim_matches('*') + "\n");
        let forms = hover::forms(analysis, name).into_iter().map(|form| form + ";\n");
        about + &forms.collect::<String>()
    });
    Some(Location { uri: page?, range: Range::default() })
}

/// The definitions of an entity in an analysis.
pub(crate) fn definitions(analysis: &Analysis, entity: Entity) -> Vec<Location> {
    let names = analysis.occurrences(entity).filter(|name| name.role == Role::Definition);
    names.filter_map(|name| analysis.location(&name.location)).collect()
}

/// The occurrences in this role, or else those in the other declaring role.
pub(crate) fn locations(analysis: &Analysis, entity: Entity, role: Role) -> Vec<Location> {
    let other = if role == Role::Definition { Role::Declaration } else { Role::Definition };
    let with_role = |role| -> Vec<Location> {
        let locations =
            analysis.occurrences(entity).filter(|name| name.role == role).map(|name| &name.location);
        locations.filter_map(|location| analysis.location(location)).collect()
    };
    let found = with_role(role);
    if found.is_empty() { with_role(other) } else { found }
}

/// The file that the directive at the cursor includes.
fn included(cursor: &Cursor<'_>) -> Option<Location> {
    let analysis = cursor.analysis;
    let directive = analysis.survey.trace.includes.iter().find(|directive| {
        let range = analysis.in_file(cursor.file, directive.span);
        range.is_some_and(|range| range.contains(&cursor.offset))
    })?;
    let path = uri::normal(directive.path.as_ref()?);
    Some(Location { uri: uri::uri(&path)?, range: Range::default() })
}

/// The type of the innermost expression at the cursor.
pub(crate) fn expression_type(cursor: &Cursor<'_>) -> Option<TyId> {
    let around = cursor.expressions().into_iter();
    around.min_by_key(|(range, _)| range.len()).map(|(_, typed)| typed.ty.ty)
}

/// The tag of a type, looking through arrays, pointers and function results.
pub(crate) fn tag_of(analysis: &Analysis, mut ty: TyId) -> Option<Entity> {
    loop {
        ty = match analysis.survey.program.types.get(ty) {
            Ty::Pointer(to) => to.ty,
            Ty::Array(element, _) => element.ty,
            Ty::Function(function) | Ty::Block(function) => function.result.ty,
            Ty::Record(id) => {
                let entity = Entity::Program(Meaning::Record(*id));
                let record = &analysis.survey.program.types.records[*id];
                let has_tag = record.has_tag || analysis.occurrences(entity).next().is_some();
                return if has_tag {
                    Some(entity)
                } else {
                    typedef_at(analysis, analysis.spelling(record.span)?)
                };
            }
            Ty::Enum(id) => return Some(Entity::Program(Meaning::Enum(*id))),
            _ => return None,
        }
    }
}

/// The typedef whose declaration starts with this record: `typedef struct { … } name;`
fn typedef_at(analysis: &Analysis, record: FileRange) -> Option<Entity> {
    let names_after =
        analysis.names_in(record.file).iter().filter(|name| name.location.range.start >= record.range.end);
    names_after
        .filter(|name| {
            matches!(name.entity, Entity::Program(Meaning::Typedef(_))) && name.role == Role::Definition
        })
        .map(|name| name.entity)
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[track_caller]
    fn check(text: &str, find: fn(&Cursor<'_>) -> Vec<Location>, expected: &[&str]) {
        let fixture = Fixture::new(text);
        let found: Vec<String> = find(&fixture.cursor())
            .iter()
            .map(|location| {
                let start = location.range.start;
                format!("{}:{}:{}", uri::name(&location.uri), start.line, start.character)
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn variables_functions_members_and_labels() {
        check("int f(int a) { return $0a; }", definition, &["/a.cl:0:10"]);
        check(
            "int g(int);\nint f() { return $0g(1); }\nint g(int a) { return a; }",
            definition,
            &["/a.cl:2:4"],
        );
        check(
            "int g(int);\nint f() { return $0g(1); }\nint g(int a) { return a; }",
            declaration,
            &["/a.cl:0:4"],
        );
        check("struct S { int a, b; };\nint f(struct S s) { return s.b$0; }", definition, &["/a.cl:0:18"]);
        check("void f(int a) { again: if (a) goto $0again; }", definition, &["/a.cl:0:16"]);
        check("enum E { A, B };\nint f() { return B$0; }", definition, &["/a.cl:0:12"]);
    }

    #[test]
    fn macros_and_names_in_macro_calls() {
        check("#define ADD(x) (x + 1)\nint f(int a) { return A$0DD(a); }", definition, &["/a.cl:0:8"]);
        check("#define ADD(x) (x + 1)\nint f(int a) { return ADD($0a); }", definition, &["/a.cl:1:10"]);
        check("#define N 1\n#ifdef $0N\n#endif", definition, &["/a.cl:0:8"]);
    }

    #[test]
    fn included_files_and_their_declarations() {
        check("//- /a.cl\n#include \"$0b.h\"\n//- /b.h\nint g(int);\n", definition, &["/b.h:0:0"]);
        check(
            "//- /a.cl\n#include \"b.h\"\nint f() { return g$0(1); }\n//- /b.h\nint g(int);\n",
            definition,
            &["/b.h:0:4"],
        );
    }

    #[test]
    fn types_behind_pointers_and_typedefs() {
        check("struct S { int a; };\nvoid f(global struct S *p) { $0p; }", type_definition, &["/a.cl:0:7"]);
        check("typedef struct { int a; } T;\nvoid f(T t) { $0t; }", type_definition, &["/a.cl:0:26"]);
        check("void f(int a) { $0a; }", type_definition, &[]);
    }
}
