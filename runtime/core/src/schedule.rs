//! Scheduling: decides which commands go to the back end now, and which wait on the host.
//!
//! Owns the ordering rules of queues (OpenCL API 3.2.1, 5.11, 5.13) that the device cannot enforce. A command goes to
//! the back end as soon as all its dependencies have gone there, because the back end enforces the order from then
//! on. Only user events, and commands that depend on them, are held back. Must not depend on what commands do.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use crate::backend::{BackendQueue, Command, Completion, Start};
use crate::error::{Error, Result};
use crate::event::{Callback, Event, Held, Node, Status, Wait};

/// The commands of one queue.
pub(crate) struct Lane {
    backend: Arc<dyn BackendQueue>,
    order: Order,
    waiting: Mutex<VecDeque<Waiting>>,
    /// Sends callbacks to the watcher thread; created on first use.
    watcher: Mutex<Option<Sender<Watch>>>,
}

/// The order of commands in a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Commands run in order, and each sees the writes of earlier ones.
    #[default]
    InOrder,
    /// Commands are ordered by wait lists, markers and barriers only (`CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`).
    OutOfOrder,
}

/// How a command is ordered relative to the others of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Waits for all earlier commands, even in an out-of-order queue.
    pub(crate) after_all: bool,
    /// Later commands wait for it, even in an out-of-order queue.
    pub(crate) before_all: bool,
}

/// A command that cannot go to the back end yet.
struct Waiting {
    command: Command,
    wait: Arc<[Event]>,
    place: Place,
    queued: Instant,
    node: Arc<Node>,
}

/// The state of a command's wait list.
enum Dependencies {
    /// Some events are held back; the lane is registered for notification.
    Held,
    /// An event has failed.
    Failed(Error),
    /// All commands are with the back end. Contains those of other queues.
    Met(SmallVec<[Arc<dyn Completion>; 2]>),
}

type Watch = (Arc<dyn Completion>, Callback);

/// Maximum delay of a callback whose command completes before one that was registered earlier.
const PATIENCE: Duration = Duration::from_millis(5);

impl Place {
    /// No constraints beyond the queue's order.
    pub(crate) const USUAL: Self = Self { after_all: false, before_all: false };
}

/// Which held commands block a new one.
#[derive(Clone, Copy, Default)]
struct InTheWay {
    any: bool,
    barrier: bool,
}

impl InTheWay {
    fn of(waiting: &VecDeque<Waiting>) -> Self {
        let mut way = Self::default();
        waiting.iter().for_each(|held| way.add(held.place));
        way
    }

    fn add(&mut self, place: Place) {
        self.any = true;
        self.barrier |= place.before_all;
    }

    fn stops(self, place: Place, order: Order) -> bool {
        self.barrier || self.any && (place.after_all || order == Order::InOrder)
    }
}

impl Lane {
    pub(crate) fn new(backend: Arc<dyn BackendQueue>, order: Order) -> Arc<Self> {
        Arc::new(Self { backend, order, waiting: Mutex::default(), watcher: Mutex::default() })
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a command. If its wait list has failed, the returned node has failed too, and this returns `Ok`.
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        command: Command,
        wait: &Arc<[Event]>,
        place: Place,
    ) -> Result<Arc<Node>> {
        let queued = Instant::now();
        let mut waiting = self.waiting();
        let stopped = !waiting.is_empty() && InTheWay::of(&waiting).stops(place, self.order);
        if !stopped {
            match self.dependencies(wait)? {
                Dependencies::Held => {}
                Dependencies::Failed(error) => return Ok(Node::ended(Err(error))),
                Dependencies::Met(after) => {
                    let ordered = self.is_ordered(wait, place);
                    let completion = self.backend.push(command, Start { ordered, after: &after, queued })?;
                    return Ok(Node::given(completion, self.clone()));
                }
            }
        }
        let node = Node::held();
        waiting.push_back(Waiting { command, wait: wait.clone(), place, queued, node: node.clone() });
        Ok(node)
    }

    /// Whether a command runs after all earlier commands of its queue.
    fn is_ordered(&self, wait: &[Event], place: Place) -> bool {
        self.order == Order::InOrder || !wait.is_empty() || place != Place::USUAL
    }

