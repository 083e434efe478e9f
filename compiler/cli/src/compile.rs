//! `kiln compile` and `kiln check`.

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
};

use clap::ArgMatches;
use kiln_compiler::{
    Artifact, Emit, Output,
    opencl::Environment,
    session::{Options, Source},
    target::Target,
};

use crate::{
    arguments::{CheckCommand, CompileCommand},
    exit::{Failure, Outcome},
    files::{FileSystem, read_source, write_output},
    options::{ColorArgument, CompileOptions},
};

pub(crate) fn compile(command: &CompileCommand, matches: &ArgMatches) -> Result<Outcome, Failure> {
    let source = read_source(&command.source)?;
    let emit = &command.emit.0;
    let options = command.options.to_options(Target::full(command.env.into()), matches);
    let output = kiln_compiler::compile(source, &options, &FileSystem, emit);
    show(&output, &command.options);
    let Some(artifact) = &output.artifact else { return Ok(Outcome::Diagnostics) };
    let path = match &command.output {
        Some(path) => path.clone(),
        None => default_output(&command.source, emit),
    };
    let bytes = match artifact {
        Artifact::Text(text) => text.as_bytes().to_vec(),
        Artifact::Module(words) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    };
    if path == "-" && matches!(artifact, Artifact::Module(_)) && std::io::stdout().is_terminal() {
        return Err(Failure(
            "a module is not written to a terminal; name a file with -o, or use --emit asm".into(),
        ));
    }
    write_output(&path, &bytes)?;
    Ok(Outcome::Success)
}

pub(crate) fn check(command: &CheckCommand, matches: &ArgMatches) -> Result<Outcome, Failure> {
    let source = read_source(&command.source)?;
    let environment: Environment = command.env.into();
    let options = command.options.to_options(Target::full(environment), matches);
    let output = kiln_compiler::compile(source, &options, &FileSystem, &Emit::Nothing);
    show(&output, &command.options);
    Ok(if output.has_errors() { Outcome::Diagnostics } else { Outcome::Success })
}

/// Compiles for a device. None after diagnostics.
pub(crate) fn module(source: Source, options: &Options, shown: &CompileOptions) -> Option<Vec<u32>> {
    let output: Output = kiln_compiler::compile(source, options, &FileSystem, &Emit::Spirv);
    show(&output, shown);
    match output.artifact {
        Some(Artifact::Module(words)) => Some(words),
        _ => None,
    }
}

/// Shows what a compilation reported, on standard error.
fn show(output: &Output, options: &CompileOptions) {
    let text = kiln_report::report(options.diagnostic_format.into(), output);
    let choice = match options.color {
        ColorArgument::Auto => anstream::ColorChoice::Auto,
        ColorArgument::Always => anstream::ColorChoice::Always,
        ColorArgument::Never => anstream::ColorChoice::Never,
    };
    let mut stderr = anstream::AutoStream::new(std::io::stderr().lock(), choice);
    // Nothing is left to be done if nobody reads it.
    let _ = stderr.write_all(text.as_bytes());
}

/// Modules go beside the source, text to standard output.
fn default_output(source: &str, emit: &Emit) -> String {
    match emit {
        Emit::Spirv if source != "-" => {
            Path::new(source).with_extension("spv").to_string_lossy().into_owned()
        }
        _ => "-".to_owned(),
    }
}
