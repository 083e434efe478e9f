//! Determines the role of each token of a logical line: unary or binary operator, part of a declarator, cast, call.

use kiln_syntax::token::{Keyword, Punct};

use crate::{
    names::{Names, is_qualifier},
    token::{Kind, Token},
};

/// The role of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// No role that affects the layout.
    #[default]
    Plain,
    /// A prefix operator.
    Unary,
    /// A postfix operator.
    Postfix,
    /// A binary operator, with its precedence; higher ones bind tighter.
    Binary(u8),
    /// An assignment, or the `=` of an initializer.
    Assignment,
    /// `*` or `^` in a declarator.
    Pointer,
    /// `?` or `:` of a conditional expression.
    Ternary,
    /// `:` of a label.
    LabelColon,
    /// `(` or `)` of a cast.
    Cast,
    /// The parentheses of `if`, `for`, `while`, `switch`.
    Control,
    /// The parentheses of a call or of parameters.
    Call,
    /// The parentheses of `for`.
    For,
    /// The braces of an initializer.
    Initializer,
    /// The braces of a block.
    Block,
    /// The bracket of a designator or of a subscript.
    Subscript,
}

/// The roles of the tokens of a line.
pub(crate) struct Roles {
    /// The roles, by the index in the line.
    pub(crate) roles: Vec<Role>,
    /// The index of the other bracket of a pair.
    pub(crate) matching: Vec<Option<usize>>,
    /// Whether the white space before the token is kept.
    pub(crate) kept: Vec<bool>,
}

struct Finder<'l, 't> {
    line: &'l [Token<'t>],
    names: &'l Names,
    found: Roles,
    /// Whether a token is a brace of a block.
    blocks: &'l [bool],
}

