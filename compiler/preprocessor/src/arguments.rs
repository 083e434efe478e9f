//! The arguments of function-like macro calls: reading (C99 6.10.3 paragraphs 4, 10 and 11) and expansion (6.10.3.1).
//!
//! Independent of the macro body.

use std::ops::Range;

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, token::Punct};

use super::{
    Preprocessor,
    macros::{Macro, Parameters},
    token::{Kind, Tok},
};

/// The arguments of a call.
#[derive(Default)]
pub(super) struct Arguments {
    /// The tokens of all arguments, as written.
    tokens: Vec<Tok>,
    /// The expansions of arguments that change when expanded.
    expanded: Vec<Tok>,
    each: Vec<Argument>,
}

struct Argument {
    /// The range of its tokens.
    written: Range<usize>,
    expansion: Expansion,
}

/// The expansion of an argument.
enum Expansion {
    Unknown,
    /// The argument itself: it does not change.
    Itself,
    /// This range of the expanded tokens.
    Range(Range<usize>),
}

impl Arguments {
    /// The tokens of an argument, as written.
    pub(super) fn get(&self, index: usize) -> &[Tok] {
        &self.tokens[self.each[index].written.clone()]
    }

    /// Removes all arguments, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.expanded.clear();
        self.each.clear();
    }

    /// Ends an argument. The next one starts here.
    fn end_argument(&mut self) {
        let start = self.each.last().map_or(0, |last| last.written.end);
        let written = start..self.tokens.len();
        self.each.push(Argument { written, expansion: Expansion::Unknown });
    }
}

/// An error that has been reported.
pub(super) struct Reported;

impl Preprocessor<'_> {
    /// Reads the arguments of a call and returns its `)`. Reports errors.
    pub(super) fn read_arguments(
        &mut self,
        arguments: &mut Arguments,
        name: Tok,
        definition: &Macro,
        parameters: &Parameters,
    ) -> Result<Tok, Reported> {
        let open = self.raw().map_or(name.span, |open| open.span);
        let count = parameters.names.len();
        let mut depth = 0_usize;
        self.collecting += 1;
        let close = loop {
            let Some(token) = self.raw() else { break None };
            match token.kind {
                Kind::Punct(Punct::OpenParen) => depth += 1,
                Kind::Punct(Punct::CloseParen) if depth == 0 => break Some(token),
                Kind::Punct(Punct::CloseParen) => depth -= 1,
                Kind::Punct(Punct::Comma) if depth == 0 => {
                    let takes_rest = parameters.variadic && arguments.each.len() + 1 >= count;
                    if !takes_rest {
                        arguments.end_argument();
                        continue;
                    }
                }
                _ => {}
            }
            arguments.tokens.push(token.inline());
        };
        self.collecting -= 1;
        self.spend(arguments.tokens.len(), name.span);
        let Some(close) = close else {
            if !self.stopped {
                let text = self.interner.text(definition.name);
                let message = format!("the call of macro `{text}` has no `)`");
                let diagnostic = Diagnostic::new(Code::MacroArguments, name.span.to(open), message);
                self.sink.report(diagnostic);
            }
            return Err(Reported);
        };
        if count != 0 || !arguments.tokens.is_empty() || !arguments.each.is_empty() {
            arguments.end_argument();
        }
        self.check_count(arguments.each.len(), name.span.to(close.span), definition, parameters)?;
        if arguments.each.len() < count {
            arguments.end_argument();
        }
        Ok(close)
    }

    /// Reports an error if the macro does not take this number of arguments.
    fn check_count(
        &mut self,
        given: usize,
        call: Span,
        definition: &Macro,
        parameters: &Parameters,
    ) -> Result<(), Reported> {
        let count = parameters.names.len();
        let missing = count.saturating_sub(given);
        let enough = missing == 0 || (missing == 1 && parameters.variadic);
        if given <= count && enough {
            return Ok(());
        }
        let text = self.interner.text(definition.name);
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let min = if parameters.variadic { count - 1 } else { count };
        let at_least = if parameters.variadic { "at least " } else { "" };
        let message =
            format!("macro `{text}` takes {at_least}{min} argument{} but is given {given}", plural(min));
        let mut diagnostic = Diagnostic::new(Code::MacroArguments, call, message);
        if !self.is_built_in(definition.definition) {
            diagnostic = diagnostic.also(definition.definition, "defined here");
        }
        self.sink.report(diagnostic);
        Err(Reported)
    }

    /// The expansion of an argument, computed at most once.
    pub(super) fn expansion<'a>(&mut self, arguments: &'a mut Arguments, index: usize) -> &'a [Tok] {
        let Arguments { tokens, expanded, each } = arguments;
        let Argument { written, expansion } = &mut each[index];
        let written = &tokens[written.clone()];
        if let Expansion::Unknown = expansion {
            *expansion = Expansion::Itself;
            if self.is_changed(written) {
                let start = expanded.len();
                self.expand_into(written, expanded);
                *expansion = Expansion::Range(start..expanded.len());
            }
        }
        match expansion {
            Expansion::Range(range) => &expanded[range.clone()],
            Expansion::Itself | Expansion::Unknown => written,
        }
    }
}
