//! What keeps a hostile source from taking all time and memory. Real programs stay far below.

use kiln_syntax::Span;

use super::{Preprocessor, token::Tok};
use crate::diag::{Code, Diagnostic};

/// Files may include each other so deep (the usual limit of C compilers).
pub(super) const INCLUDE_DEPTH: usize = 200;

/// Calls of macros may stand in arguments of calls so deep; each level is a call of ours.
pub(super) const ARGUMENT_DEPTH: usize = 200;

/// Parentheses, unary operators and conditionals of `#if` may nest so deep.
pub(super) const EXPRESSION_DEPTH: usize = 200;

/// What may still be used up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Tokens made by macros, what `#` and `##` spell by the letters that take as much memory as a token, and steps
    /// through hide sets by the hundred.
    pub(super) tokens: usize,
    /// Files entered, and bytes of their texts by the thousand.
    pub(super) includes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tokens: 4 << 20, includes: 1 << 18 }
    }
}

impl Preprocessor<'_> {
    /// Counts tokens that a macro is about to make: before they take memory.
    pub(super) fn spend(&mut self, tokens: usize, span: Span) {
        let steps = self.hide_sets.steps / 100;
        self.hide_sets.steps %= 100;
        match self.limits.tokens.checked_sub(tokens + steps) {
            Some(left) => self.limits.tokens = left,
            None => {
                let message = "the expansion of macros yields too many tokens";
                let diagnostic = Diagnostic::new(Code::MacroLimit, span, message);
                self.stop(
                    diagnostic
                        .help("a macro that uses another twice, which uses another twice, grows like this"),
                );
            }
        }
    }

    /// Counts the letters of a token that `#` or `##` made.
    pub(super) fn spend_text(&mut self, letters: usize, span: Span) {
        self.spend(letters / size_of::<Tok>(), span);
    }

    /// Counts a file that is entered.
    pub(super) fn spend_include(&mut self, bytes: usize, span: Span) {
        match self.limits.includes.checked_sub(1 + bytes / 1000) {
            Some(left) => self.limits.includes = left,
            None => {
                let message = "files are included too often";
                let diagnostic = Diagnostic::new(Code::IncludeDepth, span, message);
                self.stop(
                    diagnostic.help("put `#pragma once` at the beginning of files that are included often"),
                );
            }
        }
    }

    pub(super) fn out_of_positions(&mut self, span: Span) {
        let message = "the source with all that it includes and expands to is longer than 4 GiB";
        self.stop(Diagnostic::new(Code::MacroLimit, span, message));
    }

    /// Reports and reads no further.
    pub(super) fn stop(&mut self, diagnostic: Diagnostic) {
        if !self.stopped {
            self.sink.report(diagnostic);
        }
        self.stopped = true;
    }
}
