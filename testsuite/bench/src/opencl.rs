//! Another vendor's OpenCL, loaded at run time, as an implementation to compare with.
//!
//! Owns the calls that a measurement needs. Without an ICD loader, uses NVIDIA's library directly: its functions are
//! in the dispatch table at the start of every platform object (cl_khr_icd). Libraries stay loaded: the threads of a driver may run until
//! the process exits.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, null, null_mut};

use libloading::Library;

use crate::kernels::{Argument, Benchmark, Contents};
use crate::run::Prepared;

type Handle = *mut c_void;
type Dispatch = *const *const c_void;

/// A device of a platform, with a profiled queue.
pub(crate) struct OpenCl {
    dispatch: Dispatch,
    device: Handle,
    context: Handle,
    queue: Handle,
    name: String,
}

/// A program with its buffers, which are not released before the process exits.
struct Running<'a> {
    opencl: &'a OpenCl,
    zeroed: Vec<(Handle, usize)>,
    steps: Vec<(Handle, [usize; 2], [usize; 2])>,
    result: (Handle, usize),
}

/// Declares functions by their index in the dispatch table (cl_icd.h).
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $index:literal ($($argument:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case, reason = "the names of the API")]
        impl OpenClFunctions {
            $(fn $name(self) -> unsafe extern "C" fn($($argument),*) -> $result {
                // SAFETY: the table belongs to a platform, which lives as long as the process, and has this function
                // at this index.
                unsafe { std::mem::transmute(*self.0.add($index)) }
            })*
        }
    };
}

#[derive(Clone, Copy)]
struct OpenClFunctions(Dispatch);

type Size = *const usize;

functions! {
    clGetPlatformInfo = 1 (Handle, u32, usize, *mut c_void, *mut usize) -> c_int;
    clGetDeviceIDs = 2 (Handle, u64, u32, *mut Handle, *mut u32) -> c_int;
    clGetDeviceInfo = 3 (Handle, u32, usize, *mut c_void, *mut usize) -> c_int;
    clCreateContext = 4 (*const isize, u32, *const Handle, *const c_void, *mut c_void, *mut c_int) -> Handle;
    clCreateCommandQueue = 9 (Handle, Handle, u64, *mut c_int) -> Handle;
    clCreateBuffer = 14 (Handle, u64, usize, *mut c_void, *mut c_int) -> Handle;
    clCreateImage2D = 15 (Handle, u64, *const u32, usize, usize, usize, *mut c_void, *mut c_int) -> Handle;
    clReleaseMemObject = 17 (Handle) -> c_int;
    clCreateProgramWithSource = 26 (Handle, u32, *const *const c_char, Size, *mut c_int) -> Handle;
    clBuildProgram = 30 (Handle, u32, *const Handle, *const c_char, *const c_void, *mut c_void) -> c_int;
    clGetProgramBuildInfo = 33 (Handle, Handle, u32, usize, *mut c_void, *mut usize) -> c_int;
    clCreateKernel = 34 (Handle, *const c_char, *mut c_int) -> Handle;
    clSetKernelArg = 38 (Handle, u32, usize, *const c_void) -> c_int;
    clReleaseEvent = 44 (Handle) -> c_int;
    clGetEventProfilingInfo = 45 (Handle, u32, usize, *mut c_void, *mut usize) -> c_int;
    clFinish = 47 (Handle) -> c_int;
    clEnqueueReadBuffer = 48 (Handle, Handle, u32, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> c_int;
    clEnqueueWriteBuffer = 49 (Handle, Handle, u32, usize, usize, *const c_void, u32, *const Handle, *mut Handle) -> c_int;
    clEnqueueReadImage = 51 (Handle, Handle, u32, Size, Size, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> c_int;
    clEnqueueWriteImage = 52 (Handle, Handle, u32, Size, Size, usize, usize, *const c_void, u32, *const Handle, *mut Handle) -> c_int;
    clEnqueueNDRangeKernel = 59 (Handle, Handle, u32, Size, Size, Size, u32, *const Handle, *mut Handle) -> c_int;
}

const NAME: u32 = 0x0902;
const DEVICE_NAME: u32 = 0x102b;
const DRIVER_VERSION: u32 = 0x102d;
const DEVICE_TYPE_ALL: u64 = 0xffff_ffff;
const PROFILING: u64 = 2;
const READ_WRITE: u64 = 1;
const BUILD_LOG: u32 = 0x1183;
const COMMAND_START: u32 = 0x1282;
const COMMAND_END: u32 = 0x1283;

fn checked(what: &str, code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("{what} gave {code}")) }
}

