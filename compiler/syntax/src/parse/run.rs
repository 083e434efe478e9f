//! One run of the generated parser over the edited input, from one item on.

use lalrpop_util::ParseError;

use super::{
    adaptor::{Adaptor, Stop, Terminal},
    grammar::UnitParser,
    repair::Edit,
    state::{Boundary, State},
};

/// How a run ended.
pub(super) enum Outcome {
    /// At the end of the input or at the horizon.
    Done,
    /// Brackets or operators nest too deep at this token.
    TooDeep(usize),
    /// The grammar has no use for what stands here.
    Stuck(Stuck),
}

/// Where and why a run stopped.
pub(super) struct Stuck {
    /// The token; behind the last at the end of the input.
    pub(super) token: usize,
    /// What the grammar saw there; nothing at the end of the input.
    pub(super) terminal: Option<Terminal>,
    /// What it would have taken, by the grammar's names.
    pub(super) expected: Vec<String>,
}

impl Stuck {
    /// Whether the grammar would have taken the terminal of this name.
    pub(super) fn expects(&self, name: &str) -> bool {
        self.expected.iter().any(|expected| expected == name)
    }
}

/// Reads from `start` up to before the token `horizon`. Items that become complete are in the state.
pub(super) fn run(state: &State<'_>, edits: &[Edit], start: Boundary, horizon: usize) -> Outcome {
    rewind(state, start);
    let result = UnitParser::new().parse(state, Adaptor::new(state, edits, start.place, horizon));
    let token = state.looking_at.get().token;
    match result {
        Ok(()) | Err(ParseError::User { error: Stop::Horizon }) => Outcome::Done,
        Err(ParseError::User { error: Stop::TooDeep }) => Outcome::TooDeep(token),
        Err(ParseError::UnrecognizedToken { token: (_, terminal, _), expected }) => {
            Outcome::Stuck(Stuck { token, terminal: Some(terminal), expected: unquoted(expected) })
        }
        Err(ParseError::UnrecognizedEof { expected, .. }) => {
            Outcome::Stuck(Stuck { token, terminal: None, expected: unquoted(expected) })
        }
        Err(ParseError::InvalidToken { .. } | ParseError::ExtraToken { .. }) => {
            Outcome::Stuck(Stuck { token, terminal: None, expected: vec![] })
        }
    }
}

/// Goes back to the boundary.
pub(super) fn rewind(state: &State<'_>, to: Boundary) {
    state.items.borrow_mut().truncate(to.items);
    state.past.borrow_mut().truncate(to.items);
    state.leave(to.scopes);
    *state.nesting.borrow_mut() = Default::default();
    state.boundary.set(to);
    state.looking_at.set(to.place);
}

fn unquoted(names: Vec<String>) -> Vec<String> {
    names.into_iter().map(|name| name.trim_matches('"').to_owned()).collect()
}
