//! The pages of the diagnostics hold what they say: every `cl` block of `docs/diagnostics/*.md` is checked, each
//! `// error: [code]` or `// warning: [code]` at the end of a line must come true there, and nothing else may be
//! reported. The warning that a page is about is switched on for it.
//!
//! A `toml` block before a `cl` block sets options for what follows: `std = "CL1.2"`, `extensions = "-cl_khr_fp16"`.

mod front;

use std::{fs, path::Path};

use kiln_compiler::diag::Code;

/// A code block of a page: its language, the line after its fence, its text.
struct Block {
    language: String,
    line: usize,
    text: String,
}

#[test]
fn pages_come_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    let mut problems = Vec::new();
    let mut pages = 0;
    for entry in fs::read_dir(folder).expect("the folder of the pages") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a page");
        pages += 1;
        check_page(&name, &text, &mut problems);
    }
    assert!(pages > 0, "there are pages");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn check_page(name: &str, text: &str, problems: &mut Vec<String>) {
    let mut options = front::options();
    front::enable(&mut options, name);
    if Code::parse(name).is_none() {
        problems.push(format!("{name}.md: there is no such code"));
    }
    let mut is_shown = false;
    for block in blocks(text) {
        match block.language.as_str() {
            "toml" => front::configure(&mut options, &block.text),
            "cl" => {
                let expected = expectations(&block.text);
                is_shown |= expected.iter().any(|(_, text)| text.contains(&format!("[{name}]")));
                let found = front::check(&options, &block.text).reported;
                for (line, what) in found.iter().filter(|it| !expected.contains(it)) {
                    problems.push(format!("{name}.md:{}: reported: {what}", block.line + line));
                }
                for (line, what) in expected.iter().filter(|it| !found.contains(it)) {
                    problems.push(format!("{name}.md:{}: not reported: {what}", block.line + line));
                }
            }
            _ => {}
        }
    }
    if !is_shown {
        problems.push(format!("{name}.md: no example shows the diagnostic"));
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block { language: language.to_owned(), line: number + 1, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The lines, from 1, and what each announces, as `error: [code]`.
fn expectations(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for comment in line.split("// ").skip(1) {
            for word in ["error: [", "warning: ["] {
                if let Some(code) = comment.strip_prefix(word).and_then(|rest| rest.split(']').next()) {
                    found.push((number + 1, format!("{word}{code}]")));
                }
            }
        }
    }
    found
}
