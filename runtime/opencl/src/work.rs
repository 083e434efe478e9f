//! Commands: their wait lists, their events, and work of the host in the order of the queue.
//!
//! The runtime orders commands of the device. Work of the host runs when the commands before it have ended: it holds
//! back the commands after it by a user event, which it completes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kiln_runtime::{Event as Inner, UserEvent};
use opencl_sys::*;

use crate::error::{Code, Result, ensure, log};
use crate::event::{self, Event, HostTimes, Timed};
use crate::ffi;
use crate::memory::Memory;
use crate::object;
use crate::queue::{Keep, Queue};

/// A command that is about to be enqueued.
pub(crate) struct Submission {
    queue: Arc<Queue>,
    kind: cl_command_type,
    waits: Vec<Inner>,
    event: *mut cl_event,
    keep: Keep,
}

/// A command of the runtime, and what measures its time.
pub(crate) struct Enqueued {
    event: Inner,
    timed: Timed,
}

impl From<Inner> for Enqueued {
    fn from(event: Inner) -> Self {
        Self { timed: Timed::Device(event.clone()), event }
    }
}

impl Enqueued {
    /// A command whose time is that of an earlier one.
    pub(crate) fn timed(event: Inner, timed: Inner) -> Self {
        Self { event, timed: Timed::Device(timed) }
    }
}

impl Submission {
    /// Checks the queue. The wait list is checked later: the specification lists errors of the arguments first.
    pub(crate) fn new(queue: cl_command_queue, kind: cl_command_type, event: *mut cl_event) -> Result<Self> {
        let queue = object::get::<Queue>(queue)?;
        Ok(Self { queue, kind, waits: Vec::new(), event, keep: Vec::new() })
    }

    /// Checks and adds a wait list.
    pub(crate) fn wait_for(&mut self, count: cl_uint, first: *const cl_event) -> Result {
        let context = Some(self.queue.context());
        for event in event::list(count, first, context, CL_INVALID_EVENT_WAIT_LIST)? {
            self.wait(&event);
        }
        Ok(())
    }

    /// Adds an event to the wait list. Devices do not wait for each other: the host does it for them.
    fn wait(&mut self, event: &Event) {
        let foreign = event.queue().filter(|queue| !Arc::ptr_eq(queue.device(), self.queue.device()));
        let Some(foreign) = foreign else {
            self.waits.push(event.inner().clone());
            return;
        };
        if let Err(error) = foreign.inner().flush() {
            log(&error.to_string());
        }
        let bridge = UserEvent::new();
        self.waits.push(bridge.event().clone());
        event.inner().on_end(move |result| end(bridge, result));
    }

    /// The queue.
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// The runtime's queue, with the wait list.
    pub(crate) fn inner(&self) -> kiln_runtime::Queue {
        self.queue.inner().after(&self.waits)
    }

    /// A memory object of the command, which must belong to the queue's context. Brings its contents to the device.
    pub(crate) fn memory(&mut self, raw: cl_mem) -> Result<Arc<Memory>> {
        let memory = object::get::<Memory>(raw)?;
        self.uses(&memory)?;
        Ok(memory)
    }

    /// Uses a memory object, as [`memory`](Self::memory).
    pub(crate) fn uses(&mut self, memory: &Arc<Memory>) -> Result {
        ensure(memory.context().is(self.queue.context()), CL_INVALID_CONTEXT)?;
        self.keep.push(memory.clone());
        Ok(())
    }

    /// Moves the contents of memory objects to the queue's device, if another device has written them.
    pub(crate) fn bring(&mut self, memories: &[&Arc<Memory>]) -> Result {
        for memory in memories {
            let Some(migration) = memory.migration(self.queue.index())? else { continue };
            let gate = UserEvent::new();
            let moved = gate.event().clone();
            self.before()?.on_end(move |result| end(gate, result.and_then(|()| migration.run())));
            self.waits.push(moved);
        }
        Ok(())
    }

    /// Keeps an object alive until the command has ended.
    pub(crate) fn keep(&mut self, object: Arc<impl Send + Sync + 'static>) {
        self.keep.push(object);
    }

    /// An event after which the command can start.
    fn before(&self) -> Result<Inner> {
        // A marker without a wait list waits for all commands, even in an out-of-order queue.
        let ended = UserEvent::new();
        let nothing = ended.event().clone();
        ended.complete();
        Ok(self.queue.inner().after(self.waits.iter().chain([&nothing])).marker()?)
    }

    /// Enqueues work of the host. The work must not wait for commands that a user event can hold back.
    pub(crate) fn host(
        &self,
        work: impl FnOnce() -> kiln_runtime::Result<()> + Send + 'static,
    ) -> Result<Enqueued> {
        let device = self.queue.device().clone();
        let times = Arc::new(HostTimes { queued: device.time()?, ..HostTimes::default() });
        let gate = UserEvent::new();
        let before = self.before()?;
        let done = self.queue.inner().after([gate.event()]).marker()?;
        let clock = times.clone();
        before.on_end(move |result| {
            let now = || device.time().unwrap_or_default();
            clock.start.store(now(), Ordering::Release);
            let result = result.and_then(|()| work());
            clock.end.store(now(), Ordering::Release);
            end(gate, result);
        });
        Ok(Enqueued { event: done, timed: Timed::Host(times) })
    }

    /// Enqueues work of the host after a command of the device, which has the wait list.
    pub(crate) fn host_after(
        &self,
        command: Inner,
        work: impl FnOnce() -> kiln_runtime::Result<()> + Send + 'static,
    ) -> Result<Enqueued> {
        let gate = UserEvent::new();
        let done = self.queue.inner().after([gate.event()]).marker()?;
        command.on_end(move |result| end(gate, result.and_then(|()| work())));
        Ok(Enqueued::timed(done, command))
    }

    /// Gives the application its event, and waits if the command is blocking.
    pub(crate) fn finish(self, enqueued: impl Into<Enqueued>, blocking: cl_bool) -> Result {
        let Enqueued { event, timed } = enqueued.into();
        if !self.event.is_null() {
            let object = Event::of_command(&self.queue, self.kind, event.clone(), timed)?;
            ffi::store(self.event, crate::object::Object::handle(&*object).raw());
        }
        self.queue.keep(event.clone(), self.keep);
        if blocking != CL_FALSE {
            event.wait()?;
            self.queue.sweep();
        }
        Ok(())
    }
}

/// Ends a user event as a command has ended.
fn end(gate: UserEvent, result: kiln_runtime::Result<()>) {
    match result {
        Ok(()) => gate.complete(),
        Err(error) => {
            log(&error.to_string());
            gate.fail(error.to_string());
        }
    }
}

/// The error for a range outside of an object.
pub(crate) fn inside(offset: usize, size: usize, limit: usize) -> Result {
    let is_inside = offset.checked_add(size).is_some_and(|end| end <= limit);
    if is_inside { Ok(()) } else { Err(Code(CL_INVALID_VALUE)) }
}
