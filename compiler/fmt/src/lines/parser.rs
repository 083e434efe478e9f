//! The state machine that finds logical lines.

use kiln_syntax::token::{Keyword, Punct};

use super::{Line, LineKind, Owner};
use crate::{
    style::Style,
    token::{Kind, Token},
};

/// An open bracket of the current statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    /// `(` or `[`
    Plain,
    /// `(` of `for`, in which `;` does not end the statement.
    For,
    /// `{` of an initializer.
    Initializer,
}

/// The kind of a frame.
#[derive(Clone, Debug)]
enum FrameKind {
    File,
    /// Braces. A block in an expression contains the state of its statement.
    Block(Owner, Option<Box<Statement>>),
    /// The body of a control statement, without braces.
    Body(Owner),
}

#[derive(Clone, Debug)]
struct Frame {
    kind: FrameKind,
    /// The indentation of its statements.
    indent: usize,
    /// The indentation of its closing brace.
    close: usize,
}

/// The facts about the current statement.
#[derive(Clone, Debug, Default)]
struct Statement {
    brackets: Vec<Bracket>,
    owner: Option<Owner>,
    /// Whether a body or a block of the owner must follow.
    awaits_body: bool,
    /// Whether `=` or `return` preceded, so that a brace starts an initializer.
    assigned: bool,
    /// Whether `^` preceded, so that a brace starts a block literal.
    caret: bool,
    /// The structure, union or enumeration whose brace may follow.
    record: Option<Owner>,
    questions: usize,
}

/// The state at a token, which branches of `#if` restore.
#[derive(Clone, Debug)]
struct State {
    frames: Vec<Frame>,
    statement: Statement,
    /// Whether a statement has ended, so that bodies without braces may end too. Contains the owner of its block.
    ended: Option<Option<Owner>>,
}

struct Parser<'s, 't> {
    style: &'s Style,
    tokens: &'s [Token<'t>],
    lines: Vec<Line>,
    /// Whether a token is a brace of a block.
    blocks: Vec<bool>,
    state: State,
    /// The states at the open `#if` directives.
    conditions: Vec<State>,
    /// The first token of the current line.
    first: usize,
    /// The current token.
    at: usize,
    /// The indentation of the current line.
    indent: usize,
}

