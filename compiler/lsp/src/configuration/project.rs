//! Project files with the options of sources: `kiln.toml`, `compile_commands.json`, `compile_flags.txt`, in the
//! nearest parent folder that has one.

use serde::Deserialize;

use crate::{client_state::ClientState, kiln_toml, uri};

const KILN: &str = "kiln.toml";
const COMMANDS: &str = "compile_commands.json";
const FLAGS: &str = "compile_flags.txt";

/// The folders, relative to a source's parents, where build tools write their commands.
const BUILD_FOLDERS: [&str; 2] = ["", "build/"];

/// Whether a change of this file changes the options of others.
pub(crate) fn is_project_file(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    [KILN, COMMANDS, FLAGS].contains(&file)
}

/// The project's options for a source. Each entry has the folder that its paths are relative to.
pub(super) fn flags(client_state: &ClientState, source: &str) -> Vec<(String, Vec<String>)> {
    if !uri::is_path(source) {
        return Vec::new();
    }
    ancestors(source).find_map(|folder| flags_in_folder(client_state, folder, source)).unwrap_or_default()
}

/// The name and text of the `kiln.toml` for a source.
pub(super) fn kiln_file(client_state: &ClientState, source: &str) -> Option<(String, String)> {
    let folder = ancestors(source).find(|folder| flags_in_folder(client_state, folder, source).is_some())?;
    let name = format!("{folder}/{KILN}");
    let bytes = client_state.read(&name)?;
    Some((name, String::from_utf8_lossy(&bytes).into_owned()))
}

/// The folders that contain a source, innermost first.
fn ancestors(source: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(source), |path| path.rsplit_once('/').map(|(folder, _)| folder)).skip(1)
}

fn flags_in_folder(
    client_state: &ClientState,
    folder: &str,
    source: &str,
) -> Option<Vec<(String, Vec<String>)>> {
    let read = |file: &str| {
        let bytes = client_state.read(&format!("{folder}/{file}"))?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    if let Some(text) = read(KILN) {
        return Some(vec![(folder.to_owned(), kiln_toml::read(&text).flags)]);
    }
    for build in BUILD_FOLDERS {
        let found = read(&format!("{build}{COMMANDS}")).and_then(|text| command_flags(&text, source));
        if found.is_some() {
            return found.map(|found| vec![found]);
        }
    }
    read(FLAGS).map(|text| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        vec![(folder.to_owned(), lines.flat_map(split_flag).collect())]
    })
}

/// `compile_flags.txt` has one word per line, but `-I dir` is often written on one line.
fn split_flag(line: &str) -> Vec<String> {
    match line.split_once(' ') {
        Some((flag @ ("-D" | "-U" | "-I" | "-isystem" | "-iquote" | "-include"), value)) => {
            vec![flag.to_owned(), value.trim().to_owned()]
        }
        _ => vec![line.to_owned()],
    }
}

/// An entry of `compile_commands.json`.
#[derive(Debug, Deserialize)]
struct Entry {
    directory: String,
    file: String,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// The options of the entry for this source. A file without an entry uses those of the first OpenCL source.
fn command_flags(text: &str, source: &str) -> Option<(String, Vec<String>)> {
    let entries: Vec<Entry> = serde_json::from_str(text).ok()?;
    let path = |entry: &Entry| match uri::is_path(&entry.file) {
        true => uri::normal(&entry.file),
        false => uri::normal(&format!("{}/{}", entry.directory, entry.file)),
    };
    let own = entries.iter().find(|entry| path(entry) == source);
    let entry = own.or_else(|| entries.iter().find(|entry| entry.file.ends_with(".cl")))?;
    let words = match (&entry.arguments, &entry.command) {
        (Some(arguments), _) => arguments.clone(),
        (None, Some(command)) => shlex::split(command)?,
        (None, None) => return None,
    };
    Some((entry.directory.clone(), words.into_iter().skip(1).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_a_command_uses_the_first_one() {
        let text = r#"[{"directory":"/b","file":"x.c","command":"cc -DX x.c"},
            {"directory":"/b","file":"../s/a.cl","command":"clang -DA='1 2' -c a.cl"},
            {"directory":"/b","file":"/s/b.cl","arguments":["clang","-DB"]}]"#;
        let words = |source| command_flags(text, source).map(|(_, words)| words[0].clone());
        assert_eq!(words("/s/a.cl").as_deref(), Some("-DA=1 2"));
        assert_eq!(words("/s/b.cl").as_deref(), Some("-DB"));
        assert_eq!(words("/s/c.cl").as_deref(), Some("-DA=1 2"));
        assert_eq!(command_flags("[]", "/s/c.cl"), None);
    }
}
