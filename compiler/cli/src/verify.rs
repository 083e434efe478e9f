//! `kiln verify`: validates SPIR-V modules, and prints one line for each violation.

use kiln_compiler::verify::{self, Finding, Severity};
use serde_json::json;

use crate::{
    arguments::VerifyCommand,
    exit::{Failure, Outcome},
    files::{print, read_module},
};

pub(crate) fn verify(command: &VerifyCommand) -> Result<Outcome, Failure> {
    if command.rules {
        for rule in verify::rules() {
            print(&format!("{}: {}\n", rule.id, rule.text))?;
        }
        return Ok(Outcome::Success);
    }
    let mut outcome = Outcome::Success;
    for path in &command.modules {
        let name = if path == "-" { "<stdin>" } else { path };
        let findings = verify::verify(&read_module(path)?, None);
        if findings.iter().any(Finding::is_error) {
            outcome = Outcome::Diagnostics;
        }
        for finding in &findings {
            print(&if command.json {
                format!("{}\n", as_json(name, finding))
            } else if finding.is_error() {
                format!("{name}: {finding}\n")
            } else {
                format!("{name}: warning: {finding}\n")
            })?;
        }
    }
    Ok(outcome)
}

fn as_json(name: &str, finding: &Finding) -> serde_json::Value {
    let position = finding.position.as_ref();
    json!({
        "module": name,
        "rule": finding.rule,
        "severity": match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": finding.message,
        "word": position.map(|position| position.offset),
        "byte": position.map(|position| position.offset * 4),
        "instruction": position.and_then(|it| it.instruction).map(|name| format!("Op{name}")),
        "result": position.and_then(|position| position.result),
        "source": position.and_then(|position| position.line.as_ref()).map(|line| json!({
            "file": line.file.as_ref(),
            "line": line.line,
            "column": line.column,
        })),
    })
}
