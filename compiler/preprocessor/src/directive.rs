//! Directives (C99 6.10): dispatch, and conditional inclusion.

use std::sync::Arc;

use kiln_session::diag::{Code, Diagnostic, closest};
use kiln_syntax::{Span, Symbol};

use super::{
    Preprocessor,
    token::{Kind, Tok},
};

/// An open `#if`, `#ifdef` or `#ifndef`.
pub(super) struct Condition {
    /// The span of its `#` and name.
    pub(super) span: Span,
    /// Whether one of its groups was taken.
    taken: bool,
    /// The span of its `#else`.
    else_span: Option<Span>,
}

const DIRECTIVES: [&str; 13] = [
    "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "line", "error",
    "warning", "pragma",
];

impl Preprocessor<'_> {
    /// Executes the directive whose `#` has just been read. Returns a token if the directive produces one for the
    /// parser.
    pub(super) fn directive(&mut self, hash: Tok) -> Option<Tok> {
        let line = self.rest_of_line();
        let word = line.first()?;
        let span = hash.span.to(word.span);
        let rest = &line[1..];
        let name = match word.kind {
            Kind::Name(name) => self.interner.text(name).to_owned(),
            // Line markers in preprocessed text.
            Kind::Integer(_) | Kind::Floating(_) => {
                self.line_marker(&line, span);
                return None;
            }
            _ => {
                let message = "the name of a directive must follow `#`";
                self.sink.report(Diagnostic::new(Code::Directive, word.span, message));
                return None;
            }
        };
        match name.as_str() {
            "define" => self.define(rest, span),
            "undef" => self.undef(rest, span),
            "include" => self.include(rest, span),
            "if" => {
                let taken = self.condition(rest, span);
                self.begin_condition(span, taken);
            }
            "ifdef" | "ifndef" => {
                let tested = self.macro_name(rest.first(), span);
                if let (Some(tested), Some(word)) = (tested, rest.first()) {
                    self.trace_test(word.span, tested);
                }
                self.extra_tokens(rest.get(1..).unwrap_or_default(), &name);
                let holds = tested.is_some_and(|tested| self.is_macro(tested) == (name == "ifdef"));
                self.begin_condition(span, holds);
            }
            "elif" => self.elif(span),
            "else" => self.else_directive(rest, span),
            "endif" => {
                self.extra_tokens(rest, "endif");
                if self.frames.last_mut().and_then(|frame| frame.conditions.pop()).is_none() {
                    self.without_if("endif", span);
                }
            }
            "line" => self.line(rest, span),
            "error" | "warning" => self.user_message(&name, rest, span),
            "pragma" => return self.pragma(rest, span),
            // GNU C: a comment for the object file.
            "ident" | "sccs" => {}
            _ => {
                let message = format!("`#{name}` is not a directive");
                let mut diagnostic = Diagnostic::new(Code::Directive, span, message);
                let is_test = name.starts_with("ifdef") || name.starts_with("ifndef");
                let prefix = if name.starts_with("ifn") { "ifndef" } else { "ifdef" };
                let likely = if is_test { Some(prefix.to_owned()) } else { closest(&name, DIRECTIVES) };
                // Open a conditional, so that its `#endif` is not reported too.
                if matches!(likely.as_deref(), Some("if" | "ifdef" | "ifndef")) {
                    self.begin_condition(span, true);
                }
                if let Some(likely) = likely {
                    let title = format!("write `#{likely}`");
                    diagnostic =
                        diagnostic.help(format!("did you mean `#{likely}`?")).fix(word.span, title, likely);
                } else {
                    diagnostic = diagnostic.help("a comment begins with `//`");
                }
                self.sink.report(diagnostic);
            }
        }
        None
    }

    /// Reads the remaining tokens of the line from the innermost file.
    pub(super) fn rest_of_line(&mut self) -> Vec<Tok> {
        let Some(frame) = self.frames.last_mut() else { return Vec::new() };
        frame.rest_of_line()
    }

    /// Warns about tokens after a complete directive.
    pub(super) fn extra_tokens(&mut self, rest: &[Tok], directive: &str) {
        if let Some(first) = rest.first() {
            let message = format!("extra text after `#{directive}` is ignored");
            let diagnostic = Diagnostic::new(Code::ExtraTokens, first.span, message);
            let comment = format!("// {}", first.spelling(self.interner));
            let is_test = matches!(directive, "ifdef" | "ifndef") && matches!(first.kind, Kind::Punct(_));
            let is_else_if = directive == "else" && first.spelling(self.interner) == "if";
            let diagnostic = diagnostic.help(match (is_test, is_else_if) {
                (true, _) => "it tests one name: write `#if` for a condition",
                (_, true) => "`#else` has no condition: write `#elif` for one",
                _ => "make it a comment",
            });
            self.sink.report(diagnostic.fix(first.span, "make it a comment", comment));
        }
    }

    fn begin_condition(&mut self, span: Span, taken: bool) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.conditions.push(Condition { span, taken, else_span: None });
        if !taken {
            self.skip();
        }
    }

    /// `#elif` after a taken group: skips all remaining groups.
    fn elif(&mut self, span: Span) {
        match self.frames.last().and_then(|frame| frame.conditions.last()) {
            None => self.without_if("elif", span),
            Some(condition) => {
                if let Some(else_span) = condition.else_span {
                    self.after_else("elif", span, else_span);
                }
                self.skip();
            }
        }
    }

    /// `#else` after a taken group: skips its group.
    fn else_directive(&mut self, rest: &[Tok], span: Span) {
        match rest.first() {
            Some(first) if first.spelling(self.interner) == "if" => {
                let message = "`#else` has no condition; this text is ignored";
                let whole = Span { lo: span.lo, hi: first.span.hi };
                self.sink.report(
                    Diagnostic::new(Code::ExtraTokens, first.span, message).help("write `#elif`").fix(
                        whole,
                        "write `#elif`",
                        "#elif",
                    ),
                );
            }
            _ => self.extra_tokens(rest, "else"),
        }
        match self.frames.last_mut().and_then(|frame| frame.conditions.last_mut()) {
            None => self.without_if("else", span),
            Some(condition) => {
                if let Some(else_span) = condition.else_span.replace(span) {
                    self.after_else("else", span, else_span);
                }
                self.skip();
            }
        }
    }

    fn without_if(&mut self, word: &str, span: Span) {
        let message = format!("this `#{word}` has no matching `#if`");
        self.sink.report(Diagnostic::new(Code::Conditional, span, message));
    }

    fn after_else(&mut self, word: &str, span: Span, else_span: Span) {
        let message = format!("`#{word}` cannot follow `#else`");
        self.sink
            .report(Diagnostic::new(Code::Conditional, span, message).also(else_span, "the `#else` is here"));
    }

    /// Skips groups of a conditional until one is taken (C99 6.10.1 paragraph 6). Only directive names are processed.
    fn skip(&mut self) {
        let mut nested = 0_usize;
        let mut from = self.end_of_read();
        loop {
            let Some(frame) = self.frames.last_mut() else { return };
            let Some(hash) = frame.next_directive(self.interner) else {
                let end = frame.lo + frame.file.text.len() as u32;
                return self.trace_inactive(from, end);
            };
            let Some(word) = frame.peek_on_line() else { continue };
            let span = hash.span.to(word.span);
            let Some(name) = word.name() else { continue };
            if nested == 0 && matches!(self.interner.text(name), "endif" | "else" | "elif") {
                self.trace_inactive(from, span.lo);
                from = span.hi;
            }
            let Some(frame) = self.frames.last_mut() else { return };
            match self.interner.text(name) {
                "if" | "ifdef" | "ifndef" => nested += 1,
                "endif" if nested != 0 => nested -= 1,
                "endif" => {
                    frame.conditions.pop();
                    let line = self.rest_of_line();
                    return self.extra_tokens(&line[1..], "endif");
                }
                "else" if nested == 0 => {
                    let Some(condition) = frame.conditions.last_mut() else { return };
                    let previous = condition.else_span.replace(span);
                    let taken = std::mem::replace(&mut condition.taken, true);
                    let line = self.rest_of_line();
                    self.extra_tokens(&line[1..], "else");
                    match previous {
                        Some(else_span) => self.after_else("else", span, else_span),
                        None if !taken => return,
                        None => {}
                    }
                }
                "elif" if nested == 0 => {
                    let Some(condition) = frame.conditions.last() else { return };
                    let (taken, else_span) = (condition.taken, condition.else_span);
                    if let Some(else_span) = else_span {
                        self.after_else("elif", span, else_span);
                    } else if !taken {
                        let line = self.rest_of_line();
                        if self.condition(&line[1..], span) {
                            let frame = self.frames.last_mut();
                            if let Some(condition) = frame.and_then(|frame| frame.conditions.last_mut()) {
                                condition.taken = true;
                            }
                            return;
                        }
                    }
                }
                likely if nested == 0 => self.warn_misspelled_directive(likely.to_owned(), word.span, span),
                _ => {}
            }
        }
    }

    /// Warns about an unknown directive in a skipped group that resembles `#elif`, `#else` or `#endif`.
    fn warn_misspelled_directive(&mut self, name: String, word: Span, span: Span) {
        let meant = match name.as_str() {
            "elseif" | "elsif" => Some("elif".to_owned()),
            _ if DIRECTIVES.contains(&name.as_str()) => None,
            _ => closest(&name, ["elif", "else", "endif"]),
        };
        let Some(meant) = meant else { return };
        let message = format!("`#{name}` is not a directive, and is skipped");
        let diagnostic = Diagnostic::new(Code::SkippedDirective, span, message);
        let title = format!("write `#{meant}`");
        self.sink.report(diagnostic.help(format!("did you mean `#{meant}`?")).fix(word, title, meant));
    }

    /// The position after the last token read from the innermost file.
    fn end_of_read(&self) -> u32 {
        let frame = self.frames.last();
        frame.and_then(|frame| Some(frame.last_read()?.hi + frame.lo)).unwrap_or(0)
    }

    /// C99 6.10.4
    fn line(&mut self, rest: &[Tok], span: Span) {
        let end = rest.last().map_or(span, |token| token.span);
        let tokens = self.expand_all(rest.iter().map(|token| token.inline()).collect());
        self.set_line(&tokens, span, end, true);
    }

    /// `# number "file" flags`, as preprocessors emit it.
    fn line_marker(&mut self, line: &[Tok], span: Span) {
        let end = line.last().map_or(span, |token| token.span);
        let length = line.len().min(2);
        self.set_line(&line[..length], span, end, false);
    }

    /// Sets the line and the file name of the text after `end`. `checked` is false for line markers, whose numbers can
    /// be 0.
    fn set_line(&mut self, tokens: &[Tok], span: Span, end: Span, checked: bool) {
        let digits = match tokens.first().map(|token| token.kind) {
            Some(Kind::Integer(text) | Kind::Floating(text)) => self.interner.text(text),
            _ => "",
        };
        let number =
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>().ok()).flatten();
        let Some(number) = number.filter(|number| !checked || (1..=i32::MAX as u32).contains(number)) else {
            let span = tokens.first().map_or(span, |token| token.span);
            let message = "`#line` needs a decimal number from 1 to 2147483647";
            self.sink.report(Diagnostic::new(Code::Directive, span, message).note("C99 6.10.4"));
            return;
        };
        let name: Option<Arc<str>> = match tokens.get(1).map(|token| token.kind) {
            None => None,
            Some(Kind::String(text)) if self.interner.text(text).starts_with('"') => {
                let quoted = self.interner.text(text);
                Some(quoted[1..quoted.len() - 1].replace("\\\\", "\\").replace("\\\"", "\"").into())
            }
            Some(_) => {
                let message = "only the name of a file in quotes can follow the number of `#line`";
                self.sink
                    .report(Diagnostic::new(Code::Directive, tokens[1].span, message).note("C99 6.10.4"));
                return;
            }
        };
        if let Some(after) = tokens.get(2..) {
            self.extra_tokens(after, "line");
        }
        let location = self.map.resolve(end);
        if let (Some(frame), Some(location)) = (self.frames.last(), location) {
            self.map.presume(frame.id, location.range.start, number, name);
        }
    }

    /// `#error` and `#warning`. The message is the rest of the line as written.
    fn user_message(&mut self, word: &str, rest: &[Tok], span: Span) {
        let code = if word == "error" { Code::UserError } else { Code::UserWarning };
        let text = match (rest.first(), rest.last()) {
            (Some(first), Some(last)) => {
                let location = self.map.spelling(first.span.to(last.span));
                location.map_or(String::new(), |location| self.map.text(&location).to_owned())
            }
            _ => format!("#{word}"),
        };
        self.sink.report(Diagnostic::new(code, span, text));
    }

    /// Whether a name is defined, for `#ifdef` and `defined`.
    pub(super) fn is_macro(&self, name: Symbol) -> bool {
        self.macros.is_defined(name) || self.words.is_query(name)
    }
}
