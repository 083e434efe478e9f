//! Mends what the grammar cannot read. A mistake becomes an edit of the input (something put in, something left
//! out), and the item that holds it is read again: the edit that lets the parser read farthest wins. So the
//! grammar holds no rules for wrong input, scopes are right after every mistake, and one mistake rarely shows
//! as two.

use super::{
    adaptor::Terminal,
    candidates::{self, Candidate},
    error::{SyntaxError, SyntaxErrorKind},
    run::{self, Outcome, Stuck},
    state::{Boundary, State},
};
use crate::symbol::Symbol;

/// A change of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// Before which token.
    pub(super) at: usize,
    /// What.
    pub(super) kind: EditKind,
}

/// The sorts of change.
#[derive(Clone, Copy, Debug)]
pub(super) enum EditKind {
    /// Put this in.
    Insert(Terminal),
    /// Leave out so many tokens.
    Remove(usize),
    /// The name here is a type (or a value) whatever declares it.
    Classify(Terminal),
}

/// Beyond so many mistakes the items that hold more are left out, silently.
const MAX_MISTAKES: usize = 64;

/// How many tokens behind a mistake a trial looks at.
const HORIZON: usize = 40;

/// How many tokens behind a mistake an edit must make readable to be believed.
const ENOUGH: usize = 3;

/// Reads the whole input; gives the mistakes.
pub(super) fn parse(state: &State<'_>) -> Vec<SyntaxError> {
    let mut repair =
        Repair { state, start: Boundary::default(), edits: vec![], errors: vec![], unknown_types: vec![] };
    repair.start.scopes = state.enter();
    let mut mistakes = 0;
    loop {
        let outcome = run::run(state, &repair.edits, repair.start, usize::MAX);
        repair.advance();
        match outcome {
            Outcome::Done => return repair.errors,
            Outcome::TooDeep(token) => {
                let span = state.tokens[token].span;
                repair.errors.push(SyntaxError { span, kind: SyntaxErrorKind::Nesting });
                repair.skip_item(token);
            }
            Outcome::Stuck(stuck) => {
                mistakes += 1;
                if mistakes <= MAX_MISTAKES {
                    repair.mend(&stuck);
                } else {
                    repair.skip_item(stuck.token);
                }
            }
        }
    }
}

struct Repair<'s, 'a> {
    state: &'s State<'a>,
    /// Where the item with the mistake begins.
    start: Boundary,
    /// The changes from there on, in the order of places.
    edits: Vec<Edit>,
    errors: Vec<SyntaxError>,
    /// Names that stood in the places of types: one report of each is enough.
    unknown_types: Vec<Symbol>,
}

impl Repair<'_, '_> {
    /// Leaves behind what is read.
    fn advance(&mut self) {
        let boundary = self.state.boundary.get();
        if boundary.place.token > self.start.place.token {
            // In the items to come the unknown types are types, so that they are not stumbled over again.
            for &name in &self.unknown_types {
                self.state.assume_type(name);
            }
        }
        self.start = boundary;
        self.edits.drain(..self.start.place.edit);
        self.start.place.edit = 0;
    }

    /// Applies the candidate that makes the most readable, and reports it.
    fn mend(&mut self, stuck: &Stuck) {
        let small = candidates::small(self.state, self.start, stuck);
        let chosen = self.best(stuck, small, stuck.token + ENOUGH).or_else(|| {
            let large = candidates::skips(self.state, self.start, stuck);
            large.into_iter().find_map(|level| self.best(stuck, level, stuck.token + 1))
        });
        match chosen {
            Some(candidate) => {
                self.report(candidate.error);
                self.edits = self.with(&candidate.edits);
            }
            None => {
                self.report(candidates::general_error(self.state, stuck));
                self.skip_item(stuck.token);
            }
        }
    }

    fn report(&mut self, error: SyntaxError) {
        if let SyntaxErrorKind::UnknownType(name) = error.kind {
            if self.unknown_types.contains(&name) {
                return;
            }
            self.unknown_types.push(name);
        }
        self.errors.push(error);
    }

    /// The first of the candidates that lets the parser read farthest, if that is at least up to `least`.
    fn best(&self, stuck: &Stuck, candidates: Vec<Candidate>, least: usize) -> Option<Candidate> {
        let horizon = stuck.token + HORIZON;
        let mut best = None;
        let mut farthest = least.saturating_sub(1);
        for candidate in candidates {
            let reach = match run::run(self.state, &self.with(&candidate.edits), self.start, horizon) {
                Outcome::Done => usize::MAX,
                Outcome::TooDeep(token) => token,
                Outcome::Stuck(stuck) => stuck.token,
            };
            if reach > farthest {
                farthest = reach;
                best = Some(candidate);
            }
            if reach == usize::MAX {
                break;
            }
        }
        best
    }

    /// The edits with some more.
    fn with(&self, more: &[Edit]) -> Vec<Edit> {
        let mut edits = self.edits.clone();
        for &edit in more {
            if let EditKind::Remove(count) = edit.kind {
                let removed = edit.at..edit.at + count;
                edits.retain(|earlier| match earlier.kind {
                    EditKind::Insert(_) => earlier.at == edit.at || !removed.contains(&earlier.at),
                    _ => !removed.contains(&earlier.at),
                });
            }
            let behind = edits.partition_point(|earlier| {
                earlier.at < edit.at
                    || earlier.at == edit.at && !matches!(earlier.kind, EditKind::Classify(_))
            });
            edits.insert(behind, edit);
        }
        edits
    }

    /// Leaves out the whole item with the mistake.
    fn skip_item(&mut self, mistake: usize) {
        let start = self.start.place.token;
        self.edits = candidates::skip(start, candidates::item_end(self.state.tokens, start, mistake));
    }
}
