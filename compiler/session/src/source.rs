//! The source map: one `u32` position space for all files and macro expansions.
//!
//! A file occupies as many positions as it has bytes. An expansion occupies as many as the text that it expands to (a
//! macro's body, or a run of argument tokens). A position in an expansion maps to that text by subtraction, so an
//! expansion needs only one entry, however many tokens it produces. This module is independent of tokens and
//! directives, and does not render messages.

mod layout;
mod trail;

pub use trail::{IncludeStep, MacroStep};

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use kiln_syntax::{Span, Symbol};

/// A file of a [`SourceMap`]. A file that is included twice has two ids and one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// The origin of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The source, or an included file.
    User,
    /// Macro definitions from the command line.
    CommandLine,
    /// A definition of the compiler.
    BuiltIn,
}

/// A file's text and metadata.
#[derive(Debug)]
pub struct File {
    /// Its name, as given or found.
    pub name: Arc<str>,
    /// Its text. Invalid UTF-8 bytes are replaced by [`NOT_UTF8`].
    pub text: Arc<str>,
    /// Its origin.
    pub kind: FileKind,
    /// The directive that includes it.
    pub included_from: Option<Span>,
    lo: u32,
    lines: OnceLock<Vec<u32>>,
    presumed: Vec<Presumption>,
}

/// Replaces a byte that is not UTF-8 in a file's text, so that offsets stay the same.
pub const NOT_UTF8: char = '\u{1A}';

/// Whether the character is invisible: a control character that is not white space (C99 6.4), or one that changes the
/// order of the displayed text.
pub fn is_invisible(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{B}' | '\u{C}' | NOT_UTF8 => false,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// A range of a file: a resolved span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// The file.
    pub file: FileId,
    /// The byte range in its text.
    pub range: Range<usize>,
}

/// A line and a column, both starting at 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The text that an expansion consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpansionKind {
    /// The body of the macro's definition.
    Body,
    /// An argument of its call.
    Argument,
}

/// The expansion of a macro, or a run of argument tokens in it.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// The macro.
    pub name: Symbol,
    /// The call: the name, with arguments if any.
    pub call: Span,
    /// The start of the text in the macro's definition or the argument.
    pub spelling: u32,
    /// The kind of the expansion.
    pub kind: ExpansionKind,
}

#[derive(Debug)]
struct Entry {
    lo: u32,
    kind: EntryKind,
}

#[derive(Debug)]
enum EntryKind {
    File(FileId),
    Expansion(Expansion),
}

/// A `#line` directive: from `offset` on, lines count from `line` and the file is called `name`.
#[derive(Debug)]
struct Presumption {
    offset: u32,
    line: u32,
    name: Option<Arc<str>>,
}

/// Owns the source texts and resolves positions.
#[derive(Debug, Default)]
pub struct SourceMap {
    entries: Vec<Entry>,
    files: Vec<File>,
    end: u32,
}

impl SourceMap {
    /// Adds a file with its text. `None` if the position space is exhausted.
    pub fn add_file(
        &mut self,
        name: impl Into<Arc<str>>,
        text: impl Into<Arc<str>>,
        kind: FileKind,
        included_from: Option<Span>,
    ) -> Option<FileId> {
        let text = text.into();
        let file = FileId(self.files.len() as u32);
        let lo = self.allocate(text.len(), EntryKind::File(file))?;
        self.files.push(File {
            name: name.into(),
            text,
            kind,
            included_from,
            lo,
            lines: OnceLock::new(),
            presumed: Vec::new(),
        });
        Some(file)
    }

    /// Adds an expansion to a text of this length, and returns its first position. `None` if the position
    /// space is exhausted.
    pub fn add_expansion(&mut self, expansion: Expansion, length: usize) -> Option<u32> {
        self.allocate(length, EntryKind::Expansion(expansion))
    }

    /// Allocates positions. Position 0 is unused. Each entry has one position more than its length, for its end.
    fn allocate(&mut self, length: usize, kind: EntryKind) -> Option<u32> {
        let lo = self.end.checked_add(1)?;
        self.end = lo.checked_add(u32::try_from(length).ok()?)?;
        self.entries.push(Entry { lo, kind });
        Some(lo)
    }

    /// Applies `#line` (C99 6.10.4): the line after the one at this offset is `line` of the file `name`.
    pub fn presume(&mut self, file: FileId, offset: usize, line: u32, name: Option<Arc<str>>) {
        let presumed = &mut self.files[file.0 as usize].presumed;
        let name = name.or_else(|| presumed.last().and_then(|last| last.name.clone()));
        presumed.push(Presumption { offset: offset as u32, line, name });
    }

    /// The `#line` directives of a file: the offset, the line and the name that each sets.
    pub fn presumptions(&self, file: FileId) -> impl Iterator<Item = (usize, u32, Option<&Arc<str>>)> {
        let presumed = self.file(file).presumed.iter();
        presumed.map(|presumption| (presumption.offset as usize, presumption.line, presumption.name.as_ref()))
    }

    /// All files, in the order of their addition.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &File)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// The file with this id.
    pub fn file(&self, file: FileId) -> &File {
        &self.files[file.0 as usize]
    }

