//! Diagnostics as text: with source lines, short, as GCC writes them, as JSON lines, or as a SARIF log. The text may have ANSI colours; who
//! prints it takes them away where they are not wanted. Knows nothing of files on disk or of terminals.

mod gcc;
mod json;
mod rich;
mod sarif;
mod spot;

use codespan_reporting::term::DisplayStyle;
use kiln_compiler::{
    Output,
    diag::{Diagnostic, Severity},
    source::{MacroStep, SourceMap},
};
use kiln_syntax::Interner;

/// The forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// With the source lines.
    #[default]
    Rich,
    /// `file:line:col: error[code]: message`
    Short,
    /// `file:line:col: error: message [-Wflag]`
    Gcc,
    /// One JSON object a line.
    Json,
    /// A SARIF log for all sources.
    Sarif,
}

/// What several compilations reported: one text after the other, or one log.
pub fn conclude(format: Format, reports: &[String]) -> String {
    match format {
        Format::Rich | Format::Short | Format::Gcc | Format::Json => reports.concat(),
        Format::Sarif => {
            let runs: Vec<_> = reports.iter().filter_map(|run| serde_json::from_str(run).ok()).collect();
            format!("{:#}\n", sarif::log(&runs))
        }
    }
}

/// What a compilation reported, in its order; to be shown through `conclude`.
pub fn report(format: Format, output: &Output) -> String {
    if format == Format::Sarif {
        return sarif::run(output).to_string();
    }
    let sources = Sources { map: &output.sources, interner: &output.interner };
    render(format, sources, &output.diagnostics, output.hidden_errors)
}

/// One diagnostic of a compilation.
pub fn report_one(format: Format, output: &Output, diagnostic: &Diagnostic) -> String {
    let sources = Sources { map: &output.sources, interner: &output.interner };
    let mut text = String::new();
    render_one(&mut text, format, sources, diagnostic);
    text
}

/// What diagnostics speak of.
#[derive(Clone, Copy)]
struct Sources<'a> {
    map: &'a SourceMap,
    interner: &'a Interner,
}

/// Renders diagnostics in their order; `unseen` more errors were past the limit.
fn render(format: Format, sources: Sources<'_>, diagnostics: &[Diagnostic], unseen: usize) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        render_one(&mut text, format, sources, diagnostic);
    }
    if matches!(format, Format::Rich | Format::Short) {
        text.push_str(&summary(diagnostics, unseen));
    }
    text
}

fn render_one(text: &mut String, format: Format, sources: Sources<'_>, diagnostic: &Diagnostic) {
    match format {
        Format::Rich => rich::render(text, sources, diagnostic, DisplayStyle::Rich),
        Format::Short => rich::render(text, sources, diagnostic, DisplayStyle::Short),
        Format::Gcc => gcc::render(text, sources, diagnostic),
        // A line of the log's kind does not exist: one diagnostic is told as JSON.
        Format::Json | Format::Sarif => json::render(text, sources, diagnostic),
    }
}

/// How many there were of each kind; nothing if there were none.
fn summary(diagnostics: &[Diagnostic], unseen: usize) -> String {
    let of = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let counted = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    };
    let errors = counted(of(Severity::Error) + unseen, "error");
    let warnings = counted(of(Severity::Warning), "warning");
    let kinds: Vec<String> = errors.into_iter().chain(warnings).collect();
    match (kinds.is_empty(), unseen) {
        (true, _) => String::new(),
        (false, 0) => format!("{}\n", kinds.join(" and ")),
        (false, _) => format!("{}; {unseen} not shown\n", kinds.join(" and ")),
    }
}

/// What is said of the text at the place of a step.
fn definition_text(sources: Sources<'_>, step: &MacroStep) -> String {
    format!("in the definition of macro `{}`", sources.interner.text(step.name))
}

#[cfg(test)]
mod tests;
