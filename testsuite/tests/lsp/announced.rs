//! Everything that the server announces in `initialize`, requested once through the protocol. A capability without a row
//! fails the test, and so does a row without a capability.

use std::{collections::BTreeSet, fs};

use kiln_testsuite::{
    editor::{Client, capabilities, position, uri},
    kiln,
};
use serde_json::{Value, json};

const HEADER: &str = "struct point { float x, y; };\nint next(int n);\n";

const SOURCE: &str = r#"#include "n.h"
// kiln run --global 1
typedef struct { struct point at[2]; } pair;
int next(int n) { return n + 1; }
float first(float *all) { return all[0]; }
kernel void k(global float *out, global atomic_int *flag, local atomic_int *count)
{
    int number = 3;
    out[0] = first(out) + next(number);
    out[1] = number * 2;
    atomic_fetch_add(flag, 1);
    atomic_store_explicit(count, 1, memory_order_release, memory_scope_device);
    out[2] = missing;
    if (number) { out[3]=0; }
}
"#;

/// A folder with the two files, and a client with the source open.
struct Editor {
    client: Client,
    source: String,
    header: String,
    _folder: tempfile::TempDir,
}

impl Editor {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, header) = (folder.path().join("a.cl"), folder.path().join("n.h"));
        fs::write(&source, SOURCE).and_then(|()| fs::write(&header, HEADER)).expect("written");
        let mut offered = capabilities();
        offered["textDocument"]["diagnostic"] = json!({ "dynamicRegistration": false });
        offered["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
        let options = json!({ "codeLens": true });
        let mut command = kiln::command();
        command.arg("lsp");
        let mut client = Client::start(command, Some(folder.path()), offered, options.clone());
        client.configuration = options;
        let (source, header) = (uri(&source), uri(&header));
        client.open(&source, SOURCE);
        Self { client, source, header, _folder: folder }
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.client.request(method, parameters).unwrap_or_else(|why| panic!("{method}: {why}"))
    }

    /// Sends a request about the document, with further parameters.
    fn document(&mut self, method: &str, mut parameters: Value) -> Value {
        parameters["textDocument"] = json!({ "uri": self.source });
        self.ask(method, parameters)
    }

    /// Sends a request about the position after a piece of the source, with further parameters.
    fn with(&mut self, method: &str, after: &str, mut parameters: Value) -> Value {
        parameters["position"] = position_after(after);
        self.document(method, parameters)
    }

    fn at(&mut self, method: &str, after: &str) -> Value {
        self.with(method, after, json!({}))
    }

    /// The titles of the code actions of a kind for a selected piece of the source.
    fn actions(&mut self, selected: &str, kind: &str) -> Value {
        let start = SOURCE.find(selected).expect("it is in the source");
        let range = json!({ "start": position_at(start), "end": position_at(start + selected.len()) });
        let context = json!({ "diagnostics": [], "only": [kind] });
        let actions = self.document("textDocument/codeAction", json!({ "range": range, "context": context }));
        let actions = actions.as_array().expect("a list");
        actions
            .iter()
            .map(|action| {
                assert!(!action["edit"]["changes"][&self.source].as_array().expect("edits").is_empty());
                action["title"].clone()
            })
            .collect()
    }

    /// The names of the items that a request about the item of another request returns.
    fn hierarchy(&mut self, prepare: &str, after: &str, method: &str, pointer: &str) -> Value {
        let item = self.at(prepare, after)[0].clone();
        each(&self.ask(method, json!({ "item": item })), pointer)
    }
}

fn position_at(offset: usize) -> Value {
    let before = &SOURCE[..offset];
    position(before.matches('\n').count(), offset - before.rfind('\n').map_or(0, |line| line + 1))
}

/// The position after a piece of the source.
fn position_after(piece: &str) -> Value {
    position_at(SOURCE.find(piece).unwrap_or_else(|| panic!("no `{piece}`")) + piece.len())
}

/// One value of each element of a list.
fn each(list: &Value, pointer: &str) -> Value {
    let list = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    list.iter().map(|item| item.pointer(pointer).unwrap_or_else(|| panic!("{item}")).clone()).collect()
}

fn whole() -> Value {
    json!({ "start": position(0, 0), "end": position(99, 0) })
}

fn options() -> Value {
    json!({ "tabSize": 4, "insertSpaces": true })
}

