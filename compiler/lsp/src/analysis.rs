//! The compiler's results for a source, with locations converted to the protocol's.

use std::{ops::Range, sync::OnceLock};

use kiln_frontend::{
    sema::Typed,
    survey::{Survey, survey},
};
use kiln_session::{
    Source,
    source::{FileId, FileKind, FileRange},
};
use kiln_syntax::{Span, Symbol};
use kiln_types::ty::QualTy;
use lsp_types::{Location, Position};
use rustc_hash::FxHashMap;

use crate::{
    call::{OpenCall, open_call},
    client_state::ClientState,
    configuration,
    documents::Document,
    lexical::{self, LexicalContext},
    names::{self, Entity, Name},
    position::{Encoding, Lines},
    uri,
};

/// The analysis of one source.
pub(crate) struct Analysis {
    /// The name of the source.
    pub(crate) root: String,
    /// The compiler's results.
    pub(crate) survey: Survey,
    /// The encoding of positions.
    pub(crate) encoding: Encoding,
    /// The user's files, without built-in ones.
    files: FxHashMap<FileId, File>,
    names: OnceLock<Vec<Name>>,
}

struct File {
    name: String,
    lines: OnceLock<Lines>,
}

/// A position in a file, for a request.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    /// The analysis in which to view the file.
    pub(crate) analysis: &'a Analysis,
    /// The client's state.
    pub(crate) client_state: &'a ClientState,
    /// The file.
    pub(crate) file: FileId,
    /// The byte offset in the file.
    pub(crate) offset: usize,
    /// The text, if it is newer than the analysis.
    pub(crate) newer: Option<&'a str>,
}

impl Analysis {
    /// Analyzes the file of this name. `None` if it does not exist, or if it is a configuration file instead of a
    /// source.
    pub(crate) fn new(client_state: &ClientState, root: &str) -> Option<Self> {
        if configuration::is_project_file(root) {
            return None;
        }
        let text = client_state.read(root)?;
        panic_if_requested(&text);
        let options = configuration::options(client_state, root, &String::from_utf8_lossy(&text));
        let survey = survey(Source { name: root.to_owned(), text }, &options, client_state);
        let user = survey.sources.files().filter(|(_, file)| file.kind == FileKind::User);
        let files = user
            .map(|(id, file)| (id, File { name: uri::normal(&file.name), lines: OnceLock::new() }))
            .collect();
        Some(Self {
            root: root.to_owned(),
            survey,
            encoding: client_state.encoding,
            files,
            names: OnceLock::new(),
        })
    }

    /// Analyzes the source with a different text for one of its files.
    pub(crate) fn with_text(
        client_state: &ClientState,
        root: &str,
        name: &str,
        text: String,
    ) -> Option<Self> {
        let mut client_state = client_state.clone();
        let uri = uri::uri(name)?;
        client_state.documents.insert(name.to_owned(), Document { uri, version: 0, text: text.into() });
        Self::new(&client_state, root)
    }

