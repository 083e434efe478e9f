//! Updates the expected results of tests if KILN_BLESS is set. Tests run in parallel; the files are changed after all
//! of them.

use std::{collections::BTreeMap, env, fs, ops::Range, path::Path, path::PathBuf, sync::Mutex};

/// A range of a file, and its replacement.
type Change = (Range<usize>, String);

/// The requested changes, by file.
static EDITS: Mutex<BTreeMap<PathBuf, Vec<Change>>> = Mutex::new(BTreeMap::new());

/// Compares a text with the result. When blessing, a difference becomes a change of the file.
pub(crate) fn compare(file: &Path, range: &Range<usize>, expected: &str, found: &str) -> Result<(), String> {
    if expected.trim_end() == found.trim_end() {
        return Ok(());
    }
    if env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
        let mut edits = EDITS.lock().expect("no test panics with the lock");
        let text = format!("{}\n", found.trim_end());
        edits.entry(file.to_owned()).or_default().push((range.clone(), text));
        return Ok(());
    }
    Err(difference(expected, found))
}

/// Applies the changes.
pub(crate) fn apply() {
    let edits = std::mem::take(&mut *EDITS.lock().expect("no test panics with the lock"));
    for (file, changes) in edits {
        let written = fs::read_to_string(&file).and_then(|text| fs::write(&file, changed(text, changes)));
        match written {
            Ok(()) => eprintln!("blessed {}", file.display()),
            Err(e) => eprintln!("cannot change `{}`: {e}", file.display()),
        }
    }
}

fn changed(mut text: String, mut changes: Vec<Change>) -> String {
    // From the end, so that earlier offsets stay valid.
    changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    changes.dedup_by_key(|(range, _)| range.clone());
    for (range, replacement) in changes {
        text.replace_range(range, &replacement);
    }
    text
}

/// The range of lines that differ.
fn difference(expected: &str, found: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) =
        (expected.trim_end().lines().collect(), found.trim_end().lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let lines =
        |sign: char, lines: &[&str]| lines.iter().map(|line| format!("{sign} {line}\n")).collect::<String>();
    format!(
        "from line {} on (`cargo xtask bless` takes what was found):\n{}{}",
        head + 1,
        lines('-', &old[head..old.len() - tail]),
        lines('+', &new[head..new.len() - tail])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_applied_from_the_end() {
        let changes = vec![(1..2, "xyz".to_owned()), (4..5, String::new()), (1..2, "xyz".to_owned())];
        assert_eq!(changed("abcdef".to_owned(), changes), "axyzcdf");
    }

    #[test]
    fn differences_contain_only_changed_lines() {
        let text = difference("a\nb\nc\n", "a\nx\ny\nc\n");
        assert!(text.starts_with("from line 2 on") && text.ends_with("- b\n+ x\n+ y\n"), "{text}");
        assert!(difference("a\n", "a\na\n").ends_with(":\n+ a\n"));
    }
}
