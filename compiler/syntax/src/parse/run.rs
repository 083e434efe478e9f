//! One run of the parser over the edited input, from one item on.

use super::{
    adaptor::{Adaptor, Stop, Terminal},
    machine::{self, Halt, Stack},
    repair::Edit,
    state::{Boundary, Place, State},
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
    stack: Stack,
}

impl Stuck {
    /// Whether the grammar would have taken the terminal of this name.
    pub(super) fn expects(&self, name: &str) -> bool {
        self.stack.takes(name)
    }

    /// Whether it would have taken this one and no other.
    pub(super) fn expects_only(&self, name: &str) -> bool {
        self.stack.takes_only(name)
    }

    /// Whether these edits, of which none stands before the token, let the grammar read on for so many tokens. Only
    /// right as long as the state is as the run left it.
    pub(super) fn is_mended_by(&self, state: &State<'_, '_>, edits: &[Edit], tokens: usize) -> bool {
        let start = Place { token: self.token, edit: 0 };
        // Of a name, the grammar has taken the first half.
        let is_inside = matches!(self.terminal, Some(Terminal::Type | Terminal::Variable));
        is_inside || self.stack.takes_all(state, Adaptor::new(state, edits, start, self.token + tokens))
    }
}

/// Reads from `start` up to before the token `horizon`. Items that become complete are in the state.
pub(super) fn run(state: &State<'_, '_>, edits: &[Edit], start: Boundary, horizon: usize) -> Outcome {
    rewind(state, start);
    let halt = machine::drive(state, Adaptor::new(state, edits, start.place, horizon));
    let token = state.looking_at.get().token;
    match halt {
        Halt::Accepted | Halt::Stopped(Stop::Horizon) => Outcome::Done,
        Halt::Stopped(Stop::TooDeep) => Outcome::TooDeep(token),
        Halt::Refused(terminal, stack) => Outcome::Stuck(Stuck { token, terminal, stack }),
    }
}

/// Goes back to the boundary.
pub(super) fn rewind(state: &State<'_, '_>, to: Boundary) {
    state.items.borrow_mut().truncate(to.items);
    state.past.borrow_mut().truncate(to.items);
    state.leave(to.scopes);
    state.nesting.borrow_mut().begin();
    state.boundary.set(to);
    state.looking_at.set(to.place);
}
