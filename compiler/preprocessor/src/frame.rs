//! A file being read: the current position, and open conditionals.
//!
//! Provides runs of tokens without directives. Independent of the effects of directives.

use std::rc::Rc;

use kiln_session::source::FileId;
use kiln_syntax::{Interner, Span};

use super::{directive::Condition, file::SourceFile, piece::Piece, token::Tok};

/// The number of tokens to lex at a time. Tests use one line at a time.
const PIECE: usize = if cfg!(test) { 1 } else { 1024 };

/// A file being read.
pub(super) struct Frame {
    pub(super) file: Rc<SourceFile>,
    pub(super) id: FileId,
    /// The first position of the file.
    pub(super) lo: u32,
    /// The open `#if`s in the file.
    pub(super) conditions: Vec<Condition>,
    /// The piece with the next token. Shared if it contains the whole file.
    pub(super) piece: Rc<Piece>,
    /// The index of the next token in the piece.
    at: usize,
    /// No token before this index starts a directive.
    run_end: usize,
    /// The last token before the piece.
    before: Option<Span>,
}

impl Frame {
    /// Starts reading a file whose first position is `lo`.
    pub(super) fn new(file: Rc<SourceFile>, id: FileId, lo: u32, piece: Rc<Piece>) -> Self {
        Self { file, id, lo, conditions: Vec::new(), piece, at: 0, run_end: 0, before: None }
    }

    /// Advances to the next piece if this one is exhausted.
    fn fill(&mut self, interner: &mut Interner) {
        if self.at >= self.piece.tokens.len() && !self.piece.is_last() {
            self.before = self.last_read();
            if let Some(piece) = Rc::get_mut(&mut self.piece) {
                piece.advance(&self.file, PIECE, interner);
            }
            (self.at, self.run_end) = (0, 0);
        }
    }

    /// The next token, without consuming it.
    pub(super) fn peek(&mut self, interner: &mut Interner) -> Option<Tok> {
        self.fill(interner);
        self.piece.tokens.get(self.at).map(|token| self.shifted(token))
    }

    /// The next token.
    pub(super) fn next(&mut self, interner: &mut Interner) -> Option<Tok> {
        let token = self.peek(interner)?;
        self.at += 1;
        Some(token)
    }

    /// The next token, unless it starts a directive.
    pub(super) fn next_of_run(&mut self, interner: &mut Interner) -> Option<Tok> {
        self.fill(interner);
        if self.at >= self.run_end {
            self.run_end = self.piece.next_directive(self.at).unwrap_or(self.piece.tokens.len());
        }
        if self.at < self.run_end { self.next(interner) } else { None }
    }

    /// The next tokens, up to the next directive.
    pub(super) fn run(&self) -> &[Tok] {
        self.piece.tokens.get(self.at..self.run_end).unwrap_or_default()
    }

    /// Consumes this number of tokens of the run.
    pub(super) fn pass(&mut self, count: usize) {
        self.at += count;
    }

    /// Skips to the next directive, and consumes and returns its `#`.
    pub(super) fn next_directive(&mut self, interner: &mut Interner) -> Option<Tok> {
        loop {
            self.at = self.piece.next_directive(self.at).unwrap_or(self.piece.tokens.len());
            if self.at < self.piece.tokens.len() {
                return self.next(interner);
            }
            if self.piece.is_last() {
                return None;
            }
            if let Some(piece) = Rc::get_mut(&mut self.piece) {
                piece.skip_to_directive(&self.file, interner);
            }
            (self.at, self.run_end) = (0, 0);
        }
    }

    /// The next token, without consuming it, if it is on the same line as the last one.
    pub(super) fn peek_on_line(&self) -> Option<Tok> {
        let token = self.piece.tokens.get(self.at).filter(|token| !token.starts_line())?;
        Some(self.shifted(token))
    }

    /// Consumes the remaining tokens of the current line.
    pub(super) fn rest_of_line(&mut self) -> Vec<Tok> {
        let end = self.piece.line_end(self.at - 1);
        let line = self.piece.tokens[self.at..end].iter().map(|token| self.shifted(token)).collect();
        self.at = end;
        line
    }

    /// The span of the last consumed token.
    pub(super) fn last_read(&self) -> Option<Span> {
        let last = self.at.checked_sub(1).and_then(|last| self.piece.tokens.get(last));
        last.map(|token| token.span).or(self.before)
    }

    fn shifted(&self, token: &Tok) -> Tok {
        Tok { span: token.span.shifted(self.lo), ..*token }
    }
}
