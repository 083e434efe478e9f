//! Error recovery. An error becomes an edit of the input (an insertion or a deletion), and the enclosing item is
//! parsed again. The edit with which the parser gets the farthest is selected. The grammar therefore needs no rules for
//! invalid input, scopes are correct after every error, and an error rarely causes others.

use std::{cell::Cell, ops::RangeInclusive};

use super::{
    RepairedRange,
    adaptor::Terminal,
    brackets::{self, statement_begins},
    candidates::{self, Candidate},
    error::{SyntaxError, SyntaxErrorKind},
    explain,
    misspelled::misspelled,
    run::{self, Outcome, Rejection},
    state::{Boundary, State},
    structure,
};
use crate::{
    span::Span,
    symbol::Symbol,
    token::{Punct, Token, TokenKind},
};

/// An edit of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// The token before which to edit.
    pub(super) at: usize,
    /// The kind of edit.
    pub(super) kind: EditKind,
}

/// The kinds of edits.
#[derive(Clone, Copy, Debug)]
pub(super) enum EditKind {
    /// Inserts this terminal.
    Insert(Terminal),
    /// Removes this number of tokens.
    Remove(usize),
    /// Classifies the name here as a type or a value, regardless of its declaration.
    Classify(Terminal),
}

/// The maximum number of errors. Items with further errors are removed without a report.
const MAX_MISTAKES: usize = 64;

/// The base budget of tokens for trials; each input token adds the same amount again. When it is exhausted, the item
/// is removed.
const FUEL: usize = 200_000;
const FUEL_PER_TOKEN: usize = 8;

/// The number of tokens after an error that a trial parses.
const HORIZON: usize = 40;

/// The minimum number of tokens that must parse after an edit.
const MIN_ACCEPTED: usize = 3;

/// The number of misspelled words that are assumed at the same time.
const MAX_WORDS: usize = 4;

/// A second error in the same statement within this number of tokens is attributed to the first.
const FOLLOW_UP_DISTANCE: usize = 16;

/// An error within this distance after a gap is attributed to it: an unterminated literal hides the rest of its line.
const GAP_DISTANCE: usize = 12;

/// The parser's reports besides the tree.
pub(super) struct Repairs {
    pub(super) errors: Vec<SyntaxError>,
    pub(super) repaired: Vec<RepairedRange>,
    pub(super) removed: Vec<Span>,
}

/// Parses the whole input. `gaps` are the positions of invalid tokens.
pub(super) fn parse(state: &State<'_, '_>, gaps: &[usize]) -> Repairs {
    let mut repair = Repair {
        state,
        start: Boundary { scopes: state.enter(), ..Boundary::default() },
        edits: vec![],
        errors: vec![],
        mistake: None,
        repaired: vec![],
        removed: vec![],
        clean_from: 0,
        fuel: Cell::new(FUEL + FUEL_PER_TOKEN * state.tokens.len()),
        gaps,
        unknown_types: vec![],
    };
    let mut mistakes = 0;
    loop {
        let outcome = run::run(state, &repair.edits, repair.start, usize::MAX);
        let parses_differently = repair.advance();
        match outcome {
            Outcome::Done => {
                repair.mark_gap_unreliable(state.tokens.len());
                repair.close();
                let Repair { errors, repaired, removed, .. } = repair;
                return Repairs { errors, repaired, removed };
            }
            _ if parses_differently => {}
            Outcome::TooDeep(token) => {
                let span = state.tokens[token].span;
                repair.errors.push(SyntaxError { span, kind: SyntaxErrorKind::Nesting });
                repair.mark_unreliable(token);
                repair.skip_item(token);
            }
            Outcome::Rejected(rejection) => {
                mistakes += 1;
                if mistakes <= MAX_MISTAKES {
                    repair.apply_best_candidate(&rejection);
                } else {
                    repair.mark_unreliable_from(repair.start.position.token, rejection.token);
                    repair.skip_item(rejection.token);
                }
            }
        }
    }
}

