//! Messages for syntax errors. The parser reports errors as data; this module words them.

mod shadow;

pub(crate) use shadow::Shadows;

use kiln_session::{
    diag::{Code, Diagnostic, Sink},
    source::SourceMap,
};
use kiln_syntax::{
    Interner,
    parse::{Construct, Expected, SyntaxError, SyntaxErrorKind},
    token::{Punct, TokenKind},
};

/// Reports the parser's errors. An error in a macro definition is reported once, even if the macro is used
/// repeatedly.
pub fn report<'e>(
    errors: impl IntoIterator<Item = &'e SyntaxError>,
    sources: &SourceMap,
    interner: &Interner,
    sink: &mut Sink,
) {
    let mut in_macros = Vec::new();
    for error in errors {
        let spelling = sources.macro_name(error.span.lo).and_then(|_| sources.spelling(error.span));
        if let Some(place) = spelling {
            if in_macros.contains(&place) {
                continue;
            }
            in_macros.push(place);
        }
        sink.report(diagnostic(error, interner));
    }
}

fn diagnostic(error: &SyntaxError, interner: &Interner) -> Diagnostic {
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
        SyntaxErrorKind::Expected { what, found } => {
            let what = expected(what);
            syntax(match found {
                Some(found) => format!("expected {what} before {}", token(found, interner)),
                None => format!("expected {what} before the end of the source"),
            })
        }
        SyntaxErrorKind::Unexpected { found } => {
            let shown = token(found, interner);
            syntax(format!("extraneous {shown}")).fix(error.span, format!("remove {shown}"), "")
        }
        // The type checker has better messages for these, if it reaches them.
        SyntaxErrorKind::UnknownType(name) => {
            let name = interner.text(name);
            Diagnostic::new(Code::UnknownType, error.span, format!("there is no type `{name}`"))
        }
        SyntaxErrorKind::MissingType(name) => {
            syntax(format!("expected a type before `{}`", interner.text(name)))
        }
        SyntaxErrorKind::TypeAsValue(name) => {
            let name = interner.text(name);
            syntax(format!("expected an expression, `{name}` is a type"))
                .help(format!("a vector literal or a cast is written `({name})(…)`"))
        }
        SyntaxErrorKind::Nesting => {
            Diagnostic::new(Code::NestingDepth, error.span, "the source is nested too deeply here")
                .help("split the expression or the statement")
        }
    }
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
