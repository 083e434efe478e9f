//! One source, compiled: its words, its interface, what it reported and which files it read.

use std::{
    fs,
    sync::{Mutex, PoisonError},
};

use kiln_compiler::{
    Artifact, Emit, Output,
    diag::Severity,
    interface::Interface,
    session::{Loader, Options, Source},
    verify::{InvalidModule, VerifiedModule},
};
use kiln_report::{Format, report, report_one};

use crate::{
    deep::compile_deep,
    error::{Error, Result},
};

/// A compiled source.
#[derive(Debug)]
pub struct Compiled {
    /// The module, which was verified.
    pub module: VerifiedModule,
    /// What it offers.
    pub interface: Interface,
    /// Its warnings, each on one line as GCC writes them.
    pub warnings: Vec<String>,
    /// The files that it includes, directly or not.
    pub dependencies: Vec<String>,
}

impl Compiled {
    /// The module as a file holds it.
    pub fn bytes(&self) -> Vec<u8> {
        self.module.to_bytes()
    }
}

/// The messages of a source with errors.
pub(crate) struct Rejected {
    /// The errors on one line each.
    pub(crate) lines: Vec<String>,
    /// Everything with source lines.
    pub(crate) text: String,
    /// The files that were read all the same.
    pub(crate) dependencies: Vec<String>,
}

/// Compiles a source. Included files come from the file system.
pub fn compile(source: Source, options: &Options) -> Result<Compiled> {
    try_compile(source, options).map_err(|rejected| Error::Diagnostics(rejected.text))
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
                let fault = fault(&name, invalid);
                text.push_str(&format!("{fault}\n"));
                lines.push(fault);
            }
            Err(Rejected { lines, text, dependencies })
        }
    }
}

/// What there is to say of a module that the compiler made and that is not valid.
fn fault(name: &str, invalid: &InvalidModule) -> String {
    format!(
        "{name}: error: this is a fault of kiln and not of the source: the module is invalid: {invalid}; `kiln compile` with \
         the same options writes a report that brings it about again"
    )
}

/// The diagnostics of this severity, the first line of each.
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

/// The text without ANSI's colours: cargo shows what a script prints as it is.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = escape.split_once(|end: char| end.is_ascii_alphabetic()).map_or("", |(_, after)| after);
    }
    plain + rest
}

/// The file system, remembering what was read, in a source with errors too.
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
        let options = Options { break_module: true, ..Options::default() };
        let error = compile(source, &options).expect_err("the module is invalid").to_string();
        assert!(error.contains("k.cl: error: this is a fault of kiln"), "{error}");
        assert!(error.contains("[SPIRV-id-bound]"), "{error}");
    }
}
