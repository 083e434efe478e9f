//! Breaks a logical line at the column limit: beam search for the cheapest layout.

use kiln_syntax::token::{Keyword, Punct};

use crate::{
    roles::{Role, Roles},
    style::{Operators, Style},
    token::{Kind, Token},
};

/// The number of layouts that the search keeps at each token.
const BEAM: usize = 24;

/// The cost of a column beyond the limit.
const EXCESS: u32 = 1000;

/// A logical line with the facts about its tokens.
pub(crate) struct Tokens<'l, 't> {
    pub(crate) line: &'l [Token<'t>],
    pub(crate) roles: &'l Roles,
    pub(crate) spaces: &'l [bool],
    /// The column of its first token.
    pub(crate) start: usize,
    /// Whether line breaks of the source are ignored, because several lines were joined.
    pub(crate) is_joined: bool,
}

/// An open bracket, or the whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    /// The column of lines inside of it.
    indent: usize,
    /// The column of these lines if the line is broken right after the token that aligns them.
    broken: usize,
    /// The token that aligns them: the bracket, an assignment or `return`.
    at: usize,
    /// The column of the last `?`, with which `:` is aligned.
    question: Option<usize>,
    /// The indentation of the line with the bracket.
    line: usize,
    /// Whether the line is broken after the bracket.
    is_broken: bool,
}

/// A layout up to a token.
#[derive(Clone, Debug)]
struct Layout {
    column: usize,
    /// The indentation of its last line.
    line: usize,
    cost: u32,
    levels: Vec<Level>,
    /// The index of its last step in the history.
    path: usize,
}

/// The column of each token that starts a line; `None` for the others.
pub(crate) fn wrap(tokens: &Tokens<'_, '_>, style: &Style) -> Vec<Option<usize>> {
    let count = tokens.line.len();
    let mut wrapper = Wrapper { tokens, style, rows: vec![false; count] };
    let is_flat = (1..count).all(|index| !wrapper.must_break(index));
    if is_flat && wrapper.fits() {
        return vec![None; count];
    }
    let mut starts = wrapper.search();
    // Formatting the result again keeps its rows. Search again with these rows fixed, until the layout does not change,
    // so that formatting twice gives the same text.
    while wrapper.keep_rows(&starts) {
        starts = wrapper.search();
    }
    starts
}

/// The width of a text on its first line, and on its last one.
pub(crate) fn widths(text: &str) -> (usize, usize) {
    let first = text.split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let last = text.rsplit('\n').next().unwrap_or_default();
    (first.chars().count(), last.chars().count())
}

