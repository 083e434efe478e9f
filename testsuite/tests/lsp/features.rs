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

/// The position that is `further` bytes after the start of a piece of the text.
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
fn completion_offers_members_and_legal_orders() {
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
fn definitions_references_and_renames() {
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
    let rejected = json!({ "textDocument": { "uri": URI }, "position": on(TEXT, "get_global_id", 0) });
    let why = client.request("textDocument/prepareRename", rejected).expect_err("rejected");
    assert_eq!(why["message"], "`get_global_id` is a name of OpenCL C");
    assert!(client.finish().success());
}

#[test]
fn document_symbols_folds_tokens_and_links() {
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
fn fixes_repair_the_source() {
    let mut client = Client::kiln(None);
    client.open(URI, "int f(int value) { return valeu; }\n");
    let diagnostic = client.diagnostics(URI).diagnostics[0].clone();
    let asked = json!({
        "textDocument": { "uri": URI },
        "range": diagnostic["range"],
        "context": { "diagnostics": [diagnostic], "only": ["quickfix"] },
    });
    let actions = client.request("textDocument/codeAction", asked).expect("actions");
    assert_eq!(actions[0]["title"], "Replace with `value`");
    let edit = &actions[0]["edit"]["changes"][URI][0];
    client.change(URI, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    assert!(client.diagnostics(URI).diagnostics.is_empty());
    assert!(client.finish().success());
}

/// A data race of a small launch is a diagnostic once the source has not changed for a while, and its fix removes it.
#[test]
fn data_races_of_launches_have_fixes() {
    let mut client = Client::kiln(None);
    let text = "// kiln run --global 2 --local 2 --arg buf:int[2]=0\nkernel void neighbor(global int *out) {\n    \
                local int tile[2];\n    int i = get_local_id(0);\n    tile[i] = i + 1;\n    out[i] = tile[1 - \
                i];\n}\n";
    client.open(URI, text);
    // The diagnostics of the compiler do not wait for the exploration.
    assert!(client.diagnostics(URI).diagnostics.is_empty());
    let is_race = |it: &Value| it["code"] == "data-race";
    let found = client.diagnostics_that(URI, |all| all.iter().any(is_race));
    let race = found[0].clone();
    assert_eq!(race["range"]["start"], position(5, 4));
    assert_eq!(race["relatedInformation"][0]["location"]["range"]["start"], position(4, 4));
    assert!(
        race["message"].as_str().is_some_and(|it| it.contains("line 5") && it.contains("line 6")),
        "{race}"
    );
    let asked = |range: &Value| json!({ "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": [], "only": ["quickfix"] } });
    let actions = client.request("textDocument/codeAction", asked(&race["range"])).expect("actions");
    assert_eq!(actions[0]["title"], "Insert `barrier(CLK_LOCAL_MEM_FENCE)` before line 6");
    let elsewhere = json!({ "start": position(0, 0), "end": position(0, 0) });
    let none = client.request("textDocument/codeAction", asked(&elsewhere)).expect("actions");
    assert_eq!(none.as_array().map(Vec::len), Some(0), "{none}");
    let edit = &actions[0]["edit"]["changes"][URI][0];
    client.change(URI, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    // What was found for the old text is not shown for the new one.
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
fn calls_and_implementations_in_several_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.cl"), "#include \"n.h\"\nint a() { return next(1); }\n").expect("written");
    fs::write(path("b.cl"), "#include \"n.h\"\nint next(int n) { return n + 1; }\n").expect("written");
    fs::write(path("n.h"), "int next(int);\n").expect("written");
    let mut client = Client::kiln(Some(folder.path()));
    let (a, b) = (uri(&path("a.cl")), uri(&path("b.cl")));
    client.open(&a, &fs::read_to_string(path("a.cl")).expect("read"));
    let found = client.at("textDocument/implementation", &a, position(1, 18));
    assert_eq!((found[0]["uri"].as_str(), &found[0]["range"]["start"]), (Some(b.as_str()), &position(1, 4)));
    let items = client.at("textDocument/prepareCallHierarchy", &a, position(1, 18));
    let asked = json!({ "item": items[0] });
    let calls = client.request("callHierarchy/incomingCalls", asked).expect("calls");
    assert_eq!((calls.as_array().map(Vec::len), calls[0]["from"]["name"].as_str()), (Some(1), Some("a")));
    let items = client.at("textDocument/prepareCallHierarchy", &a, position(1, 4));
    let calls = client.request("callHierarchy/outgoingCalls", json!({ "item": items[0] })).expect("calls");
    assert_eq!(calls[0]["to"]["name"].as_str(), Some("next"));
    assert!(client.finish().success());
}

#[test]
fn lenses_refactorings_and_values() {
    let mut command = kiln_testsuite::kiln::command();
    command.arg("lsp");
    let options = json!({ "codeLens": true });
    let mut client = Client::start(command, None, kiln_testsuite::editor::capabilities(), options);
    client.configuration = json!({ "codeLens": true });
    client.open(URI, TEXT);
    let lenses =
        client.request("textDocument/codeLens", json!({ "textDocument": { "uri": URI } })).expect("lenses");
    assert_eq!(lenses[0]["command"]["command"], "kiln.assembly");
    let operation = on(TEXT, "atomic_fetch_add", 3);
    let asked = json!({
        "textDocument": { "uri": URI },
        "range": { "start": operation, "end": operation },
        "context": { "diagnostics": [], "only": ["refactor"] },
    });
    let actions = client.request("textDocument/codeAction", asked).expect("actions");
    assert_eq!(actions[0]["title"], "Make the order and scope explicit");
    let whole = json!({ "start": position(0, 0), "end": position(99, 0) });
    let stopped =
        json!({ "frameId": 1, "stoppedLocation": { "start": position(2, 0), "end": position(2, 9) } });
    let asked = json!({ "textDocument": { "uri": URI }, "range": whole, "context": stopped });
    let values = client.request("textDocument/inlineValue", asked).expect("values");
    assert_eq!(values.as_array().map(Vec::len), Some(4), "{values}");
    assert_eq!(values[0]["variableName"], "left");
    assert!(client.finish().success());
}

#[test]
fn documents_and_ranges_are_formatted() {
    let mut client = started();
    let text = "int  a;\nvoid f() {\nif(a) { a=1; }\n}\n";
    client.replace(URI, text);
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let asked = json!({ "textDocument": { "uri": URI }, "options": options });
    let edits = client.request("textDocument/formatting", asked).expect("edits");
    assert!(edits.as_array().is_some_and(|edits| edits.len() > 4), "{edits}");
    let first = json!({ "start": position(0, 0), "end": position(0, 3) });
    let asked = json!({ "textDocument": { "uri": URI }, "options": options, "range": first });
    let edits = client.request("textDocument/rangeFormatting", asked).expect("edits");
    assert_eq!(edits.as_array().map(Vec::len), Some(1), "{edits}");
    let asked =
        json!({ "textDocument": { "uri": URI }, "position": position(2, 14), "ch": "}", "options": options });
    let edits = client.request("textDocument/onTypeFormatting", asked).expect("edits");
    assert!(edits.as_array().is_some_and(|edits| !edits.is_empty()), "{edits}");
    assert!(client.finish().success());
}

#[test]
fn diagnostics_are_pulled_by_clients_that_can() {
    let mut command = kiln_testsuite::kiln::command();
    command.arg("lsp");
    let mut capabilities = kiln_testsuite::editor::capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({ "dynamicRegistration": false });
    capabilities["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
    let mut client = Client::start(command, None, capabilities, Value::Null);
    assert!(client.capabilities["diagnosticProvider"].is_object());
    let document =
        json!({ "uri": URI, "languageId": "opencl", "version": 1, "text": "int f() { return a; }\n" });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let asked = json!({ "textDocument": { "uri": URI } });
    let report = client.request("textDocument/diagnostic", asked).expect("a report");
    assert_eq!((report["kind"].as_str(), report["items"].as_array().map(Vec::len)), (Some("full"), Some(1)));
    let asked = json!({ "textDocument": { "uri": URI }, "previousResultId": report["resultId"] });
    let report = client.request("textDocument/diagnostic", asked).expect("a report");
    assert_eq!(report["kind"].as_str(), Some("unchanged"));
    assert!(client.finish().success());
}

#[test]
fn cancelled_requests_return_no_result() {
    let mut client = started();
    // The worker is busy with the first request while the others are canceled.
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
