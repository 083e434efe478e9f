//! `kiln fmt`: formats sources in place, or standard input.

use std::path::Path;

use kiln_fmt::{Found, Style, find, format};

use crate::{
    arguments::FmtCommand,
    exit::{Failure, Outcome, failure},
    files::{Files, write_output},
};

/// The end of `kiln fmt --help`.
pub(crate) const HELP: &str = "\
The style is that of the nearest `.clang-format`, in the folder of the source or above it. Without
one, lines have up to 100 columns, and the indentation is 4 columns. docs/formatting.md lists the
options that have an effect.";

pub(crate) fn fmt(command: &FmtCommand) -> Result<Outcome, Failure> {
    if command.stdin || command.sources == ["-"] {
        let text = text("-")?;
        let style = style(command.assume_filename.as_deref().unwrap_or("stdin.cl"), command.verbose)?;
        let formatted = format(&text, &style);
        if command.check {
            return Ok(checked("<stdin>", text == formatted));
        }
        write_output("-", formatted.as_bytes())?;
        return Ok(Outcome::Success);
    }
    let mut worst = Outcome::Success;
    for source in &command.sources {
        let text = text(source)?;
        let formatted = format(&text, &style(source, command.verbose)?);
        if command.check {
            worst = worst.max(checked(source, text == formatted));
        } else if text != formatted {
            write_output(source, formatted.as_bytes())?;
        }
    }
    Ok(worst)
}

fn text(source: &str) -> Result<String, Failure> {
    let source = Files::default().source(source)?;
    match String::from_utf8(source.text) {
        Ok(text) => Ok(text),
        Err(error) => {
            let line =
                error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
            failure(format!("{}:{line}: the source is not UTF-8", source.name))
        }
    }
}

/// Reports a source that is not formatted.
fn checked(name: &str, is_formatted: bool) -> Outcome {
    if is_formatted {
        return Outcome::Success;
    }
    anstream::eprintln!("{name}: is not formatted");
    Outcome::Diagnostics
}

/// The style of a source. Wrong values in its `.clang-format` are a failure.
fn style(source: &str, is_verbose: bool) -> Result<Style, Failure> {
    let path = std::path::absolute(source)?;
    let folders: Vec<String> =
        path.ancestors().skip(1).map(|folder| folder.to_string_lossy().into_owned()).collect();
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
    let Found { file, style } = find(folders.iter().map(String::as_str), &read);
    if let Some((path, configured)) = file {
        if let Some((line, mistake)) = configured.mistakes.first() {
            return failure(format!("{path}:{line}: {mistake}"));
        }
        if is_verbose {
            anstream::eprintln!("kiln: note: {source}: the style is that of `{path}`");
            for option in &configured.ignored {
                anstream::eprintln!("kiln: note: {path}: {option} has no effect");
            }
        }
    } else if is_verbose {
        anstream::eprintln!("kiln: note: {source}: there is no `.clang-format`; the style is Kiln's");
    }
    Ok(style)
}
