//! A compiled source: its words, its interface, its diagnostics and the files it read.

use std::{
    fs,
    sync::{Mutex, PoisonError},
};

use kiln_compiler::{
    Artifact, Emit, Il, Output,
    diag::Severity,
    interface::Interface,
    session::{Loader, Options, Source},
    verify::{InvalidModule, VerifiedModule},
};
use kiln_report::{Format, plain, report, report_one};

use crate::{
    deep::compile_deep,
    error::{Error, Result},
};

/// The result of compiling a source: its module, its interface, and what it read.
#[derive(Debug)]
pub struct Compiled {
    /// The module, which has been validated.
    pub module: VerifiedModule,
    /// The program's interface.
    pub interface: Interface,
    /// The warnings, one line each, in GCC format.
    pub warnings: Vec<String>,
    /// The files that it includes, directly or indirectly.
    pub dependencies: Vec<String>,
}

impl Compiled {
    /// The module as the bytes of a file.
    pub fn bytes(&self) -> Vec<u8> {
        self.module.to_bytes()
    }
}

/// The messages of a source with errors.
pub(crate) struct Rejected {
    /// The errors, one line each.
    pub(crate) lines: Vec<String>,
    /// All messages with source lines.
    pub(crate) text: String,
    /// The files that were read, so that Cargo reruns the script when they change.
    pub(crate) dependencies: Vec<String>,
}

/// Compiles a source, reading included files from the file system.
pub fn compile(source: Source, options: &Options) -> Result<Compiled> {
    try_compile(source, options).map_err(|rejected| Error::Diagnostics(rejected.text))
}

/// Translates a module of the OpenCL environment, of any compiler, for the target that the options select.
///
/// ```
/// use kiln_build::{Il, Options, translate};
///
/// let il = Il { name: "empty.spv", words: &[], specialization: &[] };
/// let error = translate(&il, &Options::default()).expect_err("no module");
/// assert!(error.to_string().contains("empty.spv: error: "));
/// ```
pub fn translate(il: &Il<'_>, options: &Options) -> Result<VerifiedModule> {
    let output = kiln_compiler::translate(il, options, &Emit::Spirv).map_err(|problems| {
        let lines = problems.iter().map(|problem| format!("{}: error: {problem}\n", il.name));
        Error::Diagnostics(lines.collect())
    })?;
    match output.artifact {
        Some(Artifact::Module(module)) => Ok(module),
        _ => {
            let mut text = plain(&report(Format::Rich, &output));
            if let Some(invalid) = &output.invalid_module {
                text.push_str(&format!("{}\n", invalid_module(il.name, invalid)));
            }
            Err(Error::Diagnostics(text))
        }
    }
}

pub(crate) fn try_compile(source: Source, options: &Options) -> std::result::Result<Compiled, Rejected> {
    let files = Files::default();
    let name = source.name.clone();
    let output = compile_deep(source, options, &files, &Emit::Spirv);
    let dependencies = files.read.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (&output.artifact, &output.interface) {
        (Some(Artifact::Module(module)), Some(interface)) => Ok(Compiled {
            module: module.clone(),
            interface: interface.clone(),
            warnings: lines(&output, Severity::Warning),
            dependencies,
        }),
        _ => {
            let mut lines = lines(&output, Severity::Error);
            let mut text = plain(&report(Format::Rich, &output));
            if let Some(invalid) = &output.invalid_module {
                let line = invalid_module(&name, invalid);
                text.push_str(&format!("{line}\n"));
                lines.push(line);
            }
            Err(Rejected { lines, text, dependencies })
        }
    }
}

/// The message for an invalid module that the compiler produced.
fn invalid_module(name: &str, invalid: &InvalidModule) -> String {
    format!(
        "{name}: error: internal error: the module is invalid: {invalid}; `kiln compile` with \
         the same options writes a reproducer"
    )
}

/// The first line of each diagnostic of this severity.
fn lines(output: &Output, severity: Severity) -> Vec<String> {
    let of_it = output.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity);
    of_it
        .map(|diagnostic| {
            let text = report_one(Format::Gcc, output, diagnostic);
            let is_message = |line: &&str| line.contains(": error: ") || line.contains(": warning: ");
            text.lines().find(is_message).unwrap_or(&text).to_owned()
        })
        .collect()
}

/// The file system, which records the files read, even for a source with errors.
#[derive(Default)]
struct Files {
    read: Mutex<Vec<String>>,
}

impl Loader for Files {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        let text = fs::read(path).ok()?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if !read.iter().any(|known| known == path) {
            read.push(path.to_owned());
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_module_is_an_error() {
        let source = Source { name: "k.cl".to_owned(), text: b"kernel void k(void) { }".to_vec() };
        let options =
            Options { defect: Some(kiln_compiler::session::defect::Defect::IdBound), ..Options::default() };
        let error = compile(source, &options).expect_err("the module is invalid").to_string();
        assert!(error.contains("k.cl: error: internal error: "), "{error}");
        assert!(error.contains("[SPIRV-id-bound]"), "{error}");
    }
}
