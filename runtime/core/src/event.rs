//! Events: the state of a command as the user sees it, from the wait list that holds it back to its end.
//!
//! Owns `Event`, `UserEvent` and what happens when a state changes. It must never know how a back end signals completion, nor
//! why a command was held back (`schedule.rs` does).

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::Completion;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::schedule::Lane;
use crate::verdict::Verdict;

/// The end of a command. Dropping it does not stop the command.
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
    /// Nothing for an event of the host.
    pub(crate) device: Option<Device>,
    /// What the command says of itself, where it can.
    pub(crate) verdict: Option<Arc<Verdict>>,
}

/// An event that the host completes (`clCreateUserEvent`). Dropping it uncompleted fails the commands that wait for it.
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
    /// It waits for others, or for a flush of its queue.
    Queued,
    /// The device has it, and may have begun it (`CL_RUNNING` is not told apart).
    Submitted,
    /// It is done, and everybody sees what it wrote.
    Complete,
}

/// When a command ran, in nanoseconds since the device was opened (`CL_PROFILING_COMMAND_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When the host enqueued it.
    pub queued: u64,
    /// When it was handed to the device.
    pub submitted: u64,
    /// When the device began.
    pub start: u64,
    /// When the device had finished.
    pub end: u64,
}

impl Times {
    /// How long the device worked.
    pub fn execution(&self) -> Duration {
        Duration::from_nanos(self.end - self.start)
    }
}

/// What a user wants to be told.
pub(crate) type Callback = Box<dyn FnOnce(Result<()>) + Send>;

/// The state behind an event.
pub(crate) struct Node {
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    /// Something has to happen on the host first.
    Held(Held),
    /// The back end has it.
    Given {
        completion: Arc<dyn Completion>,
        lane: Arc<Lane>,
    },
    Ended(Result<()>),
}

/// Who must hear of the end of the wait.
#[derive(Default)]
pub(crate) struct Held {
    lanes: Vec<Arc<Lane>>,
    callbacks: Vec<Callback>,
}

/// What a command finds when it asks for an event of its wait list.
pub(crate) enum Wait {
    /// The asking lane will be told.
    Held,
    /// The back end has it, in this lane.
    Given(Arc<Lane>, Arc<dyn Completion>),
    Ended(Result<()>),
}

impl Node {
    fn new(state: State) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    pub(crate) fn held() -> Arc<Self> {
        Self::new(State::Held(Held::default()))
    }

    pub(crate) fn given(completion: Arc<dyn Completion>, lane: Arc<Lane>) -> Arc<Self> {
        Self::new(State::Given { completion, lane })
    }

    pub(crate) fn ended(result: Result<()>) -> Arc<Self> {
        Self::new(State::Ended(result))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_held(&self) -> bool {
        matches!(*self.state(), State::Held(_))
    }

    /// How a command of this lane stands to the event. If it is held, the lane will be told when that changes.
    pub(crate) fn wait_of(&self, lane: &Arc<Lane>) -> Wait {
        match &mut *self.state() {
            State::Held(held) => {
                if !held.lanes.iter().any(|known| Arc::ptr_eq(known, lane)) {
                    held.lanes.push(lane.clone());
                }
                Wait::Held
            }
            State::Given { lane, completion } => Wait::Given(lane.clone(), completion.clone()),
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
            State::Given { .. } | State::Ended(_) => Held::default(),
        }
    }

    /// The back end has taken the command. Gives who must hear of it.
    pub(crate) fn give(&self, completion: Arc<dyn Completion>, lane: Arc<Lane>) -> Held {
        self.replace(State::Given { completion, lane })
    }

    /// There is nothing more to wait for. Gives who must hear of it.
    pub(crate) fn end(&self, result: Result<()>) -> Held {
        self.replace(State::Ended(result))
    }

    pub(crate) fn completion(&self) -> Option<Arc<dyn Completion>> {
        match &*self.state() {
            State::Given { completion, .. } => Some(completion.clone()),
            State::Held(_) | State::Ended(_) => None,
        }
    }
}

impl Held {
    /// Tells them. No lock may be held.
    fn tell(self, node: &Arc<Node>) {
        self.tell_callbacks(node).into_iter().for_each(Lane::pump);
    }

    /// Tells those that are functions, and gives the others.
    pub(crate) fn tell_callbacks(self, node: &Arc<Node>) -> Vec<Arc<Lane>> {
        for callback in self.callbacks {
            node.call(callback);
        }
        self.lanes
    }
}

impl Node {
    /// Calls back when the command has ended.
    fn call(self: &Arc<Self>, callback: Callback) {
        let mut state = self.state();
        match &mut *state {
            State::Held(held) => held.callbacks.push(callback),
            State::Given { completion, lane } => {
                let (completion, lane) = (completion.clone(), lane.clone());
                drop(state);
                lane.call_after(completion, callback);
            }
            State::Ended(result) => {
                let result = result.clone();
                drop(state);
                callback(result);
            }
        }
    }

