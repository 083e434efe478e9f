//! The thread that compiles. It drains its queue before it starts, so that it compiles the newest text only. A panic
//! of the compiler fails one request; published results stay.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    LogMessageParams, MessageType,
    notification::{LogMessage, Notification as _},
    request::{Request as _, WorkspaceDiagnosticRefresh},
};

use crate::{cancellation::Cancellation, session::Session, world::World};

/// The delay of a compilation after a change. A completion request that follows the change is answered without it.
const COMPLETION_DELAY: Duration = Duration::from_millis(2);

/// A task for the worker.
pub(crate) enum Task {
    /// These files have changed.
    Changed(World, Vec<String>),
    /// Settings or files on disk have changed, which can affect all files.
    Reload(World),
    /// A request to answer.
    Request(World, Request),
}

/// Runs until the task channel closes.
pub(crate) fn work(tasks: &Receiver<Task>, outgoing: Sender<Message>, cancellation: &Cancellation) {
    let mut worker =
        Worker { session: Session::default(), outgoing, dirty: BTreeSet::new(), due: None, diagnosed: None };
    loop {
        let task = match worker.due {
            None => tasks.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => tasks.recv_deadline(due),
        };
        match task {
            Ok(task) => worker.receive(task, cancellation),
            Err(RecvTimeoutError::Timeout) => worker.diagnose(tasks),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Worker {
    session: Session,
    outgoing: Sender<Message>,
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
            Task::Changed(world, names) => {
                let debounce = Duration::from_millis(world.settings.debounce);
                self.session.world = world;
                for name in names {
                    self.dirty.extend(self.session.changed(&name));
                }
                // After a pause, a change is compiled almost immediately; further changes wait for the debounce interval.
                let soon = Instant::now() + COMPLETION_DELAY;
                self.due = Some(self.diagnosed.map_or(soon, |before| soon.max(before + debounce)));
            }
            Task::Reload(world) => {
                self.session.world = world;
                self.dirty.extend(self.session.reload());
                self.due = Some(Instant::now());
            }
            Task::Request(world, request) => {
                self.session.world = world;
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
            if self.session.world.client.pulls {
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