/// The width of tokens on one line, without a trailing comment.
pub(crate) fn flat_width(line: &[Token<'_>], spaces: &[bool]) -> usize {
    let code = line.len() - usize::from(line.last().is_some_and(|last| last.kind == Kind::LineComment));
    let widths = line[..code].iter().zip(spaces);
    widths.map(|(token, space)| width(token) + usize::from(*space)).sum()
}

fn width(token: &Token<'_>) -> usize {
    widths(token.text).0
}

struct Wrapper<'l, 't> {
    tokens: &'l Tokens<'l, 't>,
    style: &'l Style,
    /// The tokens that an earlier search put at the start of a row.
    rows: Vec<bool>,
}

impl Wrapper<'_, '_> {
    fn limit(&self) -> usize {
        if self.style.column_limit == 0 { usize::MAX } else { self.style.column_limit }
    }

    fn fits(&self) -> bool {
        self.tokens.start + flat_width(self.tokens.line, self.tokens.spaces) <= self.limit()
            && self.tokens.line.iter().all(|token| !token.text.contains('\n'))
    }

    fn role(&self, index: usize) -> Role {
        self.tokens.roles.roles[index]
    }

    fn must_break(&self, index: usize) -> bool {
        let (before, token) = (&self.tokens.line[index - 1], &self.tokens.line[index]);
        if before.kind == Kind::LineComment || before.is_raw() || token.is_raw() {
            return true;
        }
        if self.tokens.is_joined {
            return false;
        }
        if token.newlines == 0 {
            return self.rows[index];
        }
        // Comments and rows of initializers that are on their own line stay there.
        token.is_comment()
            || self.is_own_line(index - 1)
            || self.is_row(index)
            || self.style.column_limit == 0 && self.break_cost(index).is_some()
    }

    /// Makes the rows of a layout mandatory. Returns whether there are new ones.
    fn keep_rows(&mut self, starts: &[Option<usize>]) -> bool {
        let is_new = |index: &usize| {
            starts[*index].is_some()
                && !self.tokens.is_joined
                && self.is_row(*index)
                && !self.must_break(*index)
        };
        let new: Vec<usize> = (1..starts.len()).filter(is_new).collect();
        for &index in &new {
            self.rows[index] = true;
        }
        !new.is_empty()
    }

    /// Whether a token is a comment that starts a line of the source.
    fn is_own_line(&self, index: usize) -> bool {
        self.tokens.line[index].is_comment() && (index == 0 || self.tokens.line[index].newlines > 0)
    }

    /// Whether a token is the first of an initializer or of one of its elements.
    fn is_row(&self, index: usize) -> bool {
        let before = &self.tokens.line[index - 1];
        let starts = before.is(Punct::OpenBrace) && self.role(index - 1) == Role::Initializer;
        let is_empty = self.tokens.line[index].is(Punct::CloseBrace);
        let follows = before.is(Punct::Comma) && !is_empty && self.opens_around(index);
        starts && !is_empty || follows
    }

    /// Whether the innermost bracket around a token is that of an initializer.
    fn opens_around(&self, index: usize) -> bool {
        let matching = &self.tokens.roles.matching;
        let open = (0..index).rev().find(|at| matching[*at].is_some_and(|end| end >= index));
        open.is_some_and(|open| self.role(open) == Role::Initializer)
    }

    /// The cost of a break before a token, without the cost of its depth. `None` if a break is not allowed.
    fn break_cost(&self, index: usize) -> Option<u32> {
        let (before, token) = (&self.tokens.line[index - 1], &self.tokens.line[index]);
        let kept = self.tokens.roles.kept[index] && !token.space;
        let ends = matches!(
            token.kind,
            Kind::Punct(Punct::CloseParen | Punct::CloseBracket | Punct::Semicolon | Punct::Comma)
        );
        if kept || ends || token.is(Punct::CloseBrace) || token.is_comment() {
            return None;
        }
        if let Some(cost) = self.operator_cost(index) {
            return cost;
        }
        match (before.kind, self.role(index - 1)) {
            (Kind::Punct(Punct::Comma), _) => Some(0),
            (Kind::Punct(Punct::Semicolon), _) if !self.tokens.is_joined => Some(0),
            (Kind::Punct(Punct::OpenParen), Role::Call) => Some(25),
            (Kind::Punct(Punct::OpenBrace), Role::Initializer) => Some(20),
            (Kind::Literal, _) if token.kind == Kind::Literal => Some(0),
            // Between the attributes and the name of a declaration.
            (Kind::Punct(Punct::CloseParen), Role::Call)
                if matches!(token.kind, Kind::Word | Kind::Keyword(_)) =>
            {
                Some(5)
            }
            _ if token.is_keyword(Keyword::Attribute) => Some(30),
            _ => None,
        }
    }

    /// The cost of a break next to an operator. The outer `None` if neither token is an operator that affects breaks.
    fn operator_cost(&self, index: usize) -> Option<Option<u32>> {
        let cost = |precedence: u8| 5 + u32::from(precedence) * 3;
        let (after, before) = (self.role(index - 1), self.role(index));
        let style = self.style;
        if let Role::Assignment = before {
            return Some((style.operators == Operators::Before).then_some(45));
        }
        if let Role::Assignment = after {
            return Some((style.operators != Operators::Before).then_some(45));
        }
        if let Role::Binary(precedence) = before {
            return Some((style.operators != Operators::After).then_some(cost(precedence)));
        }
        if let Role::Binary(precedence) = after {
            return Some((style.operators == Operators::After).then_some(cost(precedence)));
        }
        match (after, before) {
            (_, Role::Ternary) => Some(style.before_ternary.then_some(10)),
            (Role::Ternary, _) => Some((!style.before_ternary).then_some(10)),
            _ => None,
        }
    }

    /// The cheapest layout that the beam search finds: the column of each token that starts a line.
    fn search(&self) -> Vec<Option<usize>> {
        let count = self.tokens.line.len();
        // For each layout: its predecessor, and the column if its token starts a line.
        let mut history: Vec<(usize, Option<usize>)> = vec![(0, None)];
        let indent = self.tokens.start + self.style.continuation_width;
        let base = Level {
            indent,
            broken: indent,
            at: usize::MAX,
            question: None,
            line: self.tokens.start,
            is_broken: false,
        };
        let mut beam = vec![Layout {
            column: self.tokens.start,
            line: self.tokens.start,
            cost: 0,
            levels: vec![base],
            path: 0,
        }];
        for index in 0..count {
            let mut next: Vec<(Layout, Option<usize>)> = Vec::with_capacity(beam.len() * 2);
            for layout in &beam {
                self.extend(layout, index, &mut next);
            }
            next.sort_by_key(|(layout, _)| layout.cost);
            beam.clear();
            for (mut layout, start) in next {
                let is_known = beam.iter().any(|it| {
                    it.column == layout.column && it.line == layout.line && it.levels == layout.levels
                });
                if !is_known && beam.len() < BEAM {
                    history.push((layout.path, start));
                    layout.path = history.len() - 1;
                    beam.push(layout);
                }
            }
        }
        let mut starts = vec![None; count];
        let mut path = beam.first().map_or(0, |best| best.path);
        for index in (0..count).rev() {
            (path, starts[index]) = history[path];
        }
        starts
    }

    /// Adds the layouts that continue with a token.
    fn extend(&self, layout: &Layout, index: usize, next: &mut Vec<(Layout, Option<usize>)>) {
        let token = &self.tokens.line[index];
        let closes = self.closes_broken(layout, index);
        let (may_stay, cost) = match index {
            0 => (true, None),
            _ if closes => (false, Some(0)),
            _ if self.must_break(index) => (false, Some(self.break_cost(index).unwrap_or(0))),
            _ => (true, self.break_cost(index)),
        };
        if may_stay {
            let column = layout.column + usize::from(self.tokens.spaces[index]);
            next.push((self.with_token(layout, index, column, None), None));
        }
        if let Some(cost) = cost {
            let level = layout.levels.last().expect("the base is never closed");
            let column = match () {
                () if token.is_raw() => 0,
                () if closes => level.line,
                () if level.at.wrapping_add(1) == index => level.broken,
                () if token.is(Punct::Colon) => level.question.unwrap_or(level.indent),
                // A declaration continues after its attributes as it started.
                () if layout.levels.len() == 1 && self.follows_attribute(index) => self.tokens.start,
                () => level.indent,
            };
            let depth = layout.levels.len() as u32;
            next.push((self.with_token(layout, index, column, Some(cost + 30 + 15 * depth)), Some(column)));
        }
    }

    /// Whether a token is a word after the parentheses of an attribute or of a macro.
    fn follows_attribute(&self, index: usize) -> bool {
        self.tokens.line[index - 1].is(Punct::CloseParen)
            && matches!(self.tokens.line[index].kind, Kind::Word | Kind::Keyword(_))
    }

    /// Whether a token is the closing brace of an initializer that is broken after its opening brace.
    fn closes_broken(&self, layout: &Layout, index: usize) -> bool {
        let is_initializer =
            self.role(index) == Role::Initializer && self.tokens.line[index].is(Punct::CloseBrace);
        is_initializer && layout.levels.last().is_some_and(|level| level.is_broken)
    }

    /// Extends a layout by a token at a column. `cost` is the cost of a break before it, if there is one.
    fn with_token(&self, layout: &Layout, index: usize, column: usize, cost: Option<u32>) -> Layout {
        let token = &self.tokens.line[index];
        let mut made = layout.clone();
        if cost.is_some() {
            made.line = column;
            if let Some(level) = made.levels.last_mut().filter(|level| level.at.wrapping_add(1) == index) {
                (level.indent, level.is_broken) = (level.broken, true);
            }
        }
        made.cost += cost.unwrap_or(0);
        let (first, last) = match token.kind {
            Kind::BlockComment if token.text.contains('\n') => {
                widths(&token.shifted(column, self.style.tab_width))
            }
            _ => widths(token.text),
        };
        let end = column + first;
        let is_trailing = token.kind == Kind::LineComment || token.is_raw();
        if !is_trailing {
            let overlap = end.saturating_sub(self.limit()).min(first);
            made.cost = made.cost.saturating_add(EXCESS * overlap as u32);
        }
        made.column = if token.text.contains('\n') { last } else { end };
        self.adjust_levels(&mut made, index);
        made
    }

    /// Opens and closes brackets, and sets the alignment after assignments.
    fn adjust_levels(&self, made: &mut Layout, index: usize) {
        let token = &self.tokens.line[index];
        match token.kind {
            Kind::Punct(Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace) => {
                if let Some(level) = self.level(made, index) {
                    made.levels.push(level);
                }
            }
            Kind::Punct(Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace)
                if self.tokens.roles.matching[index].is_some()
                    && made.levels.len() > 1
                    && self.role(index) != Role::Block =>
            {
                made.levels.pop();
            }
            Kind::Punct(Punct::Question) if self.style.before_ternary => {
                if let Some(level) = made.levels.last_mut() {
                    level.question = Some(made.column - 1);
                }
            }
            Kind::Keyword(Keyword::Return) if self.style.align_operands => self.align(made, index),
            _ if self.role(index) == Role::Assignment && self.style.align_operands => self.align(made, index),
            _ => {}
        }
    }

    /// After `=` or `return`, further lines are aligned with the operand.
    fn align(&self, made: &mut Layout, index: usize) {
        let is_outer = made.levels.len() == 1;
        let level = made.levels.last_mut().filter(|level| is_outer && level.at == usize::MAX);
        if let Some(level) = level {
            (level.indent, level.at) = (made.column + 1, index);
        }
    }

    fn level(&self, made: &Layout, index: usize) -> Option<Level> {
        self.tokens.roles.matching[index].filter(|_| self.role(index) != Role::Block)?;
        let is_brace = self.tokens.line[index].is(Punct::OpenBrace);
        let width = if is_brace { self.style.indent_width } else { self.style.continuation_width };
        let space = self.tokens.spaces.get(index + 1).is_some_and(|space| *space);
        let aligned = made.column + usize::from(space);
        let broken = made.line + width;
        let indent = if self.style.align_brackets || is_brace { aligned } else { broken };
        Some(Level { indent, broken, at: index, question: None, line: made.line, is_broken: false })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Style, format};

    /// Formats a text twice; both results must be the same.
    fn format_twice(text: &str) -> String {
        let once = format(text, &Style::default());
        assert_eq!(format(&once, &Style::default()), once);
        once
    }

    #[test]
    fn a_comment_ends_the_call_of_a_macro() {
        let text =
            "DEFINE(ceil, up)\n\n/* Lowers to\n   two. */\nDEFINE(fmax, max) /* one */\nDEFINE(fmin, min)\n";
        assert_eq!(format_twice(text), text);
    }

    #[test]
    fn rows_of_a_broken_initializer_stay() {
        format_twice(
            "void f(void) {\n    float4 a27[3][3] = {{convert_float4(convert_int4(max(x, x_name)) & 2047), \
             x, x_name}, {x, x, x}, {x, x, convert_float4(convert_int4((convert_float4((x(((int)p24->m9))) \
             & 2047) + x)) & 2047)}};\n}\n",
        );
    }

    #[test]
    fn code_after_a_comment_on_its_own_line_stays_below_it() {
        let text =
            "int f(int a) {\n    return a\n           /* the\n              sum */\n           + 1;\n}\n";
        assert_eq!(format_twice(text), text);
    }

    #[test]
    fn the_column_after_a_shifted_comment_is_that_of_the_output() {
        let name = "a_name_that_is_long_enough_for_a_break";
        let text = format!("  /* one\n     two */ int f(int {name}, int {name}_2, int c) {{ return 1; }}\n");
        let moved = format_twice(&text);
        assert!(moved.lines().all(|line| line.chars().count() <= 100), "{moved}");
    }
}
