//! `kiln link`: links parts of a program, modules of the OpenCL environment, and sources, which it compiles first.

use std::io::IsTerminal as _;

use clap::ArgMatches;
use kiln_compiler::{Artifact, Emit, Part, link as link_parts, session::Options};

use crate::{
    arguments::LinkCommand,
    compile::{bytes, output, report, show},
    crash,
    exit::{Failure, Outcome, failure},
    files::{Files, is_module, write_output},
    translate,
};

pub(crate) fn link(command: &LinkCommand, matches: &ArgMatches, files: &Files) -> Result<Outcome, Failure> {
    let mut options = command.options.to_options(command.target().map_err(Failure)?, matches);
    options.strip = command.strip;
    let mut parts = Vec::new();
    let mut messages = Vec::new();
    let mut worst = Outcome::Success;
    for path in &command.inputs {
        match part(command, &options, files, path, &mut messages)? {
            Ok(part) => parts.push(part),
            Err(outcome) => worst = worst.max(outcome),
        }
    }
    if worst != Outcome::Success {
        show(&messages, &command.options);
        return Ok(worst);
    }
    let output = link_parts(&parts, &options, &command.emit()).map_err(|error| Failure(error.to_string()))?;
    if let Some(invalid) = &output.invalid_module {
        crash::invalid_module(None, invalid);
        return Ok(Outcome::Crash);
    }
    messages.push(report(&output, &command.options));
    show(&messages, &command.options);
    let Some(artifact) = &output.artifact else { return Ok(Outcome::Diagnostics) };
    let is_module = matches!(artifact, Artifact::Module(_));
    if command.output == "-" && is_module && std::io::stdout().is_terminal() {
        return failure("a module cannot be written to a terminal; name a file with -o, or use -S");
    }
    if command.inputs.contains(&command.output) {
        return failure(format!("the output `{}` would replace an input; name another file", command.output));
    }
    write_output(&command.output, &bytes(artifact))?;
    Ok(Outcome::Success)
}

/// Reads a part, or compiles a source to one.
fn part(
    command: &LinkCommand,
    options: &Options,
    files: &Files,
    path: &str,
    messages: &mut Vec<String>,
) -> Result<Result<Part, Outcome>, Failure> {
    let source = files.source(path)?;
    if Part::is_part(&source.text) {
        let part = Part::read(&source.text).map_err(|error| Failure(format!("{path}: {error}")))?;
        return Ok(Ok(part));
    }
    if is_module(&source.text) {
        return translate::part(path, options, &command.options);
    }
    let Some(output) = output(source, options, files, &Emit::Part) else { return Ok(Err(Outcome::Crash)) };
    messages.push(report(&output, &command.options));
    Ok(match output.artifact {
        Some(Artifact::Part(part)) => Ok(*part),
        _ => Err(Outcome::Diagnostics),
    })
}
