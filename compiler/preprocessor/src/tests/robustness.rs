//! Hostile sources: no panics, unbounded work or deep recursion.

use std::fmt::Write as _;

use fastrand::Rng;

use super::*;

fn survives(text: Vec<u8>) {
    let limits = Limits { tokens: 20_000, includes: 300 };
    let lossy = String::from_utf8_lossy(&text).into_owned();
    let files: [(&str, &str); 2] =
        [("dir/a", "#define A B\n#include \"b\"\n#if X\n"), ("dir/b", "F(\n#undef A\n")];
    let run = Run::limited(&Options::default(), text, &files, limits);
    for token in &run.result.tokens {
        assert!(run.map.resolve(token.span).is_some(), "{lossy}");
        run.map.macro_trail(token.span);
    }
    for diagnostic in &run.diagnostics {
        let location = run.map.resolve(diagnostic.span).expect("a location");
        run.map.position(location.file, location.range.end);
    }
    print(&run.result.tokens, &run.map, &run.interner, LineMarkers::Print);
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Rng::with_seed(0x9E37_79B9_7F4A_7C15);
    for _ in 0..2_000 {
        let length = random.usize(..200);
        survives((0..length).map(|_| random.u8(..)).collect());
    }
}

#[test]
fn random_tokens_never_panic() {
    const WORDS: [&str; 64] = [
        "#define ",
        "#undef ",
        "#if ",
        "#ifdef ",
        "#ifndef ",
        "#elif ",
        "#else",
        "#endif",
        "#line ",
        "#pragma ",
        "#include ",
        "#error ",
        "\n",
        "\n",
        "\n",
        "\n",
        "A",
        "B",
        "F",
        "G",
        "X",
        "Y",
        "A",
        "F",
        "G(",
        "F(",
        ")",
        ")",
        "(",
        "(",
        ",",
        ",",
        "#",
        "##",
        "##",
        "__VA_ARGS__",
        "...",
        "defined ",
        "__LINE__",
        "_Pragma",
        "\"once\"",
        "\"a\"",
        "<b>",
        "'c'",
        "1",
        "0",
        "2u",
        "1.5",
        "+",
        "-",
        "/",
        "&&",
        "||",
        "?",
        ":",
        "<",
        " ",
        " ",
        "\\\n",
        "??/\n",
        "/*",
        "*/",
        "//",
        "\u{e9}",
    ];
    let mut random = Rng::with_seed(0x2545_F491_4F6C_DD1D);
    for _ in 0..3_000 {
        let length = random.usize(..120);
        let mut text =
            String::from("#define F(x,y) x F y##x #y\n#define G(...) F(__VA_ARGS__)\n#define A B F\n");
        for _ in 0..length {
            text.push_str(WORDS[random.usize(..WORDS.len())]);
        }
        survives(text.into_bytes());
    }
}

#[test]
fn expansion_is_limited() {
    let mut text = String::from("#define A0 x x\n");
    for level in 1..100 {
        let _ = writeln!(text, "#define A{level} A{} A{}", level - 1, level - 1);
    }
    text.push_str("A99 done");
    let limits = Limits { tokens: 100_000, includes: 100 };
    let run = Run::limited(&Options::default(), text, &[], limits);
    assert_eq!(run.messages(), ["101:1 macro-limit: the expansion of macros yields too many tokens"]);
    let text = "#define F(x) x x x x\n".to_owned() + &"F(".repeat(40) + "a" + &")".repeat(40);
    let run = Run::limited(&Options::default(), text, &[], limits);
    assert_eq!(run.diagnostics[0].code, Code::MacroLimit);
}

#[test]
fn includes_are_limited() {
    let files = [
        ("dir/a", "#include \"b\"\n#include \"b\"\n"),
        ("dir/b", "#include \"c\"\n#include \"c\"\n"),
        ("dir/c", "#include \"d\"\n#include \"d\"\n"),
        ("dir/d", "#include \"a\"\n#include \"a\"\n"),
    ];
    let limits = Limits { tokens: 100, includes: 100 };
    let run = Run::limited(&Options::default(), "#include \"a\"", &files, limits);
    assert_eq!(run.diagnostics.len(), 1);
    assert_eq!(run.diagnostics[0].code, Code::IncludeDepth);
}

#[test]
fn deep_nesting_uses_no_stack() {
    let deep = |open: &str, inside: &str, close: &str, depth: usize| {
        open.repeat(depth) + inside + &close.repeat(depth)
    };
    let mut chain = String::from("#define A0 1\n");
    for level in 1..5_000 {
        let _ = writeln!(chain, "#define A{level} A{}", level - 1);
    }
    chain.push_str("A4999");
    assert_eq!(pp(&chain), "1");
    survives(chain.into_bytes());
    survives(format!("#if {}\n#endif", deep("(", "1", ")", 100_000)).into_bytes());
    survives(format!("#if {}1\n#endif", "!-~+".repeat(100_000)).into_bytes());
    survives(format!("#if 1{}\n#endif", " ? 1 : 1".repeat(100_000)).into_bytes());
    survives(format!("#if 1{}\n#endif", "+1".repeat(100_000)).into_bytes());
    survives(deep("#if 1\n", "x\n", "#endif\n", 50_000).into_bytes());
    survives(deep("#if 0\n", "x\n", "#endif\n", 50_000).into_bytes());
    survives(format!("#define F(x) x\n{}", deep("F(", "1", ")", 20_000)).into_bytes());
    survives(format!("#define F(x) x\n{}", "F(".repeat(20_000)).into_bytes());
    survives(format!("#define F(x) x F\nF{}", "(1)".repeat(50_000)).into_bytes());
    survives(("#define F(x) x\nF(".to_owned() + &"a,".repeat(100_000)).into_bytes());
    survives(("#define F(".to_owned() + &"a,".repeat(100_000)).into_bytes());
    survives(("#define C(a,b) a##b\n".to_owned() + &"C(C(".repeat(100)).into_bytes());
    survives("_Pragma(".repeat(50_000).into_bytes());
    survives("#line 1 \"a\"\n".repeat(10_000).into_bytes());
}
