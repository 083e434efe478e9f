//! Macro expansion (C99 6.10.3) with Prosser's algorithm: each token has a hide set of macros that must not expand
//! it.
//!
//! Tokens to read are in `pending`, in reverse order. An expansion pushes its result there, so rescanning is ordinary
//! reading. Only the expansion of arguments is recursive.

use super::{
    Preprocessor,
    arguments::{Arguments, Reported},
    hide::HideSet,
    limits::ARGUMENT_DEPTH,
    macros::{Dynamic, Macro, MacroKind},
    substitute::Call,
    token::{Kind, Tok, spell},
};
use kiln_session::{
    diag::{Code, Diagnostic},
    source::{Expansion, ExpansionKind},
};
use kiln_syntax::{Span, token::Punct};

impl Preprocessor<'_> {
    /// The next token after macro expansion.
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

    /// Expands tokens in isolation.
    pub(super) fn expand_all(&mut self, tokens: Vec<Tok>) -> Vec<Tok> {
        if !self.is_changed(&tokens) {
            return tokens;
        }
        let mut result = Vec::with_capacity(tokens.len());
        self.expand_into(&tokens, &mut result);
        result
    }

    /// Whether expansion would change these tokens.
    pub(super) fn is_changed(&self, tokens: &[Tok]) -> bool {
        let acts = |name| self.macros.is_defined(name) || (self.in_condition && self.words.is_operator(name));
        tokens.iter().any(|token| token.name().is_some_and(acts))
    }

    /// Expands tokens in isolation and appends the result. Call it only if `is_changed`.
    pub(super) fn expand_into(&mut self, tokens: &[Tok], result: &mut Vec<Tok>) {
        if self.depth == ARGUMENT_DEPTH {
            let span = tokens[0].span;
            let message = format!(
                "calls of macros are nested in each other's arguments more than {ARGUMENT_DEPTH} deep"
            );
            self.stop(Diagnostic::new(Code::MacroLimit, span, message));
            return;
        }
        let mut inner = self.buffers.take();
        inner.extend(tokens.iter().rev());
        let outer = std::mem::replace(&mut self.pending, inner);
        let outer_isolated = std::mem::replace(&mut self.isolated, true);
        self.depth += 1;
        while let Some(token) = self.expanded() {
            result.push(token);
        }
        self.depth -= 1;
        self.isolated = outer_isolated;
        let inner = std::mem::replace(&mut self.pending, outer);
        self.buffers.recycle(inner);
    }

    /// Pushes the expansion of a macro to the pending tokens. Returns `false` if the macro is function-like and is not
    /// called.
    fn expand(&mut self, token: Tok, definition: &Macro) -> bool {
        match &definition.kind {
            MacroKind::Dynamic(dynamic) => {
                let kind = self.dynamic(*dynamic);
                self.pending.push(Tok { kind, ..token });
                true
            }
            MacroKind::Object => {
                self.replace(token, token.span, token.hide, definition, &mut Arguments::default())
            }
            MacroKind::Function(_) if !self.is_called() => false,
            MacroKind::Function(parameters) => {
                let mut arguments = self.buffers.take_arguments();
                let replaced = match self.read_arguments(&mut arguments, token, definition, parameters) {
                    Ok(close) => {
                        let hide = self.hide_sets.intersection(token.hide, close.hide);
                        self.replace(token, token.span.to(close.span), hide, definition, &mut arguments)
                    }
                    Err(Reported) => {
                        self.pending.push(Tok { kind: Kind::Reported, ..token });
                        true
                    }
                };
                self.buffers.give_arguments(arguments);
                replaced
            }
        }
    }

    /// Pushes the body, with the arguments of a call, to the pending tokens. Fails if the source map is full.
    fn replace(
        &mut self,
        name: Tok,
        span: Span,
        hide: HideSet,
        definition: &Macro,
        arguments: &mut Arguments,
    ) -> bool {
        let hide = self.hide_sets.with(hide, definition.name);
        let body = definition.body_span();
        let expansion =
            Expansion { name: definition.name, call: span, spelling: body.lo, kind: ExpansionKind::Body };
        let length = body.hi.saturating_sub(body.lo) as usize;
        let Some(base) = self.map.add_expansion(expansion, length) else {
            self.out_of_positions(span);
            return false;
        };
        let mut call = Call::new(definition.name, span, hide, base.wrapping_sub(body.lo));
        self.spend(definition.body.len() + 1, span);
        let mut result = self.buffers.take();
        self.substitute(definition, &mut call, arguments, &mut result);
        if let Some(first) = result.first_mut() {
            *first = first.spaced_as(name.flags);
        }
        self.pending.extend(result.iter().rev());
        self.buffers.recycle(result);
        true
    }

    /// Whether the next token is `(`.
    fn is_called(&mut self) -> bool {
        let next = match self.pending.last() {
            None if !self.isolated => self.frames.last_mut().and_then(|frame| frame.peek(self.interner)),
            next => next.copied(),
        };
        next.is_some_and(|token| token.is(Punct::OpenParen))
    }

    /// The value of a dynamic macro (C99 6.10.8).
    fn dynamic(&mut self, dynamic: Dynamic) -> Kind {
        let number = match dynamic {
            // The output must not depend on the time of compilation.
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
        Kind::Integer(self.interner.intern(&number.to_string()))
    }

    /// A file name as a string literal.
    fn file_name(&mut self, name: &str) -> Kind {
        let name = name.replace('\\', "\\\\").replace('"', "\\\"");
        Kind::String(self.interner.intern(&format!("\"{name}\"")))
    }

    /// The spelling of tokens, for messages and pragmas.
    pub(super) fn spell(&self, tokens: &[Tok]) -> String {
        spell(tokens, self.interner)
    }
}
