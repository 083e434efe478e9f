//! The main thread: exchanges messages with the client, keeps the documents, answers simple requests, and sends the
//! rest to the worker.

use std::{io, sync::Arc, time::Duration};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded, unbounded};
use kiln_session::DEEP_STACK;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CancelParams, ConfigurationItem, ConfigurationParams, DidChangeConfigurationParams,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWatchedFilesRegistrationOptions,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    FileSystemWatcher, GlobPattern, LogMessageParams, MessageType, NumberOrString, PositionEncodingKind,
    Registration, RegistrationParams, Uri, WorkspaceFolder,
    notification::{self as notifications, Notification as _},
    request::{self as requests, Request as _},
};
use serde::de::DeserializeOwned;

use crate::{
    cancellation::Cancellation,
    capabilities,
    client_state::{Client, ClientState},
    configuration::{Settings, is_project_file},
    documents::Document,
    position::Encoding,
    races::{self, Explorer},
    transport::{self, Incoming},
    uri,
    worker::{self, Task},
};

/// The maximum time that shutdown waits for the worker.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);

/// Kiln's section of the client's configuration.
const SECTION: &str = "kiln";

/// The ids of requests to the client.
const REGISTRATION: &str = "kiln/watch";
const CONFIGURATION: &str = "kiln/configuration";

/// Serves a client on standard input and output until it sends `exit` or disconnects. Returns whether it sent
/// `shutdown` before.
pub fn serve(explorer: Explorer) -> io::Result<bool> {
    let transport = transport::stdio()?;
    let (tasks, todo) = unbounded();
    let cancellation = Cancellation::default();
    let (at_work, done) = bounded::<()>(0);
    {
        let (outgoing, cancellation) = (transport.outgoing.clone(), cancellation.clone());
        let work = move || {
            let _at_work = at_work;
            worker::work(&todo, races::start(explorer), outgoing, &cancellation);
        };
        std::thread::Builder::new().name("worker".to_owned()).stack_size(DEEP_STACK).spawn(work)?;
    }
    let mut server = Server {
        outgoing: transport.outgoing,
        tasks,
        cancellation,
        client_state: ClientState { has_deep_stack: true, ..ClientState::default() },
        phase: Phase::New,
    };
    for incoming in transport.incoming {
        match incoming {
            Incoming::Message(Message::Request(request)) => server.request(request),
            Incoming::Message(Message::Response(response)) => server.response(response),
            Incoming::Message(Message::Notification(notification)) => {
                if notification.method == notifications::Exit::METHOD {
                    break;
                }
                server.notification(notification);
            }
            Incoming::Malformed(why) => server.malformed(&why),
        }
    }
    let was_shut_down = server.phase == Phase::ShutDown;
    // The worker ends when its task channel closes, and the writer when its message channel closes.
    drop(server);
    if done.recv_timeout(SHUTDOWN_TIMEOUT) == Err(RecvTimeoutError::Disconnected) {
        let _ = transport.writer.join();
    }
    Ok(was_shut_down)
}

/// The state of the server (LSP: Server lifecycle).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

struct Server {
    outgoing: Sender<Message>,
    tasks: Sender<Task>,
    cancellation: Cancellation,
    client_state: ClientState,
    phase: Phase,
}

impl Server {
    fn request(&mut self, mut request: Request) {
        uri::escape_invalid(&mut request.params);
        match (self.phase, request.method.as_str()) {
            (Phase::New, requests::Initialize::METHOD) => self.initialize(request),
            (Phase::New, _) => {
                self.reject(
                    request.id,
                    ErrorCode::ServerNotInitialized,
                    "`initialize` must be the first request",
                );
            }
            (Phase::ShutDown, _) | (_, requests::Initialize::METHOD) => {
                self.reject(
                    request.id,
                    ErrorCode::InvalidRequest,
                    "the request is not allowed in this state",
                );
            }
            (Phase::Running, requests::Shutdown::METHOD) => {
                self.phase = Phase::ShutDown;
                self.send(Response::new_ok(request.id, ()));
            }
            (Phase::Running, _) => self.task(|client_state| Task::Request(client_state, request)),
        }
    }