/// A capability, a request to use it, and what the answer must contain.
type Row = (&'static str, fn(&mut Editor) -> Value, Value);

fn names() -> Vec<Row> {
    vec![
        (
            "hoverProvider",
            |it| {
                let hover = it.at("textDocument/hover", "int num");
                json!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("int number")))
            },
            json!(true),
        ),
        (
            "completionProvider",
            |it| {
                let list = it.at("textDocument/completion", "atomic_fetch");
                let items = list["items"].as_array().expect("a list");
                let item = items.iter().find(|item| item["label"] == "atomic_fetch_add").expect("offered");
                let resolved = it.ask("completionItem/resolve", item.clone());
                json!([item["kind"], resolved["documentation"]["kind"]])
            },
            json!([3, "markdown"]),
        ),
        (
            "signatureHelpProvider",
            |it| it.at("textDocument/signatureHelp", "next(")["signatures"][0]["label"].clone(),
            json!("int next(int n)"),
        ),
        (
            "definitionProvider",
            |it| each(&it.at("textDocument/definition", "first(out) + ne"), "/range/start/line"),
            json!([3]),
        ),
        (
            "declarationProvider",
            |it| {
                let found = it.at("textDocument/declaration", "first(out) + ne");
                json!(found[0]["uri"] == json!(it.header))
            },
            json!(true),
        ),
        (
            "typeDefinitionProvider",
            |it| each(&it.at("textDocument/typeDefinition", "struct point a"), "/range/start"),
            json!([position(0, 7)]),
        ),
        (
            "implementationProvider",
            |it| each(&it.at("textDocument/implementation", "first(out) + ne"), "/range/start/line"),
            json!([3]),
        ),
        (
            "referencesProvider",
            |it| {
                let context = json!({ "context": { "includeDeclaration": false } });
                each(&it.with("textDocument/references", "int num", context), "/range/start/line")
            },
            json!([8, 9, 13]),
        ),
        (
            "documentHighlightProvider",
            |it| each(&it.at("textDocument/documentHighlight", "int num"), "/range/start/line"),
            json!([7, 8, 9, 13]),
        ),
        (
            "renameProvider",
            |it| {
                let prepared = it.at("textDocument/prepareRename", "int num");
                let edit = it.with("textDocument/rename", "int num", json!({ "newName": "size" }));
                json!([prepared["placeholder"], each(&edit["changes"][&it.source], "/newText")])
            },
            json!(["number", ["size", "size", "size", "size"]]),
        ),
        (
            "documentSymbolProvider",
            |it| each(&it.document("textDocument/documentSymbol", json!({})), "/name"),
            json!(["pair", "<unnamed>", "next", "first", "k"]),
        ),
        (
            "workspaceSymbolProvider",
            |it| each(&it.ask("workspace/symbol", json!({ "query": "poi" })), "/name"),
            json!(["point"]),
        ),
        (
            "callHierarchyProvider",
            |it| {
                let prepare = "textDocument/prepareCallHierarchy";
                let callers = it.hierarchy(prepare, "int nex", "callHierarchy/incomingCalls", "/from/name");
                let callees =
                    it.hierarchy(prepare, "kernel void k", "callHierarchy/outgoingCalls", "/to/name");
                json!([callers, callees])
            },
            json!([["k"], ["first", "next"]]),
        ),
        (
            "typeHierarchyProvider",
            |it| {
                let prepare = "textDocument/prepareTypeHierarchy";
                let supertypes = it.hierarchy(prepare, "} pai", "typeHierarchy/supertypes", "/name");
                let subtypes = it.hierarchy(prepare, "{ struct poi", "typeHierarchy/subtypes", "/name");
                json!([supertypes, subtypes])
            },
            json!([["point"], ["pair"]]),
        ),
    ]
}

