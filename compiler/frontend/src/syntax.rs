//! Messages for syntax errors. The parser reports errors as data; this module formats them.

mod branch;
mod common_mistakes;
mod follow_up;
mod languages;
mod loops;
mod parameters;
mod words;

pub(crate) use follow_up::FollowUps;

use kiln_session::{
    diag::{Code, Diagnostic, Sink},
    source::{FileRange, SourceMap},
};
use kiln_syntax::{
    Interner, Span, Symbol,
    parse::{Construct, Expected, Language, SyntaxError, SyntaxErrorKind},
    token::{Keyword, Punct, TokenKind},
};

use self::common_mistakes::ErrorContext;
use crate::foreign;

/// Reported syntax errors that can cause further errors in the type checker.
#[derive(Default)]
pub(crate) struct Reported {
    /// Names that are keywords, and a `;` that ends an `if` before its `else`.
    ranges: Vec<FileRange>,
    /// Functions with default arguments.
    functions: Vec<String>,
}

impl Reported {
    /// Whether one of these errors causes the diagnostic.
    pub(crate) fn covers(&self, diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
        let Some(at) = sources.spelling(diagnostic.span) else { return false };
        let overlaps = |it: &FileRange| {
            it.file == at.file && it.range.start < at.range.end && at.range.start < it.range.end
        };
        self.ranges.iter().any(overlaps)
            || diagnostic.code == Code::ArgumentCount
                && self.functions.iter().any(|name| name == sources.text(&at))
    }
}

/// Reports the parser's errors. An error in a macro definition is reported once, even if the macro is used
/// repeatedly.
pub fn report<'e>(
    errors: impl IntoIterator<Item = &'e SyntaxError>,
    sources: &SourceMap,
    interner: &Interner,
    sink: &mut Sink,
) {
    report_with_consequences(errors, sources, interner, sink);
}

/// Reports the parser's errors. Returns those that can cause further errors in the type checker.
pub(crate) fn report_with_consequences<'e>(
    errors: impl IntoIterator<Item = &'e SyntaxError>,
    sources: &SourceMap,
    interner: &Interner,
    sink: &mut Sink,
) -> Reported {
    let mut reporter = Reporter {
        sources,
        interner,
        reported: Reported::default(),
        in_macros: Vec::new(),
        keywords: Vec::new(),
        undefined: Vec::new(),
    };
    errors.into_iter().for_each(|error| reporter.report(error, sink));
    reporter.reported
}

/// Reports each mistake once.
struct Reporter<'s> {
    sources: &'s SourceMap,
    interner: &'s Interner,
    reported: Reported,
    /// The places in macros with a reported error.
    in_macros: Vec<FileRange>,
    /// The keywords that were declared as names.
    keywords: Vec<&'s str>,
    /// The macros that are not defined.
    undefined: Vec<Symbol>,
}

