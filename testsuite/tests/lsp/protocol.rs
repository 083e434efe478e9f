//! The server's lifecycle, documents, diagnostics, and invalid messages.

use std::fs;

use kiln_testsuite::{
    editor::{Client, capabilities, position, uri},
    kiln,
};
use serde_json::{Value, json};

fn messages(diagnostics: &[Value]) -> Vec<String> {
    let text = |diagnostic: &Value| {
        let message = diagnostic["message"].as_str().expect("text").lines().next().unwrap_or_default();
        format!(
            "{}:{}: {message}",
            diagnostic["range"]["start"]["line"], diagnostic["range"]["start"]["character"]
        )
    };
    diagnostics.iter().map(text).collect()
}

#[test]
fn an_edit_changes_the_diagnostics() {
    let mut client = Client::kiln(None);
    let uri = "file:///no/such/folder/a.cl";
    client.open(uri, "kernel void f(global int* a) {\n    a[0] = b;\n}\n");
    let found = client.diagnostics(uri);
    assert_eq!(messages(&found.diagnostics), ["1:11: `b` is not declared"]);
    assert_eq!(found.diagnostics[0]["code"], "undeclared-name");
    assert_eq!(found.diagnostics[0]["source"], "kiln");
    let range = json!({ "start": position(1, 11), "end": position(1, 12) });
    client.change(uri, json!([{ "range": range, "text": "1" }]));
    assert!(client.diagnostics(uri).diagnostics.is_empty());
    client.close(uri);
    assert!(client.finish().success());
}

#[test]
fn columns_use_the_negotiated_encoding() {
    for (encoding, column) in [("utf-8", 22), ("utf-16", 20), ("utf-32", 19)] {
        let mut offered = capabilities();
        offered["general"]["positionEncodings"] = json!([encoding]);
        let mut command = kiln::command();
        command.arg("lsp");
        let mut client = Client::start(command, None, offered, Value::Null);
        assert_eq!(client.capabilities["positionEncoding"], encoding);
        let uri = "file:///a.cl";
        client.open(uri, "void f() { /* \u{1F600} */ b; }\n");
        assert_eq!(
            messages(&client.diagnostics(uri).diagnostics),
            [format!("0:{column}: `b` is not declared")]
        );
        assert!(client.finish().success());
    }
}

#[test]
fn headers_have_the_diagnostics_of_their_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, header) = (folder.path().join("a.cl"), folder.path().join("a.h"));
    fs::write(&header, "int twice(int a) { return a + b; }\n").expect("written");
    let mut client = Client::kiln(Some(folder.path()));
    let (source, header) = (uri(&source), uri(&header));
    client.open(&source, "#include \"a.h\"\nkernel void f(global int* a) { *a = twice(N); }\n#define N 1\n");
    client.diagnostics_that(&source, |them| messages(them) == ["1:42: `N` is not declared"]);
    client.diagnostics_that(&header, |them| messages(them) == ["0:30: `b` is not declared"]);
    // An open document overrides the file on disk.
    client.open(&header, "#define N 1\nint twice(int a) { return a + a; }\n");
    client.diagnostics_that(&header, <[Value]>::is_empty);
    client.diagnostics_that(&source, <[Value]>::is_empty);
    client.close(&header);
    client.diagnostics_that(&header, |them| them.len() == 1);
    client.close(&source);
    client.diagnostics_that(&header, <[Value]>::is_empty);
    assert!(client.finish().success());
}

#[test]
fn options_come_from_the_project_and_the_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernels/a.cl");
    fs::create_dir(folder.path().join("kernels")).expect("made");
    let text = "int a = N;\n";
    let mut client = Client::kiln(Some(folder.path()));
    let source = uri(&path);
    client.open(&source, text);
    client.diagnostics_that(&source, |them| messages(them) == ["0:8: `N` is not declared"]);
    let project = folder.path().join("kiln.toml");
    fs::write(&project, "define = [\"N=1\"]\n").expect("written");
    let change = json!({ "uri": uri(&project), "type": 1 });
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    client.diagnostics_that(&source, <[Value]>::is_empty);
    fs::remove_file(&project).expect("removed");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    client.diagnostics_that(&source, |them| them.len() == 1);
    client.replace(&source, &format!("// kiln: -DN=2\n{text}"));
    client.diagnostics_that(&source, <[Value]>::is_empty);
    client.replace(&source, text);
    client.diagnostics_that(&source, |them| them.len() == 1);
    client.configuration = json!({ "flags": ["-DN=3"] });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    client.diagnostics_that(&source, <[Value]>::is_empty);
    assert!(client.finish().success());
}

#[test]
fn mistakes_in_the_project_file_are_reported_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("kiln.toml");
    fs::write(&project, "defines = [\"A=1\"]\ndefine = [\"N=1\"]\n").expect("written");
    let mut client = Client::kiln(Some(folder.path()));
    let (source, project) = (uri(&folder.path().join("a.cl")), uri(&project));
    client.open(&source, "int a = N;\n");
    client.diagnostics_that(&project, |them| {
        messages(them)
            == ["0:0: there is no key `defines`; the keys are `std`, `env`, `profile`, `define`, `include`, `extensions`, `flags`"]
    });
    // Valid settings apply, and the text in the editor overrides the file on disk.
    assert!(client.diagnostics(&source).diagnostics.is_empty());
    client.open(&project, "define = [\"N=1\"]\n");
    client.diagnostics_that(&project, <[Value]>::is_empty);
    client.replace(&project, "define = \"N=1\"\n");
    client.diagnostics_that(&project, |them| messages(them) == ["0:9: a list of strings is expected"]);
    client.diagnostics_that(&source, |them| messages(them) == ["0:8: `N` is not declared"]);
    assert!(client.finish().success());
}

