//! Commands: their wait lists, their events, and work of the host in the order of the queue.
//!
//! The runtime orders all commands of a queue, those of the host too. Commands of several devices wait for each other by
//! user events.

use std::sync::Arc;

use kiln_runtime::{Event as Inner, UserEvent};
use opencl_sys::*;

use crate::error::{Code, Result, ensure, log};
use crate::event::{self, Event};
use crate::ffi;
use crate::memory::Memory;
use crate::object;
use crate::queue::{KeepAlive, Queue};
use crate::residence::{Access, Use};

/// A command that is about to be enqueued.
pub(crate) struct Submission {
    queue: Arc<Queue>,
    kind: cl_command_type,
    waits: Vec<Inner>,
    event: *mut cl_event,
    keep: KeepAlive,
}

impl Submission {
    /// Checks the queue. The wait list is checked later: the specification lists errors of the arguments first.
    pub(crate) fn new(queue: cl_command_queue, kind: cl_command_type, event: *mut cl_event) -> Result<Self> {
        let queue = Queue::of_host(queue)?;
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
        event.inner().on_end(move |result| complete(bridge, result));
    }

    /// The queue.
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// The runtime's queue, with the wait list.
    pub(crate) fn inner(&self) -> kiln_runtime::Queue {
        self.queue.inner().after(&self.waits)
    }

    /// The runtime's queue, with the wait list, for a transfer of the application's memory.
    pub(crate) fn transfers(&self, blocking: cl_bool) -> kiln_runtime::Queue {
        if blocking == CL_FALSE { self.inner() } else { self.inner().blocking() }
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

    /// Brings the newest contents of a memory object to the queue's device before the command.
    pub(crate) fn migrate(&mut self, memory: &Arc<Memory>, access: Access) -> Result {
        self.migrate_to(self.queue.index(), memory, access)
    }

    /// The same for a device that need not be the queue's.
    pub(crate) fn migrate_to(&mut self, index: usize, memory: &Arc<Memory>, access: Access) -> Result {
        let Use { update, writing } = memory.announce(index, access)?;
        self.keeps(writing.map(Arc::new));
        if let Some(update) = update {
            let updated = self.host(move || update.run())?;
            self.waits.push(updated);
        }
        Ok(())
    }

    /// Keeps an object alive until the command has ended, if there is one.
    pub(crate) fn keeps(&mut self, object: Option<Arc<impl Send + Sync + 'static>>) {
        if let Some(object) = object {
            self.keep.push(object);
        }
    }

    /// Keeps an object alive until the command has ended.
    pub(crate) fn keep(&mut self, object: Arc<impl Send + Sync + 'static>) {
        self.keep.push(object);
    }

    /// Enqueues work of the host, in the order of the queue. The work must not wait for commands that a user event can
    /// hold back.
    pub(crate) fn host(
        &self,
        work: impl FnOnce() -> kiln_runtime::Result<()> + Send + 'static,
    ) -> Result<Inner> {
        Ok(self.inner().host(work)?)
    }

    /// As [`finish`](Self::finish), for a write of this many bytes, which have left the application's memory if it is
    /// blocking. Only then may the application reuse the memory (OpenCL API 5.2.2); the write itself need not be complete. For
    /// a program that requests the event or passes a wait list, waits for the write and reports its errors.
    pub(crate) fn finish_write(self, event: Inner, blocking: cl_bool, bytes: usize) -> Result {
        let is_observed = !self.event.is_null() || !self.waits.is_empty();
        if blocking == CL_FALSE || is_observed || !self.queue.may_leave_pending(bytes) {
            return self.finish(event, blocking);
        }
        // Blocking commands flush the queue (OpenCL API 5.15).
        self.queue.inner().flush()?;
        self.finish(event, CL_FALSE)
    }

    /// Enqueues a command that does nothing, and finishes it.
    pub(crate) fn finish_nothing(self, blocking: cl_bool) -> Result {
        let nothing = self.inner().nothing()?;
        self.finish(nothing, blocking)
    }

    /// Waits if the command is blocking, and gives the application its event. A blocking command that fails has none.
    pub(crate) fn finish(self, event: Inner, blocking: cl_bool) -> Result {
        let wanted = !self.event.is_null();
        let object = wanted.then(|| Event::of_command(&self.queue, self.kind, event.clone())).transpose()?;
        let raw = object.as_ref().map(|object| crate::object::Object::handle(&**object).raw());
        self.queue.keep(event.clone(), self.keep);
        if blocking != CL_FALSE {
            if let Err(error) = event.wait() {
                raw.map(object::release::<Event>).transpose()?;
                return Err(error.into());
            }
            self.queue.release_completed();
        }
        if let Some(raw) = raw {
            ffi::store(self.event, raw);
        }
        Ok(())
    }
}

/// Completes a user event with the result of a command.
fn complete(gate: UserEvent, result: kiln_runtime::Result<()>) {
    match result {
        Ok(()) => gate.complete(),
        Err(error) => {
            log(&error.to_string());
            gate.fail(error.to_string());
        }
    }
}

/// Checks that a range is inside an object of size `limit`.
pub(crate) fn check_range(offset: usize, size: usize, limit: usize) -> Result {
    let is_inside = offset.checked_add(size).is_some_and(|end| end <= limit);
    if is_inside { Ok(()) } else { Err(Code(CL_INVALID_VALUE)) }
}
