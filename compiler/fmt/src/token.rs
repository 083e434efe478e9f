//! Splits a text into tokens, comments, directives and verbatim parts. Independent of styles and layout.

use std::ops::Range;

use kiln_syntax::{
    lex::{Lexed, Lexeme, Lexer, Spliced},
    token::{Keyword, Punct},
};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier.
    Word,
    /// A reserved word.
    Keyword(Keyword),
    /// A number.
    Number,
    /// A string or a character constant.
    Literal,
    /// Punctuation.
    Punct(Punct),
    /// `// …`
    LineComment,
    /// `/* … */`
    BlockComment,
    /// A directive with its continuation lines and comments.
    Directive,
    /// Text between `clang-format off` and `clang-format on`, or in `#if 0`.
    Verbatim,
    /// Characters that cannot start a token.
    Unknown,
}

/// A token with the white space before it.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    /// The offset of the text.
    pub(crate) start: usize,
    /// The number of line ends before it.
    pub(crate) newlines: usize,
    /// Whether white space precedes it.
    pub(crate) space: bool,
    /// Its column in the text, with the width of tabs of the style.
    pub(crate) column: usize,
}

impl Token<'_> {
    /// Whether this is a comment.
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }

    /// The text of a block comment that starts at a column: its further lines are shifted as its first one.
    pub(crate) fn shifted(&self, at: usize, tab_width: usize) -> String {
        let text = self.text.replace("\r\n", "\n");
        if at == self.column {
            return text;
        }
        let shift = |line: &str| {
            let content = line.trim_start_matches([' ', '\t']);
            let before = column(&line[..line.len() - content.len()], tab_width);
            let after = (before + at).saturating_sub(self.column);
            if content.is_empty() { String::new() } else { " ".repeat(after) + content }
        };
        let mut lines = text.split('\n');
        let first = lines.next().unwrap_or_default().to_owned();
        lines.fold(first, |text, line| text + "\n" + &shift(line))
    }

    /// Whether this is neither a comment nor a directive nor verbatim text.
    pub(crate) fn is_code(&self) -> bool {
        !self.is_comment() && !self.is_raw()
    }

    /// Whether this is a directive or verbatim text, which starts in the first column.
    pub(crate) fn is_raw(&self) -> bool {
        matches!(self.kind, Kind::Directive | Kind::Verbatim)
    }

    /// Whether this is the punctuation.
    pub(crate) fn is(&self, punct: Punct) -> bool {
        self.kind == Kind::Punct(punct)
    }

    /// Whether this is the reserved word.
    pub(crate) fn is_keyword(&self, keyword: Keyword) -> bool {
        self.kind == Kind::Keyword(keyword)
    }

    /// The word of a directive: `if` in `# if A`.
    pub(crate) fn directive(&self) -> &str {
        let rest = self.text.trim_start_matches(['#', '%', ':']).trim_start_matches([' ', '\t']);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        &rest[..end]
    }
}

/// The tokens of a text, in order. `tab_width` determines their columns.
pub(crate) fn tokens(text: &str, tab_width: usize) -> Vec<Token<'_>> {
    let spliced = Spliced::new(text);
    let body = spliced.text(text);
    let mut splitter = Splitter { body, pieces: Vec::new(), end: 0 };
    splitter.split();
    let mut offsets = spliced.offsets(0);
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(splitter.pieces.len());
    let mut before = 0;
    for (kind, range) in splitter.pieces {
        let (start, end) = offsets.original(range.start as u32, range.end as u32);
        let (start, end) = (start as usize, end as usize);
        let gap = &body[before..range.start];
        tokens.push(Token {
            kind,
            text: &text[start..end],
            start,
            newlines: line_ends(gap),
            space: !gap.is_empty(),
            column: column(&text[..start], tab_width),
        });
        before = range.end;
    }
    tokens
}

/// The number of line ends in a text.
fn line_ends(text: &str) -> usize {
    let line_feeds = text.matches('\n').count();
    line_feeds + text.matches('\r').count() - text.matches("\r\n").count()
}

