//! Joins logical lines that the style puts on one line: short functions, statements, labels, enumerations.

use std::ops::Range;

use crate::{
    Text,
    lines::{Line, LineKind, Owner},
    style::{ShortBlocks, ShortFunctions, ShortIfs},
    token::Kind,
    wrap::flat_width,
};
use kiln_syntax::token::Keyword;

/// Joins the lines of a text.
pub(crate) fn join(text: &Text<'_, '_>, lines: Vec<Line>) -> Vec<Line> {
    let mut joined: Vec<Line> = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let count = Joiner { text, lines: &lines, at }.count();
        let mut line = lines[at].clone();
        if count > 1 {
            line.tokens.end = lines[at + count - 1].tokens.end;
            line.is_joined = true;
            line.kind = match lines[at + count - 1].kind {
                LineKind::Closes => LineKind::Closes,
                _ => LineKind::Statement,
            };
        }
        joined.push(line);
        at += count;
    }
    joined
}

struct Joiner<'j, 'l, 't> {
    text: &'j Text<'l, 't>,
    lines: &'j [Line],
    at: usize,
}

impl Joiner<'_, '_, '_> {
    fn kind(&self, ahead: usize) -> Option<LineKind> {
        self.lines.get(self.at + ahead).map(|line| line.kind)
    }

    /// The number of lines to join.
    fn count(&self) -> usize {
        let style = self.text.style;
        let wanted = match self.lines[self.at].kind {
            LineKind::Opens(owner) => self.block(owner),
            LineKind::Wrapped(Owner::Function) if style.short_functions == ShortFunctions::All => {
                self.wrapped()
            }
            LineKind::Head(Owner::Case) if style.short_cases => self.case(),
            LineKind::Head(Owner::Loop) if style.short_loops => self.body(),
            LineKind::Head(Owner::If) => match style.short_ifs {
                ShortIfs::Never => 1,
                ShortIfs::WithoutElse
                    if self.starts_with(0, Keyword::Else) || self.starts_with(2, Keyword::Else) =>
                {
                    1
                }
                _ => self.body(),
            },
            LineKind::Head(Owner::Else) if style.short_ifs == ShortIfs::All => self.body(),
            _ => 1,
        };
        if wanted > 1 && self.can_join(wanted) { wanted } else { 1 }
    }

    /// Whether the first code token of a line is the word.
    fn starts_with(&self, ahead: usize, keyword: Keyword) -> bool {
        let line = self.lines.get(self.at + ahead);
        let first =
            line.and_then(|line| self.text.tokens[line.tokens.clone()].iter().find(|it| it.is_code()));
        first.is_some_and(|first| first.is_keyword(keyword))
    }

    fn block(&self, owner: Owner) -> usize {
        let style = self.text.style;
        let is_wrapped = self.at > 0 && matches!(self.lines[self.at - 1].kind, LineKind::Wrapped(_));
        let statements = (1..).take_while(|ahead| self.kind(*ahead) == Some(LineKind::Statement)).count();
        if is_wrapped || self.kind(statements + 1) != Some(LineKind::Closes) {
            return 1;
        }
        let is_allowed = match (owner, statements) {
            (Owner::Function, 0) => style.short_functions != ShortFunctions::None,
            (Owner::Function, 1) => style.short_functions == ShortFunctions::All,
            (Owner::Struct | Owner::Union | Owner::Enum, 0) => true,
            (Owner::Enum, _) => style.short_enums,
            (_, 0) => style.short_blocks != ShortBlocks::Never,
            (Owner::If, 1) => style.short_blocks == ShortBlocks::Always && style.short_ifs != ShortIfs::Never,
            (Owner::Loop, 1) => style.short_blocks == ShortBlocks::Always && style.short_loops,
            _ => false,
        };
        if is_allowed { statements + 2 } else { 1 }
    }

    /// A function of one statement, whose brace is on its own line if it is longer.
    fn wrapped(&self) -> usize {
        let is_short = self.kind(1) == Some(LineKind::Opens(Owner::Function))
            && self.kind(2) == Some(LineKind::Statement)
            && self.kind(3) == Some(LineKind::Closes);
        if is_short { 4 } else { 1 }
    }

    /// A statement without braces after its head.
    fn body(&self) -> usize {
        let is_statement = self.kind(1) == Some(LineKind::Statement);
        let is_empty = self.lines.get(self.at + 1).is_some_and(|line| line.tokens.len() == 1);
        if is_statement && !is_empty { 2 } else { 1 }
    }

    /// A label with up to two statements: `case 1: x = 2; break;`
    fn case(&self) -> usize {
        let label = &self.lines[self.at];
        let is_label = self.starts_with(0, Keyword::Case) || self.starts_with(0, Keyword::Default);
        let statements = (1..4)
            .take_while(|ahead| {
                let next = self.lines.get(self.at + ahead);
                next.is_some_and(|next| next.kind == LineKind::Statement && next.indent == label.indent + 1)
            })
            .count();
        let ends = self.lines.get(self.at + statements + 1).is_none_or(|next| next.indent <= label.indent);
        if is_label && ends && (1..3).contains(&statements) { statements + 1 } else { 1 }
    }

    /// Whether lines fit on one line, and contain nothing that must stay on its own line.
    fn can_join(&self, count: usize) -> bool {
        let first = &self.lines[self.at];
        let range: Range<usize> = first.tokens.start..self.lines[self.at + count - 1].tokens.end;
        let tokens = &self.text.tokens[range.clone()];
        let limit = self.text.style.column_limit;
        let last = tokens.len() - 1;
        let is_plain = tokens.iter().enumerate().all(|(index, token)| {
            let is_last = index == last && token.kind == Kind::LineComment;
            token.is_code() && !token.text.contains('\n') || is_last
        });
        if limit == 0 {
            // Without a limit, the line breaks of the source stay.
            return is_plain && tokens[1..].iter().all(|token| token.newlines == 0);
        }
        let (_, spaces) = self.text.annotate(range);
        is_plain && first.indent * self.text.style.indent_width + flat_width(tokens, &spaces) <= limit
    }
}
