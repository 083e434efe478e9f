//! Reads single tokens of the text form, and lists of items.

use kiln_types::index::Id;

use super::{ParseError, Result};
use crate::{
    lex::{Token, lex},
    text::Word,
};

/// A position in the tokens of a text.
pub(super) struct Parser<'t> {
    /// The tokens with their lines.
    tokens: Vec<(Token<'t>, usize)>,
    next: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { tokens: lex(text), next: 0 }
    }

    pub(super) fn peek(&self) -> &Token<'t> {
        &self.tokens[self.next].0
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.next + 1 == self.tokens.len()
    }

    /// Whether the next token is on the line of the one before it.
    pub(super) fn continues_line(&self) -> bool {
        self.next > 0 && self.tokens[self.next - 1].1 == self.tokens[self.next].1
    }

    pub(super) fn advance(&mut self) {
        if !self.is_at_end() {
            self.next += 1;
        }
    }

    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        let message = format!("expected {what}, found {:?}", self.peek());
        Err(ParseError { line: self.tokens[self.next].1, message })
    }

    /// An error at the token before the next one.
    pub(super) fn error_before(&self, message: String) -> ParseError {
        ParseError { line: self.tokens[self.next - 1].1, message }
    }

    pub(super) fn eat(&mut self, token: &Token<'_>) -> bool {
        let is_there = self.peek() == token;
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.eat(&Token::Word(word))
    }

    pub(super) fn eat_mark(&mut self, mark: char) -> bool {
        self.eat(&Token::Mark(mark))
    }

    pub(super) fn mark(&mut self, mark: char) -> Result<()> {
        if self.eat_mark(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    pub(super) fn word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub(super) fn any_word(&mut self) -> Result<&'t str> {
        let Token::Word(word) = *self.peek() else { return self.expected("a word") };
        self.advance();
        Ok(word)
    }

    pub(super) fn text(&mut self) -> Result<Vec<u8>> {
        let Token::Text(bytes) = self.peek().clone() else { return self.expected("a quoted text") };
        self.advance();
        Ok(bytes)
    }

    pub(super) fn name(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.text()?).into_owned())
    }

    pub(super) fn parse_number<T: TryFrom<i128>>(&mut self) -> Result<T> {
        let Token::Number(text) = *self.peek() else { return self.expected("a number") };
        let Some(number) = integer(text).and_then(|number| T::try_from(number).ok()) else {
            return self.expected("a number in range");
        };
        self.advance();
        Ok(number)
    }

    /// A punctuator and a number: `@1`.
    pub(super) fn id<I: Id>(&mut self, mark: char) -> Result<I> {
        self.mark(mark)?;
        Ok(I::from_index(self.parse_number::<u32>()? as usize))
    }

    /// `word number`
    pub(super) fn named<T: TryFrom<i128>>(&mut self, word: &str) -> Result<T> {
        self.word(word)?;
        self.parse_number()
    }

    pub(super) fn keyword<T: Word>(&mut self, what: &str) -> Result<T> {
        let Token::Word(word) = *self.peek() else { return self.expected(what) };
        let Some(value) = T::parse(word) else { return self.expected(what) };
        self.advance();
        Ok(value)
    }

    pub(super) fn comma_separated<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_mark(',') {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A list of items between delimiters. May be empty.
    pub(super) fn enclosed<T>(
        &mut self,
        [open, close]: [char; 2],
        item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.mark(open)?;
        if self.eat_mark(close) {
            return Ok(Vec::new());
        }
        let items = self.comma_separated(item)?;
        self.mark(close)?;
        Ok(items)
    }
}

pub(super) fn integer(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
