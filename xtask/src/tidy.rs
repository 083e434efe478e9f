//! `cargo xtask tidy`: repository rules that no compiler checks. Works on text, without parsing any language.

use std::{collections::BTreeSet, fs, process::Command};

use crate::{Outcome, process, root};

/// A hand-written file of the repository.
struct File {
    path: String,
    text: String,
}

/// A rule, which adds its findings for a file.
type Rule = fn(&File, &mut Vec<String>);

const RULES: &[Rule] =
    &[sizes, opening, leftover_markers, memory_semantics, unsafe_code, paths_of_one_machine];

/// The maximum size of a hand-written file (docs/CONTRIBUTING.md, "Rules"). Data tables may be larger.
const LARGEST: usize = 40 * 1024;

/// Checks all rules and reports all findings.
pub(crate) fn tidy() -> Outcome {
    let files = files()?;
    let mut findings = Vec::new();
    for file in &files {
        for rule in RULES {
            let mut found = Vec::new();
            rule(file, &mut found);
            findings.extend(found.into_iter().map(|text| format!("{}: {text}", file.path)));
        }
    }
    distribution(&files, &mut findings);
    lengths_of_functions(&files, &mut findings);
    pages_of_diagnostics(&files, &mut findings);
    if findings.is_empty() { Ok(()) } else { Err(findings.join("\n")) }
}

/// The text files that git tracks or would track, except those that .gitattributes marks as generated.
fn files() -> Result<Vec<File>, String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(root()).args(arguments);
        process::output(&mut command)
    };
    let listed = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let paths: Vec<&str> = listed.split_terminator('\0').collect();
    let attributes = git(&[&["check-attr", "-z", "linguist-generated", "--"], paths.as_slice()].concat())?;
    let words: Vec<&str> = attributes.split_terminator('\0').collect();
    let generated: BTreeSet<&str> = words
        .chunks_exact(3)
        .filter(|answer| answer[2] == "true" || answer[2] == "set")
        .map(|answer| answer[0])
        .collect();
    let by_hand = paths.into_iter().filter(|path| !generated.contains(path));
    // Skips deleted files that are still in the index, and files that are not text.
    Ok(by_hand
        .filter_map(|path| {
            Some(File { path: path.to_owned(), text: fs::read_to_string(root().join(path)).ok()? })
        })
        .collect())
}

impl File {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_source(&self) -> bool {
        [".rs", ".cl", ".bi", ".lalrpop"].iter().any(|ending| self.path.ends_with(ending))
    }

    /// The numbers of the lines that contain a word.
    fn lines_with<'a>(&'a self, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
        let numbered = self.text.lines().zip(1..);
        numbered.filter(move |(line, _)| line.contains(needle)).map(|(_, number)| number)
    }
}

/// docs/CONTRIBUTING.md, "Rules"
fn sizes(file: &File, found: &mut Vec<String>) {
    // A table that the tests of the book render.
    let is_rendered = file.path == "docs/mistakes.md";
    let is_text = file.is_source() || file.path.ends_with(".md");
    if is_text && !is_rendered && file.text.len() > LARGEST {
        found.push(format!("has {} bytes, more than {LARGEST}: one file, one idea", file.text.len()));
    }
}

fn opening(file: &File, found: &mut Vec<String>) {
    if file.is_rust() && !file.text.starts_with("//! ") {
        found.push("does not open with `//!`: what it owns and what it must not depend on".to_owned());
    }
}

fn leftover_markers(file: &File, found: &mut Vec<String>) {
    // Split into parts, because this file is checked too.
    for word in
        [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("FIX", "ME"), concat!("XX", "X")]
    {
        if file.is_source() {
            found.extend(
                file.lines_with(word).map(|line| format!("line {line}: `{word}` is not for the repository")),
            );
        }
    }
}

/// Only `kiln-memory` may create memory semantics (ARCHITECTURE.md, Invariants). The emitter writes them; the verifier,
/// the reader and the memory models meet them in modules.
fn memory_semantics(file: &File, found: &mut Vec<String>) {
    let package = file.path.strip_prefix("compiler/").and_then(|path| path.split('/').next());
    if package.is_some_and(|package| !["memory", "model", "read", "spirv", "verify"].contains(&package)) {
        let word = concat!("Memory", "Semantics");
        found.extend(
            file.lines_with(word).map(|line| format!("line {line}: only compiler/memory creates masks")),
        );
    }
}

/// Where `unsafe` is allowed: at the boundary to C, and for launches, since a kernel follows plain pointers.
const UNSAFE: &[&str] = &[
    "runtime/",
    "compiler/capi/",
    "compiler/cli/",
    // Its functions are called by JavaScript.
    "compiler/playground/src/ffi.rs",
    // The word occurs only in text: the generated bindings launch kernels.
    "compiler/build/src/bindings/rust.rs",
    "testsuite/",
];

