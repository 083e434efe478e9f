//! Tests `docs` as a book: the table of contents lists every page, no link is broken, and the terminal sessions are real.
//!
//! Blocks with `file=NAME` are files. Lines after `$ ` in `console` blocks run in the folder of these files, with `kiln` in
//! the path; the following lines are the expected output, in which `…` matches anything. Other blocks are not run.

#[path = "book/mistakes.rs"]
mod mistakes;

use std::{
    collections::BTreeSet,
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use kiln_compiler::diag::{Code, Group, Severity};
use kiln_testsuite::{
    device,
    kiln::{self, LIMIT},
    markdown, process, root,
};

fn docs() -> PathBuf {
    root().join("docs")
}

/// The paths of all pages, relative to `docs`.
fn pages() -> BTreeSet<String> {
    fn walk(folder: &Path, pages: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                walk(&entry, pages);
            } else if entry.extension().is_some_and(|ending| ending == "md") {
                let name = entry.strip_prefix(docs()).expect("a page").to_string_lossy().replace('\\', "/");
                pages.insert(name);
            }
        }
    }
    let mut pages = BTreeSet::new();
    walk(&docs(), &mut pages);
    pages
}

fn text(page: &str) -> String {
    fs::read_to_string(docs().join(page)).unwrap_or_else(|e| panic!("{page}: {e}"))
}

/// Compares a page with its expected text, or writes it if KILN_BLESS is set.
fn compare_page(page: &str, wanted: &str) {
    if env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
        fs::write(docs().join(page), wanted).expect("a page");
    }
    assert!(
        text(page) == wanted,
        "docs/{page} does not match the codes; `cargo xtask bless book` rewrites it"
    );
}

fn codes() -> Vec<Code> {
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| code.name());
    codes
}

#[test]
fn the_book_has_every_page() {
    let mut contents = text("SUMMARY.md");
    let begin =
        contents.find("- [Diagnostics](diagnostics/README.md)\n").expect("the chapter on diagnostics");
    let end = contents.find("- [Troubleshooting]").expect("the chapter after it");
    let mut chapter = "- [Diagnostics](diagnostics/README.md)\n".to_owned();
    for code in codes() {
        let _ = writeln!(chapter, "  - [{0}](diagnostics/{0}.md)", code.name());
    }
    contents.replace_range(begin..end, &chapter);
    compare_page("SUMMARY.md", &contents);
    let named: BTreeSet<String> = links(&contents).into_iter().collect();
    let mut pages = pages();
    pages.remove("SUMMARY.md");
    assert_eq!(named, pages);
}

#[test]
fn the_book_lists_every_code() {
    let mut page = "# Diagnostics\n\nEach diagnostic has a page, which `kiln explain CODE` prints too. Errors cannot be disabled. A warning is \
                    enabled by default\nor by the option in the table; `-Wno-CODE` disables it.\n\n| code | severity | meaning |\n|---|---|---|\n"
        .to_owned();
    for code in codes() {
        let sort = match (code.default_severity(), code.group()) {
            (Severity::Error, _) => "error",
            (Severity::Warning, Group::Default) => "warning",
            (Severity::Warning, Group::All) => "`-Wall`",
            (Severity::Warning, Group::Extra) => "`-Wextra`",
            (Severity::Warning, Group::Pedantic) => "`-Wpedantic`",
        };
        let _ = writeln!(
            page,
            "| [{0}]({0}.md) | {sort} | {1} |",
            code.name(),
            code.summary().replace('|', "\\|")
        );
    }
    compare_page("diagnostics/README.md", &page);
}

/// The targets of a page's links, except links to other hosts and within the page. Skips code.
fn links(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        // Text in backquotes can contain brackets.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        if is_code {
            continue;
        }
        for rest in prose.split("](").skip(1) {
            let target = rest.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") {
                found.push(target.to_owned());
            }
        }
    }
    found
}

#[test]
fn links_have_a_target() {
    let mut broken = Vec::new();
    let mut look = |page: &Path| {
        let text = fs::read_to_string(page).expect("a page");
        let folder = page.parent().expect("a folder");
        let gone = links(&text).into_iter().filter(|target| !folder.join(target).exists());
        broken.extend(gone.map(|target| format!("{}: {target}", page.display())));
    };
    pages().iter().for_each(|page| look(&docs().join(page)));
    for page in
        ["README.md", "ARCHITECTURE.md", "testsuite/README.md", "compiler/lsp/editors/vscode/README.md"]
    {
        look(&root().join(page));
    }
    assert_eq!(broken, [""; 0]);
}

#[test]
fn terminal_sessions_are_up_to_date() {
    let mut count = 0;
    for page in pages().into_iter().chain(["../README.md".to_owned()]) {
        let text = text(&page);
        let commands = commands(&text);
        if commands.is_empty() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in markdown::files(&text) {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        for (command, wanted) in commands {
            count += 1;
            if command.starts_with("touch ") {
                // The file must be newer than those of the previous command. Linux advances file times every 1 to 10 ms.
                thread::sleep(Duration::from_millis(20));
            }
            let found = shell(folder.path(), &command);
            assert!(
                matches_pattern(&wanted, &found),
                "{page}: `{command}`\nexpected\n{wanted}\nfound\n{found}"
            );
        }
    }
    assert!(count > 10, "{count} commands were found");
}

/// The commands of a page, with their output.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for block in markdown::fenced(text, "console") {
        let begin = commands.len();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_owned(), String::new())),
                None => {
                    assert!(commands.len() > begin, "a `console` block begins with `$ `:\n{block}");
                    let (_, output) = commands.last_mut().expect("there is one");
                    output.push_str(line);
                    output.push('\n');
                }
            }
        }
    }
    commands
}

/// The output of a command: both streams, interleaved as in a terminal.
fn shell(folder: &Path, command: &str) -> String {
    let binary = kiln::binary();
    let beside = binary.parent().expect("a folder").to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(beside).chain(env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", &format!("exec 2>&1\n{command}")]);
    shell
        .env("PATH", env::join_paths(folders).expect("a path"))
        .env("LC_ALL", "C.UTF-8")
        .env("KILN_CACHE", "off");
    device::any().only(&mut shell).expect("its driver");
    // The test itself can be run by `make`.
    shell.env_remove("MAKEFLAGS").env_remove("KILN_DEVICE");
    let finished = process::finish(&mut shell, LIMIT);
    finished.text()
}

/// Whether a text matches a pattern in which `…` matches anything.
fn matches_pattern(wanted: &str, found: &str) -> bool {
    let parts: Vec<&str> = wanted.trim_end().split('…').collect();
    let mut rest = found.trim_end();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        rest = match index {
            0 if is_last => return rest == *part,
            0 => match rest.strip_prefix(part) {
                Some(after) => after,
                None => return false,
            },
            _ if is_last => return rest.ends_with(part),
            _ => match rest.split_once(part) {
                Some((_, after)) => after,
                None => return false,
            },
        };
    }
    true
}

#[test]
fn an_ellipsis_matches_any_text() {
    assert!(
        matches_pattern("a…c\n", "abc")
            && matches_pattern("…b…", "abc\nd")
            && matches_pattern("abc", "abc\n")
            && matches_pattern("", "\n")
    );
    assert!(
        !matches_pattern("a…d", "abc") && !matches_pattern("abc", "abcd") && !matches_pattern("…e…", "abc")
    );
}

#[test]
fn messages_for_typical_mistakes_match_the_page() {
    let blesses = env::var_os("KILN_BLESS").is_some_and(|value| value == "1");
    for (name, page) in mistakes::pages(blesses) {
        compare_page(name, &page);
    }
}
