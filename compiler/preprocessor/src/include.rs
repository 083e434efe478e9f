//! `#include` (C99 6.10.2): finds and enters files.

use std::rc::Rc;

use kiln_session::{
    diag::{Code, Diagnostic},
    source::FileKind,
};
use kiln_syntax::{Span, token::Punct};

use super::{
    Preprocessor,
    file::{SourceFile, identity},
    limits::INCLUDE_DEPTH,
    token::{Kind, Tok},
};

/// The C headers that OpenCL C 6.11.h lists.
const C_HEADERS: [&str; 19] = [
    "assert.h",
    "ctype.h",
    "complex.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "locale.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "tgmath.h",
    "time.h",
    "wchar.h",
    "wctype.h",
];

/// C headers whose contents are built into OpenCL C.
const BUILT_IN_HEADERS: [&str; 4] = ["math.h", "stdbool.h", "stddef.h", "stdint.h"];

/// The help for these headers.
const WITHOUT_HEADER: &str = "remove it: OpenCL C has the types and functions without a header";

/// Headers that are part of the compiler. Files with the same names take precedence.
const KILN_HEADERS: [(&str, &str); 9] = [
    ("kiln/assert.h", include_str!("headers/kiln/assert.h")),
    ("kiln/device_barrier.h", include_str!("headers/kiln/device_barrier.h")),
    ("kiln/hash_table.h", include_str!("headers/kiln/hash_table.h")),
    ("kiln/histogram.h", include_str!("headers/kiln/histogram.h")),
    ("kiln/lock.h", include_str!("headers/kiln/lock.h")),
    ("kiln/queue.h", include_str!("headers/kiln/queue.h")),
    ("kiln/random.h", include_str!("headers/kiln/random.h")),
    ("kiln/scan.h", include_str!("headers/kiln/scan.h")),
    ("kiln/sort.h", include_str!("headers/kiln/sort.h")),
];

/// The operand of `#include`.
struct Header {
    name: String,
    quoted: bool,
    /// Whether `-include` names it.
    is_option: bool,
    span: Span,
}

