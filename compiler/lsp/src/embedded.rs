//! Requests about one document, answered on the caller's thread. For programs that contain an editor and have neither
//! threads nor files, such as a page in the browser.

use std::{str::FromStr as _, sync::Arc};

use lsp_server::{Request, RequestId};
use lsp_types::Uri;
use serde_json::{Value, json};

use crate::{
    client_state::ClientState, configuration::Settings, documents::Document, requests, session::Session, uri,
};

/// The document. Its scheme has no files.
const URI: &str = "kiln:/kernel.cl";

/// Answers a request of the Language Server Protocol about a document of this text. `flags` are compiler options, and
/// `parameters` those of the request without its `textDocument`. The error is a message for the user.
///
/// ```
/// use serde_json::json;
///
/// let at = json!({ "position": { "line": 0, "character": 32 } });
/// let hover = kiln_lsp::answer("kernel void k(global int *p) { *p = max(1, 2); }", &[], "textDocument/hover", at)?;
/// assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("global int *p")));
/// # Ok::<(), String>(())
/// ```
pub fn answer(text: &str, flags: &[String], method: &str, mut parameters: Value) -> Result<Value, String> {
    parameters["textDocument"] = json!({ "uri": URI });
    let uri = Uri::from_str(URI).map_err(|error| error.to_string())?;
    let settings = Settings { flags: flags.to_vec(), ..Settings::default() };
    let mut client_state = ClientState { settings: Arc::new(settings), ..ClientState::default() };
    client_state.documents.insert(uri::name(&uri), Document { uri, version: 0, text: text.into() });
    let mut session = Session::default();
    session.client_state = client_state;
    let request = Request::new(RequestId::from(0), method.to_owned(), parameters);
    requests::answer(&mut session, request).response_result.map_err(|error| error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "// the sum\nint sum(int a, int b) { return a + b; }\n\
        kernel void k(global int *p) { *p = sum(1, 2); p[1] = ge; }";

    fn ask(method: &str, parameters: Value) -> Value {
        answer(SOURCE, &["-cl-std=CL2.0".to_owned()], method, parameters).expect("an answer")
    }

    fn at(character: u32) -> Value {
        json!({ "position": { "line": 2, "character": character } })
    }

    #[test]
    fn names_have_descriptions_and_definitions() {
        let hover = ask("textDocument/hover", at(37))["contents"]["value"].to_string();
        assert!(hover.contains("int sum(int a, int b)") && hover.contains("the sum"), "{hover}");
        let definition = ask("textDocument/definition", at(37));
        assert_eq!(definition[0]["range"]["start"], json!({ "line": 1, "character": 4 }));
    }

    #[test]
    fn words_and_calls_are_completed() {
        let items = ask("textDocument/completion", at(57));
        let labels: Vec<&str> =
            items["items"].as_array().into_iter().flatten().filter_map(|it| it["label"].as_str()).collect();
        assert!(labels.contains(&"get_global_id"), "{labels:?}");
        let help = ask("textDocument/signatureHelp", at(43));
        assert_eq!(help["activeParameter"], 1, "{help}");
    }

    #[test]
    fn unknown_requests_and_files_are_errors() {
        assert!(answer("", &[], "textDocument/fly", json!({})).is_err());
        assert!(answer("", &[], "textDocument/hover", json!({})).is_err());
    }
}
