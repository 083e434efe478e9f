//! The spaces between the tokens of a line.

use kiln_syntax::{
    lex::{Lexeme, Lexer},
    token::{Keyword, Punct},
};

use crate::{
    roles::{Role, Roles},
    style::{Parens, Pointer, Style},
    token::{Kind, Token},
};

/// Whether a space precedes each token of a line.
pub(crate) fn spaces(line: &[Token<'_>], roles: &Roles, style: &Style) -> Vec<bool> {
    let spacer = Spacer { line, roles, style };
    (0..line.len()).map(|index| index > 0 && spacer.space(index)).collect()
}

struct Spacer<'l, 't> {
    line: &'l [Token<'t>],
    roles: &'l Roles,
    style: &'l Style,
}

impl Spacer<'_, '_> {
    fn role(&self, index: usize) -> Role {
        self.roles.roles[index]
    }

    fn space(&self, index: usize) -> bool {
        let (before, token) = (&self.line[index - 1], &self.line[index]);
        if self.roles.kept[index] || token.kind == Kind::Unknown || before.kind == Kind::Unknown {
            return token.space || would_merge(before, token);
        }
        if before.is_comment() {
            return token.space || before.kind == Kind::LineComment;
        }
        if token.is_comment() {
            return !matches!(before.kind, Kind::Punct(Punct::OpenParen | Punct::OpenBracket));
        }
        self.needs_space(index) || would_merge(before, token)
    }

    /// Whether the style puts a space before the token.
    fn needs_space(&self, index: usize) -> bool {
        let (before, token) = (&self.line[index - 1], &self.line[index]);
        let is_word = |token: &Token<'_>| {
            matches!(token.kind, Kind::Word | Kind::Keyword(_) | Kind::Number | Kind::Literal)
        };
        if let Some(found) = self.by_brackets(index) {
            return found;
        }
        match token.kind {
            Kind::Punct(Punct::Semicolon | Punct::Comma) => return false,
            Kind::Punct(Punct::Dot) => return !is_word(before) && !self.ends(index - 1),
            Kind::Punct(Punct::Arrow) => return false,
            _ => {}
        }
        match before.kind {
            Kind::Punct(Punct::Comma | Punct::Semicolon) => return true,
            Kind::Punct(Punct::Dot | Punct::Arrow) => return false,
            _ => {}
        }
        match (self.role(index - 1), self.role(index)) {
            (_, Role::Postfix) => false,
            (Role::Unary, _) => before.is(Punct::Not) && self.style.space_after_not,
            (_, Role::LabelColon) => false,
            (Role::LabelColon, _) => true,
            (_, Role::Assignment) => self.style.space_before_assignment,
            (Role::Assignment | Role::Binary(_) | Role::Ternary, _) => true,
            (_, Role::Binary(_) | Role::Ternary) => true,
            (_, Role::Pointer) => self.before_pointer(index),
            (Role::Pointer, _) => self.after_pointer(index),
            (Role::Cast, _) if before.is(Punct::CloseParen) => self.style.space_after_cast,
            _ => self.between_words(index),
        }
    }

    /// Whether an operand ends at the token.
    fn ends(&self, index: usize) -> bool {
        matches!(
            self.line[index].kind,
            Kind::Punct(Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace)
        )
    }

    fn between_words(&self, index: usize) -> bool {
        let is_punct = |token: &Token<'_>| matches!(token.kind, Kind::Punct(_));
        let (before, token) = (&self.line[index - 1], &self.line[index]);
        match (is_punct(before), is_punct(token)) {
            (false, false) => true,
            // `) x`, `} x`, `] x`
            (true, false) => self.ends(index - 1),
            // A prefix operator after a word, such as `return -x`.
            (false, true) => self.role(index) == Role::Unary,
            (true, true) => self.role(index) == Role::Unary && self.ends(index - 1),
        }
    }

    /// The spaces next to brackets.
    fn by_brackets(&self, index: usize) -> Option<bool> {
        let (before, token) = (&self.line[index - 1], &self.line[index]);
        let inside = |is_paren: bool| {
            if is_paren { self.style.spaces_in_parens } else { self.style.spaces_in_squares }
        };
        let opens = |token: &Token<'_>| token.is(Punct::OpenParen) || token.is(Punct::OpenBracket);
        let closes = |token: &Token<'_>| token.is(Punct::CloseParen) || token.is(Punct::CloseBracket);
        let is_cast = self.role(index) == Role::Cast || self.role(index - 1) == Role::Cast;
        if opens(before) {
            return Some(!closes(token) && !is_cast && inside(before.is(Punct::OpenParen)));
        }
        if closes(token) {
            let after_semicolon = before.is(Punct::Semicolon) && self.role(index) == Role::For;
            return Some(!after_semicolon && !is_cast && inside(token.is(Punct::CloseParen)));
        }
        if before.is(Punct::Semicolon) && token.is(Punct::Semicolon) {
            return Some(false);
        }
        self.by_braces(index).or_else(|| match token.kind {
            Kind::Punct(Punct::OpenParen) => self.before_paren(index),
            Kind::Punct(Punct::OpenBracket) => self.before_square(index),
            _ => None,
        })
    }

    fn by_braces(&self, index: usize) -> Option<bool> {
        let (before, token) = (&self.line[index - 1], &self.line[index]);
        let is_brace = |token: &Token<'_>| token.is(Punct::OpenBrace) || token.is(Punct::CloseBrace);
        if before.is(Punct::OpenBrace) && token.is(Punct::CloseBrace) {
            return Some(false);
        }
        if before.is(Punct::OpenBrace) || token.is(Punct::CloseBrace) {
            let brace = if before.is(Punct::OpenBrace) { index - 1 } else { index };
            return Some(self.role(brace) == Role::Block || self.style.spaces_in_braces);
        }
        if token.is(Punct::OpenBrace) {
            let is_block = self.role(index) == Role::Block;
            // A compound literal: `(int2){1, 2}`
            let is_literal = self.role(index - 1) == Role::Cast;
            let after_caret = self.role(index - 1) == Role::Unary && before.is(Punct::Caret);
            return Some(!after_caret && (is_block || !is_literal || self.style.spaces_in_braces));
        }
        let ends = before.is(Punct::CloseBrace)
            && matches!(token.kind, Kind::Word | Kind::Keyword(_) | Kind::Number | Kind::Literal);
        (is_brace(before) && ends).then_some(true)
    }

    fn before_paren(&self, index: usize) -> Option<bool> {
        let before = &self.line[index - 1];
        match self.role(index) {
            Role::Control | Role::For => Some(self.style.parens != Parens::Never),
            Role::Call => {
                let after_caret = before.is(Punct::Caret) || before.is_keyword(Keyword::Attribute);
                let is_word = matches!(before.kind, Kind::Word | Kind::Keyword(_));
                Some(self.style.parens == Parens::Always && is_word && !after_caret)
            }
            _ if matches!(before.kind, Kind::Word | Kind::Keyword(_)) => Some(true),
            _ => None,
        }
    }

    fn before_square(&self, index: usize) -> Option<bool> {
        let before = &self.line[index - 1];
        let is_operand =
            matches!(before.kind, Kind::Word | Kind::Literal | Kind::Number) || self.ends(index - 1);
        (is_operand || matches!(before.kind, Kind::Keyword(_))).then_some(false)
    }

    fn before_pointer(&self, index: usize) -> bool {
        let before = &self.line[index - 1];
        if self.role(index - 1) == Role::Pointer {
            return false;
        }
        match self.style.pointer {
            // `int *const *p`
            Pointer::Left => matches!(before.kind, Kind::Punct(Punct::Comma)),
            Pointer::Right | Pointer::Middle => true,
        }
    }

    fn after_pointer(&self, index: usize) -> bool {
        let token = &self.line[index];
        match self.style.pointer {
            Pointer::Right => false,
            Pointer::Left | Pointer::Middle => matches!(token.kind, Kind::Word | Kind::Keyword(_)),
        }
    }
}

