//! What might be meant where the grammar is stuck: edits to try, the likeliest first, each with what it would
//! say is wrong.

use super::{
    adaptor::Terminal,
    error::{SyntaxError, SyntaxErrorKind},
    explain,
    repair::{Edit, EditKind},
    run::Stuck,
    scopes::NameKind,
    state::{Boundary, State},
};
use crate::{
    span::Span,
    token::{Punct, Token, TokenKind},
};

pub(super) use explain::general_error;

/// Edits that may mend the input, and the mistake that they imply.
pub(super) struct Candidate {
    /// The edits, in the order of places.
    pub(super) edits: Vec<Edit>,
    /// The mistake.
    pub(super) error: SyntaxError,
}

/// Marks that get forgotten, the likeliest first.
const MARKS: [Punct; 9] = [
    Punct::Semicolon,
    Punct::CloseParen,
    Punct::CloseBracket,
    Punct::CloseBrace,
    Punct::Comma,
    Punct::OpenParen,
    Punct::OpenBrace,
    Punct::Colon,
    Punct::Equal,
];

/// Changes of one token.
pub(super) fn small(state: &State<'_>, start: Boundary, stuck: &Stuck) -> Vec<Candidate> {
    let at = stuck.token;
    let found = state.tokens.get(at).copied();
    let mut list = vec![];
    reclassified(state, start, stuck, &mut list);
    // The same token twice is a slip of the hand.
    let twice = at > start.place.token && found.is_some_and(|found| state.tokens[at - 1].kind == found.kind);
    if twice {
        list.extend(found.map(|found| removed(at, found)));
    }
    let marks = MARKS.into_iter().filter(|mark| stuck.expects(mark.spelling()));
    for mark in marks.clone() {
        let edits = vec![Edit { at, kind: EditKind::Insert(Terminal::Punct(mark)) }];
        list.push(Candidate { edits, error: explain::missing(state, start, stuck, mark) });
    }
    let operand = stuck.expects("INTEGER");
    if operand {
        let edits = vec![Edit { at, kind: EditKind::Insert(Terminal::MissingOperand) }];
        list.push(Candidate { edits, error: general_error(state, stuck) });
    }
    let Some(found) = found else {
        list.extend(closed(state, start, stuck));
        return list;
    };
    if !twice {
        list.push(removed(at, found));
    }
    let replacements = marks.map(Terminal::Punct).chain(operand.then_some(Terminal::MissingOperand));
    for terminal in replacements {
        let edits = replaced(at, terminal);
        list.push(Candidate { edits, error: explain::instead(stuck, found, terminal) });
    }
    if at > start.place.token {
        list.push(removed(at - 1, state.tokens[at - 1]));
    }
    list
}

fn removed(at: usize, token: Token) -> Candidate {
    let kind = SyntaxErrorKind::Unexpected { found: token.kind };
    let error = SyntaxError { span: token.span, kind };
    Candidate { edits: vec![Edit { at, kind: EditKind::Remove(1) }], error }
}

fn replaced(at: usize, by: Terminal) -> Vec<Edit> {
    vec![Edit { at, kind: EditKind::Remove(1) }, Edit { at: at + 1, kind: EditKind::Insert(by) }]
}

/// A name read as a type where nothing declares it, or as a value though it is a type; or no type at all.
fn reclassified(state: &State<'_>, start: Boundary, stuck: &Stuck, list: &mut Vec<Candidate>) {
    let at = stuck.token;
    let classify = |at, terminal| vec![Edit { at, kind: EditKind::Classify(terminal) }];
    let found = state.tokens.get(at).copied();
    if let (Some(Terminal::Type), Some(Token { kind: TokenKind::Name(name), span })) = (stuck.terminal, found)
    {
        let error = SyntaxError { span, kind: SyntaxErrorKind::TypeAsValue(name) };
        list.push(Candidate { edits: classify(at, Terminal::Variable), error });
    }
    // `foo *x` at program scope, `foo x`, `(foo)x` and `(foo *)x`.
    let nearest = at.saturating_sub(2).max(start.place.token);
    for before in (nearest..=at).rev() {
        if before == at && stuck.terminal != Some(Terminal::Variable) {
            continue;
        }
        if let Some(Token { kind: TokenKind::Name(name), span }) = state.tokens.get(before).copied()
            && state.scopes.borrow().kind(name) == NameKind::Unknown
        {
            let error = SyntaxError { span, kind: SyntaxErrorKind::UnknownType(name) };
            list.push(Candidate { edits: classify(before, Terminal::Type), error });
        }
    }
    if let (Some(Terminal::Variable), Some(Token { kind: TokenKind::Name(name), span })) =
        (stuck.terminal, found)
        && stuck.expects("TYPE")
    {
        let error = SyntaxError { span, kind: SyntaxErrorKind::MissingType(name) };
        list.push(Candidate {
            edits: vec![Edit { at, kind: EditKind::Insert(Terminal::MissingType) }],
            error,
        });
    }
}