fn checked_handle(what: &str, handle: Handle, code: c_int) -> Result<Handle, String> {
    checked(what, code).map(|()| handle)
}

type GetIds = unsafe extern "C" fn(u32, *mut Handle, *mut u32) -> c_int;

/// The platforms that a function lists.
fn list(get: GetIds) -> Result<Vec<Handle>, String> {
    let (mut ids, mut count) = ([null_mut(); 16], 0);
    // SAFETY: there is room for 16 platforms.
    checked("clGetPlatformIDs", unsafe { get(16, ids.as_mut_ptr(), &mut count) })?;
    Ok(ids[..count.min(16) as usize].to_vec())
}

/// The platforms.
fn platforms() -> Result<Vec<Handle>, String> {
    for name in ["libOpenCL.so.1", "libOpenCL.so"] {
        let Ok(library) = load(name) else { continue };
        // SAFETY: the function has this type.
        let get = unsafe { library.get::<GetIds>(b"clGetPlatformIDs\0") };
        let found = get.map_err(|e| e.to_string()).and_then(|get| list(*get));
        if let Ok(ids) = found
            && !ids.is_empty()
        {
            return Ok(ids);
        }
    }
    driver("libnvidia-opencl.so.1")
        .map_err(|e| format!("there is no OpenCL ({e}); use --platform none to measure Kiln alone"))
}

/// The platforms of a driver that is opened without the loader.
fn driver(path: &str) -> Result<Vec<Handle>, String> {
    type GetAddress = unsafe extern "C" fn(*const c_char) -> *const c_void;
    let library = load(path)?;
    // SAFETY: both functions have these types (cl_khr_icd).
    let get: GetIds = unsafe {
        let address =
            library.get::<GetAddress>(b"clGetExtensionFunctionAddress\0").map_err(|e| e.to_string())?;
        let get = address(c"clIcdGetPlatformIDsKHR".as_ptr());
        if get.is_null() {
            return Err("the library has no platforms".to_owned());
        }
        std::mem::transmute::<*const c_void, GetIds>(get)
    };
    list(get)
}

/// Loads a library until the process exits.
fn load(name: &str) -> Result<&'static Library, String> {
    // SAFETY: loading a driver or the ICD loader has no preconditions.
    let library = unsafe { Library::new(name) }.map_err(|e| e.to_string())?;
    Ok(Box::leak(Box::new(library)))
}

impl OpenCl {
    /// The implementation to compare with, if any: `--platform` is a part of a platform's name, or `none`.
    pub(crate) fn to_compare(platform: Option<&str>) -> Result<Option<Self>, String> {
        if platform == Some("none") {
            return Ok(None);
        }
        Self::new(platform.unwrap_or_default()).map(Some)
    }

    /// The first device of the first platform whose name contains this, ignoring case.
    pub(crate) fn new(wanted: &str) -> Result<Self, String> {
        let platforms = platforms()?;
        let mut names = Vec::new();
        for platform in platforms {
            // SAFETY: a platform begins with its dispatch table.
            let dispatch = unsafe { *platform.cast::<Dispatch>() };
            let get = OpenClFunctions(dispatch).clGetPlatformInfo();
            let name = info(|size, into, needed| unsafe { get(platform, NAME, size, into, needed) });
            if name.to_lowercase().contains(&wanted.to_lowercase()) {
                return Self::open(dispatch, platform);
            }
            names.push(name);
        }
        Err(format!("no OpenCL platform matches `{wanted}`; there are {}", names.join(", ")))
    }

    /// The first device of the driver in this library.
    pub(crate) fn of_driver(path: &str) -> Result<Self, String> {
        let platforms = driver(path)?;
        let platform = *platforms.first().ok_or_else(|| format!("{path} has no platform"))?;
        // SAFETY: a platform begins with its dispatch table.
        let dispatch = unsafe { *platform.cast::<Dispatch>() };
        Self::open(dispatch, platform)
    }

