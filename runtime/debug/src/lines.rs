//! Lines of the source at which a launch can stop.
//!
//! Owns the match between the files of the client and those of the module.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use kiln_vocabulary::debug::Variables;

/// The lines with statements, by file of the module.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    files: BTreeMap<String, BTreeSet<u32>>,
    /// The lines of functions' names, at which parameters are not stored yet.
    heads: BTreeSet<(String, u32)>,
    paths: BTreeMap<String, PathBuf>,
}

impl Lines {
    /// From the statements of a module: their files and lines.
    pub(crate) fn new<'s>(statements: impl Iterator<Item = (&'s str, u32)>, variables: &Variables) -> Self {
        let mut lines = Self::default();
        let heads = variables.functions.iter().filter(|function| function.first_line != function.line);
        lines.heads.extend(heads.map(|function| (function.file.clone(), function.line)));
        for (file, line) in statements {
            if !lines.is_head(file, line) {
                lines.files.entry(file.to_owned()).or_default().insert(line);
            }
        }
        lines.paths = lines.files.keys().map(|file| (file.clone(), absolute(file))).collect();
        lines
    }

    /// Whether a line only has the name of a function.
    pub(crate) fn is_head(&self, file: &str, line: u32) -> bool {
        self.heads.contains(&(file.to_owned(), line))
    }

    /// The module's name of a file.
    pub(crate) fn file(&self, path: &str) -> Option<&str> {
        let path = absolute(path);
        self.paths.iter().find(|(_, known)| **known == path).map(|(file, _)| file.as_str())
    }

    /// The absolute path of a file of the module.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.paths.get(file).cloned().unwrap_or_else(|| absolute(file))
    }

    /// The first line from this one with a statement.
    pub(crate) fn from(&self, file: &str, line: u32) -> Option<u32> {
        self.files.get(file)?.range(line..).next().copied()
    }

    /// The lines with statements in a range.
    pub(crate) fn between(&self, file: &str, first: u32, last: u32) -> Vec<u32> {
        let lines = self.files.get(file).map(|lines| lines.range(first..=last.max(first)));
        lines.into_iter().flatten().copied().collect()
    }
}

/// The absolute path of a file, without symbolic links if it exists.
fn absolute(path: &str) -> PathBuf {
    let path = Path::new(path);
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakpoint_moves_to_the_next_statement() {
        let statements = [("/k.cl", 3), ("/k.cl", 7), ("/k.cl", 3)];
        let lines = Lines::new(statements.into_iter(), &Variables::default());
        assert_eq!(lines.file("/k.cl"), Some("/k.cl"));
        assert_eq!(lines.file("/other.cl"), None);
        assert_eq!(
            [lines.from("/k.cl", 1), lines.from("/k.cl", 4), lines.from("/k.cl", 8)],
            [Some(3), Some(7), None]
        );
        assert_eq!(lines.between("/k.cl", 1, 9), [3, 7]);
    }
}