/// Finds the roles. `blocks` contains for each token whether it is a brace of a block.
pub(crate) fn roles(line: &[Token<'_>], names: &Names, blocks: &[bool]) -> Roles {
    let found = Roles {
        roles: vec![Role::Plain; line.len()],
        matching: vec![None; line.len()],
        kept: vec![false; line.len()],
    };
    let mut finder = Finder { line, names, found, blocks };
    finder.pair();
    for index in 0..line.len() {
        finder.find(index);
    }
    finder.mark_literal_arguments();
    finder.found
}

impl Finder<'_, '_> {
    fn punct(&self, index: usize) -> Option<Punct> {
        match self.line.get(index)?.kind {
            Kind::Punct(punct) => Some(punct),
            _ => None,
        }
    }

    fn code_before(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|at| self.line[*at].is_code())
    }

    fn code_after(&self, index: usize) -> Option<usize> {
        (index + 1..self.line.len()).find(|at| self.line[*at].is_code())
    }

    /// Pairs the brackets.
    fn pair(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.line.len() {
            match self.punct(index) {
                Some(Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace) => open.push(index),
                Some(Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace) => {
                    if let Some(start) = open.pop() {
                        self.found.matching[start] = Some(index);
                        self.found.matching[index] = Some(start);
                    }
                }
                _ => {}
            }
        }
    }

    /// Sets the role of a punctuation token.
    fn find(&mut self, index: usize) {
        let Some(punct) = self.punct(index) else { return };
        let role = match punct {
            Punct::OpenParen => self.paren(index),
            Punct::OpenBracket => Role::Subscript,
            Punct::OpenBrace | Punct::CloseBrace if self.found.roles[index] == Role::Plain => {
                if self.blocks[index] { Role::Block } else { Role::Initializer }
            }
            Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace => self.found.roles[index],
            Punct::PlusPlus | Punct::MinusMinus => {
                if self.ends_operand(self.code_before(index)) {
                    Role::Postfix
                } else {
                    Role::Unary
                }
            }
            Punct::Not | Punct::Tilde => Role::Unary,
            Punct::Question => Role::Ternary,
            Punct::Colon => self.colon(index),
            Punct::Star | Punct::Caret if self.is_declarator(index) => Role::Pointer,
            Punct::Star | Punct::And | Punct::Plus | Punct::Minus | Punct::Caret
                if !self.ends_operand(self.code_before(index)) =>
            {
                Role::Unary
            }
            _ => operator(punct),
        };
        self.found.roles[index] = role;
        if let (Some(matching), true) = (self.found.matching[index], opens_bracket(punct)) {
            self.found.roles[matching] = role;
        }
    }

    /// Whether an operand ends at an index, so that a binary operator can follow.
    fn ends_operand(&self, index: Option<usize>) -> bool {
        let Some(index) = index else { return false };
        match self.line[index].kind {
            Kind::Word | Kind::Number | Kind::Literal | Kind::Unknown => true,
            Kind::Keyword(keyword) => self.names.is_type(&self.line[index]) || is_qualifier(keyword),
            Kind::Punct(Punct::CloseParen) => {
                !matches!(self.found.roles[index], Role::Cast | Role::Control | Role::For)
            }
            Kind::Punct(Punct::CloseBracket) => true,
            Kind::Punct(Punct::CloseBrace) => self.found.roles[index] != Role::Block,
            _ => self.found.roles[index] == Role::Postfix,
        }
    }

    fn colon(&self, index: usize) -> Role {
        // The nearest `?` without `:` in the same brackets.
        let mut depth = 0usize;
        let mut colons = 0usize;
        for at in (0..index).rev() {
            match self.punct(at) {
                Some(Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace) => depth += 1,
                Some(Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace) => {
                    if depth == 0 {
                        break;
                    }
                    depth -= 1;
                }
                Some(Punct::Colon) if depth == 0 => colons += 1,
                Some(Punct::Question) if depth == 0 && colons == 0 => return Role::Ternary,
                Some(Punct::Question) if depth == 0 => colons -= 1,
                _ => {}
            }
        }
        let first = self.line.iter().find(|token| token.is_code());
        let is_case = first.is_some_and(|it| it.is_keyword(Keyword::Case) || it.is_keyword(Keyword::Default));
        let is_label = self.code_before(index).is_some_and(|before| self.code_before(before).is_none());
        let in_brackets = (0..index).any(|at| self.found.matching[at].is_some_and(|end| end > index));
        if in_brackets || is_case || is_label { Role::LabelColon } else { Role::Ternary }
    }

    fn paren(&self, index: usize) -> Role {
        let before = self.code_before(index);
        let Some(before) = before else { return self.cast(index) };
        match self.line[before].kind {
            Kind::Keyword(Keyword::For) => Role::For,
            Kind::Keyword(Keyword::If | Keyword::While | Keyword::Switch) => Role::Control,
            Kind::Keyword(Keyword::Return | Keyword::Case | Keyword::Else | Keyword::Do | Keyword::Goto) => {
                self.cast(index)
            }
            Kind::Keyword(keyword) if is_qualifier(keyword) => {
                if keyword == Keyword::Attribute {
                    Role::Call
                } else {
                    Role::Plain
                }
            }
            Kind::Keyword(_) => {
                let next = self.code_after(index).and_then(|next| self.punct(next));
                let is_declarator = matches!(next, Some(Punct::Star | Punct::Caret));
                let is_type = self.names.is_type(&self.line[before]);
                let is_typeof = self.line[before].is_keyword(Keyword::Typeof);
                if is_declarator && is_type && !is_typeof { Role::Plain } else { Role::Call }
            }
            Kind::Word => {
                let next = self.code_after(index).and_then(|next| self.punct(next));
                let is_declarator = matches!(next, Some(Punct::Star | Punct::Caret));
                if is_declarator && self.names.is_type(&self.line[before]) { Role::Plain } else { Role::Call }
            }
            Kind::Punct(Punct::CloseParen | Punct::CloseBracket) if self.ends_operand(Some(before)) => {
                Role::Call
            }
            // The parameters of a block.
            Kind::Punct(Punct::Caret) if self.found.roles[before] == Role::Unary => Role::Call,
            _ => self.cast(index),
        }
    }

    /// The role of a `(` that does not follow an operand: of a cast, or of an expression.
    fn cast(&self, open: usize) -> Role {
        let Some(close) = self.found.matching[open] else { return Role::Plain };
        let content: Vec<&Token<'_>> = self.line[open + 1..close].iter().filter(|it| it.is_code()).collect();
        let is_part = |token: &&Token<'_>| match token.kind {
            Kind::Word => true,
            Kind::Keyword(keyword) => self.names.is_type(token) || is_qualifier(keyword),
            Kind::Punct(punct) => matches!(
                punct,
                Punct::Star | Punct::OpenBracket | Punct::CloseBracket | Punct::OpenParen | Punct::CloseParen
            ),
            Kind::Number => true,
            _ => false,
        };
        let (Some(first), Some(next)) = (content.first(), self.code_after(close)) else { return Role::Plain };
        let starts = matches!(first.kind, Kind::Word | Kind::Keyword(_));
        if !starts || !content.iter().all(is_part) {
            return Role::Plain;
        }
        let is_type = self.names.is_type(first)
            || matches!(first.kind, Kind::Keyword(_))
            || content.len() > 1 && content[content.len() - 1].is(Punct::Star)
            || content.len() == 2 && content[1].kind == Kind::Word;
        let starts_operand = match self.line[next].kind {
            Kind::Word | Kind::Number | Kind::Literal => true,
            Kind::Keyword(keyword) => !is_qualifier(keyword),
            Kind::Punct(Punct::OpenParen) => is_type || content.len() == 1,
            Kind::Punct(Punct::OpenBrace) => is_type && !self.blocks[next],
            Kind::Punct(
                Punct::Minus | Punct::Plus | Punct::Star | Punct::And | Punct::PlusPlus | Punct::MinusMinus,
            ) => is_type,
            Kind::Punct(Punct::Not | Punct::Tilde | Punct::Caret) => is_type,
            _ => false,
        };
        // An operand can follow `)` only after a cast: `(T)x`.
        if starts_operand && (is_type || content.len() == 1) { Role::Cast } else { Role::Plain }
    }

    /// Whether `*` or `^` belongs to a declarator or a type name.
    fn is_declarator(&self, index: usize) -> bool {
        let Some(before) = self.code_before(index) else { return false };
        let next = self.code_after(index);
        let next_kind = next.map(|next| self.line[next].kind);
        let token = &self.line[before];
        let is_star = self.punct(index) == Some(Punct::Star);
        match token.kind {
            _ if self.names.is_type(token) && is_star => true,
            _ if self.names.is_type(token) => {
                matches!(next_kind, Some(Kind::Word | Kind::Punct(Punct::CloseParen)))
            }
            Kind::Keyword(keyword) => is_qualifier(keyword),
            Kind::Punct(Punct::Star | Punct::Caret) => self.found.roles[before] == Role::Pointer,
            Kind::Punct(Punct::CloseParen) => {
                let open = self.found.matching[before].and_then(|open| self.code_before(open));
                open.is_some_and(|word| {
                    self.line[word].is_keyword(Keyword::Typeof)
                        || self.line[word].is_keyword(Keyword::Attribute)
                })
            }
            Kind::Word if is_star => {
                let ends = matches!(
                    next_kind,
                    None | Some(Kind::Punct(Punct::CloseParen | Punct::Comma | Punct::Star))
                        | Some(Kind::Keyword(Keyword::Const | Keyword::Restrict | Keyword::Volatile))
                );
                let names = matches!(next_kind, Some(Kind::Word | Kind::Punct(Punct::OpenParen)));
                ends && !matches!(next_kind, Some(Kind::Punct(Punct::Star)))
                    || (names || ends) && self.starts_declaration(before)
            }
            _ => false,
        }
    }

    /// Whether a word is the type at the start of a declaration statement or of a parameter.
    fn starts_declaration(&self, word: usize) -> bool {
        let mut at = word;
        let mut is_qualified = false;
        while let Some(before) = self.code_before(at) {
            match self.line[before].kind {
                Kind::Keyword(keyword) if is_qualifier(keyword) || self.names.is_type(&self.line[before]) => {
                    is_qualified = true;
                    at = before;
                }
                Kind::Punct(Punct::OpenParen) => {
                    return is_qualified
                        || self.found.roles[before] == Role::For
                        || self.is_parameter_list(before);
                }
                Kind::Punct(Punct::Comma) => {
                    let open =
                        (0..before).rev().find(|at| self.found.matching[*at].is_some_and(|end| end > before));
                    return is_qualified || open.is_some_and(|open| self.is_parameter_list(open));
                }
                Kind::Punct(Punct::Semicolon | Punct::CloseBrace) => return true,
                _ => return is_qualified,
            }
        }
        true
    }

    /// Whether a parenthesis opens the parameter list of a declaration: `void f(`.
    fn is_parameter_list(&self, open: usize) -> bool {
        let Some(name) = self.code_before(open) else { return false };
        let Some(before) = self.code_before(name) else { return false };
        let is_top = !(0..open).any(|at| self.found.matching[at].is_some_and(|end| end > open));
        self.line[name].kind == Kind::Word
            && is_top
            && (matches!(self.line[before].kind, Kind::Word | Kind::Keyword(_))
                && !self.line[before].is_keyword(Keyword::Return)
                && !self.line[before].is_keyword(Keyword::Else)
                || self.found.roles[before] == Role::Pointer)
    }

    /// Marks the arguments whose white space is significant.
    fn mark_literal_arguments(&mut self) {
        for open in 1..self.line.len() {
            let is_call = self.found.roles[open] == Role::Call && self.punct(open) == Some(Punct::OpenParen);
            let name = self.code_before(open).filter(|_| is_call).map(|name| &self.line[name]);
            let keeps =
                name.is_some_and(|name| name.kind == Kind::Word && self.names.keeps_spaces(name.text));
            if keeps && let Some(close) = self.found.matching[open] {
                self.found.kept[open + 1..=close].fill(true);
            }
        }
    }
}

