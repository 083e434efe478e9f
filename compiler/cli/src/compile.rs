//! `kiln compile` and `kiln check`.

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
};

use clap::ArgMatches;
use kiln_build::bindings::{Module, c, json, rust};
use kiln_compiler::{
    Artifact, Emit, Output,
    opencl::Environment,
    session::{Options, Source},
    target::Target,
};

use crate::{
    arguments::{CheckCommand, CompileCommand, EmitArgument},
    exit::{Failure, Outcome},
    files::{FileSystem, read_source, write_output},
    options::{ColorArgument, CompileOptions},
};

pub(crate) fn compile(command: &CompileCommand, matches: &ArgMatches) -> Result<Outcome, Failure> {
    let source = read_source(&command.source)?;
    let options = command.options.to_options(Target::full(command.env.into()), matches);
    let output = kiln_compiler::compile(source, &options, &FileSystem, command.emit.stage());
    show(&output, &command.options);
    let Some(artifact) = &output.artifact else { return Ok(Outcome::Diagnostics) };
    let path = match &command.output {
        Some(path) => path.clone(),
        None => default_output(&command.source, &command.emit),
    };
    let bytes = match (&command.emit, &output.interface) {
        (EmitArgument::Json, Some(interface)) => format!("{:#}\n", json(interface)).into_bytes(),
        (EmitArgument::Header, Some(interface)) => {
            c(interface, &stem(&command.source), words(artifact)).into_bytes()
        }
        (EmitArgument::Rust, Some(interface)) => {
            rust(interface, &command.source, &Module::Bytes(bytes(words(artifact)))).into_bytes()
        }
        _ => match artifact {
            Artifact::Text(text) => text.as_bytes().to_vec(),
            Artifact::Module(words) => bytes(words),
        },
    };
    let is_module = command.emit == EmitArgument::Stage(Emit::Spirv);
    if path == "-" && is_module && std::io::stdout().is_terminal() {
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

/// The module's words; none of a text.
fn words(artifact: &Artifact) -> &[u32] {
    match artifact {
        Artifact::Module(words) => words,
        Artifact::Text(_) => &[],
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The source's name without folder and ending.
fn stem(source: &str) -> String {
    Path::new(source)
        .file_stem()
        .map_or_else(|| "kernels".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Modules and what hosts read go beside the source, other text to standard output.
fn default_output(source: &str, emit: &EmitArgument) -> String {
    let ending = match emit {
        EmitArgument::Stage(Emit::Spirv) => "spv",
        EmitArgument::Header => "h",
        EmitArgument::Rust => "rs",
        EmitArgument::Stage(_) | EmitArgument::Json => return "-".to_owned(),
    };
    if source == "-" {
        "-".to_owned()
    } else {
        Path::new(source).with_extension(ending).to_string_lossy().into_owned()
    }
}
