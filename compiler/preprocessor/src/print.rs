//! Prints preprocessed text, for `-E`.

use std::fmt::Write as _;

use kiln_session::source::{FileId, FileRange, SourceMap};
use kiln_syntax::{
    Interner, Span,
    token::{Keyword, Punct, Token, TokenKind},
};

/// Whether to print `# line "file"` markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineMarkers {
    /// Print markers, as other compilers do.
    Print,
    /// Omit markers.
    Omit,
}

/// Prints tokens so that they lex as the same tokens. Each stays on its line, and is separated from its neighbor
/// unless they were adjacent in the source.
pub fn print(tokens: &[Token], map: &SourceMap, interner: &Interner, markers: LineMarkers) -> String {
    let mut printer = Printer {
        map,
        interner,
        markers,
        text: String::new(),
        line: None,
        end: 0,
        shown_end: 0,
        after_number: false,
    };
    for token in tokens {
        printer.print(token);
    }
    let mut text = printer.text;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

struct Printer<'a> {
    map: &'a SourceMap,
    interner: &'a Interner,
    markers: LineMarkers,
    text: String,
    /// The source line of the current line of the text.
    line: Option<(FileId, u32)>,
    /// The end of the previous token.
    end: u32,
    /// The end of the previous token in its file: for a token of a macro, the end of the call.
    shown_end: usize,
    /// Whether the previous token is a number.
    after_number: bool,
}

impl Printer<'_> {
    fn print(&mut self, token: &Token) {
        let location = self.map.resolve(token.span);
        let line = location.as_ref().map(|it| (it.file, self.map.line(it.file, it.range.start)));
        let is_pragma = matches!(token.kind, TokenKind::Pragma(_));
        // A `#` at the start of a line would be a directive.
        let is_hash = matches!(token.kind, TokenKind::Punct(Punct::Hash)) && !self.text.is_empty();
        let has_moved = line.is_some() && line != self.line && !is_hash;
        if (has_moved || is_pragma) && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        if let (Some((file, line)), Some(location)) = (line, &location)
            && has_moved
        {
            self.start_line(file, line, location.range.start);
        }
        let touches = token.span.lo == self.end;
        // Two tokens of one text are as far apart as in that text. Others are as far apart as their expansion points.
        let is_apart = match self.map.is_in_same_entry(Span::new(self.end, token.span.lo)) {
            true => token.span.lo > self.end,
            false => location.as_ref().is_some_and(|location| location.range.start > self.shown_end),
        };
        self.end = token.span.hi;
        self.shown_end = location.as_ref().map_or(0, |location| location.range.end);
        let start = self.text.len();
        self.push_spelling(token, location.as_ref());
        let last = self.text[..start].chars().next_back().filter(|last| !last.is_whitespace());
        let first = self.text[start..].chars().next();
        if let (Some(last), Some(first)) = (last, first)
            && (self.after_number && continues_number(last, first)
                || is_apart
                || !touches && may_join(last, first))
        {
            self.text.insert(start, ' ');
        }
        self.after_number = matches!(token.kind, TokenKind::Integer(_) | TokenKind::Floating(_));
    }

    /// Moves to a line of the source, by empty lines or with a marker, and indents the text.
    fn start_line(&mut self, file: FileId, line: u32, offset: usize) {
        match self.line {
            Some((before, last)) if before == file && line > last && line - last <= 8 => {
                self.text.extend(std::iter::repeat_n('\n', (line - last - 1) as usize));
            }
            _ if self.markers == LineMarkers::Print => {
                let (name, presumed) = self.map.presumed(file, offset);
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                let _ = writeln!(self.text, "# {presumed} \"{name}\"");
            }
            _ => {}
        }
        self.line = Some((file, line));
        let column = self.map.position(file, offset).column as usize;
        self.text.extend(std::iter::repeat_n(' ', (column - 1).min(80)));
    }

    fn push_spelling(&mut self, token: &Token, location: Option<&FileRange>) {
        match token.kind {
            TokenKind::Pragma(pragma) => {
                let _ = writeln!(self.text, "#pragma {}", self.interner.text(pragma));
                // The next token starts on the following line.
                self.line = self.line.map(|(file, line)| (file, line + 1));
            }
            TokenKind::Keyword(keyword) => self.text.push_str(spelling(keyword, token, self.map)),
            TokenKind::Unknown => self.text.push_str(location.map_or("", |location| self.map.text(location))),
            TokenKind::Punct(punct) => self.text.push_str(punct.spelling()),
            TokenKind::Name(symbol)
            | TokenKind::Integer(symbol)
            | TokenKind::Floating(symbol)
            | TokenKind::Character(symbol)
            | TokenKind::String(symbol) => self.text.push_str(self.interner.text(symbol)),
        }
    }
}

/// Whether a preprocessing number would absorb the next token (C99 6.4.8). If the two are adjacent in the source, the
/// number is an expansion, such as `__LINE__`.
fn continues_number(last: char, first: char) -> bool {
    let is_exponent = matches!(last, 'e' | 'E' | 'p' | 'P') && matches!(first, '+' | '-');
    is_exponent || is_word(first)
}

/// Whether two adjacent tokens with these characters could lex as one.
fn may_join(last: char, first: char) -> bool {
    let is_separator = |c: char| matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '~');
    match (is_word(last), is_word(first)) {
        (true, _) => continues_number(last, first),
        (false, true) => false,
        (false, false) => !(is_separator(last) || is_separator(first)),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '"' | '\'')
}

/// The spelling of a keyword in the source.
fn spelling<'a>(keyword: Keyword, token: &Token, map: &'a SourceMap) -> &'a str {
    let written = map.spelling(token.span).map_or("", |location| map.text(&location));
    let is_spelling = Keyword::ALL.contains(&(written, keyword));
    if is_spelling { written } else { keyword.spelling() }
}
