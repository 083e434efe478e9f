//! One JSON object per line, for programs.

use kiln_session::{
    diag::{Diagnostic, Severity},
    source::{FileRange, IncludeStep, MacroStep},
};
use kiln_syntax::Span;
use serde_json::{Value, json};

use super::{Sources, presumed_range::PresumedRange};

/// Formats a diagnostic.
pub(super) fn render(text: &mut String, sources: Sources<'_>, diagnostic: &Diagnostic) {
    let map = sources.map;
    let location = map.resolve(diagnostic.span);
    let at = |span: Span| map.resolve(span).map_or(Value::Null, |location| location_json(sources, &location));
    let macros = |step: &MacroStep| json!({ "name": sources.interner.text(step.name), "location": location_json(sources, &step.definition) });
    let includes = |step: &IncludeStep| location_json(sources, &step.directive);
    let object = json!({
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": diagnostic.code.name(),
        "message": diagnostic.message,
        "location": location.as_ref().map(|location| location_json(sources, location)),
        "label": diagnostic.label,
        "labels": diagnostic.labels.iter()
            .map(|label| json!({ "location": at(label.span), "text": label.text }))
            .collect::<Vec<_>>(),
        "help": diagnostic.help,
        "notes": diagnostic.notes,
        "fix": diagnostic.fix.as_ref().and_then(|fix| Some((fix, fix.edit(map)?))).map(|(fix, edit)| json!({
            "title": fix.title,
            // This can be in a macro definition.
            "location": location_json(sources, &edit.location),
            "replacement": edit.text,
        })),
        "macros": map.macro_trail(diagnostic.span).iter().map(macros).collect::<Vec<_>>(),
        "includes": location.iter()
            .flat_map(|location| map.include_trail(location.file))
            .map(|step| includes(&step))
            .collect::<Vec<_>>(),
    });
    text.push_str(&object.to_string());
    text.push('\n');
}

fn location_json(sources: Sources<'_>, location: &FileRange) -> Value {
    let presumed = PresumedRange::new(sources.map, location);
    json!({
        "file": presumed.file,
        "line": presumed.line,
        "column": presumed.column,
        "end_line": presumed.end_line,
        "end_column": presumed.end_column,
        "start_byte": presumed.bytes.start,
        "end_byte": presumed.bytes.end,
    })
}