fn opens_bracket(punct: Punct) -> bool {
    matches!(punct, Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace)
}

/// The role of an operator between operands.
fn operator(punct: Punct) -> Role {
    use Punct::{
        And, AndAnd, AndEqual, Caret, CaretCaret, CaretEqual, Equal, EqualEqual, Greater, GreaterEqual, Less,
        LessEqual, Minus, MinusEqual, NotEqual, Or, OrEqual, OrOr, Percent, PercentEqual, Plus, PlusEqual,
        ShiftLeft, ShiftLeftEqual, ShiftRight, ShiftRightEqual, Slash, SlashEqual, Star, StarEqual,
    };
    match punct {
        Equal | StarEqual | SlashEqual | PercentEqual | PlusEqual | MinusEqual | ShiftLeftEqual
        | ShiftRightEqual | AndEqual | CaretEqual | OrEqual => Role::Assignment,
        OrOr => Role::Binary(1),
        CaretCaret => Role::Binary(2),
        AndAnd => Role::Binary(3),
        Or => Role::Binary(4),
        Caret => Role::Binary(5),
        And => Role::Binary(6),
        EqualEqual | NotEqual => Role::Binary(7),
        Less | Greater | LessEqual | GreaterEqual => Role::Binary(8),
        ShiftLeft | ShiftRight => Role::Binary(9),
        Plus | Minus => Role::Binary(10),
        Star | Slash | Percent => Role::Binary(11),
        _ => Role::Plain,
    }
}
