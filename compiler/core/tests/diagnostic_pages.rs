//! The pages of the diagnostics hold what they say: every `cl` block of `docs/diagnostics/*.md` is checked, each
//! `// error: [code]` or `// warning: [code]` at the end of a line must come true there, and nothing else may be
//! reported. The warning that a page is about is switched on for it.
//!
//! A `toml` block before a `cl` block sets options for what follows: `std = "CL1.2"`, `extensions = "-cl_khr_fp16"`.

use std::{fs, path::Path};

use kiln_compiler::{
    diag::{Code, Severity, Sink, WarningAction, WarningSwitch},
    opencl::{Environment, LanguageVersion},
    pp, sema,
    session::{NoFiles, Options, Source},
    source::SourceMap,
    target::Target,
};
use kiln_syntax::{
    Interner,
    parse::{SyntaxErrorKind, parse},
};

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
    let mut options = Options { target: Target::full(Environment::OpenCl), ..Options::default() };
    let switch = WarningSwitch { name: name.to_owned(), action: WarningAction::Enable };
    options.warnings.switches.push(switch);
    if Code::parse(name).is_none() {
        problems.push(format!("{name}.md: there is no such code"));
    }
    let mut is_shown = false;
    for block in blocks(text) {
        match block.language.as_str() {
            "toml" => configure(&mut options, &block.text),
            "cl" => {
                let expected = expectations(&block.text);
                is_shown |= expected.iter().any(|(_, text)| text.contains(&format!("[{name}]")));
                let found = diagnostics(&options, &block.text);
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

fn configure(options: &mut Options, text: &str) {
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        match key.trim() {
            "std" => options.std = LanguageVersion::parse(value).expect("a version"),
            "extensions" => {
                for name in value.split(',').map(str::trim) {
                    let is_on = !name.starts_with('-');
                    options.extensions.push((name.trim_start_matches(['+', '-']).to_owned(), is_on));
                }
            }
            other => panic!("no option `{other}`"),
        }
    }
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

fn diagnostics(options: &Options, text: &str) -> Vec<(usize, String)> {
    let mut sink = Sink::new(options.warnings.clone());
    let (mut interner, mut map) = (Interner::new(), SourceMap::default());
    let source = Source { name: "page.cl".into(), text: text.as_bytes().to_vec() };
    let read = pp::preprocess(options, source, &NoFiles, &mut map, &mut interner, &mut sink);
    let parsed = parse(&read.tokens, &mut interner);
    sema::check(&parsed.unit, options, &mut interner, &mut sink);
    let line = |span| map.resolve(span).map_or(0, |at| map.position(at.file, at.range.start).line as usize);
    let shown = |severity| if severity == Severity::Error { "error" } else { "warning" };
    let reported = sink.finish().0;
    // The type checker finds words for these two.
    let is_told = |kind| matches!(kind, SyntaxErrorKind::UnknownType(_) | SyntaxErrorKind::MissingType(_));
    if let Some(error) = parsed.errors.iter().find(|error| !is_told(error.kind)) {
        return vec![(line(error.span), "error: [syntax]".to_owned())];
    }
    reported
        .iter()
        .map(|it| (line(it.span), format!("{}: [{}]", shown(it.severity), it.code.name())))
        .collect()
}
