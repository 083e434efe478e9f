//! Macro expansion (C99 6.10.3) by Prosser's algorithm: every token carries the set of macros that must not
//! expand it.
//!
//! The tokens still to be read stand in `pending`, the next one last; an expansion puts its tokens there, so that
//! rescanning is reading, and only the expansion of arguments recurs.

use std::rc::Rc;

use kiln_syntax::{
    Span, Symbol,
    lex::{Lexeme, Lexer},
    token::Punct,
};

use super::{
    Preprocessor,
    file::kind,
    hide::HideSet,
    limits::ARGUMENT_DEPTH,
    macros::{Dynamic, Macro, Parameters, Shape},
    token::{Flags, Kind, Tok, spell},
};
use crate::{
    diag::{Code, Diagnostic},
    source::{Expansion, Repeats},
};

/// The tokens of each argument of a call.
struct Arguments {
    tokens: Vec<Tok>,
    /// The end of each in `tokens`.
    ends: Vec<usize>,
}

impl Arguments {
    fn get(&self, index: usize) -> &[Tok] {
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.ends.get(before).copied().unwrap_or(self.tokens.len()));
        let end = self.ends.get(index).copied().unwrap_or(self.tokens.len());
        &self.tokens[start.min(end)..end]
    }
}

/// What is wrong has been told.
struct Reported;

/// A call that is being replaced.
struct Call {
    name: Symbol,
    span: Span,
    flags: Flags,
    hide: HideSet,
    /// The first position of the expansion, for the body's first.
    base: u32,
    body: Span,
}

impl Call {
    /// Where a token of the body stands in the expansion.
    fn place(&self, span: Span) -> Span {
        let base = self.base.wrapping_sub(self.body.lo);
        Span::new(span.lo.wrapping_add(base), span.hi.wrapping_add(base))
    }
}

