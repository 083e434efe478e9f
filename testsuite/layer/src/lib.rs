//! An OpenCL layer that times the kernels of unmodified programs, on any driver.
//!
//! The loader inserts a layer between a program and its driver if `OPENCL_LAYERS` contains the path of the library
//! (`cl_loader_layers`). This one enables profiling of queues and asks for an event of each `clEnqueueNDRangeKernel`, whose times
//! (OpenCL 5.14) it reads when the kernel has ended.
//!
//! `KILN_TIMES` names the file for the results, which is written again a few times a second, so that a program may be killed.
//! Without it, the results go to standard error when the program ends. `times` has the format.

#![allow(unsafe_code, reason = "the functions of OpenCL are C functions with pointers")]

mod times;

use std::{
    env,
    ffi::{CStr, c_void},
    fs, iter,
    path::{Path, PathBuf},
    ptr::{self, null_mut},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::Duration,
};

use opencl_sys::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_INVALID_VALUE, CL_KERNEL_FUNCTION_NAME,
    CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START, CL_QUEUE_ON_DEVICE, CL_QUEUE_PROFILING_ENABLE,
    CL_QUEUE_PROPERTIES, CL_SUCCESS, cl_bool, cl_command_queue, cl_command_queue_properties, cl_context,
    cl_device_id, cl_event,
    cl_icd::cl_icd_dispatch,
    cl_int, cl_kernel,
    cl_layer::{CL_LAYER_API_VERSION, CL_LAYER_API_VERSION_100, CL_LAYER_NAME, cl_layer_info},
    cl_mem, cl_queue_properties, cl_uint, cl_ulong,
};

use crate::times::Times;

/// How often the results are collected and written.
const INTERVAL: Duration = Duration::from_millis(50);
/// The name of the layer, with its terminator.
const NAME: &CStr = c"kiln timing layer";

/// The functions that the layer calls: those of the driver or of the next layer.
static DRIVER: OnceLock<Table> = OnceLock::new();
/// The functions that the program calls.
static LAYER: OnceLock<Table> = OnceLock::new();
/// The launches that have not been timed yet, and the times of the others.
static STATE: Mutex<State> = Mutex::new(State { launches: Vec::new(), times: Times::new() });

/// A table of functions.
struct Table(cl_icd_dispatch);

// SAFETY: nothing changes a table after its creation.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

struct State {
    launches: Vec<Launch>,
    times: Times,
}

/// A launch whose event the layer has retained.
struct Launch {
    event: cl_event,
    kernel: String,
}

// SAFETY: OpenCL's functions for events may be called by any thread (OpenCL A.2).
unsafe impl Send for Launch {}

/// `clGetLayerInfo` of `cl_loader_layers`: the version of the interface, and a name.
///
/// # Safety
/// `value` is null or points to `size` bytes, and `size_ret` is null or points to a size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetLayerInfo(
    info: cl_layer_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    let version = CL_LAYER_API_VERSION_100.to_ne_bytes();
    let bytes: &[u8] = match info {
        CL_LAYER_API_VERSION => &version,
        CL_LAYER_NAME => NAME.to_bytes_with_nul(),
        _ => return CL_INVALID_VALUE,
    };
    if !value.is_null() {
        if size < bytes.len() {
            return CL_INVALID_VALUE;
        }
        // SAFETY: the caller's buffer has the size that was just compared.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast(), bytes.len()) };
    }
    if !size_ret.is_null() {
        // SAFETY: the caller passes a valid pointer or null.
        unsafe { *size_ret = bytes.len() };
    }
    CL_SUCCESS
}

/// `clInitLayer` of `cl_loader_layers`: takes the functions of the driver and returns those of the layer.
///
/// # Safety
/// `driver` points to a table with `entries` entries, which stays valid. The last two arguments are valid pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayer(
    entries: cl_uint,
    driver: *const cl_icd_dispatch,
    entries_ret: *mut cl_uint,
    layer_ret: *mut *const cl_icd_dispatch,
) -> cl_int {
    if driver.is_null() || entries_ret.is_null() || layer_ret.is_null() {
        return CL_INVALID_VALUE;
    }
    let count = (entries as usize).min(size_of::<cl_icd_dispatch>() / size_of::<usize>());
    let copy = || {
        // SAFETY: null is a valid value of each entry, and `count` entries are in both tables.
        unsafe {
            let mut table: cl_icd_dispatch = std::mem::zeroed();
            ptr::copy_nonoverlapping(driver.cast::<usize>(), (&raw mut table).cast(), count);
            table
        }
    };
    DRIVER.get_or_init(|| Table(copy()));
    let layer = LAYER.get_or_init(|| {
        let mut table = copy();
        table.clCreateCommandQueue = Some(create_queue);
        table.clCreateCommandQueueWithProperties = Some(create_queue_with_properties);
        table.clEnqueueNDRangeKernel = Some(enqueue_kernel);
        table.clFinish = Some(finish);
        table.clWaitForEvents = Some(wait);
        table.clEnqueueReadBuffer = Some(read_buffer);
        table.clReleaseCommandQueue = Some(release_queue);
        start();
        Table(table)
    });
    // SAFETY: the caller passes valid pointers.
    unsafe {
        *entries_ret = count as cl_uint;
        *layer_ret = &raw const layer.0;
    }
    CL_SUCCESS
}

/// Starts to collect and to write the results.
fn start() {
    extern "C" fn at_exit() {
        write();
    }
    // SAFETY: the function calls neither OpenCL nor code that could have been unloaded.
    unsafe { libc::atexit(at_exit) };
    thread::spawn(|| {
        loop {
            thread::sleep(INTERVAL);
            collect();
            if file().is_some() {
                write();
            }
        }
    });
}

