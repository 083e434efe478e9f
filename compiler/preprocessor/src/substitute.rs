//! Substitutes arguments into a macro body (Prosser's `subst`; C99 6.10.3.1 to 6.10.3.3).
//!
//! The definition lists the tokens that need processing. All others are copied.

use kiln_session::source::{Expansion, ExpansionKind};
use kiln_syntax::{Span, Symbol};

use super::{
    Preprocessor,
    arguments::Arguments,
    hide::HideSet,
    macros::{Macro, MacroKind},
    token::{Kind, Tok},
};

/// A call that is being expanded.
pub(super) struct Call {
    name: Symbol,
    pub(super) span: Span,
    pub(super) hide: HideSet,
    /// The distance in positions from the body to its expansion.
    shift: u32,
    /// A cache: the hide set of an argument's token and the resulting set. Most tokens share one set.
    adopted: (HideSet, HideSet),
}

impl Call {
    pub(super) fn new(name: Symbol, span: Span, hide: HideSet, shift: u32) -> Self {
        Self { name, span, hide, shift, adopted: (HideSet::default(), hide) }
    }

    /// Maps a token of the body, or its replacement, to the expansion.
    fn token(&self, token: &Tok) -> Tok {
        Tok { span: token.span.shifted(self.shift), hide: self.hide, ..*token }
    }

    /// Copies tokens of the body to the expansion.
    fn copy(&self, body: &[Tok], result: &mut Vec<Tok>) {
        for token in append(body, result) {
            token.span = token.span.shifted(self.shift);
            token.hide = self.hide;
        }
    }
}

/// Appends tokens in one step, and returns the copies.
fn append<'a>(tokens: &[Tok], result: &'a mut Vec<Tok>) -> &'a mut [Tok] {
    let start = result.len();
    result.extend_from_slice(tokens);
    &mut result[start..]
}

impl Preprocessor<'_> {
    /// Appends the body with substituted arguments to the result.
    pub(super) fn substitute(
        &mut self,
        definition: &Macro,
        call: &mut Call,
        arguments: &mut Arguments,
        result: &mut Vec<Tok>,
    ) {
        let body = &definition.body;
        // The span of the left operand of a pending `##`.
        let mut paste: Option<Span> = None;
        let mut left = Span::default();
        let mut done = 0;
        for &at in &definition.special {
            let at = at as usize;
            if at < done {
                continue;
            }
            if self.stopped {
                return;
            }
            call.copy(&body[done..at], result);
            if let Some(last) = result.last().filter(|_| at > done) {
                left = last.span;
            }
            done = at + 1;
            let item = call.token(&body[at]);
            match item.kind {
                Kind::Paste => {
                    if let Some(index) = definition.rest_after_comma(at) {
                        // GNU: `, ## rest` expands to nothing if there is no rest; otherwise it does not paste.
                        if arguments.get(index).is_empty() {
                            result.pop();
                            done += 1;
                        }
                    } else {
                        paste = Some(left);
                    }
                    continue;
                }
                Kind::Optional(count) => {
                    if !self.has_rest(definition, arguments) {
                        done += usize::from(count);
                        let nothing = Tok { kind: Kind::Placemarker, ..item };
                        self.push(result, nothing, &mut paste, call);
                    }
                }
                Kind::Parameter(index) | Kind::Operand(index) => {
                    let start = result.len();
                    match item.kind {
                        Kind::Operand(_) => {
                            self.put_operand(arguments.get(usize::from(index)), &item, call, result)
                        }
                        _ => self.put_argument(arguments, usize::from(index), call, result),
                    }
                    if let Some(first) = result.get_mut(start) {
                        *first = first.spaced_as(item.flags);
                    }
                    if let Some(left) = paste.take() {
                        self.paste(result, start, left.to(item.span), call);
                    }
                }
                Kind::Stringize(index) => {
                    let text = self.stringize(arguments.get(usize::from(index)));
                    self.spend_text(text.len(), call.span);
                    let kind = Kind::String(self.interner.intern(&text));
                    self.push(result, Tok { kind, ..item }, &mut paste, call);
                }
                _ => self.push(result, item, &mut paste, call),
            }
            left = item.span;
        }
        call.copy(&body[done..], result);
        if definition.has_operators {
            result.retain(|token| token.kind != Kind::Placemarker);
        }
    }

    /// Replaces a parameter with the expanded argument.
    fn put_argument(
        &mut self,
        arguments: &mut Arguments,
        index: usize,
        call: &mut Call,
        result: &mut Vec<Tok>,
    ) {
        let tokens = self.expansion(arguments, index);
        self.spend(tokens.len(), call.span);
        if !self.stopped {
            self.adopt(tokens, call, result);
        }
    }

    /// Replaces an operand of `##` with the argument as written.
    fn put_operand(&mut self, written: &[Tok], parameter: &Tok, call: &mut Call, result: &mut Vec<Tok>) {
        let nothing = [Tok { kind: Kind::Placemarker, ..*parameter }];
        self.spend(written.len(), call.span);
        self.adopt(if written.is_empty() { &nothing } else { written }, call, result);
    }

    /// Whether the variable arguments are not empty.
    fn has_rest(&mut self, definition: &Macro, arguments: &mut Arguments) -> bool {
        let MacroKind::Function(parameters) = &definition.kind else { return false };
        !self.expansion(arguments, parameters.names.len() - 1).is_empty()
    }

    fn push(&mut self, result: &mut Vec<Tok>, token: Tok, paste: &mut Option<Span>, call: &Call) {
        let start = result.len();
        result.push(token);
        if let Some(left) = paste.take() {
            self.paste(result, start, left.to(token.span), call);
        }
    }

    /// Makes argument tokens part of the expansion: updates their hide sets and maps their positions to the argument.
    fn adopt(&mut self, tokens: &[Tok], call: &mut Call, result: &mut Vec<Tok>) {
        let mut rest = tokens;
        while let Some(first) = rest.first() {
            // Tokens that are close to each other share one entry of the source map.
            let lo = first.span.lo;
            let mut end = first.span.hi;
            let is_near = |next: &&Tok| {
                let near = next.span.lo.wrapping_sub(end) <= 32;
                end = if near { next.span.hi.max(end) } else { end };
                near
            };
            let length = 1 + rest[1..].iter().take_while(is_near).count();
            let (run, behind) = rest.split_at(length);
            rest = behind;
            let expansion =
                Expansion { name: call.name, call: call.span, spelling: lo, kind: ExpansionKind::Argument };
            let Some(base) = self.map.add_expansion(expansion, end.saturating_sub(lo) as usize) else {
                return self.out_of_positions(call.span);
            };
            let shift = base.wrapping_sub(lo);
            for token in append(run, result) {
                token.span = token.span.shifted(shift);
                if token.hide != call.adopted.0 {
                    call.adopted = (token.hide, self.hide_sets.union(token.hide, call.hide));
                }
                token.hide = call.adopted.1;
            }
        }
    }
}
