//! Events: the state of a command as the user sees it, from its wait list to its completion.
//!
//! Owns `Event`, `UserEvent` and the effects of state changes. Must not depend on how a back end signals completion,
//! nor on why a command was held back (`schedule.rs`).

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::Completion;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch_error::LaunchError;
use crate::schedule::Lane;

/// The completion of a command. Dropping an event does not cancel the command.
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue, kernel: kiln_runtime::Kernel) -> kiln_runtime::Result<()> {
/// use kiln_runtime::{Event, QueueOptions};
/// use std::time::Duration;
/// let queue = device.queue_with(QueueOptions { profiling: true, ..QueueOptions::default() })?;
/// // SAFETY: the kernel stays within its buffers.
/// let event = unsafe { queue.launch(&kernel, 1024)? };
/// event.on_end(|result| println!("it ended: {result:?}"));
/// event.wait_for(Duration::from_secs(5))?;
/// if let Some(times) = event.times() {
///     println!("the device worked for {:?}", times.execution());
/// }
/// Event::wait_all(&[event])?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Event {
    pub(crate) node: Arc<Node>,
    /// `None` for events of the host.
    pub(crate) device: Option<Device>,
    /// Errors found in the command's own results, such as traps, if it can have any.
    pub(crate) launch_error: Option<Arc<LaunchError>>,
    /// The first part, if the command is executed in parts and `node` is the last one.
    pub(crate) first: Option<Arc<Node>>,
    /// The kernel itself, if `node` is the end of the kernels that it enqueued.
    pub(crate) own: Option<Arc<Node>>,
}

/// An event that the host completes (`clCreateUserEvent`). Dropping it without completing it fails the commands that
/// wait for it.
///
/// ```
/// # fn example(device: kiln_runtime::Device, queue: kiln_runtime::Queue) -> kiln_runtime::Result<()> {
/// use kiln_runtime::UserEvent;
/// let gate = UserEvent::new();
/// let buffer = device.buffer::<u32>(64)?;
/// let filled = queue.after([gate.event()]).fill(&buffer, 7)?;
/// gate.complete();
/// filled.wait()?;
/// # Ok(())
/// # }
/// ```
pub struct UserEvent {
    event: Event,
}

/// The execution status of a command (`CL_EVENT_COMMAND_EXECUTION_STATUS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It waits for other commands, or for a flush of its queue.
    Queued,
    /// It was submitted to the device, and may have started.
    Submitted,
    /// It is running. Only host commands ([`Queue::host`](crate::Queue::host)) report this: a device does not report
    /// when it starts a command.
    Running,
    /// It is complete, and its writes are visible to the host and to all commands.
    Complete,
}

/// When a command ran, in nanoseconds since the device was opened (`CL_PROFILING_COMMAND_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When the host enqueued it.
    pub queued: u64,
    /// When it was submitted to the device.
    pub submitted: u64,
    /// When the device started it.
    pub start: u64,
    /// When the device completed it.
    pub end: u64,
}

impl Times {
    /// The execution time on the device.
    pub fn execution(&self) -> Duration {
        Duration::from_nanos(self.end - self.start)
    }
}

/// A callback for the end of a command.
pub(crate) type Callback = Box<dyn FnOnce(Result<()>) + Send>;

/// The shared state of an event.
pub(crate) struct Node {
    state: Mutex<State>,
    changed: Condvar,
    /// When a host command ran.
    times: OnceLock<Times>,
}

enum State {
    /// The command is held back on the host, or is a host command that has not ended.
    Held(Held),
    /// The command was submitted to the back end.
    Submitted {
        completion: Arc<dyn Completion>,
        lane: Arc<Lane>,
    },
    Ended(Result<()>),
}

/// The lanes and callbacks to notify when a held command is released.
pub(crate) struct Held {
    /// The status of the command. Beyond `Queued` it is a host command.
    status: Status,
    lanes: Vec<Arc<Lane>>,
    callbacks: Vec<(Status, Callback)>,
}

