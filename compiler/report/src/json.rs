//! One JSON object per line, for programs.

use kiln_session::{
    diag::{Diagnostic, Severity},
    source::{IncludeStep, MacroStep, Place},
};
use kiln_syntax::Span;
use serde_json::{Value, json};

use super::{Sources, spot::Spot};

pub(super) fn render(text: &mut String, sources: Sources<'_>, diagnostic: &Diagnostic) {
    let map = sources.map;
    let place = map.resolve(diagnostic.span);
    let at = |span: Span| map.resolve(span).map_or(Value::Null, |place| location(sources, &place));
    let macros = |step: &MacroStep| json!({ "name": sources.interner.text(step.name), "location": location(sources, &step.definition) });
    let includes = |step: &IncludeStep| location(sources, &step.directive);
    let object = json!({
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": diagnostic.code.name(),
        "message": diagnostic.message,
        "location": place.as_ref().map(|place| location(sources, place)),
        "label": diagnostic.label,
        "labels": diagnostic.labels.iter()
            .map(|label| json!({ "location": at(label.span), "text": label.text }))
            .collect::<Vec<_>>(),
        "help": diagnostic.help,
        "notes": diagnostic.notes,
        "fix": diagnostic.fix.as_ref().and_then(|fix| Some((fix, fix.edit(map)?))).map(|(fix, edit)| json!({
            "title": fix.title,
            // This can be in a macro definition.
            "location": location(sources, &edit.place),
            "replacement": edit.text,
        })),
        "macros": map.macro_trail(diagnostic.span).iter().map(macros).collect::<Vec<_>>(),
        "includes": place.iter()
            .flat_map(|place| map.include_trail(place.file))
            .map(|step| includes(&step))
            .collect::<Vec<_>>(),
    });
    text.push_str(&object.to_string());
    text.push('\n');
}

fn location(sources: Sources<'_>, place: &Place) -> Value {
    let spot = Spot::new(sources.map, place);
    json!({
        "file": spot.file,
        "line": spot.line,
        "column": spot.column,
        "end_line": spot.end_line,
        "end_column": spot.end_column,
        "start_byte": spot.bytes.start,
        "end_byte": spot.bytes.end,
    })
}
