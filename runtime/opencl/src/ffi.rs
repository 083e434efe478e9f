//! The C interface: exported functions, raw pointers to references and slices, callbacks of the application.
//!
//! All pointers come from the application, which guarantees what the specification requires of each argument: lists
//! have the given number of elements, text ends with a zero, memory of transfers is valid until the command has ended.
//! Null pointers are handled here. A panic becomes an error code.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null, null_mut};

use kiln_runtime::{Buffer, Event, Image, ImageRegion, Queue, Rect};
use opencl_sys::*;

use crate::error::{Code, Result, ensure};
use crate::{object, platform, table};

/// Finds an extension function (cl_khr_icd). The loader reads this symbol.
// SAFETY: only other drivers have a symbol of this name, and the loader opens them locally.
#[unsafe(no_mangle)]
pub extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    guarded(null_mut(), || text(name).map_or(null_mut(), table::function))
}

/// Lists the platforms of this driver (cl_khr_icd). The loader reads this symbol.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn clIcdGetPlatformIDsKHR(
    count: cl_uint,
    platforms: *mut cl_platform_id,
    available: *mut cl_uint,
) -> cl_int {
    platform::get_ids(count, platforms, available)
}

/// Finds any function of the API (cl_khr_icd 2.0). The loader reads this symbol.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn clIcdGetFunctionAddressForPlatformKHR(
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    guarded(null_mut(), || match platform::find(platform) {
        Ok(_) => text(name).map_or(null_mut(), table::function),
        Err(_) => null_mut(),
    })
}

/// Sets the loader's value of the platform (cl_khr_icd 2.0). The loader reads this symbol.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn clIcdSetPlatformDispatchDataKHR(platform: cl_platform_id, data: *mut c_void) -> cl_int {
    call(|| {
        platform::find(platform)?;
        object::set_loader_data(data);
        Ok(())
    })
}

/// Runs a function and catches its panic.
fn guarded<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Runs a function that returns an error code.
pub(crate) fn call(body: impl FnOnce() -> Result) -> cl_int {
    guarded(CL_OUT_OF_HOST_MEMORY, || match body() {
        Ok(()) => CL_SUCCESS,
        Err(Code(code)) => code,
    })
}

/// Runs a function that returns a handle or another pointer, and stores its error code.
pub(crate) fn create(error: *mut cl_int, body: impl FnOnce() -> Result<*mut c_void>) -> *mut c_void {
    let (value, code) = guarded((null_mut(), CL_OUT_OF_HOST_MEMORY), || match body() {
        Ok(value) => (value, CL_SUCCESS),
        Err(Code(code)) => (null_mut(), code),
    });
    store(error, code);
    value
}

/// Stores a result, unless the application passed null.
pub(crate) fn store<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: the application passes a valid pointer or null.
        unsafe { pointer.write(value) };
    }
}

/// The element that a pointer points to; `None` for null.
pub(crate) fn load<T: Copy>(pointer: *const T) -> Option<T> {
    // SAFETY: the application passes a valid pointer or null. It need not be aligned.
    (!pointer.is_null()).then(|| unsafe { pointer.read_unaligned() })
}

/// A list, which is empty exactly if its pointer is null; otherwise fails with this code.
pub(crate) fn list<'a, T>(first: *const T, count: usize, code: cl_int) -> Result<&'a [T]> {
    ensure(first.is_null() == (count == 0), code)?;
    Ok(slice(first, count))
}

/// The elements that a pointer points to; none for null.
pub(crate) fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the application passes a list of this many elements.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// Three sizes, such as an origin or a region; fails with `CL_INVALID_VALUE` for null.
pub(crate) fn triple(first: *const usize) -> Result<[usize; 3]> {
    load(first.cast::<[usize; 3]>()).ok_or(Code(CL_INVALID_VALUE))
}

