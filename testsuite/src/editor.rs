//! A scripted editor: starts a language server, exchanges messages with it, and records its notifications.
//!
//! Uses plain JSON instead of protocol types, as any client would see it, and works with any server.

use std::{
    collections::HashMap,
    io::{BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{kiln, process};

/// The timeout, longer than any answer takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

/// A client and its server.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The latest diagnostics of each file.
    diagnostics: HashMap<String, Published>,
    /// Other notifications, in order.
    pub notifications: Vec<Value>,
    /// Answers that have not been retrieved yet.
    answers: HashMap<i64, Value>,
    next: i64,
    versions: HashMap<String, i64>,
    /// The server's capabilities.
    pub capabilities: Value,
    /// The client's configuration section `kiln`.
    pub configuration: Value,
}

/// The published diagnostics of a file.
#[derive(Clone, Debug)]
pub struct Published {
    /// The document version, if the server sends it.
    pub version: Option<i64>,
    /// The diagnostics.
    pub diagnostics: Vec<Value>,
    /// When they arrived.
    pub at: Instant,
}

impl Client {
    /// Starts `kiln lsp` with the capabilities of common editors.
    pub fn kiln(folder: Option<&Path>) -> Self {
        let mut command = kiln::command();
        command.arg("lsp");
        Self::start(command, folder, capabilities(), Value::Null)
    }

    /// Starts a server with these client capabilities and options.
    pub fn start(command: Command, folder: Option<&Path>, capabilities: Value, options: Value) -> Self {
        let mut client = Self::spawn(command);
        let uri = folder.map(uri);
        let folders = uri.as_ref().map(|uri| json!([{ "uri": uri, "name": "test" }]));
        let result = client.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": uri,
                "workspaceFolders": folders,
                "capabilities": capabilities,
                "initializationOptions": options,
            }),
        );
        client.capabilities = result.expect("`initialize` is answered")["capabilities"].clone();
        client.notify("initialized", json!({}));
        client
    }

    /// Starts a server without sending anything.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stdout = child.stdout.take().expect("it is piped");
        let (sender, messages) = channel();
        // The thread ends when the server closes its output.
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            messages,
            diagnostics: HashMap::new(),
            notifications: Vec::new(),
            answers: HashMap::new(),
            next: 1,
            versions: HashMap::new(),
            capabilities: Value::Null,
            configuration: Value::Null,
        }
    }

    /// The server's process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Writes raw bytes, which need not be a valid message.
    pub fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the server's input is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    /// Sends a request without waiting; returns its id.
    pub fn ask(&mut self, method: &str, parameters: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        id
    }

    /// Waits for the answer to a request: the result or the error.
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        self.wait("an answer", |client| {
            let mut answer = client.answers.remove(&id)?;
            Some(match answer.get_mut("error") {
                Some(error) => Err(error.take()),
                None => Ok(answer["result"].take()),
            })
        })
    }

    /// Sends a request and waits for the answer.
    pub fn request(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        let id = self.ask(method, parameters);
        self.answer(id)
    }

    /// Sends a request about a position in a document.
    pub fn at(&mut self, method: &str, uri: &str, position: Value) -> Value {
        let parameters = json!({ "textDocument": { "uri": uri }, "position": position });
        self.request(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Opens a document.
    pub fn open(&mut self, uri: &str, text: &str) {
        self.versions.insert(uri.to_owned(), 1);
        let document = json!({ "uri": uri, "languageId": "opencl", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Changes a document, by the whole text or by ranges; returns its new version.
    pub fn change(&mut self, uri: &str, changes: Value) -> i64 {
        let version = self.versions.get_mut(uri).expect("it is open");
        *version += 1;
        let version = *version;
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        version
    }

    /// Replaces the text of a document; returns its new version.
    pub fn replace(&mut self, uri: &str, text: &str) -> i64 {
        self.change(uri, json!([{ "text": text }]))
    }

    /// Closes a document.
    pub fn close(&mut self, uri: &str) {
        self.versions.remove(uri);
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Describes the known diagnostics of a file, for timeout messages.
    fn known(&self, uri: &str) -> String {
        format!("{:?}", self.diagnostics.get(uri).map(|published| &published.diagnostics))
    }

    /// Waits for the diagnostics of the current version of an open document.
    pub fn diagnostics(&mut self, uri: &str) -> Published {
        let version = self.versions.get(uri).copied();
        self.wait("diagnostics", |client| {
            let published = client.diagnostics.get(uri)?;
            (published.version.is_none() || published.version == version).then(|| published.clone())
        })
    }

    /// Waits for diagnostics of a file that satisfy a predicate.
    pub fn diagnostics_that(&mut self, uri: &str, are: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let found = |client: &mut Self| {
            let published = client.diagnostics.get(uri)?;
            are(&published.diagnostics).then(|| published.diagnostics.clone())
        };
        match self.wait_or_not(&found) {
            Ok(diagnostics) => diagnostics,
            Err(why) => panic!("{why}, but {}", self.known(uri)),
        }
    }

    /// Discards the diagnostics of a file, so that only newer ones count.
    pub fn forget(&mut self, uri: &str) {
        self.take_all();
        self.diagnostics.remove(uri);
    }

    /// Waits until `found` returns a value.
    pub fn wait<T>(&mut self, what: &str, found: impl Fn(&mut Self) -> Option<T>) -> T {
        self.wait_or_not(&found).unwrap_or_else(|why| panic!("{why}, and {what} did not arrive"))
    }

    fn wait_or_not<T>(&mut self, found: &dyn Fn(&mut Self) -> Option<T>) -> Result<T, &'static str> {
        let end = Instant::now() + LIMIT;
        loop {
            self.take_all();
            if let Some(found) = found(self) {
                return Ok(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) => self.handle(message),
                Err(RecvTimeoutError::Timeout) => return Err("the time is over"),
                Err(RecvTimeoutError::Disconnected) => return Err("the server is gone"),
            }
        }
    }

    /// Shuts the server down and waits until it exits.
    pub fn finish(mut self) -> ExitStatus {
        self.request("shutdown", Value::Null).expect("`shutdown` is answered");
        self.notify("exit", Value::Null);
        self.end()
    }

    /// Closes the server's input and waits until it exits.
    pub fn end(mut self) -> ExitStatus {
        drop(self.stdin.take());
        process::wait(&mut self.child, Duration::from_secs(20)).expect("the server ends")
    }

    fn take_all(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            self.handle(message);
        }
    }

    fn handle(&mut self, mut message: Value) {
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        match (id, method.as_deref()) {
            (Some(id), Some(method)) => {
                let result = match method {
                    "workspace/configuration" => json!([self.configuration]),
                    _ => Value::Null,
                };
                self.notifications.push(message);
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            (Some(id), None) => {
                self.answers.insert(id.as_i64().unwrap_or_default(), message);
            }
            (None, Some("textDocument/publishDiagnostics")) => {
                let parameters = &mut message["params"];
                let uri = parameters["uri"].as_str().expect("it is text").to_owned();
                let published = Published {
                    version: parameters["version"].as_i64(),
                    diagnostics: parameters["diagnostics"].as_array().expect("it is a list").clone(),
                    at: Instant::now(),
                };
                self.diagnostics.insert(uri, published);
            }
            _ => self.notifications.push(message),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // After `finish` the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The capabilities of a current client.
pub fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "workspace": {
            "configuration": true,
            "workspaceFolders": true,
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "workspaceEdit": { "documentChanges": true },
        },
        "textDocument": {
            "publishDiagnostics": { "relatedInformation": true, "versionSupport": true, "codeDescriptionSupport": true },
            "completion": { "completionItem": { "snippetSupport": true } },
            "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix", "source"] } } },
            "hover": { "contentFormat": ["markdown"] },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        },
    })
}

/// The URI of a path that needs no escaping.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A position: line and character, both from 0.
pub fn position(line: usize, character: usize) -> Value {
    json!({ "line": line, "character": character })
}

fn read(input: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let mut bytes = vec![0; length?];
    input.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
