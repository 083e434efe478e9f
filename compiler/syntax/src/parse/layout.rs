//! Locates a missing or extra brace by the indentation, because the tokens do not determine its position. The result is only
//! used if a single edit of a brace makes tokens and indentation agree.

use super::brackets::is_label;
use crate::{
    span::Span,
    token::{Keyword, Punct, Token, TokenKind},
};

/// The source text of the tokens: the start and indentation of lines, and spellings.
pub trait Layout {
    /// The line of a position. `None` for a position in a macro expansion.
    fn line(&self, position: u32) -> Option<Line>;

    /// The source text of a token.
    fn text(&self, span: Span) -> &str;
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The position of its first character. Identifies the line.
    pub start: u32,
    /// The position of its first non-space character.
    pub text: u32,
    /// Its indentation in columns.
    pub indent: u32,
}

/// No layout information.
pub struct NoLayout;

impl Layout for NoLayout {
    fn line(&self, _position: u32) -> Option<Line> {
        None
    }

    fn text(&self, _span: Span) -> &str {
        ""
    }
}

/// An edit of one brace. Indices refer to the given tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BraceEdit {
    /// Removes this token.
    Remove(usize),
    /// Inserts `{` before this token.
    Open(usize),
    /// Inserts `}` before this token, for the `{` there.
    Close(usize, usize),
}

/// The maximum number of tokens to examine, over all edits that are tried.
const FUEL: usize = 1_000_000;

/// The edit of one brace that makes the braces agree with the indentation, if they disagree and one edit is enough.
/// The tokens start with a top-level item.
pub(super) fn brace(tokens: &[Token], lines: &[Option<Line>]) -> Option<BraceEdit> {
    let max = tokens.len().min(FUEL);
    let mut text = Text { tokens: &tokens[..max], lines: &lines[..max] };
    let tokens = text.tokens;
    let violation = text.simulate(None).err()?;
    // Ignore everything after the item.
    let begins_item = |&at: &usize| text.begins_line(at) == Some(0) && text.is_after_item(at);
    let end = (violation.max(1)..tokens.len()).find(begins_item).unwrap_or(tokens.len());
    text = Text { tokens: &tokens[..end], lines: &lines[..end] };
    let agrees = |edit: &BraceEdit| text.simulate(Some(*edit)).is_ok();
    let positions = || (1..=violation.min(end)).rev();
    let starts = || positions().filter(|&at| at == end || text.begins_line(at).is_some());
    let braces = || positions().filter(|&at| at < end && is_brace(tokens[at].kind));
    let doubled = braces().filter(|&at| text.is_doubled(at)).map(BraceEdit::Remove);
    let closed = starts().filter_map(|at| Some(BraceEdit::Close(at, text.innermost(at)?)));
    let opened = starts().filter(|&at| text.is_head(at)).map(BraceEdit::Open);
    let removed = braces().map(BraceEdit::Remove);
    let guesses = FUEL / end.max(1);
    doubled.chain(closed).chain(opened).chain(removed).take(guesses).find(agrees)
}

fn is_brace(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Punct(Punct::OpenBrace | Punct::CloseBrace))
}

struct Text<'a> {
    tokens: &'a [Token],
    lines: &'a [Option<Line>],
}

/// An open brace.
struct Open {
    /// The reference line for its partner and contents: the last line before it that started outside parentheses.
    line: Option<Line>,
    /// The number of enclosing open parentheses.
    parentheses: usize,
}

