//! Messages for `else` without `if`.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::Span;

use super::{
    common_mistakes::ErrorContext,
    words::{closing, mask_literals_and_comments},
};

impl ErrorContext<'_> {
    /// `if (n > 0) a(); b(); else c();`, where `condition` is the `if`: the statements need braces. With a single
    /// statement or a block, a `;` ends the `if`.
    pub(super) fn stray_else(&self, condition: Span) -> Option<Diagnostic> {
        let word = self.range_in_file(condition)?;
        let between = mask_literals_and_comments(&self.text[word.end..self.at.start]);
        let open = between.find('(')?;
        let condition_end = closing(&between[open..])? + open + 1;
        let start = word.end + condition_end;
        let code = &between[condition_end..];
        let branch = &self.text[start..self.at.start];
        if let Some(at) = semicolon(code.trim()) {
            let at = start + (code.len() - code.trim_start().len()) + at;
            let span = self.span_of(at..at + 1);
            let diagnostic = Diagnostic::new(Code::Syntax, span, "this `;` ends the `if` before its `else`")
                .also(self.span, "the `else`");
            return Some(diagnostic.help("remove the `;`").remove(span, "remove `;`"));
        }
        let end = match branch.contains('\n') {
            true => format!("\n{}}} ", self.indentation(word.start)),
            false => " } ".to_owned(),
        };
        let replacement = format!(" {{{}{end}", branch.trim_end());
        let span = self.span_of(start..self.at.start);
        Some(
            self.report("this `else` has no `if`")
                .also(condition, "this `if` ends after one statement")
                .help("the statements between `if` and `else` need braces around them")
                .fix(span, "write `{` and `}` around them", replacement),
        )
    }

    /// The white space at the start of the line of this position.
    fn indentation(&self, at: usize) -> &str {
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[line..at];
        &line[..line.len() - line.trim_start().len()]
    }
}

/// A `;` between the condition and its only statement, or after its block.
fn semicolon(body: &str) -> Option<usize> {
    if let Some(rest) = body.strip_prefix(';') {
        let rest = rest.trim();
        let is_block = rest.starts_with('{') && closing(rest) == Some(rest.len() - 1);
        let is_statement = rest.ends_with(';') && rest.matches([';', '{']).count() == 1;
        return (is_block || is_statement).then_some(0);
    }
    let block = body.strip_suffix(';')?.trim_end();
    (block.starts_with('{') && closing(block) == Some(block.len() - 1)).then_some(body.len() - 1)
}
