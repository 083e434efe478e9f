//! Scheduling: decides which commands go to the back end now, and which wait on the host.
//!
//! Owns the ordering rules of queues (OpenCL API 3.2.1, 5.11, 5.13) that the device cannot enforce. A command goes to
//! the back end as soon as all its dependencies have gone there, because the back end enforces the order from then
//! on. Only user events, host commands, and commands that depend on them are held back. Must not depend on what
//! commands do.
//!
//! A host command runs on a thread of its queue (`host.rs`) once the commands that it follows are complete. An empty
//! command (`Command::Nothing`) in the back end's queue signals that moment.

mod host;
mod watch;

use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use smallvec::SmallVec;

use crate::backend::{BackendQueue, Command, Completion, Start};
use crate::error::{Error, Result};
use crate::event::{Event, Held, Node, Status, Wait};
use host::Job;
pub(crate) use host::Work;
use watch::Watch;

/// The commands of one queue.
pub(crate) struct Lane {
    backend: Arc<dyn BackendQueue>,
    order: Order,
    /// The commands that wait on the host, and the host commands that have not ended.
    waiting: Mutex<VecDeque<Waiting>>,
    /// Sends callbacks to the watcher thread; created on first use.
    watcher: Mutex<Option<Sender<Watch>>>,
    /// Sends host commands to their thread; created on first use.
    host: Mutex<Option<Sender<Job>>>,
    /// Time zero of the device's timestamps, if host commands record when they ran.
    clock: Option<Instant>,
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
pub(crate) struct QueueOrder {
    /// Waits for all earlier commands, even in an out-of-order queue.
    pub(crate) after_all: bool,
    /// Later commands wait for it, even in an out-of-order queue.
    pub(crate) before_all: bool,
}

/// What a queue executes.
pub(crate) enum Task {
    /// A command of the device.
    Device(Command),
    /// A command of the host.
    Host(Work),
}

impl From<Command> for Task {
    fn from(command: Command) -> Self {
        Self::Device(command)
    }
}

/// A command that cannot go to the back end yet, or a host command that has not ended.
struct Waiting {
    /// `None` if it is a host command that has gone to its thread.
    task: Option<Task>,
    wait: Arc<[Event]>,
    queue_order: QueueOrder,
    queued: Instant,
    node: Arc<Node>,
}

/// The state of a command's wait list.
enum Dependencies {
    /// Some events are held back; the lane is registered for notification.
    Held,
    /// An event has failed.
    Failed(Error),
    /// All commands were submitted to the back end. Contains those of other queues.
    Met(SmallVec<[Arc<dyn Completion>; 2]>),
}

impl Dependencies {
    /// The commands of other queues.
    fn on_other_queues(&self) -> &[Arc<dyn Completion>] {
        match self {
            Self::Met(after) => after,
            Self::Held | Self::Failed(_) => &[],
        }
    }
}

impl QueueOrder {
    /// No constraints beyond the queue's order.
    pub(crate) const USUAL: Self = Self { after_all: false, before_all: false };
}

/// A summary of the held commands, which decides whether they block another command.
#[derive(Clone, Copy, Default)]
struct Blockers {
    any: bool,
    barrier: bool,
}

impl Blockers {
    fn of_queue(waiting: &VecDeque<Waiting>) -> Self {
        let mut blockers = Self::default();
        waiting.iter().for_each(|held| blockers.add(held.queue_order));
        blockers
    }

    fn add(&mut self, queue_order: QueueOrder) {
        self.any = true;
        self.barrier |= queue_order.before_all;
    }