    fn initialize(&mut self, request: Request) {
        // Parsed one by one, so that an invalid parameter does not invalidate the rest.
        let mut parameters = request.params;
        let encodings =
            message_part::<Vec<PositionEncodingKind>>(&parameters, "/capabilities/general/positionEncodings");
        self.client_state.encoding = Encoding::negotiated(encodings.as_deref());
        self.client_state.client = client(&parameters);
        let root = message_part::<Uri>(&parameters, "/rootUri").as_ref().map(uri::name);
        let folders =
            message_part::<Vec<WorkspaceFolder>>(&parameters, "/workspaceFolders").unwrap_or_default();
        let folders: Vec<String> = folders.iter().map(|folder| uri::name(&folder.uri)).collect();
        self.client_state.folders =
            if folders.is_empty() { root.into_iter().collect() } else { folders.into() };
        if let Some(options) = parameters.get_mut("initializationOptions").filter(|it| !it.is_null()) {
            let options = options.take();
            self.settings(options);
        }
        self.phase = Phase::Running;
        self.send(Response::new_ok(
            request.id,
            capabilities::result(self.client_state.encoding, self.client_state.client),
        ));
    }

    fn notification(&mut self, mut notification: Notification) {
        uri::escape_invalid(&mut notification.params);
        if self.phase != Phase::Running {
            return;
        }
        match notification.method.as_str() {
            notifications::Initialized::METHOD => self.initialized(),
            notifications::DidOpenTextDocument::METHOD => {
                self.with_parameters(notification, Self::open_document)
            }
            notifications::DidChangeTextDocument::METHOD => self.with_parameters(notification, Self::changed),
            notifications::DidCloseTextDocument::METHOD => self.with_parameters(notification, Self::closed),
            notifications::DidChangeConfiguration::METHOD => {
                self.with_parameters(notification, Self::configured)
            }
            notifications::DidChangeWatchedFiles::METHOD => self.with_parameters(notification, Self::watched),
            notifications::DidChangeWorkspaceFolders::METHOD => {
                self.with_parameters(notification, Self::change_folders)
            }
            notifications::Cancel::METHOD => self.with_parameters(notification, Self::cancelled),
            _ => {}
        }
    }

    /// Handles a notification if its parameters are valid; logs it otherwise.
    fn with_parameters<P: DeserializeOwned>(
        &mut self,
        notification: Notification,
        act: impl FnOnce(&mut Self, P),
    ) {
        match serde_json::from_value(notification.params) {
            Ok(parameters) => act(self, parameters),
            Err(error) => self.malformed(&format!("{}: {error}", notification.method)),
        }
    }

    /// Uses the client's capabilities: registers file watching, and requests the settings.
    fn initialized(&mut self) {
        if self.client_state.client.watches_files {
            let watchers = ["**/*.{cl,clh,h,inc}", "**/{kiln.toml,compile_flags.txt,compile_commands.json}"];
            let options = DidChangeWatchedFilesRegistrationOptions {
                watchers: watchers
                    .map(|glob| FileSystemWatcher {
                        glob_pattern: GlobPattern::String(glob.to_owned()),
                        kind: None,
                    })
                    .to_vec(),
            };
            let registration = Registration {
                id: REGISTRATION.to_owned(),
                method: notifications::DidChangeWatchedFiles::METHOD.to_owned(),
                register_options: serde_json::to_value(options).ok(),
            };
            let parameters = RegistrationParams { registrations: vec![registration] };
            self.send_request::<requests::RegisterCapability>(REGISTRATION, parameters);
        }
        self.request_configuration();
    }

    fn request_configuration(&self) {
        if self.client_state.client.has_configuration {
            let item = ConfigurationItem { scope_uri: None, section: Some(SECTION.to_owned()) };
            let parameters = ConfigurationParams { items: vec![item] };
            self.send_request::<requests::WorkspaceConfiguration>(CONFIGURATION, parameters);
        }
    }

    fn response(&mut self, response: Response) {
        if response.id == RequestId::from(CONFIGURATION.to_owned())
            && let Ok(serde_json::Value::Array(mut values)) = response.response_result
            && let Some(value) = values.pop().filter(|value| !value.is_null())
        {
            self.settings(value);
            self.task(Task::Reload);
        }
    }

    fn open_document(&mut self, parameters: DidOpenTextDocumentParams) {
        let document = parameters.text_document;
        let name = uri::name(&document.uri);
        let opened = Document { uri: document.uri, version: document.version, text: document.text.into() };
        self.client_state.documents.insert(name.clone(), opened);
        self.altered(name);
    }

