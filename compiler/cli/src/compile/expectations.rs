//! `kiln check --verify`: compares the diagnostics with expectations in comments, in the format of clang's `-verify`.
//!
//! `// expected-error{{text}}`, also `-warning` and `-note`. After the word, `@+1`, `@-1` or `@12` selects another
//! line, and `2`, `2+`, `0-1` or `*` sets the count. `expected-no-diagnostics` expects none. Compares lines and texts
//! only; must not depend on what produces a diagnostic.

use std::fmt::Write as _;

use kiln_compiler::{Output, diag::Severity};

/// A diagnostic that a comment expects.
struct Expectation {
    kind: Kind,
    line: u32,
    text: String,
    min: usize,
    max: usize,
    found: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Error,
    Warning,
    Note,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Lists expected diagnostics that are missing and diagnostics that are not expected; empty if there are none.
pub(crate) fn compare(source: &str, output: &Output) -> String {
    let mut expected = Vec::new();
    let mut expects_nothing = false;
    let mut complaints = String::new();
    for (number, line) in (1..).zip(source.lines()) {
        expects_nothing |= line.contains("expected-no-diagnostics");
        read(line, number, &mut expected, &mut complaints);
    }
    if expected.is_empty() && !expects_nothing && complaints.is_empty() {
        return "no `expected-…` comment, nor `expected-no-diagnostics`\n".to_owned();
    }
    for (kind, line, message) in reported(output) {
        let fits = |one: &&mut Expectation| {
            one.kind == kind && Some(one.line) == line && message.contains(&one.text) && one.found < one.max
        };
        match expected.iter_mut().find(fits) {
            Some(expectation) => expectation.found += 1,
            // Unlike clang's, notes need no expectation, because they belong to a diagnostic.
            None if kind == Kind::Note => {}
            None => {
                let line = line.map_or_else(|| "?".to_owned(), |line| line.to_string());
                let _ = writeln!(complaints, "line {line}: unexpected {}: {message}", kind.word());
            }
        }
    }
    for one in expected.iter().filter(|one| one.found < one.min) {
        let _ =
            writeln!(complaints, "line {}: expected {} is missing: {}", one.line, one.kind.word(), one.text);
    }
    complaints
}

/// The diagnostics of the main file, with their notes.
fn reported(output: &Output) -> Vec<(Kind, Option<u32>, String)> {
    let map = &output.sources;
    let line = |span| map.resolve(span).map(|at| map.position(at.file, at.range.start).line);
    let mut seen = Vec::new();
    for diagnostic in &output.diagnostics {
        let kind = match diagnostic.severity {
            Severity::Error => Kind::Error,
            Severity::Warning => Kind::Warning,
        };
        let at = line(diagnostic.span);
        seen.push((kind, at, diagnostic.message.clone()));
        let remarks = diagnostic.help.iter().chain(&diagnostic.notes);
        seen.extend(remarks.map(|text| (Kind::Note, at, text.clone())));
        seen.extend(diagnostic.labels.iter().map(|label| (Kind::Note, line(label.span), label.text.clone())));
    }
    seen
}

/// Reads the expectations of a line.
fn read(line: &str, number: u32, expected: &mut Vec<Expectation>, complaints: &mut String) {
    let mut rest = line;
    while let Some((_, tail)) = rest.split_once("expected-") {
        rest = tail;
        let Some((kind, after)) = [Kind::Error, Kind::Warning, Kind::Note]
            .into_iter()
            .find_map(|kind| tail.strip_prefix(kind.word()).map(|after| (kind, after)))
        else {
            continue;
        };
        let parsed = after.split_once("{{").and_then(|(directions, text)| {
            let (text, after) = text.split_once("}}")?;
            let (line, count) = target_line(directions.trim(), number)?;
            let (min, max) = expected_count(count.trim())?;
            Some((Expectation { kind, line, text: text.to_owned(), min, max, found: 0 }, after))
        });
        match parsed {
            Some((expectation, after)) => {
                expected.push(expectation);
                rest = after;
            }
            None => {
                let _ = writeln!(
                    complaints,
                    "line {number}: `expected-{}` is not followed by {{{{text}}}}",
                    kind.word()
                );
            }
        }
    }
}

/// `@+1`, `@-2`, `@12`, or nothing: the expected line, and the remaining text.
fn target_line(text: &str, here: u32) -> Option<(u32, &str)> {
    let Some(offset) = text.strip_prefix('@') else { return Some((here, text)) };
    let end = offset.find([' ', '*']).unwrap_or(offset.len());
    let (offset, rest) = offset.split_at(end);
    let line = match offset.strip_prefix('+') {
        Some(down) => here.checked_add(down.parse().ok()?)?,
        None => match offset.strip_prefix('-') {
            Some(up) => here.checked_sub(up.parse().ok()?)?,
            None => offset.parse().ok()?,
        },
    };
    Some((line, rest))
}

/// `2`, `2+`, `0-1`, `*`, `+`, or nothing for exactly one.
fn expected_count(text: &str) -> Option<(usize, usize)> {
    Some(match text {
        "" => (1, 1),
        "*" => (0, usize::MAX),
        "+" => (1, usize::MAX),
        _ => match (text.strip_suffix('+'), text.split_once('-')) {
            (Some(min), _) => (min.parse().ok()?, usize::MAX),
            (_, Some((min, max))) => (min.parse().ok()?, max.parse().ok()?),
            _ => (text.parse().ok()?, text.parse().ok()?),
        },
    })
}