    fn open(dispatch: Dispatch, platform: Handle) -> Result<Self, String> {
        let cl = OpenClFunctions(dispatch);
        let (mut device, mut code) = (null_mut(), 0);
        // SAFETY: the platform is valid, there is room for one device, and all other objects are created from it.
        unsafe {
            let found = cl.clGetDeviceIDs()(platform, DEVICE_TYPE_ALL, 1, &mut device, null_mut());
            checked("clGetDeviceIDs", found)?;
            let context = cl.clCreateContext()(null(), 1, &device, null(), null_mut(), &mut code);
            let context = checked_handle("clCreateContext", context, code)?;
            let queue = cl.clCreateCommandQueue()(context, device, PROFILING, &mut code);
            let queue = checked_handle("clCreateCommandQueue", queue, code)?;
            let get = cl.clGetDeviceInfo();
            let of = |what| info(|size, into, needed| get(device, what, size, into, needed));
            let name = format!("{} ({})", of(DEVICE_NAME), of(DRIVER_VERSION));
            Ok(Self { dispatch, device, context, queue, name })
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn functions(&self) -> OpenClFunctions {
        OpenClFunctions(self.dispatch)
    }

    /// Builds a program.
    pub(crate) fn build(&self, source: &str, options: &str) -> Result<Handle, String> {
        let cl = self.functions();
        let options = CString::new(options).map_err(|e| e.to_string())?;
        let (text, length, mut code) = (source.as_ptr().cast::<c_char>(), source.len(), 0);
        // SAFETY: the text has this length; the context and the device are valid.
        unsafe {
            let program = cl.clCreateProgramWithSource()(self.context, 1, &text, &length, &mut code);
            let program = checked_handle("clCreateProgramWithSource", program, code)?;
            let built = cl.clBuildProgram()(program, 1, &self.device, options.as_ptr(), null(), null_mut());
            checked("clBuildProgram", built).map_err(|error| {
                let get = cl.clGetProgramBuildInfo();
                let of = |size, into, needed| get(program, self.device, BUILD_LOG, size, into, needed);
                format!("{error}: {}", info(of))
            })?;
            Ok(program)
        }
    }

    /// A kernel of a program whose only argument is a pointer, which is null.
    pub(crate) fn kernel(&self, program: Handle, name: &CStr) -> Result<Handle, String> {
        let (cl, mut code) = (self.functions(), 0);
        // SAFETY: the program is built. The argument is a pointer, for which a null value is allowed.
        unsafe {
            let kernel = cl.clCreateKernel()(program, name.as_ptr(), &mut code);
            let kernel = checked_handle("clCreateKernel", kernel, code)?;
            checked("clSetKernelArg", cl.clSetKernelArg()(kernel, 0, size_of::<Handle>(), null()))?;
            Ok(kernel)
        }
    }

    /// A queue that does not record times.
    pub(crate) fn plain_queue(&self) -> Result<Handle, String> {
        let mut code = 0;
        // SAFETY: context and device are valid.
        let queue =
            unsafe { self.functions().clCreateCommandQueue()(self.context, self.device, 0, &mut code) };
        checked_handle("clCreateCommandQueue", queue, code)
    }

    /// Launches one work-group, without an event.
    pub(crate) fn launch(&self, queue: Handle, kernel: Handle, items: usize) -> Result<(), String> {
        let launch = self.functions().clEnqueueNDRangeKernel();
        // SAFETY: both sizes have one dimension. The kernel accesses no memory.
        let code = unsafe { launch(queue, kernel, 1, null(), &items, &items, 0, null(), null_mut()) };
        checked("clEnqueueNDRangeKernel", code)
    }

    /// Waits for all commands of a queue.
    pub(crate) fn finish(&self, queue: Handle) -> Result<(), String> {
        // SAFETY: the queue is valid.
        checked("clFinish", unsafe { self.functions().clFinish()(queue) })
    }

    pub(crate) fn buffer(&self, contents: &Contents) -> Result<(Handle, usize), String> {
        let cl = self.functions();
        let size = match contents {
            Contents::Input(bytes) => bytes.len(),
            Contents::Zeros(bytes) => *bytes,
            Contents::Image { size, texels } => return self.image(*size, texels),
        };
        let mut code = 0;
        // SAFETY: the context is valid.
        let buffer = unsafe { cl.clCreateBuffer()(self.context, READ_WRITE, size, null_mut(), &mut code) };
        let buffer = checked_handle("clCreateBuffer", buffer, code)?;
        if let Contents::Input(bytes) = contents {
            self.write(self.queue, buffer, bytes)?;
        }
        Ok((buffer, size))
    }

    /// An RGBA image with 8 bits for each channel.
    fn image(&self, size: [usize; 2], texels: &[u8]) -> Result<(Handle, usize), String> {
        const READ_ONLY_COPY: u64 = 1 << 2 | 1 << 5;
        // CL_RGBA, CL_UNORM_INT8
        let format = [0x10b5u32, 0x10d2];
        let ([width, height], mut code) = (size, 0);
        let create = self.functions().clCreateImage2D();
        let texels_at = texels.as_ptr().cast_mut().cast();
        let (context, format) = (self.context, format.as_ptr());
        // SAFETY: the texels have this size, and the call copies them.
        let image = unsafe {
            create(context, READ_ONLY_COPY, format, width, height, 4 * width, texels_at, &mut code)
        };
        Ok((checked_handle("clCreateImage2D", image, code)?, texels.len()))
    }

    /// Writes a buffer, blocking.
    pub(crate) fn write(&self, queue: Handle, buffer: Handle, bytes: &[u8]) -> Result<(), String> {
        let (write, from) = (self.functions().clEnqueueWriteBuffer(), bytes.as_ptr().cast());
        // SAFETY: the buffer is at least as large, and the call is blocking.
        let code = unsafe { write(queue, buffer, 1, 0, bytes.len(), from, 0, null(), null_mut()) };
        checked("clEnqueueWriteBuffer", code)
    }

    /// Reads a buffer, blocking.
    pub(crate) fn read(&self, queue: Handle, buffer: Handle, bytes: &mut [u8]) -> Result<(), String> {
        let (read, into) = (self.functions().clEnqueueReadBuffer(), bytes.as_mut_ptr().cast());
        // SAFETY: there is room for all bytes, and the call is blocking.
        let code = unsafe { read(queue, buffer, 1, 0, bytes.len(), into, 0, null(), null_mut()) };
        checked("clEnqueueReadBuffer", code)
    }

    /// Writes the texels of an image with 4 bytes each, blocking.
    pub(crate) fn write_image(
        &self,
        queue: Handle,
        image: Handle,
        [width, height]: [usize; 2],
        texels: &[u8],
    ) -> Result<(), String> {
        assert!(texels.len() >= 4 * width * height, "there are enough texels");
        let (write, from) = (self.functions().clEnqueueWriteImage(), texels.as_ptr().cast());
        let (origin, region) = ([0; 3], [width, height, 1]);
        // SAFETY: the call is blocking, and reads as many bytes as the region has.
        let code = unsafe {
            write(queue, image, 1, origin.as_ptr(), region.as_ptr(), 0, 0, from, 0, null(), null_mut())
        };
        checked("clEnqueueWriteImage", code)
    }

    /// Reads the texels of an image with 4 bytes each, blocking.
    pub(crate) fn read_image(
        &self,
        queue: Handle,
        image: Handle,
        [width, height]: [usize; 2],
        texels: &mut [u8],
    ) -> Result<(), String> {
        assert!(texels.len() >= 4 * width * height, "there is room for the texels");
        let (read, into) = (self.functions().clEnqueueReadImage(), texels.as_mut_ptr().cast());
        let (origin, region) = ([0; 3], [width, height, 1]);
        // SAFETY: the call is blocking, and writes as many bytes as the region has.
        let code = unsafe {
            read(queue, image, 1, origin.as_ptr(), region.as_ptr(), 0, 0, into, 0, null(), null_mut())
        };
        checked("clEnqueueReadImage", code)
    }

    pub(crate) fn prepare(&self, benchmark: &Benchmark) -> Result<impl Prepared + use<'_>, String> {
        let cl = self.functions();
        let program = self.build(benchmark.source, benchmark.options)?;
        let buffers =
            benchmark.buffers.iter().map(|contents| self.buffer(contents)).collect::<Result<Vec<_>, _>>()?;
        let mut steps = Vec::new();
        for step in &benchmark.steps {
            let (name, mut code) = (CString::new(step.kernel).map_err(|e| e.to_string())?, 0);
            // SAFETY: the program is built.
            let kernel = unsafe { cl.clCreateKernel()(program, name.as_ptr(), &mut code) };
            let kernel = checked_handle("clCreateKernel", kernel, code)?;
            for (index, argument) in (0..).zip(&step.arguments) {
                let (size, value): (usize, *const c_void) = match argument {
                    Argument::Buffer(buffer) => (size_of::<Handle>(), (&raw const buffers[*buffer].0).cast()),
                    Argument::Uint(value) => (size_of::<u32>(), ptr::from_ref(value).cast()),
                    Argument::Local(bytes) => (*bytes, null()),
                };
                // SAFETY: the value has this size.
                let set = unsafe { cl.clSetKernelArg()(kernel, index, size, value) };
                checked(&format!("clSetKernelArg {index} of {}", step.kernel), set)?;
            }
            steps.push((kernel, step.global, step.local));
        }
        let zeroed = benchmark.buffers.iter().zip(&buffers);
        let zeroed = zeroed.filter(|(contents, _)| matches!(contents, Contents::Zeros(_)));
        let zeroed = zeroed.map(|(_, buffer)| *buffer).collect();
        Ok(Running { opencl: self, zeroed, steps, result: buffers[benchmark.result] })
    }
}

impl Prepared for Running<'_> {
    fn run(&mut self) -> Result<f64, String> {
        let cl = self.opencl.functions();
        let queue = self.opencl.queue;
        for (buffer, size) in &self.zeroed {
            self.opencl.write(self.opencl.queue, *buffer, &vec![0; *size])?;
        }
        let mut events = Vec::new();
        for (kernel, global, local) in &self.steps {
            let mut event = null_mut();
            let dims = if global[1] == 1 { 1 } else { 2 };
            let (global, local) = (global.as_ptr(), local.as_ptr());
            let launch = cl.clEnqueueNDRangeKernel();
            // SAFETY: there are two sizes each; the kernel stays within its buffers.
            let code = unsafe { launch(queue, *kernel, dims, null(), global, local, 0, null(), &mut event) };
            checked("clEnqueueNDRangeKernel", code)?;
            events.push(event);
        }
        self.opencl.finish(queue)?;
        let mut seconds = 0.0;
        for event in events {
            let time = |what| {
                let (mut time, get) = (0u64, cl.clGetEventProfilingInfo());
                // SAFETY: there is room for a 64-bit number.
                checked("clGetEventProfilingInfo", unsafe {
                    get(event, what, size_of::<u64>(), (&raw mut time).cast(), null_mut())
                })?;
                Ok::<_, String>(time)
            };
            seconds += (time(COMMAND_END)? - time(COMMAND_START)?) as f64 * 1e-9;
            // SAFETY: the event is not used any more.
            unsafe { cl.clReleaseEvent()(event) };
        }
        Ok(seconds)
    }

    fn result(&mut self) -> Result<Vec<u8>, String> {
        let (buffer, size) = self.result;
        let mut bytes = vec![0u8; size];
        self.opencl.read(self.opencl.queue, buffer, &mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let release = self.opencl.functions().clReleaseMemObject();
        let zeroed = self.zeroed.iter().map(|(buffer, _)| *buffer);
        for buffer in zeroed {
            // SAFETY: no command is running, and the buffer is not used after this.
            unsafe { release(buffer) };
        }
    }
}

/// A string that the API returns.
fn info(get: impl Fn(usize, *mut c_void, *mut usize) -> c_int) -> String {
    let mut size = 0;
    if get(0, null_mut(), &mut size) != 0 {
        return String::new();
    }
    let mut bytes = vec![0u8; size + 1];
    get(size, bytes.as_mut_ptr().cast(), null_mut());
    CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
