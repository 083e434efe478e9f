//! With source lines or short, formatted by codespan-reporting.

use std::{borrow::Cow, ops::Range};

use codespan_reporting::{
    diagnostic::{Diagnostic as Shown, Label as ShownLabel, LabelStyle, Severity as ShownSeverity},
    files::{Error, Files},
    term::{
        Config, DisplayStyle, Styles, StylesWriter, emit_to_write_style,
        termcolor::{Ansi, Color, ColorSpec},
    },
};
use kiln_session::{
    diag::{Diagnostic, Severity},
    source::{ExpansionKind, FileId, FileKind, FileRange, SourceMap},
};

use super::{Sources, definition_text, presumed_range::PresumedRange, visible::visible};

/// The length from which lines are not shown. Generated code can have very long lines.
const LONG_LINE: usize = 1000;

/// The number of macro definitions shown for a long expansion chain.
const SHOWN_MACROS: usize = 3;

/// Formats a diagnostic, with source lines or short.
pub(super) fn render(
    text: &mut String,
    sources: Sources<'_>,
    diagnostic: &Diagnostic,
    display_style: DisplayStyle,
) {
    let files = FilesAdapter(sources);
    let mut writer = Ansi::new(Vec::new());
    let shown = shown(sources, diagnostic);
    let styles = styles();
    // Cannot fail: every location is from the source map, and writing to a vector always succeeds.
    let config = Config { display_style, ..Config::default() };
    let outcome = emit_to_write_style(&mut StylesWriter::new(&mut writer, &styles), &config, &files, &shown);
    debug_assert!(outcome.is_ok(), "{outcome:?}");
    text.push_str(&String::from_utf8_lossy(&writer.into_inner()));
}

fn shown<'a>(sources: Sources<'a>, diagnostic: &Diagnostic) -> Shown<PresumedFile<'a>> {
    let map = sources.map;
    let severity = match diagnostic.severity {
        Severity::Error => ShownSeverity::Error,
        Severity::Warning => ShownSeverity::Warning,
    };
    let mut shown =
        Shown::new(severity).with_message(visible(&diagnostic.message)).with_code(diagnostic.code.name());
    let location = map.resolve(diagnostic.span);
    if let Some(location) = &location {
        point(&mut shown, map, LabelStyle::Primary, location, &diagnostic.label);
    }
    for other in &diagnostic.labels {
        if let Some(location) = map.resolve(other.span) {
            point(&mut shown, map, LabelStyle::Secondary, &location, &other.text);
        }
    }
    let steps = map.macro_trail(diagnostic.span);
    let definitions = steps.iter().filter(|step| step.kind == ExpansionKind::Body);
    for step in definitions.clone().filter(|step| is_readable(map, &step.definition)).take(SHOWN_MACROS) {
        point(&mut shown, map, LabelStyle::Secondary, &step.definition, &definition_text(sources, step));
    }
    shown.notes.extend(diagnostic.help.iter().map(|help| format!("help: {help}")));
    if let Some(fix) = &diagnostic.fix
        && diagnostic.help.is_empty()
    {
        shown.notes.push(format!("help: {}", fix.title));
    }
    shown.notes.extend(diagnostic.notes.iter().map(|note| format!("note: {note}")));
    let beyond = definitions.count().saturating_sub(SHOWN_MACROS);
    if beyond != 0 {
        shown.notes.push(format!("note: expanded from {beyond} more macros"));
    }
    for note in &mut shown.notes {
        if let Cow::Owned(text) = visible(note) {
            *note = text;
        }
    }
    for step in location.iter().flat_map(|location| map.include_trail(location.file)) {
        let presumed = PresumedRange::new(map, &step.directive);
        shown.notes.push(format!("note: included from {}:{}", presumed.file, presumed.line));
    }
    shown
}

/// Shows a location with its source line, or only names it if the line is too long to display.
fn point<'a>(
    shown: &mut Shown<PresumedFile<'a>>,
    map: &'a SourceMap,
    style: LabelStyle,
    location: &FileRange,
    text: &str,
) {
    let line = map.line_range(location.file, map.position(location.file, location.range.start).line);
    if line.len() > LONG_LINE {
        let text = if text.is_empty() { "here" } else { text };
        shown.notes.push(format!("at {}: {text}", PresumedRange::new(map, location).start()));
        return;
    }
    let page =
        PresumedFile { file: location.file, name: map.presumed(location.file, location.range.start).0 };
    shown.labels.push(ShownLabel::new(style, page, location.range.clone()).with_message(visible(text)));
}

/// Whether the location is in a file that the user can open; built-in files are not.
fn is_readable(map: &SourceMap, location: &FileRange) -> bool {
    map.file(location.file).kind != FileKind::BuiltIn
}

/// A file under one of the names that `#line` directives set.
#[derive(Clone, Copy, PartialEq)]
struct PresumedFile<'a> {
    file: FileId,
    name: &'a str,
}

/// The adapter from the sources to codespan-reporting's files.
struct FilesAdapter<'a>(Sources<'a>);

impl<'a> Files<'a> for FilesAdapter<'a> {
    type FileId = PresumedFile<'a>;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, presumed: PresumedFile<'a>) -> Result<&'a str, Error> {
        Ok(presumed.name)
    }

    fn source(&'a self, presumed: PresumedFile<'a>) -> Result<&'a str, Error> {
        let displayed = self.0.displayed.iter().find(|(file, _)| *file == presumed.file);
        Ok(displayed.map_or(&self.0.map.file(presumed.file).text, |(_, text)| text))
    }

    fn line_index(&'a self, presumed: PresumedFile<'a>, offset: usize) -> Result<usize, Error> {
        Ok(self.0.map.position(presumed.file, offset.min(self.0.map.file(presumed.file).text.len())).line
            as usize
            - 1)
    }

    fn line_number(&'a self, presumed: PresumedFile<'a>, line: usize) -> Result<usize, Error> {
        let start = self.0.map.line_range(presumed.file, line as u32 + 1).start;
        // Some compilers accept `#line 0`, but codespan-reporting needs line numbers from 1.
        Ok(self.0.map.presumed(presumed.file, start).1.max(1) as usize)
    }

    fn line_range(&'a self, presumed: PresumedFile<'a>, line: usize) -> Result<Range<usize>, Error> {
        let range = self.0.map.line_range(presumed.file, line as u32 + 1);
        let next = self.0.map.line_range(presumed.file, line as u32 + 2);
        // The range includes the line terminator, so that a message about a missing token can point there.
        let end =
            if next.start > range.start { next.start } else { self.0.map.file(presumed.file).text.len() };
        Ok(range.start..end)
    }
}

fn styles() -> Styles {
    let secondary = ColorSpec::new().set_fg(Some(Color::Blue)).set_bold(true).clone();
    Styles {
        secondary_label: secondary.clone(),
        line_number: secondary.clone(),
        source_border: secondary,
        ..Styles::default()
    }
}
