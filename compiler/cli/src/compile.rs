//! `kiln compile` and `kiln check`.

mod cheapest;
mod depfile;
mod expectations;
mod jobs;
mod prove;
mod repair;

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
};

use clap::ArgMatches;
use kiln_build::{
    bindings::{Module, c, json, rust},
    compile_deep,
};
use kiln_compiler::{
    Artifact, Emit, Output,
    interface::Interface,
    opencl::Environment,
    session::{Options, Source},
    target::Target,
    verify::VerifiedModule,
};

pub(crate) use self::depfile::DependencyOptions;
use self::{
    jobs::{JobResult, each},
    repair::Repaired,
};
use crate::{
    arguments::{CheckCommand, CompileCommand, EmitArgument, EnvironmentArgument},
    crash,
    exit::{Failure, Outcome, failure, stderr_line},
    files::{Files, write_output},
    options::{ColorArgument, CompileOptions, FormatArgument},
    paths,
};

pub(crate) fn compile(
    command: &CompileCommand,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Outcome, Failure> {
    let names_one = command.output.is_some() || command.dependencies.names_a_file();
    if names_one && command.sources.len() > 1 {
        return failure(format!("one output file is given for {} sources", command.sources.len()));
    }
    let mut options = command.options.to_options(command.target().map_err(Failure)?, matches);
    options.strip = command.strip;
    let emit = command.emit();
    options.is_part = command.is_part || emit == EmitArgument::Object;
    let is_object = emit == EmitArgument::Object
        || command.is_part && matches!(emit, EmitArgument::Stage(Emit::Spirv | Emit::Assembly));
    if is_object && options.target.environment == Environment::Vulkan {
        return failure(
            "a module for Vulkan is a complete program; write a part with `kiln compile -c` and link it with `kiln link`",
        );
    }
    each(&command.sources, &command.options, |source| compile_one(command, &options, files, source))
}

fn compile_one(command: &CompileCommand, options: &Options, files: &Files, path: &str) -> JobResult {
    let emit = command.emit();
    let dependencies = &command.dependencies;
    let stage = if dependencies.is_only() { &Emit::Preprocessed } else { emit.stage() };
    let source = files.source(path)?;
    let Some(mut output) = output(source.clone(), options, files, stage) else {
        return Ok((String::new(), Outcome::Crash));
    };
    let mut messages = report(&output, &command.options);
    if command.cheapest && output.artifact.is_some() && !dependencies.is_only() {
        match cheapest::change(&source, &mut output, options, files)? {
            Ok(text) => messages.push_str(&text),
            Err(text) => return Ok((messages + &text, Outcome::Diagnostics)),
        }
    }
    let Some(artifact) = &output.artifact else { return Ok((messages, Outcome::Diagnostics)) };
    if command.prove {
        let (text, is_proved) = prove::prove(&source, &output, options, files);
        messages.push_str(&text);
        if !is_proved {
            return Ok((messages, Outcome::Diagnostics));
        }
    }
    let target = command.output.clone().unwrap_or_else(|| default_output(path, &emit));
    if let Some(file) = dependencies.path(&target) {
        let (file, rule_target) = match (dependencies.is_only(), &command.output) {
            // With -M and without -MF, -o names the dependency file. The rule is for the default output.
            (true, Some(output)) if !dependencies.names_a_file() => {
                (output.clone(), default_output(path, &EmitArgument::default()))
            }
            (true, _) => (file, default_output(path, &EmitArgument::default())),
            (false, _) => (file, target.clone()),
        };
        keep_sources(&file, path, &output)?;
        let read: Vec<String> = output.dependencies.iter().chain(&command.project).cloned().collect();
        let rule = dependencies.rule(&rule_target, path, &read);
        write_output(&file, &paths::bytes_of_text(&rule))?;
        if dependencies.is_only() {
            return Ok((messages, Outcome::Success));
        }
    }
    let is_module = matches!(emit, EmitArgument::Stage(Emit::Spirv) | EmitArgument::Object);
    if target == "-" && is_module && std::io::stdout().is_terminal() {
        return failure("a module cannot be written to a terminal; name a file with -o, or use --emit asm");
    }
    keep_sources(&target, path, &output)?;
    write_output(&target, &contents(&emit, &output, artifact, path))?;
    Ok((messages, Outcome::Success))
}

/// Rejects an output that would replace the source or an included file.
fn keep_sources(target: &str, source: &str, output: &Output) -> Result<(), Failure> {
    let Ok(written) = std::fs::canonicalize(paths::path(target)) else { return Ok(()) };
    let read = std::iter::once(source).chain(output.dependencies.iter().map(String::as_str));
    match read
        .filter(|read| *read != "-")
        .find(|read| std::fs::canonicalize(paths::path(read)).is_ok_and(|it| it == written))
    {
        Some(read) if written.is_file() => failure(format!(
            "the output `{target}` would replace the input `{read}`; name another file with -o"
        )),
        _ => Ok(()),
    }
}

/// The contents of the output file.
fn contents(emit: &EmitArgument, output: &Output, artifact: &Artifact, path: &str) -> Vec<u8> {
    match (emit, &output.interface) {
        (EmitArgument::Json, Some(interface)) => format!("{:#}\n", json(interface)).into_bytes(),
        (EmitArgument::Header, Some(interface)) => c(interface, &stem(path), words(artifact)).into_bytes(),
        (EmitArgument::Rust, Some(interface)) => {
            rust(interface, path, &Module::Bytes(bytes(artifact))).into_bytes()
        }
        _ => bytes(artifact),
    }
}

pub(crate) fn check(command: &CheckCommand, matches: &ArgMatches, files: &Files) -> Result<Outcome, Failure> {
    // Without --env, check the whole language, which the OpenCL environment supports.
    let environment = command.env.unwrap_or(EnvironmentArgument::Opencl);
    let options = command.options.to_options(Target::full(environment.into()), matches);
    each(&command.sources, &command.options, |path| {
        let source = match files.source(path)? {
            source if command.fix => match fixed(source, path, &options, files, &command.options)? {
                Some(source) => source,
                None => return Ok((String::new(), Outcome::Crash)),
            },
            source => source,
        };
        let text = command.verify.then(|| String::from_utf8_lossy(&source.text).into_owned());
        let Some(output) = output(source, &options, files, &Emit::Nothing) else {
            return Ok((String::new(), Outcome::Crash));
        };
        let Some(text) = text else {
            let outcome = if output.has_errors() { Outcome::Diagnostics } else { Outcome::Success };
            return Ok((report(&output, &command.options), outcome));
        };
        let complaints = expectations::compare(&text, &output);
        let outcome = if complaints.is_empty() { Outcome::Success } else { Outcome::Diagnostics };
        Ok((complaints.lines().map(|line| format!("{path}: {line}\n")).collect(), outcome))
    })
}

/// Applies the fixes to a source. Writes the file if it changes, or standard output. `None` after an internal error.
fn fixed(
    source: Source,
    path: &str,
    options: &Options,
    files: &Files,
    shown: &CompileOptions,
) -> Result<Option<Source>, Failure> {
    // All errors, to see which of them are gone.
    let mut options = options.clone();
    options.warnings.error_limit = 0;
    let before = source.text.clone();
    let check = |source: &Source| output(source.clone(), &options, files, &Emit::Nothing);
    let Some(Repaired { source, count }) = repair::repair(source, check)? else { return Ok(None) };
    if path == "-" {
        write_output("-", &source.text)?;
    } else if count != 0 {
        if std::fs::read(paths::path(path)).ok() != Some(before) {
            return failure(format!("`{path}` has changed in the meantime: its fixes are not applied"));
        }
        write_output(path, &source.text)?;
    }
    if count != 0 && !matches!(shown.diagnostic_format, FormatArgument::Json | FormatArgument::Sarif) {
        let problems = if count == 1 { "problem" } else { "problems" };
        stderr_line!("kiln: note: fixed {count} {problems} in `{}`", source.name);
    }
    Ok(Some(source))
}

/// Compiles for a device. Returns the module and the interface of its kernels, or the outcome if there is no module.
pub(crate) fn module(
    source: Source,
    options: &Options,
    files: &Files,
    shown: &CompileOptions,
) -> Result<(VerifiedModule, Interface), Outcome> {
    let output = output(source, options, files, &Emit::Spirv).ok_or(Outcome::Crash)?;
    show(&[report(&output, shown)], shown);
    match output.artifact {
        Some(Artifact::Module(module)) => Ok((module, output.interface.unwrap_or_default())),
        _ => Err(Outcome::Diagnostics),
    }
}

/// The interface of a source, for a module that another compiler produced from it. Empty if the source has errors.
pub(crate) fn interface(source: Source, options: &Options, files: &Files) -> Interface {
    output(source, options, files, &Emit::Nothing).and_then(|output| output.interface).unwrap_or_default()
}

/// Compiles a source. `None` if the compiler panics or emits an invalid module, which is reported.
pub(crate) fn output(source: Source, options: &Options, files: &Files, emit: &Emit) -> Option<Output> {
    let context = crash::CrashContext { source, options, loader: files };
    let output =
        crash::guarded(Some(&context), || compile_deep(context.source.clone(), options, files, emit))?;
    match &output.invalid_module {
        Some(invalid) => {
            crash::invalid_module(Some(&context), invalid);
            None
        }
        None => Some(output),
    }
}

/// Formats the diagnostics of a compilation as requested.
pub(crate) fn report(output: &Output, options: &CompileOptions) -> String {
    kiln_report::report(options.diagnostic_format.into(), output)
}

/// Prints reports on standard error, with or without ANSI colors.
pub(crate) fn show(reports: &[String], options: &CompileOptions) {
    let text = paths::shown(&kiln_report::conclude(options.diagnostic_format.into(), reports));
    let choice = match options.color {
        ColorArgument::Auto => anstream::ColorChoice::Auto,
        ColorArgument::Always => anstream::ColorChoice::Always,
        ColorArgument::Never => anstream::ColorChoice::Never,
    };
    let mut stderr = anstream::AutoStream::new(std::io::stderr().lock(), choice);
    // If standard error is closed, there is nothing left to do.
    let _ = stderr.write_all(text.as_bytes());
}

/// The words of a module; empty for other artifacts.
fn words(artifact: &Artifact) -> &[u32] {
    match artifact {
        Artifact::Module(module) => module.words(),
        Artifact::Text(_) | Artifact::Part(_) => &[],
    }
}

/// The bytes of the artifact's file.
pub(crate) fn bytes(artifact: &Artifact) -> Vec<u8> {
    match artifact {
        Artifact::Text(text) => text.as_bytes().to_vec(),
        Artifact::Module(module) => module.to_bytes(),
        Artifact::Part(part) => part.to_bytes(),
    }
}

/// The source's file name without directory and extension.
fn stem(source: &str) -> String {
    Path::new(source)
        .file_stem()
        .map_or_else(|| "kernels".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Modules and host files are written next to the source; other text goes to standard output.
fn default_output(source: &str, emit: &EmitArgument) -> String {
    let ending = match emit {
        EmitArgument::Stage(Emit::Spirv) => "spv",
        EmitArgument::Stage(Emit::Part) | EmitArgument::Object => "o",
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