    /// The names of all files read, including the source itself.
    pub(crate) fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.values().map(|file| file.name.as_str())
    }

    /// Whether the source depends on the file of this name.
    pub(crate) fn reads(&self, name: &str) -> bool {
        self.file_names().any(|file| file == name)
    }

    /// Whether a change of the file of this name can affect the source: the compiler has read it, or has not found it.
    pub(crate) fn may_read(&self, name: &str) -> bool {
        let is_missing = |path: &Option<String>| path.is_none();
        self.reads(name) || self.survey.trace.includes.iter().any(|directive| is_missing(&directive.path))
    }

    /// The file of this name; the first occurrence, if it is included several times.
    pub(crate) fn file(&self, name: &str) -> Option<FileId> {
        self.files.iter().filter(|(_, file)| file.name == name).map(|(id, _)| *id).min()
    }

    /// The name of a file; `None` if it is not the user's.
    pub(crate) fn file_name(&self, file: FileId) -> Option<&str> {
        self.files.get(&file).map(|file| file.name.as_str())
    }

    /// The text of a file.
    pub(crate) fn text(&self, file: FileId) -> &str {
        &self.survey.sources.file(file).text
    }

    /// Converts a range of a file to the protocol's.
    pub(crate) fn range(&self, file: FileId, range: &Range<usize>) -> lsp_types::Range {
        self.lines(file).map_or(lsp_types::Range::default(), |lines| lines.range(range))
    }

    /// The line index of a file; `None` if it is not the user's.
    pub(crate) fn lines(&self, file: FileId) -> Option<&Lines> {
        let known = self.files.get(&file)?;
        Some(known.lines.get_or_init(|| Lines::new(self.text(file), self.encoding)))
    }

    /// The spelling location of a span, if it is in one of the user's files.
    pub(crate) fn spelling(&self, span: Span) -> Option<FileRange> {
        self.survey.sources.spelling(span).filter(|location| self.files.contains_key(&location.file))
    }

    /// The location for a message about this span, if it is in one of the user's files.
    pub(crate) fn resolve(&self, span: Span) -> Option<FileRange> {
        self.survey.sources.resolve(span).filter(|location| self.files.contains_key(&location.file))
    }

    /// The range of a span in this file, if it is there and outside macro definitions.
    pub(crate) fn in_file(&self, file: FileId, span: Span) -> Option<Range<usize>> {
        self.resolve(span).filter(|location| location.file == file).map(|location| location.range)
    }

    /// The range of a span in this file, if it is there and neither in a macro definition nor in a macro call.
    pub(crate) fn unexpanded_range(&self, file: FileId, span: Span) -> Option<Range<usize>> {
        let sources = &self.survey.sources;
        let is_expanded = sources.macro_name(span.lo).is_some() || sources.outermost_call(span.lo).is_some();
        self.in_file(file, span).filter(|_| !is_expanded)
    }

    /// Converts a location to the protocol's.
    pub(crate) fn location(&self, location: &FileRange) -> Option<Location> {
        let name = self.file_name(location.file)?;
        Some(Location { uri: uri::uri(name)?, range: self.range(location.file, &location.range) })
    }

    /// Every name in the user's files with its meaning, ordered by file and offset.
    pub(crate) fn names(&self) -> &[Name] {
        self.names.get_or_init(|| names::collect(self))
    }

    /// The names in one file, ordered by offset.
    pub(crate) fn names_in(&self, file: FileId) -> &[Name] {
        let names = self.names();
        let start = names.partition_point(|name| name.location.file < file);
        let end = names.partition_point(|name| name.location.file <= file);
        &names[start..end]
    }

    /// The text of a symbol.
    pub(crate) fn symbol(&self, symbol: Symbol) -> &str {
        self.survey.interner.text(symbol)
    }

    /// A type in source syntax.
    pub(crate) fn show(&self, ty: impl Into<QualTy>) -> String {
        self.survey.program.types.show(ty, &self.survey.interner)
    }
}

/// For tests: a source that contains the value of this variable makes the compiler panic.
const PANIC_ON: &str = "KILN_PANIC_ON";

fn panic_if_requested(text: &[u8]) {
    if let Ok(word) = std::env::var(PANIC_ON) {
        assert!(!String::from_utf8_lossy(text).contains(&word), "a requested panic on `{word}`");
    }
}

impl<'a> Cursor<'a> {
    /// The cursor at a position of the file of this name.
    pub(crate) fn new(
        analysis: &'a Analysis,
        client_state: &'a ClientState,
        name: &str,
        position: Position,
    ) -> Option<Self> {
        let file = analysis.file(name)?;
        let offset = analysis.lines(file)?.offset(analysis.text(file), position);
        Some(Self { analysis, client_state, file, offset, newer: None })
    }

