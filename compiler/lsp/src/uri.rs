//! URIs and paths. A file is identified by its absolute path, any other document by its URI.

use std::{path::Path, str::FromStr as _};

use lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters of a path that need no encoding (RFC 3986: unreserved characters and separators).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The name of a document: an absolute path with `/`, or a URI of another scheme.
pub(crate) fn name(uri: &Uri) -> String {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else { return text.to_owned() };
    // Skip the authority, as in `file://localhost/a`.
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
    normal(drive(&path).unwrap_or(&path))
}

/// The URI of a name.
pub(crate) fn uri(name: &str) -> Option<Uri> {
    let text = match name.as_bytes() {
        [b'/', ..] => format!("file://{}", utf8_percent_encode(name, ENCODED)),
        [letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => {
            format!("file:///{}", utf8_percent_encode(name, ENCODED))
        }
        _ => name.to_owned(),
    };
    Uri::from_str(&text).ok()
}

/// The name of a path.
pub(crate) fn name_of_path(path: &Path) -> String {
    normal(&path.to_string_lossy().replace('\\', "/"))
}

/// Whether the name is a path on disk.
pub(crate) fn is_path(name: &str) -> bool {
    name.starts_with('/') || name.as_bytes().get(1) == Some(&b':')
}

/// Removes the slash before a drive letter: `/C:/a` becomes `C:/a`. `None` without a drive letter.
fn drive(path: &str) -> Option<&str> {
    match path.as_bytes() {
        [b'/', letter, b':', ..] if letter.is_ascii_alphabetic() => Some(&path[1..]),
        _ => None,
    }
}

/// Percent-encodes characters that clients send in URIs although RFC 3986 forbids them, such as `[` in a file name.
pub(crate) fn escape_invalid(message: &mut serde_json::Value) {
    const ALLOWED: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'"')
        .add(b'<')
        .add(b'>')
        .add(b'[')
        .add(b'\\')
        .add(b']')
        .add(b'^')
        .add(b'`')
        .add(b'{')
        .add(b'|')
        .add(b'}');
    match message {
        serde_json::Value::Object(members) => {
            for (name, member) in members {
                match member {
                    serde_json::Value::String(text) if name == "uri" || name == "rootUri" => {
                        if Uri::from_str(text).is_err() {
                            *text = utf8_percent_encode(text, ALLOWED).to_string();
                        }
                    }
                    _ => escape_invalid(member),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(escape_invalid),
        _ => {}
    }
}

/// Removes `.` and `..` components and repeated separators, except after the scheme of a URI.
pub(crate) fn normal(path: &str) -> String {
    if let Some((scheme, rest)) = path.split_once("://") {
        return format!("{scheme}://{}", normal(rest));
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "." => {}
            "" if !steps.is_empty() => {}
            ".." if steps.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    if steps == [""] { "/".to_owned() } else { steps.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn both(text: &str, expected: &str) {
        let parsed = Uri::from_str(text).expect("a URI");
        assert_eq!(name(&parsed), expected);
        assert_eq!(uri(expected).expect("a URI").as_str(), text);
    }

    #[test]
    fn files_have_paths_and_the_rest_have_uris() {
        both("file:///kernels/a%20b/%C3%A9.cl", "/kernels/a b/é.cl");
        both("file:///C%3A/kernels/a.cl", "C:/kernels/a.cl");
        both("untitled:Untitled-1", "untitled:Untitled-1");
        both("vscode-vfs://github/a/b.cl", "vscode-vfs://github/a/b.cl");
        assert_eq!(name(&Uri::from_str("file:///c:/x/../a.cl").expect("a URI")), "c:/a.cl");
        assert_eq!(name(&Uri::from_str("file://localhost/a/./b").expect("a URI")), "/a/b");
    }

    #[test]
    fn invalid_characters_in_uris_are_encoded() {
        let mut message =
            serde_json::json!({ "textDocument": { "uri": "file:///a/b[1] c.cl", "text": "a[1]" } });
        escape_invalid(&mut message);
        assert_eq!(message["textDocument"]["uri"], "file:///a/b%5B1%5D%20c.cl");
        assert_eq!(message["textDocument"]["text"], "a[1]");
    }

    #[test]
    fn redundant_path_components_are_removed() {
        assert_eq!(normal("/a/./b/../c//d"), "/a/c/d");
        assert_eq!(normal("../a"), "../a");
        assert_eq!(normal("/.."), "/..");
        assert_eq!(normal("git://host/a/../b"), "git://host/b");
    }
}