/// Stores up to `count` values of a list and the number of values. Fails with `CL_INVALID_VALUE` if the application
/// requests neither, or a list without entries.
pub(crate) fn store_list<T: Copy>(
    count: usize,
    first: *mut T,
    available: *mut cl_uint,
    values: &[T],
) -> Result {
    ensure(first.is_null() || count > 0, CL_INVALID_VALUE)?;
    ensure(!first.is_null() || !available.is_null(), CL_INVALID_VALUE)?;
    if !first.is_null() {
        let copied = values.len().min(count);
        // SAFETY: the application passes a list of `count` elements.
        unsafe { first.copy_from_nonoverlapping(values.as_ptr(), copied) };
    }
    store(available, values.len() as cl_uint);
    Ok(())
}

/// A text that ends with a zero; `None` for null and for text that is not UTF-8.
pub(crate) fn text<'a>(first: *const c_char) -> Option<&'a str> {
    if first.is_null() {
        return None;
    }
    // SAFETY: the application passes a text that ends with a zero.
    unsafe { CStr::from_ptr(first) }.to_str().ok()
}

/// The bytes of a text of this length, or up to its zero if the length is 0.
pub(crate) fn bytes<'a>(first: *const c_char, length: usize) -> &'a [u8] {
    match length {
        // SAFETY: the application passes a text that ends with a zero.
        0 if !first.is_null() => unsafe { CStr::from_ptr(first) }.to_bytes(),
        _ => slice(first.cast(), length),
    }
}

/// The pairs of a property list, which ends with a zero; `None` for null.
pub(crate) fn properties<T: Copy + Default + PartialEq>(first: *const T) -> Option<Vec<(T, T)>> {
    if first.is_null() {
        return None;
    }
    let mut pairs = Vec::new();
    let mut at = first;
    loop {
        // SAFETY: the application ends the list with a zero key.
        let key = unsafe { at.read() };
        if key == T::default() {
            return Some(pairs);
        }
        // SAFETY: every key has a value.
        pairs.push((key, unsafe { at.add(1).read() }));
        // SAFETY: the list continues until a zero key.
        at = unsafe { at.add(2) };
    }
}

/// Answers a query: copies the bytes if there is room, and stores their number.
pub(crate) fn answer(bytes: &[u8], size: usize, value: *mut c_void, size_ret: *mut usize) -> Result {
    if !value.is_null() {
        ensure(size >= bytes.len(), CL_INVALID_VALUE)?;
        Host::new(value).write(bytes);
    }
    store(size_ret, bytes.len());
    Ok(())
}

/// The buffer of an image description, which is a union with the deprecated `mem_object`.
pub(crate) fn image_buffer(desc: &cl_image_desc) -> cl_mem {
    // SAFETY: both members are handles.
    unsafe { desc.__bindgen_anon_1.buffer }
}

/// An image description without values.
pub(crate) fn empty_image_desc() -> cl_image_desc {
    // SAFETY: numbers and handles may be zero.
    unsafe { std::mem::zeroed() }
}

/// Memory of the application that a command reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Host(*mut u8);

// SAFETY: the application leaves the memory to the command until the command has ended.
unsafe impl Send for Host {}
// SAFETY: as above.
unsafe impl Sync for Host {}

impl Host {
    /// Memory at this address.
    pub(crate) fn new<T>(first: *const T) -> Self {
        Self(first.cast_mut().cast())
    }

    /// The address as a pointer.
    pub(crate) fn raw(self) -> *mut c_void {
        self.0.cast()
    }

    /// The address.
    pub(crate) fn address(self) -> usize {
        self.0.addr()
    }

    /// The memory that starts this many bytes later.
    pub(crate) fn at(self, offset: usize) -> Self {
        Self(self.0.wrapping_add(offset))
    }

    /// Copies bytes to the memory, which may overlap them.
    pub(crate) fn write(self, bytes: &[u8]) {
        // SAFETY: the application passes memory of at least this size.
        unsafe { self.0.copy_from(bytes.as_ptr(), bytes.len()) };
    }

    /// The bytes in the memory.
    pub(crate) fn bytes<'a>(self, size: usize) -> &'a [u8] {
        slice(self.0, size)
    }

