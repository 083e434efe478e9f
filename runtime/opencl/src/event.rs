//! Events: waits, statuses, callbacks, profiling, user events (OpenCL API 5.11 to 5.14).

use std::ffi::c_void;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::thread;

use kiln_runtime::{Status, UserEvent};
use opencl_sys::*;

use crate::context::Context;
use crate::error::{self, Code, Result, ensure, fail};
use crate::ffi::{self, EventNotify};
use crate::info::{Answer, answer};
use crate::object::{self, Handle, Object};
use crate::queue::Queue;

/// An event.
pub(crate) struct Event {
    handle: Handle,
    context: Arc<Context>,
    /// `None` for user events.
    queue: Option<Arc<Queue>>,
    kind: cl_command_type,
    event: kiln_runtime::Event,
    /// Present until the application sets the status of a user event.
    user: Mutex<Option<UserEvent>>,
    /// The status that the application set.
    status: OnceLock<cl_int>,
}

impl Object for Event {
    const INVALID: cl_int = CL_INVALID_EVENT;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

type Task = Box<dyn FnOnce() + Send>;

/// The thread that runs the application's callbacks, so that they do not delay the driver.
static CALLBACKS: LazyLock<Mutex<Sender<Task>>> = LazyLock::new(|| {
    let (sender, receiver) = channel::<Task>();
    // If the thread cannot start, sending fails and the sender runs the callback.
    let _ = thread::Builder::new()
        .name("kiln-callbacks".to_owned())
        .spawn(move || receiver.into_iter().for_each(|task| task()));
    Mutex::new(sender)
});

/// Runs a callback of the application on the callback thread.
pub(crate) fn call_back(task: impl FnOnce() + Send + 'static) {
    let sender = CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Err(unsent) = sender.send(Box::new(task)) {
        unsent.0();
    }
}

impl Event {
    /// The event of a command.
    pub(crate) fn of_command(
        queue: &Arc<Queue>,
        kind: cl_command_type,
        event: kiln_runtime::Event,
    ) -> Result<Arc<Self>> {
        object::create(|handle| {
            Ok(Self {
                handle,
                context: queue.context().clone(),
                queue: Some(queue.clone()),
                kind,
                event,
                user: Mutex::default(),
                status: OnceLock::new(),
            })
        })
    }

    /// The runtime's event.
    pub(crate) fn inner(&self) -> &kiln_runtime::Event {
        &self.event
    }

    /// The command's queue; `None` for user events.
    pub(crate) fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// `CL_EVENT_COMMAND_EXECUTION_STATUS`
    pub(crate) fn status(&self) -> cl_int {
        if self.kind == CL_COMMAND_USER {
            return self.status.get().copied().unwrap_or(CL_SUBMITTED);
        }
        match self.event.status() {
            Ok(Status::Queued) => CL_QUEUED,
            Ok(Status::Submitted) => CL_SUBMITTED,
            Ok(Status::Running) => CL_RUNNING,
            Ok(Status::Complete) => CL_COMPLETE,
            Err(failure) => error::code(&failure),
        }
    }

    fn info(&self, name: cl_event_info) -> Result<Answer> {
        Ok(match name {
            CL_EVENT_COMMAND_QUEUE => {
                let queue = self.queue.as_ref().map(|queue| queue.handle().raw());
                Answer::pointer(queue.unwrap_or(std::ptr::null_mut()))
            }
            CL_EVENT_CONTEXT => Answer::pointer(self.context.handle().raw()),
            CL_EVENT_COMMAND_TYPE => Answer::from_value(self.kind),
            CL_EVENT_COMMAND_EXECUTION_STATUS => {
                // Programs poll the status without a flush.
                if let Some(queue) = &self.queue {
                    queue.inner().flush()?;
                }
                let status = self.status();
                if status <= CL_COMPLETE {
                    self.release_completed();
                }
                Answer::from_value(status)
            }
            CL_EVENT_REFERENCE_COUNT => Answer::from_value(object::count(&self.handle)),
            _ => return fail(CL_INVALID_VALUE),
        })
    }

    /// Releases the objects of commands that have ended. Programs that wait for an event need not call the queue again.
    fn release_completed(&self) {
        if let Some(queue) = &self.queue {
            queue.release_completed();
        }
    }

    fn profile(&self, name: cl_profiling_info) -> Result<Answer> {
        let unavailable = CL_PROFILING_INFO_NOT_AVAILABLE;
        let is_profiled = self.queue.as_ref().is_some_and(|queue| queue.is_profiled());
        ensure(is_profiled && self.status() == CL_COMPLETE, unavailable)?;
        let times = self.event.times().ok_or(Code(unavailable))?;
        Ok(Answer::from_value(match name {
            CL_PROFILING_COMMAND_QUEUED => times.queued,
            CL_PROFILING_COMMAND_SUBMIT => times.submitted,
            CL_PROFILING_COMMAND_START => times.start,
            CL_PROFILING_COMMAND_END => self.event.own_end().map_or(times.end, |end| end.min(times.end)),
            // The kernels that a kernel has enqueued have ended, too.
            CL_PROFILING_COMMAND_COMPLETE => times.end,
            _ => return fail(CL_INVALID_VALUE),
        }))
    }

