//! A compilation and its result: the data that the functions `kiln_result_…` return.

use std::{ffi::CString, ptr};

use kiln_build::{bindings::json, compile_deep, on_large_stack};
use kiln_compiler::{
    Artifact,
    diag::{self, Diagnostic},
    session::{Loader, Source},
    source::{FileRange, SourceMap},
};
use kiln_report::{PresumedRange, conclude, plain, report};

use crate::{
    data::{self, Fix, Label, Location, Severity, Status},
    options::Options,
    strings::{Strings, c_string},
};

/// The result of a compilation. It does not change, so several threads can read it concurrently.
pub struct Compilation {
    pub(crate) status: Status,
    pub(crate) words: Vec<u32>,
    pub(crate) text: Option<CString>,
    pub(crate) interface: Option<CString>,
    pub(crate) messages: CString,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) dependencies: Vec<CString>,
    pub(crate) diagnostics: Vec<data::Diagnostic>,
    owner: Owner,
}

/// Owns the data that the diagnostics point to.
#[derive(Default)]
struct Owner {
    strings: Strings,
    labels: Vec<Box<[Label]>>,
    #[expect(clippy::vec_box, reason = "diagnostics point to them, so they must not move")]
    fixes: Vec<Box<Fix>>,
}

impl Compilation {
    /// Compiles a source. Works with any stack size of the caller.
    pub(crate) fn run(source: Source, options: &Options, loader: &(dyn Loader + Sync)) -> Self {
        let compiled = on_large_stack(|| {
            let output = compile_deep(source, &options.compiler, loader, &options.emit);
            let messages = conclude(options.format, &[report(options.format, &output)]);
            (output, messages)
        });
        let (output, mut messages) = match compiled {
            Ok(compiled) => compiled,
            Err(why) => {
                return Self::without_module(Status::InternalError, &format!("internal error: {why}"));
            }
        };
        if !options.has_colors {
            messages = plain(&messages);
        }
        let status = match (&output.invalid_module, output.has_errors()) {
            (Some(invalid), _) => {
                messages.push_str(&format!("internal error: the module is invalid: {invalid}\n"));
                Status::InternalError
            }
            (None, true) => Status::Errors,
            (None, false) => Status::Success,
        };
        let mut result = Self::without_module(status, &messages);
        result.interface =
            output.interface.as_ref().map(|interface| c_string(&format!("{:#}\n", json(interface))));
        result.dependencies = output.dependencies.iter().map(|path| c_string(path)).collect();
        let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == diag::Severity::Error;
        let errors = output.diagnostics.iter().filter(is_error).count();
        result.errors = errors + output.hidden_errors;
        result.warnings = output.diagnostics.len() - errors;
        for diagnostic in &output.diagnostics {
            result.diagnostics.push(result.owner.diagnostic(&output.sources, diagnostic));
        }
        match output.artifact {
            Some(Artifact::Module(module)) => result.words = module.words().to_vec(),
            Some(Artifact::Text(text)) => result.text = Some(c_string(&text)),
            Some(Artifact::Part(_)) | None => {}
        }
        result
    }

    /// A result with messages only.
    pub(crate) fn without_module(status: Status, messages: &str) -> Self {
        Self {
            status,
            words: Vec::new(),
            text: None,
            interface: None,
            messages: c_string(messages),
            errors: 0,
            warnings: 0,
            dependencies: Vec::new(),
            diagnostics: Vec::new(),
            owner: Owner::default(),
        }
    }
}

impl Owner {
    fn diagnostic(&mut self, sources: &SourceMap, diagnostic: &Diagnostic) -> data::Diagnostic {
        let labels: Box<[Label]> = diagnostic
            .labels
            .iter()
            .map(|label| Label {
                location: self.location(sources, sources.resolve(label.span)),
                text: self.strings.keep(&label.text),
            })
            .collect();
        let fix = diagnostic.fix.as_ref().and_then(|fix| Some((fix, fix.edit(sources)?)));
        let fix = fix.map(|(fix, edit)| {
            Box::new(Fix {
                title: self.strings.keep(&fix.title),
                location: self.location(sources, Some(edit.location)),
                replacement: self.strings.keep(&edit.text),
            })
        });
        let data = data::Diagnostic {
            severity: match diagnostic.severity {
                diag::Severity::Warning => Severity::Warning,
                diag::Severity::Error => Severity::Error,
            },
            code: self.strings.keep(diagnostic.code.name()),
            message: self.strings.keep(&diagnostic.message),
            location: self.location(sources, sources.resolve(diagnostic.span)),
            label: self.strings.keep(&diagnostic.label),
            labels: if labels.is_empty() { ptr::null() } else { labels.as_ptr() },
            label_count: labels.len(),
            help: self.strings.keep_all(&diagnostic.help),
            help_count: diagnostic.help.len(),
            notes: self.strings.keep_all(&diagnostic.notes),
            note_count: diagnostic.notes.len(),
            fix: fix.as_ref().map_or(ptr::null(), |fix| ptr::from_ref(fix.as_ref())),
        };
        self.labels.push(labels);
        self.fixes.extend(fix);
        data
    }

    fn location(&mut self, sources: &SourceMap, location: Option<FileRange>) -> Location {
        let Some(location) = location else {
            return Location {
                file: ptr::null(),
                line: 0,
                column: 0,
                end_line: 0,
                end_column: 0,
                start: 0,
                end: 0,
            };
        };
        let presumed = PresumedRange::new(sources, &location);
        Location {
            file: self.strings.keep(&presumed.file),
            line: presumed.line,
            column: presumed.column,
            end_line: presumed.end_line,
            end_column: presumed.end_column,
            start: presumed.bytes.start,
            end: presumed.bytes.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_compiler::session::{NoFiles, defect::Defect};

    fn source(text: &str) -> Source {
        Source { name: "k.cl".to_owned(), text: text.as_bytes().to_vec() }
    }

    struct Panics;

    impl Loader for Panics {
        fn load(&self, path: &str) -> Option<Vec<u8>> {
            panic!("no `{path}`")
        }
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        let result = Compilation::run(source("#include \"a.h\"\n"), &Options::default(), &Panics);
        assert_eq!(result.status, Status::InternalError);
        assert_eq!(result.messages.to_str(), Ok("internal error: no `a.h`"));
    }

    #[test]
    fn an_invalid_module_is_an_internal_error() {
        let mut options = Options::default();
        options.compiler.defect = Some(Defect::IdBound);
        let result = Compilation::run(source("kernel void k(void) { }"), &options, &NoFiles);
        assert_eq!((result.status, result.words.len()), (Status::InternalError, 0));
        assert!(result.messages.to_string_lossy().contains("SPIRV-id-bound"), "{:?}", result.messages);
    }
}
