//! Adds the kernels of other programs to a program, because drivers compile a module as a whole.

use super::Program;

/// The program, followed by the renamed kernels of `others`. Its launch does not change.
pub fn with_neighbors<'a>(program: &Program, others: impl IntoIterator<Item = &'a Program>) -> Program {
    let mut source = program.source.clone();
    for (number, other) in others.into_iter().enumerate() {
        source += &renamed(&other.source, &format!("_{number}"));
    }
    Program { source, ..program.clone() }
}

/// Appends a suffix to each program-scope name.
fn renamed(source: &str, suffix: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut text = String::with_capacity(source.len() * 2);
    let mut rest = source;
    while let Some(start) = rest.find(is_word) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !is_word(c)).unwrap_or(word.len()));
        text += before;
        text += word;
        if is_of_program_scope(word) {
            text += suffix;
        }
        rest = after;
    }
    text + rest
}

/// Whether the generator uses names of this form for a type, a table, an enumerator, a function or the kernel.
fn is_of_program_scope(word: &str) -> bool {
    let is_numbered = |rest: &str| !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit());
    match word {
        "k" | "mix" | "open" | "W" => true,
        _ => word.strip_prefix(['T', 'c', 'E', 'f']).is_some_and(is_numbered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::{self, ProgramKind};

    #[test]
    fn names_of_program_scope_are_renamed() {
        let source = "typedef struct {int m1;} T2; kernel void k(T2 x) { f3(x.m1, 0xc4f5, c7); }";
        let expected = "typedef struct {int m1;} T2_0; kernel void k_0(T2_0 x) { f3_0(x.m1, 0xc4f5, c7_0); }";
        assert_eq!(renamed(source, "_0"), expected);
    }

    #[test]
    fn neighbors_have_their_own_kernels() {
        let [first, second] = [1, 2].map(|seed| programs::program(seed, ProgramKind::Plain));
        let both = with_neighbors(&first, [&second]);
        assert_eq!(both.source.matches("kernel void k").count(), 2);
        assert!(both.source.starts_with(&first.source));
    }
}