fn text() -> Vec<Row> {
    vec![
        (
            "semanticTokensProvider",
            |it| {
                let first = it.document("textDocument/semanticTokens/full", json!({}));
                let previous = json!({ "previousResultId": first["resultId"] });
                let delta = it.document("textDocument/semanticTokens/full/delta", previous);
                let line = json!({ "range": { "start": position(7, 0), "end": position(8, 0) } });
                let range = it.document("textDocument/semanticTokens/range", line);
                let count = first["data"].as_array().expect("numbers").len();
                json!([count > 100, delta["edits"], range["data"].as_array().expect("numbers").len()])
            },
            // One token of five numbers: `number`. `int` is a keyword.
            json!([true, [], 5]),
        ),
        (
            "inlayHintProvider",
            |it| each(&it.document("textDocument/inlayHint", json!({ "range": whole() })), "/label"),
            json!([
                "generic ",
                "all:",
                "(float)",
                "(float)",
                ", memory_order_seq_cst, memory_scope_device",
                "desired:",
            ]),
        ),
        (
            "inlineValueProvider",
            |it| {
                let stopped = json!({ "frameId": 1, "stoppedLocation": { "start": position(8, 0), "end": position(8, 4) } });
                let asked = json!({ "range": whole(), "context": stopped });
                each(&it.document("textDocument/inlineValue", asked), "/variableName")
            },
            json!(["out", "flag", "count", "number", "out", "out", "number"]),
        ),
        (
            "codeLensProvider",
            |it| each(&it.document("textDocument/codeLens", json!({})), "/command/command"),
            json!(["kiln.run", "kiln.races", "kiln.outcomes", "kiln.assembly"]),
        ),
        (
            "foldingRangeProvider",
            |it| each(&it.document("textDocument/foldingRange", json!({})), "/startLine"),
            json!([6]),
        ),
        (
            "selectionRangeProvider",
            |it| {
                let asked = json!({ "positions": [position_after("out[1] = num")] });
                let chain = it.document("textDocument/selectionRange", asked);
                json!([chain[0]["range"], chain[0]["parent"]["range"]])
            },
            json!([
                { "start": position(9, 13), "end": position(9, 19) },
                { "start": position(9, 13), "end": position(9, 23) },
            ]),
        ),
        (
            "documentLinkProvider",
            |it| {
                let links = it.document("textDocument/documentLink", json!({}));
                json!(links[0]["target"] == json!(it.header))
            },
            json!(true),
        ),
        (
            "documentFormattingProvider",
            |it| {
                let edits = it.document("textDocument/formatting", json!({ "options": options() }));
                json!(each(&edits, "/range/start/line").as_array().expect("lines").contains(&json!(13)))
            },
            json!(true),
        ),
        (
            "documentRangeFormattingProvider",
            |it| {
                let range = json!({ "start": position(13, 0), "end": position(13, 29) });
                let asked = json!({ "range": range, "options": options() });
                let edits = it.document("textDocument/rangeFormatting", asked);
                let lines = each(&edits, "/range/start/line");
                json!(
                    lines
                        .as_array()
                        .is_some_and(|lines| !lines.is_empty() && lines.iter().all(|it| *it == 13))
                )
            },
            json!(true),
        ),
        (
            "documentOnTypeFormattingProvider",
            |it| {
                let typed = json!({ "ch": "}", "options": options() });
                let edits = it.with("textDocument/onTypeFormatting", "out[3]=0; }", typed);
                json!(edits.as_array().is_some_and(|edits| !edits.is_empty()))
            },
            json!(true),
        ),
        (
            "diagnosticProvider",
            |it| {
                let report = it.document("textDocument/diagnostic", json!({}));
                let previous = json!({ "previousResultId": report["resultId"] });
                let again = it.document("textDocument/diagnostic", previous);
                json!([each(&report["items"], "/code"), again["kind"]])
            },
            json!([["undeclared-name"], "unchanged"]),
        ),
        (
            "codeActionProvider",
            |it| {
                let kinds = it.client.capabilities["codeActionProvider"]["codeActionKinds"].clone();
                json!([
                    kinds,
                    it.actions("atomic_fetch_add(flag, 1)", "refactor.rewrite"),
                    it.actions(
                        "atomic_store_explicit(count, 1, memory_order_release, memory_scope_device)",
                        "refactor.rewrite"
                    ),
                    it.actions("all", "refactor.rewrite"),
                    it.actions("number", "refactor.inline"),
                    it.actions("out[1] = number * 2;", "refactor.extract"),
                ])
            },
            json!([
                ["quickfix", "source.fixAll", "refactor.extract", "refactor.inline", "refactor.rewrite"],
                ["Make the order and scope explicit"],
                ["Narrow the scope to the work-group"],
                ["Add the address space `global`, which all calls have"],
                ["Inline the variable `number`"],
                ["Extract the statements to a function"],
            ]),
        ),
    ]
}

/// Announced, but not requests: `protocol.rs` tests positions, synchronization and workspace folders.
const NO_REQUESTS: [&str; 3] = ["positionEncoding", "textDocumentSync", "workspace"];

#[test]
fn every_announced_request_is_answered() {
    let rows: Vec<Row> = names().into_iter().chain(text()).collect();
    let mut editor = Editor::new();
    let announced = editor.client.capabilities.as_object().expect("a table").clone();
    let tested: BTreeSet<&str> = rows.iter().map(|(capability, ..)| *capability).chain(NO_REQUESTS).collect();
    let announced: BTreeSet<&str> = announced.keys().map(String::as_str).collect();
    assert_eq!(announced, tested);
    let mut wrong = Vec::new();
    for (capability, ask, expected) in rows {
        let found = ask(&mut editor);
        if found != expected {
            wrong.push(format!("{capability}: {found}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(editor.client.finish().success());
}

#[test]
fn fixes_can_be_applied_singly_or_together() {
    let mut editor = Editor::new();
    let text = "int f(int value) { return valeu; }\nint g(int count) { return cuont; }\n";
    editor.client.replace(&editor.source.clone(), text);
    let mut titles = |kind: &str, line: usize| {
        let range = json!({ "start": position(line, 26), "end": position(line, 31) });
        let context = json!({ "diagnostics": [], "only": [kind] });
        let asked = json!({ "range": range, "context": context });
        let actions = editor.document("textDocument/codeAction", asked);
        let edits = &actions[0]["edit"]["changes"][&editor.source];
        json!([each(&actions, "/title"), each(edits, "/newText")])
    };
    assert_eq!(titles("quickfix", 1), json!([["Replace with `count`"], ["count"]]));
    assert_eq!(titles("source.fixAll", 0)[1], json!(["value", "count"]));
    assert!(editor.client.finish().success());
}
