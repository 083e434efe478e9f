//! Converts preprocessing tokens to tokens (translation phase 7, C99 5.1.1.2).

use kiln_session::{
    Options,
    diag::{Code, Diagnostic},
    source::NOT_UTF8,
};
use kiln_syntax::{
    Symbol,
    token::{Keyword, Token, TokenKind},
};
use kiln_vocabulary::opencl::LanguageVersion;

use super::{
    Preprocessor,
    token::{Kind, Tok},
};

/// The keywords of the language version, by symbol (OpenCL C 6.3.9).
///
/// `generic` and `read_write` are reserved in every version, `pipe` since OpenCL C 2.0. `asm` and `typeof`
/// are only reserved with underscores; C99 programs may use the plain names.
pub(super) fn keywords(options: &Options) -> Vec<Option<Keyword>> {
    let reserved = |spelling: &str, keyword: Keyword| match keyword {
        Keyword::Pipe => options.std >= LanguageVersion::Cl20,
        Keyword::Asm | Keyword::Typeof => spelling.starts_with('_'),
        _ => true,
    };
    Keyword::ALL.iter().map(|(spelling, keyword)| reserved(spelling, *keyword).then_some(*keyword)).collect()
}

impl Preprocessor<'_> {
    /// Reads all tokens to the end of the source.
    pub(super) fn emit_all(&mut self) -> Vec<Token> {
        // Overestimate the capacity: unused memory costs nothing, but reallocation copies.
        let bytes: usize = self.frames.iter().map(|frame| frame.file.text.len()).sum();
        let mut tokens = Vec::with_capacity((bytes / 2).min(1 << 22));
        loop {
            self.emit_plain(&mut tokens);
            let Some(token) = self.expanded() else { return tokens };
            let token = match token.kind {
                Kind::Name(name) if name == self.words.pragma => match self.pragma_operator(token) {
                    Some(token) => token,
                    None => continue,
                },
                _ => token,
            };
            tokens.push(Token { kind: self.convert(&token), span: token.span });
        }
    }

    /// Emits tokens until one needs processing. Most tokens need none.
    fn emit_plain(&mut self, tokens: &mut Vec<Token>) {
        if self.stopped {
            return;
        }
        while let Some(token) = self.pending.last() {
            let Some(kind) = self.parser_token(token) else { return };
            tokens.push(Token { kind, span: token.span });
            self.pending.pop();
        }
        let Some(frame) = self.frames.last() else { return };
        let before = tokens.len();
        tokens.extend(frame.run().iter().map_while(|token| {
            let kind = self.parser_token(token)?;
            Some(Token { kind, span: token.span.shifted(frame.lo) })
        }));
        let count = tokens.len() - before;
        self.frames.last_mut().into_iter().for_each(|frame| frame.pass(count));
    }

    /// The token for the parser. `None` if it needs more processing.
    fn parser_token(&self, token: &Tok) -> Option<TokenKind> {
        match token.kind {
            Kind::Name(name) if self.macros.is_defined(name) || name == self.words.pragma => None,
            Kind::Name(name) => Some(self.word(name)),
            Kind::Integer(text) => Some(TokenKind::Integer(text)),
            Kind::Floating(text) => Some(TokenKind::Floating(text)),
            Kind::Punct(punct) => Some(TokenKind::Punct(punct)),
            _ => None,
        }
    }

    fn word(&self, name: Symbol) -> TokenKind {
        match self.keywords.get(name.index()) {
            Some(Some(keyword)) => TokenKind::Keyword(*keyword),
            _ => TokenKind::Name(name),
        }
    }

    /// Converts a token. Reports invalid characters and literals.
    fn convert(&mut self, token: &Tok) -> TokenKind {
        match token.kind {
            Kind::Name(name) => self.word(name),
            Kind::Integer(text) => TokenKind::Integer(text),
            Kind::Floating(text) => TokenKind::Floating(text),
            Kind::Character(text) => {
                self.check_literal(token);
                TokenKind::Character(text)
            }
            Kind::String(text) => {
                self.check_literal(token);
                TokenKind::String(text)
            }
            Kind::Punct(punct) => TokenKind::Punct(punct),
            Kind::Pragma(text) => TokenKind::Pragma(text),
            Kind::Unterminated(_) | Kind::Unknown(_) if !self.is_first_use(token) => TokenKind::Unknown,
            Kind::Unterminated(text) => {
                let quote = if self.interner.text(text).contains('\'') { "'" } else { "\"" };
                let message = format!("the closing `{quote}` is missing on this line");
                self.sink.report(Diagnostic::new(Code::UnterminatedLiteral, token.span, message));
                TokenKind::Unknown
            }
            Kind::Unknown(text) => {
                self.unknown(token, text);
                TokenKind::Unknown
            }
            Kind::Parameter(_)
            | Kind::Operand(_)
            | Kind::Stringize(_)
            | Kind::Optional(_)
            | Kind::Paste
            | Kind::Placemarker
            | Kind::Reported => TokenKind::Unknown,
        }
    }

    /// Whether this is the first use of the token. A macro may use an argument more than once.
    fn is_first_use(&mut self, token: &Tok) -> bool {
        let spelling =
            self.map.spelling(token.span).map(|location| self.map.span(location.file, location.range));
        spelling.is_none_or(|spelling| self.reported.insert(spelling.lo))
    }

    fn check_literal(&mut self, token: &Tok) {
        if token.spelling(self.interner).contains(NOT_UTF8) {
            let message = "this literal has bytes that are not UTF-8, which are lost";
            self.sink.report(Diagnostic::new(Code::NotUtf8, token.span, message));
        }
    }

    fn unknown(&mut self, token: &Tok, text: Symbol) {
        let text = self.interner.text(text);
        let valid = |c: &char| c.is_alphanumeric() || *c == '_' || *c == '$';
        let Some(culprit) = text.chars().find(|c| !valid(c)) else { return };
        let message = match culprit {
            NOT_UTF8 => "this byte is not UTF-8".to_owned(),
            c if c.is_control() || c.is_whitespace() => {
                format!("the character U+{:04X} is not allowed here", culprit as u32)
            }
            '`' => "a backtick is not allowed here".to_owned(),
            _ => format!("the character `{culprit}` is not allowed here"),
        };
        let mut diagnostic = Diagnostic::new(Code::UnknownCharacter, token.span, message);
        if let Some(ascii) = look_alike(culprit) {
            diagnostic = diagnostic.help(format!("did you mean `{ascii}`? The two look alike"));
            let replacement = text.replace(culprit, &ascii.to_string());
            diagnostic = diagnostic.fix(token.span, format!("replace with `{ascii}`"), replacement);
        }
        self.sink.report(diagnostic);
    }
}

/// The ASCII character for a typographic character that text processors substitute.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        '\u{2018}' | '\u{2019}' | '\u{00B4}' => '\'',
        '\u{201C}' | '\u{201D}' => '"',
        '\u{2013}' | '\u{2014}' | '\u{2212}' => '-',
        '\u{00D7}' => '*',
        '\u{00F7}' => '/',
        '\u{037E}' | '\u{FF1B}' => ';',
        '\u{FF0C}' => ',',
        '\u{FF08}' => '(',
        '\u{FF09}' => ')',
        '\u{00A0}' | '\u{2002}'..='\u{200B}' | '\u{3000}' => ' ',
        _ => return None,
    })
}