impl Text<'_> {
    /// The indentation of the token's line, if the token starts it.
    fn begins_line(&self, at: usize) -> Option<u32> {
        let line = self.lines[at]?;
        (line.text == self.tokens[at].span.lo).then_some(line.indent)
    }

    fn is(&self, at: usize, punct: Punct) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Punct(punct))
    }

    /// Whether the preceding tokens allow an item to start here.
    fn is_after_item(&self, at: usize) -> bool {
        !is_brace(self.tokens[at].kind)
            && at
                .checked_sub(1)
                .is_some_and(|at| self.is(at, Punct::CloseBrace) || self.is(at, Punct::Semicolon))
    }

    /// Whether this brace follows an equal brace on the same line, outside an initializer.
    fn is_doubled(&self, at: usize) -> bool {
        let is_initializer = at >= 2
            && (self.is(at - 2, Punct::Equal)
                || self.is(at - 2, Punct::Comma)
                || self.is(at - 2, Punct::OpenBrace));
        self.tokens[at - 1].kind == self.tokens[at].kind
            && !is_initializer
            && self.lines[at].is_some_and(|line| self.lines[at - 1] == Some(line))
    }

    /// The innermost brace that is open before this token.
    fn innermost(&self, at: usize) -> Option<usize> {
        let mut depth = 0;
        (0..at).rev().find(|&at| {
            if self.is(at, Punct::CloseBrace) {
                depth += 1;
            } else if self.is(at, Punct::OpenBrace) {
                depth -= 1;
            }
            depth < 0
        })
    }

    /// Whether a block may follow the token before this one.
    fn is_head(&self, at: usize) -> bool {
        match self.tokens[at - 1].kind {
            TokenKind::Punct(punct) => matches!(punct, Punct::CloseParen | Punct::Equal),
            TokenKind::Keyword(keyword) => {
                matches!(
                    keyword,
                    Keyword::Else | Keyword::Do | Keyword::Struct | Keyword::Union | Keyword::Enum
                )
            }
            TokenKind::Name(_) => {
                at >= 2
                    && matches!(
                        self.tokens[at - 2].kind,
                        TokenKind::Keyword(Keyword::Struct | Keyword::Union | Keyword::Enum)
                    )
            }
            _ => false,
        }
    }

    /// The first disagreement of braces and indentation after this edit.
    fn simulate(&self, edit: Option<BraceEdit>) -> Result<(), usize> {
        let mut open: Vec<Open> = vec![];
        let mut parentheses = 0usize;
        let mut line = None;
        for at in 0..=self.tokens.len() {
            match edit {
                Some(BraceEdit::Remove(removed)) if removed == at => continue,
                Some(BraceEdit::Open(before)) if before == at => {
                    open.push(Open { line, parentheses });
                    parentheses = 0;
                }
                Some(BraceEdit::Close(before, _)) if before == at => {
                    parentheses = open.pop().ok_or(at)?.parentheses;
                }
                _ => {}
            }
            let Some(token) = self.tokens.get(at) else { break };
            let begins = self.begins_line(at).filter(|_| parentheses == 0);
            if begins.is_some() {
                line = self.lines[at];
            }
            match token.kind {
                TokenKind::Punct(Punct::CloseBrace) => {
                    let closed = open.pop().ok_or(at)?;
                    let expected = closed.line.map(|line| line.indent);
                    if begins.is_some() && expected.is_some() && begins != expected {
                        return Err(at);
                    }
                    parentheses = closed.parentheses;
                    continue;
                }
                TokenKind::Pragma(_) => {}
                _ => {
                    if let (Some(indent), Some(Open { line: Some(outer), .. })) = (begins, open.last())
                        && (indent < outer.indent || indent == outer.indent && !is_label(&self.tokens[at..]))
                    {
                        return Err(at);
                    }
                }
            }
            match token.kind {
                TokenKind::Punct(Punct::OpenBrace) => {
                    open.push(Open { line, parentheses });
                    parentheses = 0;
                }
                TokenKind::Punct(Punct::OpenParen | Punct::OpenBracket) => parentheses += 1,
                TokenKind::Punct(Punct::CloseParen | Punct::CloseBracket) => {
                    parentheses = parentheses.saturating_sub(1);
                }
                _ => {}
            }
        }
        if open.is_empty() { Ok(()) } else { Err(self.tokens.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        lex::{Lexeme, Lexer},
        symbol::Interner,
    };

    struct Columns<'a>(&'a str);

    impl Layout for Columns<'_> {
        fn line(&self, position: u32) -> Option<Line> {
            let start = self.0[..position as usize].rfind('\n').map_or(0, |at| at + 1);
            let line = &self.0[start..];
            let indent = line.len() - line.trim_start_matches(' ').len();
            Some(Line { start: start as u32, text: (start + indent) as u32, indent: indent as u32 })
        }

        fn text(&self, span: Span) -> &str {
            &self.0[span.lo as usize..span.hi as usize]
        }
    }

    /// The edit in a text: its kind, and the text at its position.
    fn edit(text: &str) -> Option<(&'static str, &str)> {
        let mut interner = Interner::new();
        let tokens: Vec<Token> = Lexer::new(text)
            .map(|lexed| {
                let spelling = &text[lexed.start as usize..lexed.end as usize];
                let kind = match lexed.lexeme {
                    Lexeme::Punct(punct) => TokenKind::Punct(punct),
                    _ => TokenKind::Name(interner.intern(spelling)),
                };
                Token { kind, span: crate::span::Span::new(lexed.start, lexed.end) }
            })
            .collect();
        let rest = |at: usize| {
            let start = tokens.get(at).map_or(text.len(), |token| token.span.lo as usize);
            text[start..].lines().next().unwrap_or_default()
        };
        let lines: Vec<_> = tokens.iter().map(|token| Columns(text).line(token.span.lo)).collect();
        Some(match brace(&tokens, &lines)? {
            BraceEdit::Remove(at) => ("remove", rest(at)),
            BraceEdit::Open(at) => ("open", rest(at)),
            BraceEdit::Close(at, _) => ("close", rest(at)),
        })
    }

    #[test]
    fn braces_that_match_the_indentation_are_kept() {
        assert_eq!(
            edit(
                "void f() {\n    if (x) {\n        y;\n    } else\n    {\n        z;\n    }\nl:\n    w;\n}\n"
            ),
            None
        );
        assert_eq!(
            edit("void f()\n{\n  for (a;\n       b;\n       c) {\n    d;\n  }\n}\nint t[] = { 1,\n  2 };\n"),
            None
        );
    }

    #[test]
    fn missing_brace_is_inserted_where_the_indentation_decreases() {
        assert_eq!(
            edit("void f() {\n    if (x) {\n        y;\n    z;\n}\nvoid g() { }\n"),
            Some(("close", "z;"))
        );
        assert_eq!(edit("void f() {\n    y;\nvoid g() { }\n"), Some(("close", "void g() { }")));
        assert_eq!(
            edit("void f() {\n    if (x)\n        y;\n        z;\n    } else {\n        w;\n    }\n}\n"),
            Some(("open", "y;"))
        );
        assert_eq!(edit("void f()\n    y;\n}\n"), Some(("open", "y;")));
    }

    #[test]
    fn extra_brace_is_removed() {
        assert_eq!(edit("void f() { {\n    y;\n}\nvoid g() { }\n"), Some(("remove", "{")));
        assert_eq!(edit("void f() {\n    if (x) {\n        y;\n    } }\n    z;\n}\n"), Some(("remove", "}")));
    }

    #[test]
    fn text_without_indentation_gives_no_edit() {
        assert_eq!(edit("void f() {\nif (x) {\ny;\nz;\n}\nint g;\n"), None);
    }
}
