//! Renames an entity of the program or a macro in all sources. Rejects built-in names, and macros whose name also occurs
//! where its meaning is unknown, such as in an inactive group.

use kiln_builtins as builtins;
use kiln_frontend::sema::Meaning;
use kiln_syntax::{
    lex::{Lexeme, Lexer},
    token::Keyword,
};
use kiln_types::ty;
use lsp_types::{Range, TextEdit, Uri};

use crate::{
    analysis::{Analysis, Cursor},
    names::{Entity, Name, is_word},
};

/// Edits, each with its file.
pub(crate) type Edits = Vec<(Uri, TextEdit)>;

/// The name at the cursor, if it can be renamed.
pub(crate) fn prepare(cursor: &Cursor<'_>) -> Result<(Range, String), String> {
    let name = cursor.name().ok_or("there is no name here")?;
    let text = cursor.text()[name.location.range.clone()].to_owned();
    match name.entity {
        Entity::Macro(_, definition) => {
            let analysis = cursor.analysis;
            match definition.and_then(|span| analysis.spelling(span)) {
                Some(_) => Ok((cursor.range(&name.location.range), text)),
                None => Err(format!("no source defines the macro `{text}`")),
            }
        }
        Entity::Program(Meaning::Builtin(_) | Meaning::Constant(_) | Meaning::Type(_)) => {
            Err(format!("`{text}` is a name of OpenCL C"))
        }
        Entity::Program(_) => Ok((cursor.range(&name.location.range), text)),
    }
}

/// The reason why an entity cannot get this name in the files of one analysis. `None` if it can.
pub(crate) fn rejection(analysis: &Analysis, entity: Entity, old: &str, new: &str) -> Option<String> {
    if !is_word(new) || Keyword::ALL.iter().any(|(spelling, _)| *spelling == new) {
        return Some(format!("`{new}` is not a name"));
    }
    if builtins::is_name(new) || ty::constant(new).is_some() || ty::is_reserved(new) {
        return Some(format!("`{new}` is a name of OpenCL C"));
    }
    let sources = &analysis.survey.sources;
    let text = |name: &Name| sources.text(&name.location);
    if analysis.survey.trace.definitions.iter().any(|it| analysis.symbol(it.name) == new) {
        return Some(format!("`{new}` is a macro"));
    }
    if let Some(taken) =
        analysis.names().iter().find(|name| text(name) == new && conflicts(name.entity, entity))
    {
        let location = analysis.location(&taken.location);
        let line = location.map_or(0, |location| location.range.start.line + 1);
        return Some(format!("`{new}` is already used in line {line}"));
    }
    if let Entity::Macro(..) = entity
        && let Some(line) = unknown_use(analysis, entity, old)
    {
        return Some(format!("`{old}` in line {line} may be another name"));
    }
    for name in analysis.occurrences(entity) {
        if text(name) != old {
            return Some(format!("`{old}` is formed by a macro"));
        }
        let others =
            analysis.names_in(name.location.file).iter().filter(|other| other.location == name.location);
        if others.into_iter().any(|other| other.entity != entity) {
            return Some(format!("a macro uses `{old}` for different things"));
        }
    }
    None
}

/// The line of an occurrence of a macro's name that does not refer to this macro: in an inactive group, or after
/// another definition.
fn unknown_use(analysis: &Analysis, entity: Entity, old: &str) -> Option<usize> {
    let mut files: Vec<_> = analysis.occurrences(entity).map(|name| name.location.file).collect();
    files.dedup();
    files.into_iter().find_map(|file| {
        let text = analysis.text(file);
        let known = |start: usize| {
            analysis
                .names_in(file)
                .iter()
                .any(|name| name.location.range.start == start && name.entity == entity)
        };
        let is_word = |lexeme: Lexeme| matches!(lexeme, Lexeme::Identifier | Lexeme::ExtendedIdentifier);
        let words = Lexer::new(text).filter(|token| is_word(token.lexeme));
        let mut unknown = words
            .map(|token| token.start as usize..token.end as usize)
            .filter(|range| &text[range.clone()] == old && !known(range.start));
        unknown.next().map(|range| 1 + text[..range.start].matches('\n').count())
    })
}

