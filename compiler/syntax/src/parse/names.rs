//! Errors with names and types: a name that is not a type, a type used as a value, or a missing type.

use super::{
    adaptor::Terminal,
    candidates::insert,
    error::{SyntaxError, SyntaxErrorKind},
    repair::{Edit, EditKind},
    run::Rejection,
    scopes::NameKind,
    state::{Boundary, State},
};
use crate::{
    span::Span,
    symbol::Symbol,
    token::{Punct, Token, TokenKind},
};

/// An edit of a name, and the error that it implies.
type Change = (Edit, SyntaxError);

fn name_at(state: &State<'_, '_>, at: usize) -> Option<(Symbol, Span)> {
    match state.tokens.get(at) {
        Some(&Token { kind: TokenKind::Name(name), span }) => Some((name, span)),
        _ => None,
    }
}

fn classify(at: usize, terminal: Terminal) -> Edit {
    Edit { at, kind: EditKind::Classify(terminal) }
}

/// `float4(1, 2, 3, 4)`
pub(super) fn type_as_value(state: &State<'_, '_>, rejection: &Rejection) -> Option<Change> {
    let (name, span) = name_at(state, rejection.token)?;
    let error = SyntaxError { span, kind: SyntaxErrorKind::TypeAsValue(name) };
    (rejection.terminal == Some(Terminal::Type))
        .then_some((classify(rejection.token, Terminal::Variable), error))
}

/// A name that is parsed as a type: `foo *x` at program scope, `foo x`, `(foo)x` and `(foo *)x`.
pub(super) fn unknown_type(
    state: &State<'_, '_>,
    start: Boundary,
    rejection: &Rejection,
    kind: NameKind,
) -> impl Iterator<Item = Change> {
    let at = rejection.token;
    let here = rejection.terminal == Some(Terminal::Variable) && !ends_declaration(state.tokens.get(at + 1));
    let nearest = at.saturating_sub(2).max(start.position.token);
    (nearest..at + usize::from(here)).rev().filter_map(move |before| {
        let (name, span) = name_at(state, before)?;
        let error = SyntaxError { span, kind: SyntaxErrorKind::UnknownType(name) };
        (state.scopes.borrow().kind(name) == kind).then_some((classify(before, Terminal::Type), error))
    })
}

/// Whether a declaration that consists of a type ends before this token: it would declare nothing.
fn ends_declaration(token: Option<&Token>) -> bool {
    matches!(token, None | Some(Token { kind: TokenKind::Punct(Punct::Semicolon | Punct::Equal), .. }))
}

/// `const x = 1;`, or `f() { }` at program scope
pub(super) fn missing_type(state: &State<'_, '_>, rejection: &Rejection) -> Option<Change> {
    let (name, span) = name_at(state, rejection.token)?;
    let error = SyntaxError { span, kind: SyntaxErrorKind::MissingType(name) };
    let missing = rejection.terminal == Some(Terminal::Variable) && rejection.expects("TYPE");
    missing.then_some((insert(rejection.token, Terminal::MissingType), error))
}