impl Default for Held {
    fn default() -> Self {
        Self { status: Status::Queued, lanes: Vec::new(), callbacks: Vec::new() }
    }
}

/// How a command's wait list sees an event.
pub(crate) enum Wait {
    /// The event is held. The waiting lane is registered for notification.
    Held,
    /// The back end has the command, in this lane.
    Submitted(Arc<Lane>, Arc<dyn Completion>),
    Ended(Result<()>),
}

impl Node {
    fn new(state: State) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new(), times: OnceLock::new() })
    }

    pub(crate) fn new_held() -> Arc<Self> {
        Self::new(State::Held(Held::default()))
    }

    pub(crate) fn new_submitted(completion: Arc<dyn Completion>, lane: Arc<Lane>) -> Arc<Self> {
        Self::new(State::Submitted { completion, lane })
    }

    pub(crate) fn new_ended(result: Result<()>) -> Arc<Self> {
        Self::new(State::Ended(result))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_held(&self) -> bool {
        matches!(*self.state(), State::Held(_))
    }

    /// Returns the state of the event for a command of this lane. If the event is held, registers the lane for
    /// notification.
    pub(crate) fn wait_of(&self, lane: &Arc<Lane>) -> Wait {
        match &mut *self.state() {
            State::Held(held) => {
                if !held.lanes.iter().any(|known| Arc::ptr_eq(known, lane)) {
                    held.lanes.push(lane.clone());
                }
                Wait::Held
            }
            State::Submitted { lane, completion } => Wait::Submitted(lane.clone(), completion.clone()),
            State::Ended(result) => Wait::Ended(result.clone()),
        }
    }

    fn replace(&self, next: State) -> Held {
        let mut state = self.state();
        let before = std::mem::replace(&mut *state, next);
        drop(state);
        self.changed.notify_all();
        match before {
            State::Held(held) => held,
            State::Submitted { .. } | State::Ended(_) => Held::default(),
        }
    }

    /// Records that the command was submitted to the back end. Returns the listeners to notify.
    pub(crate) fn submit(&self, completion: Arc<dyn Completion>, lane: Arc<Lane>) -> Held {
        self.replace(State::Submitted { completion, lane })
    }

    /// Records that there is nothing left to wait for. Returns the listeners to notify.
    pub(crate) fn end(&self, result: Result<()>) -> Held {
        self.replace(State::Ended(result))
    }

    /// Records that a held host command has advanced to this status, if it has not advanced further. Returns the
    /// callbacks to run.
    pub(crate) fn advance(&self, status: Status) -> Held {
        let mut due = Held::default();
        if let State::Held(held) = &mut *self.state() {
            // Its thread can start it before the thread that submits it gets here.
            held.status = held.status.max(status);
            let (now, later) = std::mem::take(&mut held.callbacks)
                .into_iter()
                .partition(|(wanted, _)| *wanted <= held.status);
            (due.callbacks, held.callbacks) = (now, later);
        }
        due
    }

    /// Records when a host command ran.
    pub(crate) fn record_times(&self, times: Times) {
        let _ = self.times.set(times);
    }

    pub(crate) fn completion(&self) -> Option<Arc<dyn Completion>> {
        match &*self.state() {
            State::Submitted { completion, .. } => Some(completion.clone()),
            State::Held(_) | State::Ended(_) => None,
        }
    }
}

impl Held {
    /// Notifies the listeners. The caller must hold no lock.
    pub(crate) fn notify(self, node: &Arc<Node>) {
        self.run_callbacks(node).into_iter().for_each(Lane::pump);
    }

    /// Runs the callbacks and returns the lanes still to be notified.
    pub(crate) fn run_callbacks(self, node: &Arc<Node>) -> Vec<Arc<Lane>> {
        for (status, callback) in self.callbacks {
            node.call(status, callback);
        }
        self.lanes
    }
}

