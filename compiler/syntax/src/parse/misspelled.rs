//! Misspelled keywords, and the keywords of related languages.

use super::{
    adaptor::Terminal,
    candidates::{Candidate, insert},
    error::{SyntaxError, SyntaxErrorKind},
    repair::{Edit, EditKind},
    run::Stuck,
    scopes::NameKind,
    state::{Boundary, State},
};
use crate::{
    closest::closest,
    token::{Keyword, TokenKind},
};

/// The number of tokens before an error in which a misspelled keyword can be its cause, as in `whlie (i < 4) {`.
const WINDOW: usize = 12;

/// The minimum length of words that are compared with keywords.
const MIN_LENGTH: usize = 3;

/// Words of other languages, and the equivalent keyword. A word without one is removed.
const FOREIGN: [(&str, Language, Option<Keyword>); 9] = [
    ("__constant__", Language::Cuda, Some(Keyword::Constant)),
    ("__device__", Language::Cuda, None),
    ("__forceinline__", Language::Cuda, Some(Keyword::Inline)),
    ("__global__", Language::Cuda, Some(Keyword::Kernel)),
    ("__host__", Language::Cuda, None),
    ("__shared__", Language::Cuda, Some(Keyword::Local)),
    ("groupshared", Language::Hlsl, Some(Keyword::Local)),
    ("threadgroup", Language::Metal, Some(Keyword::Local)),
    ("device", Language::Metal, Some(Keyword::Global)),
];

/// A related language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// CUDA C++
    Cuda,
    /// HLSL
    Hlsl,
    /// The Metal shading language
    Metal,
}

/// Replacements of undeclared names near the error by keywords, the nearest to the error first.
pub(super) fn misspelled(state: &State<'_, '_>, start: Boundary, stuck: &Stuck) -> Vec<Candidate> {
    let first = start.position.token.max(stuck.token.saturating_sub(WINDOW));
    let end = (stuck.token + 1).min(state.tokens.len());
    (first..end).rev().filter_map(|at| replaced(state, start, stuck, at)).collect()
}

fn replaced(state: &State<'_, '_>, start: Boundary, stuck: &Stuck, at: usize) -> Option<Candidate> {
    let token = state.tokens[at];
    let TokenKind::Name(name) = token.kind else { return None };
    if state.scopes.borrow().kind(name) != NameKind::Unknown {
        return None;
    }
    let text = state.text(token.span);
    let remove = Edit { at, kind: EditKind::Remove(1) };
    let (edits, kind) = match FOREIGN.iter().find(|(word, ..)| *word == text) {
        Some(&(_, language, keyword)) => {
            let mut edits = vec![remove];
            edits.extend(keyword.map(|keyword| insert(at + 1, Terminal::Keyword(keyword))));
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
    Some(Candidate { start, edits, end: stuck.token, error: SyntaxError { span: token.span, kind } })
}