fn unsafe_code(file: &File, found: &mut Vec<String>) {
    if file.is_rust() && !UNSAFE.iter().any(|prefix| file.path.starts_with(prefix)) {
        // With a reason or without.
        for word in [concat!("allow(", "unsafe_code"), concat!("expect(", "unsafe_code")] {
            found.extend(file.lines_with(word).map(|line| {
                format!(
                    "line {line}: unsafe code is for launches and the boundary to C ({})",
                    UNSAFE.join(", ")
                )
            }));
        }
    }
}

fn paths_of_one_machine(file: &File, found: &mut Vec<String>) {
    for prefix in
        [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")]
    {
        found.extend(
            file.lines_with(prefix).map(|line| format!("line {line}: `{prefix}` is a path of one machine")),
        );
    }
}

/// docs/CONTRIBUTING.md, "Rules"
fn distribution(files: &[File], findings: &mut Vec<String>) {
    let mut sizes: Vec<usize> =
        files.iter().filter(|file| file.is_rust()).map(|file| file.text.len()).collect();
    sizes.sort_unstable();
    let mut demand = |share: f64, limit: usize| {
        let size = sizes[((sizes.len() - 1) as f64 * share) as usize];
        if size > limit {
            findings.push(format!(
                "{} % of the Rust files have up to {size} bytes; {limit} is the limit",
                share * 100.0
            ));
        }
    };
    demand(0.5, 8 * 1024);
    demand(0.9, 20 * 1024);
}

/// The length limit for 99 % of all functions (docs/CONTRIBUTING.md, "Rules").
const USUAL_LINES: usize = 70;
const MAX_LINES: usize = 150;

/// docs/CONTRIBUTING.md, "Rules"
fn lengths_of_functions(files: &[File], findings: &mut Vec<String>) {
    let (mut count, mut long) = (0, Vec::new());
    for file in files.iter().filter(|file| file.is_rust()) {
        for (name, line, length) in functions(&file.text) {
            count += 1;
            if length > USUAL_LINES {
                long.push((length, format!("{}: line {line}: `{name}` has {length} lines", file.path)));
            }
        }
    }
    if long.len() * 100 > count {
        findings.push(format!(
            "{} of {count} functions have more than {USUAL_LINES} lines: more than 1 %",
            long.len()
        ));
    }
    let too_long = long.into_iter().filter(|(length, _)| *length > MAX_LINES);
    findings.extend(too_long.map(|(_, text)| format!("{text}, more than {MAX_LINES}")));
}

/// The functions of a formatted Rust source: name, first line and number of lines. rustfmt puts the closing brace below
/// the first character of the signature, and breaks bodies with more than one expression into lines.
fn functions(text: &str) -> Vec<(&str, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some((before, after)) = code.split_once("fn ") else { continue };
        let is_signature = before.split_whitespace().all(|word| {
            word.starts_with("pub")
                || word.ends_with('"')
                || ["const", "async", "unsafe", "extern"].contains(&word)
        });
        if !is_signature {
            continue;
        }
        let indent = &line[..line.len() - code.len()];
        let is_last = |line: &str| line.strip_prefix(indent).is_some_and(|rest| rest == "}");
        // A declaration without a body ends before the next line of the same indentation that is not part of it.
        let is_other = |line: &str| {
            line.strip_prefix(indent).is_some_and(|rest| {
                rest.starts_with(|first: char| !first.is_whitespace() && !"})w{".contains(first))
            })
        };
        let rest = &lines[index + 1..];
        let length = if line.ends_with(['}', ';']) {
            1
        } else {
            let end = rest.iter().position(|line| is_last(line) || is_other(line));
            end.map_or(1, |end| if is_last(rest[end]) { end + 2 } else { 1 })
        };
        let name = after.split(['(', '<']).next().unwrap_or_default();
        functions.push((name, index + 1, length));
    }
    functions
}

/// Checks that each diagnostic code has a page, and each page a code.
fn pages_of_diagnostics(files: &[File], findings: &mut Vec<String>) {
    let table = "compiler/session/src/diag/codes.rs";
    let pages: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("docs/diagnostics/")?.strip_suffix(".md"))
        .filter(|name| *name != "README")
        .collect();
    if pages.is_empty() {
        return;
    }
    let codes: BTreeSet<&str> =
        files.iter().filter(|file| file.path == table).flat_map(|file| codes(&file.text)).collect();
    if codes.is_empty() {
        findings.push(format!("{table}: no row was recognized"));
    }
    findings.extend(codes.difference(&pages).map(|code| format!("docs/diagnostics/{code}.md: is missing")));
    findings.extend(
        pages.difference(&codes).map(|page| format!("docs/diagnostics/{page}.md: there is no such code")),
    );
}

