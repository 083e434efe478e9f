//! Diagnostics on standard error, with colours where they are wanted.

use std::io::Write as _;

use anstream::{AutoStream, ColorChoice};
use kiln_compiler::Output;

use crate::{
    options::{ColorArgument, CompileOptions},
    render::{Sources, render},
};

/// Shows the diagnostics of a compilation.
pub(crate) fn show(output: &Output, options: &CompileOptions) {
    let sources = Sources { map: &output.sources, interner: &output.interner };
    let text = render(options.diagnostic_format, sources, &output.diagnostics, output.hidden_errors);
    let choice = match options.color {
        ColorArgument::Auto => ColorChoice::Auto,
        ColorArgument::Always => ColorChoice::AlwaysAnsi,
        ColorArgument::Never => ColorChoice::Never,
    };
    // Nothing is left to be done if the terminal is gone.
    let _ = AutoStream::new(std::io::stderr(), choice).write_all(text.as_bytes());
}
