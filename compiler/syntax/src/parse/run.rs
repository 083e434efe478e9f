//! One run of the parser over the edited input, starting at an item.

use super::{
    adaptor::{Adaptor, Stop, Terminal},
    machine::{self, Halt, Stack},
    repair::Edit,
    state::{Boundary, Position, State},
};

/// How a run ended.
pub(super) enum Outcome {
    /// The end of the input, or the horizon.
    Done,
    /// Brackets or operators nest too deep at this token.
    TooDeep(usize),
    /// The grammar does not accept the next terminal.
    Rejected(Rejection),
}

/// Where and why a run stopped.
pub(super) struct Rejection {
    /// The index of the token; the number of tokens at the end of the input.
    pub(super) token: usize,
    /// The terminal. `None` at the end of the input.
    pub(super) terminal: Option<Terminal>,
    stack: Stack,
}

impl Rejection {
    /// Whether the grammar would have accepted this terminal.
    pub(super) fn expects(&self, name: &str) -> bool {
        self.stack.accepts(name)
    }

    /// Whether it would have accepted only this terminal.
    pub(super) fn expects_only(&self, name: &str) -> bool {
        self.stack.accepts_only(name)
    }

    /// Whether the grammar accepts this number of tokens from the error on after these edits. No edit may precede the
    /// error, and the state must be unchanged since the run.
    pub(super) fn is_repaired_by(&self, state: &State<'_, '_>, edits: &[Edit], tokens: usize) -> bool {
        let start = Position { token: self.token, edit: 0 };
        // The grammar has consumed the first terminal of a name.
        let is_inside = matches!(self.terminal, Some(Terminal::Type | Terminal::Variable));
        is_inside
            || self.stack.accepts_sequence(state, Adaptor::new(state, edits, start, self.token + tokens))
    }
}

/// Parses from `start` up to the token `horizon`, exclusive. Complete items are stored in the state.
pub(super) fn run(state: &State<'_, '_>, edits: &[Edit], start: Boundary, horizon: usize) -> Outcome {
    rewind(state, start);
    let halt = machine::drive(state, Adaptor::new(state, edits, start.position, horizon));
    let token = state.looking_at.get().token;
    match halt {
        Halt::Accepted | Halt::Stopped(Stop::Horizon) => Outcome::Done,
        Halt::Stopped(Stop::TooDeep) => Outcome::TooDeep(token),
        Halt::Rejected(terminal, stack) => Outcome::Rejected(Rejection { token, terminal, stack }),
    }
}

/// Restores the state at the boundary.
pub(super) fn rewind(state: &State<'_, '_>, to: Boundary) {
    state.items.borrow_mut().truncate(to.items);
    state.past.borrow_mut().truncate(to.items);
    state.leave(to.scopes);
    state.nesting.borrow_mut().begin();
    state.boundary.set(to);
    state.looking_at.set(to.position);
}