/// The names in rows such as `Include "include" Error;`.
fn codes(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter_map(|line| {
        let mut parts = line.trim().split('"');
        let (variant, name, sort) = (parts.next()?.trim(), parts.next()?, parts.next()?.trim());
        let is_row =
            variant.chars().all(char::is_alphanumeric) && sort.ends_with(';') && parts.next().is_none();
        (is_row && !variant.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Rule, path: &str, text: &str) -> usize {
        let mut found = Vec::new();
        rule(&File { path: path.to_owned(), text: text.to_owned() }, &mut found);
        found.len()
    }

    #[test]
    fn each_rule_finds_its_violations() {
        assert_eq!(check(sizes, "a.md", &"x".repeat(LARGEST + 1)), 1);
        assert_eq!(check(opening, "a.rs", "use std::fs;\n"), 1);
        assert_eq!(check(opening, "a.rs", "//! What it owns.\n"), 0);
        assert_eq!(check(leftover_markers, "a.rs", concat!("fn f() { todo", "!() }\n// FIX", "ME\n")), 2);
        let mask = concat!("use spirv::Memory", "Semantics;");
        assert_eq!(check(memory_semantics, "compiler/lower/src/atomic.rs", mask), 1);
        assert_eq!(check(memory_semantics, "compiler/memory/src/encode.rs", mask), 0);
        assert_eq!(check(memory_semantics, "compiler/memoryless/src/lib.rs", mask), 1);
        assert_eq!(
            check(unsafe_code, "compiler/preprocessor/src/lib.rs", concat!("#![allow(", "unsafe_code)]")),
            1
        );
        let with_reason = concat!("#[allow(", "unsafe_code, reason = \"pointers\")]");
        assert_eq!(check(unsafe_code, "compiler/core/src/lib.rs", with_reason), 1);
        assert_eq!(check(unsafe_code, "compiler/capi/src/lib.rs", with_reason), 0);
        assert_eq!(check(paths_of_one_machine, "a.md", concat!("see /wo", "rk/notes")), 1);
    }

    #[test]
    fn functions_are_measured() {
        let text = "fn one() {}\n\npub(crate) const unsafe fn two<T>(\n    a: T,\n) -> T\nwhere\n    T: Copy,\n{\n    a\n}\n\
                    trait Part {\n    fn three(\n        &self,\n    );\n    fn four(&self) {\n        // fn five() {\n    }\n}\n";
        assert_eq!(functions(text), [("one", 1, 1), ("two", 3, 8), ("three", 12, 1), ("four", 15, 3)]);
        let file = |lines: usize| File {
            path: "a.rs".to_owned(),
            text: format!("fn long() {{\n{}}}\n", "    f();\n".repeat(lines - 2))
                + &"fn f() {}\n".repeat(100),
        };
        for (lines, count) in [(MAX_LINES, 0), (MAX_LINES + 1, 1)] {
            let mut findings = Vec::new();
            lengths_of_functions(&[file(lines)], &mut findings);
            assert_eq!(findings.len(), count, "{findings:?}");
        }
        let mut findings = Vec::new();
        lengths_of_functions(
            &[file(USUAL_LINES + 1), file(USUAL_LINES + 1), file(USUAL_LINES + 1)],
            &mut findings,
        );
        assert_eq!(findings.len(), 0, "{findings:?}");
        let text = file(USUAL_LINES + 1).text.repeat(2).replacen("fn f() {}\n", "", 100);
        lengths_of_functions(&[File { path: "a.rs".to_owned(), text }], &mut findings);
        assert_eq!(findings.len(), 1, "{findings:?}");
    }

    #[test]
    fn rows_of_codes_are_recognized() {
        let table = "    // Lexer\n    Include \"include\" Error;\n    EmptyBody \"empty-body\" Warning;\n  let x = \"a\";\n";
        assert_eq!(codes(table).collect::<Vec<_>>(), ["include", "empty-body"]);
    }

    #[test]
    fn a_code_without_page_is_found() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("compiler/session/src/diag/codes.rs", "A \"a\" Error;\nB \"b\" Error;\n"),
            file("docs/diagnostics/a.md", "# a"),
            file("docs/diagnostics/c.md", "# c"),
        ];
        let mut findings = Vec::new();
        pages_of_diagnostics(&files, &mut findings);
        assert_eq!(
            findings,
            ["docs/diagnostics/b.md: is missing", "docs/diagnostics/c.md: there is no such code"]
        );
    }
}