impl Node {
    /// Registers a callback for the time when the command has this status or a later one, or has failed.
    fn call(self: &Arc<Self>, status: Status, callback: Callback) {
        let mut state = self.state();
        match &mut *state {
            State::Held(held) if held.status < status => held.callbacks.push((status, callback)),
            State::Held(_) => {
                drop(state);
                callback(Ok(()));
            }
            State::Submitted { completion, lane } => {
                let (completion, lane) = (completion.clone(), lane.clone());
                drop(state);
                lane.call_after(completion, status, callback);
            }
            State::Ended(result) => {
                let result = result.clone();
                drop(state);
                callback(result);
            }
        }
    }

    /// Waits until the command is submitted or has ended.
    fn released(&self, timeout: Option<Duration>) -> Result<()> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.state();
        while matches!(*state, State::Held(_)) {
            state = match deadline {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Error::Held { after: timeout.unwrap_or_default() });
                    }
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        Ok(())
    }
}

impl Event {
    pub(crate) fn new(node: Arc<Node>, device: Device) -> Self {
        Self { node, device: Some(device), launch_error: None, first: None, own: None }
    }

    /// Returns a completed event, for a command with nothing to do.
    pub(crate) fn done() -> Self {
        Self::of_host(Node::new_ended(Ok(())))
    }

    /// The event of a node without a device.
    pub(crate) fn of_host(node: Arc<Node>) -> Self {
        Self { node, device: None, launch_error: None, first: None, own: None }
    }

    /// The event of a command from its first and last part.
    pub(crate) fn of_parts(first: Option<Self>, last: Option<Self>) -> Self {
        match (first, last) {
            (Some(first), Some(last)) => Self { first: Some(first.first.unwrap_or(first.node)), ..last },
            (_, last) => last.unwrap_or_else(Self::done),
        }
    }

    /// An event of the host that ends when this one does, for commands of other devices, and flushes the queue.
    pub(crate) fn bridge(&self) -> Self {
        let node = Node::new_held();
        let far = node.clone();
        self.node.call(Status::Complete, Box::new(move |result| far.end(result).notify(&far)));
        Self::of_host(node)
    }

    /// Waits until the command is complete, or until the watchdog of [`Options`](crate::Options) expires.
    pub fn wait(&self) -> Result<()> {
        self.wait_within(self.device.as_ref().and_then(Device::watchdog))
    }

