//! The options in the `kiln.toml` of a source: the nearest one in its folder or above.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use kiln_lsp::kiln_toml;

use crate::paths;

/// The sources that share a `kiln.toml`, and its options, whose paths are relative to the current folder.
#[derive(Debug, Default)]
pub(crate) struct Project {
    pub(crate) sources: Vec<String>,
    /// The path of the `kiln.toml`.
    pub(crate) file: Option<PathBuf>,
    pub(crate) flags: Vec<OsString>,
}

/// Groups sources by their `kiln.toml`, in the order of the sources, for this command. The error is a message for the
/// user.
pub(crate) fn projects(sources: &[String], command: &str) -> Result<Vec<Project>, String> {
    let mut groups: Vec<Project> = Vec::new();
    let mut known: BTreeMap<Option<PathBuf>, usize> = BTreeMap::new();
    for source in sources {
        let file = nearest(source);
        let group = match known.get(&file) {
            Some(&group) => group,
            None => {
                let flags = file.as_deref().map_or(Ok(Vec::new()), |file| flags(file, command))?;
                groups.push(Project { sources: Vec::new(), file: file.as_deref().map(relative), flags });
                known.insert(file, groups.len() - 1);
                groups.len() - 1
            }
        };
        groups[group].sources.push(source.clone());
    }
    Ok(groups)
}

/// The nearest `kiln.toml` of a source. For standard input, that of the current folder.
fn nearest(source: &str) -> Option<PathBuf> {
    let path = std::path::absolute(paths::path(if source == "-" { "stdin" } else { source })).ok()?;
    path.ancestors().skip(1).map(|folder| folder.join("kiln.toml")).find(|file| file.is_file())
}

fn flags(file: &Path, command: &str) -> Result<Vec<OsString>, String> {
    let text =
        fs::read_to_string(file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
    let kiln = kiln_toml::read(&text);
    if let Some((range, message)) = kiln.mistakes.first() {
        let line = text[..range.start.min(text.len())].matches('\n').count() + 1;
        return Err(format!("{}:{line}: {message}", file.display()));
    }
    let folder = file.parent().map(relative).unwrap_or_default();
    // `kiln run` compiles for the device that it opens, and `kiln check` for none.
    let is_for = |flag: &str| match command {
        "run" => !flag.starts_with("--env=") && !flag.starts_with("--device-profile="),
        "check" => !flag.starts_with("--device-profile="),
        _ => true,
    };
    Ok(in_folder(kiln.flags.into_iter().filter(|flag| is_for(flag)), &folder))
}

/// Makes a path below the current folder relative to it.
fn relative(path: &Path) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&current).unwrap_or(path).to_owned()
}

/// Options whose paths are relative to the folder.
fn in_folder(flags: impl Iterator<Item = String>, folder: &Path) -> Vec<OsString> {
    const WITH_PATH: [&str; 5] = ["-include", "--include", "-isystem", "-iquote", "-I"];
    let mut found = Vec::new();
    let mut is_path = false;
    for flag in flags {
        let option = WITH_PATH.iter().find(|option| flag.starts_with(**option));
        match option.map(|option| (option, &flag[option.len()..])) {
            _ if is_path => found.push(folder.join(&flag).into_os_string()),
            Some((option, path)) if !path.is_empty() => {
                let mut joined = OsString::from(option);
                joined.push(folder.join(path));
                found.push(joined);
            }
            _ => found.push(flag.clone().into()),
        }
        is_path = !is_path && option.is_some_and(|option| flag == **option);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_project_folder() {
        let flags = ["-Iinc", "-I", "more", "-include", "a.h", "-DN=1", "-I/abs", "-Wall"].map(str::to_owned);
        let found = in_folder(flags.into_iter(), Path::new("sub"));
        let wanted = ["-Isub/inc", "-I", "sub/more", "-include", "sub/a.h", "-DN=1", "-I/abs", "-Wall"];
        assert_eq!(found, wanted.map(OsString::from));
    }
}
