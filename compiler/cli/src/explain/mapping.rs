//! `kiln explain --mapping`: what the atomic operations, fences and barriers of a source become on Vulkan, and why.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use clap::ArgMatches;
use kiln_compiler::{
    Artifact, Emit, Output, memory::MappingRule, opencl::Environment, presumed_position, session::Source,
    target::Target,
};
use kiln_memory_model::{Module, Synchronization};

use crate::{
    arguments::ExplainCommand,
    compile,
    exit::{Failure, Outcome},
    files::{Files, write_output},
};

/// The operations of a line, and the rules that changed them.
#[derive(Default)]
struct Line {
    operations: Vec<Synchronization>,
    rules: BTreeSet<MappingRule>,
}

/// The lines with operations, by file and number.
type Lines = BTreeMap<(String, u32), Line>;

/// Prints the mapping of a source.
pub(super) fn show(
    path: &str,
    command: &ExplainCommand,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Outcome, Failure> {
    let shown = &command.options;
    let source = files.source(path)?;
    let mut options = shown.to_options(Target::full(Environment::Vulkan), matches);
    options.debug = true;
    let Some(output) = compile::output(source.clone(), &options, files, &Emit::Spirv) else {
        return Ok(Outcome::Crash);
    };
    compile::show(&[compile::report(&output, shown)], shown);
    let Some(Artifact::Module(module)) = &output.artifact else { return Ok(Outcome::Diagnostics) };
    let lines = lines(&Module::new(module.words()), &output);
    let mut table = table(&source, &lines);
    if command.cheapest {
        match crate::litmus::cheapest_of_source(&source, shown, matches, files)? {
            Ok(text) => table.push_str(&format!("\n{text}")),
            Err(outcome) => return Ok(outcome),
        }
    }
    write_output("-", table.as_bytes())?;
    Ok(Outcome::Success)
}

/// The operations of the module and the rules that the passes recorded.
fn lines(module: &Module, output: &Output) -> Lines {
    let mut lines = Lines::new();
    for it in module.synchronization() {
        let operations = &mut lines.entry((it.file.clone(), it.line)).or_default().operations;
        if !operations.contains(&it) {
            operations.push(it);
        }
    }
    for &(span, rule) in &output.mapping_rules {
        if let Some((file, line, _)) = presumed_position(&output.sources, span) {
            lines.entry((file.to_string(), line)).or_default().rules.insert(rule);
        }
    }
    lines
}

/// The source lines with operations, the instructions that they become, and the rules for that.
fn table(source: &Source, lines: &Lines) -> String {
    let text = String::from_utf8_lossy(&source.text);
    let text: Vec<&str> = text.lines().collect();
    let mut table = String::new();
    for ((file, number), line) in lines {
        let _ = match text.get((*number as usize).wrapping_sub(1)).filter(|_| *file == source.name) {
            Some(text) => writeln!(table, "line {number}: {}", text.trim()),
            None => writeln!(table, "{file}, line {number}"),
        };
        for it in &line.operations {
            let _ = writeln!(table, "    {it}");
        }
        for rule in &line.rules {
            let _ = writeln!(table, "    {}: {}", rule.name(), rule.reason());
        }
    }
    match table.is_empty() {
        true => table.push_str("The source has no atomic operations, fences or barriers.\n"),
        false => table.push_str("\ndocs/memory-model.md contains the rules.\n"),
    }
    table
}