impl Reporter<'_> {
    fn report(&mut self, error: &SyntaxError, sink: &mut Sink) {
        if self.is_consequence(error, sink) || self.reports_keyword_as_parameter(error, sink) {
            return;
        }
        let known = common_mistakes::explain(error, self.sources, self.interner);
        self.record_consequences(error, known.as_ref());
        let span = known.as_ref().map_or(error.span, |known| known.span);
        if !self.repeats_macro_error(error, span) {
            sink.report(known.unwrap_or_else(|| diagnostic(error, self.sources, self.interner)));
        }
    }

    /// Whether a diagnostic of another error, or of another stage, explains this one.
    fn is_consequence(&mut self, error: &SyntaxError, sink: &Sink) -> bool {
        match error.kind {
            // Each use of a macro that is not defined.
            SyntaxErrorKind::Unexpected { found: TokenKind::Name(name) }
                if is_macro_name(self.interner.text(name)) =>
            {
                let is_known = self.undefined.contains(&name);
                if !is_known {
                    self.undefined.push(name);
                }
                is_known
            }
            // A conditional without `#endif` and a comment without an end remove the rest of the source.
            SyntaxErrorKind::Missing { mark: Punct::CloseBrace, .. } => {
                sink.has_reported(Code::Conditional) || sink.has_reported(Code::UnterminatedComment)
            }
            // The type checker has better messages for these.
            SyntaxErrorKind::Misspelled { keyword, .. } => {
                matches!(keyword, Keyword::Complex | Keyword::Imaginary | Keyword::Pipe)
            }
            // A use of a keyword that was declared as a name.
            _ => unexpected_keyword(error).is_some_and(|keyword| self.keywords.contains(&keyword.spelling())),
        }
    }

    /// Reports a parameter whose name is a keyword, once. Returns whether the error is due to one.
    fn reports_keyword_as_parameter(&mut self, error: &SyntaxError, sink: &mut Sink) -> bool {
        if unexpected_keyword(error).is_none() || self.sources.macro_name(error.span.lo).is_some() {
            return false;
        }
        let Some(context) = ErrorContext::new(error, self.sources) else { return false };
        let Some((range, diagnostic)) = context.keyword_as_parameter() else { return false };
        let range = FileRange { file: context.file, range };
        if !self.reported.ranges.contains(&range) {
            self.reported.ranges.push(range);
            sink.report(diagnostic);
        }
        true
    }

    /// Records what can cause further errors.
    fn record_consequences(&mut self, error: &SyntaxError, known: Option<&Diagnostic>) {
        match (error.kind, known) {
            (SyntaxErrorKind::Expected { what: Expected::Name, .. }, Some(known)) => {
                let location = self.sources.spelling(known.span);
                self.keywords.extend(location.map(|location| self.sources.text(&location)));
            }
            (SyntaxErrorKind::StrayElse { .. }, Some(known)) if known.span != error.span => {
                self.reported.ranges.extend(self.sources.spelling(known.span));
            }
            (
                SyntaxErrorKind::Expected {
                    what: Expected::Mark(Punct::CloseParen | Punct::Comma),
                    found: Some(TokenKind::Punct(Punct::Equal)),
                },
                None,
            ) => {
                let context = ErrorContext::new(error, self.sources);
                let name = context.as_ref().and_then(ErrorContext::function_of_parameter);
                self.reported.functions.extend(name.map(str::to_owned));
            }
            _ => {}
        }
    }

    /// Whether an error at this place in a macro has been reported, for another use of the macro.
    fn repeats_macro_error(&mut self, error: &SyntaxError, span: Span) -> bool {
        let in_macro =
            self.sources.macro_name(error.span.lo).is_some() || is_in_definition(span, self.sources);
        let Some(location) = self.sources.spelling(span).filter(|_| in_macro) else { return false };
        let is_known = self.in_macros.contains(&location);
        if !is_known {
            self.in_macros.push(location);
        }
        is_known
    }
}

/// The keyword that stands where it cannot.
fn unexpected_keyword(error: &SyntaxError) -> Option<Keyword> {
    match error.kind {
        SyntaxErrorKind::Expected {
            what: Expected::Expression,
            found: Some(TokenKind::Keyword(keyword)),
        }
        | SyntaxErrorKind::Unexpected { found: TokenKind::Keyword(keyword) } => Some(keyword),
        _ => None,
    }
}

/// A better diagnostic for an error in a macro whose definition has a blank before the parameters, as in `#define MAX
/// (a, b)`. The parameters are then part of the replacement list, so their names are undeclared.
pub(crate) fn explain_in_macro(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    interner: &Interner,
) -> Option<Diagnostic> {
    if !matches!(diagnostic.code, Code::UndeclaredName | Code::UnknownType | Code::NotCallable) {
        return None;
    }
    let name = sources.macro_name(diagnostic.span.lo)?;
    common_mistakes::spaced_parameters(diagnostic.span, interner.text(name), sources)
}

/// Whether a span is on the line of a macro definition.
fn is_in_definition(span: Span, sources: &SourceMap) -> bool {
    sources.spelling(span).is_some_and(|location| {
        let text = &sources.file(location.file).text;
        let line = text[..location.range.start].rfind('\n').map_or(0, |end| end + 1);
        text[line..].starts_with('#')
    })
}

