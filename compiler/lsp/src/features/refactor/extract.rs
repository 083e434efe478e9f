//! Extracts statements to a function. The variables that they use become parameters. If the statements change one
//! variable, it becomes the result. Statements that change several variables are not extracted.

use std::ops::Range;

use kiln_frontend::sema::{Meaning, Role};
use kiln_syntax::{
    Arena,
    ast::BlockItem,
    lex::{Lexeme, Lexer},
    token::{Keyword, Punct},
};
use kiln_types::ty::Ty;
use lsp_types::CodeActionKind;

use super::{Change, Selection};
use crate::{
    names::{Entity, Name},
    tree::{self, Node},
};

/// The name of the new function.
const NAME: &str = "extracted";

/// The refactoring, if the selected statements can be extracted.
pub(super) fn extract(selection: &Selection<'_>) -> Option<Change> {
    let (function, statements) = statements(selection)?;
    let text = &selection.text()[statements.clone()];
    if leaves(text) || selection.text().contains(NAME) {
        return None;
    }
    let mut parameters: Vec<Entity> = Vec::new();
    let mut result = None;
    for name in names(selection, &statements) {
        let is_inside =
            declared(selection, name.entity).is_some_and(|range| statements.contains(&range.start));
        if is_inside {
            // A variable that is used after the statements cannot move.
            let mut uses = selection.analysis.occurrences(name.entity);
            if uses.any(|name| name.location.range.start >= statements.end) {
                return None;
            }
            continue;
        }
        if !parameters.contains(&name.entity) {
            parameters.push(name.entity);
        }
        if is_changed(selection, name) && result != Some(name.entity) {
            // Only one can be the result.
            if result.is_some() {
                return None;
            }
            result = Some(name.entity);
        }
    }
    // A macro may use a name as part of other tokens.
    let in_macros = selection.analysis.names_in(selection.file).iter();
    let mut in_macros = in_macros.filter(|name| statements.contains(&name.location.range.start));
    if in_macros.any(|name| matches!(name.entity, Entity::Macro(..))) {
        return None;
    }
    let list = parameters.iter().map(|entity| declaration(selection, *entity)).collect::<Option<Vec<_>>>()?;
    let arguments: Vec<&str> =
        parameters.iter().map(|entity| word(selection, *entity)).collect::<Option<_>>()?;
    let ty = match result {
        None => "void".to_owned(),
        Some(entity) => selection.analysis.show(value_type(selection, entity)?),
    };
    let call = format!("{NAME}({});", arguments.join(", "));
    let (call, end) = match result.and_then(|entity| word(selection, entity)) {
        None => (call, String::new()),
        Some(word) => (format!("{word} = {call}"), format!("\n    return {word};")),
    };
    let body = reindented(selection.text(), &statements);
    let made = format!("{ty} {NAME}({}) {{\n{body}{end}\n}}\n\n", list.join(", "));
    let edits = vec![(function.start..function.start, made), (statements, call)];
    let title = "Extract the statements to a function".to_owned();
    Some(Change { title, kind: CodeActionKind::REFACTOR_EXTRACT, edits })
}

/// The function around the selection, and the range of the whole statements in it.
fn statements(selection: &Selection<'_>) -> Option<(Range<usize>, Range<usize>)> {
    let text = selection.text();
    let selected = &text[selection.range.clone()];
    let start = selection.range.start + (selected.len() - selected.trim_start().len());
    let end = selection.range.start + selected.trim_end().len();
    if start >= end {
        return None;
    }
    let arena = Arena::default();
    let (mut function, mut found) = (None, None);
    tree::walk(selection.analysis.survey.tree(&arena), &mut |node| match node {
        Node::Function(it) => {
            let range = selection.unexpanded_range(node.span());
            if let Some(range) = range.filter(|range| range.start <= start && end <= range.end) {
                // Attributes and `kernel` are part of the specifiers.
                let _ = it;
                function = Some(range);
            }
        }
        Node::Block(block) => {
            let ranges = block.items.iter().filter_map(|item| match item {
                BlockItem::Declaration(declaration) => selection.unexpanded_range(declaration.span),
                BlockItem::Statement(statement) => selection.unexpanded_range(statement.span),
                _ => None,
            });
            let ranges: Vec<Range<usize>> = ranges.collect();
            let starts = ranges.iter().any(|range| range.start == start);
            if starts && ranges.iter().any(|range| range.end == end) {
                found = Some(start..end);
            }
        }
        _ => {}
    });
    Some((function?, found?))
}

/// Whether statements leave the function or a loop around them, or declare what only a kernel can.
fn leaves(text: &str) -> bool {
    let is_word = |range: Range<usize>, keyword: Keyword| text[range] == *keyword.spelling();
    let mut depth = 0usize;
    let mut loops: Vec<usize> = Vec::new();
    Lexer::new(text).any(|token| {
        let range = token.start as usize..token.end as usize;
        match token.lexeme {
            Lexeme::Punct(Punct::OpenBrace) => depth += 1,
            Lexeme::Punct(Punct::CloseBrace) => depth = depth.saturating_sub(1),
            // Directives are not moved.
            Lexeme::Punct(Punct::Hash) => return true,
            _ => {}
        }
        if [Keyword::For, Keyword::While, Keyword::Do, Keyword::Switch]
            .iter()
            .any(|it| is_word(range.clone(), *it))
        {
            loops.push(depth);
        }
        let breaks = is_word(range.clone(), Keyword::Break) || is_word(range.clone(), Keyword::Continue);
        // Only loops with braces around the jump count. Otherwise, the statements are not extracted.
        // Only kernels can declare variables in local memory.
        let is_local = is_word(range.clone(), Keyword::Local) || text[range.clone()] == *"__local";
        is_local
            || breaks && !loops.iter().any(|around| *around < depth)
            || [Keyword::Return, Keyword::Goto, Keyword::Case].iter().any(|it| is_word(range.clone(), *it))
    })
}

