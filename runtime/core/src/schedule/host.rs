//! Host commands: closures that run in the order of their queue, and the thread that runs them.
//!
//! Owns the life of a host command after its dependencies have gone to the back end. Each queue with host commands has
//! one thread for them, which is not the thread of the callbacks: a host command may wait for something that a callback
//! does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::Lane;
use crate::backend::{Command, Completion, Start};
use crate::error::{Error, Result};
use crate::event::{Event, Node, Status, Times};
use crate::threads::BusyGuard;

/// The closure of a host command.
pub(crate) type Work = Box<dyn FnOnce() -> Result<()> + Send>;

/// A host command whose dependencies have gone to the back end.
pub(super) struct Job {
    work: Work,
    /// Complete when the commands that it follows are.
    ready: Arc<dyn Completion>,
    wait: Arc<[Event]>,
    node: Arc<Node>,
    queued: Instant,
    submitted: Instant,
    /// Keeps the lane alive until the back end has the commands after this one.
    lane: Arc<Lane>,
}

impl Lane {
    /// Sends a host command to its thread.
    pub(super) fn start(
        self: &Arc<Self>,
        work: Work,
        wait: &Arc<[Event]>,
        start: Start<'_>,
        node: &Arc<Node>,
    ) -> Result<()> {
        let failed = |detail: String| Error::Driver { operation: "starting a thread".to_owned(), detail };
        let queued = start.queued;
        let ready = self.backend.push(Command::Nothing, start)?;
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        if host.is_none() {
            let (sender, receiver) = mpsc::channel();
            let thread = std::thread::Builder::new().name("kiln-host".to_owned());
            thread.spawn(move || run_jobs(&receiver)).map_err(|error| failed(error.to_string()))?;
            *host = Some(sender);
        }
        let (wait, node, lane) = (wait.clone(), node.clone(), self.clone());
        let job = Job { work, ready, wait, node, queued, submitted: Instant::now(), lane };
        let sent = host.as_ref().is_some_and(|host| host.send(job).is_ok());
        if sent { Ok(()) } else { Err(failed("it has ended".to_owned())) }
    }

    /// Removes a host command that has ended.
    fn forget(&self, node: &Arc<Node>) {
        self.waiting().retain(|waiting| !Arc::ptr_eq(&waiting.node, node));
    }
}

/// Runs host commands, until the lane is dropped.
fn run_jobs(receiver: &Receiver<Job>) {
    for job in receiver {
        let _busy = BusyGuard::new();
        job.run();
    }
}

impl Job {
    fn run(self) {
        let Self { work, ready, wait, node, queued, submitted, lane } = self;
        let result = ready.wait(None).and_then(|()| first_failure(&wait));
        // These values would keep other commands alive, for which the callbacks or the closure may wait.
        drop((ready, wait));
        let start = Instant::now();
        let result = result.and_then(|()| {
            node.advance(Status::Running).notify(&node);
            catch_panic(work)
        });
        if let Some(clock) = lane.clock {
            let since = |moment: Instant| moment.saturating_duration_since(clock).as_nanos() as u64;
            let [queued, submitted, start, end] = [queued, submitted, start, Instant::now()].map(since);
            node.record_times(Times { queued, submitted, start, end });
        }
        lane.forget(&node);
        node.end(result).notify(&node);
        lane.pump();
    }
}

/// The failure of a command in the wait list that the back end found while it ran.
fn first_failure(wait: &[Event]) -> Result<()> {
    let failures = wait.iter().filter_map(|event| event.node.completion()?.status().err());
    failures.map(|error| Err(Error::WaitList { cause: Box::new(error) })).next().unwrap_or(Ok(()))
}

/// Runs the closure. A panic becomes an error, so that later commands do not wait forever.
fn catch_panic(work: Work) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Error::HostCommand { reason: format!("it panicked: {}", text.unwrap_or("without a message")) })
    })
}
