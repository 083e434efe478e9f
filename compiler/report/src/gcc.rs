//! `file:line:column: error: message [-Wflag]`, which editors and build tools read.

use std::fmt::Write as _;

use kiln_session::{
    diag::{Diagnostic, Severity},
    source::{ExpansionKind, FileKind},
};

use super::{Sources, definition_text, presumed_range::PresumedRange};

/// Formats a diagnostic.
pub(super) fn render(text: &mut String, sources: Sources<'_>, diagnostic: &Diagnostic) {
    let map = sources.map;
    let location = map.resolve(diagnostic.span);
    for (index, step) in location.iter().flat_map(|location| map.include_trail(location.file)).enumerate() {
        let presumed = PresumedRange::new(map, &step.directive);
        let lead = if index == 0 { "In file included from" } else { "                 from" };
        let _ = writeln!(text, "{lead} {}:{}:", presumed.file, presumed.line);
    }
    let start =
        location.as_ref().map_or("kiln".to_owned(), |location| PresumedRange::new(map, location).start());
    let name = diagnostic.code.name();
    let (severity, flag) = match (diagnostic.severity, diagnostic.code.default_severity()) {
        (Severity::Warning, _) => ("warning", format!(" [-W{name}]")),
        (Severity::Error, Severity::Warning) => ("error", format!(" [-Werror={name}]")),
        (Severity::Error, Severity::Error) => ("error", String::new()),
    };
    let _ = writeln!(text, "{start}: {severity}: {}{flag}", diagnostic.message);
    for label in &diagnostic.labels {
        if let Some(location) = map.resolve(label.span) {
            write_note(text, &PresumedRange::new(map, &location).start(), &label.text);
        }
    }
    for step in map.macro_trail(diagnostic.span) {
        let is_body = step.kind == ExpansionKind::Body;
        if is_body && map.file(step.definition.file).kind != FileKind::BuiltIn {
            write_note(
                text,
                &PresumedRange::new(map, &step.definition).start(),
                &definition_text(sources, &step),
            );
        }
    }
    for line in diagnostic.help.iter().chain(&diagnostic.notes) {
        write_note(text, &start, line);
    }
}

fn write_note(text: &mut String, start: &str, note: &str) {
    let _ = writeln!(text, "{start}: note: {note}");
}
