//! Builds: a program compiled for a device, with its log.

use std::collections::HashMap;
use std::fs;

use kiln_build::{compile_deep, on_large_stack};
use kiln_compiler::diag::{Code as Finding, Severity};
use kiln_compiler::session::{self, Loader, Options};
use kiln_compiler::{Artifact, Emit, Output, Part};
use kiln_report::{Format, plain, report};
use kiln_runtime::Error;
use opencl_sys::*;

use crate::device::Device;
use crate::error::{Code, Result, fail, log};
use crate::options::Parsed;
use crate::signature::{self, KernelSignature};

/// The result of a build.
pub(crate) struct Build {
    pub(crate) status: cl_build_status,
    pub(crate) options: String,
    pub(crate) log: String,
    pub(crate) binary_type: cl_program_binary_type,
    /// The words of an executable.
    pub(crate) words: Vec<u32>,
    /// The program of an executable with kernels.
    pub(crate) program: Option<kiln_runtime::Program>,
    /// The kernels of an executable.
    pub(crate) signatures: Vec<KernelSignature>,
    /// Whether work-groups may differ in size at the edges.
    pub(crate) has_partial_groups: bool,
    /// The parts of an object or a library.
    pub(crate) parts: Vec<Part>,
}

/// A source, and the headers that the application passed for it.
pub(crate) struct Source {
    pub(crate) text: Vec<u8>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
}

/// The file system, and headers of the application, which come first.
struct Files {
    headers: HashMap<String, Vec<u8>>,
}

/// The include directory of the application's headers.
const HEADERS: &str = "<headers>";
/// The name of sources in messages.
const NAME: &str = "program.cl";

impl Files {
    /// The header of a name. A header can include another by a path from its own folder.
    fn header(&self, name: &str) -> Option<&Vec<u8>> {
        self.headers.get(name).or_else(|| self.headers.get(&plain_path(name)?))
    }
}

/// A path without `.` and `..`; `None` if it leaves the folder.
fn plain_path(path: &str) -> Option<String> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            _ => names.push(name),
        }
    }
    Some(names.join("/"))
}

impl Loader for Files {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        let own = path.strip_prefix(HEADERS).and_then(|rest| rest.strip_prefix('/'));
        match own {
            Some(name) => self.header(name).cloned(),
            // A file next to the source, whose directory has no name.
            None => self.header(path).cloned().or_else(|| fs::read(path).ok()),
        }
    }
}

impl Build {
    /// A build that failed.
    pub(crate) fn failed(options: &str, log: String) -> Self {
        Self {
            status: CL_BUILD_ERROR,
            options: options.to_owned(),
            log,
            binary_type: CL_PROGRAM_BINARY_TYPE_NONE,
            words: Vec::new(),
            program: None,
            signatures: Vec::new(),
            has_partial_groups: false,
            parts: Vec::new(),
        }
    }

    /// An executable without kernels. It has no module, because a module for Vulkan has at least one kernel.
    fn without_kernels(text: &str, log: String) -> Self {
        Self {
            status: CL_BUILD_SUCCESS,
            binary_type: CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            ..Self::failed(text, log)
        }
    }

    /// Whether it is an executable. An executable that was read from a binary must be built before it counts.
    pub(crate) fn is_executable(&self) -> bool {
        self.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE && self.status == CL_BUILD_SUCCESS
    }
}

/// Runs the compiler on a stack that is large enough.
pub(crate) fn on_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    on_large_stack(work).map_err(|_| Code(CL_OUT_OF_HOST_MEMORY))
}

/// Compiles a source.
fn compile(source: &Source, options: &Options, emit: &Emit) -> Result<(Output, String)> {
    let mut options = options.clone();
    if !source.headers.is_empty() {
        options.include_dirs.insert(0, HEADERS.to_owned());
    }
    let files = Files { headers: source.headers.iter().cloned().collect() };
    let text = session::Source { name: NAME.to_owned(), text: source.text.clone() };
    on_stack(|| {
        let output = compile_deep(text, &options, &files, emit);
        let log = plain(&report(Format::Rich, &output));
        (output, log)
    })
}

/// Compiles and loads a source.
pub(crate) fn executable(source: &Source, text: &str, parsed: &Parsed, device: &Device) -> Result<Build> {
    let (output, log) = compile(source, &parsed.options, &Emit::Spirv)?;
    let part = || compile(source, &parsed.options, &Emit::Part).map(Some);
    finish((&output, log), text, parsed, device, part)
}

/// Whether a part has no kernels.
fn has_no_kernels(part: &Output) -> bool {
    matches!(&part.artifact, Some(Artifact::Part(part)) if part.has_kernels() == Ok(false))
}

/// Whether the source is correct, but the target does not support it.
fn lacks_only_features(output: &Output) -> bool {
    let mut errors = output.diagnostics.iter().filter(|it| it.severity == Severity::Error).peekable();
    output.artifact.is_none() && errors.peek().is_some() && errors.all(|it| it.code == Finding::TargetFeature)
}

