//! The operators `#` and `##` (C99 6.10.3.2, 6.10.3.3).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{
    Span,
    lex::{Lexeme, Lexer},
};

use super::{
    Preprocessor,
    file::kind,
    piece::is_digraph,
    substitute::Call,
    token::{Flags, Kind, Tok},
};

impl Preprocessor<'_> {
    /// C99 6.10.3.3: joins the tokens at `at - 1` and `at`.
    pub(super) fn paste(&mut self, result: &mut Vec<Tok>, at: usize, span: Span, call: &Call) {
        let (Some(left), Some(right)) = (at.checked_sub(1).map(|left| result[left]), result.get(at).copied())
        else {
            return;
        };
        let glued = match (left.kind, right.kind) {
            (_, Kind::Placemarker) => left,
            (Kind::Placemarker, _) => right.spaced_as(left.flags),
            _ => {
                let text = format!("{}{}", left.spelling(self.interner), right.spelling(self.interner));
                self.spend_text(text.len(), call.span);
                let Some((kind, digraph)) = self.single(&text) else {
                    let message = format!("`{text}`, made by `##`, is not a single token");
                    let diagnostic = Diagnostic::new(Code::MacroPaste, span, message);
                    self.sink.report(diagnostic.note("C99 6.10.3.3"));
                    // Keep both tokens; that is usually the intention. Do not report another error for them.
                    result.insert(at, Tok { kind: Kind::Reported, ..right });
                    return;
                };
                let common = self.hide_sets.intersection(left.hide, right.hide);
                let hide = self.hide_sets.union(common, call.hide);
                Tok { kind, span, hide, flags: left.flags.with(Flags::DIGRAPH, digraph) }
            }
        };
        result[at - 1] = glued;
        result.remove(at);
    }

    /// The token for a text, if it is exactly one token, and whether it is a digraph.
    fn single(&mut self, text: &str) -> Option<(Kind, bool)> {
        let mut lexer = Lexer::new(text);
        let first = lexer.next()?;
        let whole = first.start == 0 && first.end as usize == text.len();
        if !whole || lexer.next().is_some() {
            return None;
        }
        let digraph = match first.lexeme {
            Lexeme::Unterminated | Lexeme::UnterminatedComment | Lexeme::Unknown => return None,
            Lexeme::Punct(punct) => is_digraph(punct, text),
            _ => false,
        };
        Some((kind(first.lexeme, text, self.interner), digraph))
    }

    /// C99 6.10.3.2
    pub(super) fn stringize(&self, tokens: &[Tok]) -> String {
        let mut text = String::from("\"");
        for (index, token) in tokens.iter().enumerate() {
            if index != 0 && token.flags.is_spaced() {
                text.push(' ');
            }
            let spelling = token.spelling(self.interner);
            match token.kind {
                Kind::String(_) | Kind::Character(_) | Kind::Unterminated(_) => {
                    for c in spelling.chars() {
                        if matches!(c, '"' | '\\') {
                            text.push('\\');
                        }
                        text.push(c);
                    }
                }
                _ => text.push_str(spelling),
            }
        }
        // A trailing backslash would escape the closing quote.
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            text.pop();
        }
        text.push('"');
        text
    }
}
