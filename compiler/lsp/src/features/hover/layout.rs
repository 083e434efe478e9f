//! Hover for types: members with their offsets, enumerators, sizes.

use std::fmt::Write as _;

use kiln_syntax::ast::RecordKind;
use kiln_types::ty::{EnumId, RecordId, Types};

use super::{code, declared, join};
use crate::{analysis::Analysis, documentation};

/// The layout of a struct or union, as the host must match it.
pub(super) fn record(analysis: &Analysis, id: RecordId) -> String {
    let types = &analysis.survey.program.types;
    let record = &types.records[id];
    let word = if record.kind == RecordKind::Struct { "struct" } else { "union" };
    let head = code(&format!("{word} {}", record.name.map_or("", |name| analysis.symbol(name))));
    let Some(fields) = &record.fields else { return join([head, "declared, not defined".to_owned()]) };
    let mut table = "| offset | size | member |\n|---|---|---|\n".to_owned();
    let (mut end, mut padding) = (0, 0);
    for field in fields {
        let size = types.size_of(field.ty.ty).unwrap_or(0);
        let name = field.name.map_or("", |name| analysis.symbol(name));
        let line = declared(analysis, field.ty, name);
        writeln!(table, "| {} | {size} | `{line}` |", field.offset).expect("a string takes all");
        if record.kind == RecordKind::Struct {
            padding += field.offset.saturating_sub(end);
            end = field.offset + size;
        }
    }
    if record.kind == RecordKind::Struct {
        padding += record.size.saturating_sub(end);
    }
    let padding = match padding {
        0 => String::new(),
        1 => ", 1 byte of padding".to_owned(),
        bytes => format!(", {bytes} bytes of padding"),
    };
    join([head, format!("size {}, alignment {}{padding}", record.size, record.align), table])
}

/// An enum with its values.
pub(super) fn enumeration(analysis: &Analysis, id: EnumId) -> String {
    let entry = &analysis.survey.program.types.enums[id];
    let name = entry.name.map_or("", |name| analysis.symbol(name));
    let mut text = format!("enum {name} : {} {{\n", entry.underlying.spelling());
    for (name, value) in &entry.enumerators {
        writeln!(text, "    {} = {value},", analysis.symbol(*name)).expect("a string takes all");
    }
    text.push('}');
    code(&text)
}

/// A built-in type.
pub(super) fn predeclared(analysis: &Analysis, name: &str) -> String {
    let mut types = Types::new();
    let found = types.predeclared(name).map(|found| found.ty);
    let shown = found.map(|ty| types.show(ty, &analysis.survey.interner));
    let line = shown
        .filter(|shown| shown != name)
        .map_or(name.to_owned(), |shown| format!("typedef {shown} {name}"));
    let sizes = found.and_then(|ty| Some((types.size_of(ty)?, types.align_of(ty)?)));
    let sizes = sizes.map(|(size, align)| format!("{size} bytes, alignment {align}")).unwrap_or_default();
    join([code(&line), sizes, documentation::word(name).unwrap_or_default().to_owned()])
}