    fn changed(&mut self, parameters: DidChangeTextDocumentParams) {
        let name = uri::name(&parameters.text_document.uri);
        let encoding = self.client_state.encoding;
        let Some(document) = self.client_state.documents.get_mut(&name) else {
            return self.malformed(&format!("{name} was changed but not opened"));
        };
        document.version = parameters.text_document.version;
        document.change(parameters.content_changes, encoding);
        self.altered(name);
    }

    fn closed(&mut self, parameters: DidCloseTextDocumentParams) {
        let name = uri::name(&parameters.text_document.uri);
        self.client_state.documents.remove(&name);
        self.altered(name);
    }

    /// Notifies the worker that a document has changed.
    fn altered(&self, name: String) {
        self.task(|client_state| match is_project_file(&name) {
            true => Task::Reload(client_state),
            false => Task::Changed(client_state, vec![name]),
        });
    }

    fn configured(&mut self, parameters: DidChangeConfigurationParams) {
        self.request_configuration();
        let mut settings = parameters.settings;
        if let Some(ours) = settings.get_mut(SECTION) {
            settings = ours.take();
        }
        if !settings.is_null() {
            self.settings(settings);
            self.task(Task::Reload);
        }
    }

    fn watched(&mut self, parameters: DidChangeWatchedFilesParams) {
        let names: Vec<String> = parameters.changes.iter().map(|change| uri::name(&change.uri)).collect();
        if names.iter().any(|name| is_project_file(name)) {
            return self.task(Task::Reload);
        }
        // Open documents are not read from disk.
        let names =
            names.into_iter().filter(|name| !self.client_state.documents.contains_key(name)).collect();
        self.task(|client_state| Task::Changed(client_state, names));
    }

    fn change_folders(&mut self, parameters: DidChangeWorkspaceFoldersParams) {
        let gone: Vec<String> =
            parameters.event.removed.iter().map(|folder| uri::name(&folder.uri)).collect();
        let kept = self.client_state.folders.iter().filter(|folder| !gone.contains(folder)).cloned();
        let added = parameters.event.added.iter().map(|folder| uri::name(&folder.uri));
        self.client_state.folders = kept.chain(added).collect();
        self.task(Task::Reload);
    }

    fn cancelled(&mut self, parameters: CancelParams) {
        self.cancellation.cancel(match parameters.id {
            NumberOrString::Number(id) => id.into(),
            NumberOrString::String(id) => id.into(),
        });
    }

    /// Applies settings. If they are invalid, reports that and keeps the old ones.
    fn settings(&mut self, value: serde_json::Value) {
        match serde_json::from_value::<Settings>(value) {
            Ok(settings) => self.client_state.settings = Arc::new(settings),
            Err(error) => self.malformed(&format!("settings: {error}")),
        }
    }

    fn malformed(&self, why: &str) {
        let message = format!("kiln: malformed message: {why}");
        let parameters = LogMessageParams { typ: MessageType::WARNING, message };
        self.send(Notification::new(notifications::LogMessage::METHOD.to_owned(), parameters));
    }

    fn reject(&self, id: RequestId, code: ErrorCode, why: &str) {
        self.send(Response::new_err(id, code as i32, why.to_owned()));
    }

    fn send_request<R: requests::Request>(&self, id: &str, parameters: R::Params) {
        self.send(Request::new(RequestId::from(id.to_owned()), R::METHOD.to_owned(), parameters));
    }

    fn task(&self, task: impl FnOnce(ClientState) -> Task) {
        // The worker does not end before the server.
        let _ = self.tasks.send(task(self.client_state.clone()));
    }

    fn send(&self, message: impl Into<Message>) {
        // If the client has closed the output, the input ends soon.
        let _ = self.outgoing.send(message.into());
    }
}

fn client(parameters: &serde_json::Value) -> Client {
    let can = |path: &str| message_part(parameters, path).unwrap_or(false);
    Client {
        watches_files: can("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"),
        has_configuration: can("/capabilities/workspace/configuration"),
        pulls: parameters.pointer("/capabilities/textDocument/diagnostic").is_some()
            && can("/capabilities/workspace/diagnostics/refreshSupport"),
        takes_snippets: can("/capabilities/textDocument/completion/completionItem/snippetSupport"),
    }
}

/// A value in a message, if it exists and has this type.
fn message_part<T: DeserializeOwned>(message: &serde_json::Value, path: &str) -> Option<T> {
    serde_json::from_value(message.pointer(path)?.clone()).ok()
}
