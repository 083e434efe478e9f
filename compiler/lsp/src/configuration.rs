//! How a file is compiled: from the editor's settings, from the project's files, and from the source itself. Nothing is required.

mod flags;
mod kiln_toml;
mod project;
mod version;

pub(crate) use project::is_project_file;

use kiln_compiler::{
    opencl::Environment,
    session::{DEEP, Options},
    target::Target,
};
use lsp_types::{Diagnostic, DiagnosticSeverity};
use serde::Deserialize;

use crate::{position::Lines, world::World};

/// What the client sets, in `initializationOptions` and as the section `kiln` of its configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Options for every file, as the command line has them.
    pub(crate) flags: Vec<String>,
    /// How soon after diagnostics the next are made, in milliseconds: changes that come sooner are taken together.
    pub(crate) debounce: u64,
    /// Which hints are shown between the letters of a source.
    pub(crate) inlay_hints: InlayHints,
}

/// The sorts of hint.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InlayHints {
    /// Names of parameters at calls.
    pub(crate) parameters: bool,
    /// Orders and scopes that an atomic operation or a barrier has without saying so.
    pub(crate) orders: bool,
    /// Address spaces that a declaration has without saying so.
    pub(crate) spaces: bool,
    /// Implicit conversions of values.
    pub(crate) conversions: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { flags: Vec::new(), debounce: 5, inlay_hints: InlayHints::default() }
    }
}

impl Default for InlayHints {
    fn default() -> Self {
        Self { parameters: true, orders: true, spaces: true, conversions: true }
    }
}

/// Errors beyond this many in one source are only counted.
const ERROR_LIMIT: usize = 200;

/// How the file of this name and text is compiled.
pub(crate) fn options(world: &World, name: &str, text: &str) -> Options {
    // As `kiln check`: who names no environment asks what the language allows.
    let mut options = Options {
        target: Target::full(Environment::OpenCl),
        // The worker has the stack for it.
        max_depth: DEEP,
        ..Options::default()
    };
    options.warnings.error_limit = ERROR_LIMIT;
    let mut chosen = flags::Chosen::default();
    let here = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (folder, flags) in project::flags(world, name) {
        chosen.apply(&flags, &folder, &mut options);
    }
    chosen.apply(&world.settings.flags, world.folders.first().map_or(here, |folder| folder), &mut options);
    chosen.apply(&version::magic_comment(text), here, &mut options);
    if !chosen.names_version {
        options.std = version::by_content(text);
    }
    options
}

/// What is wrong with the file of the project that says how a source is compiled: the file, and what is to be shown in it. Such a file
/// speaks for itself.
pub(crate) fn mistakes(world: &World, source: &str) -> Option<(String, Vec<Diagnostic>)> {
    let (name, text) = project::kiln(world, source)?;
    let lines = Lines::new(&text, world.encoding);
    let told = kiln_toml::read(&text).mistakes.into_iter().map(|(range, message)| Diagnostic {
        range: lines.range(&range),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(crate::diagnostics::SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    });
    Some((name, told.collect()))
}