struct Repair<'s, 't, 'a> {
    state: &'s State<'t, 'a>,
    gaps: &'s [usize],
    /// The start of the item with the error.
    start: Boundary,
    /// The edits from there on, sorted by position.
    edits: Vec<Edit>,
    errors: Vec<SyntaxError>,
    /// The start of the first unreliable statement, and the last token that caused this.
    mistake: Option<RangeInclusive<usize>>,
    repaired: Vec<RepairedRange>,
    /// The ranges of removed tokens.
    removed: Vec<Span>,
    /// The remaining budget of tokens for trials.
    fuel: Cell<usize>,
    /// No edit was made between this token and the item.
    clean_from: usize,
    /// Names used as types without a declaration. Each is reported once.
    unknown_types: Vec<Symbol>,
}

impl Repair<'_, '_, '_> {
    /// Commits the parsed items. Returns whether the following input now parses differently.
    fn advance(&mut self) -> bool {
        let boundary = self.state.boundary.get();
        let mut parses_differently = false;
        if boundary.position.token > self.start.position.token {
            // Treat the unknown types as types in later items, to avoid repeated errors.
            for &name in &self.unknown_types {
                parses_differently |= self.state.assume_type(name);
            }
        }
        if boundary.position.token > self.start.position.token {
            self.mark_gap_unreliable(boundary.position.token);
            self.close();
        }
        self.start = boundary;
        if let Some(last) = self.edits.drain(..self.start.position.edit).next_back() {
            self.clean_from = last.at + 1;
        }
        self.start.position.edit = 0;
        parses_differently
    }

    /// Marks the item as unreliable from the statement with this token on.
    fn mark_unreliable(&mut self, token: usize) {
        let begins = statement_begins(self.state.tokens, self.start.position.token, token);
        self.mark_unreliable_from(begins.first().copied().unwrap_or(token), token);
    }

    /// After an invalid token in the item before `end`, the rest of a literal may be missing.
    fn mark_gap_unreliable(&mut self, end: usize) {
        let item = self.start.position.token..end.max(1);
        if let Some(&gap) = self.gaps.iter().find(|gap| item.contains(gap)) {
            self.mark_unreliable(gap.min(self.state.tokens.len().saturating_sub(1)));
        }
    }

    /// Marks the item as unreliable from `begin` on, because of this token.
    fn mark_unreliable_from(&mut self, begin: usize, token: usize) {
        self.mistake = Some(match &self.mistake {
            Some(known) => begin.min(*known.start())..=token.max(*known.end()),
            None => begin..=token,
        });
    }

    /// Ends the item with the error.
    fn close(&mut self) {
        let Some((mistake, reason)) = self.mistake.take().map(RangeInclusive::into_inner) else { return };
        let tokens = self.state.tokens;
        let end = self.state.next_item(reason).min(tokens.len());
        let Some(last) = end.checked_sub(1) else { return };
        let name = |token: &Token| match token.kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        };
        let first = self.start.position.token.min(mistake).min(last);
        self.repaired.push(RepairedRange {
            from: tokens[mistake.min(last)].span,
            to: tokens[last].span,
            names: tokens[first..=last].iter().filter_map(name).collect(),
        });
    }

    /// Applies and reports the best candidate.
    fn apply_best_candidate(&mut self, rejection: &Rejection) {
        let unreliable = self.mistake.clone();
        self.mark_unreliable(rejection.token);
        match self.choose(rejection) {
            Some(candidate) => {
                self.report(rejection, candidate.error);
                self.note_removed(&candidate.edits);
                self.edits = Self::with(&self.edits, &candidate);
                self.start = candidate.start;
                if let Some(edit) = candidate.edits.first() {
                    self.mark_unreliable(edit.at);
                }
                if candidate.error.kind.is_certain() {
                    self.mistake = unreliable;
                }
            }
            None => {
                self.report(rejection, explain::general(self.state, rejection));
                self.skip_item(rejection.token);
            }
        }
    }

    /// The best candidate. In this order, if the whole trial parses: the edit of a brace that the indentation suggests,
    /// an edit of one token, replacements of several misspelled keywords, an edit of another brace. Otherwise, if the
    /// next error would follow soon in the same statement, the removal of the statement. Otherwise the edit of one
    /// token that parses the farthest.
    fn choose(&self, rejection: &Rejection) -> Option<Candidate> {
        let (state, start) = (self.state, self.start);
        let at_end = rejection.terminal.is_none();
        let mut small = candidates::single_token_edits(state, start, rejection);
        if self.edits.last().is_none_or(|edit| edit.at < rejection.token) {
            // Most candidates fail immediately. Check that cheaply before a trial.
            let is_before_error = |edits: &[Edit]| edits.iter().any(|edit| edit.at < rejection.token);
            small.retain(|Candidate { edits, .. }| {
                is_before_error(edits) || rejection.is_repaired_by(state, edits, MIN_ACCEPTED)
            });
        }
        let previous = self.previous();
        if self.edits.is_empty() {
            let brace = structure::by_layout(state, start, self.clean_from, rejection);
            if let Some((candidate, usize::MAX)) = self.best(rejection, brace) {
                return Some(candidate);
            }
        }
        let mut braces = structure::braces(state, start, previous, rejection);
        if at_end && let Some((candidate, usize::MAX)) = self.best(rejection, braces.drain(..)) {
            return Some(candidate);
        }
        let small = self.best(rejection, small);
        let small = small.filter(|&(_, reach)| reach >= rejection.token + MIN_ACCEPTED);
        if let Some((candidate, reach)) = &small
            && (*reach == usize::MAX || concerns_name(candidate) || self.ends_item(candidate, rejection))
        {
            return small.map(|(candidate, _)| candidate);
        }
        if let Some(candidate) = self.several_misspelled(rejection) {
            return Some(candidate);
        }
        if let Some((candidate, usize::MAX)) = self.best(rejection, braces) {
            return Some(candidate);
        }
        for level in structure::skips(state, start, rejection) {
            let soon = (rejection.token + FOLLOW_UP_DISTANCE).min(level.end);
            if let Some((_, reach)) = small
                && reach >= soon
            {
                break;
            }
            if let Some((candidate, reach)) = self.best(rejection, level.candidates)
                && reach > rejection.token
            {
                return Some(candidate);
            }
        }
        small.map(|(candidate, _)| candidate)
    }

    /// The replacement of a misspelled keyword that repairs the input together with replacements of others after it.
    fn several_misspelled(&self, rejection: &Rejection) -> Option<Candidate> {
        let (state, start) = (self.state, self.start);
        let horizon = (rejection.token + HORIZON).min(state.tokens.len());
        let cost = horizon - start.position.token;
        misspelled(state, start, rejection).into_iter().find(|candidate| {
            let (mut edits, mut at) = (Self::with(&self.edits, candidate), rejection.token);
            for _ in 0..MAX_WORDS {
                let Some(rest) = self.fuel.get().checked_sub(cost) else { return false };
                self.fuel.set(rest);
                let next = match run::run(state, &edits, start, horizon) {
                    Outcome::Done => return true,
                    Outcome::Rejected(next) if next.token > at => next,
                    _ => return false,
                };
                let words = misspelled(state, start, &next);
                let is_later = |word: &Candidate| word.edits.iter().all(|edit| edit.at > at);
                let Some(word) = words.into_iter().find(is_later) else { return false };
                edits = Self::with(&edits, &word);
                at = next.token;
            }
            false
        })
    }

    /// Whether the candidate ends an item with `;` before a line that starts with a keyword. That line is another item, which
    /// can contain another error.
    fn ends_item(&self, candidate: &Candidate, rejection: &Rejection) -> bool {
        let [Edit { at, kind: EditKind::Insert(Terminal::Punct(Punct::Semicolon)) }] = candidate.edits[..]
        else {
            return false;
        };
        let tokens = self.state.tokens;
        let Some(Token { kind: TokenKind::Keyword(_), span }) = tokens.get(at) else { return false };
        let begins_line = self.state.lines()[at].is_some_and(|line| line.text == span.lo);
        let first = self.start.position.token;
        let is_outside = || brackets::open_brackets(&tokens[first..at]).is_empty();
        begins_line && first <= at && at <= rejection.token && is_outside()
    }

    /// The start of the previous item, if it contains no edits and so can be parsed again.
    fn previous(&self) -> Option<Boundary> {
        let previous = self.state.past.borrow().last().copied()?;
        (self.edits.is_empty() && self.clean_from <= previous.position.token).then_some(previous)
    }

    fn report(&mut self, rejection: &Rejection, error: SyntaxError) {
        if self.gaps.iter().any(|&gap| (gap..gap + GAP_DISTANCE).contains(&rejection.token)) {
            return;
        }
        if let SyntaxErrorKind::UnknownType(name) = error.kind {
            if self.unknown_types.contains(&name) {
                return;
            }
            self.unknown_types.push(name);
        }
        self.errors.push(error);
    }

    /// The first candidate that lets the parser continue the farthest, and how far.
    fn best(
        &self,
        rejection: &Rejection,
        candidates: impl IntoIterator<Item = Candidate>,
    ) -> Option<(Candidate, usize)> {
        let mut best: Option<(Candidate, usize)> = None;
        for candidate in candidates {
            let horizon = candidate.end.max(rejection.token) + HORIZON;
            let cost = horizon.min(self.state.tokens.len()) - candidate.start.position.token;
            match self.fuel.get().checked_sub(cost) {
                Some(rest) => self.fuel.set(rest),
                None => return best,
            }
            let reach =
                match run::run(self.state, &Self::with(&self.edits, &candidate), candidate.start, horizon) {
                    Outcome::Done => usize::MAX,
                    Outcome::TooDeep(token) => token,
                    Outcome::Rejected(rejection) => rejection.token,
                };
            // Restore the items before this one that the trial parsed again.
            if candidate.start.position.token < self.start.position.token {
                run::run(self.state, &[], candidate.start, self.start.position.token + 1);
            }
            if best.as_ref().is_none_or(|&(_, farthest)| reach > farthest) {
                best = Some((candidate, reach));
            }
            if reach == usize::MAX {
                break;
            }
        }
        best
    }

    /// The edits combined with those of the candidate.
    fn with(edits: &[Edit], candidate: &Candidate) -> Vec<Edit> {
        let mut edits = edits.to_vec();
        for &edit in &candidate.edits {
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

    /// Removes the whole item with the error. If a removal at its start ends before the error, the new one includes it.
    fn skip_item(&mut self, mistake: usize) {
        let start = self.start.position.token;
        let behind = match *self.edits {
            [Edit { at, kind: EditKind::Remove(count) }, _] if at == start && at + count <= mistake => {
                at + count
            }
            _ => start,
        };
        self.edits = structure::skip(start, brackets::item_end(self.state.tokens, behind, mistake));
        self.note_removed(&self.edits.clone());
    }

    fn note_removed(&mut self, edits: &[Edit]) {
        for edit in edits {
            if let EditKind::Remove(count) = edit.kind
                && let Some([first, .., last]) = self.state.tokens.get(edit.at..edit.at + count)
            {
                self.removed.push(Span::new(first.span.lo, last.span.hi));
            }
        }
    }
}

/// Whether the error concerns a name. Such errors are reported even if the next error follows soon.
fn concerns_name(candidate: &Candidate) -> bool {
    matches!(
        candidate.error.kind,
        SyntaxErrorKind::UnknownType(_)
            | SyntaxErrorKind::Misspelled { .. }
            | SyntaxErrorKind::Foreign { .. }
    )
}
