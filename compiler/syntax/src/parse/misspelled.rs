//! Misspelled keywords, and the keywords of related languages.

use super::{
    adaptor::Terminal,
    candidates::{Candidate, insert},
    error::{SyntaxError, SyntaxErrorKind},
    repair::{Edit, EditKind},
    run::Rejection,
    scopes::NameKind,
    state::{Boundary, State},
};
use crate::{
    closest::closest,
    token::{Keyword, Punct, TokenKind},
};

/// The number of tokens before an error in which a misspelled keyword can be its cause, as in `whlie (i < 4) {`.
const WINDOW: usize = 12;

/// The minimum length of words that are compared with keywords.
const MIN_LENGTH: usize = 3;

/// Words of other languages, and the equivalent keyword. A word without one is removed.
const FOREIGN: [(&str, Language, Option<Keyword>); 15] = [
    ("__block", Language::ObjectiveC, None),
    ("__constant__", Language::Cuda, Some(Keyword::Constant)),
    ("__device__", Language::Cuda, None),
    ("__forceinline__", Language::Cuda, Some(Keyword::Inline)),
    ("__global__", Language::Cuda, Some(Keyword::Kernel)),
    ("__host__", Language::Cuda, None),
    ("__launch_bounds__", Language::Cuda, None),
    ("__noinline__", Language::Cuda, None),
    ("__shared__", Language::Cuda, Some(Keyword::Local)),
    ("groupshared", Language::Hlsl, Some(Keyword::Local)),
    ("in", Language::Glsl, None),
    ("inout", Language::Glsl, None),
    ("shared", Language::Glsl, Some(Keyword::Local)),
    ("threadgroup", Language::Metal, Some(Keyword::Local)),
    ("device", Language::Metal, Some(Keyword::Global)),
];

/// A language whose words programs use by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// CUDA C++
    Cuda,
    /// GLSL
    Glsl,
    /// HLSL
    Hlsl,
    /// The Metal shading language
    Metal,
    /// Objective-C, and C with Apple's blocks
    ObjectiveC,
}

/// Replacements of undeclared names near the error by keywords, the nearest to the error first.
pub(super) fn misspelled(state: &State<'_, '_>, start: Boundary, rejection: &Rejection) -> Vec<Candidate> {
    let first = start.position.token.max(rejection.token.saturating_sub(WINDOW));
    let end = (rejection.token + 1).min(state.tokens.len());
    (first..end).rev().filter_map(|at| replaced(state, start, rejection, at)).collect()
}

/// The replacement of the undeclared name at `at`: by the equivalent of a word of another language, or by a keyword
/// with similar spelling.
fn replaced(state: &State<'_, '_>, start: Boundary, rejection: &Rejection, at: usize) -> Option<Candidate> {
    let token = state.tokens[at];
    let TokenKind::Name(name) = token.kind else { return None };
    if state.scopes.borrow().kind(name) != NameKind::Unknown {
        return None;
    }
    let text = state.text(token.span);
    let mut span = token.span;
    let mut remove = Edit { at, kind: EditKind::Remove(1) };
    let (edits, kind) = match FOREIGN.iter().find(|(word, ..)| *word == text) {
        // It is a name in this version of the language, because the lexer returns other keywords as such.
        None if text == Keyword::Pipe.spelling() => {
            let edits = vec![remove, insert(at + 1, Terminal::Keyword(Keyword::Pipe))];
            (edits, SyntaxErrorKind::Misspelled { name, keyword: Keyword::Pipe })
        }
        Some(&(word, language, mut keyword)) => {
            let before = at.checked_sub(1).map(|before| state.tokens[before].kind);
            let is_parameter = matches!(before, Some(TokenKind::Punct(Punct::OpenParen | Punct::Comma)));
            if word == "__global__" && is_parameter {
                keyword = Some(Keyword::Global);
            }
            if word == "__launch_bounds__" {
                let close = closing(state, at + 1)?;
                span.hi = state.tokens[close].span.hi;
                remove.kind = EditKind::Remove(close + 1 - at);
            }
            let end = at + if let EditKind::Remove(count) = remove.kind { count } else { 1 };
            let mut edits = vec![remove];
            edits.extend(keyword.map(|keyword| insert(end, Terminal::Keyword(keyword))));
            (edits, SyntaxErrorKind::Foreign { name, language, keyword })
        }
        None if text.len() >= MIN_LENGTH => {
            let words = Keyword::ALL.iter().map(|(word, _)| *word).filter(|word| word.len() >= MIN_LENGTH);
            let near = closest(text, words)?;
            let (_, keyword) = *Keyword::ALL.iter().find(|(word, _)| *word == near)?;
            let edits = vec![remove, insert(at + 1, Terminal::Keyword(keyword))];
            (edits, SyntaxErrorKind::Misspelled { name, keyword })
        }
        None => return None,
    };
    Some(Candidate { start, edits, end: rejection.token, error: SyntaxError { span, kind } })
}

/// The parenthesis that closes the one at this token.
fn closing(state: &State<'_, '_>, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in state.tokens.iter().enumerate().skip(open).take(WINDOW) {
        match token.kind {
            TokenKind::Punct(Punct::OpenParen) => depth += 1,
            TokenKind::Punct(Punct::CloseParen) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > open).then_some(at);
        }
    }
    None
}
