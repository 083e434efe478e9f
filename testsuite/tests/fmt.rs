//! The formatter on all kernels of the repository: idempotent, and the modules of the formatted kernels are those of the
//! sources. Also `kiln fmt` as users call it.

use std::{fs, path::Path};

use kiln_compiler::{
    Artifact, Emit, compile,
    opencl::Environment,
    session::{NoFiles, Options, Source},
    target::Target,
};
use kiln_fmt::{Style, configure, format};
use kiln_testsuite::{
    kiln::{self, LIMIT},
    markdown, nightly,
    process::{self, Finished},
    root,
};

/// The styles of the tests: the default, and files that use all honored options.
fn styles() -> Vec<Style> {
    let files = [
        "BasedOnStyle: LLVM\nColumnLimit: 40\nAllowShortCaseLabelsOnASingleLine: true\n",
        "BasedOnStyle: Google\nAllowShortIfStatementsOnASingleLine: AllIfsAndElse\nUseTab: Always\nTabWidth: 4\n",
        "BasedOnStyle: GNU\nUseTab: ForIndentation\nAlignTrailingComments: false\nSpacesInParentheses: true\n",
        "BasedOnStyle: WebKit\nAllowShortBlocksOnASingleLine: Always\nPointerAlignment: Middle\n",
        "BasedOnStyle: Microsoft\nIndentCaseLabels: true\nSpaceAfterCStyleCast: true\nAlignAfterOpenBracket: DontAlign\n",
        "BasedOnStyle: Mozilla\nMaxEmptyLinesToKeep: 0\nBreakBeforeTernaryOperators: false\nAlignOperands: false\n",
    ];
    let configured = files.map(|file| configure(file, &Style::default()));
    assert!(configured.iter().all(|it| it.ignored.is_empty() && it.mistakes.is_empty()), "{configured:?}");
    std::iter::once(Style::default()).chain(configured.map(|it| it.style)).collect()
}

/// The kernels of the examples, the library, the cases and the book, with names for messages.
fn kernels() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["examples", "compiler/library/lib", "testsuite/cases", "docs", "testsuite/programs"] {
        visit(&root().join(folder), &mut found);
    }
    found.sort();
    found
}

fn visit(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = path.display().to_string();
        if path.is_dir() {
            visit(&path, found);
        } else if name.ends_with(".cl") {
            found.push((name, fs::read_to_string(&path).expect("a text")));
        } else if name.ends_with(".md") {
            let texts = markdown::fenced(&fs::read_to_string(&path).expect("a text"), "cl");
            found
                .extend(texts.into_iter().enumerate().map(|(index, text)| (format!("{name}#{index}"), text)));
        }
    }
}

/// In debug builds `format` panics if it would change a token.
#[test]
fn formatting_is_idempotent() {
    let kernels = kernels();
    assert!(kernels.len() > 500, "{}", kernels.len());
    for style in styles() {
        for (name, text) in &kernels {
            let once = format(text, &style);
            let twice = format(&once, &style);
            assert_eq!(once, twice, "{name} with {style:?}");
        }
    }
}

#[test]
fn edits_produce_the_formatted_text() {
    for (name, text) in kernels() {
        let formatted = format(&text, &Style::default());
        let mut made = text.clone();
        for edit in kiln_fmt::edits(&text, &formatted).into_iter().rev() {
            made.replace_range(edit.range, &edit.text);
        }
        assert_eq!(made, formatted, "{name}");
    }
}

/// The module of a source; `None` if it has errors.
fn module(text: &str, environment: Environment) -> Option<Vec<u32>> {
    let source = Source { name: "k.cl".to_owned(), text: text.as_bytes().to_vec() };
    let options = Options { target: Target::full(environment), ..Options::default() };
    match compile(source, &options, &NoFiles, &Emit::Spirv).artifact {
        Some(Artifact::Module(module)) => Some(module.words().to_vec()),
        _ => None,
    }
}

