//! Inlines a variable: replaces its uses by its initializer, and removes its declaration.
//!
//! Applies only if the initializer has the same value at all uses: it has no memory accesses and no calls except those
//! of work-item functions, and none of its variables changes.

use std::ops::Range;

use kiln_frontend::sema::{Meaning, Role};
use kiln_syntax::{
    lex::{Lexeme, Lexer},
    token::Punct,
};
use kiln_types::ty::Ty;
use lsp_types::CodeActionKind;

use super::{Change, Selection};
use crate::names::{Entity, Name};

/// The refactoring, if the selected variable can be inlined.
pub(super) fn inline(selection: &Selection<'_>) -> Option<Change> {
    let (analysis, text) = (selection.analysis, selection.text());
    let names = analysis.names_in(selection.file);
    let at = names.iter().find(|name| selection.is_in(&name.location.range) && is_local(name))?;
    let Entity::Program(Meaning::Local(function, local)) = at.entity else { return None };
    let declared = analysis.occurrences(at.entity).find(|name| name.role == Role::Definition)?;
    let variable = analysis.local(function, local);
    let is_value =
        matches!(analysis.survey.program.types.get(variable.ty.ty), Ty::Scalar(_) | Ty::Vector(..));
    if !is_value || declared.location.file != selection.file || !is_constant(selection, at.entity) {
        return None;
    }
    let (declaration, value) = declaration(text, &declared.location.range)?;
    let is_stable = names.iter().filter(|name| value.contains(&name.location.range.start)).all(|name| {
        match name.entity {
            Entity::Program(Meaning::Local(..)) => is_constant(selection, name.entity),
            Entity::Program(Meaning::Builtin(symbol)) => analysis.symbol(symbol).starts_with("get_"),
            Entity::Program(Meaning::Constant(_) | Meaning::Enumerator(_) | Meaning::Type(_)) => true,
            Entity::Program(_) | Entity::Macro(..) => false,
        }
    });
    if !is_stable || !has_only_values(&text[value.clone()]) {
        return None;
    }
    let initializer = analysis
        .survey
        .facts
        .expressions
        .iter()
        .find(|typed| analysis.in_file(selection.file, typed.span).is_some_and(|range| range == value))?;
    let written = &text[value.clone()];
    let is_word = written.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let ty = analysis.show(variable.ty.ty);
    let replacement = match (initializer.ty.ty == variable.ty.ty, is_word) {
        (true, true) => written.to_owned(),
        (true, false) => format!("({written})"),
        (false, true) => format!("({ty}){written}"),
        (false, false) => format!("({ty})({written})"),
    };
    let uses: Vec<&Name> = analysis.occurrences(at.entity).filter(|name| name.role == Role::Use).collect();
    let is_here = |name: &&Name| name.location.file == selection.file && is_plain_use(selection, name);
    if uses.is_empty() || !uses.iter().all(is_here) {
        return None;
    }
    let mut edits: Vec<(Range<usize>, String)> =
        uses.iter().map(|name| (name.location.range.clone(), replacement.clone())).collect();
    edits.push((declaration, String::new()));
    let title = format!("Inline the variable `{}`", &text[declared.location.range.clone()]);
    Some(Change { title, kind: CodeActionKind::REFACTOR_INLINE, edits })
}

fn is_local(name: &Name) -> bool {
    matches!(name.entity, Entity::Program(Meaning::Local(..)))
}

/// Whether a use is in the file itself, and not in the arguments of a macro, which may stringize or repeat it.
fn is_plain_use(selection: &Selection<'_>, name: &Name) -> bool {
    let range = &name.location.range;
    let expressions = selection.analysis.survey.facts.expressions.iter();
    expressions.filter_map(|typed| selection.unexpanded_range(typed.span)).any(|written| written == *range)
}

