//! Each editor request once through the protocol. The unit tests of `kiln-lsp` cover the details.

use std::fs;

use kiln_testsuite::editor::{Client, position, uri};
use serde_json::{Value, json};

const URI: &str = "file:///kernels/reduce.cl";

const TEXT: &str = "\
// Adds two values.
static int add(int left, int right) {
    return left + right;
}
kernel void reduce(global const float4 *in, global atomic_int *out) {
    float4 value = in[get_global_id(0)];
    int sum = add(value.x, 1);
    atomic_fetch_add(out, sum);
    atomic_store_explicit(out, sum, memory_order_relaxed);
}
";

fn started() -> Client {
    let mut client = Client::kiln(None);
    client.open(URI, TEXT);
    client
}

/// The position of a piece of the text, and so many characters on.
fn on(text: &str, piece: &str, further: usize) -> Value {
    let at = text.find(piece).expect("it is there") + further;
    let line = text[..at].matches('\n').count();
    position(line, at - text[..at].rfind('\n').map_or(0, |line| line + 1))
}

fn labels(list: &Value) -> Vec<&str> {
    list["items"].as_array().expect("a list").iter().filter_map(|item| item["label"].as_str()).collect()
}

#[test]
fn hover_and_signatures() {
    let mut client = started();
    let hover = client.at("textDocument/hover", URI, on(TEXT, "add(value", 1));
    let text = hover["contents"]["value"].as_str().expect("text");
    assert!(text.contains("int add(int left, int right)") && text.contains("Adds two values."), "{text}");
    let hover = client.at("textDocument/hover", URI, on(TEXT, "atomic_fetch_add", 1));
    let text = hover["contents"]["value"].as_str().expect("text");
    assert!(text.contains("OpenCL C 6.15.12") && text.contains("seq_cst"), "{text}");
    let help = client.at("textDocument/signatureHelp", URI, on(TEXT, "value.x, 1", 9));
    assert_eq!(
        (&help["signatures"][0]["label"], &help["activeParameter"]),
        (&json!("int add(int left, int right)"), &json!(1))
    );
    assert!(client.finish().success());
}

#[test]
fn completion_is_of_what_fits() {
    let mut client = started();
    let broken = TEXT.replace("value.x, 1", "value.");
    client.replace(URI, &broken);
    let members = client.at("textDocument/completion", URI, on(&broken, "add(value.", 10));
    assert_eq!(labels(&members)[..4], ["x", "y", "z", "w"]);
    let broken = TEXT.replace("memory_order_relaxed", "");
    client.replace(URI, &broken);
    let orders = client.at("textDocument/completion", URI, on(&broken, "sum, )", 5));
    assert_eq!(
        labels(&orders)[..3],
        ["memory_order_relaxed", "memory_order_release", "memory_order_seq_cst"]
    );
    let names = client.at("textDocument/completion", URI, on(TEXT, "atomic_fetch", 6));
    let item = names["items"].as_array().expect("a list").iter().find(|item| item["label"] == "atomic_load");
    let resolved =
        client.request("completionItem/resolve", item.expect("offered").clone()).expect("resolved");
    assert!(resolved["documentation"]["value"].as_str().expect("text").contains("Returns the value"));
    assert!(client.finish().success());
}

#[test]
fn places_of_names() {
    let mut client = started();
    let found = client.at("textDocument/definition", URI, on(TEXT, "add(value", 0));
    assert_eq!(found[0]["range"]["start"], position(1, 11));
    let context = json!({ "includeDeclaration": true });
    let asked =
        json!({ "textDocument": { "uri": URI }, "position": on(TEXT, "value =", 0), "context": context });
    let found = client.request("textDocument/references", asked).expect("found");
    assert_eq!(found.as_array().map(Vec::len), Some(2));
    let marked = client.at("textDocument/documentHighlight", URI, on(TEXT, "value =", 0));
    assert_eq!(marked.as_array().map(Vec::len), Some(2));
    let renamed =
        json!({ "textDocument": { "uri": URI }, "position": on(TEXT, "value =", 0), "newName": "loaded" });
    let edit = client.request("textDocument/rename", renamed).expect("renamed");
    assert_eq!(edit["changes"][URI].as_array().map(Vec::len), Some(2));
    let refused = json!({ "textDocument": { "uri": URI }, "position": on(TEXT, "get_global_id", 0) });
    let why = client.request("textDocument/prepareRename", refused).expect_err("refused");
    assert_eq!(why["message"], "`get_global_id` is a name of OpenCL C");
    assert!(client.finish().success());
}

