//! The thread that compiles. It takes what has come in the meantime before it begins, so that it works on the newest text only;
//! a panic of the compiler costs one answer, and what was shown before stays.

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
};

use crate::{cancellation::Cancellation, session::Session, world::World};

/// What the worker is to do.
pub(crate) enum Task {
    /// These files are not what they were.
    Changed(World, Vec<String>),
    /// Everything may be otherwise: settings, files on disk.
    Reload(World),
    /// An answer is wanted.
    Request(World, Request),
}

/// Works until nobody sends any more.
pub(crate) fn work(tasks: &Receiver<Task>, outgoing: Sender<Message>, cancellation: &Cancellation) {
    let mut worker =
        Worker { session: Session::default(), outgoing, dirty: BTreeSet::new(), due: None, diagnosed: None };
    loop {
        let task = match worker.due {
            None => tasks.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => tasks.recv_deadline(due),
        };
        match task {
            Ok(task) => worker.take(task, cancellation),
            Err(RecvTimeoutError::Timeout) => worker.diagnose(tasks),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Worker {
    session: Session,
    outgoing: Sender<Message>,
    /// The sources whose diagnostics are to be made anew.
    dirty: BTreeSet<String>,
    /// When.
    due: Option<Instant>,
    /// When diagnostics were made last.
    diagnosed: Option<Instant>,
}

impl Worker {
    fn take(&mut self, task: Task, cancellation: &Cancellation) {
        match task {
            Task::Changed(world, names) => {
                let debounce = Duration::from_millis(world.settings.debounce);
                self.session.world = world;
                for name in names {
                    self.dirty.extend(self.session.changed(&name));
                }
                // What comes after a pause is compiled at once; only what follows closely waits for more.
                let now = Instant::now();
                self.due = Some(self.diagnosed.map_or(now, |before| now.max(before + debounce)));
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
        answered.unwrap_or_else(|| failed(id, &method))
    }

    /// Makes the diagnostics of what has changed, until something else is asked for.
    fn diagnose(&mut self, tasks: &Receiver<Task>) {
        self.due = None;
        while let Some(root) = self.dirty.pop_first() {
            let published = self.guarded(&root, |session| session.diagnose(&root));
            for publication in published.into_iter().flatten() {
                self.send(publication);
            }
            self.diagnosed = Some(Instant::now());
            if !tasks.is_empty() {
                // Whatever comes first, the rest is done behind it.
                self.due = (!self.dirty.is_empty()).then(Instant::now);
                return;
            }
        }
    }

    /// Does something that may meet a bug of the compiler. What the session knew before is kept.
    fn guarded<T>(&mut self, about: &str, act: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let session = &mut self.session;
        match catch_unwind(AssertUnwindSafe(|| act(session))) {
            Ok(done) => Some(done),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().map(String::as_str);
                let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                let message = format!("kiln: a bug of the compiler at {about}: {why}");
                let parameters = LogMessageParams { typ: MessageType::ERROR, message };
                self.send(Notification::new(LogMessage::METHOD.to_owned(), parameters));
                None
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // Nobody reads any more: the server is about to end.
        let _ = self.outgoing.send(message.into());
    }
}

fn failed(id: RequestId, method: &str) -> Response {
    let message = format!("{method} met a bug of the compiler");
    Response::new_err(id, ErrorCode::InternalError as i32, message)
}