/// At the end of the input: every open bracket closed.
fn closed(state: &State<'_>, start: Boundary, stuck: &Stuck) -> Option<Candidate> {
    let open = open_brackets(&state.tokens[start.place.token..]);
    let innermost = open.last()?;
    let insert = |punct| Edit { at: stuck.token, kind: EditKind::Insert(Terminal::Punct(punct)) };
    let edits = open.iter().rev().map(|bracket| insert(bracket.closing)).collect();
    Some(Candidate { edits, error: explain::missing(state, start, stuck, innermost.closing) })
}

/// A bracket that is still open.
#[derive(Clone, Copy)]
pub(super) struct OpenBracket {
    /// What would close it.
    pub(super) closing: Punct,
    /// Which token it is.
    pub(super) token: usize,
    /// Where it stands.
    pub(super) span: Span,
}

/// The brackets that are open behind these tokens. A closing bracket closes everything inside of its partner.
pub(super) fn open_brackets(tokens: &[Token]) -> Vec<OpenBracket> {
    let mut open: Vec<OpenBracket> = vec![];
    for (token, &Token { kind, span }) in tokens.iter().enumerate() {
        let TokenKind::Punct(punct) = kind else { continue };
        let closing = match punct {
            Punct::OpenParen => Punct::CloseParen,
            Punct::OpenBracket => Punct::CloseBracket,
            Punct::OpenBrace => Punct::CloseBrace,
            Punct::CloseParen | Punct::CloseBracket | Punct::CloseBrace => {
                if let Some(partner) = open.iter().rposition(|bracket| bracket.closing == punct) {
                    open.truncate(partner);
                }
                continue;
            }
            _ => continue,
        };
        open.push(OpenBracket { closing, token, span });
    }
    open
}

/// Statements, members or items to leave out, by the brace that holds them: first what is innermost.
pub(super) fn skips(state: &State<'_>, start: Boundary, stuck: &Stuck) -> Vec<Vec<Candidate>> {
    let first = start.place.token;
    let open = open_brackets(&state.tokens[first..stuck.token]);
    let braces = open.iter().filter(|bracket| bracket.closing == Punct::CloseBrace);
    let mut levels: Vec<_> = braces.map(|brace| first + brace.token + 1).collect();
    levels.insert(0, first);
    let error = general_error(state, stuck);
    let level = |inside: usize| {
        let begin = statement_begin(state.tokens, inside, stuck.token);
        let ends = statement_ends(state.tokens, begin, stuck.token);
        ends.into_iter().map(|end| Candidate { edits: skip(begin, end), error }).collect()
    };
    levels.into_iter().rev().map(level).collect()
}

/// Puts one terminal in the place of the tokens from `begin` up to before `end`.
pub(super) fn skip(begin: usize, end: usize) -> Vec<Edit> {
    let remove = Edit { at: begin, kind: EditKind::Remove(end - begin) };
    vec![remove, Edit { at: end, kind: EditKind::Insert(Terminal::Skipped) }]
}

/// Where the statement begins that holds the token `mistake`, if `inside` begins the block around it.
fn statement_begin(tokens: &[Token], inside: usize, mistake: usize) -> usize {
    let mut depth = 0;
    let mut begin = inside;
    for (i, token) in tokens.iter().enumerate().take(mistake).skip(inside) {
        let TokenKind::Punct(punct) = token.kind else { continue };
        match punct {
            Punct::OpenParen | Punct::OpenBracket | Punct::OpenBrace => depth += 1,
            Punct::CloseParen | Punct::CloseBracket => depth -= 1,
            Punct::CloseBrace => {
                depth -= 1;
                if depth == 0 {
                    begin = i + 1;
                }
            }
            Punct::Semicolon if depth == 0 => begin = i + 1,
            _ => {}
        }
    }
    begin
}

/// Where the statement with the token `mistake` may end: behind one of the next semicolons, behind a block, before
/// the brace that closes the block around it.
fn statement_ends(tokens: &[Token], begin: usize, mistake: usize) -> Vec<usize> {
    let mut ends = vec![];
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(begin) {
        let TokenKind::Punct(punct) = token.kind else { continue };
        match punct {
            Punct::OpenBrace => depth += 1,
            Punct::CloseBrace if depth == 0 => {
                if i >= mistake && i > begin {
                    ends.push(i);
                }
                break;
            }
            Punct::CloseBrace => {
                depth -= 1;
                if depth == 0 && i >= mistake {
                    ends.push(i + 1);
                }
            }
            Punct::Semicolon if depth == 0 && i >= mistake => ends.push(i + 1),
            _ => {}
        }
        if ends.len() > 4 {
            break;
        }
    }
    ends
}

/// Where the item at program scope that begins at `start` ends, but not before `mistake`.
pub(super) fn item_end(tokens: &[Token], start: usize, mistake: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(start) {
        let TokenKind::Punct(punct) = token.kind else { continue };
        match punct {
            Punct::OpenBrace => depth += 1,
            Punct::CloseBrace => depth -= 1,
            Punct::Semicolon => {}
            _ => continue,
        }
        if depth <= 0 && i >= mistake && punct != Punct::OpenBrace {
            return i + 1;
        }
    }
    tokens.len()
}