/// The line of the build log about a module that a device did not load. Fails if the device has too little memory or
/// was lost: the module may be correct.
fn rejection(error: Error) -> Result<String> {
    match error {
        Error::OutOfMemory { .. } | Error::DeviceLost { .. } => {
            log(&error.to_string());
            fail(CL_OUT_OF_RESOURCES)
        }
        error => Ok(error.to_string()),
    }
}

/// Loads the module that the compiler produced. `part` compiles the program to a part, to detect a program that lacks only kernels.
pub(crate) fn finish(
    (output, mut log): (&Output, String),
    text: &str,
    parsed: &Parsed,
    device: &Device,
    part: impl FnOnce() -> Result<Option<(Output, String)>>,
) -> Result<Build> {
    let Some(Artifact::Module(module)) = &output.artifact else {
        if lacks_only_features(output)
            && let Some((part, log)) = part()?
            && has_no_kernels(&part)
        {
            return Ok(Build::without_kernels(text, log));
        }
        if let Some(invalid) = &output.invalid_module {
            log.push_str(&format!("internal error of Kiln: the module is invalid: {invalid}\n"));
        }
        return Ok(Build::failed(text, log));
    };
    let loaded = kiln_runtime::Program::from_verified(&device.open()?.device, module);
    let program = match loaded.map_err(rejection) {
        Ok(program) => program,
        Err(rejection) => return Ok(Build::failed(text, format!("{log}{}\n", rejection?))),
    };
    Ok(Build {
        status: CL_BUILD_SUCCESS,
        binary_type: CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
        words: module.words().to_vec(),
        signatures: signature::signatures(program.kernels(), output.interface.as_ref()),
        program: Some(program),
        has_partial_groups: parsed.has_partial_groups,
        ..Build::failed(text, log)
    })
}

/// Compiles a source to a part, for linking.
pub(crate) fn object(source: &Source, text: &str, parsed: Parsed) -> Result<Build> {
    let (output, log) = compile(source, &parsed.options, &Emit::Part)?;
    Ok(finish_object(output, log, text, &parsed))
}

/// Keeps the part that the compiler produced.
pub(crate) fn finish_object(output: Output, log: String, text: &str, parsed: &Parsed) -> Build {
    let Some(Artifact::Part(part)) = output.artifact else { return Build::failed(text, log) };
    Build {
        status: CL_BUILD_SUCCESS,
        binary_type: CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
        has_partial_groups: parsed.has_partial_groups,
        parts: vec![*part],
        ..Build::failed(text, log)
    }
}

/// Links parts to an executable or, with `-create-library`, to a library.
pub(crate) fn link(parts: &[Part], text: &str, parsed: &Parsed, device: &Device) -> Result<Build> {
    let emit = if parsed.is_library { Emit::Part } else { Emit::Spirv };
    let (output, log) = match linked(parts, parsed, &emit)? {
        Ok(linked) => linked,
        Err(reason) => return Ok(Build::failed(text, format!("{reason}\n"))),
    };
    if let Some(Artifact::Part(part)) = output.artifact {
        return Ok(Build {
            status: CL_BUILD_SUCCESS,
            binary_type: CL_PROGRAM_BINARY_TYPE_LIBRARY,
            has_partial_groups: parsed.has_partial_groups,
            parts: vec![*part],
            ..Build::failed(text, log)
        });
    }
    let library = || Ok(linked(parts, parsed, &Emit::Part)?.ok());
    finish((&output, log), text, parsed, device, library)
}

/// The output of the linker and its log, or why the parts do not fit.
fn linked(
    parts: &[Part],
    parsed: &Parsed,
    emit: &Emit,
) -> Result<std::result::Result<(Output, String), String>> {
    on_stack(|| {
        let output = kiln_compiler::link(parts, &parsed.options, emit).map_err(|error| error.to_string())?;
        let log = plain(&report(Format::Rich, &output));
        Ok((output, log))
    })
}

/// Loads a module of another compiler.
pub(crate) fn load(words: &[u32], text: &str, device: &Device) -> Result<Build> {
    let loaded = kiln_runtime::Program::from_spirv(&device.open()?.device, words);
    let program = match loaded.map_err(rejection) {
        Ok(program) => program,
        Err(rejection) => return Ok(Build::failed(text, format!("{}\n", rejection?))),
    };
    Ok(Build {
        status: CL_BUILD_SUCCESS,
        binary_type: CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
        words: words.to_vec(),
        signatures: signature::signatures(program.kernels(), None),
        program: Some(program),
        has_partial_groups: true,
        ..Build::failed(text, String::new())
    })
}

/// Builds a program of a binary: an executable is loaded, and an object is linked.
pub(crate) fn rebuild(loaded: &Build, text: &str, parsed: &Parsed, device: &Device) -> Result<Build> {
    if !loaded.parts.is_empty() {
        return link(&loaded.parts, text, parsed, device);
    }
    if loaded.words.is_empty() {
        return Ok(Build::without_kernels(text, String::new()));
    }
    let mut build = load(&loaded.words, text, device)?;
    if build.status == CL_BUILD_SUCCESS {
        build.signatures.clone_from(&loaded.signatures);
        build.has_partial_groups = loaded.has_partial_groups;
    }
    Ok(build)
}