    /// Waits for all events (`clWaitForEvents`) and returns the first failure in list order.
    pub fn wait_all<'e>(events: impl IntoIterator<Item = &'e Self>) -> Result<()> {
        events.into_iter().map(Self::wait).fold(Ok(()), Result::and)
    }

    /// Waits with a timeout. The timeout error names the kernel, and the event can be waited for again.
    pub fn wait_for(&self, timeout: Duration) -> Result<()> {
        self.wait_within(Some(timeout))
    }

    fn wait_within(&self, timeout: Option<Duration>) -> Result<()> {
        self.node.released(timeout)?;
        let completion = match &*self.node.state() {
            State::Submitted { completion, .. } => completion.clone(),
            State::Ended(result) => return result.clone().and_then(|()| self.report_results()),
            // Unreachable in practice: the event was released above, and never becomes held again.
            State::Held(_) => return Ok(()),
        };
        completion.wait(timeout).inspect_err(|error| {
            if matches!(error, Error::Timeout { .. }) {
                completion.give_up();
            }
            // This wait reports the failure: mark it as reported.
            let _ = self.launch_result();
        })?;
        self.report_results()
    }

    /// Flushes `printf` output and returns the errors found in the results of the completed command.
    fn report_results(&self) -> Result<()> {
        self.print();
        self.launch_result()
    }

    fn launch_result(&self) -> Result<()> {
        self.launch_error.as_ref().map_or(Ok(()), |launch_error| launch_error.get())
    }

    /// Flushes the `printf` output of completed launches.
    fn print(&self) {
        if let Some(device) = &self.device {
            device.prints().flush();
        }
    }

    /// Whether the command is complete. Flushes its queue, so that it makes progress.
    pub fn is_complete(&self) -> Result<bool> {
        let lane = match &*self.node.state() {
            State::Submitted { lane, .. } => Some(lane.clone()),
            State::Held(_) | State::Ended(_) => None,
        };
        lane.map_or(Ok(()), |lane| lane.flush())?;
        Ok(self.status()? == Status::Complete)
    }

    /// The command's status, or its error.
    pub fn status(&self) -> Result<Status> {
        let completion = match &*self.node.state() {
            State::Held(held) => return Ok(held.status),
            State::Submitted { completion, .. } => completion.clone(),
            State::Ended(result) => return result.clone().map(|()| Status::Complete),
        };
        let status = completion.status()?;
        if status == Status::Complete && self.launch_error.is_some() {
            self.report_results()?;
        }
        Ok(status)
    }

    /// When the command ran. `None` before it is complete, for a command that had nothing to do, and for queues
    /// without [profiling](crate::QueueOptions::profiling).
    pub fn times(&self) -> Option<Times> {
        let times = |node: &Node| match node.completion() {
            Some(completion) => completion.times(),
            None => node.times.get().copied(),
        };
        let last = times(&self.node)?;
        let Some(first) = &self.first else { return Some(last) };
        times(first).map(|Times { queued, submitted, start, .. }| Times { queued, submitted, start, ..last })
    }

    /// When the kernel itself ended, for a launch whose kernel enqueues others: [`times`](Self::times) include these.
    pub fn own_end(&self) -> Option<u64> {
        self.own.as_ref()?.completion()?.times().map(|times| times.end)
    }

    /// Registers a callback for the end of the command, successful or not (`clSetEventCallback`), and flushes the
    /// queue. The callback runs on a runtime thread, or on the current thread if the command has already ended. It
    /// should be short.
    pub fn on_end(&self, callback: impl FnOnce(Result<()>) + Send + 'static) {
        self.on_status(Status::Complete, callback);
    }

    /// Registers a callback for the time when the command has this status or a later one (`clSetEventCallback`), and
    /// flushes the queue. It gets the error of a command that has failed. Otherwise as [`on_end`](Self::on_end).
    ///
    /// The runtime holds no lock while it runs callbacks: they may enqueue commands, complete user events and register
    /// callbacks. Callbacks for different statuses can run at the same time, in any order. A device does not report when
    /// it starts a command, so callbacks for [`Status::Running`] run when its command is complete.
    pub fn on_status(&self, status: Status, callback: impl FnOnce(Result<()>) + Send + 'static) {
        if self.launch_error.is_none() || status < Status::Complete {
            return self.node.call(status, Box::new(callback));
        }
        let event = self.clone();
        self.node
            .call(status, Box::new(move |result| callback(result.and_then(|()| event.report_results()))));
    }
}

impl UserEvent {
    /// Creates an event that is not complete.
    #[allow(clippy::new_without_default, reason = "there is no default event")]
    pub fn new() -> Self {
        Self { event: Event::of_host(Node::new_held()) }
    }

    /// The event, for use in wait lists.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Completes the event, so that the commands that wait for it can start (`clSetUserEventStatus`).
    pub fn complete(self) {
        self.end(Ok(()));
    }

    /// Fails the event. Commands that wait for it fail without running.
    pub fn fail(self, reason: impl Into<String>) {
        self.end(Err(Error::UserEvent { reason: reason.into() }));
    }

    fn end(&self, result: Result<()>) {
        self.event.node.end(result).notify(&self.event.node);
    }
}

impl Drop for UserEvent {
    fn drop(&mut self) {
        if self.event.node.is_held() {
            self.end(Err(Error::UserEvent { reason: "it was dropped before it was completed".to_owned() }));
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("status", &self.status()).finish_non_exhaustive()
    }
}

impl fmt::Debug for UserEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserEvent").field("status", &self.event.status()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_runs_is_not_submitted_later() {
        let node = Node::new_held();
        node.advance(Status::Running);
        node.advance(Status::Submitted);
        assert_eq!(Event::of_host(node).status(), Ok(Status::Running));
    }
}
