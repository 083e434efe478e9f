//! Prints preprocessed text, for `-E`.

use std::fmt::Write as _;

use kiln_session::source::{FileId, SourceMap};
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
    let mut text = String::new();
    let mut at: Option<(FileId, u32)> = None;
    let mut end = 0;
    let mut shown_end = 0;
    let mut after_number = false;
    for token in tokens {
        let location = map.resolve(token.span);
        let line =
            location.as_ref().map(|location| (location.file, map.line(location.file, location.range.start)));
        let pragma = matches!(token.kind, TokenKind::Pragma(_));
        // A `#` at the start of a line would be a directive.
        let hash = matches!(token.kind, TokenKind::Punct(Punct::Hash)) && !text.is_empty();
        let moved = line.is_some() && line != at && !hash;
        if (moved || pragma) && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if let (Some((file, line)), Some(location)) = (line, &location)
            && moved
        {
            match at {
                Some((before, last)) if before == file && line > last && line - last <= 8 => {
                    text.extend(std::iter::repeat_n('\n', (line - last - 1) as usize));
                }
                _ if markers == LineMarkers::Print => {
                    let (name, presumed) = map.presumed(file, location.range.start);
                    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                    let _ = writeln!(text, "# {presumed} \"{name}\"");
                }
                _ => {}
            }
            at = Some((file, line));
            let column = map.position(file, location.range.start).column as usize;
            text.extend(std::iter::repeat_n(' ', (column - 1).min(80)));
        }
        let touches = token.span.lo == end;
        // Two tokens of one text are as far apart as in that text. Others are as far apart as their expansion points.
        let apart = match map.is_in_same_entry(Span::new(end, token.span.lo)) {
            true => token.span.lo > end,
            false => location.as_ref().is_some_and(|location| location.range.start > shown_end),
        };
        end = token.span.hi;
        shown_end = location.as_ref().map_or(0, |location| location.range.end);
        let start = text.len();
        match token.kind {
            TokenKind::Pragma(pragma) => {
                let _ = writeln!(text, "#pragma {}", interner.text(pragma));
                // The next token starts on the following line.
                at = at.map(|(file, line)| (file, line + 1));
            }
            TokenKind::Keyword(keyword) => text.push_str(spelling(keyword, token, map)),
            TokenKind::Unknown => text.push_str(location.as_ref().map_or("", |location| map.text(location))),
            TokenKind::Punct(punct) => text.push_str(punct.spelling()),
            TokenKind::Name(symbol)
            | TokenKind::Integer(symbol)
            | TokenKind::Floating(symbol)
            | TokenKind::Character(symbol)
            | TokenKind::String(symbol) => text.push_str(interner.text(symbol)),
        }
        let last = text[..start].chars().next_back().filter(|last| !last.is_whitespace());
        let first = text[start..].chars().next();
        if let (Some(last), Some(first)) = (last, first)
            && (after_number && continues_number(last, first) || apart || !touches && may_join(last, first))
        {
            text.insert(start, ' ');
        }
        after_number = matches!(token.kind, TokenKind::Integer(_) | TokenKind::Floating(_));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Whether a preprocessing number would absorb the next token (C99 6.4.8). If the two are adjacent in the source, the
/// number is an expansion, such as `__LINE__`.
fn continues_number(last: char, first: char) -> bool {
    let exponent = matches!(last, 'e' | 'E' | 'p' | 'P') && matches!(first, '+' | '-');
    exponent || is_word(first)
}

/// Whether two adjacent tokens with these characters could lex as one.
fn may_join(last: char, first: char) -> bool {
    let apart = |c: char| matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '~');
    match (is_word(last), is_word(first)) {
        (true, _) => continues_number(last, first),
        (false, true) => false,
        (false, false) => !(apart(last) || apart(first)),
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