    /// Copies to other memory, which may overlap this.
    pub(crate) fn copy_to(self, target: Self, size: usize) {
        // SAFETY: the application passes memory of at least this size at both addresses.
        unsafe { target.0.copy_from(self.0, size) };
    }
}

/// A function of the application with one handle, and its data.
#[derive(Clone, Copy)]
pub(crate) struct Notify {
    function: unsafe extern "C" fn(*mut c_void, *mut c_void),
    data: *mut c_void,
}

// SAFETY: the application promises that its callbacks are thread-safe (OpenCL API 5.11).
unsafe impl Send for Notify {}
// SAFETY: as above.
unsafe impl Sync for Notify {}

impl Notify {
    /// A callback, if the application passed one. Data without a function is an error.
    pub(crate) fn new(
        function: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
        data: *mut c_void,
    ) -> Result<Option<Self>> {
        ensure(function.is_some() || data.is_null(), CL_INVALID_VALUE)?;
        Ok(function.map(|function| Self { function, data }))
    }

    /// Calls the function. The caller must hold no lock.
    pub(crate) fn call(self, handle: *mut c_void) {
        // SAFETY: the application passed the function for this purpose.
        unsafe { (self.function)(handle, self.data) };
    }
}

/// A function of the application for a status of an event, and its data.
#[derive(Clone, Copy)]
pub(crate) struct EventNotify {
    function: unsafe extern "C" fn(cl_event, cl_int, *mut c_void),
    data: *mut c_void,
}

// SAFETY: as for `Notify`.
unsafe impl Send for EventNotify {}
// SAFETY: as above.
unsafe impl Sync for EventNotify {}

impl EventNotify {
    /// The callback; fails with `CL_INVALID_VALUE` without a function.
    pub(crate) fn new(
        function: Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>,
        data: *mut c_void,
    ) -> Result<Self> {
        function.map(|function| Self { function, data }).ok_or(Code(CL_INVALID_VALUE))
    }

    /// Calls the function. The caller must hold no lock.
    pub(crate) fn call(self, event: cl_event, status: cl_int) {
        // SAFETY: the application passed the function for this purpose.
        unsafe { (self.function)(event, status, self.data) };
    }
}

/// The signature of a context's error callback.
pub(crate) type ContextFunction = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);

/// A function of the application for errors in a context, and its data.
#[derive(Clone, Copy)]
pub(crate) struct ContextNotify {
    function: ContextFunction,
    data: *mut c_void,
}

// SAFETY: as for `Notify`.
unsafe impl Send for ContextNotify {}
// SAFETY: as above.
unsafe impl Sync for ContextNotify {}

impl ContextNotify {
    /// A callback, if the application passed one. Data without a function is an error.
    pub(crate) fn new(function: Option<ContextFunction>, data: *mut c_void) -> Result<Option<Self>> {
        ensure(function.is_some() || data.is_null(), CL_INVALID_VALUE)?;
        Ok(function.map(|function| Self { function, data }))
    }

    /// Reports an error. The caller must hold no lock.
    pub(crate) fn call(self, message: &str) {
        let Ok(message) = std::ffi::CString::new(message.replace('\0', " ")) else { return };
        // SAFETY: the application passed the function for this purpose.
        unsafe { (self.function)(message.as_ptr(), null(), 0, self.data) };
    }
}

/// The signature of a callback of `clEnqueueSVMFree`.
pub(crate) type FreeFunction = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

/// A function of the application that frees shared virtual memory, and its data.
#[derive(Clone, Copy)]
pub(crate) struct FreeNotify {
    function: FreeFunction,
    data: *mut c_void,
}

// SAFETY: as for `Notify`.
unsafe impl Send for FreeNotify {}

impl FreeNotify {
    /// A callback, if the application passed one.
    pub(crate) fn new(function: Option<FreeFunction>, data: *mut c_void) -> Option<Self> {
        function.map(|function| Self { function, data })
    }