/// Whether two tokens without a space between them would be lexed as other tokens.
fn would_merge(before: &Token<'_>, token: &Token<'_>) -> bool {
    let is_plain = |token: &Token<'_>| {
        !matches!(
            token.kind,
            Kind::Punct(
                Punct::Semicolon
                    | Punct::Comma
                    | Punct::OpenParen
                    | Punct::CloseParen
                    | Punct::OpenBracket
                    | Punct::CloseBracket
                    | Punct::OpenBrace
                    | Punct::CloseBrace
            )
        )
    };
    if !before.text.is_ascii() || token.text.starts_with('\\') {
        return is_plain(token);
    }
    if !is_plain(before) || !is_plain(token) {
        // The digraphs `<:`, `<%`, `%:`, `:>`, `%>`. No bracket continues another token.
        return before.text.ends_with(['<', '%', ':']) && token.text.starts_with([':', '%', '>']);
    }
    let joined = format!("{}{}", before.text, token.text);
    let mut lexer = Lexer::new(&joined);
    let is_comment = joined[before.text.len() - 1..].starts_with("//")
        || joined[before.text.len() - 1..].starts_with("/*");
    is_comment
        || lexer.next().is_none_or(|first| {
            first.end as usize != before.text.len()
                || matches!(first.lexeme, Lexeme::Unterminated | Lexeme::UnterminatedComment)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokens;

    #[test]
    fn tokens_that_would_merge_are_separated() {
        let joins = |text: &str| {
            let tokens = tokens(text, 8);
            would_merge(&tokens[0], &tokens[1])
        };
        assert!(
            ["+ +", "- --", "a b", "1 .x", "/ *", "/ /", "& &", "< <=", "L 'a'", "1e +"]
                .into_iter()
                .all(joins)
        );
        assert!(!["+ -", "a .", "! -", "* *", "( a", "a ["].into_iter().any(joins));
    }
}
