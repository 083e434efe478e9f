//! Lexes a file in pieces, so that large files need no more memory for tokens than small ones.
//!
//! A piece consists of whole lines. The next piece overwrites it, so users copy the tokens that they keep.

use kiln_syntax::{
    Interner, Span, Symbol,
    lex::{Lexed, Lexeme, Lexer},
    token::Punct,
};

use super::{
    file::{SourceFile, kind},
    hide::HideSet,
    token::{Flags, Kind, Tok},
};

/// Consecutive tokens of a file. Spans are relative to the start of the file.
pub(super) struct Piece {
    pub(super) tokens: Vec<Tok>,
    /// The indices in `tokens` of each `#` that starts a line.
    directives: Vec<u32>,
    next: Next,
    /// The offset of an unterminated comment.
    pub(super) open_comment: Option<usize>,
}

/// The position after a piece.
enum Next {
    /// The start of the file: nothing has been lexed.
    Beginning,
    /// The first token of the next piece.
    Token(Lexed),
    End,
}

impl Piece {
    /// An empty piece before the start of a file, with memory for its tokens.
    pub(super) fn before(tokens: Vec<Tok>) -> Self {
        Self { tokens, directives: Vec::new(), next: Next::Beginning, open_comment: None }
    }

    /// Lexes a whole file.
    pub(super) fn whole(file: &SourceFile, interner: &mut Interner) -> Self {
        let mut piece = Self::before(Vec::with_capacity(file.text.len() / 6));
        piece.advance(file, usize::MAX, interner);
        piece
    }

    /// The first line of a file with tokens.
    pub(super) fn first_line(file: &SourceFile, interner: &mut Interner) -> Self {
        let mut piece = Self::before(Vec::new());
        piece.advance(file, 1, interner);
        piece
    }

    /// Whether this is the last piece.
    pub(super) fn is_last(&self) -> bool {
        matches!(self.next, Next::End)
    }

    /// Advances to the next piece: at least `min` tokens, up to the end of a line.
    pub(super) fn advance(&mut self, file: &SourceFile, min: usize, interner: &mut Interner) {
        self.tokens.clear();
        self.directives.clear();
        let text = file.spliced.text(&file.text);
        let (lexer, mut offsets) = match std::mem::replace(&mut self.next, Next::End) {
            Next::Beginning => (Lexer::new(text), file.spliced.offsets(0)),
            Next::Token(token) => (Lexer::resume(text, &token), file.spliced.offsets(token.start)),
            Next::End => return,
        };
        for lexed in lexer {
            if lexed.line_start {
                if self.tokens.len() >= min {
                    self.next = Next::Token(lexed);
                    return;
                }
                if is_directive(&lexed) {
                    self.directives.push(self.tokens.len() as u32);
                }
            }
            let (lo, hi) = offsets.original(lexed.start, lexed.end);
            if lexed.lexeme == Lexeme::UnterminatedComment {
                self.open_comment = Some(lo as usize);
                return;
            }
            self.tokens.push(token(&lexed, text, Span::new(lo, hi), interner));
        }
    }

    /// Advances to the line of the next directive after this piece, if any. Skips the text before it.
    pub(super) fn skip_to_directive(&mut self, file: &SourceFile, interner: &mut Interner) {
        if let Next::Token(token) = &self.next {
            let mut lexer = Lexer::resume(file.spliced.text(&file.text), token);
            let directive = loop {
                lexer.skip_plain_lines();
                match lexer.next() {
                    Some(next) if is_directive(&next) || next.lexeme == Lexeme::UnterminatedComment => {
                        break Some(next);
                    }
                    Some(_) => {}
                    None => break None,
                }
            };
            self.next = directive.map_or(Next::End, Next::Token);
        }
        self.advance(file, 1, interner);
    }

    /// The index of the next directive's `#`, starting at `at`.
    pub(super) fn next_directive(&self, at: usize) -> Option<usize> {
        let next = self.directives.partition_point(|directive| (*directive as usize) < at);
        self.directives.get(next).map(|directive| *directive as usize)
    }

    /// The index of the end of the line that contains token `at`.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = self.tokens.get(at + 1..).unwrap_or_default();
        rest.iter().position(Tok::starts_line).map_or(self.tokens.len(), |length| at + 1 + length)
    }

    /// The tokens of a directive, without the `#` at `at`.
    fn directive(&self, at: usize) -> &[Tok] {
        &self.tokens[at + 1..self.line_end(at)]
    }

    /// The macro X if the text starts with `#ifndef X` or `#if !defined X`.
    pub(super) fn opening(&self, interner: &mut Interner) -> Option<Symbol> {
        if self.directives.first() != Some(&0) {
            return None;
        }
        let [ifndef, r#if, defined] = ["ifndef", "if", "defined"].map(|word| Some(interner.intern(word)));
        let not_defined = |a: &Tok, b: &Tok| a.is(Punct::Not) && b.name() == defined;
        match self.directive(0) {
            [word, guard] if word.name() == ifndef => guard.name(),
            [word, a, b, guard] if word.name() == r#if && not_defined(a, b) => guard.name(),
            [word, a, b, _, guard, _] if word.name() == r#if && not_defined(a, b) => guard.name(),
            _ => None,
        }
    }

    /// Whether the last line ends the conditional that the first line starts, and it has no other group.
    pub(super) fn is_one_group(&self, interner: &mut Interner) -> bool {
        let word = |at: usize| self.directive(at).first().and_then(Tok::name);
        let [ifndef, endif, ifdef, r#if, r#else, elif] =
            ["ifndef", "endif", "ifdef", "if", "else", "elif"].map(|word| Some(interner.intern(word)));
        let last = self.directives.last().map(|last| *last as usize);
        if !last.is_some_and(|last| self.line_end(last) == self.tokens.len() && word(last) == endif) {
            return false;
        }
        let mut depth = 0_usize;
        for (index, at) in self.directives.iter().enumerate() {
            let word = word(*at as usize);
            if word == ifndef || word == ifdef || word == r#if {
                depth += 1;
            } else if word == endif {
                depth = depth.saturating_sub(1);
                if depth == 0 && index + 1 != self.directives.len() {
                    return false;
                }
            } else if depth == 1 && (word == r#else || word == elif) {
                return false;
            }
        }
        true
    }
}

/// Whether this token starts a directive.
fn is_directive(token: &Lexed) -> bool {
    token.line_start && token.lexeme == Lexeme::Punct(Punct::Hash)
}

fn token(lexed: &Lexed, text: &str, span: Span, interner: &mut Interner) -> Tok {
    let spelling = &text[lexed.start as usize..lexed.end as usize];
    let (kind, digraph) = match lexed.lexeme {
        // More than half of all tokens are punctuation, so handle it here.
        Lexeme::Punct(punct) => (Kind::Punct(punct), is_digraph(punct, spelling)),
        lexeme => (kind(lexeme, spelling, interner), false),
    };
    let flags = Flags::new(lexed.line_start, lexed.space, digraph);
    Tok { kind, span, hide: HideSet::default(), flags }
}

/// Whether this is a digraph (C99 6.4.6 paragraph 3): digraphs are twice as long as the first spelling.
pub(super) fn is_digraph(punct: Punct, spelling: &str) -> bool {
    punct.spelling().len() != spelling.len()
}