    fn blocks(self, queue_order: QueueOrder, order: Order) -> bool {
        self.barrier || self.any && (queue_order.after_all || order == Order::InOrder)
    }
}

impl Lane {
    pub(crate) fn new(backend: Arc<dyn BackendQueue>, order: Order, clock: Option<Instant>) -> Arc<Self> {
        Arc::new(Self {
            backend,
            order,
            waiting: Mutex::default(),
            watcher: Mutex::default(),
            host: Mutex::default(),
            clock,
        })
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a command. If its wait list has failed, the returned node has failed too, and this returns `Ok`.
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        task: impl Into<Task>,
        wait: &Arc<[Event]>,
        queue_order: QueueOrder,
    ) -> Result<Arc<Node>> {
        let queued = Instant::now();
        let task = task.into();
        let mut waiting = self.waiting();
        let stopped = !waiting.is_empty() && Blockers::of_queue(&waiting).blocks(queue_order, self.order);
        if !stopped {
            match self.dependencies(wait)? {
                Dependencies::Held => {}
                Dependencies::Failed(error) => return Ok(Node::new_ended(Err(error))),
                Dependencies::Met(after) => {
                    let start = Start { ordered: self.is_ordered(wait, queue_order), after: &after, queued };
                    match task {
                        Task::Device(command) => {
                            let completion = self.backend.push(command, start)?;
                            return Ok(Node::new_submitted(completion, self.clone()));
                        }
                        Task::Host(work) => {
                            let node = Node::new_held();
                            self.start(work, wait, start, &node)?;
                            // Nothing listens to the new node yet.
                            node.advance(Status::Submitted);
                            let (wait, of_host) = (Arc::default(), node.clone());
                            waiting.push_back(Waiting {
                                task: None,
                                wait,
                                queue_order,
                                queued,
                                node: of_host,
                            });
                            return Ok(node);
                        }
                    }
                }
            }
        }
        let node = Node::new_held();
        let (wait, task) = (wait.clone(), Some(task));
        waiting.push_back(Waiting { task, wait, queue_order, queued, node: node.clone() });
        Ok(node)
    }

    /// Whether a command runs after all earlier commands of its queue.
    fn is_ordered(&self, wait: &[Event], queue_order: QueueOrder) -> bool {
        self.order == Order::InOrder || !wait.is_empty() || queue_order != QueueOrder::USUAL
    }

    /// Resolves a wait list. Flushes the other queues that it names, because the device can wait only for submitted
    /// commands.
    fn dependencies(self: &Arc<Self>, wait: &[Event]) -> Result<Dependencies> {
        let mut on_other_queues = SmallVec::new();
        for event in wait {
            match event.node.wait_of(self) {
                Wait::Held => return Ok(Dependencies::Held),
                Wait::Submitted(lane, _) if Arc::ptr_eq(&lane, self) => {}
                Wait::Submitted(lane, completion) => {
                    lane.backend.flush()?;
                    on_other_queues.push(completion);
                }
                Wait::Ended(Ok(())) => {}
                Wait::Ended(Err(error)) => {
                    return Ok(Dependencies::Failed(Error::WaitList { cause: Box::new(error) }));
                }
            }
        }
        Ok(Dependencies::Met(on_other_queues))
    }

    /// Whether no command is held back and every host command has ended.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.waiting().is_empty()
    }

    pub(crate) fn flush(&self) -> Result<()> {
        self.backend.flush()
    }

    /// Submits the commands that no longer have to wait, and notifies the lanes that wait for them.
    pub(crate) fn pump(self: Arc<Self>) {
        let mut lanes = vec![self];
        while let Some(lane) = lanes.pop() {
            for (node, held) in lane.submit_ready() {
                lanes.extend(held.run_callbacks(&node));
            }
        }
    }

    /// Submits the commands that it can. Returns them with their listeners.
    fn submit_ready(self: &Arc<Self>) -> Vec<(Arc<Node>, Held)> {
        let mut waiting = self.waiting();
        let mut changed = Vec::new();
        let mut blockers = Blockers::default();
        for mut held in std::mem::take(&mut *waiting) {
            let met = match held.task {
                Some(_) if !blockers.blocks(held.queue_order, self.order) => self.dependencies(&held.wait),
                _ => Ok(Dependencies::Held),
            };
            let start = Start {
                ordered: self.is_ordered(&held.wait, held.queue_order),
                after: met.as_ref().map_or(&[], Dependencies::on_other_queues),
                queued: held.queued,
            };
            let heard = match (&met, held.task.take()) {
                (Ok(Dependencies::Failed(error)) | Err(error), _) => held.node.end(Err(error.clone())),
                (Ok(Dependencies::Met(_)), Some(Task::Device(command))) => {
                    match self.backend.push(command, start) {
                        Ok(completion) => held.node.submit(completion, self.clone()),
                        Err(error) => held.node.end(Err(error)),
                    }
                }
                (Ok(Dependencies::Met(_)), Some(Task::Host(work))) => {
                    match self.start(work, &held.wait, start, &held.node) {
                        Ok(()) => {
                            changed.push((held.node.clone(), held.node.advance(Status::Submitted)));
                            held.wait = Arc::default();
                            blockers.add(held.queue_order);
                            waiting.push_back(held);
                            continue;
                        }
                        Err(error) => held.node.end(Err(error)),
                    }
                }
                (_, task) => {
                    held.task = task;
                    blockers.add(held.queue_order);
                    waiting.push_back(held);
                    continue;
                }
            };
            changed.push((held.node, heard));
        }
        changed
    }
}

#[cfg(test)]
mod tests;
