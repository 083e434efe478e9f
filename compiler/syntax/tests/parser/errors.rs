//! Syntax errors for common mistakes: the message and its position.

use kiln_syntax::{
    Interner, SyntaxError, SyntaxErrorKind,
    parse::{Construct, Expected},
    token::TokenKind,
};

use crate::support::read;

/// Checks the reports, each as `offset what`. `$` marks the offsets in the text.
#[track_caller]
fn check(marked: &str, reports: &[&str]) {
    let offsets: Vec<_> = marked.match_indices('$').enumerate().map(|(i, (at, _))| at - i).collect();
    let text = marked.replace('$', "");
    let (parsed, _, interner) = read(&text);
    let described: Vec<_> = parsed.errors.iter().map(|error| describe(error, &interner)).collect();
    assert_eq!(described, reports, "{text}");
    let starts: Vec<_> = parsed.errors.iter().map(|error| error.span.lo as usize).collect();
    assert_eq!(starts, offsets, "{text}");
}

fn describe(error: &SyntaxError, interner: &Interner) -> String {
    let token = |kind: TokenKind| match kind {
        TokenKind::Keyword(keyword) => keyword.spelling().to_owned(),
        TokenKind::Punct(punct) => punct.spelling().to_owned(),
        TokenKind::Name(text) | TokenKind::Integer(text) | TokenKind::String(text) => {
            interner.text(text).to_owned()
        }
        other => format!("{other:?}"),
    };
    match error.kind {
        SyntaxErrorKind::Missing { mark, after, open } => {
            let after = match after {
                Construct::Token(kind) => token(kind),
                construct => format!("{construct:?}").to_lowercase(),
            };
            let open = open.map(|open| format!(" opened at {}", open.lo)).unwrap_or_default();
            format!("missing {} after {after}{open}", mark.spelling())
        }
        SyntaxErrorKind::Expected { what, found } => {
            let what = match what {
                Expected::Mark(mark) => mark.spelling().to_owned(),
                what => format!("{what:?}").to_lowercase(),
            };
            format!("expected {what} before {}", found.map_or("the end".to_owned(), token))
        }
        SyntaxErrorKind::Unexpected { found } => format!("unexpected {}", token(found)),
        SyntaxErrorKind::Misspelled { name, .. } | SyntaxErrorKind::Foreign { name, .. } => {
            format!("misspelled {}", interner.text(name))
        }
        SyntaxErrorKind::StrayElse { .. } => "stray else".to_owned(),
        SyntaxErrorKind::UnknownType(name) => format!("unknown type {}", interner.text(name)),
        SyntaxErrorKind::MissingType(name) => format!("no type before {}", interner.text(name)),
        SyntaxErrorKind::TypeAsValue(name) => format!("type {} as value", interner.text(name)),
        SyntaxErrorKind::Nesting => "too deep".to_owned(),
    }
}

#[test]
fn missing_semicolon_is_reported_after_the_previous_token() {
    check("void f(int a) { a = 1$ \n a = 2; }", &["missing ; after expression"]);
    check("void f(int a) { return a$\n}", &["missing ; after statement"]);
    check("void f(int a) { int b = 1$\n a = b; }", &["missing ; after declaration"]);
    check("void f(int a) { int b$\n a = b; }", &["missing ; after declaration"]);
    check("int x$\nint y;", &["missing ; after declaration"]);
    check("struct S { int a; }$\nvoid f(void) { }", &["missing ; after typedefinition"]);
    check("struct S { int a$\n int b; };", &["missing ; after declaration"]);
    check("void f(int a) { do a++; while (a)$\n}", &["missing ; after statement"]);
    check("void f(int a) { for (a = 1; a < 3$) ; }", &["missing ; after expression"]);
}

#[test]
fn missing_bracket_refers_to_its_opening_bracket() {
    check("void f(int a) { if (a$ { } }", &["missing ) after expression opened at 19"]);
    check("void f(int a) { if$ a) { } }", &["missing ( after statement"]);
    check("void f(int a) { int b[3$; a = 1; }", &["missing ] after expression opened at 21"]);
    check("void f(int a$ { a = 1; }", &["missing ) after parameter opened at 6"]);
    check(
        "void f(int a) { a = 1;$\n\nkernel void g(void) { } kernel void h(void) { }",
        &["missing } after ; opened at 14"],
    );
    check("void f(int a) { a = 1;$", &["missing } after ; opened at 14"]);
    check("void f(int a) { } $}\nint x;", &["unexpected }"]);
    check("void f(int a) { { a = 1; }$} a = 2; }\nint x;", &["unexpected }"]);
}

#[test]
fn unknown_types_are_reported_once() {
    check("$foo x;", &["unknown type foo"]);
    check("$foo *x; foo y; foo f(foo z) { foo w = (foo)z; return w; }", &["unknown type foo"]);
    check("void f($foo *a, int b) { }", &["unknown type foo"]);
    check("void f(const $foo *a, $bar b) { }", &["unknown type foo", "unknown type bar"]);
    check("int x = ($foo)3;", &["unknown type foo"]);
    check("int x = *($foo *)3;", &["unknown type foo"]);
    check("struct S { int a; $foo *b; };", &["unknown type foo"]);
    check("void f(void) { $foo x = 3; x = 4; }", &["unknown type foo"]);
    check("const $x = 1;", &["no type before x"]);
    check("kernel $f(global int *p) { }", &["no type before f"]);
    check("void f(void) { float4 v = $float4(1, 2, 3, 4); }", &["type float4 as value"]);
}

#[test]
fn expected_construct_is_named() {
    check("int x = $;", &["expected expression before ;"]);
    check("int x = 1 + $;", &["expected expression before ;"]);
    check("void f(int a) { f(a, $); }", &["expected expression before )"]);
    check("void f(int a) { while ($) ; }", &["expected expression before )"]);
    check("int $= 3;", &["expected name before ="]);
    check("void f(int a) { goto $; }", &["expected name before ;"]);
    check("void f(int a) { a. $= 1; }", &["expected name before ="]);
    check("void f(int a) { switch (a) { case 1: $} }", &["expected statement before }"]);
    check("void f(int a) { if (a) $int b = 1; }", &["expected statement before int"]);
    check("void f(int a) { $else a; }", &["stray else"]);
    check("void f(int a) { do { } $(a); }", &["expected while before ("]);
    check("int a[] = { 1, 2$ 3 };", &["missing , after expression"]);
    check("enum { A$ B };", &["missing , after A"]);
    check("int x = $_Thread_local(1, int: 2);", &["expected expression before _Thread_local"]);
    check("void f(int $&x) { }", &["unexpected &"]);
    check("void f(int a) { a = a +* $/ a; }", &["expected expression before /"]);
}

#[test]
fn lexer_errors_are_not_repeated() {
    check("int ` x @ = 1;", &[]);
    check(
        "void f(int a) { f(\"unterminated);\n a = 1; }\nint g(int a) { return a$ }",
        &["missing ; after statement"],
    );
}

#[test]
fn separate_errors_are_reported_separately() {
    check(
        "void f(int a) { a = $; }\nint g(int a) { return a$ }\nint h(int a) { a = (a$; f(a); if (a$ return 1; }",
        &[
            "expected expression before ;",
            "missing ; after statement",
            "missing ) after expression opened at 69",
            "missing ) after expression opened at 82",
        ],
    );
    let many = "void f(int a) { a = ; }\n".repeat(200);
    let (parsed, ..) = read(&many);
    assert_eq!(parsed.errors.len(), 64);
    assert_eq!(parsed.unit.items.len(), 200);
}