fn diagnostic(error: &SyntaxError, sources: &SourceMap, interner: &Interner) -> Diagnostic {
    let syntax = |message: String| Diagnostic::new(Code::Syntax, error.span, message);
    match error.kind {
        SyntaxErrorKind::Missing { mark, after, open } => {
            let mark = mark.spelling();
            let message = match construct(after, interner) {
                Some(after) => format!("expected `{mark}` after {after}"),
                None => format!("expected `{mark}`"),
            };
            let diagnostic = syntax(message).fix(error.span, format!("insert `{mark}`"), mark);
            match open {
                Some(open) => diagnostic.also(open, format!("to match this `{}`", opening(mark))),
                None => diagnostic,
            }
        }
        SyntaxErrorKind::Expected { what, found } => expected_diagnostic(error.span, what, found, interner),
        SyntaxErrorKind::Misspelled { name, keyword } => {
            // The words without underscores are only keywords of GNU C.
            let meant = match keyword {
                Keyword::Typeof => "__typeof__",
                Keyword::Asm => "__asm__",
                _ => keyword.spelling(),
            };
            Diagnostic::new(Code::Syntax, error.span, format!("`{}` is not declared", interner.text(name)))
                .help(format!("did you mean `{meant}`?"))
                .replace(error.span, meant)
        }
        SyntaxErrorKind::Foreign { name, language, keyword } => {
            foreign_keyword(error.span, interner.text(name), language, keyword)
        }
        SyntaxErrorKind::StrayElse { condition } => {
            let diagnostic = syntax("this `else` has no `if`".to_owned());
            match condition {
                Some(condition) => diagnostic
                    .also(condition, "this `if` ends after one statement")
                    .help("the statements between `if` and `else` need braces around them"),
                None => diagnostic,
            }
        }
        SyntaxErrorKind::Unexpected { found: TokenKind::Name(name) }
            if is_macro_name(interner.text(name)) =>
        {
            let name = interner.text(name);
            syntax(format!("extraneous `{name}`"))
                .help("if it is a macro, define it or include its header; otherwise remove it")
                .fix(error.span, format!("remove `{name}`"), "")
        }
        SyntaxErrorKind::Unexpected { found } => {
            let shown = token(found, interner);
            syntax(format!("extraneous {shown}")).fix(error.span, format!("remove {shown}"), "")
        }
        // The type checker has better messages for these, if it reaches them.
        SyntaxErrorKind::UnknownType(name) => {
            let name = interner.text(name);
            let message = format!("there is no type `{name}`");
            let mut diagnostic = Diagnostic::new(Code::UnknownType, error.span, message);
            diagnostic.notes.extend(foreign::explain_word(name));
            diagnostic
        }
        SyntaxErrorKind::MissingType(name) => {
            let diagnostic = syntax(format!("expected a type before `{}`", interner.text(name)));
            match precedes(sources, error.span, "auto") {
                true => diagnostic
                    .help("write the type instead of `auto`; a lambda becomes a function at program scope")
                    .note("C99 6.7.1: `auto` is a storage class; C++ and C23 deduce the type"),
                false => diagnostic,
            }
        }
        SyntaxErrorKind::TypeAsValue(name) => {
            let name = interner.text(name);
            let diagnostic = syntax(format!("expected an expression, but `{name}` is a type"))
                .help(format!("a vector literal or a cast is written `({name})(…)`"));
            match follows(sources, error.span, "(") {
                true => diagnostic.fix(error.span, format!("write `({name})`"), format!("({name})")),
                false => diagnostic,
            }
        }
        SyntaxErrorKind::Nesting => {
            Diagnostic::new(Code::NestingDepth, error.span, "the source is nested too deeply here")
                .help("split the expression or the statement")
        }
    }
}

