//! `#define` and `#undef` (C99 6.10.3).

use kiln_session::{
    diag::{Change, Code, Diagnostic},
    source::FileKind,
};
use kiln_syntax::{Span, Symbol, token::Punct};
use kiln_vocabulary::opencl::LanguageVersion;

use super::{
    Preprocessor,
    macros::{Entry, Macro, MacroKind, Parameters},
    predefined::Row,
    token::{Flags, Kind, Tok},
};

impl Preprocessor<'_> {
    /// `#define`. `after` is the span after the directive name.
    pub(super) fn define(&mut self, line: &[Tok], after: Span) {
        let Some(definition) = self.definition(line, after) else { return };
        if self.is_fixed(definition.name) {
            self.changes_fixed(definition.name, definition.definition);
        } else if let Some(previous) = self.macro_of(definition.name)
            && !previous.is_same_as(&definition)
        {
            let name = self.interner.text(definition.name);
            let message = format!("`{name}` is defined again with another meaning");
            let mut diagnostic = Diagnostic::new(Code::MacroRedefined, definition.definition, message);
            diagnostic = match self.is_built_in(previous.definition) {
                true => diagnostic.note(format!("OpenCL C predefines `{name}`")),
                false => diagnostic.also(previous.definition, "first defined here"),
            };
            let undefine = format!("#undef {name}");
            diagnostic = diagnostic.help(format!("write `{undefine}` before the second definition"));
            self.sink.report(diagnostic.insert_line(definition.definition, Change::LineBefore(undefine)));
        }
        self.trace_definition(&definition);
        self.macros.define(definition);
    }

    /// `#undef`
    pub(super) fn undef(&mut self, line: &[Tok], after: Span) {
        let Some(name) = self.macro_name(line.first(), after) else { return };
        self.extra_tokens(&line[1..], "undef");
        self.trace_test(line[0].span, name);
        if self.is_fixed(name) {
            self.changes_fixed(name, line[0].span);
        }
        self.macros.undefine(name);
    }

    /// C99 6.10.8 paragraph 4
    fn is_fixed(&self, name: Symbol) -> bool {
        matches!(self.macros.entry(name), Some(Entry::Predefined(Row::Dynamic(_) | Row::Version)))
    }

    fn changes_fixed(&mut self, name: Symbol, span: Span) {
        let message = format!("`{}` is predefined and cannot be changed", self.interner.text(name));
        self.sink.report(
            Diagnostic::new(Code::MacroRedefined, span, message).note("C99 6.10.8 and OpenCL C 6.12"),
        );
    }

    /// The macro with this name, if it is defined.
    pub(super) fn macro_of(&mut self, name: Symbol) -> Option<std::rc::Rc<Macro>> {
        match self.macros.entry(name)? {
            Entry::Defined(index) => Some(self.macros.get(index)),
            Entry::Predefined(row) => Some(self.define_predefined(name, row)),
        }
    }

    pub(super) fn is_built_in(&self, span: Span) -> bool {
        self.map.resolve(span).is_none_or(|location| self.map.file(location.file).kind == FileKind::BuiltIn)
    }

    /// The name in `#define`, `#undef`, `#ifdef` or `#ifndef`.
    pub(super) fn macro_name(&mut self, token: Option<&Tok>, after: Span) -> Option<Symbol> {
        let message = match token.map(|token| token.kind) {
            Some(Kind::Name(name)) if name == self.words.defined => "`defined` cannot be a macro".to_owned(),
            Some(Kind::Name(name)) => return Some(name),
            Some(_) => "a macro's name must be an identifier".to_owned(),
            None => "the name of a macro is missing".to_owned(),
        };
        let span = token.map_or(after, |token| token.span);
        self.sink.report(Diagnostic::new(Code::MacroDefinition, span, message));
        None
    }

    /// Parses a macro definition. `None` if it is invalid.
    pub(super) fn definition(&mut self, line: &[Tok], after: Span) -> Option<Macro> {
        let name = self.macro_name(line.first(), after)?;
        let definition = line[0].span;
        let mut rest = &line[1..];
        let kind = match rest.first() {
            Some(open) if open.is(Punct::OpenParen) && !open.flags.is_spaced() => {
                let (parameters, length) = self.parameters(rest)?;
                rest = &rest[length..];
                MacroKind::Function(parameters)
            }
            Some(first) if !first.flags.is_spaced() => {
                let message =
                    format!("there is no space between `{}` and its replacement", self.interner.text(name));
                let diagnostic = Diagnostic::new(Code::MacroSpace, first.span, message);
                self.sink.report(diagnostic.note("C99 6.10.3 requires white space after a macro's name"));
                MacroKind::Object
            }
            _ => MacroKind::Object,
        };
        let mut body = self.body(rest, &kind)?;
        if matches!(&kind, MacroKind::Function(parameters) if parameters.variadic) {
            body = self.optional_parts(body)?;
        }
        Some(Macro::new(name, definition, kind, body))
    }

    /// Parses the parameters. Also returns the number of tokens.
    fn parameters(&mut self, line: &[Tok]) -> Option<(Parameters, usize)> {
        let mut parameters = Parameters::default();
        let mut at = 1;
        if line.get(at).is_some_and(|token| token.is(Punct::CloseParen)) {
            return Some((parameters, at + 1));
        }
        loop {
            let token = line.get(at).copied();
            match token.map(|token| token.kind) {
                Some(Kind::Name(name)) if name == self.words.va_args => {
                    let message = "`__VA_ARGS__` cannot be a parameter";
                    self.sink.report(Diagnostic::new(Code::MacroDefinition, line[at].span, message));
                    return None;
                }
                Some(Kind::Name(name)) => {
                    if parameters.names.contains(&name) {
                        let message = format!("two parameters have the name `{}`", self.interner.text(name));
                        self.sink.report(Diagnostic::new(Code::MacroDefinition, line[at].span, message));
                        return None;
                    }
                    parameters.names.push(name);
                    at += 1;
                    if line.get(at).is_some_and(|token| token.is(Punct::Ellipsis)) {
                        self.variadic(line[at].span);
                        parameters.variadic = true;
                        at += 1;
                    }
                }
                Some(Kind::Punct(Punct::Ellipsis)) => {
                    self.variadic(line[at].span);
                    parameters.names.push(self.words.va_args);
                    parameters.variadic = true;
                    at += 1;
                }
                _ => return self.bad_parameters(line, at, "expected a parameter's name or `...`"),
            }
            match line.get(at).map(|token| token.kind) {
                Some(Kind::Punct(Punct::CloseParen)) => return Some((parameters, at + 1)),
                Some(Kind::Punct(Punct::Comma)) if !parameters.variadic => at += 1,
                _ if parameters.variadic => {
                    return self.bad_parameters(line, at, "`)` must follow the variable arguments");
                }
                _ => return self.bad_parameters(line, at, "`,` or `)` must follow a parameter"),
            }
            if parameters.names.len() >= usize::from(u16::MAX) {
                return self.bad_parameters(line, at, "a macro cannot have so many parameters");
            }
        }
    }

    fn bad_parameters<T>(&mut self, line: &[Tok], at: usize, message: &str) -> Option<T> {
        let span = line.get(at).or(line.last()).map_or(Span::default(), |token| token.span);
        self.sink.report(Diagnostic::new(Code::MacroDefinition, span, message));
        None
    }

    /// OpenCL C 6.11.f
    fn variadic(&mut self, span: Span) {
        if self.options.std <= LanguageVersion::Cl20 && !self.is_built_in(span) {
            let message = "variadic macros are not part of OpenCL C before 3.0";
            let diagnostic = Diagnostic::new(Code::VariadicMacro, span, message);
            self.sink.report(diagnostic.note("OpenCL C 6.11.f; Kiln accepts those of C99"));
        }
    }

    /// Replaces each `__VA_OPT__( … )` in a replacement list with a count and its tokens (C23 6.10.5.1).
    fn optional_parts(&mut self, body: Vec<Tok>) -> Option<Vec<Tok>> {
        let mut result = Vec::with_capacity(body.len());
        let mut rest = body.into_iter();
        while let Some(mut token) = rest.next() {
            if token.kind != Kind::Name(self.words.va_opt) {
                result.push(token);
                continue;
            }
            let mut depth = 0_usize;
            let mut inside = Vec::new();
            let is_closed = loop {
                let Some(next) = rest.next() else { break false };
                depth += usize::from(next.is(Punct::OpenParen));
                depth = depth.saturating_sub(usize::from(next.is(Punct::CloseParen)));
                match (depth, inside.is_empty()) {
                    // The parenthesis is missing.
                    (0, true) => break false,
                    (0, false) => break true,
                    _ => inside.push(next),
                }
            };
            if !is_closed {
                let message = "`__VA_OPT__` must be followed by parentheses";
                self.sink.report(Diagnostic::new(Code::MacroDefinition, token.span, message));
                return None;
            }
            // Remove the opening parenthesis.
            inside.remove(0);
            if let Some(first) = inside.first_mut() {
                *first = first.spaced_as(token.flags);
            }
            token.kind = Kind::Optional(inside.len() as u16);
            result.push(token);
            result.append(&mut inside);
        }
        Some(result)
    }

    /// Resolves parameters and operators in a replacement list (C99 6.10.3.2, 6.10.3.3).
    fn body(&mut self, line: &[Tok], kind: &MacroKind) -> Option<Vec<Tok>> {
        let parameters = match kind {
            MacroKind::Function(parameters) => Some(parameters),
            MacroKind::Object | MacroKind::Dynamic(_) => None,
        };
        let parameter = |token: Option<&Tok>| {
            let name = token?.name()?;
            let index = parameters?.names.iter().position(|parameter| *parameter == name)?;
            Some(index as u16)
        };
        let mut body: Vec<Tok> = Vec::with_capacity(line.len());
        let mut at = 0;
        while let Some(token) = line.get(at) {
            let mut token = token.inline();
            at += 1;
            if token.is(Punct::HashHash) {
                if body.is_empty() || at == line.len() {
                    let message = "`##` cannot be at the beginning or end of a macro's replacement";
                    let diagnostic = Diagnostic::new(Code::MacroDefinition, token.span, message);
                    self.sink.report(diagnostic.note("C99 6.10.3.3"));
                    return None;
                }
                token.kind = Kind::Paste;
            } else if token.is(Punct::Hash) && parameters.is_some() {
                let Some(index) = parameter(line.get(at)) else {
                    let diagnostic = Diagnostic::new(
                        Code::MacroDefinition,
                        token.span,
                        "`#` is not followed by a parameter",
                    );
                    self.sink.report(diagnostic.note("C99 6.10.3.2"));
                    return None;
                };
                token.kind = Kind::Stringize(index);
                token.span = token.span.to(line[at].span);
                at += 1;
            } else if let Some(index) = parameter(Some(&token)) {
                token.kind = Kind::Parameter(index);
            } else if token.kind == Kind::Name(self.words.va_args) {
                let message = "`__VA_ARGS__` is allowed only in a macro with `...`";
                self.sink
                    .report(Diagnostic::new(Code::MacroDefinition, token.span, message).note("C99 6.10.3"));
                return None;
            }
            if body.is_empty() {
                token.flags = token.flags.with(Flags::SPACE, false);
            }
            body.push(token);
        }
        Some(body)
    }
}
