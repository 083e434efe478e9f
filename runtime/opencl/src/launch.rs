//! Launches of kernels (OpenCL API 5.10).

use std::sync::Arc;

use kiln_runtime::{Error, NdRange};
use opencl_sys::*;

use crate::context::Context;
use crate::error::{Code, Result, ensure, fail};
use crate::ffi;
use crate::kernel::Kernel;
use crate::object;
use crate::queue::Queue;
use crate::work::Submission;

/// An index space, as the application gave it.
struct Range {
    dims: usize,
    global: [usize; 3],
    local: Option<[usize; 3]>,
    offset: [usize; 3],
}

impl Range {
    fn new(dims: cl_uint, offset: *const usize, global: *const usize, local: *const usize) -> Result<Self> {
        ensure((1..=3).contains(&dims), CL_INVALID_WORK_DIMENSION)?;
        let dims = dims as usize;
        let sizes = |first: *const usize, otherwise: usize| {
            let given = ffi::slice(first, if first.is_null() { 0 } else { dims });
            [0, 1, 2].map(|axis| given.get(axis).copied().unwrap_or(otherwise))
        };
        // Without a global size, no work-item runs (OpenCL API 5.10).
        let global = if global.is_null() { [0; 3] } else { sizes(global, 1) };
        let local = (!local.is_null()).then(|| sizes(local, 1));
        Ok(Self { dims, global, local, offset: sizes(offset, 0) })
    }

    fn is_empty(&self) -> bool {
        self.global[..self.dims].contains(&0)
    }

    /// The runtime's index space.
    fn inner(&self) -> NdRange {
        let (global, offset) = (self.global, self.offset);
        match self.dims {
            1 => {
                let range = NdRange::from([global[0]]).offset([offset[0]]);
                self.local.map_or(range, |local| range.local([local[0]]))
            }
            2 => {
                let range = NdRange::from([global[0], global[1]]).offset([offset[0], offset[1]]);
                self.local.map_or(range, |local| range.local([local[0], local[1]]))
            }
            _ => {
                let range = NdRange::from(global).offset(offset);
                self.local.map_or(range, |local| range.local(local))
            }
        }
    }

    /// Checks the sizes against the device and the kernel.
    fn check(&self, queue: &Queue, kernel: &Kernel) -> Result {
        let build = kernel.build(queue.index())?;
        let bare = kernel.bare(queue.index())?;
        let capabilities = queue.device().capabilities();
        for axis in 0..self.dims {
            let end = self.offset[axis].checked_add(self.global[axis]);
            ensure(end.is_some_and(|end| end as u64 <= 1 << 32), CL_INVALID_GLOBAL_OFFSET)?;
            ensure(self.global[axis] as u64 <= u64::from(u32::MAX), CL_INVALID_GLOBAL_WORK_SIZE)?;
        }
        let required = bare.interface().required_local_size.map(|size| size.map(|size| size as usize));
        if let (Some(required), Some(local)) = (required, self.local) {
            ensure(required == local, CL_INVALID_WORK_GROUP_SIZE)?;
        }
        let Some(local) = self.local.or(required) else { return Ok(()) };
        ensure(!local.contains(&0), CL_INVALID_WORK_GROUP_SIZE)?;
        for (size, max) in local.iter().zip(capabilities.max_work_item_sizes) {
            ensure(*size <= max as usize, CL_INVALID_WORK_ITEM_SIZE)?;
        }
        let items = local.iter().fold(1usize, |items, size| items.saturating_mul(*size));
        ensure(items <= capabilities.max_work_group_size as usize, CL_INVALID_WORK_GROUP_SIZE)?;
        let is_uniform = (0..3).all(|axis| self.global[axis].is_multiple_of(local[axis]));
        ensure(is_uniform || build.has_partial_groups, CL_INVALID_WORK_GROUP_SIZE)
    }
}

