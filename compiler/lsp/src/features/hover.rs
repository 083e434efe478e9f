//! Hover: types, values, layouts and documentation.

mod builtin;
mod layout;
mod mapping;

pub(crate) use builtin::{about, forms};

use kiln_frontend::{
    hir::{Const, FunctionId},
    sema::{Meaning, Role},
};
use kiln_syntax::{
    Span,
    token::{Keyword, TokenKind},
};
use kiln_types::ty::{QualTy, Scalar, Ty};
use kiln_vocabulary::opencl::AddressSpace;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use crate::{
    analysis::{Analysis, Cursor},
    documentation,
    lexical::{self, Piece},
    names::{Entity, Name},
};

/// The hover text at the cursor.
pub(crate) fn hover(cursor: &Cursor<'_>) -> Option<Hover> {
    let (text, range) = match cursor.name() {
        Some(name) => (name_text(cursor, name)?, name.location.range.clone()),
        None => word(cursor).or_else(|| expression(cursor))?,
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range: Some(cursor.range(&range)) })
}

/// The text for a name.
fn name_text(cursor: &Cursor<'_>, name: &Name) -> Option<String> {
    let analysis = cursor.analysis;
    let text = analysis.survey.sources.text(&name.location);
    match name.entity {
        Entity::Macro(symbol, definition) => macro_text(cursor, name, analysis.symbol(symbol), definition),
        Entity::Program(Meaning::Builtin(_)) => Some(builtin::text(cursor, name, text)),
        Entity::Program(meaning) => entity_text(analysis, meaning, text),
    }
}

/// The text for an entity of the program, or for a constant or type of the language.
pub(crate) fn entity_text(analysis: &Analysis, meaning: Meaning, text: &str) -> Option<String> {
    let program = &analysis.survey.program;
    let comment = comment_above(analysis, Entity::Program(meaning)).unwrap_or_default();
    let description = match meaning {
        Meaning::Local(function, local) => {
            let owner = &program.functions[function];
            let what = if owner.parameters.contains(&local) { "parameter" } else { "variable" };
            let ty = analysis.local(function, local).ty;
            let owner = analysis.symbol(owner.name);
            let is_block = owner.is_empty() || owner == "<block>";
            let of = if is_block { String::new() } else { format!(" of `{owner}`") };
            join([code(&declared(analysis, ty, text)), format!("{what}{of}{}", size(analysis, ty))])
        }
        Meaning::Global(global) => {
            let global = &program.globals[global];
            let bytes = global.init.as_ref().map(|image| image.bytes.as_slice());
            let is_fixed = global.ty.quals.is_const || global.ty.quals.space == Some(AddressSpace::Constant);
            let value = value_of_bytes(analysis, global.ty, bytes.unwrap_or_default()).filter(|_| is_fixed);
            let value = value.map(|value| format!(" = {value}")).unwrap_or_default();
            let line = format!("{}{value}", declared(analysis, global.ty, text));
            join([code(&line), format!("program-scope variable{}", size(analysis, global.ty))])
        }
        Meaning::Function(function) => code(&signature(analysis, function)),
        Meaning::Typedef(declaration) => {
            code(&typedef_line(analysis, declaration).unwrap_or_else(|| format!("typedef … {text}")))
        }
        Meaning::Enumerator(_) => {
            let mut found = program.types.enums.iter().flat_map(|it| &it.enumerators);
            let value = found.find(|(symbol, _)| analysis.symbol(*symbol) == text);
            let value = value.map(|(_, value)| format!(" = {value}")).unwrap_or_default();
            join([code(&format!("{text}{value}")), "enumerator".to_owned()])
        }
        Meaning::Member(declaration) => {
            let (record, field) = analysis.member(declaration)?;
            let owner = record.name.map_or("", |name| analysis.symbol(name));
            let of = if owner.is_empty() { String::new() } else { format!(" of `{owner}`") };
            let line = declared(analysis, field.ty, text);
            let description = format!("member{of} at offset {}{}", field.offset, size(analysis, field.ty));
            join([code(&line), description])
        }
        Meaning::Record(record) => layout::record(analysis, record),
        Meaning::Enum(id) => layout::enumeration(analysis, id),
        Meaning::Label(..) => code(&format!("{text}:")),
        Meaning::Constant(_) => {
            let value = kiln_types::ty::constant(text).map(|constant| show_value(&constant.value));
            let line = value.map_or(text.to_owned(), |value| format!("{text} = {value}"));
            join([code(&line), documentation::word(text).unwrap_or_default().to_owned()])
        }
        Meaning::Type(_) => layout::predeclared(analysis, text),
        Meaning::Builtin(_) => return None,
    };
    Some(join([description, comment]))
}