fn expected_diagnostic(
    span: Span,
    what: Expected,
    found: Option<TokenKind>,
    interner: &Interner,
) -> Diagnostic {
    let shown = expected(what);
    let message = match found {
        Some(found) => format!("expected {shown} before {}", token(found, interner)),
        None => format!("expected {shown} before the end of the source"),
    };
    let diagnostic = Diagnostic::new(Code::Syntax, span, message);
    match (what, found) {
        (Expected::Name, Some(TokenKind::Keyword(keyword))) => {
            diagnostic.help(format!("`{}` is a keyword; choose another name", keyword.spelling()))
        }
        (Expected::Mark(Punct::CloseParen | Punct::Comma), Some(TokenKind::Punct(Punct::Equal))) => {
            diagnostic.help("OpenCL C has no default arguments; pass the value in each call")
        }
        (Expected::Expression, Some(TokenKind::Punct(Punct::OpenBracket))) => {
            diagnostic.help("OpenCL C has no lambdas; write a function at program scope")
        }
        _ => diagnostic,
    }
}

/// The diagnostic of a keyword of another language. `keyword` is that of OpenCL C with the same meaning.
fn foreign_keyword(span: Span, name: &str, language: Language, keyword: Option<Keyword>) -> Diagnostic {
    let language = match language {
        Language::Cuda => "CUDA",
        Language::Glsl => "GLSL",
        Language::Hlsl => "HLSL",
        Language::Metal => "Metal",
        Language::ObjectiveC => "Objective-C",
    };
    let message = format!("`{name}` is a keyword of {language}");
    let diagnostic = Diagnostic::new(Code::Syntax, span, message);
    match keyword.map(Keyword::spelling) {
        Some(meant) => diagnostic.help(format!("write `{meant}`")).replace(span, meant),
        None => diagnostic.help("leave it out").fix(span, "remove it", ""),
    }
}

/// Whether a name is written like that of a macro.
fn is_macro_name(name: &str) -> bool {
    name.len() > 1 && !name.contains(|c: char| c.is_lowercase())
}

/// Whether this text follows in the file.
fn follows(sources: &SourceMap, span: Span, text: &str) -> bool {
    sources.spelling(span).is_some_and(|location| {
        sources.file(location.file).text.get(location.range.end..).is_some_and(|rest| rest.starts_with(text))
    })
}

/// Whether this word precedes it in the file.
fn precedes(sources: &SourceMap, span: Span, word: &str) -> bool {
    sources.spelling(span).is_some_and(|location| {
        let before = sources.file(location.file).text[..location.range.start].trim_end();
        before
            .strip_suffix(word)
            .is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

fn opening(closing: &str) -> &'static str {
    match closing {
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}

fn construct(after: Construct, interner: &Interner) -> Option<String> {
    Some(match after {
        Construct::Expression => "the expression".to_owned(),
        Construct::Declaration => "the declaration".to_owned(),
        Construct::TypeDefinition => "the type definition".to_owned(),
        Construct::Parameter => "the parameter".to_owned(),
        Construct::Statement => "the statement".to_owned(),
        Construct::Label => "the label".to_owned(),
        Construct::Token(kind) => token(kind, interner),
        Construct::Start => return None,
    })
}

fn expected(what: Expected) -> String {
    match what {
        Expected::Mark(mark) => format!("`{}`", Punct::spelling(mark)),
        Expected::Expression => "an expression".to_owned(),
        Expected::Statement => "a statement".to_owned(),
        Expected::Declaration => "a declaration".to_owned(),
        Expected::Item => "a declaration or a function".to_owned(),
        Expected::Member => "a member".to_owned(),
        Expected::Parameter => "a parameter".to_owned(),
        Expected::Type => "a type".to_owned(),
        Expected::Name => "a name".to_owned(),
        Expected::While => "`while`".to_owned(),
        Expected::Attribute => "an attribute".to_owned(),
        Expected::String => "a string literal".to_owned(),
        Expected::Other => "something else".to_owned(),
    }
}

fn token(kind: TokenKind, interner: &Interner) -> String {
    match kind {
        TokenKind::Keyword(keyword) => format!("`{}`", keyword.spelling()),
        TokenKind::Punct(punct) => format!("`{}`", punct.spelling()),
        TokenKind::Name(symbol)
        | TokenKind::Integer(symbol)
        | TokenKind::Floating(symbol)
        | TokenKind::Character(symbol)
        | TokenKind::String(symbol) => format!("`{}`", interner.text(symbol)),
        TokenKind::Pragma(_) => "the pragma".to_owned(),
        TokenKind::Unknown => "this".to_owned(),
    }
}