#[test]
fn protocol_errors_do_not_end_the_server() {
    let mut command = kiln::command();
    command.arg("lsp");
    let mut client = Client::spawn(command);
    let early = client.request("textDocument/hover", json!({}));
    assert_eq!(early.expect_err("too early")["code"], -32002);
    client.write(b"Content-Length: 3\r\n\r\n{]}");
    client.request("initialize", json!({ "capabilities": {} })).expect("it is answered");
    client.notify("initialized", json!({}));
    client.write(b"nonsense\r\n");
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": "file:///a.cl", "version": 1 }, "contentChanges": [] }),
    );
    client.notify("textDocument/didOpen", json!({ "textDocument": 7 }));
    client.notify("$/unknown", json!({}));
    assert_eq!(client.request("kiln/unknown", json!({})).expect_err("unknown")["code"], -32601);
    client.open("file:///a.cl", "int a\n");
    assert_eq!(
        messages(&client.diagnostics("file:///a.cl").diagnostics),
        ["0:5: expected `;` after the declaration"]
    );
    assert!(client.finish().success());
}

#[test]
fn documents_keep_the_uri_of_the_client() {
    let mut client = Client::kiln(None);
    // The third is not a URI; its diagnostics are published with a valid one.
    for (given, published) in [
        ("vscode-vfs://github/a/b.cl", "vscode-vfs://github/a/b.cl"),
        ("file:///c%3A/kernels/a%20b.cl", "file:///c%3A/kernels/a%20b.cl"),
        ("file:///kernels/a[1].cl", "file:///kernels/a%5B1%5D.cl"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
    ] {
        client.open(given, "int a = b;\n");
        client.diagnostics_that(published, |them| messages(them) == ["0:8: `b` is not declared"]);
        let parameters = json!({ "textDocument": { "uri": given }, "position": position(0, 4) });
        assert!(client.request("textDocument/hover", parameters).expect("answered").is_object(), "{given}");
    }
    assert!(client.finish().success());
}

#[test]
fn queued_edits_lead_to_the_final_text() {
    let mut client = Client::kiln(None);
    let uri = "file:///a.cl";
    client.open(uri, "int a = b;\n");
    let start = json!({ "start": position(0, 0), "end": position(0, 0) });
    for _ in 0..200 {
        client.change(uri, json!([{ "range": start, "text": "\n" }]));
        client.notify("$/cancelRequest", json!({ "id": "no such" }));
    }
    client.diagnostics_that(uri, |them| messages(them) == ["200:8: `b` is not declared"]);
    // An edit after the last line, and one with reversed positions.
    let wild = json!({ "start": position(9999, 7), "end": position(0, 0) });
    client.change(uri, json!([{ "range": wild, "text": "int c;" }]));
    client.replace(uri, "int c;\n");
    client.diagnostics_that(uri, <[Value]>::is_empty);
    assert!(client.finish().success());
}

#[test]
fn an_exit_without_shutdown_is_a_failure() {
    let client = Client::kiln(None);
    assert!(!client.end().success());
}

#[test]
fn a_header_is_analyzed_as_part_of_its_includer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.cl"), "typedef float real;\n#include \"a.h\"\n").expect("written");
    fs::write(path("a.h"), "real half_of(real a) { return a / 2; }\n").expect("written");
    let mut client = Client::kiln(Some(folder.path()));
    let header = uri(&path("a.h"));
    client.open(&header, "real half_of(real a) { return a / b; }\n");
    client.diagnostics_that(&header, |them| messages(them) == ["0:34: `b` is not declared"]);
    client.replace(&header, "real half_of(real a) { return a / 2; }\n");
    client.diagnostics_that(&header, <[Value]>::is_empty);
    client.close(&header);
    assert!(client.finish().success());
}

#[test]
fn a_header_without_includers_is_analyzed_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut client = Client::kiln(Some(folder.path()));
    let (header, source) = (uri(&folder.path().join("a.h")), uri(&folder.path().join("a.cl")));
    client.open(&header, "int f() { return N; }\n");
    client.diagnostics_that(&header, |them| them.len() == 1);
    // Then a source includes it.
    client.open(&source, "#define N 1\n#include \"a.h\"\n");
    client.diagnostics_that(&header, <[Value]>::is_empty);
    assert!(client.finish().success());
}

#[test]
fn a_panic_fails_one_request_only() {
    let mut command = kiln::command();
    command.arg("lsp").env("KILN_PANIC_ON", "panic_here");
    let mut client = Client::start(command, None, capabilities(), Value::Null);
    let uri = "file:///a.cl";
    client.open(uri, "int f() { return b; }\n");
    assert_eq!(client.diagnostics(uri).diagnostics.len(), 1);
    client.replace(uri, "int f() { return panic_here; }\n");
    client.wait("a message about the panic", |client| {
        let logged = client.notifications.iter().find(|it| it["method"] == "window/logMessage")?;
        Some(logged["params"]["message"].as_str()?.contains("a requested panic"))
    });
    // Earlier results are still available.
    let symbols = client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(symbols.expect("answered")[0]["name"], "f");
    client.replace(uri, "int f() { return 1; }\n");
    assert!(client.diagnostics(uri).diagnostics.is_empty());
    assert!(client.finish().success());
}