    /// The span of a byte range of a file.
    pub fn span(&self, file: FileId, range: Range<usize>) -> Span {
        let lo = self.file(file).lo;
        Span::new(lo + range.start as u32, lo + range.end as u32)
    }

    /// The text of a range.
    pub fn text(&self, location: &FileRange) -> &str {
        self.file(location.file).text.get(location.range.clone()).unwrap_or_default()
    }

    /// The physical line of an offset, starting at 1. Cheaper than `position`.
    pub fn line(&self, file: FileId, offset: usize) -> u32 {
        self.file(file).line_of(offset) as u32 + 1
    }

    /// The physical line and column of an offset.
    pub fn position(&self, file: FileId, offset: usize) -> Position {
        let file = self.file(file);
        let line = file.line_of(offset);
        let start = file.lines()[line] as usize;
        let column = file.text.get(start..offset).map_or(0, |text| text.chars().count());
        Position { line: line as u32 + 1, column: column as u32 + 1 }
    }

    /// The presumed file name and line of an offset: `#line` directives apply.
    pub fn presumed(&self, file: FileId, offset: usize) -> (&Arc<str>, u32) {
        let file = self.file(file);
        let line = file.line_of(offset) as u32;
        let after = file.presumed.partition_point(|presumption| presumption.offset as usize <= offset);
        match after.checked_sub(1).map(|index| &file.presumed[index]) {
            None => (&file.name, line + 1),
            Some(presumption) => {
                let beyond = line.saturating_sub(file.line_of(presumption.offset as usize) as u32 + 1);
                (presumption.name.as_ref().unwrap_or(&file.name), presumption.line.saturating_add(beyond))
            }
        }
    }

    /// The byte range of a line, starting at 1, without its line terminator.
    pub fn line_range(&self, file: FileId, line: u32) -> Range<usize> {
        let file = self.file(file);
        let lines = file.lines();
        let index = (line.max(1) as usize - 1).min(lines.len() - 1);
        let end = lines.get(index + 1).map_or(file.text.len(), |next| *next as usize);
        let start = lines[index] as usize;
        start..start + file.text[start..end].trim_end_matches(['\r', '\n']).len()
    }

    /// The range to show for a span: the argument that the user wrote, or the outermost call of the macro whose
    /// definition contains it. `None` for the empty span at 0.
    pub fn resolve(&self, span: Span) -> Option<FileRange> {
        self.file_range(span, Self::outward)
    }

    /// A sort key for source order: the position in the main source, where included files and macros are used, then
    /// the position in the included file.
    pub fn order(&self, span: Span) -> Vec<u32> {
        let mut order = Vec::new();
        let mut next = Some(span);
        while let Some(location) = next.and_then(|span| self.resolve(span)) {
            let file = self.file(location.file);
            order.push(file.lo + location.range.start as u32);
            next = file.included_from;
        }
        order.reverse();
        order
    }

    /// The range where a span's text is spelled: in an argument, in the file, or in a macro definition.
    pub fn spelling(&self, span: Span) -> Option<FileRange> {
        self.file_range(span, |map, mut position, _| {
            loop {
                let entry = map.entry(position)?;
                match &entry.kind {
                    EntryKind::File(file) => return Some((*file, position - entry.lo)),
                    EntryKind::Expansion(expansion) => position = expansion.spelling + (position - entry.lo),
                }
            }
        })
    }

    /// The innermost macro whose definition contains this position. Macros around an argument do not count.
    pub fn macro_name(&self, mut position: u32) -> Option<Symbol> {
        loop {
            let entry = self.entry(position)?;
            match &entry.kind {
                EntryKind::File(_) => return None,
                EntryKind::Expansion(Expansion { name, kind: ExpansionKind::Body, .. }) => {
                    return Some(*name);
                }
                EntryKind::Expansion(expansion) => position = expansion.spelling + (position - entry.lo),
            }
        }
    }

    /// Resolves both ends of a span with `resolve`. If they are in different files, returns the word at the start.
    fn file_range(
        &self,
        span: Span,
        resolve: impl Fn(&Self, u32, End) -> Option<(FileId, u32)>,
    ) -> Option<FileRange> {
        let (file, start) = resolve(self, span.lo, End::First)?;
        let start = start as usize;
        if span.hi <= span.lo && self.is_in_same_entry(span) {
            return Some(FileRange { file, range: start..start });
        }
        let last = span.hi.checked_sub(1).and_then(|last| resolve(self, last, End::Last));
        match last {
            Some((end_file, end)) if end_file == file && end as usize >= start => {
                Some(FileRange { file, range: start..self.file(file).after(end as usize) })
            }
            _ => Some(FileRange { file, range: start..self.file(file).word_end(start) }),
        }
    }

    /// Whether both ends are in the same file or expansion.
    pub fn is_in_same_entry(&self, span: Span) -> bool {
        self.entry(span.lo).map(|entry| entry.lo) == self.entry(span.hi).map(|entry| entry.lo)
    }

