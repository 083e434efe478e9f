//! Runs the parser on text, without the preprocessor: there are no macros, and `#pragma` is the only directive.

use kiln_syntax::{
    Interner, Parsed, Span,
    lex::{Lexeme, Lexer},
    parse,
    token::{Punct, Token, TokenKind},
};

/// The tokens of preprocessed text.
pub(crate) fn tokenize(text: &str, interner: &mut Interner) -> Vec<Token> {
    let mut tokens = vec![];
    let mut lexer = Lexer::new(text).peekable();
    while let Some(lexed) = lexer.next() {
        let spelling = &text[lexed.start as usize..lexed.end as usize];
        let mut span = Span::new(lexed.start, lexed.end);
        let kind = match lexed.lexeme {
            Lexeme::Punct(Punct::Hash) if lexed.line_start => {
                while let Some(more) = lexer.next_if(|next| !next.line_start) {
                    span.hi = more.end;
                }
                match text[lexed.end as usize..span.hi as usize].trim_start().strip_prefix("pragma") {
                    Some(pragma) => TokenKind::Pragma(interner.intern(pragma.trim())),
                    None => continue,
                }
            }
            Lexeme::Punct(punct) => TokenKind::Punct(punct),
            Lexeme::Identifier | Lexeme::ExtendedIdentifier => {
                let name = interner.intern(spelling);
                name.keyword().map_or(TokenKind::Name(name), TokenKind::Keyword)
            }
            Lexeme::Number => {
                let hexadecimal = spelling.starts_with("0x") || spelling.starts_with("0X");
                let exponent = if hexadecimal { ['p', 'P'] } else { ['e', 'E'] };
                let floating = spelling.contains('.') || spelling.contains(exponent);
                let symbol = interner.intern(spelling);
                if floating { TokenKind::Floating(symbol) } else { TokenKind::Integer(symbol) }
            }
            Lexeme::Character => TokenKind::Character(interner.intern(spelling)),
            Lexeme::String => TokenKind::String(interner.intern(spelling)),
            Lexeme::Unterminated | Lexeme::UnterminatedComment | Lexeme::Unknown => TokenKind::Unknown,
        };
        tokens.push(Token { kind, span });
    }
    tokens
}

/// Parses a text. Returns the tree, the tree as text, and the interner.
pub(crate) fn read(text: &str) -> (Parsed<'static>, String, Interner) {
    let mut interner = Interner::new();
    let tokens = tokenize(text, &mut interner);
    let parsed = parse(
        &tokens,
        Box::leak(Box::default()),
        &kiln_syntax::parse::NoLayout,
        kiln_syntax::parse::MAX_DEPTH,
    );
    let printed = kiln_syntax::print::print(&parsed.unit, &interner);
    (parsed, printed, interner)
}