/// Whether a variable or parameter is never changed, and its address is not taken.
fn is_constant(selection: &Selection<'_>, entity: Entity) -> bool {
    let text = selection.text();
    let mut uses = selection.analysis.occurrences(entity).filter(|name| name.role == Role::Use);
    uses.all(|name| {
        let before = text[..name.location.range.start].trim_end();
        let after = text[name.location.range.end..].trim_start();
        // A component or an element can be assigned to.
        let after =
            after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '.' || c == '_').trim_start();
        let assigns = after.starts_with('=') && !after.starts_with("==")
            || ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "["]
                .iter()
                .any(|operator| after.starts_with(operator));
        let is_address = before.ends_with('&') && !before.ends_with("&&");
        !assigns && !is_address && !before.ends_with("++") && !before.ends_with("--")
    })
}

/// The ranges of the line of a declaration with one declarator, and of its initializer: `int x = 1;`
fn declaration(text: &str, name: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let rest = &text[name.end..];
    let equals = rest.find(|c: char| !c.is_whitespace()).filter(|at| rest[*at..].starts_with('='))?;
    let start = name.end + equals + 1;
    let mut depth = 0usize;
    let end = Lexer::new(&text[start..]).find_map(|token| {
        let at = start + token.start as usize;
        match token.lexeme {
            Lexeme::Punct(Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace) => depth += 1,
            Lexeme::Punct(Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace) => {
                depth = depth.saturating_sub(1);
            }
            Lexeme::Punct(Punct::Comma) if depth == 0 => return Some(None),
            Lexeme::Punct(Punct::Semicolon) => return Some(Some(at)),
            _ => {}
        }
        None
    })??;
    let value = &text[start..end];
    let first = start + (value.len() - value.trim_start().len());
    let from = text[..name.start].rfind([';', '{', '}', '\n', '(', ','])?;
    // In the head of `for`, and among parameters, there is no statement to remove.
    if matches!(text.as_bytes()[from], b'(' | b',') {
        return None;
    }
    let whole = from + 1..end + 1;
    let is_line = text.as_bytes()[from] == b'\n' && text[whole.end..].starts_with('\n');
    Some((if is_line { from..whole.end } else { whole }, first..start + value.trim_end().len()))
}

/// Whether an expression reads no memory and changes nothing.
fn has_only_values(text: &str) -> bool {
    let mut before = None;
    Lexer::new(text).all(|token| {
        let is_operand = matches!(
            before,
            Some(
                Lexeme::Identifier | Lexeme::Number | Lexeme::Punct(Punct::CloseParen | Punct::CloseBracket)
            )
        );
        before = Some(token.lexeme);
        match token.lexeme {
            // `*p` reads memory, `a * b` does not.
            Lexeme::Punct(Punct::Star | Punct::And) => is_operand,
            Lexeme::Punct(
                Punct::OpenBracket
                | Punct::Arrow
                | Punct::PlusPlus
                | Punct::MinusMinus
                | Punct::OpenBrace
                | Punct::Equal,
            ) => false,
            _ => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::test::apply;

    #[test]
    fn uses_become_the_initializer() {
        assert_eq!(
            apply("int f(int a) {\n    int b$0 = a + 1;\n    return b * b;\n}\n", "Inline").as_deref(),
            Some("int f(int a) {\n    return (a + 1) * (a + 1);\n}\n")
        );
        assert_eq!(
            apply("float f() { float $0x = 1; return x / 2; }", "Inline").as_deref(),
            Some("float f() { return (float)1 / 2; }")
        );
    }

    #[test]
    fn variables_that_may_change_are_not_inlined() {
        for text in [
            "int f(int a) { int $0b = a; a = 2; return b; }",
            "int f(int a) { int $0b = a; b += 2; return b; }",
            "int f(global int *a) { int $0b = a[0]; a[0] = 2; return b; }",
            "int g(); int f() { int $0b = g(); return b + b; }",
            "int f(int a) { for (int $0b = a; ; ) return b; }",
            "int f(int a) { int $0b = 1, c = 2; return b + c; }",
        ] {
            assert_eq!(apply(text, "Inline"), None, "{text}");
        }
    }
}
