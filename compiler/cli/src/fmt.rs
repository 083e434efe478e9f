//! `kiln fmt`: formats sources in place, or standard input.

use kiln_fmt::{SourceStyle, Style, find, format};

use crate::{
    arguments::FmtCommand,
    exit::{Failure, Outcome, failure, stderr_line},
    files::{Files, write_output},
    paths,
};

/// The end of `kiln fmt --help`.
pub(crate) const HELP: &str = "\
The style is that of the nearest `.clang-format`, in the folder of the source or above it. Without
one, lines have up to 100 columns, and the indentation is 4 columns. docs/formatting.md lists the
options that have an effect.";

pub(crate) fn fmt(command: &FmtCommand) -> Result<Outcome, Failure> {
    if command.stdin || command.sources == ["-"] {
        let source = Text::read("-")?;
        let style = style(command.assume_filename.as_deref().unwrap_or("stdin.cl"), command.verbose)?;
        let formatted = format(&source.text, &style);
        if command.check {
            return Ok(checked("<stdin>", source.text == formatted));
        }
        write_output("-", &source.encode(&formatted))?;
        return Ok(Outcome::Success);
    }
    let mut worst = Outcome::Success;
    for path in &command.sources {
        let source = Text::read(path)?;
        let formatted = format(&source.text, &style(path, command.verbose)?);
        if command.check {
            worst = worst.max(checked(path, source.text == formatted));
        } else if source.text != formatted {
            write_output(path, &source.encode(&formatted))?;
        }
    }
    Ok(worst)
}

/// A source. In a source with comments in another encoding, such as Latin-1, characters replace the bytes that are not
/// UTF-8.
struct Text {
    text: String,
    is_utf8: bool,
}

impl Text {
    fn read(source: &str) -> Result<Self, Failure> {
        let source = Files::default().source(source)?;
        let error = match String::from_utf8(source.text) {
            Ok(text) => return Ok(Self { text, is_utf8: true }),
            Err(error) => error,
        };
        let bytes = error.as_bytes();
        let text = Self { text: paths::text_of_bytes(bytes), is_utf8: false };
        let is_wide = bytes.contains(&0) || bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
        if !is_wide && text.encode(&text.text) == bytes {
            return Ok(text);
        }
        let line = bytes[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        failure(format!("{}:{line}: the source is not UTF-8", source.name))
    }

    /// The bytes of the formatted text.
    fn encode(&self, formatted: &str) -> Vec<u8> {
        if self.is_utf8 {
            return formatted.as_bytes().to_vec();
        }
        paths::bytes_of_text(formatted)
    }
}

/// Reports a source that is not formatted.
fn checked(name: &str, is_formatted: bool) -> Outcome {
    if is_formatted {
        return Outcome::Success;
    }
    stderr_line!("{name}: is not formatted");
    Outcome::Diagnostics
}

/// The style of a source. Wrong values in its `.clang-format` are a failure.
fn style(source: &str, is_verbose: bool) -> Result<Style, Failure> {
    let path = std::path::absolute(paths::path(source))?;
    let folders: Vec<String> =
        path.ancestors().skip(1).map(|folder| paths::text(folder.as_os_str())).collect();
    let read = |path: &str| std::fs::read_to_string(paths::path(path)).ok();
    let SourceStyle { file, style } = find(folders.iter().map(String::as_str), &read);
    if let Some((path, configured)) = file {
        if let Some((line, mistake)) = configured.mistakes.first() {
            return failure(format!("{path}:{line}: {mistake}"));
        }
        if is_verbose {
            stderr_line!("kiln: note: {source}: the style is that of `{path}`");
            for option in &configured.ignored {
                stderr_line!("kiln: note: {path}: {option} has no effect");
            }
        }
    } else if is_verbose {
        stderr_line!("kiln: note: {source}: there is no `.clang-format`; the style is Kiln's");
    }
    Ok(style)
}