    /// Resolves a wait list. Flushes the other queues that it names, because the device can wait only for submitted
    /// commands.
    fn dependencies(self: &Arc<Self>, wait: &[Event]) -> Result<Dependencies> {
        let mut elsewhere = SmallVec::new();
        for event in wait {
            match event.node.wait_of(self) {
                Wait::Held => return Ok(Dependencies::Held),
                Wait::Given(lane, _) if Arc::ptr_eq(&lane, self) => {}
                Wait::Given(lane, completion) => {
                    lane.backend.flush()?;
                    elsewhere.push(completion);
                }
                Wait::Ended(Ok(())) => {}
                Wait::Ended(Err(error)) => {
                    return Ok(Dependencies::Failed(Error::WaitList { cause: Box::new(error) }));
                }
            }
        }
        Ok(Dependencies::Met(elsewhere))
    }

    pub(crate) fn flush(&self) -> Result<()> {
        self.backend.flush()
    }

    /// Submits the commands that need not wait any more, and notifies the lanes that wait for them.
    pub(crate) fn pump(self: Arc<Self>) {
        let mut lanes = vec![self];
        while let Some(lane) = lanes.pop() {
            for (node, held) in lane.advance() {
                lanes.extend(held.tell_callbacks(&node));
            }
        }
    }

    /// Submits the commands that it can. Returns them with their listeners.
    fn advance(self: &Arc<Self>) -> Vec<(Arc<Node>, Held)> {
        let mut waiting = self.waiting();
        let mut told = Vec::new();
        let mut way = InTheWay::default();
        for held in std::mem::take(&mut *waiting) {
            if way.stops(held.place, self.order) {
                way.add(held.place);
                waiting.push_back(held);
                continue;
            }
            let given = match self.dependencies(&held.wait) {
                Ok(Dependencies::Held) => {
                    way.add(held.place);
                    waiting.push_back(held);
                    continue;
                }
                Ok(Dependencies::Failed(error)) | Err(error) => Err(error),
                Ok(Dependencies::Met(after)) => {
                    let ordered = self.is_ordered(&held.wait, held.place);
                    self.backend.push(held.command, Start { ordered, after: &after, queued: held.queued })
                }
            };
            let heard = match given {
                Ok(completion) => held.node.give(completion, self.clone()),
                Err(error) => held.node.end(Err(error)),
            };
            told.push((held.node, heard));
        }
        told
    }

    /// Registers a callback for the end of a command of this lane.
    pub(crate) fn call_after(&self, completion: Arc<dyn Completion>, callback: Callback) {
        if let Err(error) = self.flush() {
            return callback(Err(error));
        }
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_none() {
            let (sender, receiver) = mpsc::channel();
            let thread = std::thread::Builder::new().name("kiln-callbacks".to_owned());
            if thread.spawn(move || watch(&receiver)).is_ok() {
                *watcher = Some(sender);
            }
        }
        let unsent = match &*watcher {
            Some(sender) => sender.send((completion, callback)).err().map(|unsent| unsent.0),
            None => Some((completion, callback)),
        };
        drop(watcher);
        // Without the watcher thread, waits on this thread.
        if let Some((completion, callback)) = unsent {
            callback(completion.wait(None));
        }
    }
}

/// Waits for commands and runs their callbacks, until the channel is closed.
fn watch(receiver: &Receiver<Watch>) {
    let mut watched: VecDeque<Watch> = VecDeque::new();
    let mut open = true;
    while open || !watched.is_empty() {
        if watched.is_empty() {
            match receiver.recv() {
                Ok(watch) => watched.push_back(watch),
                Err(_) => break,
            }
        }
        loop {
            match receiver.try_recv() {
                Ok(watch) => watched.push_back(watch),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    open = false;
                    break;
                }
            }
        }
        if let Some((oldest, _)) = watched.front() {
            // The result does not matter: the status of each command is queried below.
            let _ = oldest.wait(Some(PATIENCE));
        }
        for (completion, callback) in std::mem::take(&mut watched) {
            match completion.status() {
                Ok(Status::Complete) => callback(Ok(())),
                Ok(_) => watched.push_back((completion, callback)),
                Err(error) => callback(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
