//! Limits that bound time and memory for hostile sources. Real programs stay far below them.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;

use super::{Preprocessor, token::Tok};

/// Maximum include depth (the usual limit of C compilers).
pub(super) const INCLUDE_DEPTH: usize = 200;

/// Maximum nesting of macro calls inside macro arguments. Each level is a recursive call.
pub(super) const ARGUMENT_DEPTH: usize = 200;

/// Maximum nesting of parentheses, unary operators and conditional operators in `#if`.
pub(super) const EXPRESSION_DEPTH: usize = 200;

/// Remaining budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Tokens produced by macros. The output of `#` and `##` counts by its length; a hundred steps through hide sets count as
    /// one token.
    pub(super) tokens: usize,
    /// Files entered, and thousands of bytes of their texts.
    pub(super) includes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tokens: 4 << 20, includes: 1 << 18 }
    }
}

impl Preprocessor<'_> {
    /// Counts tokens before a macro produces them.
    pub(super) fn spend(&mut self, tokens: usize, span: Span) {
        let steps = self.hide_sets.steps / 100;
        self.hide_sets.steps %= 100;
        match self.limits.tokens.checked_sub(tokens + steps) {
            Some(left) => self.limits.tokens = left,
            None => {
                let message = "the expansion of macros yields too many tokens";
                let diagnostic = Diagnostic::new(Code::MacroLimit, span, message);
                self.stop(diagnostic.help(
                    "macros that use each other several times can expand to exponentially many tokens",
                ));
            }
        }
    }

    /// Counts the length of a token that `#` or `##` produces.
    pub(super) fn spend_text(&mut self, length: usize, span: Span) {
        self.spend(length / size_of::<Tok>(), span);
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
        let message = "the source, with included files and expanded macros, is longer than 4 GiB";
        self.stop(Diagnostic::new(Code::MacroLimit, span, message));
    }

    /// Reports an error and stops reading.
    pub(super) fn stop(&mut self, diagnostic: Diagnostic) {
        if !self.stopped {
            self.sink.report(diagnostic);
        }
        self.stopped = true;
    }
}