/// Whether the names of two entities could conflict. Labels, members and tags have separate name spaces, and so do the
/// variables of different functions.
fn conflicts(one: Entity, other: Entity) -> bool {
    use Meaning::{Enum, Label, Local, Member, Record};
    match (one, other) {
        (
            Entity::Program(Local(one, _) | Label(one, _)),
            Entity::Program(Local(other, _) | Label(other, _)),
        ) => one == other,
        (Entity::Program(Member(_)), Entity::Program(Member(_))) => true,
        (Entity::Program(Member(_)), _) | (_, Entity::Program(Member(_))) => false,
        (Entity::Program(Record(_) | Enum(_)), Entity::Program(Record(_) | Enum(_))) => true,
        (Entity::Program(Record(_) | Enum(_)), _) | (_, Entity::Program(Record(_) | Enum(_))) => false,
        _ => true,
    }
}

/// Adds the edits in the files of one analysis.
pub(crate) fn edits(analysis: &Analysis, entity: Entity, new: &str, edits: &mut Edits) {
    for location in super::references::locations(analysis, entity, true) {
        let edit = TextEdit { range: location.range, new_text: new.to_owned() };
        if !edits.iter().any(|(uri, other)| *uri == location.uri && *other == edit) {
            edits.push((location.uri, edit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[track_caller]
    fn renamed(text: &str, new: &str) -> Result<usize, String> {
        let fixture = Fixture::new(text);
        let (_, old) = prepare(&fixture.cursor())?;
        let entity = fixture.cursor().name().expect("a name").entity;
        if let Some(why) = rejection(&fixture.analysis, entity, &old, new) {
            return Err(why);
        }
        let mut changes = Edits::new();
        edits(&fixture.analysis, entity, new, &mut changes);
        Ok(changes.len())
    }

    #[test]
    fn every_occurrence_is_renamed() {
        assert_eq!(renamed("int f(int $0a) { return a + a; }", "b"), Ok(3));
        assert_eq!(
            renamed("#define $0A 1\n#define B (A + 1)\n#ifdef A\nint a = A + B;\n#endif\n", "C"),
            Ok(4)
        );
        assert_eq!(renamed("#define A(x) (x + a)\nint f(int $0a) { return A(a); }", "b"), Ok(3));
        assert_eq!(
            renamed("//- /a.cl\n#include \"b.h\"\nint f() { return g$0(1); }\n//- /b.h\nint g(int);\n", "h"),
            Ok(2)
        );
    }

    #[test]
    fn renames_are_rejected_with_a_reason() {
        let rejected = |text, new| renamed(text, new).expect_err("rejected");
        assert_eq!(rejected("int f(int a) { return $0abs(a); }", "b"), "`abs` is a name of OpenCL C");
        assert_eq!(
            rejected("int a = $0__OPENCL_VERSION__;\n", "b"),
            "no source defines the macro `__OPENCL_VERSION__`"
        );
        assert_eq!(
            rejected("#define $0A 1\n#if 0\nint a = A;\n#endif\n", "B"),
            "`A` in line 3 may be another name"
        );
        assert_eq!(
            rejected("#define $0A 1\n#undef A\n#define A 2\nint a = A;\n", "B"),
            "`A` in line 3 may be another name"
        );
        assert_eq!(rejected("int f(int $0a, int b) { return a; }", "b"), "`b` is already used in line 1");
        assert_eq!(rejected("int f(int $0a) { return a; }", "for"), "`for` is not a name");
        assert_eq!(
            rejected("int f(int $0a) { return a; }", "get_global_id"),
            "`get_global_id` is a name of OpenCL C"
        );
        let shared = "#define A (a)\nint f(int $0a) { return A; }\nint g(int a) { return A; }";
        assert_eq!(rejected(shared, "b"), "a macro uses `a` for different things");
    }
}
