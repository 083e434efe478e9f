//! The settings of docs/editors.md for editors that Debian does not have: they parse, have only keys of the editor,
//! and start a server that diagnoses a source.

use std::{fs, process::Command};

use kiln_testsuite::{
    editor::{Client, capabilities},
    kiln, markdown, process, root,
};
use serde_json::Value;

/// The block of the page in this language that contains a text.
fn block(language: &str, text: &str) -> String {
    let page = fs::read_to_string(root().join("docs/editors.md")).expect("the page");
    let mut blocks = markdown::fenced(&page, language).into_iter();
    blocks.find(|block| block.contains(text)).unwrap_or_else(|| panic!("no {language} with `{text}`"))
}

fn json(text: &str) -> Value {
    serde_json::from_str(&block("json", text)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn words(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list} is not a list"));
    list.iter().map(|word| word.as_str().unwrap_or_else(|| panic!("{word} is not a text"))).collect()
}

#[track_caller]
fn has_only(table: &Value, keys: &[&str]) {
    for key in table.as_object().unwrap_or_else(|| panic!("{table} is not a table")).keys() {
        assert!(keys.contains(&key.as_str()), "the editor has no key `{key}`");
    }
}

/// Starts the server as an editor would, with `kiln` in `PATH`; it reports an undeclared name.
#[track_caller]
fn diagnoses(program: &Value, arguments: &[&str], options: Value) {
    let binary = kiln::binary();
    assert_eq!(program, "kiln");
    let mut command = Command::new("kiln");
    command.args(arguments).env("PATH", process::path_with(binary.parent().expect("a folder")));
    let mut client = Client::start(command, None, capabilities(), options);
    let uri = "file:///a.cl";
    client.open(uri, "kernel void k(global int *out) { out[0] = missing; }\n");
    let codes: Vec<Value> =
        client.diagnostics(uri).diagnostics.iter().map(|diagnostic| diagnostic["code"].clone()).collect();
    assert_eq!(codes, ["undeclared-name"]);
    let complaints = client.notifications.iter().filter(|it| it["method"] == "window/logMessage");
    assert_eq!(complaints.count(), 0, "the server understands the options");
    assert!(client.finish().success());
}

#[test]
fn helix() {
    let settings = block("toml", "language-server.kiln");
    let settings: Value = toml::from_str(&settings).expect("TOML");
    has_only(&settings, &["language-server", "language"]);
    let server = &settings["language-server"]["kiln"];
    has_only(server, &["command", "args", "config", "environment", "timeout"]);
    let language = &settings["language"][0];
    has_only(
        language,
        &[
            "name",
            "scope",
            "file-types",
            "comment-token",
            "block-comment-tokens",
            "indent",
            "grammar",
            "language-servers",
        ],
    );
    has_only(&language["indent"], &["tab-width", "unit"]);
    assert_eq!(words(&language["file-types"]), ["cl", "clh"]);
    assert_eq!(words(&language["language-servers"]), ["kiln"]);
    diagnoses(&server["command"], &words(&server["args"]), Value::Null);
}

#[test]
fn zed() {
    let settings = json("file_types");
    has_only(&settings, &["file_types", "lsp"]);
    assert_eq!(words(&settings["file_types"]["C"]), ["cl", "clh"]);
    let server = &settings["lsp"]["clangd"];
    has_only(server, &["binary"]);
    has_only(&server["binary"], &["path", "arguments"]);
    diagnoses(&server["binary"]["path"], &words(&server["binary"]["arguments"]), Value::Null);
}

#[test]
fn sublime_text() {
    let settings = json("clients");
    let client = &settings["clients"]["kiln"];
    has_only(client, &["enabled", "command", "selector", "initializationOptions"]);
    assert_eq!(client["enabled"], true);
    assert!(client["selector"].is_string());
    let command = words(&client["command"]);
    diagnoses(&client["command"][0], &command[1..], client["initializationOptions"].clone());
}
