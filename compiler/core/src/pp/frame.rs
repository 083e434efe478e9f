//! A file that is being read: where in it, and which conditionals are open.
//!
//! Its tokens come in runs without directives. Knows nothing of what a directive does.

use std::rc::Rc;

use kiln_syntax::{Interner, Span};

use super::{directive::Condition, file::SourceFile, piece::Piece, token::Tok};
use crate::source::FileId;

/// So many tokens of a file are lexed at a time; tests have each line by itself.
const PIECE: usize = if cfg!(test) { 1 } else { 1024 };

/// A file that is being read.
pub(super) struct Frame {
    pub(super) file: Rc<SourceFile>,
    pub(super) id: FileId,
    /// Its first position.
    pub(super) lo: u32,
    /// The `#if`s that are open in it.
    pub(super) conditions: Vec<Condition>,
    /// The part of it in which its next token stands; shared if it is all of it.
    pub(super) piece: Rc<Piece>,
    /// The place in the piece of the next token.
    at: usize,
    /// From the next token to this one, none begins a directive.
    run_end: usize,
    /// Where in the file the last token before the piece stands.
    before: Option<Span>,
}

impl Frame {
    /// At the beginning of a file whose first position is `lo`.
    pub(super) fn new(file: Rc<SourceFile>, id: FileId, lo: u32, piece: Rc<Piece>) -> Self {
        Self { file, id, lo, conditions: Vec::new(), piece, at: 0, run_end: 0, before: None }
    }

    /// Goes on to the next piece if this one is used up.
    fn fill(&mut self, interner: &mut Interner) {
        if self.at >= self.piece.tokens.len() && !self.piece.is_last() {
            self.before = self.last_read();
            if let Some(piece) = Rc::get_mut(&mut self.piece) {
                piece.read_on(&self.file, PIECE, interner);
            }
            (self.at, self.run_end) = (0, 0);
        }
    }

    /// The next token, which is not read by this.
    pub(super) fn peek(&mut self, interner: &mut Interner) -> Option<Tok> {
        self.fill(interner);
        self.piece.tokens.get(self.at).map(|token| self.place(token))
    }

    /// The next token.
    pub(super) fn next(&mut self, interner: &mut Interner) -> Option<Tok> {
        let token = self.peek(interner)?;
        self.at += 1;
        Some(token)
    }

    /// The next token, if it begins no directive.
    pub(super) fn next_of_run(&mut self, interner: &mut Interner) -> Option<Tok> {
        self.fill(interner);
        if self.at >= self.run_end {
            self.run_end = self.piece.next_directive(self.at).unwrap_or(self.piece.tokens.len());
        }
        if self.at < self.run_end { self.next(interner) } else { None }
    }

    /// Tokens that come next and begin no directive, where they stand in the file.
    pub(super) fn run(&self) -> &[Tok] {
        self.piece.tokens.get(self.at..self.run_end).unwrap_or_default()
    }

    /// Passes over so many tokens of the run.
    pub(super) fn pass(&mut self, count: usize) {
        self.at += count;
    }

    /// Passes over what stands before the next directive, and its `#`, which this gives.
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
                piece.skip_on(&self.file, interner);
            }
            (self.at, self.run_end) = (0, 0);
        }
    }

    /// The next token, which is not read by this, if it stands on the line of the one before it.
    pub(super) fn peek_on_line(&self) -> Option<Tok> {
        let token = self.piece.tokens.get(self.at).filter(|token| !token.starts_line())?;
        Some(self.place(token))
    }

    /// The tokens to the end of the line in which the last token stands, which are read by this.
    pub(super) fn rest_of_line(&mut self) -> Vec<Tok> {
        let end = self.piece.line_end(self.at - 1);
        let line = self.piece.tokens[self.at..end].iter().map(|token| self.place(token)).collect();
        self.at = end;
        line
    }

    /// Where in the file the token stands that was read last.
    pub(super) fn last_read(&self) -> Option<Span> {
        let last = self.at.checked_sub(1).and_then(|last| self.piece.tokens.get(last));
        last.map(|token| token.span).or(self.before)
    }

    fn place(&self, token: &Tok) -> Tok {
        Tok { span: token.span.shifted(self.lo), ..*token }
    }
}
