//! SARIF 2.1.0 (OASIS), which code hosts and editors display: one run for each source, all runs in one log.

use std::collections::BTreeSet;

use kiln_compiler::Output;
use kiln_session::{
    diag::{Code, Diagnostic, Severity},
    source::FileRange,
};
use kiln_syntax::Span;
use serde_json::{Value, json};

use super::{Sources, spot::Spot};

/// The run of one source: the tool with the rules that it reported, and the results.
pub(super) fn run(output: &Output) -> Value {
    let sources = Sources { map: &output.sources, interner: &output.interner, displayed: &[] };
    let names: BTreeSet<&str> = output.diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
    let rules: Vec<Value> = names.iter().filter_map(|name| Code::parse(name)).map(rule).collect();
    let results = output.diagnostics.iter().map(|diagnostic| {
        let index = names.iter().position(|name| *name == diagnostic.code.name());
        result(sources, diagnostic, index)
    });
    json!({
        "tool": { "driver": {
            "name": "kiln",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } },
        // Columns count characters, as everywhere in Kiln.
        "columnKind": "unicodeCodePoints",
        "results": results.collect::<Vec<_>>(),
    })
}

/// The log with these runs.
pub(super) fn log(runs: &[Value]) -> Value {
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    })
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.name(),
        "shortDescription": { "text": code.summary() },
        "fullDescription": { "text": code.summary() },
        "help": { "text": code.page(), "markdown": code.page() },
        "defaultConfiguration": { "level": level(code.default_severity()) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn result(sources: Sources<'_>, diagnostic: &Diagnostic, rule: Option<usize>) -> Value {
    let remarks = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    let remarks = remarks.chain(diagnostic.notes.iter().map(|note| format!("\nnote: {note}")));
    let related = diagnostic.labels.iter().filter_map(|label| {
        let mut location = location(sources, label.span)?;
        location["message"] = json!({ "text": label.text });
        Some(location)
    });
    let mut result = json!({
        "ruleId": diagnostic.code.name(),
        "ruleIndex": rule,
        "level": level(diagnostic.severity),
        "message": { "text": diagnostic.message.clone() + &remarks.collect::<String>() },
        "locations": location(sources, diagnostic.span).into_iter().collect::<Vec<_>>(),
        "relatedLocations": related.collect::<Vec<_>>(),
    });
    if let Some(fix) = &diagnostic.fix
        && let Some(edit) = fix.edit(sources.map)
    {
        let location = physical(sources, &edit.location);
        result["fixes"] = json!([{
            "description": { "text": fix.title },
            "artifactChanges": [{
                "artifactLocation": location["physicalLocation"]["artifactLocation"],
                "replacements": [{
                    "deletedRegion": location["physicalLocation"]["region"],
                    "insertedContent": { "text": edit.text },
                }],
            }],
        }]);
    }
    result
}

fn location(sources: Sources<'_>, span: Span) -> Option<Value> {
    Some(physical(sources, &sources.map.resolve(span)?))
}

fn physical(sources: Sources<'_>, location: &FileRange) -> Value {
    let spot = Spot::new(sources.map, location);
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&spot.file) },
        "region": {
            "startLine": spot.line,
            "startColumn": spot.column,
            "endLine": spot.end_line,
            "endColumn": spot.end_column,
        },
    } })
}

/// Percent-encodes a path as a URI reference (RFC 3986), except for unreserved characters and separators.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
