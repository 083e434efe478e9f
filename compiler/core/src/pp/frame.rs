//! A file that is being read: where in it, and which conditionals are open.
//!
//! Its tokens come in runs without directives.

use std::rc::Rc;

use super::{directive::Condition, file::LexedFile, token::Tok};
use crate::source::FileId;

/// A file that is being read.
pub(super) struct Frame {
    pub(super) file: Rc<LexedFile>,
    pub(super) id: FileId,
    /// Its first position.
    pub(super) lo: u32,
    /// Its next token.
    pub(super) at: usize,
    /// From the next token to this one, none begins a directive.
    run_end: usize,
    /// The `#if`s that are open in it.
    pub(super) conditions: Vec<Condition>,
}

impl Frame {
    /// At the beginning of a file whose first position is `lo`.
    pub(super) fn new(file: Rc<LexedFile>, id: FileId, lo: u32) -> Self {
        Self { file, id, lo, at: 0, run_end: 0, conditions: Vec::new() }
    }

    /// The next token, which is not read by this.
    pub(super) fn peek(&self) -> Option<Tok> {
        self.file.tokens.get(self.at).map(|token| self.place(token))
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Option<Tok> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    /// The next token, if it begins no directive.
    pub(super) fn next_of_run(&mut self) -> Option<Tok> {
        if self.at >= self.run_end {
            self.run_end = self.file.next_directive(self.at).unwrap_or(self.file.tokens.len());
        }
        if self.at < self.run_end { self.next() } else { None }
    }

    /// The tokens that come next and begin no directive, where they stand in the file.
    pub(super) fn run(&self) -> &[Tok] {
        self.file.tokens.get(self.at..self.run_end).unwrap_or_default()
    }

    pub(super) fn place(&self, token: &Tok) -> Tok {
        Tok { span: token.span.shifted(self.lo), ..*token }
    }
}