/// The uses of variables and parameters of functions in a range.
fn names<'s>(selection: &'s Selection<'_>, range: &Range<usize>) -> impl Iterator<Item = &'s Name> {
    let range = range.clone();
    let names = selection.analysis.names_in(selection.file).iter();
    names.filter(move |name| {
        range.contains(&name.location.range.start)
            && matches!(name.entity, Entity::Program(Meaning::Local(..)))
    })
}

fn declared(selection: &Selection<'_>, entity: Entity) -> Option<Range<usize>> {
    let mut names = selection.analysis.occurrences(entity);
    names.find(|name| name.role == Role::Definition).map(|name| name.location.range.clone())
}

fn word<'s>(selection: &'s Selection<'_>, entity: Entity) -> Option<&'s str> {
    Some(&selection.text()[declared(selection, entity)?])
}

/// The type of a variable that can be passed and returned by value. Pointers to variables cannot change here.
fn value_type(selection: &Selection<'_>, entity: Entity) -> Option<kiln_types::ty::TyId> {
    let ty = selection.analysis.type_of(entity)?;
    let is_value =
        matches!(selection.analysis.survey.program.types.get(ty.ty), Ty::Scalar(_) | Ty::Vector(..));
    is_value.then_some(ty.ty)
}

/// The declaration of a parameter for a variable: `global float *p`.
fn declaration(selection: &Selection<'_>, entity: Entity) -> Option<String> {
    let analysis = selection.analysis;
    let ty = analysis.type_of(entity)?;
    let shown = match analysis.survey.program.types.get(ty.ty) {
        Ty::Scalar(_) | Ty::Vector(..) | Ty::Pointer(_) | Ty::Image(_) | Ty::Sampler => analysis.show(ty.ty),
        _ => return None,
    };
    if shown.contains(['[', '(', '<']) {
        return None;
    }
    let word = word(selection, entity)?;
    Some(if shown.ends_with('*') { format!("{shown}{word}") } else { format!("{shown} {word}") })
}

/// Whether a use changes its variable, or could do so.
fn is_changed(selection: &Selection<'_>, name: &Name) -> bool {
    let text = selection.text();
    let before = text[..name.location.range.start].trim_end();
    let after = text[name.location.range.end..].trim_start();
    let is_component = after.starts_with('.');
    let after = after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '.' || c == '_').trim_start();
    let assigns = after.starts_with('=') && !after.starts_with("==")
        || ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"]
            .iter()
            .any(|operator| after.starts_with(operator));
    let steps = before.ends_with("++") || before.ends_with("--");
    let is_address = before.ends_with('&') && !before.ends_with("&&");
    assigns || steps || is_address || is_component && after.starts_with('[')
}

/// Statements with the indentation of a function's body.
fn reindented(text: &str, range: &Range<usize>) -> String {
    let line = text[..range.start].rfind('\n').map_or(0, |found| found + 1);
    let indent = text[line..range.start].len() - text[line..range.start].trim_start().len();
    let lines = text[range.clone()].split('\n').enumerate().map(|(number, line)| {
        let blank = line.len() - line.trim_start().len();
        let kept = if number == 0 { line } else { &line[blank.min(indent)..] };
        if kept.is_empty() { String::new() } else { format!("    {kept}") }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::test::apply;

    #[test]
    fn variables_become_parameters_and_the_result() {
        let text = "kernel void k(global float *out, int n) {\n    float sum = 0;\n    \
            $0for (int i = 0; i < n; ++i) {\n        sum += out[i];\n    }$1\n    out[0] = sum;\n}\n";
        assert_eq!(
            apply(text, "Extract").as_deref(),
            Some(
                "float extracted(int n, float sum, global float *out) {\n    for (int i = 0; i < n; ++i) {\n        \
                 sum += out[i];\n    }\n    return sum;\n}\n\n\
                 kernel void k(global float *out, int n) {\n    float sum = 0;\n    sum = extracted(n, sum, out);\n    \
                 out[0] = sum;\n}\n"
            )
        );
    }

    #[test]
    fn images_become_parameters() {
        let text = "kernel void k(global float4 *out, read_only image2d_t in, sampler_t s) {\n    \
            $0out[0] = read_imagef(in, s, (float2)(0));$1\n}\n";
        let head = "void extracted(global float4 *out, read_only image2d_t in, sampler_t s) {\n";
        assert!(apply(text, "Extract").is_some_and(|text| text.starts_with(head)));
    }

    #[test]
    fn variables_in_local_memory_stay_in_their_kernel() {
        let text = "kernel void k(global int *out) { $0local int a[4]; a[0] = 1;$1 out[0] = 1; }";
        assert_eq!(apply(text, "Extract"), None);
    }

    #[test]
    fn statements_with_jumps_are_not_extracted() {
        for body in ["$0if (n) return;$1", "$0int b = n;$1 n = b;", "$0int b = 1; n = b$1;", "$0$1n = 1;"] {
            let text = format!("void f(int n) {{ for (;;) {{ {body} }} }}");
            assert_eq!(apply(&text, "Extract"), None, "{text}");
        }
        assert_eq!(apply("void f(int n) { for (;;) { $0if (n) break;$1 } }", "Extract"), None);
    }
}
