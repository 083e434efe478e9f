//! A lexical scan for comments, directives and braces. Works on any text, valid or not.

use std::ops::Range;

use kiln_syntax::{
    lex::{Lexeme, Lexer},
    token::Punct,
};

/// A lexical element of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A comment, with its markers.
    Comment(Range<usize>),
    /// A directive, from `#` to the end of its last line.
    Directive(Range<usize>),
    /// `{`
    Open(Range<usize>),
    /// `}`
    Close(Range<usize>),
}

impl Piece {
    /// The range of the element.
    pub(crate) fn range(&self) -> &Range<usize> {
        match self {
            Self::Comment(range) | Self::Directive(range) | Self::Open(range) | Self::Close(range) => range,
        }
    }
}

/// The elements of a text, in order. Directives include their braces and comments.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut end = 0;
    for token in Lexer::new(text) {
        let range = token.start as usize..token.end as usize;
        let before = end;
        if range.start < before {
            // Part of a directive that was already added.
            continue;
        }
        comments(text, before..range.start, &mut pieces);
        end = range.end;
        match token.lexeme {
            Lexeme::Punct(Punct::Hash) if token.line_start => {
                let directive = range.start..line_end(text, range.start);
                end = directive.end;
                pieces.push(Piece::Directive(directive));
            }
            Lexeme::Punct(Punct::OpenBrace) => pieces.push(Piece::Open(range)),
            Lexeme::Punct(Punct::CloseBrace) => pieces.push(Piece::Close(range)),
            Lexeme::UnterminatedComment => pieces.push(Piece::Comment(range)),
            _ => {}
        }
    }
    comments(text, end..text.len(), &mut pieces);
    pieces
}

/// Adds the comments between two tokens.
fn comments(text: &str, gap: Range<usize>, pieces: &mut Vec<Piece>) {
    let mut at = gap.start;
    while let Some(found) = text.get(at..gap.end).and_then(|rest| rest.find('/')) {
        let start = at + found;
        let rest = &text[start..gap.end];
        let length = if rest.starts_with("//") {
            line_end(text, start).min(gap.end) - start
        } else {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        };
        pieces.push(Piece::Comment(start..start + length));
        at = start + length.max(1);
    }
}

/// The end of a line, including lines joined by a backslash.
pub(crate) fn line_end(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let end = text[at..].find('\n').map_or(text.len(), |found| at + found);
        let line = text[at..end].trim_end_matches('\r');
        if end == text.len() || !line.ends_with('\\') {
            return at + line.len();
        }
        at = end + 1;
    }
}

/// The lexical context of an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LexicalContext {
    /// Code outside directives.
    Code,
    /// This directive, or its end.
    Directive(Range<usize>),
    /// A comment, a string or a character literal.
    CommentOrLiteral,
}

/// Returns the lexical context of an offset. Scans the text from `start`, which must be in code.
pub(crate) fn lexical_context(text: &str, start: usize, offset: usize) -> LexicalContext {
    let mut end = start;
    for token in Lexer::new(&text[start..]) {
        let range = start + token.start as usize..start + token.end as usize;
        if range.start < end {
            // Part of a directive.
            continue;
        }
        if is_in_comment(text, end..range.start, offset) {
            return LexicalContext::CommentOrLiteral;
        }
        if offset <= range.start {
            return LexicalContext::Code;
        }
        end = range.end;
        match token.lexeme {
            Lexeme::Punct(Punct::Hash) if token.line_start => {
                end = line_end(text, range.start);
                if offset <= end {
                    return LexicalContext::Directive(range.start..end);
                }
            }
            Lexeme::String | Lexeme::Character if offset < end => return LexicalContext::CommentOrLiteral,
            Lexeme::Unterminated | Lexeme::UnterminatedComment if offset <= end => {
                return LexicalContext::CommentOrLiteral;
            }
            _ => {}
        }
    }
    match is_in_comment(text, end..text.len(), offset) {
        true => LexicalContext::CommentOrLiteral,
        false => LexicalContext::Code,
    }
}

/// Whether an offset is in a comment between two tokens. The end of a line comment is part of it, the end of a block
/// comment is not.
fn is_in_comment(text: &str, gap: Range<usize>, offset: usize) -> bool {
    if offset <= gap.start || gap.end < offset {
        return false;
    }
    let mut pieces = Vec::new();
    comments(text, gap, &mut pieces);
    pieces.iter().map(Piece::range).any(|range| {
        let counts_end = text[range.clone()].starts_with("//");
        range.start < offset && (offset < range.end || counts_end && offset == range.end)
    })
}

/// The name of a directive: `include` in `# include <a.h>`.
pub(crate) fn directive_word(directive: &str) -> &str {
    let rest = directive.trim_start_matches('#').trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_directives_and_braces() {
        let text = "/* a { */ int x; // b\n#define A \\\n { }\nint f() { \"{\"; }/*";
        let found: Vec<&str> = pieces(text).iter().map(|piece| &text[piece.range().clone()]).collect();
        assert_eq!(found, ["/* a { */", "// b", "#define A \\\n { }", "{", "}", "/*"]);
    }

    #[test]
    fn offsets_have_a_lexical_context() {
        let around = |text: &str| {
            let offset = text.find('$').unwrap();
            lexical_context(&text.replace('$', ""), 0, offset)
        };
        assert_eq!(around("int x$; // b"), LexicalContext::Code);
        assert_eq!(around("int x; // b$\nint y;"), LexicalContext::CommentOrLiteral);
        assert_eq!(around("int x; /* b */$ int y;"), LexicalContext::Code);
        assert_eq!(around("int x; /* b *$/ int y;"), LexicalContext::CommentOrLiteral);
        assert_eq!(around("f(\"a$b\");"), LexicalContext::CommentOrLiteral);
        assert_eq!(around("f(\"ab$\n"), LexicalContext::CommentOrLiteral);
        assert_eq!(around("a;\n#if $\nb"), LexicalContext::Directive(3..7));
        assert_eq!(around("#if\n$b"), LexicalContext::Code);
        assert_eq!(around("/* $"), LexicalContext::CommentOrLiteral);
        assert_eq!(lexical_context("/* int\n#if a", 3, 12), LexicalContext::Directive(7..12));
    }

    #[test]
    fn words_of_directives() {
        assert_eq!(directive_word("# include <a>"), "include");
        assert_eq!(directive_word("#if(1)"), "if");
        assert_eq!(directive_word("#"), "");
    }
}