impl Preprocessor<'_> {
    /// The next token that no macro expands.
    pub(super) fn expanded(&mut self) -> Option<Tok> {
        loop {
            let token = self.raw()?;
            let Kind::Name(name) = token.kind else { return Some(token) };
            if self.in_condition
                && let Some(truth) = self.operator(token)
            {
                return Some(truth);
            }
            if !self.macros.is_defined(name) || self.hide_sets.contains(token.hide, name) {
                return Some(token);
            }
            let Some(definition) = self.macro_of(name) else { return Some(token) };
            if !self.expand(token, &definition) {
                return Some(token);
            }
            self.trace_use(token.span, &definition);
        }
    }

    /// These tokens, expanded without looking beyond them.
    pub(super) fn expand_all(&mut self, mut tokens: Vec<Tok>) -> Vec<Tok> {
        let acts = |name| self.macros.is_defined(name) || (self.in_condition && self.words.is_operator(name));
        if !tokens.iter().any(|token| token.name().is_some_and(acts)) {
            return tokens;
        }
        if self.depth == ARGUMENT_DEPTH {
            let span = tokens[0].span;
            let message = format!(
                "calls of macros are nested in each other's arguments more than {ARGUMENT_DEPTH} deep"
            );
            self.stop(Diagnostic::new(Code::MacroLimit, span, message));
            return tokens;
        }
        tokens.reverse();
        let outer = std::mem::replace(&mut self.pending, tokens);
        let outer_isolated = std::mem::replace(&mut self.isolated, true);
        self.depth += 1;
        let mut result = Vec::with_capacity(self.pending.len());
        while let Some(token) = self.expanded() {
            result.push(token);
        }
        self.depth -= 1;
        self.isolated = outer_isolated;
        self.pending = outer;
        result
    }

    /// Puts what a macro's name stands for before the pending tokens, unless it is the name of a function-like
    /// macro that is not called.
    fn expand(&mut self, token: Tok, definition: &Rc<Macro>) -> bool {
        let (arguments, hide, end) = match &definition.shape {
            Shape::Dynamic(dynamic) => {
                let kind = self.dynamic(*dynamic);
                self.pending.push(Tok { kind, ..token });
                return true;
            }
            Shape::Object => (None, token.hide, token.span),
            Shape::Function(parameters) => {
                if !self.is_called() {
                    return false;
                }
                match self.arguments(token, definition, parameters) {
                    Ok((arguments, close)) => {
                        let hide = self.hide_sets.intersection(token.hide, close.hide);
                        (Some(arguments), hide, close.span)
                    }
                    Err(Reported) => {
                        self.pending.push(Tok { kind: Kind::Reported, ..token });
                        return true;
                    }
                }
            }
        };
        let hide = self.hide_sets.with(hide, definition.name);
        let body = definition.body_span();
        let span = token.span.to(end);
        let expansion =
            Expansion { name: definition.name, call: span, spelling: body.lo, repeats: Repeats::Body };
        let length = body.hi.saturating_sub(body.lo) as usize;
        let Some(base) = self.map.add_expansion(expansion, length) else {
            self.out_of_positions(span);
            return false;
        };
        let call = Call { name: definition.name, span, flags: token.flags, hide, base, body };
        self.spend(definition.body.len() + 1, span);
        let mut result = self.substitute(definition, &call, arguments.as_ref());
        if let Some(first) = result.first_mut() {
            *first = first.spaced_as(call.flags);
        }
        self.pending.extend(result.into_iter().rev());
        true
    }

    /// Whether `(` is next.
    fn is_called(&self) -> bool {
        let next = match self.pending.last() {
            None if !self.isolated => self.frames.last().and_then(|frame| frame.peek()),
            next => next.copied(),
        };
        next.is_some_and(|token| token.is(Punct::OpenParen))
    }

    /// The arguments of a call and the `)` (C99 6.10.3 paragraphs 4, 10, 11); if they are wrong, that is told.
    fn arguments(
        &mut self,
        name: Tok,
        definition: &Macro,
        parameters: &Parameters,
    ) -> Result<(Arguments, Tok), Reported> {
        let open = self.raw().map_or(name.span, |open| open.span);
        let count = parameters.names.len();
        let mut arguments = Arguments { tokens: Vec::new(), ends: Vec::new() };
        let mut depth = 0_usize;
        self.collecting += 1;
        let close = loop {
            let Some(token) = self.raw() else { break None };
            match token.kind {
                Kind::Punct(Punct::OpenParen) => depth += 1,
                Kind::Punct(Punct::CloseParen) if depth == 0 => break Some(token),
                Kind::Punct(Punct::CloseParen) => depth -= 1,
                Kind::Punct(Punct::Comma) if depth == 0 => {
                    let takes_rest = parameters.variadic && arguments.ends.len() + 1 >= count;
                    if !takes_rest {
                        arguments.ends.push(arguments.tokens.len());
                        continue;
                    }
                }
                _ => {}
            }
            arguments.tokens.push(token.inline());
        };
        self.collecting -= 1;
        self.spend(arguments.tokens.len(), name.span);
        let text = self.interner.text(definition.name);
        let Some(close) = close else {
            if !self.stopped {
                let message = format!("the call of macro `{text}` has no `)`");
                let diagnostic = Diagnostic::new(Code::MacroArguments, name.span.to(open), message);
                self.sink.report(diagnostic);
            }
            return Err(Reported);
        };
        let given = match arguments.ends.len() {
            0 if arguments.tokens.is_empty() && count == 0 => 0,
            commas => commas + 1,
        };
        let missing = count.saturating_sub(given);
        let enough = missing == 0 || (missing == 1 && parameters.variadic);
        if given > count || !enough {
            let plural = |n: usize| if n == 1 { "" } else { "s" };
            let least = if parameters.variadic { count - 1 } else { count };
            let at_least = if parameters.variadic { "at least " } else { "" };
            let message = format!(
                "macro `{text}` takes {at_least}{least} argument{} but is given {given}",
                plural(least)
            );
            let mut diagnostic = Diagnostic::new(Code::MacroArguments, name.span.to(close.span), message);
            if !self.is_built_in(definition.definition) {
                diagnostic = diagnostic.also(definition.definition, "defined here");
            }
            self.sink.report(diagnostic);
            return Err(Reported);
        }
        Ok((arguments, close))
    }

    /// The body with the arguments in it (Prosser's `subst`; C99 6.10.3.1 to 6.10.3.3).
    fn substitute(&mut self, definition: &Macro, call: &Call, arguments: Option<&Arguments>) -> Vec<Tok> {
        let body = &definition.body;
        let mut result: Vec<Tok> = Vec::with_capacity(body.len());
        let mut expanded: Vec<Option<Vec<Tok>>> = Vec::new();
        // The place of the left operand while a `##` waits for its right one.
        let mut paste: Option<Span> = None;
        let mut left = call.body;
        let mut at = 0;
        while let Some(item) = body.get(at)
            && !self.stopped
        {
            at += 1;
            let here = call.place(item.span);
            match item.kind {
                Kind::Paste => {
                    if let Some(index) = self.rest_after_comma(definition, at - 1)
                        && let Some(arguments) = arguments
                    {
                        // GNU: `, ## rest` is nothing if there is no rest, and does not paste otherwise.
                        if arguments.get(index).is_empty() {
                            result.pop();
                            at += 1;
                        }
                        continue;
                    }
                    paste = Some(left);
                    continue;
                }
                Kind::Optional(count) => {
                    if !self.has_rest(definition, arguments) {
                        at += usize::from(count);
                        let nothing = Tok { kind: Kind::Placemarker, span: here, ..*item };
                        self.push(&mut result, nothing, &mut paste, call);
                    }
                }
                Kind::Parameter(index) => {
                    let index = usize::from(index);
                    let raw = arguments.map_or(&[][..], |arguments| arguments.get(index));
                    let pasted = definition.is_pasted(at - 1)
                        && self.rest_after_comma(definition, at.wrapping_sub(2)).is_none();
                    let start = result.len();
                    if pasted {
                        self.spend(raw.len(), call.span);
                        result.extend_from_slice(raw);
                        if raw.is_empty() {
                            let placemarker = Tok { kind: Kind::Placemarker, span: here, ..*item };
                            result.push(placemarker);
                        }
                    } else {
                        if expanded.len() <= index {
                            expanded.resize(index + 1, None);
                        }
                        if expanded[index].is_none() {
                            expanded[index] = Some(self.expand_all(raw.to_vec()));
                        }
                        let tokens = expanded[index].as_deref().unwrap_or_default();
                        self.spend(tokens.len(), call.span);
                        if !self.stopped {
                            result.extend_from_slice(tokens);
                        }
                    }
                    self.adopt(&mut result[start..], call);
                    if let Some(first) = result.get_mut(start) {
                        *first = first.spaced_as(item.flags);
                    }
                    if let Some(left) = paste.take() {
                        self.paste(&mut result, start, left.to(here), call);
                    }
                }
                Kind::Stringize(index) => {
                    let raw = arguments.map_or(&[][..], |arguments| arguments.get(usize::from(index)));
                    let text = self.stringize(raw);
                    self.spend_text(text.len(), call.span);
                    let kind = Kind::String(self.interner.intern(&text));
                    self.push(
                        &mut result,
                        Tok { kind, span: here, hide: call.hide, ..*item },
                        &mut paste,
                        call,
                    );
                }
                kind => {
                    let token = Tok { kind, span: here, hide: call.hide, ..*item };
                    self.push(&mut result, token, &mut paste, call);
                }
            }
            left = here;
        }
        result.retain(|token| token.kind != Kind::Placemarker);
        result
    }

    /// Whether the variable arguments stand for anything.
    fn has_rest(&mut self, definition: &Macro, arguments: Option<&Arguments>) -> bool {
        let (Shape::Function(parameters), Some(arguments)) = (&definition.shape, arguments) else {
            return false;
        };
        let rest = arguments.get(parameters.names.len() - 1).to_vec();
        !self.expand_all(rest).is_empty()
    }

    fn push(&mut self, result: &mut Vec<Tok>, token: Tok, paste: &mut Option<Span>, call: &Call) {
        let start = result.len();
        result.push(token);
        if let Some(left) = paste.take() {
            self.paste(result, start, left.to(token.span), call);
        }
    }

    /// The parameter that takes the rest, if `,` is before the `##` at this place of the body and it is after.
    fn rest_after_comma(&self, definition: &Macro, at: usize) -> Option<usize> {
        let Shape::Function(parameters) = &definition.shape else { return None };
        let body = &definition.body;
        let is_paste = body.get(at)?.kind == Kind::Paste;
        let comma = body.get(at.checked_sub(1)?)?.is(Punct::Comma);
        let Kind::Parameter(index) = body.get(at + 1)?.kind else { return None };
        let index = usize::from(index);
        (is_paste && comma && parameters.variadic && index + 1 == parameters.names.len()).then_some(index)
    }

    /// Makes argument tokens part of the expansion: their hide sets, and positions that lead back to them.
    fn adopt(&mut self, tokens: &mut [Tok], call: &Call) {
        // Tokens that stand together have mostly one set.
        let mut last = (HideSet::default(), call.hide);
        let mut start = 0;
        while start < tokens.len() {
            // A run of tokens that stand near each other is one entry of the source map.
            let spelling = tokens[start].span;
            let mut end = spelling.hi;
            let mut length = 1;
            while let Some(next) = tokens.get(start + length) {
                if next.span.lo < end || next.span.lo - end > 32 {
                    break;
                }
                end = next.span.hi.max(end);
                length += 1;
            }
            let expansion = Expansion {
                name: call.name,
                call: call.span,
                spelling: spelling.lo,
                repeats: Repeats::Argument,
            };
            let base = self.map.add_expansion(expansion, end.saturating_sub(spelling.lo) as usize);
            if base.is_none() {
                self.out_of_positions(call.span);
            }
            for token in &mut tokens[start..start + length] {
                if let Some(base) = base {
                    let span = token.span;
                    token.span = Span::new(base + (span.lo - spelling.lo), base + (span.hi - spelling.lo));
                }
                if token.hide != last.0 {
                    last = (token.hide, self.hide_sets.union(token.hide, call.hide));
                }
                token.hide = last.1;
            }
            start += length;
        }
    }

    /// C99 6.10.3.3: joins the token before `at` with the one there.
    fn paste(&mut self, result: &mut Vec<Tok>, at: usize, span: Span, call: &Call) {
        let (Some(left), Some(right)) = (at.checked_sub(1).map(|left| result[left]), result.get(at).copied())
        else {
            return;
        };
        let glued = match (left.kind, right.kind) {
            (_, Kind::Placemarker) => left,
            (Kind::Placemarker, _) => right.spaced_as(left.flags),
            _ => {
                let text = format!("{}{}", left.spelling(self.interner), right.spelling(self.interner));
                self.spend_text(text.len(), call.span);
                let Some((kind, digraph)) = self.single(&text) else {
                    let message = format!("`{text}`, made by `##`, is not a single token");
                    let diagnostic = Diagnostic::new(Code::MacroPaste, span, message);
                    self.sink.report(diagnostic.note("C99 6.10.3.3"));
                    // Mostly the two are meant to stand as they are; if not, that is not another mistake.
                    result.insert(at, Tok { kind: Kind::Reported, ..right });
                    return;
                };
                let common = self.hide_sets.intersection(left.hide, right.hide);
                let hide = self.hide_sets.union(common, call.hide);
                Tok { kind, span, hide, flags: left.flags.with(Flags::DIGRAPH, digraph) }
            }
        };
        result[at - 1] = glued;
        result.remove(at);
    }

    /// The token that a text is, if it is exactly one, and whether it is punctuation in its second spelling.
    fn single(&mut self, text: &str) -> Option<(Kind, bool)> {
        let mut lexer = Lexer::new(text);
        let first = lexer.next()?;
        let whole = first.start == 0 && first.end as usize == text.len();
        if !whole || lexer.next().is_some() {
            return None;
        }
        let digraph = match first.lexeme {
            Lexeme::Unterminated | Lexeme::UnterminatedComment | Lexeme::Unknown => return None,
            Lexeme::Punct(punct) => punct.spelling() != text,
            _ => false,
        };
        Some((kind(first.lexeme, text, self.interner), digraph))
    }

    /// C99 6.10.3.2
    fn stringize(&self, tokens: &[Tok]) -> String {
        let mut text = String::from("\"");
        for (index, token) in tokens.iter().enumerate() {
            if index != 0 && token.flags.is_spaced() {
                text.push(' ');
            }
            let spelling = token.spelling(self.interner);
            match token.kind {
                Kind::String(_) | Kind::Character(_) | Kind::Unterminated(_) => {
                    for c in spelling.chars() {
                        if matches!(c, '"' | '\\') {
                            text.push('\\');
                        }
                        text.push(c);
                    }
                }
                _ => text.push_str(spelling),
            }
        }
        // A lone backslash at the end would take the quote with it.
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            text.pop();
        }
        text.push('"');
        text
    }

    /// C99 6.10.8
    fn dynamic(&mut self, dynamic: Dynamic) -> Kind {
        let number = match dynamic {
            // What is compiled does not depend on when it is.
            Dynamic::Text(text) => return Kind::String(self.interner.intern(text)),
            Dynamic::BaseFile => {
                let name =
                    self.frames.first().map_or("".into(), |frame| self.map.presumed(frame.id, 0).0.clone());
                return self.file_name(&name);
            }
            Dynamic::File => {
                let name = self.presumed().0;
                return self.file_name(&name);
            }
            Dynamic::Line => self.presumed().1 as usize,
            Dynamic::IncludeLevel => self.include_depth(),
            Dynamic::Counter => {
                self.counter += 1;
                self.counter - 1
            }
        };
        Kind::Number(self.interner.intern(&number.to_string()))
    }

    /// The name of a file as a string literal.
    fn file_name(&mut self, name: &str) -> Kind {
        let name = name.replace('\\', "\\\\").replace('"', "\\\"");
        Kind::String(self.interner.intern(&format!("\"{name}\"")))
    }

    /// As it would be written: for messages and pragmas.
    pub(super) fn spell(&self, tokens: &[Tok]) -> String {
        spell(tokens, self.interner)
    }
}
