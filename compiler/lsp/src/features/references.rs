//! References to an entity, in the files of one analysis and in other sources that see the same declaration.

use kiln_frontend::sema::Role;
use lsp_types::Location;

use crate::{
    analysis::{Analysis, Cursor},
    names::Entity,
};

/// Identifies an entity across sources, by the file and location of its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The file.
    pub(crate) file: String,
    /// The offset of the name.
    pub(crate) offset: usize,
    /// The name.
    pub(crate) text: String,
}

/// The key of the entity at the cursor, if it has a declaration.
pub(crate) fn key(cursor: &Cursor<'_>) -> Option<Key> {
    let analysis = cursor.analysis;
    let entity = cursor.name()?.entity;
    let declared =
        analysis.occurrences(entity).filter(|name| name.role != Role::Use).map(|name| &name.location);
    // A declaration in a header comes first, because other sources see it too.
    let location = declared
        .min_by_key(|location| (analysis.file_name(location.file) == Some(&analysis.root), location.file))?;
    Some(Key {
        file: analysis.file_name(location.file)?.to_owned(),
        offset: location.range.start,
        text: analysis.survey.sources.text(location).to_owned(),
    })
}

/// Finds the entity of a key in the analysis of another source.
pub(crate) fn entity(analysis: &Analysis, key: &Key) -> Option<Entity> {
    let file = analysis.file(&key.file)?;
    let names = analysis.names_in(file).iter();
    let mut at = names.filter(|name| name.location.range.start == key.offset && name.role != Role::Use);
    at.next().map(|name| name.entity)
}

/// Every location of an entity in the files of an analysis.
pub(crate) fn locations(analysis: &Analysis, entity: Entity, with_declarations: bool) -> Vec<Location> {
    let names = analysis.occurrences(entity).filter(|name| with_declarations || name.role == Role::Use);
    let mut locations = Vec::new();
    for location in names.filter_map(|name| analysis.location(&name.location)) {
        // A header that is included twice contains each location twice.
        if !locations.contains(&location) {
            locations.push(location);
        }
    }
    locations
}

/// The locations of a built-in entity, which has no declaration, in one analysis.
pub(crate) fn builtin_locations(cursor: &Cursor<'_>) -> Vec<Location> {
    cursor.name().map_or_else(Vec::new, |name| locations(cursor.analysis, name.entity, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let fixture = Fixture::new(text);
        let cursor = fixture.cursor();
        let name = cursor.name().expect("a name");
        let found = locations(&fixture.analysis, name.entity, true);
        assert_eq!(fixture.covered(found.into_iter().map(|location| location.range)), expected);
    }

    #[test]
    fn scopes_keep_names_apart() {
        check("int f(int a) {\n { float a = 1; a; }\n return $0a; }", &["0:a", "2:a"]);
        check("int f(int a) {\n { float a = 1; $0a; }\n return a; }", &["1:a", "1:a"]);
    }

    #[test]
    fn uses_in_macros_and_their_arguments_are_uses() {
        check("#define TWICE(x) (x + x + b)\nint f(int $0a, int b) {\n return TWICE(a); }", &["1:a", "2:a"]);
        check("#define TWICE(x) (x + x + b)\nint f(int a, int $0b) {\n return TWICE(a); }", &["0:b", "1:b"]);
    }

    #[test]
    fn tags_and_members_have_separate_name_spaces() {
        check("struct a { int a; };\nint f(struct $0a a) { return a.a; }", &["0:a", "1:a"]);
    }

    #[test]
    fn a_key_identifies_an_entity_in_another_source() {
        let text = "//- /a.cl\n#include \"b.h\"\nint f() { return $0g(1); }\n//- /b.h\nint g(int);\n";
        let fixture = Fixture::new(text);
        let key = key(&fixture.cursor()).expect("declared");
        assert_eq!((key.file.as_str(), key.offset, key.text.as_str()), ("/b.h", 4, "g"));
        assert_eq!(entity(&fixture.analysis, &key), fixture.cursor().name().map(|name| name.entity));
    }
}