    /// Waits until the back end has the command or it has ended.
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
        Self { node, device: Some(device), verdict: None }
    }

    /// The event of a command that had nothing to do.
    pub(crate) fn done() -> Self {
        Self { node: Node::ended(Ok(())), device: None, verdict: None }
    }

    /// Waits until the command is complete, or until the watchdog of [`Options`](crate::Options) barks.
    pub fn wait(&self) -> Result<()> {
        self.wait_within(self.device.as_ref().and_then(Device::watchdog))
    }

    /// Waits for all of them (`clWaitForEvents`), and gives the first failure in their order.
    pub fn wait_all<'e>(events: impl IntoIterator<Item = &'e Self>) -> Result<()> {
        events.into_iter().map(Self::wait).fold(Ok(()), Result::and)
    }

    /// Waits at most this long; after that the error names the kernel, and the event can be waited for again.
    pub fn wait_for(&self, timeout: Duration) -> Result<()> {
        self.wait_within(Some(timeout))
    }

    fn wait_within(&self, timeout: Option<Duration>) -> Result<()> {
        self.node.released(timeout)?;
        let completion = match &*self.node.state() {
            State::Given { completion, .. } => completion.clone(),
            State::Ended(result) => return result.clone().and_then(|()| self.settle()),
            // It was released, and nothing is ever held again.
            State::Held(_) => return Ok(()),
        };
        completion.wait(timeout).inspect_err(|error| {
            if matches!(error, Error::Timeout { .. }) {
                completion.give_up();
            }
            // It is told by this.
            let _ = self.verdict();
        })?;
        self.settle()
    }

    /// Lets appear what kernels have printed, and listens to what the command says of itself: it is complete.
    fn settle(&self) -> Result<()> {
        self.print();
        self.verdict()
    }

    fn verdict(&self) -> Result<()> {
        self.verdict.as_ref().map_or(Ok(()), |verdict| verdict.get())
    }

    /// Lets appear what kernels have printed.
    fn print(&self) {
        if let Some(device) = &self.device {
            device.prints().flush();
        }
    }

    /// Whether the command is complete; flushes its queue, so that it will be.
    pub fn is_complete(&self) -> Result<bool> {
        let lane = match &*self.node.state() {
            State::Given { lane, .. } => Some(lane.clone()),
            State::Held(_) | State::Ended(_) => None,
        };
        lane.map_or(Ok(()), |lane| lane.flush())?;
        Ok(self.status()? == Status::Complete)
    }

    /// How far the command is, or how it failed.
    pub fn status(&self) -> Result<Status> {
        let completion = match &*self.node.state() {
            State::Held(_) => return Ok(Status::Queued),
            State::Given { completion, .. } => completion.clone(),
            State::Ended(result) => return result.clone().map(|()| Status::Complete),
        };
        let status = completion.status()?;
        if status == Status::Complete && self.verdict.is_some() {
            self.settle()?;
        }
        Ok(status)
    }

    /// When the command ran. `None` before it is complete, for a command that had nothing to do, and for queues without
    /// [profiling](crate::QueueOptions::profiling).
    pub fn times(&self) -> Option<Times> {
        self.node.completion()?.times()
    }

    /// Calls back when the command has ended, well or not (`clSetEventCallback`). It flushes the queue. The call comes from a
    /// thread of the runtime or, if the command has ended already, from this one; it should be short.
    pub fn on_end(&self, callback: impl FnOnce(Result<()>) + Send + 'static) {
        if self.verdict.is_none() {
            return self.node.call(Box::new(callback));
        }
        let event = self.clone();
        self.node.call(Box::new(move |result| callback(result.and_then(|()| event.settle()))));
    }
}

impl UserEvent {
    /// An event that is not complete.
    #[allow(clippy::new_without_default, reason = "there is no usual event")]
    pub fn new() -> Self {
        Self { event: Event { node: Node::held(), device: None, verdict: None } }
    }

    /// The event that commands can wait for.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Lets the commands go on that wait for it (`clSetUserEventStatus`).
    pub fn complete(self) {
        self.end(Ok(()));
    }

    /// Fails the commands that wait for it: they end without having run.
    pub fn fail(self, reason: impl Into<String>) {
        self.end(Err(Error::UserEvent { reason: reason.into() }));
    }

    fn end(&self, result: Result<()>) {
        self.event.node.end(result).tell(&self.event.node);
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