/// The column at the end of a text.
pub(crate) fn column(text: &str, tab_width: usize) -> usize {
    let line = text.rfind(['\n', '\r']).map_or(0, |found| found + 1);
    let tab = tab_width.max(1);
    let advance = |column: usize, c: char| if c == '\t' { (column / tab + 1) * tab } else { column + 1 };
    text[line..].trim_start_matches('\u{FEFF}').chars().fold(0, advance)
}

struct Splitter<'b> {
    body: &'b str,
    /// The pieces, with their ranges in the body.
    pieces: Vec<(Kind, Range<usize>)>,
    /// The end of the last piece.
    end: usize,
}

impl Splitter<'_> {
    fn split(&mut self) {
        let lexed: Vec<Lexed> = Lexer::new(self.body).collect();
        let mut index = 0;
        self.end = if self.body.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        while let Some(token) = lexed.get(index) {
            let range = token.start as usize..token.end as usize;
            index += 1;
            if range.start < self.end {
                continue;
            }
            self.comments(range.start);
            if range.start < self.end {
                continue;
            }
            match token.lexeme {
                Lexeme::Punct(Punct::Hash) if token.line_start => {
                    let end = directive_end(self.body, range.start);
                    self.push(Kind::Directive, range.start..end);
                    let directive = &self.body[range.start..end];
                    if is_if_zero(directive) {
                        self.skip_group(&lexed[index..]);
                    }
                }
                // The comment extends to the end of the text.
                Lexeme::UnterminatedComment => {
                    let length = self.body[range.clone()].trim_end().len();
                    self.push(Kind::BlockComment, range.start..range.start + length);
                }
                lexeme => self.push(kind(lexeme, &self.body[range.clone()]), range),
            }
        }
        self.comments(self.body.len());
    }

    fn push(&mut self, kind: Kind, range: Range<usize>) {
        self.end = range.end;
        self.pieces.push((kind, range));
    }

    /// Adds the comments up to an offset. `clang-format off` extends to the comment `clang-format on`.
    fn comments(&mut self, to: usize) {
        while let Some(found) = self.body.get(self.end..to).and_then(|gap| gap.find('/')) {
            let start = self.end + found;
            let rest = &self.body[start..];
            let (kind, length) = if rest.starts_with("//") {
                (Kind::LineComment, rest.find(['\n', '\r']).unwrap_or(rest.len()))
            } else {
                (Kind::BlockComment, rest.find("*/").map_or(rest.len(), |end| end + 2))
            };
            let comment = &rest[..length];
            if !is_switch(comment, "off") {
                // Trim white space at the end of a line comment, unless a line splice would result.
                let trimmed = comment.trim_end();
                let keeps = kind == Kind::BlockComment || trimmed.ends_with('\\');
                self.push(kind, start..start + if keeps { length } else { trimmed.len() });
                continue;
            }
            let end = switched_on(self.body, start + length).unwrap_or(self.body.trim_end().len());
            self.push(Kind::Verbatim, start..end);
        }
    }

    /// Adds the lines of `#if 0` up to the `#else`, `#elif` or `#endif` that ends them.
    fn skip_group(&mut self, rest: &[Lexed]) {
        let mut depth = 0usize;
        for pair in rest.windows(2) {
            let is_directive = pair[0].line_start && pair[0].lexeme == Lexeme::Punct(Punct::Hash);
            if !is_directive || (pair[0].start as usize) < self.end {
                continue;
            }
            let word = &self.body[pair[1].start as usize..pair[1].end as usize];
            match word {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "endif" | "else" | "elif" if depth == 0 => {
                    let start = self.end + first_line_end(&self.body[self.end..]);
                    let end = self.body[..pair[0].start as usize].trim_end().len();
                    if start < end {
                        let skipped = &self.body[start..end];
                        let blank = skipped.len() - skipped.trim_start_matches(['\n', '\r']).len();
                        self.push(Kind::Verbatim, start + blank..end);
                    }
                    return;
                }
                _ => {}
            }
        }
    }
}

