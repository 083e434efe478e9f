//! The options of a file, from the editor's settings, the project files, and the source itself. All are optional.

mod flags;
mod project;
mod version;

pub(crate) use project::is_project_file;

use kiln_session::{DEEP, Options};
use kiln_vocabulary::{opencl::Environment, target::Target};
use lsp_types::{Diagnostic, DiagnosticSeverity};
use serde::Deserialize;

use crate::{client_state::ClientState, kiln_toml, position::Lines};

/// Settings of the client, from `initializationOptions` and the configuration section `kiln`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Options for every file, in command-line syntax.
    pub(crate) flags: Vec<String>,
    /// The minimum time between two diagnostic runs, in milliseconds. Changes within it are processed together.
    pub(crate) debounce: u64,
    /// Which inlay hints to show.
    pub(crate) inlay_hints: InlayHints,
    /// Whether to show code lenses. The client implements their commands.
    pub(crate) code_lens: bool,
    /// Whether to explore the launches of sources for data races.
    pub(crate) races: bool,
}

/// The kinds of inlay hint.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InlayHints {
    /// Parameter names at calls.
    pub(crate) parameters: bool,
    /// Implicit memory orders and scopes of atomic operations and barriers.
    pub(crate) orders: bool,
    /// Implicit address spaces of declarations.
    pub(crate) spaces: bool,
    /// Implicit conversions of values.
    pub(crate) conversions: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            flags: Vec::new(),
            debounce: 5,
            inlay_hints: InlayHints::default(),
            code_lens: false,
            races: true,
        }
    }
}

impl Default for InlayHints {
    fn default() -> Self {
        Self { parameters: true, orders: true, spaces: true, conversions: true }
    }
}

/// The maximum number of errors reported for one source; further ones are only counted.
const ERROR_LIMIT: usize = 200;

/// The options for the file of this name and text.
pub(crate) fn options(client_state: &ClientState, name: &str, text: &str) -> Options {
    // As in `kiln check`: without an environment, allow the whole language.
    let mut options = Options { target: Target::full(Environment::OpenCl), ..Options::default() };
    if client_state.has_deep_stack {
        options.max_depth = DEEP;
    }
    options.warnings.error_limit = ERROR_LIMIT;
    let mut chosen = flags::Chosen::default();
    let here = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (folder, flags) in project::flags(client_state, name) {
        chosen.apply(&flags, &folder, &mut options);
    }
    chosen.apply(
        &client_state.settings.flags,
        client_state.folders.first().map_or(here, |folder| folder),
        &mut options,
    );
    chosen.apply(&version::magic_comment(text), here, &mut options);
    if !chosen.names_version {
        options.std = version::by_content(text);
    }
    options
}

/// Errors in the project file that configures a source: the name of that file, and its diagnostics. A project file
/// that is itself the source reports its own errors.
pub(crate) fn mistakes(client_state: &ClientState, source: &str) -> Option<(String, Vec<Diagnostic>)> {
    let (name, text) = project::kiln_file(client_state, source)?;
    let lines = Lines::new(&text, client_state.encoding);
    let diagnostics = kiln_toml::read(&text).mistakes.into_iter().map(|(range, message)| Diagnostic {
        range: lines.range(&range),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(crate::diagnostics::SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    });
    Some((name, diagnostics.collect()))
}
