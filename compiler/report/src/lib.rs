//! Formats diagnostics: with source lines, short, in GCC format, as JSON lines, or as a SARIF log. The text can
//! contain ANSI colors, which the caller strips if they are not wanted. Must not depend on files on disk or on
//! terminals.
//!
//! ```
//! use kiln_compiler::{
//!     Emit, compile,
//!     session::{NoFiles, Options, Source},
//! };
//! use kiln_report::{Format, report};
//!
//! let source = Source { name: "a.cl".into(), text: b"kernel void k() { x = 1; }".to_vec() };
//! let output = compile(source, &Options::default(), &NoFiles, &Emit::Spirv);
//! let text = report(Format::Short, &output);
//! assert!(text.starts_with("a.cl:1:19: ") && text.contains("`x` is not declared"));
//! ```

mod gcc;
mod json;
mod presumed_range;
mod rich;
mod sarif;
mod visible;

pub use self::presumed_range::PresumedRange;

use self::visible::visible;
use codespan_reporting::term::DisplayStyle;
use kiln_compiler::Output;
use kiln_session::{
    diag::{Diagnostic, Severity},
    source::{FileId, MacroStep, SourceMap},
};
use kiln_syntax::Interner;

/// The format of the diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// With source lines.
    #[default]
    Rich,
    /// `file:line:col: error[code]: message`
    Short,
    /// `file:line:col: error: message [-Wflag]`
    Gcc,
    /// One JSON object per line.
    Json,
    /// A SARIF log of all sources.
    Sarif,
}

/// Combines the reports of several compilations: concatenates texts, or builds one log.
pub fn conclude(format: Format, reports: &[String]) -> String {
    match format {
        Format::Rich | Format::Short | Format::Gcc | Format::Json => reports.concat(),
        Format::Sarif => {
            let parts = reports.iter().filter_map(|part| serde_json::from_str::<Vec<_>>(part).ok());
            format!("{:#}\n", sarif::log(parts.flatten().collect()))
        }
    }
}

/// Formats the diagnostics of one compilation. Pass the result to `conclude` for printing.
pub fn report(format: Format, output: &Output) -> String {
    if format == Format::Sarif {
        return serde_json::Value::from(sarif::results(output)).to_string();
    }
    // Every source would be searched for invisible characters.
    if output.diagnostics.is_empty() && output.hidden_errors == 0 {
        return String::new();
    }
    let displayed = visible::files(&output.sources);
    let sources = Sources { map: &output.sources, interner: &output.interner, displayed: &displayed };
    render(format, sources, &output.diagnostics, output.hidden_errors)
}

/// Removes ANSI colors.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = escape.split_once(|end: char| end.is_ascii_alphabetic()).map_or("", |(_, after)| after);
    }
    plain + rest
}

/// Formats one diagnostic of a compilation.
pub fn report_one(format: Format, output: &Output, diagnostic: &Diagnostic) -> String {
    let displayed = visible::files(&output.sources);
    let sources = Sources { map: &output.sources, interner: &output.interner, displayed: &displayed };
    let mut text = String::new();
    render_one(&mut text, format, sources, diagnostic);
    text
}

/// The sources that diagnostics refer to.
#[derive(Clone, Copy)]
struct Sources<'a> {
    map: &'a SourceMap,
    interner: &'a Interner,
    /// The files with characters that a terminal must not receive, and the text to display for them.
    displayed: &'a [(FileId, String)],
}

/// Formats diagnostics in order; `hidden_errors` is the number of errors beyond the limit.
fn render(format: Format, sources: Sources<'_>, diagnostics: &[Diagnostic], hidden_errors: usize) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        render_one(&mut text, format, sources, diagnostic);
    }
    if matches!(format, Format::Rich | Format::Short) {
        text.push_str(&summary(diagnostics, hidden_errors));
    }
    text
}

fn render_one(text: &mut String, format: Format, sources: Sources<'_>, diagnostic: &Diagnostic) {
    match format {
        Format::Rich => rich::render(text, sources, diagnostic, DisplayStyle::Rich),
        Format::Short => rich::render(text, sources, diagnostic, DisplayStyle::Short),
        Format::Gcc => {
            let mut lines = String::new();
            gcc::render(&mut lines, sources, diagnostic);
            text.push_str(&visible(&lines));
        }
        // SARIF has no format for a single diagnostic, so it is formatted as JSON.
        Format::Json | Format::Sarif => json::render(text, sources, diagnostic),
    }
}

/// The number of diagnostics of each kind; empty if there are none.
fn summary(diagnostics: &[Diagnostic], hidden_errors: usize) -> String {
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let counted = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    };
    let errors = counted(count(Severity::Error) + hidden_errors, "error");
    let warnings = counted(count(Severity::Warning), "warning");
    let kinds: Vec<String> = errors.into_iter().chain(warnings).collect();
    match (kinds.is_empty(), hidden_errors) {
        (true, _) => String::new(),
        (false, 0) => format!("{}\n", kinds.join(" and ")),
        (false, _) => format!("{}; {hidden_errors} not shown\n", kinds.join(" and ")),
    }
}

/// The message at the location of a macro expansion step.
fn definition_text(sources: Sources<'_>, step: &MacroStep) -> String {
    format!("in the definition of macro `{}`", sources.interner.text(step.name))
}

#[cfg(test)]
mod tests;
