//! `kiln verify`: the rules of our verifier on anyone's modules, one line for each that is broken.

use std::{
    fs,
    io::{self, Read as _},
};

use kiln_compiler::verify::{self, Finding};
use serde_json::json;

use crate::{
    arguments::VerifyCommand,
    exit::{Failure, Outcome, failure},
};

pub(crate) fn verify(command: &VerifyCommand) -> Result<Outcome, Failure> {
    if command.rules {
        for rule in verify::rules() {
            anstream::println!("{}: {}", rule.id, rule.text);
        }
        return Ok(Outcome::Success);
    }
    let mut outcome = Outcome::Success;
    for path in &command.modules {
        let name = if path == "-" { "<stdin>" } else { path };
        let bytes = read(path).map_err(|e| Failure(format!("cannot read `{path}`: {e}")))?;
        if !bytes.len().is_multiple_of(4) {
            return failure(format!("`{path}` is no module: its {} bytes are not whole words", bytes.len()));
        }
        let findings = verify::verify(&words(&bytes), None);
        if !findings.is_empty() {
            outcome = Outcome::Diagnostics;
        }
        for finding in &findings {
            if command.json {
                anstream::println!("{}", as_json(name, finding));
            } else {
                anstream::println!("{name}: {finding}");
            }
        }
    }
    Ok(outcome)
}

fn read(path: &str) -> io::Result<Vec<u8>> {
    if path != "-" {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A module's words, in whichever order their bytes stand (SPIR-V 2.3).
fn words(bytes: &[u8]) -> Vec<u32> {
    const MAGIC: u32 = 0x0723_0203;
    let little: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    match little.first() {
        Some(first) if first.swap_bytes() == MAGIC => little.into_iter().map(u32::swap_bytes).collect(),
        _ => little,
    }
}

fn as_json(name: &str, finding: &Finding) -> serde_json::Value {
    let place = finding.place.as_ref();
    json!({
        "module": name,
        "rule": finding.rule,
        "message": finding.message,
        "word": place.map(|place| place.offset),
        "byte": place.map(|place| place.offset * 4),
        "instruction": place.map(|place| format!("Op{}", place.instruction)),
        "result": place.and_then(|place| place.result),
        "source": place.and_then(|place| place.line.as_ref()).map(|line| json!({
            "file": line.file.as_ref(),
            "line": line.line,
            "column": line.column,
        })),
    })
}
