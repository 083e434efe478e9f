//! Nonsensical and deeply nested input: parsing, dropping and printing the tree succeed on the 2 MiB stack of a test.

use kiln_syntax::{
    Arena, Interner, SyntaxErrorKind, parse,
    parse::{MAX_BRACKETS, MAX_DEPTH},
    token::{Keyword, Punct, Token, TokenKind},
};

use crate::support::{read, tokenize};

fn errors(text: &str) -> Vec<SyntaxErrorKind> {
    read(text).0.errors.into_iter().map(|error| error.kind).collect()
}

fn in_function(body: &str) -> String {
    format!("void f(int a) {{ {body} }}\nint after;")
}

#[test]
fn brackets_nest_up_to_the_limit() {
    let nested = |open: &str, close: &str, n: usize| {
        in_function(&format!("a = {}a{};", open.repeat(n), close.repeat(n)))
    };
    // One brace is the function's.
    assert_eq!(errors(&nested("(", ")", MAX_BRACKETS - 1)), []);
    for (open, close) in [("(", ")"), ("a[", "]"), ("f(", ")"), ("(int)(", ")"), ("({", ";})"), ("-(", ")")] {
        assert_eq!(errors(&nested(open, close, MAX_BRACKETS)), [SyntaxErrorKind::Nesting], "{open}");
        assert_eq!(errors(&nested(open, close, 100_000)), [SyntaxErrorKind::Nesting], "{open}");
    }
    let blocks = |n: usize| in_function(&format!("{}{}", "{".repeat(n), "}".repeat(n)));
    assert_eq!(errors(&blocks(MAX_BRACKETS - 1)), []);
    assert_eq!(errors(&blocks(MAX_BRACKETS)), [SyntaxErrorKind::Nesting]);
    assert_eq!(errors(&format!("int x = {}", "(".repeat(100_000))), [SyntaxErrorKind::Nesting]);
}

#[test]
fn chains_grow_up_to_the_limit() {
    let limit = MAX_DEPTH as usize;
    for (piece, counted) in [
        ("a + ", 1),
        ("a = ", 1),
        ("a ? a : ", 1),
        ("a[a] + ", 1),
        ("a * a + ", 1),
        ("a * (a + a) + ", 1),
        ("a == a ? a : ", 1),
        ("(int)-", 2),
        ("(typeof(a))-", 2),
        ("(int (*)[3])-", 2),
        ("a, ", 1),
        ("- ", 1),
        ("sizeof ", 1),
        ("(int) ", 1),
        ("*&", 2),
    ] {
        let chain = |n: usize| in_function(&format!("{}a;", piece.repeat(n)));
        assert_eq!(errors(&chain(limit / counted - 6)), [], "{piece}");
        assert_eq!(errors(&chain(limit / counted + 1)), [SyntaxErrorKind::Nesting], "{piece}");
        assert_eq!(errors(&chain(100_000)), [SyntaxErrorKind::Nesting], "{piece}");
    }
    for (begin, piece, end) in
        [("a", ".x", ";"), ("a", "[0]", ";"), ("f", "()", ";"), ("", "if (a) a; else ", ";")]
    {
        let chain = |n: usize| in_function(&format!("{begin}{}{end}", piece.repeat(n)));
        assert_eq!(errors(&chain(limit - 4)), [], "{piece}");
        assert_eq!(errors(&chain(limit + 1)), [SyntaxErrorKind::Nesting], "{piece}");
        assert_eq!(errors(&chain(100_000)), [SyntaxErrorKind::Nesting], "{piece}");
    }
    for piece in ["if (a) ", "while (a) ", "for (;;) ", "do ", "case 1: ", "l: ", "switch (a) "] {
        let chain = in_function(&format!("{}a;", piece.repeat(limit + 1)));
        assert_eq!(errors(&chain), [SyntaxErrorKind::Nesting], "{piece}");
    }
}

#[test]
fn siblings_have_no_limit() {
    let many = 20_000;
    for (begin, piece, end) in [
        ("int a[] = { ", "1, ", "1 };"),
        ("int a[] = { ", "{ 1 + 1, -1 }, ", "};"),
        ("enum { ", "E, ", "F };"),
        ("void f(", "int, ", "int);"),
        ("int ", "a = 1 + 1, ", "b;"),
        ("void f(int a) { f(", "a + 1, ", "a); }"),
        ("void f(int a) { ", "a = a + 1; ", "}"),
        ("void f(int a) { ", "if (a) { a = 1; } else a = 2; ", "}"),
        ("void f(int a) { ", "while (a) { } while (a) a = 1; ", "}"),
        ("void f(int a) { ", "do { } while (a); ", "}"),
        ("void f(int a) { ", "{ } *&a = 1; ", "}"),
        ("struct S { ", "int *a[3]; ", "};"),
        ("char *s = ", "\"s\" ", ";"),
    ] {
        assert_eq!(errors(&format!("{begin}{}{end}", piece.repeat(many))), [], "{piece}");
    }
}

#[test]
fn parsing_continues_after_deep_nesting() {
    let (parsed, printed, _) = read(&in_function(&format!("a = {}a{};", "(".repeat(1000), ")".repeat(1000))));
    assert_eq!(parsed.errors.len(), 1);
    assert_eq!(printed, "<error>\nint after;\n");
}

#[test]
fn random_tokens_are_parsed_to_the_end() {
    let mut interner = Interner::new();
    let (name, number) = (interner.intern("name"), interner.intern("1"));
    let mut kinds: Vec<_> = Keyword::ALL.iter().map(|(_, keyword)| TokenKind::Keyword(*keyword)).collect();
    kinds.extend(Punct::ALL.iter().map(|(_, punct)| TokenKind::Punct(*punct)));
    // Brackets are more frequent, because they determine the structure.
    let brackets =
        [Punct::OpenBrace, Punct::CloseBrace, Punct::OpenParen, Punct::CloseParen, Punct::Semicolon];
    kinds.extend(brackets.iter().cycle().take(100).map(|punct| TokenKind::Punct(*punct)));
    kinds.extend(std::iter::repeat_n(TokenKind::Name(name), 30));
    kinds.extend(std::iter::repeat_n(TokenKind::Name(interner.intern("float4")), 30));
    kinds.extend([
        TokenKind::Integer(number),
        TokenKind::Pragma(name),
        TokenKind::Unknown,
        TokenKind::String(name),
    ]);
    let mut random = fastrand::Rng::with_seed(7);
    for length in (0..300).chain([2000]) {
        let kind = |_| Token { kind: kinds[random.usize(..kinds.len())], span: Default::default() };
        let tokens: Vec<_> = (0..length).map(kind).collect();
        parse(&tokens, &Arena::default(), &kiln_syntax::parse::NoLayout, kiln_syntax::parse::MAX_DEPTH);
    }
}

#[test]
fn prefixes_are_parsed_to_the_end() {
    let mut interner = Interner::new();
    let tokens = tokenize(include_str!("../samples/pixels.cl"), &mut interner);
    for length in 0..tokens.len() {
        let errors = parse(
            &tokens[..length],
            &Arena::default(),
            &kiln_syntax::parse::NoLayout,
            kiln_syntax::parse::MAX_DEPTH,
        )
        .errors;
        assert!(errors.len() <= 2, "{length}: {errors:?}");
    }
}