/// The logical lines of a text, and for each token whether it is a brace of a block.
pub(crate) fn lines(tokens: &[Token<'_>], style: &Style) -> (Vec<Line>, Vec<bool>) {
    let file = Frame { kind: FrameKind::File, indent: 0, close: 0 };
    let state = State { frames: vec![file], statement: Statement::default(), ended: None };
    let mut parser = Parser {
        style,
        tokens,
        lines: Vec::new(),
        blocks: vec![false; tokens.len()],
        state,
        conditions: Vec::new(),
        first: 0,
        at: 0,
        indent: 0,
    };
    while parser.at < tokens.len() {
        parser.step();
        parser.at += 1;
    }
    parser.finish(LineKind::Statement);
    (parser.lines, parser.blocks)
}

impl<'t> Parser<'_, 't> {
    fn token(&self) -> &Token<'t> {
        &self.tokens[self.at]
    }

    /// Whether the current line has no code yet.
    fn is_empty(&self) -> bool {
        self.tokens[self.first..self.at].iter().all(Token::is_comment)
    }

    /// Whether only attributes precede the current token in its statement: `__attribute__((opencl_unroll_hint)) do`.
    fn starts_statement(&self) -> bool {
        let mut line = &self.tokens[self.first..self.at];
        loop {
            let code = line.iter().position(Token::is_code);
            let Some((start, end)) = code.and_then(|start| Some((start, closing(line, start + 1)?))) else {
                return code.is_none();
            };
            if !line[start].is_keyword(Keyword::Attribute) {
                return false;
            }
            line = &line[end + 1..];
        }
    }

    fn frame(&self) -> &Frame {
        self.state.frames.last().expect("the file is never closed")
    }

    /// The next code token, from an index on.
    fn code(&self, from: usize) -> Option<&Token<'t>> {
        self.tokens.get(from..)?.iter().find(|token| token.is_code())
    }

    /// The last code token of the current line before the current token.
    fn previous(&self) -> Option<&Token<'t>> {
        self.tokens[self.first..self.at].iter().rev().find(|token| token.is_code())
    }

    /// Ends the line before the current token.
    fn finish(&mut self, kind: LineKind) {
        self.finish_at(self.at, kind);
    }

    fn finish_at(&mut self, end: usize, kind: LineKind) {
        if self.first < end {
            let is_first = self
                .lines
                .last()
                .is_some_and(|line| matches!(line.kind, LineKind::Opens(_) | LineKind::Head(_)));
            self.lines.push(Line {
                tokens: self.first..end,
                indent: self.indent,
                kind,
                is_nested: self.state.frames.len() > 1,
                is_first,
                is_joined: false,
            });
        }
        self.first = end;
    }

    fn step(&mut self) {
        let token = self.token();
        if token.is_raw() {
            self.raw();
        } else if token.is_comment() {
            self.comment();
        } else {
            self.code_token();
        }
    }

    /// Handles a directive or verbatim text: a separate line, unless it is inside a statement.
    fn raw(&mut self) {
        let directive = if self.token().kind == Kind::Directive { self.token().directive() } else { "" };
        match directive {
            "if" | "ifdef" | "ifndef" => self.conditions.push(self.state.clone()),
            "else" | "elif" => {
                if let Some(state) = self.conditions.last() {
                    self.state = state.clone();
                }
            }
            "endif" => drop(self.conditions.pop()),
            _ => {}
        }
        if self.is_empty() {
            self.indent = 0;
            self.finish_at(self.at + 1, LineKind::Raw);
        }
    }

    fn comment(&mut self) {
        let newlines = self.token().newlines;
        let next = self.tokens.get(self.at + 1);
        let continues = next.is_some_and(|next| next.newlines == 0 && !next.is_raw());
        if newlines > 0 && self.code(self.at).is_some_and(|next| self.ends_macro_call(next)) {
            self.end_statement(self.at, None);
        }
        if !self.is_empty() {
            // A comment on its own line before a body without braces belongs to the body.
            let is_brace = self.code(self.at).is_some_and(|next| next.is(Punct::OpenBrace));
            if !(self.state.statement.awaits_body && newlines > 0 && !is_brace) {
                return;
            }
            self.open_body();
        } else if newlines == 0 && !self.lines.is_empty() && !continues {
            // A trailing comment.
            let line = self.lines.last_mut().expect("there is one");
            line.tokens.end = self.at + 1;
            self.first = self.at + 1;
            return;
        }
        if comment_ends_line(self.token(), continues) {
            self.close_bodies();
            self.indent = self.indent_of_comment();
            self.finish_at(self.at + 1, LineKind::Comment);
        }
    }

    /// The indentation of a comment on its own line: that of the label that follows, unless the comment is further right
    /// in the source.
    fn indent_of_comment(&self) -> usize {
        let indent = self.frame().indent;
        let Some(next) = self.code(self.at) else { return indent };
        let is_label = next.is_keyword(Keyword::Case) || next.is_keyword(Keyword::Default);
        if is_label && self.token().column <= next.column { indent.saturating_sub(1) } else { indent }
    }

    /// Ends bodies without braces when their statement has ended.
    fn close_bodies(&mut self) {
        let Some(block) = self.state.ended.take() else { return };
        let next = self.code(self.at);
        let is_next = |keyword| next.is_some_and(|next| next.is_keyword(keyword));
        let is_body =
            |frame: &Frame, owner: Owner| matches!(frame.kind, FrameKind::Body(found) if found == owner);
        let bodies =
            self.state.frames.iter().rev().take_while(|frame| matches!(frame.kind, FrameKind::Body(_)));
        let wanted = match () {
            () if is_next(Keyword::Else) => Some(Owner::If),
            () if is_next(Keyword::While) => Some(Owner::Do),
            () => None,
        };
        // The statement to which `else` or `while` belongs stays open.
        let found =
            wanted.filter(|_| block != wanted).map(|owner| bodies.clone().position(|it| is_body(it, owner)));
        let closing = match found {
            _ if wanted.is_some() && block == wanted => 0,
            Some(Some(position)) => position + 1,
            _ => bodies.count(),
        };
        let is_do = wanted == Some(Owner::Do) && (block == wanted || matches!(found, Some(Some(_))));
        self.state.frames.truncate(self.state.frames.len() - closing);
        self.state.statement = Statement::default();
        if is_do {
            // This `while` ends a `do` statement.
            self.state.statement.assigned = true;
        }
    }

    fn code_token(&mut self) {
        if self.is_empty() {
            self.close_bodies();
            self.indent = self.frame().indent;
        } else if self.token().newlines > 0 && self.ends_macro_call(self.token()) {
            self.end_statement(self.at, None);
            self.close_bodies();
            self.indent = self.frame().indent;
        }
        if self.state.statement.awaits_body {
            return self.body();
        }
        match self.token().kind {
            Kind::Punct(punct) => self.punct(punct),
            Kind::Keyword(keyword) => self.keyword(keyword),
            Kind::Word if self.is_empty() => {
                let is_label = self.tokens.get(self.at + 1).is_some_and(|next| next.is(Punct::Colon));
                if is_label && self.state.statement.brackets.is_empty() && self.state.frames.len() > 1 {
                    self.label(Owner::Label);
                }
            }
            _ => {}
        }
    }

    /// Whether the current line is the call of a macro without a semicolon, and the next code token, on another line, starts
    /// a new statement.
    fn ends_macro_call(&self, next: &Token<'_>) -> bool {
        let line = &self.tokens[self.first..self.at];
        let Some(start) = line.iter().position(Token::is_code) else { return false };
        let end = line.iter().rposition(Token::is_code).unwrap_or(start);
        let (call, statement) = (&line[start..=end], &self.state.statement);
        matches!(next.kind, Kind::Word | Kind::Keyword(_))
            && !next.is_keyword(Keyword::Attribute)
            && statement.brackets.is_empty()
            && statement.owner.is_none()
            && !statement.assigned
            && call[0].kind == Kind::Word
            && call.get(1).is_some_and(|second| second.is(Punct::OpenParen))
            && closing(call, 1) == Some(call.len() - 1)
    }

    fn keyword(&mut self, keyword: Keyword) {
        let is_start = self.starts_statement();
        let statement = &mut self.state.statement;
        match keyword {
            Keyword::Struct => statement.record = Some(Owner::Struct),
            Keyword::Union => statement.record = Some(Owner::Union),
            Keyword::Enum => statement.record = Some(Owner::Enum),
            Keyword::Return => statement.assigned = true,
            // `else if` is one statement.
            Keyword::If if statement.owner == Some(Owner::Else) || is_start => {
                statement.owner = Some(Owner::If)
            }
            Keyword::For if is_start => statement.owner = Some(Owner::Loop),
            Keyword::While if is_start && !statement.assigned => statement.owner = Some(Owner::Loop),
            Keyword::Switch if is_start => statement.owner = Some(Owner::Switch),
            Keyword::Else => (statement.owner, statement.awaits_body) = (Some(Owner::Else), true),
            Keyword::Do if is_start => (statement.owner, statement.awaits_body) = (Some(Owner::Do), true),
            Keyword::Case | Keyword::Default if is_start => self.label(Owner::Case),
            _ => {}
        }
    }

    fn label(&mut self, owner: Owner) {
        self.state.statement.owner = Some(owner);
        if owner == Owner::Case || self.style.indent_goto_labels {
            self.indent = self.indent.saturating_sub(1);
        }
    }

    /// Handles the token after the head of a control statement.
    fn body(&mut self) {
        let statement = &mut self.state.statement;
        statement.awaits_body = false;
        let is_else_if = statement.owner == Some(Owner::Else)
            && self.tokens[self.at].is_keyword(Keyword::If)
            && self.previous().is_some_and(|before| before.is_keyword(Keyword::Else))
            && !self.tokens[self.at - 1].is_comment();
        if is_else_if {
            self.state.statement.owner = Some(Owner::If);
            return;
        }
        if self.token().is(Punct::OpenBrace) {
            let owner = self.state.statement.owner.unwrap_or(Owner::Plain);
            return self.open_block(owner);
        }
        self.open_body();
        self.indent = self.frame().indent;
        self.code_token();
    }

    /// Starts a body without braces.
    fn open_body(&mut self) {
        let owner = self.state.statement.owner.unwrap_or(Owner::Plain);
        self.finish(LineKind::Head(owner));
        let indent = self.indent + 1;
        self.state.frames.push(Frame { kind: FrameKind::Body(owner), indent, close: self.indent });
        self.state.statement = Statement::default();
    }

    fn punct(&mut self, punct: Punct) {
        match punct {
            Punct::OpenParen | Punct::OpenBracket => self.open_bracket(punct),
            Punct::CloseParen | Punct::CloseBracket => self.close_bracket(),
            Punct::OpenBrace => self.open_brace(),
            Punct::CloseBrace => self.close_brace(),
            Punct::Semicolon => self.semicolon(),
            Punct::Colon => self.colon(),
            Punct::Question if self.state.statement.brackets.is_empty() => {
                self.state.statement.questions += 1
            }
            Punct::Caret => {
                let before = self.previous();
                let is_operand = before
                    .is_some_and(|before| matches!(before.kind, Kind::Word | Kind::Number | Kind::Literal))
                    || before.is_some_and(|it| it.is(Punct::CloseParen) || it.is(Punct::CloseBracket));
                self.state.statement.caret |= !is_operand;
            }
            Punct::Comma if self.state.statement.brackets.is_empty() => {
                if matches!(self.frame().kind, FrameKind::Block(Owner::Enum, None)) {
                    self.finish_at(self.at + 1, LineKind::Statement);
                    self.state.statement = Statement::default();
                }
            }
            Punct::Equal if self.state.statement.brackets.is_empty() => self.state.statement.assigned = true,
            _ => {}
        }
    }

    fn open_bracket(&mut self, punct: Punct) {
        let statement = &self.state.statement;
        let is_outer = statement.brackets.is_empty();
        let before = self.previous().map(|before| before.kind);
        let is_for = before == Some(Kind::Keyword(Keyword::For));
        // `struct S f(` declares a function; `struct __attribute__((packed)) S` does not.
        let names = is_outer && punct == Punct::OpenParen && before == Some(Kind::Word);
        let statement = &mut self.state.statement;
        if names {
            statement.record = None;
        }
        statement.brackets.push(if is_for { Bracket::For } else { Bracket::Plain });
    }

    fn close_bracket(&mut self) {
        let statement = &mut self.state.statement;
        if statement.brackets.last().is_some_and(|open| *open != Bracket::Initializer) {
            statement.brackets.pop();
        }
        let is_head = matches!(statement.owner, Some(Owner::If | Owner::Loop | Owner::Switch));
        if statement.brackets.is_empty() && is_head {
            statement.awaits_body = true;
        }
    }

    fn open_brace(&mut self) {
        let before = self.previous().map(|before| before.kind);
        let statement = &self.state.statement;
        let is_inside = !statement.brackets.is_empty();
        // A block `^{ }`, or a statement expression `({ })`.
        let is_expression = statement.caret || is_inside && before == Some(Kind::Punct(Punct::OpenParen));
        if is_expression {
            return self.open_block(Owner::Plain);
        }
        let starts_with_paren =
            self.tokens.get(self.first).is_some_and(|first| first.is(Punct::OpenParen)) && !self.is_empty();
        if is_inside || statement.assigned || starts_with_paren {
            return self.state.statement.brackets.push(Bracket::Initializer);
        }
        let owner = match (statement.record, before) {
            (Some(record), _) => record,
            (None, Some(Kind::Punct(Punct::CloseParen))) => Owner::Function,
            _ => Owner::Plain,
        };
        self.open_block(owner);
    }

    /// Opens a block at the current brace.
    fn open_block(&mut self, owner: Owner) {
        self.blocks[self.at] = true;
        let braces = &self.style.braces;
        let wraps = match owner {
            Owner::Function => braces.after_function,
            Owner::If | Owner::Else | Owner::Loop | Owner::Do | Owner::Switch => braces.after_control,
            Owner::Struct => braces.after_struct,
            Owner::Union => braces.after_union,
            Owner::Enum => braces.after_enum,
            Owner::Case | Owner::Label => braces.after_case,
            Owner::Plain => false,
        };
        let after_comment = self.at > 0 && self.tokens[self.at - 1].is_comment();
        let after_comment = after_comment && self.tokens[self.at - 1].kind == Kind::LineComment;
        let after_raw = self.at > 0 && self.tokens[self.at - 1].is_raw();
        if !self.is_empty() && (wraps || after_comment || after_raw) {
            self.finish(LineKind::Wrapped(owner));
        }
        self.finish_at(self.at + 1, LineKind::Opens(owner));
        let mut indent = self.indent + 1;
        if owner == Owner::Switch && self.style.indent_case_labels {
            indent += 1;
        }
        let statement = std::mem::take(&mut self.state.statement);
        let is_inside = statement.caret || !statement.brackets.is_empty();
        let outer = is_inside.then(|| Box::new(Statement { caret: false, ..statement }));
        let frame = Frame { kind: FrameKind::Block(owner, outer), indent, close: self.indent };
        self.state.frames.push(frame);
        self.state.ended = None;
    }

    fn close_brace(&mut self) {
        let brackets = &mut self.state.statement.brackets;
        if let Some(open) = brackets.iter().rposition(|open| *open == Bracket::Initializer) {
            brackets.truncate(open);
            return;
        }
        self.blocks[self.at] = true;
        self.finish(LineKind::Statement);
        self.state.ended = None;
        let frames = &mut self.state.frames;
        while frames.len() > 1 && matches!(frames[frames.len() - 1].kind, FrameKind::Body(_)) {
            frames.pop();
        }
        self.state.statement = Statement::default();
        if frames.len() == 1 {
            // There is no block to close.
            self.indent = 0;
            self.finish_at(self.at + 1, LineKind::Closes);
            return;
        }
        let frame = frames.pop().expect("there are two");
        self.indent = frame.close;
        let next = self.tokens.get(self.at + 1);
        let is_next = |punct: Punct| next.is_some_and(|next| next.is(punct));
        let is_word = |keyword: Keyword| next.is_some_and(|next| next.is_keyword(keyword));
        match frame.kind {
            FrameKind::Block(_, Some(outer)) => self.state.statement = *outer,
            FrameKind::Block(Owner::Struct | Owner::Union | Owner::Enum, None) => {}
            FrameKind::Block(Owner::If, None) if is_word(Keyword::Else) && !self.style.braces.before_else => {
            }
            FrameKind::Block(Owner::Do, None)
                if is_word(Keyword::While) && !self.style.braces.before_while =>
            {
                self.state.statement.assigned = true;
            }
            FrameKind::Block(owner, None) => {
                let end = if is_next(Punct::Semicolon) { self.at + 2 } else { self.at + 1 };
                self.finish_at(end, LineKind::Closes);
                self.at = end - 1;
                self.state.ended = Some(Some(owner));
            }
            FrameKind::File | FrameKind::Body(_) => {}
        }
    }

    fn semicolon(&mut self) {
        let brackets = &self.state.statement.brackets;
        if brackets.contains(&Bracket::For) {
            return;
        }
        self.end_statement(self.at + 1, None);
    }

    fn end_statement(&mut self, end: usize, block: Option<Owner>) {
        let closes = self.tokens[self.first].is(Punct::CloseBrace);
        self.finish_at(end, if closes { LineKind::Closes } else { LineKind::Statement });
        self.state.statement = Statement::default();
        self.state.ended = Some(block);
    }

    fn colon(&mut self) {
        let statement = &mut self.state.statement;
        if !statement.brackets.is_empty() {
            return;
        }
        if statement.questions > 0 {
            statement.questions -= 1;
            return;
        }
        if matches!(statement.owner, Some(Owner::Case | Owner::Label)) {
            let is_block = self.tokens.get(self.at + 1).is_some_and(|next| next.is(Punct::OpenBrace));
            if is_block && statement.owner == Some(Owner::Case) {
                statement.awaits_body = true;
                return;
            }
            self.finish_at(self.at + 1, LineKind::Head(Owner::Case));
            self.state.statement = Statement::default();
        }
    }
}

/// Whether a comment ends its line: it is a line comment, or no code follows.
fn comment_ends_line(token: &Token<'_>, continues: bool) -> bool {
    token.kind == Kind::LineComment || !continues
}

/// The index of the bracket that closes the one at an index.
fn closing(line: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in line.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Punct(Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace) => depth += 1,
            Kind::Punct(Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}
