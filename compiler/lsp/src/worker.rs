//! The thread that compiles. It drains its queue before it starts, so that it compiles the newest text only. A panic
//! of the compiler fails one request; published results stay.

use std::{
    collections::BTreeSet,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, TryRecvError, at, never, select};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    LogMessageParams, MessageType,
    notification::{LogMessage, Notification as _},
    request::{Request as _, WorkspaceDiagnosticRefresh},
};

use crate::{
    cancellation::Cancellation,
    client_state::ClientState,
    configuration,
    races::{RaceReport, RaceRequest},
    session::Session,
};

/// The delay between a change and its compilation. A completion request that follows the change is answered in between,
/// from the previous analysis.
const COMPLETION_DELAY: Duration = Duration::from_millis(2);

/// A task for the worker.
pub(crate) enum Task {
    /// These files have changed.
    Changed(ClientState, Vec<String>),
    /// Settings or files on disk have changed, which can affect all files.
    Reload(ClientState),
    /// A request to answer.
    Request(ClientState, Request),
}

/// Runs until the task channel closes.
pub(crate) fn work(
    tasks: &Receiver<Task>,
    races: io::Result<(Sender<RaceRequest>, Receiver<RaceReport>)>,
    outgoing: Sender<Message>,
    cancellation: &Cancellation,
) {
    // Without the thread, no races are found.
    let (wanted, mut found) = races.map_or((None, never()), |(wanted, found)| (Some(wanted), found));
    let mut worker = Worker {
        session: Session::default(),
        outgoing,
        wanted,
        dirty: BTreeSet::new(),
        due: None,
        diagnosed: None,
    };
    loop {
        let timer = worker.due.map_or_else(never, at);
        // The tasks of the client come first.
        match tasks.try_recv() {
            Ok(task) => {
                worker.receive(task, cancellation);
                continue;
            }
            Err(TryRecvError::Disconnected) => return,
            Err(TryRecvError::Empty) => {}
        }
        select! {
            recv(tasks) -> task => match task {
                Ok(task) => worker.receive(task, cancellation),
                Err(_) => return,
            },
            recv(timer) -> _ => worker.diagnose(tasks),
            recv(found) -> races => match races {
                Ok(races) => worker.explored(races),
                // The thread has ended, and its channel would be ready forever.
                Err(_) => found = never(),
            },
        }
    }
}

struct Worker {
    session: Session,
    outgoing: Sender<Message>,
    /// Takes sources to explore for data races.
    wanted: Option<Sender<RaceRequest>>,
    /// The sources that need new diagnostics.
    dirty: BTreeSet<String>,
    /// The time to compute them.
    due: Option<Instant>,
    /// The time of the last computation of diagnostics.
    diagnosed: Option<Instant>,
}

impl Worker {
    fn receive(&mut self, task: Task, cancellation: &Cancellation) {
        match task {
            Task::Changed(client_state, names) => {
                let debounce = Duration::from_millis(client_state.settings.debounce);
                self.session.client_state = client_state;
                for name in names {
                    self.dirty.extend(self.session.changed(&name));
                }
                // After a pause, a change is compiled almost immediately; further changes wait for the debounce interval.
                let soon = Instant::now() + COMPLETION_DELAY;
                self.due = Some(self.diagnosed.map_or(soon, |before| soon.max(before + debounce)));
            }
            Task::Reload(client_state) => {
                self.session.client_state = client_state;
                self.dirty.extend(self.session.reload());
                self.due = Some(Instant::now());
            }
            Task::Request(client_state, request) => {
                self.session.client_state = client_state;
                let response = if cancellation.take(&request.id) {
                    Response::new_err(request.id, ErrorCode::RequestCanceled as i32, "cancelled".to_owned())
                } else {
                    self.answer(request)
                };
                self.send(response);
            }
        }
    }

    fn answer(&mut self, request: Request) -> Response {
        let (id, method) = (request.id.clone(), request.method.clone());
        let answered = self.guarded(&method, |session| crate::requests::answer(session, request));
        if std::mem::take(&mut self.session.others_changed) {
            self.refresh();
        }
        answered.unwrap_or_else(|| failed(id, &method))
    }

    /// Computes the diagnostics of changed sources, until another task arrives.
    fn diagnose(&mut self, tasks: &Receiver<Task>) {
        self.due = None;
        while let Some(root) = self.dirty.pop_first() {
            let published = self.guarded(&root, |session| session.diagnose(&root));
            let published = published.unwrap_or_default();
            self.explore(&root);
            if self.session.client_state.client.pulls {
                // The client requests the diagnostics of the changed document, but those of other files may have
                // changed too.
                if published.len() > 1 {
                    self.refresh();
                }
            } else {
                published.into_iter().for_each(|publication| self.send(publication));
            }
            self.diagnosed = Some(Instant::now());
            if !tasks.is_empty() {
                // Continue with the remaining sources after the new task.
                self.due = (!self.dirty.is_empty()).then(Instant::now);
                return;
            }
        }
    }

    /// Sends a source to the explorer of data races, unless the races of its current text are known.
    fn explore(&mut self, root: &str) {
        let client_state = &self.session.client_state;
        let Some(document) = client_state.documents.get(root).filter(|it| it.text.contains("kiln run "))
        else {
            return;
        };
        let text = document.text.clone();
        if !client_state.settings.races
            || self.session.races.are_known(root, &text)
            || self.session.has_errors(root)
        {
            return;
        }
        if let Some(wanted) = &self.wanted {
            let options = configuration::options(client_state, root, &text);
            let _ = wanted.send(RaceRequest { name: root.to_owned(), text, options });
        }
    }

    /// Shows the races of a source.
    fn explored(&mut self, found: RaceReport) {
        let root = found.name.clone();
        if self.session.races.record(found) {
            if self.session.client_state.client.pulls {
                self.refresh();
            } else {
                self.dirty.insert(root);
                self.due = Some(Instant::now());
            }
        }
    }

    /// Makes the client request diagnostics again.
    fn refresh(&self) {
        let id = RequestId::from("kiln/refresh".to_owned());
        self.send(Request::new(id, WorkspaceDiagnosticRefresh::METHOD.to_owned(), ()));
    }

    /// Runs a closure, and catches panics of the compiler. The session keeps its previous state.
    fn guarded<T>(&mut self, about: &str, act: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let session = &mut self.session;
        match catch_unwind(AssertUnwindSafe(|| act(session))) {
            Ok(done) => Some(done),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().map(String::as_str);
                let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                let message = format!("kiln: internal error of the compiler at {about}: {why}");
                let parameters = LogMessageParams { typ: MessageType::ERROR, message };
                self.send(Notification::new(LogMessage::METHOD.to_owned(), parameters));
                None
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // The channel is closed: the server is about to end.
        let _ = self.outgoing.send(message.into());
    }
}

fn failed(id: RequestId, method: &str) -> Response {
    let message = format!("{method} failed: internal error of the compiler");
    Response::new_err(id, ErrorCode::InternalError as i32, message)
}
