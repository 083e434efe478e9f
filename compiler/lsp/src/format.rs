//! Formatting: runs `clang-format`, if it is installed, and converts its changes to edits.

use std::{
    io::Write as _,
    ops::Range,
    path::PathBuf,
    process::{Command, Stdio},
};

use lsp_types::TextEdit;

use crate::{
    position::{Encoding, Lines},
    uri,
};

/// The program's names, with and without a version number.
const NAMES: [&str; 8] = [
    "clang-format",
    "clang-format-20",
    "clang-format-19",
    "clang-format-18",
    "clang-format-17",
    "clang-format-16",
    "clang-format-15",
    "clang-format-14",
];

/// Whether the program is installed.
pub(crate) fn is_there() -> bool {
    program().is_some()
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let ending = std::env::consts::EXE_SUFFIX;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(format!("{name}{ending}"))));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// The edits for a text, or for a range of it.
pub(crate) fn format(
    name: &str,
    text: &str,
    range: Option<lsp_types::Range>,
    encoding: Encoding,
) -> Result<Vec<TextEdit>, String> {
    let program = program().ok_or("formatting requires clang-format, which is not installed")?;
    let lines = Lines::new(text, encoding);
    let mut command = Command::new(program);
    // The file name determines the style and the language.
    let file = if uri::is_path(name) { name } else { "source.cl" };
    command.arg(format!("--assume-filename={file}"));
    if let Some(folder) = uri::is_path(name).then(|| name.rsplit_once('/')).flatten() {
        command.current_dir(if folder.0.is_empty() { "/" } else { folder.0 });
    }
    if let Some(range) = range {
        let (start, end) = (lines.offset(text, range.start), lines.offset(text, range.end));
        command.arg(format!("--offset={start}")).arg(format!("--length={}", end.saturating_sub(start)));
    }
    let formatted = run(&mut command, text)?;
    Ok(difference(text, &formatted)
        .map(|(range, new)| TextEdit { range: lines.range(&range), new_text: new.to_owned() })
        .into_iter()
        .collect())
}

fn run(command: &mut Command, text: &str) -> Result<String, String> {
    let sentence = |error: std::io::Error| format!("clang-format: {error}");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(sentence)?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let output = std::thread::scope(|scope| {
        // If the program does not read its input, its standard error says why.
        scope.spawn(move || drop(stdin.write_all(text.as_bytes())));
        child.wait_with_output().map_err(sentence)
    })?;
    if !output.status.success() {
        return Err(format!("clang-format: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("clang-format: {error}"))
}

/// The range to replace, and its replacement; `None` if the texts are equal.
fn difference<'n>(old: &str, new: &'n str) -> Option<(Range<usize>, &'n str)> {
    if old == new {
        return None;
    }
    let mut start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let most = old.len().min(new.len()) - start;
    let mut end = old.bytes().rev().zip(new.bytes().rev()).take(most).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(old.len() - end) || !new.is_char_boundary(new.len() - end) {
        end -= 1;
    }
    Some((start..old.len() - end, &new[start..new.len() - end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_change_from_the_first_difference_to_the_last() {
        assert_eq!(difference("int  a;\n", "int a;\n"), Some((4..5, "")));
        assert_eq!(difference("aé", "aè"), Some((1..3, "è")));
        assert_eq!(difference("aa", "aaa"), Some((2..2, "a")));
        assert_eq!(difference("a", "a"), None);
    }
}