    fn outward(&self, mut position: u32, end: End) -> Option<(FileId, u32)> {
        loop {
            let entry = self.entry(position)?;
            position = match &entry.kind {
                EntryKind::File(file) => return Some((*file, position - entry.lo)),
                EntryKind::Expansion(expansion) => match (expansion.kind, end) {
                    (ExpansionKind::Argument, _) => expansion.spelling + (position - entry.lo),
                    (ExpansionKind::Body, End::First) => expansion.call.lo,
                    (ExpansionKind::Body, End::Last) => expansion.call.hi.checked_sub(1)?,
                },
            };
        }
    }

    fn entry(&self, position: u32) -> Option<&Entry> {
        if position > self.end {
            return None;
        }
        let after = self.entries.partition_point(|entry| entry.lo <= position);
        after.checked_sub(1).map(|index| &self.entries[index])
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

impl File {
    /// The offsets of line starts.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let ends = |(at, byte): (usize, &u8)| match byte {
                b'\n' => Some(at as u32 + 1),
                b'\r' if bytes.get(at + 1) != Some(&b'\n') => Some(at as u32 + 1),
                _ => None,
            };
            std::iter::once(0).chain(bytes.iter().enumerate().filter_map(ends)).collect()
        })
    }

    /// The line of an offset, starting at 0.
    fn line_of(&self, offset: usize) -> usize {
        self.lines().partition_point(|start| *start as usize <= offset) - 1
    }

    /// The offset after the character at this offset.
    fn after(&self, offset: usize) -> usize {
        (offset + 1..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(self.text.len())
    }

    /// The offset after the word, or character, that starts here.
    fn word_end(&self, offset: usize) -> usize {
        let rest = self.text.get(offset..).unwrap_or_default();
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        offset + word.max(rest.chars().next().map_or(0, char::len_utf8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> (SourceMap, FileId) {
        let mut map = SourceMap::default();
        let file = map.add_file("a.cl", text, FileKind::User, None).expect("room");
        (map, file)
    }

    #[test]
    fn lines_and_columns_count_characters() {
        let (map, file) = map("aé\r\nb\rc\n");
        assert_eq!(map.position(file, 3), Position { line: 1, column: 3 });
        assert_eq!(map.position(file, 5), Position { line: 2, column: 1 });
        assert_eq!(map.position(file, 7), Position { line: 3, column: 1 });
        assert_eq!(map.position(file, 9), Position { line: 4, column: 1 });
        assert_eq!(map.line_range(file, 1), 0..3);
        assert_eq!(map.line_range(file, 4), 9..9);
    }

    #[test]
    fn line_directives_apply_to_the_following_lines() {
        let (mut map, file) = map("a\n#line 100 \"b\"\nc\nd\n");
        map.presume(file, 2, 100, Some("b".into()));
        assert_eq!(map.presumed(file, 0), (&"a.cl".into(), 1));
        assert_eq!(map.presumed(file, 16), (&"b".into(), 100));
        assert_eq!(map.presumed(file, 18), (&"b".into(), 101));
    }

    #[test]
    fn positions_never_wrap() {
        let (mut map, file) = map("abcdef");
        let name = kiln_syntax::Interner::new().intern("m");
        let call = map.span(file, 0..1);
        let expansion = Expansion { name, call, spelling: call.lo, kind: ExpansionKind::Body };
        assert!(map.add_expansion(expansion, 1 << 31).is_some());
        assert!(map.add_expansion(expansion, 1 << 31).is_none());
        assert!(map.add_expansion(expansion, 8).is_some());
    }

    #[test]
    fn expansions_resolve_to_calls_and_arguments() {
        //                     0         1         2
        //                     012345678901234567890123456
        let (mut map, file) = map("#define F(x) x + y\nF(a) F(b)");
        let name = kiln_syntax::Interner::new().intern("F");
        let call = map.span(file, 19..23);
        let body = Expansion { name, call, spelling: map.span(file, 13..18).lo, kind: ExpansionKind::Body };
        let lo = map.add_expansion(body, 5).expect("room");
        let argument =
            Expansion { name, call, spelling: map.span(file, 21..22).lo, kind: ExpansionKind::Argument };
        let arg = map.add_expansion(argument, 1).expect("room");
        let text = |span| map.resolve(span).map(|location| map.text(&location).to_owned());
        assert_eq!(text(Span::new(arg, arg + 1)).as_deref(), Some("a"));
        assert_eq!(text(Span::new(lo + 4, lo + 5)).as_deref(), Some("F(a)"));
        assert_eq!(text(Span::new(arg, lo + 5)).as_deref(), Some("a)"));
        assert_eq!(map.spelling(Span::new(lo + 4, lo + 5)).map(|p| p.range), Some(17..18));
        assert_eq!(map.macro_name(lo), Some(name));
        assert_eq!(map.macro_name(arg), None);
        let trail = map.macro_trail(Span::new(lo + 4, lo + 5));
        assert_eq!(trail.len(), 1);
        assert_eq!(map.text(&trail[0].definition), "y");
        assert_eq!(map.macro_trail(Span::new(arg, arg + 1))[0].definition.range, 21..22);
    }
}