/// The message and the code of a launch that the runtime rejects.
fn rejected(error: Error) -> Code {
    match error {
        // The sizes were checked: what remains is too much local memory, or a module that needs one region.
        Error::Launch { .. } => {
            crate::error::log(&error.to_string());
            Code(CL_OUT_OF_RESOURCES)
        }
        other => other.into(),
    }
}

/// Reports the undefined behavior that the reference device found. Other failures are only error codes.
fn report(context: &Context, error: &Error) {
    if let Error::Strict(_) | Error::Trap { .. } | Error::Timeout { .. } = error {
        let message = error.to_string();
        eprintln!("kiln-opencl: {message}");
        context.report(&message);
    }
}

fn launch(mut command: Submission, kernel: &Arc<Kernel>, range: &Range) -> Result {
    let queue = command.queue().clone();
    ensure(kernel.context().is(queue.context()), CL_INVALID_CONTEXT)?;
    range.check(&queue, kernel)?;
    let ready = kernel.ready(queue.index())?;
    if range.is_empty() {
        let nothing = command.inner().nothing()?;
        return command.finish(nothing, CL_FALSE);
    }
    for (memory, _) in &ready.memories {
        command.uses(memory)?;
    }
    for allocation in ready.allocations {
        command.keep(allocation);
    }
    command.keep(kernel.clone());
    ready.memories.iter().try_for_each(|(memory, access)| command.migrate(memory, *access))?;
    let mut inner = ready.kernel;
    inner.set_default_queue(kernel.context().default_queue(queue.index()).and_then(|it| it.on_device()));
    let launched = ffi::launch(&command.inner(), &inner, range.inner()).map_err(rejected)?;
    if queue.device().description().is_strict {
        let context = queue.context().clone();
        match launched.status() {
            // The launch has already run. The program may end before a callback is called.
            Err(error) => report(&context, &error),
            Ok(_) => launched.on_end(move |result| {
                if let Err(error) = result {
                    report(&context, &error);
                }
            }),
        }
    }
    command.finish(launched, CL_FALSE)
}

pub(crate) extern "C" fn nd_range(
    queue: cl_command_queue,
    kernel: cl_kernel,
    dims: cl_uint,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_NDRANGE_KERNEL, event)?;
        let kernel = object::get::<Kernel>(kernel)?;
        let range = Range::new(dims, offset, global, local)?;
        command.wait_for(count, waits)?;
        launch(command, &kernel, &range)
    })
}

pub(crate) extern "C" fn task(
    queue: cl_command_queue,
    kernel: cl_kernel,
    count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    ffi::call(|| {
        let mut command = Submission::new(queue, CL_COMMAND_TASK, event)?;
        let kernel = object::get::<Kernel>(kernel)?;
        command.wait_for(count, waits)?;
        let range = Range { dims: 1, global: [1; 3], local: Some([1; 3]), offset: [0; 3] };
        launch(command, &kernel, &range)
    })
}

pub(crate) extern "C" fn suggested_local_size(
    queue: cl_command_queue,
    kernel: cl_kernel,
    dims: cl_uint,
    offset: *const usize,
    global: *const usize,
    suggested: *mut usize,
) -> cl_int {
    ffi::call(|| {
        let queue = object::get::<Queue>(queue)?;
        let kernel = object::get::<Kernel>(kernel)?;
        ensure(kernel.context().is(queue.context()), CL_INVALID_CONTEXT)?;
        let range = Range::new(dims, offset, global, std::ptr::null())?;
        ensure(!global.is_null() && !range.is_empty(), CL_INVALID_GLOBAL_WORK_SIZE)?;
        range.check(&queue, &kernel)?;
        if suggested.is_null() {
            return fail(CL_INVALID_VALUE);
        }
        let ready = kernel.ready(queue.index())?;
        let size = ready.kernel.local_size(range.inner()).map_err(rejected)?;
        for (axis, size) in size.into_iter().take(range.dims).enumerate() {
            ffi::store(suggested.wrapping_add(axis), size);
        }
        Ok(())
    })
}