impl Preprocessor<'_> {
    /// `#include`. `after` is the span after the directive name.
    pub(super) fn include(&mut self, line: &[Tok], after: Span) {
        let Some((header, used)) = self.header(line, after) else { return };
        self.extra_tokens(&line[used..], "include");
        if self.collecting != 0 {
            let message = "`#include` is not allowed in the arguments of a macro";
            self.sink
                .report(Diagnostic::new(Code::Include, header.span, message).note("C99 6.10.3 paragraph 11"));
            return;
        }
        let directive = after.to(header.span);
        let found = self.find(&header);
        self.trace_include(header.span, found.as_ref().map(|file| &*file.name));
        match found {
            Some(file) => self.enter_included(file, directive),
            None => self.not_found(&header),
        }
    }

    /// `-include`: searches for the file in the working directory, then as if the source included it.
    pub(super) fn force_include(&mut self, path: &str) {
        let header = Header { name: path.to_owned(), quoted: true, is_option: true, span: Span::default() };
        match self.find(&header) {
            Some(file) => {
                self.add_dependency(&file.name);
                self.enter(file, FileKind::User, None);
            }
            None => self.not_found(&header),
        }
    }

    /// The include depth of the innermost file.
    pub(super) fn include_depth(&self) -> usize {
        let included = |frame: &&super::Frame| self.map.file(frame.id).included_from.is_some();
        self.frames.iter().rev().take_while(included).count()
    }

    fn enter_included(&mut self, file: Rc<SourceFile>, directive: Span) {
        if self.files.once.contains(&identity(&file.name))
            || file.is_guarded(self.interner, |guard| self.macros.is_defined(guard))
        {
            return;
        }
        if self.include_depth() >= INCLUDE_DEPTH {
            let message = format!("files are included more than {INCLUDE_DEPTH} deep");
            let diagnostic = Diagnostic::new(Code::IncludeDepth, directive, message);
            return self.stop(diagnostic.help("use `#pragma once` in a file that includes itself"));
        }
        self.spend_include(file.text.len(), directive);
        if !is_kiln_header(&file.name) {
            self.add_dependency(&file.name);
        }
        self.enter(file, FileKind::User, Some(directive));
    }

    fn add_dependency(&mut self, path: &str) {
        if !self.dependencies.iter().any(|known| known == path) {
            self.dependencies.push(path.to_owned());
        }
    }

    /// The header name after `#include`, and its number of tokens.
    fn header(&mut self, line: &[Tok], after: Span) -> Option<(Header, usize)> {
        if let Some(header) = self.written_header(line) {
            let end = header.span.hi;
            let used = line.iter().position(|token| token.span.lo >= end).unwrap_or(line.len());
            return Some((header, used));
        }
        // C99 6.10.2 paragraph 4: after macro replacement it must be one of the two forms.
        let expanded = self.expand_all(line.iter().map(|token| token.inline()).collect());
        let header = self.spelled_header(&expanded);
        if header.is_none() {
            let span = line.first().map_or(after, |token| token.span);
            let message = "the name of a file in quotes or angle brackets must follow `#include`";
            let diagnostic = Diagnostic::new(Code::Include, span, message).note("C99 6.10.2");
            self.sink.report(match self.unquoted_name(line) {
                Some((span, meant)) => {
                    let title = format!("write `{meant}`");
                    diagnostic.help(title.clone()).fix(span, title, meant)
                }
                None => diagnostic,
            });
        }
        header.map(|header| (header, line.len()))
    }

    /// A file name with a missing quote: its span, and the name in quotes.
    fn unquoted_name(&self, line: &[Tok]) -> Option<(Span, String)> {
        let span = line.first()?.span.to(line.last()?.span);
        let location = self.map.spelling(span)?;
        let name = self.map.text(&location).trim_matches('"');
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
        (name.contains('.') && name.chars().all(is_name)).then(|| (span, format!("\"{name}\"")))
    }

    /// A header name in the source text. It is not tokenized, because it contains no escapes (C99 6.4.7).
    fn written_header(&self, line: &[Tok]) -> Option<Header> {
        let first = line.first()?;
        let close = match first.kind {
            Kind::Punct(Punct::Less | Punct::LessEqual | Punct::ShiftLeft | Punct::ShiftLeftEqual) => '>',
            Kind::Punct(Punct::OpenBracket | Punct::OpenBrace) => '>',
            Kind::String(_) | Kind::Unterminated(_) => '"',
            _ => return None,
        };
        let location = self.map.spelling(first.span)?;
        let text = &self.map.file(location.file).text;
        let rest = &text[location.range.start..];
        let open = if close == '>' { '<' } else { '"' };
        let inside = rest.strip_prefix(open)?;
        let end = inside.find([close, '\n', '\r']).filter(|end| inside[*end..].starts_with(close))?;
        let lo = first.span.lo;
        let span = Span::new(lo, lo + end as u32 + 2);
        Some(Header { name: inside[..end].to_owned(), quoted: close == '"', is_option: false, span })
            .filter(|header| !header.name.is_empty())
    }

    /// A header name from macro expansion.
    fn spelled_header(&self, tokens: &[Tok]) -> Option<Header> {
        let (first, last) = (tokens.first()?, tokens.last()?);
        let text = self.spell(tokens);
        let span = first.span.to(last.span);
        let inside = |open, close| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        let (name, quoted) = match first.kind {
            Kind::String(_) if tokens.len() == 1 => (inside('"', '"')?, true),
            Kind::Punct(Punct::Less) => (inside('<', '>')?, false),
            _ => return None,
        };
        (!name.is_empty()).then(|| Header { name: name.to_owned(), quoted, is_option: false, span })
    }

    /// `__has_include`: parses the line after `(`. Returns whether the file exists, and the number of tokens of the
    /// name.
    pub(super) fn has_include(&mut self, line: &[Tok]) -> Option<(bool, usize)> {
        let header = self.written_header(line)?;
        let used = line.iter().position(|token| token.span.lo >= header.span.hi).unwrap_or(line.len());
        Some((self.find(&header).is_some(), used))
    }

    /// The paths to search, in order: the working directory for a name of `-include`, the directory of the including
    /// file for a quoted name, then `-I`.
    fn candidates(&self, header: &Header) -> Vec<String> {
        if is_absolute(&header.name) {
            return vec![header.name.clone()];
        }
        let own = self.frames.last().filter(|_| header.quoted).map(|frame| directory(&frame.file.name));
        let directories = own.into_iter().chain(self.options.include_dirs.iter().map(String::as_str));
        let option = header.is_option.then(|| header.name.clone());
        let mut paths = Vec::from_iter(option);
        for path in directories.map(|directory| join(directory, &header.name)) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    fn find(&mut self, header: &Header) -> Option<Rc<SourceFile>> {
        let candidates = self.candidates(header);
        let file = candidates.iter().find_map(|path| self.files.load(path, self.loader));
        file.or_else(|| {
            let (name, text) = KILN_HEADERS.iter().find(|(name, _)| *name == header.name)?;
            Some(self.files.built_in(&format!("<{name}>"), text))
        })
    }

    fn not_found(&mut self, header: &Header) {
        let name = &header.name;
        let known = name.as_str();
        if C_HEADERS.contains(&known) {
            let message = format!("`{name}` is not available in OpenCL C");
            let diagnostic = Diagnostic::new(Code::Include, header.span, message);
            let diagnostic =
                diagnostic.note("OpenCL C 6.11.h names 19 headers of C that a program cannot include");
            let own = KILN_HEADERS.iter().find(|(own, _)| own.strip_prefix("kiln/") == Some(known));
            self.sink.report(match own {
                Some((own, _)) => diagnostic
                    .help(format!("`#include <{own}>` declares the part of it that Kiln supports"))
                    .fix(header.span, format!("include `<{own}>`"), format!("<{own}>")),
                None if known == "stdio.h" => diagnostic.help("remove it: `printf` is a built-in function"),
                None if matches!(known, "float.h" | "limits.h" | "tgmath.h") => {
                    diagnostic.help(WITHOUT_HEADER)
                }
                None => diagnostic,
            });
            return;
        }
        let mut diagnostic = Diagnostic::new(Code::Include, header.span, format!("cannot find `{name}`"));
        let candidates = self.candidates(header);
        let is_built_in = BUILT_IN_HEADERS.contains(&known);
        diagnostic = match (candidates.is_empty(), is_built_in) {
            (_, true) => diagnostic.help(WITHOUT_HEADER),
            (true, _) => diagnostic.help("name the directory of the file with `-I`"),
            (false, _) => diagnostic.note(format!("looked for {}", list(&candidates))),
        };
        if !header.quoted && !candidates.is_empty() {
            diagnostic =
                diagnostic.help("a name in quotes is also searched for in the folder of the including file");
        }
        match is_built_in {
            true => self.sink.report(diagnostic),
            false => self.sink.report_missing_header(diagnostic),
        }
    }
}

/// Whether a file is a header of the compiler instead of a file on disk.
fn is_kiln_header(name: &str) -> bool {
    KILN_HEADERS
        .iter()
        .any(|(own, _)| name.strip_prefix('<').and_then(|name| name.strip_suffix('>')) == Some(own))
}

fn list(paths: &[String]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\'])
        || matches!(path.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}

/// The part of a path before its last separator.
fn directory(path: &str) -> &str {
    path.rfind(['/', '\\']).map_or("", |at| &path[..at.max(1)])
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        _ if directory.ends_with(['/', '\\']) => format!("{directory}{name}"),
        _ => format!("{directory}/{name}"),
    }
}
