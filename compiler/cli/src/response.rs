//! Response files: `@FILE` is replaced by the arguments in the file.

use std::{ffi::OsString, fs};

use crate::paths;

/// The maximum number of response files inside each other. More than this are probably a cycle.
const MAX_DEPTH: usize = 16;

/// Replaces each argument `@FILE` with the arguments in the file, which are quoted as for a shell. The error is a message
/// for the user.
pub(crate) fn expand(arguments: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, String> {
    expand_at(arguments, 0)
}

fn expand_at(arguments: impl Iterator<Item = OsString>, depth: usize) -> Result<Vec<OsString>, String> {
    let mut expanded = Vec::new();
    for argument in arguments {
        match argument.to_str().and_then(|text| text.strip_prefix('@')) {
            Some(path) => expanded.extend(expand_at(read(path, depth)?, depth + 1)?),
            None => expanded.push(argument),
        }
    }
    Ok(expanded)
}

fn read(path: &str, depth: usize) -> Result<impl Iterator<Item = OsString>, String> {
    if depth == MAX_DEPTH {
        return Err(format!("response files are nested more than {MAX_DEPTH} deep: `{path}`"));
    }
    let text = fs::read_to_string(paths::path(path))
        .map_err(|error| format!("the response file `{path}` cannot be read: {error}"))?;
    let words = shlex::split(&text)
        .ok_or_else(|| format!("the response file `{path}` has an unmatched quotation mark"))?;
    Ok(words.into_iter().map(OsString::from))
}
