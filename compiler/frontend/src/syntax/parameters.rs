//! Messages for parameters whose name is a keyword.

use std::ops::Range;

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::token::Keyword;

use super::{
    common_mistakes::ErrorContext,
    words::{closing, enclosing, last_word, mask_literals_and_comments},
};

impl ErrorContext<'_> {
    /// `void f(int local) { g(local); }`: the error is at a use of the name. Also returns the range of the name.
    pub(super) fn keyword_as_parameter(&self) -> Option<(Range<usize>, Diagnostic)> {
        let keyword = &self.text[self.at.clone()];
        let ahead = &self.text[..self.at.start];
        let name = ahead
            .rmatch_indices(keyword)
            .map(|(at, _)| at..at + keyword.len())
            .find(|range| self.is_last_in_parameter(range))?;
        let message = format!("`{keyword}` is a keyword and cannot be a name");
        let diagnostic = Diagnostic::new(Code::Syntax, self.span_of(name.clone()), message)
            .help("choose another name")
            .also(self.span, "a use of it");
        Some((name, diagnostic))
    }

    /// Whether this word is the last one of a parameter of the function that contains the error.
    fn is_last_in_parameter(&self, word: &Range<usize>) -> bool {
        let (ahead, behind) = (&self.text[..word.start], self.text[word.end..].trim_start());
        let Some(open) = enclosing(ahead).filter(|&open| ahead[open..].starts_with('(')) else {
            return false;
        };
        let function = last_word(ahead[..open].trim_end());
        let is_function = !function.is_empty() && !Keyword::ALL.iter().any(|(word, _)| *word == function);
        let first = ahead.rfind([',', '(']).map_or(open, |at| at.max(open));
        let has_type = ahead.ends_with([' ', '*', '\t', '\n']) && !ahead[first + 1..].trim().is_empty();
        if !(is_function && has_type && behind.starts_with([',', ')'])) {
            return false;
        }
        let code = mask_literals_and_comments(&self.text[open..self.at.start]);
        let Some(close) = closing(&code) else { return false };
        let body = code[close + 1..].trim_start();
        body.starts_with('{') && closing(body).is_none()
    }

    /// `int f(int a, int b = 2)`: the name of the function. The error is at the `=`.
    pub(super) fn function_of_parameter(&self) -> Option<&str> {
        let open = enclosing(self.before())?;
        Some(last_word(self.text[..open].trim_end())).filter(|name| !name.is_empty())
    }
}