/// The text for a macro: its definition, and its expansion here.
fn macro_text(cursor: &Cursor<'_>, name: &Name, text: &str, definition: Option<Span>) -> Option<String> {
    let analysis = cursor.analysis;
    let line = definition.map(|span| macro_line(analysis, span, text))?;
    let expansion = if name.role == Role::Use { expansion(cursor, name) } else { None };
    let expansion = expansion.map(|text| join(["expands to".to_owned(), code(&text)])).unwrap_or_default();
    let documentation = documentation::word(text).unwrap_or_default().to_owned();
    let comment = comment_above(analysis, name.entity).unwrap_or_default();
    Some(join([code(&line), expansion, documentation, comment]))
}

/// The line that defines a macro.
pub(crate) fn macro_line(analysis: &Analysis, definition: Span, name: &str) -> String {
    let Some(location) = analysis.survey.sources.spelling(definition) else {
        return format!("#define {name}");
    };
    let file = &analysis.survey.sources.file(location.file).text;
    let end = lexical::line_end(file, location.range.start);
    format!("#define {}", &file[location.range.start..end])
}

/// The expansion of a macro call.
fn expansion(cursor: &Cursor<'_>, name: &Name) -> Option<String> {
    let analysis = cursor.analysis;
    let sources = &analysis.survey.sources;
    let mut text = String::new();
    for token in &analysis.survey.tokens {
        let call = sources.outermost_call(token.span.lo).and_then(|call| analysis.spelling(call));
        let is_of_call = call.is_some_and(|call| {
            call.file == name.location.file && call.range.start == name.location.range.start
        });
        if is_of_call {
            let spelled = token_text(analysis, token.kind);
            if needs_gap(&text, &spelled) {
                text.push(' ');
            }
            text.push_str(&spelled);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Whether to separate two tokens by a space.
fn needs_gap(before: &str, next: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_operator = |text: &str| {
        matches!(
            text,
            "+" | "=" | "==" | "?" | ":" | "&&" | "||" | "<" | ">" | "<=" | ">=" | "+=" | "{" | "}"
        )
    };
    before.ends_with(is_word) && next.starts_with(is_word)
        || !before.is_empty() && is_operator(next)
        || before.ends_with(['+', '=', '?', ',', ';', '{'])
}

fn token_text(analysis: &Analysis, kind: TokenKind) -> String {
    match kind {
        TokenKind::Keyword(keyword) => keyword.spelling().to_owned(),
        TokenKind::Punct(punct) => punct.spelling().to_owned(),
        TokenKind::Name(symbol)
        | TokenKind::Integer(symbol)
        | TokenKind::Floating(symbol)
        | TokenKind::Character(symbol)
        | TokenKind::String(symbol) => analysis.symbol(symbol).to_owned(),
        TokenKind::Pragma(_) | TokenKind::Unknown => String::new(),
    }
}

/// The text for a keyword or an attribute.
fn word(cursor: &Cursor<'_>) -> Option<(String, std::ops::Range<usize>)> {
    let range = cursor.word();
    let text = cursor.text().get(range.clone()).filter(|text| !text.is_empty())?;
    let is_keyword = Keyword::ALL.iter().any(|(spelling, _)| *spelling == text);
    let is_inside = is_keyword || cursor.text()[..range.start].ends_with(['(', ' ', ',']);
    let documentation = documentation::word(text).filter(|_| is_inside)?;
    Some((join([code(text), documentation.to_owned()]), range))
}

/// The type and value of the innermost expression.
fn expression(cursor: &Cursor<'_>) -> Option<(String, std::ops::Range<usize>)> {
    let analysis = cursor.analysis;
    let around = cursor.expressions().into_iter().filter(|(range, _)| cursor.offset < range.end);
    let (range, typed) = around.min_by_key(|(range, _)| range.len())?;
    if matches!(analysis.survey.program.types.get(typed.ty.ty), Ty::Error | Ty::Void) {
        return None;
    }
    let value = typed.value.as_ref().map(|value| format!(" = {}", show_value(value))).unwrap_or_default();
    Some((code(&format!("{}{value}", analysis.show(typed.ty))), range))
}

/// The declaration of a function.
pub(crate) fn signature(analysis: &Analysis, function: FunctionId) -> String {
    let parameters = parameters(analysis, function).join(", ");
    let function = &analysis.survey.program.functions[function];
    let kernel = if function.kernel.is_some() { "kernel " } else { "" };
    let result = analysis.show(function.result.plain());
    format!("{kernel}{result} {}({parameters})", analysis.symbol(function.name))
}

/// The declarations of a function's parameters.
pub(crate) fn parameters(analysis: &Analysis, function: FunctionId) -> Vec<String> {
    let function = &analysis.survey.program.functions[function];
    let one = |local: &kiln_frontend::hir::LocalId| {
        let local = &function.locals[*local];
        declared(analysis, local.ty, local.name.map_or("", |name| analysis.symbol(name)))
    };
    function.parameters.iter().map(one).collect()
}

/// The declaration of a name with this type, without the implicit private address space.
pub(crate) fn declared(analysis: &Analysis, mut ty: QualTy, name: &str) -> String {
    if ty.quals.space == Some(AddressSpace::Private) {
        ty.quals.space = None;
    }
    analysis.survey.program.types.show_declaration(ty, name, &analysis.survey.interner)
}

fn size(analysis: &Analysis, ty: QualTy) -> String {
    match analysis.survey.program.types.size_of(ty.ty) {
        Some(1) => ", 1 byte".to_owned(),
        Some(size) => format!(", {size} bytes"),
        None => String::new(),
    }
}

/// The declaration of a typedef, as written.
fn typedef_line(analysis: &Analysis, declaration: Span) -> Option<String> {
    let location = analysis.survey.sources.resolve(declaration)?;
    let file = &analysis.survey.sources.file(location.file).text;
    let start = file[..location.range.start].rfind("typedef")?;
    let end = location.range.end + file[location.range.end..].find(';')?;
    file.get(start..end).map(str::to_owned)
}

/// The scalar in the first bytes of an object.
fn value_of_bytes(analysis: &Analysis, ty: QualTy, bytes: &[u8]) -> Option<String> {
    let Ty::Scalar(scalar) = analysis.survey.program.types.get(ty.ty) else { return None };
    let size = scalar.size() as usize;
    let mut all = [0; 8];
    let known = size.min(bytes.len());
    all[..known].copy_from_slice(&bytes[..known]);
    let bits = u64::from_le_bytes(all);
    Some(match scalar {
        Scalar::Float => f32::from_bits(bits as u32).to_string(),
        Scalar::Double => f64::from_bits(bits).to_string(),
        Scalar::Half => return None,
        _ if scalar.is_signed() => {
            let unused = 64 - 8 * size as u32;
            ((bits << unused) as i64 >> unused).to_string()
        }
        _ => bits.to_string(),
    })
}

/// A constant in source syntax.
fn show_value(value: &Const) -> String {
    match value {
        Const::Int(bits) if *bits as i64 >= 0 && *bits > 255 => format!("{bits} (0x{bits:x})"),
        Const::Int(bits) => (*bits as i64).to_string(),
        Const::Float(value) => value.to_string(),
        Const::Vector(parts) => {
            format!("({})", parts.iter().map(show_value).collect::<Vec<_>>().join(", "))
        }
        Const::NullPointer => "NULL".to_owned(),
        Const::Zero => "0".to_owned(),
        Const::Undefined => "undefined".to_owned(),
    }
}

/// The comment directly above the definition of an entity, or else above a declaration.
fn comment_above(analysis: &Analysis, entity: Entity) -> Option<String> {
    let mut declared: Vec<&Name> =
        analysis.occurrences(entity).filter(|name| name.role != Role::Use).collect();
    declared.sort_by_key(|name| name.role);
    declared.iter().find_map(|name| {
        let text = analysis.text(name.location.file);
        comment_before(text, text[..name.location.range.start].rfind('\n').map_or(0, |at| at + 1))
    })
}

/// The full-line comments directly before this line.
fn comment_before(text: &str, line: usize) -> Option<String> {
    let mut lines = Vec::new();
    let mut end = line;
    for piece in lexical::pieces(&text[..line]).into_iter().rev() {
        let Piece::Comment(range) = piece else { break };
        let gap = &text[range.end..end];
        let own_line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let is_alone = text[own_line..range.start].trim().is_empty();
        if !gap.trim().is_empty() || gap.matches('\n').count() > 1 || !is_alone {
            break;
        }
        lines.push(comment_text(&text[range.clone()]));
        end = range.start;
    }
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The text of a comment without its markers.
fn comment_text(comment: &str) -> String {
    let inside = comment.strip_prefix("/*").map(|rest| rest.strip_suffix("*/").unwrap_or(rest));
    let inside = inside.unwrap_or_else(|| comment.trim_start_matches('/'));
    let lines = inside.lines().map(|line| line.trim().trim_start_matches(['*', '!']).trim());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// A Markdown code block.
pub(crate) fn code(text: &str) -> String {
    format!("```opencl\n{text}\n```")
}

/// Joins the non-empty paragraphs.
pub(crate) fn join(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests;
