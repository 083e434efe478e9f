//! Runs the front end for tests: returns the typed tree as text, and the diagnostics.

use kiln_compiler::{
    Artifact, Emit, compile,
    diag::{Diagnostic, Severity, WarningAction, WarningSwitch},
    opencl::{Environment, LanguageVersion},
    session::{NoFiles, Options, Source},
    target::Target,
};

/// The front end's results for a source.
pub(crate) struct Front {
    /// The lines, from 1, with their diagnostics, as `error: [code]`.
    pub(crate) reported: Vec<(usize, String)>,
    /// The typed tree.
    #[allow(dead_code, reason = "not every test looks at it")]
    pub(crate) hir: String,
}

/// Options for a target with all features.
pub(crate) fn options() -> Options {
    Options { target: Target::full(Environment::OpenCl), ..Options::default() }
}

/// Enables a warning.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) fn enable(options: &mut Options, name: &str) {
    let switch = WarningSwitch { name: name.to_owned(), action: WarningAction::Enable };
    options.warnings.switches.push(switch);
}

/// Sets options from lines such as `std = "CL1.2"` and `extensions = "-cl_khr_fp16"`.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) fn configure(options: &mut Options, text: &str) {
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        match key.trim() {
            "std" => options.std = LanguageVersion::parse(value).expect("a version"),
            "extensions" => {
                for name in value.split(',').map(str::trim) {
                    let is_on = !name.starts_with('-');
                    options.extensions.push((name.trim_start_matches(['+', '-']).to_owned(), is_on));
                }
            }
            other => panic!("no option `{other}`"),
        }
    }
}

/// Runs the front end.
pub(crate) fn check(options: &Options, text: &str) -> Front {
    let source = Source { name: "test.cl".into(), text: text.as_bytes().to_vec() };
    let output = compile(source, options, &NoFiles, &Emit::Hir);
    let sources = &output.sources;
    let line = |span| match sources.resolve(span) {
        Some(location) => sources.position(location.file, location.range.start).line as usize,
        None => 0,
    };
    let shown = |severity| if severity == Severity::Error { "error" } else { "warning" };
    let described =
        |it: &Diagnostic| (line(it.span), format!("{}: [{}]", shown(it.severity), it.code.name()));
    let reported = output.diagnostics.iter().map(described).collect();
    let hir = match output.artifact {
        Some(Artifact::Text(text)) => text,
        _ => String::new(),
    };
    Front { reported, hir }
}
