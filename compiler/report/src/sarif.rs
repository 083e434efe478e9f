//! SARIF 2.1.0 (OASIS), which code hosts and editors display: one log with one run, which has the results of all sources.

use std::collections::BTreeSet;

use kiln_compiler::Output;
use kiln_session::{
    diag::{Code, Diagnostic, Severity},
    source::FileRange,
};
use kiln_syntax::Span;
use serde_json::{Value, json};

use super::{Sources, presumed_range::PresumedRange};

/// The results of one source.
pub(super) fn results(output: &Output) -> Vec<Value> {
    let sources = Sources { map: &output.sources, interner: &output.interner, displayed: &[] };
    output.diagnostics.iter().map(|diagnostic| result(sources, diagnostic)).collect()
}

/// The log with these results. GitHub rejects logs with several runs of one tool.
pub(super) fn log(mut results: Vec<Value>) -> Value {
    let codes: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    let codes: Vec<Code> = codes.into_iter().filter_map(Code::parse).collect();
    for result in &mut results {
        let index = codes.iter().position(|code| result["ruleId"] == code.name());
        result["ruleIndex"] = json!(index);
    }
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "kiln",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.into_iter().map(rule).collect::<Vec<_>>(),
            } },
            // Columns count characters, as everywhere in Kiln.
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
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

fn result(sources: Sources<'_>, diagnostic: &Diagnostic) -> Value {
    let remarks = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    let remarks = remarks.chain(diagnostic.notes.iter().map(|note| format!("\nnote: {note}")));
    let related = diagnostic.labels.iter().filter_map(|label| {
        let mut location = location(sources, label.span)?;
        location["message"] = json!({ "text": label.text });
        Some(location)
    });
    let mut result = json!({
        "ruleId": diagnostic.code.name(),
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
    let presumed = PresumedRange::new(sources.map, location);
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&presumed.file) },
        "region": {
            "startLine": presumed.line,
            "startColumn": presumed.column,
            "endLine": presumed.end_line,
            "endColumn": presumed.end_column,
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