/// The file for the results. The environment is read once, because the program may change it.
fn file() -> Option<&'static Path> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || env::var_os("KILN_TIMES").filter(|it| !it.is_empty()).map(PathBuf::from);
    FILE.get_or_init(read).as_deref()
}

/// Writes the results if they have changed.
fn write() {
    // Locked until they are written, so that no other thread writes older ones afterwards.
    let mut state = state();
    let Some(text) = state.times.changed() else { return };
    match file() {
        // Readers never see a part of the file.
        Some(path) => {
            let new = path.with_extension("new");
            let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
            if let Err(error) = written {
                eprintln!("kiln timing layer: cannot write `{}`: {error}", path.display());
            }
        }
        None => eprint!("{text}"),
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function of the driver. The program had it in its own table, unless the driver lacks it.
macro_rules! driver {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let table = &DRIVER.get().expect("`clInitLayer` sets it").0;
        let function = table.$name.expect(concat!("the driver has `", stringify!($name), "`"));
        // SAFETY: the arguments are those of the program, or the layer's own valid ones.
        unsafe { function($($argument),*) }
    }};
}

/// Times the launches that have ended.
fn collect() {
    let mut state = state();
    let State { launches, times } = &mut *state;
    launches.retain(|launch| {
        let status = status(launch.event);
        if status > CL_COMPLETE {
            return true;
        }
        let [start, end] =
            [CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END].map(|which| time(launch.event, which));
        if let (Some(start), Some(end)) = (start, end) {
            times.add(&launch.kernel, end.saturating_sub(start));
        }
        driver!(clReleaseEvent(launch.event));
        false
    });
}

/// The execution status of a command; negative if it failed (OpenCL 5.11).
fn status(event: cl_event) -> cl_int {
    let mut status: cl_int = -1;
    let value = (&raw mut status).cast();
    driver!(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, size_of::<cl_int>(), value, null_mut()));
    status
}

/// A time of a command that has ended, in nanoseconds.
fn time(event: cl_event, which: cl_uint) -> Option<u64> {
    let mut time: cl_ulong = 0;
    let value = (&raw mut time).cast();
    let result = driver!(clGetEventProfilingInfo(event, which, size_of::<cl_ulong>(), value, null_mut()));
    (result == CL_SUCCESS).then_some(time)
}

/// The name of a kernel.
fn name(kernel: cl_kernel) -> String {
    let mut size = 0;
    driver!(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, null_mut(), &raw mut size));
    let mut bytes = vec![0u8; size];
    let value = bytes.as_mut_ptr().cast();
    driver!(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, value, null_mut()));
    CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned()
}

unsafe extern "C" fn create_queue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    error: *mut cl_int,
) -> cl_command_queue {
    driver!(clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error))
}

unsafe extern "C" fn create_queue_with_properties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    error: *mut cl_int,
) -> cl_command_queue {
    let mut list = vec![];
    if !properties.is_null() {
        let mut next = properties;
        // SAFETY: the list consists of pairs, and ends with a zero (OpenCL 5.1).
        while let property @ 1.. = unsafe { *next } {
            // SAFETY: as above.
            list.push((property, unsafe { *next.add(1) }));
            // SAFETY: as above.
            next = unsafe { next.add(2) };
        }
    }
    match list.iter_mut().find(|(property, _)| *property == CL_QUEUE_PROPERTIES.into()) {
        // Kernels on the device have no events of the host.
        Some((_, value)) if *value & CL_QUEUE_ON_DEVICE != 0 => {}
        Some((_, value)) => *value |= CL_QUEUE_PROFILING_ENABLE,
        None => list.push((CL_QUEUE_PROPERTIES.into(), CL_QUEUE_PROFILING_ENABLE)),
    }
    let list: Vec<cl_queue_properties> =
        list.into_iter().flat_map(|(property, value)| [property, value]).chain(iter::once(0)).collect();
    driver!(clCreateCommandQueueWithProperties(context, device, list.as_ptr(), error))
}

unsafe extern "C" fn enqueue_kernel(
    queue: cl_command_queue,
    kernel: cl_kernel,
    dimensions: cl_uint,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    wait_count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let mut own = null_mut();
    let target = if event.is_null() { &raw mut own } else { event };
    let result = driver!(clEnqueueNDRangeKernel(
        queue, kernel, dimensions, offset, global, local, wait_count, waits, target
    ));
    if result == CL_SUCCESS {
        // SAFETY: the driver has written the event.
        let launched = unsafe { *target };
        if !event.is_null() {
            driver!(clRetainEvent(launched));
        }
        state().launches.push(Launch { event: launched, kernel: name(kernel) });
    }
    result
}

unsafe extern "C" fn finish(queue: cl_command_queue) -> cl_int {
    let result = driver!(clFinish(queue));
    collect();
    result
}

unsafe extern "C" fn wait(count: cl_uint, events: *const cl_event) -> cl_int {
    let result = driver!(clWaitForEvents(count, events));
    collect();
    result
}

unsafe extern "C" fn read_buffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    is_blocking: cl_bool,
    offset: usize,
    size: usize,
    to: *mut c_void,
    wait_count: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let result =
        driver!(clEnqueueReadBuffer(queue, buffer, is_blocking, offset, size, to, wait_count, waits, event));
    collect();
    result
}

unsafe extern "C" fn release_queue(queue: cl_command_queue) -> cl_int {
    // Programs that wait in other ways, such as by blocking maps, release their queues afterwards.
    collect();
    driver!(clReleaseCommandQueue(queue))
}