    /// The cursor in a document that differs from the analyzed text only in the word at the cursor: the offsets before
    /// that word are still valid. `None` if the document differs elsewhere. Also `None` in two contexts that need a new
    /// analysis: after `.` or `->`, which needs the newest types, and in a directive.
    pub(crate) fn while_typing(
        analysis: &'a Analysis,
        client_state: &'a ClientState,
        name: &str,
        position: Position,
    ) -> Option<Self> {
        let (file, newer) = (analysis.file(name)?, &*client_state.documents.get(name)?.text);
        let offset = Lines::new(newer, analysis.encoding).offset(newer, position);
        let cursor = Self { analysis, client_state, file, offset, newer: Some(newer) };
        let (older, word) = (analysis.text(file), cursor.word());
        let (before, after) = (newer.get(..word.start)?, newer.get(word.end..)?);
        let rest = older.strip_prefix(before)?;
        let is_same = rest.trim_start_matches(is_word_character) == after;
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        let is_plain = !before.trim_end().ends_with(['.', '>']) && !line.trim_start().starts_with('#');
        (is_same && is_plain).then_some(cursor)
    }

    /// The cursor in another analysis, at the same offset.
    pub(crate) fn in_analysis(&self, analysis: &'a Analysis, file: FileId) -> Self {
        Self { analysis, file, newer: None, ..*self }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> &'a str {
        self.newer.unwrap_or_else(|| self.analysis.text(self.file))
    }

    /// The name at the cursor, with its meaning.
    pub(crate) fn name(&self) -> Option<&'a Name> {
        let names = self.analysis.names_in(self.file);
        let touching = names.iter().filter(|name| {
            name.location.range.start <= self.offset && self.offset <= name.location.range.end
        });
        // Between two adjacent names, the one that starts here.
        touching.max_by_key(|name| (name.location.range.start, std::cmp::Reverse(name.role)))
    }

    /// Converts a range of the file to the protocol's.
    pub(crate) fn range(&self, range: &Range<usize>) -> lsp_types::Range {
        self.analysis.range(self.file, range)
    }

    /// The expressions that contain or touch the cursor, with their ranges.
    pub(crate) fn expressions(&self) -> Vec<(Range<usize>, &'a Typed)> {
        let (analysis, length) = (self.analysis, self.text().len());
        let whole = analysis.survey.sources.span(self.file, 0..length);
        let touches = |range: &Range<usize>| range.start <= self.offset && self.offset <= range.end;
        // Most expressions of a large source come from macros; those matter only in a macro call.
        let in_macro = self.is_in_macro_call();
        let all = analysis.survey.facts.expressions.iter();
        all.filter(|typed| in_macro || whole.lo <= typed.span.lo && typed.span.lo <= whole.hi)
            .filter_map(|typed| {
                let range = analysis.in_file(self.file, typed.span).filter(touches)?;
                Some((range, typed))
            })
            .collect()
    }

    /// Whether the cursor is in the arguments of a macro call.
    fn is_in_macro_call(&self) -> bool {
        let Some(call) = self.open_call(self.offset) else { return false };
        let names = self.analysis.names_in(self.file).iter();
        names
            .into_iter()
            .any(|name| name.location.range == call.name && matches!(name.entity, Entity::Macro(..)))
    }

    /// The innermost call that is open at an offset.
    pub(crate) fn open_call(&self, offset: usize) -> Option<OpenCall> {
        open_call(self.text(), self.code_before(offset)..offset)
    }

    /// The lexical context of the cursor.
    pub(crate) fn lexical_context(&self) -> LexicalContext {
        lexical::lexical_context(self.text(), self.code_before(self.offset), self.offset)
    }

    /// The start of the last function before an offset, or of the file: a position in code where a scan can start.
    pub(crate) fn code_before(&self, offset: usize) -> usize {
        let scopes = self.analysis.survey.facts.scopes.iter();
        let mut last = 0..0;
        for scope in scopes.filter_map(|scope| self.analysis.in_file(self.file, *scope)) {
            if scope.start >= last.end && scope.start <= offset {
                last = scope;
            }
        }
        last.start
    }

    /// The word that contains the cursor or ends there.
    pub(crate) fn word(&self) -> Range<usize> {
        let text = self.text();
        let before = &text[..self.offset];
        let start = before.trim_end_matches(is_word_character).len();
        let after = &text[self.offset..];
        start..self.offset + (after.len() - after.trim_start_matches(is_word_character).len())
    }
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