/// The length of the first line, with its line end.
fn first_line_end(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |found| found + 1)
}

fn kind(lexeme: Lexeme, text: &str) -> Kind {
    match lexeme {
        Lexeme::Identifier => keyword(text).map_or(Kind::Word, Kind::Keyword),
        Lexeme::ExtendedIdentifier => Kind::Word,
        Lexeme::Number => Kind::Number,
        Lexeme::Character | Lexeme::String => Kind::Literal,
        Lexeme::Punct(punct) => Kind::Punct(punct),
        Lexeme::UnterminatedComment => Kind::BlockComment,
        // Such a literal extends to the end of its line.
        Lexeme::Unterminated => Kind::LineComment,
        Lexeme::Unknown => Kind::Unknown,
    }
}

fn keyword(text: &str) -> Option<Keyword> {
    Keyword::ALL.iter().find(|(spelling, _)| *spelling == text).map(|(_, keyword)| *keyword)
}

/// The end of a directive: the end of its line, without comments that continue on the next one.
fn directive_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' | b'\r' => break,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find(['\n', '\r']).unwrap_or(text.len() - at);
                break;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at..].find("*/").map_or(text.len() - at, |end| end + 2);
            }
            quote @ (b'"' | b'\'') => at = literal_end(bytes, at, quote),
            _ => at += 1,
        }
    }
    let directive = text[start..at].trim_end();
    if directive.ends_with('\\') { at } else { start + directive.len() }
}

/// The end of a literal, or of its line.
fn literal_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && !matches!(bytes[at], b'\n' | b'\r') {
        match bytes[at] {
            b'\\' if !matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r')) => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn is_if_zero(directive: &str) -> bool {
    let rest = directive.trim_start_matches(['#', '%', ':']).trim_start();
    rest.strip_prefix("if").is_some_and(|condition| condition.split_whitespace().next() == Some("0"))
}

/// Whether a comment is `clang-format off` or `clang-format on`.
fn is_switch(comment: &str, state: &str) -> bool {
    let body = comment.trim_start_matches('/').trim_start_matches('*');
    let body = body.trim_end_matches('/').trim_end_matches('*').trim();
    let switch = body.strip_prefix("clang-format ").map(str::trim_start);
    switch.is_some_and(|switch| switch == state || switch.starts_with(&format!("{state}:")))
}

/// The end of the next comment `clang-format on`.
fn switched_on(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text[at..].find("clang-format") {
        let word = at + found;
        let line = text[..word].rfind('\n').map_or(0, |found| found + 1);
        let start = line + text[line..word].rfind('/')?.saturating_sub(1);
        let end = word + text[word..].find(['\n', '\r']).unwrap_or(text.len() - word);
        if is_switch(text[start..end].trim(), "on") {
            return Some(end);
        }
        at = word + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text, 8).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_directives_are_tokens() {
        let text = "int a; // b  \n# define X /*\n*/ 1\\\n 2\nx/**/+ +y";
        assert_eq!(
            texts(text),
            ["int", "a", ";", "// b", "# define X /*\n*/ 1\\\n 2", "x", "/**/", "+", "+", "y"]
        );
    }

    #[test]
    fn skipped_groups_and_switched_off_parts_are_one_token() {
        let text = "#if 0\n it's\n#if 1\n#endif\n#else\na\n#endif\n// clang-format off\n x  y\n// clang-format on\nb";
        assert_eq!(
            texts(text),
            [
                "#if 0",
                " it's\n#if 1\n#endif",
                "#else",
                "a",
                "#endif",
                "// clang-format off\n x  y\n// clang-format on",
                "b"
            ]
        );
    }

    #[test]
    fn line_splices_stay_inside_of_tokens() {
        assert_eq!(texts("a\\\nb \\\n c"), ["a\\\nb", "c"]);
        assert_eq!(texts("é 'a"), ["é", "'a"]);
    }
}