    /// Calls the function. The caller must hold no lock.
    pub(crate) fn call(self, queue: cl_command_queue, pointers: &[Host]) {
        let mut raw: Vec<*mut c_void> = pointers.iter().map(|pointer| pointer.raw()).collect();
        // SAFETY: the application passed the function for this purpose.
        unsafe { (self.function)(queue, raw.len() as cl_uint, raw.as_mut_ptr(), self.data) };
    }
}

/// The function of a native kernel.
#[derive(Clone, Copy)]
pub(crate) struct Native(pub(crate) unsafe extern "C" fn(*mut c_void));

impl Native {
    /// Calls the function with a block of arguments. The caller must hold no lock.
    pub(crate) fn call(self, arguments: &mut [u64]) {
        let block = if arguments.is_empty() { null_mut() } else { arguments.as_mut_ptr().cast() };
        // SAFETY: the application passed the function for this purpose, with arguments of this size.
        unsafe { (self.0)(block) };
    }
}

/// Launches a kernel.
pub(crate) fn launch(
    queue: &kiln_runtime::Queue,
    kernel: &kiln_runtime::Kernel,
    range: kiln_runtime::NdRange,
) -> kiln_runtime::Result<kiln_runtime::Event> {
    // SAFETY: the application promises that its kernel stays within the memory that it passed.
    unsafe { queue.launch(kernel, range) }
}

pub(crate) extern "C" fn extension_for_platform(
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    clIcdGetFunctionAddressForPlatformKHR(platform, name)
}

/// Reads a buffer into memory of the application.
pub(crate) fn read(queue: &Queue, source: &Buffer, target: Host) -> kiln_runtime::Result<Event> {
    let first = NonNull::new(target.0).unwrap_or(NonNull::dangling());
    let target = NonNull::slice_from_raw_parts(first, source.len());
    // SAFETY: the application leaves the memory to the command.
    unsafe { queue.read_to(source, target) }
}

/// Writes memory of the application to a buffer.
pub(crate) fn write(queue: &Queue, target: &Buffer, source: Host) -> kiln_runtime::Result<Event> {
    let first = NonNull::new(source.0).unwrap_or(NonNull::dangling());
    let source = NonNull::slice_from_raw_parts(first, target.len());
    // SAFETY: the application leaves the memory to the command.
    unsafe { queue.write_from(target, source) }
}

/// Reads a rectangle of a buffer into one of the application's memory.
pub(crate) fn read_rect(
    queue: &Queue,
    (source, from): (&Buffer, Rect),
    (target, to): (Host, Rect),
    size: [u64; 3],
) -> kiln_runtime::Result<Event> {
    let target = NonNull::new(target.0).unwrap_or(NonNull::dangling());
    // SAFETY: the application leaves the memory to the command.
    unsafe { queue.read_rect_to(source, from, target, to, size) }
}

/// Writes a rectangle of the application's memory to one of a buffer.
pub(crate) fn write_rect(
    queue: &Queue,
    (target, to): (&Buffer, Rect),
    (source, from): (Host, Rect),
    size: [u64; 3],
) -> kiln_runtime::Result<Event> {
    let source = NonNull::new(source.0).unwrap_or(NonNull::dangling());
    // SAFETY: the application leaves the memory to the command.
    unsafe { queue.write_rect_from(target, to, source, from, size) }
}

/// Reads a region of an image into a rectangle of the application's memory.
pub(crate) fn read_image(
    queue: &Queue,
    (source, region): (&Image, ImageRegion),
    (target, to): (Host, Rect),
) -> kiln_runtime::Result<Event> {
    let target = NonNull::new(target.0).unwrap_or(NonNull::dangling());
    // SAFETY: the application leaves the memory to the command.
    unsafe { queue.read_image_to(source, region, target, to) }
}

/// Writes a rectangle of the application's memory to a region of an image.
pub(crate) fn write_image(
    queue: &Queue,
    (target, region): (&Image, ImageRegion),
    (source, from): (Host, Rect),
) -> kiln_runtime::Result<Event> {
    let source = NonNull::new(source.0).unwrap_or(NonNull::dangling());
    // SAFETY: the application leaves the memory to the command.
    unsafe { queue.write_image_from(target, region, source, from) }
}