    /// Calls the application once the command has this status or has failed.
    fn notify(self: &Arc<Self>, notify: EventNotify, wanted: cl_int) {
        let event = self.clone();
        let awaited = match wanted {
            CL_SUBMITTED => Status::Submitted,
            CL_RUNNING => Status::Running,
            _ => Status::Complete,
        };
        self.event.on_status(awaited, move |result| {
            call_back(move || {
                let status = match result {
                    Ok(()) => wanted,
                    Err(failure) => event.status.get().copied().unwrap_or_else(|| error::code(&failure)),
                };
                notify.call(event.handle.raw(), status);
                event.release_completed();
            });
        });
    }
}

/// The events of a list, which belong to this context, or to one context if it is `None`.
pub(crate) fn list(
    count: cl_uint,
    first: *const cl_event,
    context: Option<&Arc<Context>>,
    code: cl_int,
) -> Result<Vec<Arc<Event>>> {
    let handles = ffi::list(first, count as usize, code)?;
    let find = |&handle: &cl_event| object::get::<Event>(handle);
    let events: Vec<_> = handles.iter().map(find).collect::<Result<_>>().map_err(|unknown| match code {
        CL_INVALID_EVENT_WAIT_LIST => Code(CL_INVALID_EVENT_WAIT_LIST),
        _ => unknown,
    })?;
    let context = context.or_else(|| events.first().map(|event| &event.context)).cloned();
    ensure(
        events.iter().all(|event| context.as_ref().is_some_and(|it| it.is(&event.context))),
        CL_INVALID_CONTEXT,
    )?;
    Ok(events)
}

pub(crate) extern "C" fn wait(count: cl_uint, first: *const cl_event) -> cl_int {
    ffi::call(|| {
        ensure(count > 0 && !first.is_null(), CL_INVALID_VALUE)?;
        let events = list(count, first, None, CL_INVALID_VALUE)?;
        for queue in events.iter().filter_map(|event| event.queue.as_ref()) {
            queue.inner().flush()?;
        }
        let ended = kiln_runtime::Event::wait_all(events.iter().map(|event| &event.event));
        events.iter().for_each(|event| event.release_completed());
        ended.map_err(|failure| {
            error::log(&failure.to_string());
            Code(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        })
    })
}

pub(crate) extern "C" fn get_info(
    event: cl_event,
    name: cl_event_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Event>(event)?.info(name))
}

pub(crate) extern "C" fn get_profiling_info(
    event: cl_event,
    name: cl_profiling_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || object::get::<Event>(event)?.profile(name))
}

pub(crate) extern "C" fn retain(event: cl_event) -> cl_int {
    ffi::call(|| object::retain::<Event>(event))
}

pub(crate) extern "C" fn release(event: cl_event) -> cl_int {
    ffi::call(|| object::release::<Event>(event).map(drop))
}

pub(crate) extern "C" fn create_user(context: cl_context, error: *mut cl_int) -> cl_event {
    ffi::create(error, || {
        let context = object::get::<Context>(context)?;
        let user = UserEvent::new();
        let event = object::create(|handle| {
            Ok(Event {
                handle,
                context,
                queue: None,
                kind: CL_COMMAND_USER,
                event: user.event().clone(),
                user: Mutex::new(Some(user)),
                status: OnceLock::new(),
            })
        })?;
        Ok(event.handle.raw())
    })
}

pub(crate) extern "C" fn set_user_status(event: cl_event, status: cl_int) -> cl_int {
    ffi::call(|| {
        let event = object::get::<Event>(event)?;
        ensure(event.kind == CL_COMMAND_USER, CL_INVALID_EVENT)?;
        ensure(status <= CL_COMPLETE, CL_INVALID_VALUE)?;
        let user = event.user.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The status can be set only once (OpenCL API 5.11).
        let Some(user) = user else { return fail(CL_INVALID_OPERATION) };
        let _ = event.status.set(status);
        if status == CL_COMPLETE {
            user.complete();
        } else {
            user.fail(format!("the program set its status to {status}"));
        }
        Ok(())
    })
}

pub(crate) extern "C" fn set_callback(
    event: cl_event,
    status: cl_int,
    notify: Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    ffi::call(|| {
        let event = object::get::<Event>(event)?;
        ensure(matches!(status, CL_COMPLETE | CL_RUNNING | CL_SUBMITTED), CL_INVALID_VALUE)?;
        event.notify(EventNotify::new(notify, data)?, status);
        Ok(())
    })
}
