//! Reports one set of errors in three formats.

use kiln_preprocessor::preprocess;
use kiln_session::{
    Loader, Options, Source,
    diag::{Sink, WarningOptions},
};

use super::*;

struct Header;

impl Loader for Header {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        (path == "dir/a.h").then(|| b"#define BAD(x) x @\n\n  #else\n".to_vec())
    }
}

fn rendered(format: Format, text: &str) -> String {
    let mut map = SourceMap::default();
    let mut interner = Interner::new();
    let mut sink = Sink::new(WarningOptions::default());
    let source = Source { name: "dir/main.cl".to_owned(), text: text.into() };
    preprocess(&Options::default(), source, &Header, &mut map, &mut interner, &mut sink, None);
    let (diagnostics, hidden_errors) = sink.finish(|span| map.order(span));
    let text = render(
        format,
        Sources { map: &map, interner: &interner, displayed: &[] },
        &diagnostics,
        hidden_errors,
    );
    anstream::adapter::strip_str(&text).to_string()
}

const SOURCE: &str =
    "#include \"a.h\"\nint é = BAD(1);\n#define N 1\n#define N 2\n#line 100 \"other.cl\"\n#inclde <x>";

#[test]
fn gcc_format() {
    assert_eq!(
        rendered(Format::Gcc, SOURCE),
        "In file included from dir/main.cl:1:\n\
         dir/a.h:3:3: error: this `#else` has no matching `#if`\n\
         dir/main.cl:2:9: error: the character `@` is not allowed here\n\
         dir/a.h:1:18: note: in the definition of macro `BAD`\n\
         dir/main.cl:4:9: warning: `N` is defined again with another meaning [-Wmacro-redefined]\n\
         dir/main.cl:3:9: note: first defined here\n\
         dir/main.cl:4:9: note: write `#undef N` before the second definition\n\
         other.cl:100:1: error: `#inclde` is not a directive\n\
         other.cl:100:1: note: did you mean `#include`?\n"
    );
}

#[test]
fn rich_format() {
    let text = rendered(Format::Rich, SOURCE);
    for part in [
        "error[conditional]: this `#else` has no matching `#if`",
        "= note: included from dir/main.cl:1",
        "┌─ dir/main.cl:2:9\n  │\n2 │ int é = BAD(1);\n  │         ^^^^^^\n",
        "1 │ #define BAD(x) x @\n  │                  - in the definition of macro `BAD`",
        "3 │ #define N 1\n  │         - first defined here\n4 │ #define N 2\n  │         ^\n",
        "┌─ other.cl:100:1\n    │\n100 │ #inclde <x>\n    │ ^^^^^^^\n    │\n    = help: did you mean `#include`?\n",
        "3 errors and 1 warning\n",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    assert_eq!(rendered(Format::Rich, "int a;"), "");
    let long = rendered(Format::Rich, &format!("{} @", "x ".repeat(1000)));
    assert!(long.contains("= at dir/main.cl:1:2002: here\n") && long.len() < 200, "{long}");
}

#[test]
fn json_format() {
    let text = rendered(Format::Json, SOURCE);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["includes"][0]["line"], 1);
    assert_eq!(lines[1]["code"], "unknown-character");
    assert_eq!(lines[1]["location"]["file"], "dir/main.cl");
    assert_eq!(lines[1]["location"]["column"], 9);
    assert_eq!(lines[1]["location"]["start_byte"], 24);
    assert_eq!(lines[1]["location"]["end_column"], 15);
    assert_eq!(lines[1]["macros"][0]["name"], "BAD");
    assert_eq!(lines[2]["severity"], "warning");
    assert_eq!(lines[3]["fix"]["replacement"], "include");
}
