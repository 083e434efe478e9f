//! `#pragma` and `_Pragma` (C99 6.10.6, 6.10.9): handles pragmas of the preprocessor, reports invalid ones, and
//! passes others to the parser.

use kiln_session::{
    diag::{Code, Diagnostic, closest},
    extensions::{Extension, is_foreign},
};
use kiln_syntax::{Span, token::Punct};

use super::{
    Preprocessor,
    file::{SourceFile, identity},
    piece::Piece,
    token::{Kind, Tok},
};
use crate::pragma::{self, Behavior, Pragma};

impl Preprocessor<'_> {
    /// `#pragma`. Returns the token for the parser.
    pub(super) fn pragma(&mut self, line: &[Tok], directive: Span) -> Option<Tok> {
        let first = line.first()?;
        let word = first.spelling(self.interner);
        if word == "once" {
            self.extra_tokens(&line[1..], "pragma once");
            if let Some(frame) = self.frames.last() {
                let path = identity(&frame.file.name);
                self.files.once.push(path);
            }
            return None;
        }
        let (is_unroll, is_saved) = (word == "unroll", word == "push_macro");
        if (is_saved || word == "pop_macro")
            && let Some(Kind::String(literal)) = line.get(2).map(|token| token.kind)
        {
            let name = self.interner.text(literal).trim_matches('"').to_owned();
            let name = self.interner.intern(&name);
            match is_saved {
                true => self.macros.save(name),
                false => self.macros.restore(name),
            }
        }
        // OpenCL C 6.12: no macro expansion after OPENCL. Elsewhere, an iteration count may be a macro.
        let text = match is_unroll {
            true => {
                let expanded = self.expand_all(line[1..].iter().map(|token| token.inline()).collect());
                format!("unroll {}", self.spell(&expanded)).trim_end().to_owned()
            }
            false => self.spell(line),
        };
        let end = line.last().map_or(directive, |token| token.span);
        self.pragma_token(&text, directive.to(end), line.get(2).map(|name| name.span), *first)
    }

    /// Reads the rest of `_Pragma` and returns its token.
    pub(super) fn pragma_operator(&mut self, operator: Tok) -> Option<Tok> {
        let mut end = operator.span;
        let mut text = None;
        for part in 0..3 {
            let token = self.expanded();
            end = token.map_or(end, |token| token.span);
            match (part, token.map(|token| token.kind)) {
                (0, Some(Kind::Punct(Punct::OpenParen))) | (2, Some(Kind::Punct(Punct::CloseParen))) => {}
                (1, Some(Kind::String(literal))) => text = Some(destringize(self.interner.text(literal))),
                _ => {
                    let message = "a string in parentheses must follow `_Pragma`";
                    let diagnostic = Diagnostic::new(Code::Directive, operator.span, message);
                    self.sink.report(diagnostic.note("C99 6.10.9"));
                    self.pending.extend(token);
                    return Some(Tok { kind: Kind::Reported, ..operator });
                }
            }
        }
        let text = text.unwrap_or_default();
        // Lex the text with the white space rules of a directive.
        let file = SourceFile::new("".into(), text.into_bytes());
        let piece = Piece::whole(&file, self.interner);
        let tokens: Vec<Tok> = piece.tokens.iter().map(|token| token.inline()).collect();
        let text = self.spell(&tokens);
        match Pragma::parse(&text) {
            Pragma::Ignored if text == "once" => None,
            _ => self.pragma_token(&text, operator.span.to(end), None, operator),
        }
    }

    /// `third` is the span of the third word, if it has one in the source: the name of an extension.
    fn pragma_token(&mut self, text: &str, span: Span, third: Option<Span>, like: Tok) -> Option<Tok> {
        match Pragma::parse(text) {
            Pragma::Unknown => {
                let word = text.split_whitespace().next().unwrap_or_default();
                let message = format!("the pragma `{word}` is unknown and has no effect");
                let known = pragma::NAMES.iter().copied();
                let Some(meant) = pragma::NAMES
                    .iter()
                    .find(|name| name.eq_ignore_ascii_case(word))
                    .map(|name| (*name).to_owned())
                    .or_else(|| closest(word, known))
                else {
                    self.sink.report(Diagnostic::new(Code::UnknownPragma, span, message));
                    return Some(Tok { kind: Kind::Pragma(self.interner.intern(text)), span, ..like });
                };
                let mut diagnostic = Diagnostic::new(Code::MisspelledPragma, span, message)
                    .help(format!("did you mean `{meant}`?"))
                    .note("C99 6.10.6: unknown pragmas are ignored");
                // The word of `_Pragma` is inside a string.
                if like.spelling(self.interner) == word {
                    diagnostic = diagnostic.replace(like.span, meant);
                }
                self.sink.report(diagnostic);
            }
            Pragma::UnknownHint(hint) => {
                let message = format!("the hint `{hint}` for loops is unknown and has no effect");
                let diagnostic = Diagnostic::new(Code::MisspelledPragma, span, message);
                let meant = closest(hint, pragma::CLANG_HINTS.iter().copied());
                let diagnostic = match meant {
                    Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                    None => diagnostic,
                };
                self.sink.report(diagnostic.note("C99 6.10.6: unknown pragmas are ignored"));
            }
            Pragma::Malformed(message) => {
                let diagnostic = Diagnostic::new(Code::ExtensionPragma, span, message);
                self.sink.report(diagnostic.note("OpenCL C 6.12 and 6.12.1; the pragma is ignored"));
            }
            Pragma::Extension { name, behavior } => self.check_extension(name, behavior, span, third),
            Pragma::FpContract(_)
            | Pragma::Pack(_)
            | Pragma::Unroll(_)
            | Pragma::NoUnroll
            | Pragma::Ignored => {}
        }
        Some(Tok { kind: Kind::Pragma(self.interner.intern(text)), span, ..like })
    }

    /// OpenCL C 6.12.1
    fn check_extension(&mut self, name: &str, behavior: Behavior, span: Span, word: Option<Span>) {
        if name == "all" {
            if behavior == Behavior::Enable {
                let message = "extensions cannot be enabled all at once";
                let diagnostic = Diagnostic::new(Code::UnsupportedExtension, span, message);
                self.sink
                    .report(diagnostic.help("enable each extension by its name").note("OpenCL C 6.12.1"));
            }
            return;
        }
        let known = Extension::parse(name).filter(|known| !known.is_feature());
        if matches!(behavior, Behavior::Begin | Behavior::End)
            || known.is_some_and(|known| self.extensions.has(known))
        {
            return;
        }
        let code = match behavior {
            Behavior::Enable if !is_foreign(name) => Code::UnsupportedExtension,
            _ => Code::ExtensionPragma,
        };
        let message = match known {
            Some(known) if known.since() > self.options.std => {
                format!("extension `{name}` needs OpenCL C {}", &known.since().spelling()[2..])
            }
            Some(_) => format!("the target does not support extension `{name}`"),
            None => format!("extension `{name}` is not supported"),
        };
        let diagnostic = Diagnostic::new(code, span, message).note("OpenCL C 6.12.1");
        let names = self.extensions.iter().map(Extension::name);
        let likely = closest(name, names.filter(|_| known.is_none()));
        self.sink.report(match (likely, behavior) {
            (Some(likely), _) => {
                let diagnostic = diagnostic.help(format!("did you mean `{likely}`?"));
                match word {
                    Some(word) => diagnostic.replace(word, likely),
                    None => diagnostic,
                }
            }
            (None, Behavior::Enable) => {
                diagnostic.help("if the program can do without it, enable it only where its macro is defined")
            }
            (None, _) => diagnostic,
        });
    }
}

/// C99 6.10.9
fn destringize(literal: &str) -> String {
    let inside = literal.trim_start_matches('L');
    let inside = inside.get(1..inside.len().saturating_sub(1)).unwrap_or_default();
    inside.replace("\\\"", "\"").replace("\\\\", "\\")
}