#[test]
fn modules_of_formatted_kernels_are_the_same() {
    let style = Style { column_limit: 60, ..Style::default() };
    let tests_all = nightly::tests_all("a quarter of the kernels, compiled before and after formatting");
    let step = if tests_all { 1 } else { 4 };
    let mut compared = 0;
    for (name, text) in kernels().into_iter().step_by(step) {
        // These contain line numbers, which may change.
        if ["__LINE__", "assert", "trap"].iter().any(|word| text.contains(word)) {
            continue;
        }
        for environment in [Environment::Vulkan, Environment::OpenCl] {
            let Some(before) = module(&text, environment) else { continue };
            let formatted = format(&text, &style);
            assert!(module(&formatted, environment) == Some(before), "{name}, {environment:?}:\n{formatted}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn attributes_do_not_hide_control_statements() {
    let attribute = "__attribute__((opencl_unroll_hint(2)))";
    let source = format!(
        "void f(int a) {{ {attribute} do a--; while (a); {attribute} do {{ a--; }} while (a);
        if (a) {attribute} for (;;) a--; else a++; }}"
    );
    let wanted = format!(
        "void f(int a) {{
    {attribute} do
        a--;
    while (a);
    {attribute} do {{
        a--;
    }} while (a);
    if (a)
        {attribute} for (;;)
            a--;
    else
        a++;
}}
"
    );
    assert_eq!(format(&source, &Style::default()), wanted);
}

fn fmt(folder: &Path, words: &[&str], input: &str) -> Finished {
    let mut command = kiln::command();
    command.current_dir(folder).arg("fmt").args(words);
    process::run(&mut command, input.as_bytes(), LIMIT).unwrap_or_else(|reason| panic!("{reason}"))
}

#[test]
fn the_command_formats_checks_and_reads_its_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, style) = (folder.path().join("a.cl"), folder.path().join(".clang-format"));
    let text = || fs::read_to_string(&file).expect("a text");
    fs::write(&file, "int  f(int a){return a;}\n").expect("written");
    let checked = fmt(folder.path(), &["--check", "a.cl"], "");
    assert_eq!((checked.code(), checked.stderr.as_str()), (Some(1), "a.cl: is not formatted\n"));
    assert_eq!(fmt(folder.path(), &["a.cl"], "").code(), Some(0));
    assert_eq!(text(), "int f(int a) {\n    return a;\n}\n");
    assert_eq!(fmt(folder.path(), &["--check", "a.cl"], "").code(), Some(0));
    fs::write(&style, "BasedOnStyle: LLVM\nBreakBeforeBraces: Allman\nSortIncludes: false\n")
        .expect("written");
    let finished = fmt(folder.path(), &["-v", "a.cl"], "");
    assert!(finished.stderr.contains("SortIncludes has no effect"), "{}", finished.stderr);
    assert_eq!(text(), "int f(int a) { return a; }\n");
    let piped = fmt(folder.path(), &["--stdin"], "if(x){y;}");
    assert_eq!(piped.text(), "if (x)\n{\n  y;\n}\n");
    fs::write(&style, "IndentWidth: wide\n").expect("written");
    let wrong = fmt(folder.path(), &["a.cl"], "");
    assert_eq!(wrong.code(), Some(2));
    assert!(
        wrong.stderr.contains(".clang-format:1: `wide` is not a value of IndentWidth"),
        "{}",
        wrong.stderr
    );
    fs::write(&file, b"\xff\xfe").expect("written");
    fs::remove_file(&style).expect("removed");
    assert_eq!(fmt(folder.path(), &["a.cl"], "").code(), Some(2));
}

/// Comments of old sources are often in Latin-1.
#[test]
fn bytes_that_are_not_utf8_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.cl");
    fs::write(&file, b"// Gr\xf6\xdfe \xff\nint  f(int a); /* \xe4 */\n").expect("written");
    assert_eq!(fmt(folder.path(), &["a.cl"], "").code(), Some(0));
    let formatted = b"// Gr\xf6\xdfe \xff\nint f(int a); /* \xe4 */\n";
    assert_eq!(fs::read(&file).expect("the source"), formatted);
    assert_eq!(fmt(folder.path(), &["--check", "a.cl"], "").code(), Some(0));
}
