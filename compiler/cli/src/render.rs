//! Diagnostics as text: with source lines, as GCC writes them, or as JSON lines. The text may have ANSI colours; who
//! prints it takes them away where they are not wanted. Knows nothing of files on disk or of terminals.

mod gcc;
mod json;
mod rich;
mod spot;

use std::io::Write as _;

use kiln_compiler::{
    Output,
    diag::{Diagnostic, Severity},
    source::{MacroStep, SourceMap},
};
use kiln_syntax::Interner;

use crate::options::{ColorArgument, CompileOptions, FormatArgument};

/// Shows what a compilation reported, on standard error.
pub(crate) fn show(output: &Output, options: &CompileOptions) {
    let sources = Sources { map: &output.sources, interner: &output.interner };
    let text = render(options.diagnostic_format, sources, &output.diagnostics, output.hidden_errors);
    let choice = match options.color {
        ColorArgument::Auto => anstream::ColorChoice::Auto,
        ColorArgument::Always => anstream::ColorChoice::Always,
        ColorArgument::Never => anstream::ColorChoice::Never,
    };
    let mut stderr = anstream::AutoStream::new(std::io::stderr().lock(), choice);
    // Nothing is left to be done if nobody reads it.
    let _ = stderr.write_all(text.as_bytes());
}

/// What diagnostics speak of.
#[derive(Clone, Copy)]
struct Sources<'a> {
    map: &'a SourceMap,
    interner: &'a Interner,
}

/// Renders diagnostics in their order; `unseen` more errors were past the limit.
fn render(format: FormatArgument, sources: Sources<'_>, diagnostics: &[Diagnostic], unseen: usize) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        match format {
            FormatArgument::Rich => rich::render(&mut text, sources, diagnostic),
            FormatArgument::Gcc => gcc::render(&mut text, sources, diagnostic),
            FormatArgument::Json => json::render(&mut text, sources, diagnostic),
        }
    }
    if format == FormatArgument::Rich {
        text.push_str(&summary(diagnostics, unseen));
    }
    text
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