#[test]
fn what_a_document_has() {
    let mut client = started();
    let document = json!({ "textDocument": { "uri": URI } });
    let mut ask = |method: &str| {
        client.request(method, document.clone()).unwrap_or_else(|why| panic!("{method}: {why}"))
    };
    let names: Vec<Value> = ask("textDocument/documentSymbol")
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert_eq!(names, ["add", "reduce"]);
    assert_eq!(ask("textDocument/foldingRange").as_array().map(Vec::len), Some(2));
    assert!(ask("textDocument/semanticTokens/full")["data"].as_array().is_some_and(|data| data.len() > 50));
    assert_eq!(ask("textDocument/documentLink"), json!([]));
    let range = json!({ "start": position(0, 0), "end": position(99, 0) });
    let asked = json!({ "textDocument": { "uri": URI }, "range": range });
    let hints = client.request("textDocument/inlayHint", asked).expect("hints");
    let labels: Vec<&str> =
        hints.as_array().expect("a list").iter().filter_map(|hint| hint["label"].as_str()).collect();
    assert_eq!(
        labels,
        ["left:", "(int)", "right:", ", memory_order_seq_cst, memory_scope_device", ", memory_scope_device"]
    );
    let asked = json!({ "textDocument": { "uri": URI }, "positions": [on(TEXT, "left +", 0)] });
    let chain = client.request("textDocument/selectionRange", asked).expect("a chain");
    assert!(chain[0]["parent"]["parent"].is_object());
    assert!(client.finish().success());
}

#[test]
fn a_fix_is_offered_and_mends() {
    let mut client = Client::kiln(None);
    client.open(URI, "int f(int value) { return valeu; }\n");
    let diagnostic = client.diagnostics(URI).diagnostics[0].clone();
    let asked = json!({
        "textDocument": { "uri": URI },
        "range": diagnostic["range"],
        "context": { "diagnostics": [diagnostic], "only": ["quickfix"] },
    });
    let actions = client.request("textDocument/codeAction", asked).expect("actions");
    assert_eq!(actions[0]["title"], "Replace by `value`");
    let edit = &actions[0]["edit"]["changes"][URI][0];
    client.change(URI, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    assert!(client.diagnostics(URI).diagnostics.is_empty());
    assert!(client.finish().success());
}

#[test]
fn names_of_headers_are_renamed_in_all_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.cl"), "#include \"n.h\"\nint a() { return next(1); }\n").expect("written");
    fs::write(path("b.cl"), "#include \"n.h\"\nint b() { return next(2); }\n").expect("written");
    fs::write(path("n.h"), "int next(int);\n").expect("written");
    let mut client = Client::kiln(Some(folder.path()));
    let (a, b, n) = (uri(&path("a.cl")), uri(&path("b.cl")), uri(&path("n.h")));
    client.open(&a, &fs::read_to_string(path("a.cl")).expect("read"));
    let asked = json!({ "textDocument": { "uri": a }, "position": position(1, 18), "newName": "following" });
    let edit = client.request("textDocument/rename", asked).expect("renamed");
    for file in [&a, &b, &n] {
        assert_eq!(edit["changes"][file].as_array().map(Vec::len), Some(1), "{file}");
    }
    let found = client.request("workspace/symbol", json!({ "query": "nxt" })).expect("found");
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert!(client.finish().success());
}

#[test]
fn what_is_taken_back_is_not_answered() {
    let mut client = started();
    // The worker is busy with the first while the others are taken back.
    let ids: Vec<i64> = (0..50)
        .map(|_| {
            client.ask(
                "textDocument/hover",
                json!({ "textDocument": { "uri": URI }, "position": position(6, 10) }),
            )
        })
        .collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    let answers: Vec<_> = ids.into_iter().map(|id| client.answer(id)).collect();
    assert!(answers.iter().all(|answer| answer.as_ref().map_or_else(|why| why["code"] == -32800, |_| true)));
    assert!(client.finish().success());
}
