//! Random sequences of calls with right and wrong handles, sizes and names: each returns a code of the API, none
//! panics, and every object is freed when it is released.
//!
//! A panic becomes `CL_OUT_OF_HOST_MEMORY` (`ffi::call`), which no function returns for another reason here.

use std::collections::BTreeMap;
use std::env;
use std::ffi::c_void;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use fastrand::Rng;
use opencl_sys::*;

use crate::{
    buffer, context, copy, device, device_info, enqueue, event, image, image_commands, kernel, kernel_info,
    launch, map, memory, object, platform, program, queue, sampler, svm, transfer,
};

/// The calls of an ordinary run, and of `cargo xtask test --nightly`.
const CALLS: [usize; 2] = [8_000, 1_000_000];

/// The kernels stay inside 64 bytes of each object, and have no races.
const SOURCE: &std::ffi::CStr = c"
kernel void mark(global int *p, int v) { if (p) atomic_xchg(p + (get_global_id(0) & 15), v); }
kernel void share(local int *l, global int *p)
{
    atomic_xchg(l + (get_local_id(0) & 15), 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (p) atomic_xchg(p, 2);
}
";

/// A kind of object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Context,
    Queue,
    Memory,
    Program,
    Kernel,
    Event,
    Sampler,
}

use Kind::{Context, Event, Kernel, Memory, Program, Queue, Sampler};

/// The objects of a sequence, and the source of its random numbers.
struct Sequence {
    random: Rng,
    device: cl_device_id,
    /// The references that the sequence holds.
    held: BTreeMap<Kind, Vec<*mut c_void>>,
    /// User events without a status: nothing may wait for them.
    open: Vec<cl_event>,
    mapped: Vec<(cl_mem, *mut c_void)>,
    shared: Vec<(cl_context, *mut c_void)>,
    /// All handles, also released ones.
    known: Vec<*mut c_void>,
    /// Memory for transfers, which is never freed.
    host: *mut c_void,
    error: cl_int,
}

/// A call, and what it returned.
type Call = fn(&mut Sequence) -> cl_int;

impl Sequence {
    fn new(device: cl_device_id, seed: u64) -> Self {
        let host: &'static mut [u64] = Box::leak(vec![0; 1 << 17].into_boxed_slice());
        Self {
            random: Rng::with_seed(seed),
            device,
            held: BTreeMap::new(),
            open: Vec::new(),
            mapped: Vec::new(),
            shared: Vec::new(),
            known: vec![device],
            host: host.as_mut_ptr().cast(),
            error: CL_SUCCESS,
        }
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.random.usize(..choices.len())]
    }

    /// A valid value or, rarely, an invalid one.
    fn mostly<T: Copy>(&mut self, right: &[T], wrong: &[T]) -> T {
        if self.random.usize(..8) == 0 { self.pick(wrong) } else { self.pick(right) }
    }

    fn wrong_handle(&mut self) -> *mut c_void {
        let stray = std::ptr::without_provenance_mut(self.random.usize(..1 << 20));
        let index = self.random.usize(..self.known.len());
        let known = self.known[index];
        self.pick(&[null_mut(), stray, known, known])
    }

    /// A handle of a kind, or a wrong one.
    fn get(&mut self, kind: Kind) -> *mut c_void {
        let count = self.held.get(&kind).map_or(0, Vec::len);
        if count == 0 || self.random.usize(..12) == 0 {
            return self.wrong_handle();
        }
        let index = self.random.usize(..count);
        self.held[&kind][index]
    }

    fn device(&mut self) -> cl_device_id {
        if self.random.usize(..12) == 0 { self.wrong_handle() } else { self.device }
    }

    /// Keeps a new object and returns the code of its creation.
    fn keep(&mut self, kind: Kind, raw: *mut c_void) -> cl_int {
        assert_eq!(raw.is_null(), self.error != CL_SUCCESS, "{kind:?}: {}", self.error);
        if !raw.is_null() {
            self.held.entry(kind).or_default().push(raw);
            self.known.push(raw);
        }
        self.error
    }

    /// Passes storage for an event to a command, and keeps the event.
    fn command(
        &mut self,
        enqueue: impl FnOnce(&mut Self, cl_uint, *const cl_event, *mut cl_event) -> cl_int,
    ) -> cl_int {
        let waits = [self.get(Event), self.get(Event)];
        let count = self.pick(&[0, 0, 0, 1, 2]);
        let list = if count == 0 { null() } else { waits.as_ptr() };
        let mut event = null_mut();
        let wants = self.random.usize(..2) == 0;
        let code = enqueue(self, count, list, if wants { &raw mut event } else { null_mut() });
        assert!(event.is_null() || wants && code == CL_SUCCESS, "an event of a command that failed");
        if !event.is_null() {
            self.error = code;
            self.keep(Event, event);
        }
        code
    }

    /// Completes the user events, so that nothing waits forever.
    fn complete_user_events(&mut self) {
        for event in std::mem::take(&mut self.open) {
            let status = self.mostly(&[CL_COMPLETE], &[-1]);
            event::set_user_status(event, status);
            event::release(event);
        }
    }

    /// Whether a command blocks; if so, it will end.
    fn blocking(&mut self) -> cl_bool {
        let blocking = self.pick(&[CL_FALSE, CL_TRUE]);
        if blocking == CL_TRUE {
            self.complete_user_events();
        }
        blocking
    }

    fn host_or_null(&mut self) -> *mut c_void {
        self.mostly(&[self.host], &[null_mut()])
    }

    fn range(&mut self) -> (usize, usize) {
        (self.mostly(&[0, 64, 128], &[1, 1 << 40, usize::MAX]), self.mostly(&[4, 64, 4000], &[0, usize::MAX]))
    }

    fn triple(&mut self, right: &[usize], wrong: &[usize]) -> [usize; 3] {
        [self.mostly(right, wrong), self.mostly(right, wrong), self.mostly(right, wrong)]
    }

    fn query(&mut self, first: u32) -> (u32, usize, *mut c_void) {
        let name = first + self.random.usize(..32) as u32;
        (name, self.pick(&[0, 1, 4, 8, 4096]), self.pick(&[null_mut(), self.host]))
    }
}

/// The calls that create objects.
const CREATE: &[(&str, Call)] = &[
    ("clCreateContext", |s| {
        let (device, count) = (s.device(), s.mostly(&[1], &[0]));
        let raw = context::create(null(), count, &raw const device, None, null_mut(), &raw mut s.error);
        s.keep(Context, raw)
    }),
    ("clCreateCommandQueue", |s| {
        let (context, device, bits) = (s.get(Context), s.device(), s.mostly(&[0, 1, 2, 3], &[4, 1 << 40]));
        let raw = queue::create(context, device, bits, &raw mut s.error);
        s.keep(Queue, raw)
    }),
    ("clCreateBuffer", |s| {
        let flags = s.mostly(&[0, 1, 2, 4, 8 | 1, 32 | 4, 16], &[3, 6, 24, 48, 1 << 30]);
        let size = s.mostly(&[64, 4096, 65536], &[0, usize::MAX, 1 << 60]);
        let host = if flags & (8 | 32) == 0 { null_mut() } else { s.host };
        let (context, host) = (s.get(Context), s.mostly(&[host], &[null_mut(), s.host]));
        let raw = buffer::create(context, flags, size, host, &raw mut s.error);
        s.keep(Memory, raw)
    }),
    ("clCreateSubBuffer", |s| {
        let region = s.mostly(&[[0, 64], [128, 64], [128, 2048]], &[[1, 64], [0, 0], [usize::MAX, 64]]);
        let kind = s.mostly(&[CL_BUFFER_CREATE_TYPE_REGION], &[0]);
        let (buffer, flags) = (s.get(Memory), s.mostly(&[0, 1], &[2, 4, 8]));
        let raw = buffer::create_part(buffer, flags, kind, region.as_ptr().cast(), &raw mut s.error);
        s.keep(Memory, raw)
    }),
    ("clCreateImage", |s| {
        let format = cl_image_format {
            image_channel_order: s.mostly(&[CL_RGBA, CL_R, CL_DEPTH], &[0, CL_A]),
            image_channel_data_type: s.mostly(&[CL_UNSIGNED_INT8, CL_FLOAT], &[0, CL_UNORM_SHORT_565]),
        };
        let mut desc = crate::ffi::empty_image_desc();
        desc.image_type = s.pick(&[CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE1D, 0]);
        let [x, y, z] = s.triple(&[1, 4, 16], &[0, 1 << 40]);
        (desc.image_width, desc.image_height, desc.image_depth) = (x, y, z);
        desc.num_mip_levels = s.mostly(&[0, 1], &[2, 17]);
        if s.random.usize(..3) == 0 {
            // An image of a buffer or of another image.
            (desc.image_type, desc.__bindgen_anon_1.buffer) = (CL_MEM_OBJECT_IMAGE2D, s.get(Memory));
        }
        let context = s.get(Context);
        let (format, desc) = (&raw const format, &raw const desc);
        let raw = image::create(context, CL_MEM_READ_WRITE, format, desc, null_mut(), &raw mut s.error);
        s.keep(Memory, raw)
    }),
    ("clCreateSampler", |s| {
        let (address, filter) = (s.mostly(&[0x1131, 0x1134], &[0]), s.mostly(&[0x1140, 0x1141], &[7]));
        let context = s.get(Context);
        let raw = sampler::create(context, s.pick(&[0, 1, 2]), address, filter, &raw mut s.error);
        s.keep(Sampler, raw)
    }),
    ("clCreateProgramWithSource", |s| {
        let mut text = s.mostly(&[SOURCE], &[c"", c"kernel void k(", c"#include <none>\n"]).as_ptr();
        let (context, count) = (s.get(Context), s.mostly(&[1], &[0]));
        let raw = program::create_with_source(context, count, &raw mut text, null(), &raw mut s.error);
        s.keep(Program, raw)
    }),
    ("clCreateProgramWithBinary", |s| {
        let (mut bytes, length) = (s.host.cast::<u8>().cast_const(), s.pick(&[0usize, 4, 100]));
        let (context, device) = (s.get(Context), s.device());
        let list = (&raw const device, &raw const length, &raw mut bytes);
        let error = &raw mut s.error;
        let raw = program::create_with_binary(context, 1, list.0, list.1, list.2, null_mut(), error);
        s.keep(Program, raw)
    }),
    ("clCreateKernel", |s| {
        let (program, name) = (s.get(Program), s.mostly(&[c"mark", c"share"], &[c"", c"none"]));
        let raw = kernel::create(program, name.as_ptr(), &raw mut s.error);
        s.keep(Kernel, raw)
    }),
    ("clCloneKernel", |s| {
        let kernel = s.get(Kernel);
        let raw = kernel::clone_kernel(kernel, &raw mut s.error);
        s.keep(Kernel, raw)
    }),
    ("clCreateUserEvent", |s| {
        let context = s.get(Context);
        let raw = event::create_user(context, &raw mut s.error);
        if s.keep(Event, raw) == CL_SUCCESS {
            s.open.push(raw);
            // Another reference, so that the status can still be set.
            event::retain(raw);
        }
        s.error
    }),
];

/// The calls that enqueue commands.
const ENQUEUE: &[(&str, Call)] = &[
    ("clEnqueueReadBuffer", |s| {
        let (queue, memory, (offset, size)) = (s.get(Queue), s.get(Memory), s.range());
        let (blocking, host) = (s.blocking(), s.host_or_null());
        s.command(|_, n, waits, event| {
            transfer::read(queue, memory, blocking, offset, size, host, n, waits, event)
        })
    }),
    ("clEnqueueWriteBuffer", |s| {
        let (queue, memory, (offset, size)) = (s.get(Queue), s.get(Memory), s.range());
        let (blocking, host) = (s.blocking(), s.host_or_null());
        s.command(|_, n, waits, event| {
            transfer::write(queue, memory, blocking, offset, size, host, n, waits, event)
        })
    }),
    ("clEnqueueCopyBuffer", |s| {
        let (queue, source, target) = (s.get(Queue), s.get(Memory), s.get(Memory));
        let ((from, size), (to, _)) = (s.range(), s.range());
        s.command(|_, n, waits, event| transfer::copy(queue, source, target, from, to, size, n, waits, event))
    }),
    ("clEnqueueFillBuffer", |s| {
        let (queue, memory, (offset, size)) = (s.get(Queue), s.get(Memory), s.range());
        let (host, pattern) = (s.host_or_null(), s.mostly(&[1, 4, 16], &[0, 3, 256]));
        s.command(|_, n, waits, event| {
            transfer::fill(queue, memory, host, pattern, offset, size, n, waits, event)
        })
    }),
    ("clEnqueueReadBufferRect", |s| {
        let (queue, memory, host) = (s.get(Queue), s.get(Memory), s.host_or_null());
        let region = s.triple(&[1, 4], &[0, usize::MAX]);
        let (from, to) = (s.triple(&[0, 1], &[usize::MAX]), [0, 1, 0]);
        let (row, slice, blocking) = (s.mostly(&[0, 8], &[3]), s.mostly(&[0, 64], &[7]), s.blocking());
        s.command(|_, n, waits, event| {
            let [from, to, region] = [&from, &to, &region].map(|it| it.as_ptr());
            copy::read(queue, memory, blocking, from, to, region, row, slice, 0, 0, host, n, waits, event)
        })
    }),
    ("clEnqueueReadImage", |s| {
        let (queue, memory, host) = (s.get(Queue), s.get(Memory), s.host_or_null());
        let (origin, region) = (s.triple(&[0], &[1, usize::MAX]), s.triple(&[1], &[0, 4, usize::MAX]));
        let blocking = s.blocking();
        s.command(|_, n, waits, event| {
            let (origin, region) = (origin.as_ptr(), region.as_ptr());
            image_commands::read(queue, memory, blocking, origin, region, 0, 0, host, n, waits, event)
        })
    }),
    ("clEnqueueMapBuffer", |s| {
        let (queue, memory, (offset, size)) = (s.get(Queue), s.get(Memory), s.range());
        let (flags, blocking) = (s.mostly(&[1, 2, 3, 4], &[0, 8, 7]), s.blocking());
        s.command(|s, n, waits, event| {
            let error = &raw mut s.error;
            let at = map::map_buffer(queue, memory, blocking, flags, offset, size, n, waits, event, error);
            assert_eq!(at.is_null(), s.error != CL_SUCCESS);
            if !at.is_null() {
                s.mapped.push((memory, at));
            }
            s.error
        })
    }),
    ("clEnqueueUnmapMemObject", |s| {
        let (queue, stray) = (s.get(Queue), (s.get(Memory), s.host));
        let mapped = s.mapped.pop().unwrap_or(stray);
        let (memory, at) = s.mostly(&[mapped], &[stray]);
        s.command(|_, n, waits, event| map::unmap(queue, memory, at, n, waits, event))
    }),
    ("clEnqueueNDRangeKernel", |s| {
        let (queue, kernel, dims) = (s.get(Queue), s.get(Kernel), s.mostly(&[1, 2, 3], &[0, 4]));
        let global = s.triple(&[1, 4, 16], &[0, 5, usize::MAX]);
        let local = s.triple(&[1, 2, 4], &[0, 3, 1 << 20]);
        let local = if s.random.usize(..2) == 0 { null() } else { local.as_ptr() };
        if s.random.usize(..2) == 0 {
            // Two of these are for the other kernel, and fail.
            let none = null::<c_void>();
            let (buffer, size) = ((&raw const none).cast(), size_of::<cl_mem>());
            for (index, size, value) in
                [(0, size, buffer), (0, 64, null()), (1, 4, s.host), (1, size, buffer)]
            {
                kernel::set_arg(kernel, index, size, value);
            }
        }
        s.command(|_, n, waits, event| {
            launch::nd_range(queue, kernel, dims, null(), global.as_ptr(), local, n, waits, event)
        })
    }),
    ("clEnqueueMarkerWithWaitList", |s| {
        let queue = s.get(Queue);
        s.command(|_, n, waits, event| enqueue::marker_with_waits(queue, n, waits, event))
    }),
    ("clEnqueueBarrierWithWaitList", |s| {
        let queue = s.get(Queue);
        s.command(|_, n, waits, event| enqueue::barrier_with_waits(queue, n, waits, event))
    }),
    ("clEnqueueMigrateMemObjects", |s| {
        let (queue, memory) = (s.get(Queue), s.get(Memory));
        let (flags, count) = (s.mostly(&[0, 1, 2], &[4]), s.mostly(&[1], &[0]));
        s.command(|_, n, waits, event| {
            transfer::migrate(queue, count, &raw const memory, flags, n, waits, event)
        })
    }),
];

/// The other calls.
const OTHER: &[(&str, Call)] = &[
    ("clBuildProgram", |s| {
        let (program, device) = (s.get(Program), s.device());
        let options = s.mostly(&[c"", c"-cl-std=CL3.0"], &[c"-none", c"-D"]);
        let (count, list) = s.pick(&[(0, null()), (1, &raw const device), (0, &raw const device)]);
        program::build(program, count, list, options.as_ptr(), None, null_mut())
    }),
    ("clSetKernelArg", |s| {
        let (kernel, memory) = (s.get(Kernel), s.get(Memory));
        match s.random.usize(..4) {
            0 => kernel::set_arg(kernel, s.mostly(&[0], &[9]), s.mostly(&[64], &[0, 1 << 40]), null()),
            1 => kernel::set_arg(kernel, s.mostly(&[1], &[9]), s.mostly(&[4], &[0, 5]), s.host),
            index => {
                let size = s.mostly(&[size_of::<cl_mem>()], &[0, 4]);
                kernel::set_arg(kernel, index as cl_uint - 2, size, (&raw const memory).cast())
            }
        }
    }),
    ("clSetUserEventStatus", |s| {
        let event = s.get(Event);
        let code = event::set_user_status(event, s.mostly(&[CL_COMPLETE, -5], &[1, 3]));
        if code == CL_SUCCESS {
            s.open.retain(|known| *known != event || event::release(event) != CL_SUCCESS);
        }
        code
    }),
    ("clWaitForEvents", |s| {
        s.complete_user_events();
        let (event, count) = (s.get(Event), s.mostly(&[1], &[0]));
        event::wait(count, &raw const event)
    }),
    ("clFinish", |s| {
        s.complete_user_events();
        queue::finish(s.get(Queue))
    }),
    ("clFlush", |s| queue::flush(s.get(Queue))),
    ("clSVMAlloc", |s| {
        let (context, size) = (s.get(Context), s.mostly(&[64, 4096], &[0, usize::MAX]));
        let at = svm::allocate(context, s.mostly(&[1, 3], &[1 << 40]), size, s.mostly(&[0, 16], &[3]));
        if at.is_null() {
            return CL_INVALID_VALUE;
        }
        s.shared.push((context, at));
        CL_SUCCESS
    }),
    ("clSVMFree", |s| {
        // Nothing uses the memory any more.
        let stray = (s.wrong_handle(), null_mut());
        let (context, at) = s.shared.pop().unwrap_or(stray);
        svm::free(context, at);
        CL_SUCCESS
    }),
    ("clGetDeviceInfo", |s| {
        let (device, (name, size, value)) = (s.device(), s.query(0x1000));
        device_info::get_info(device, name + s.pick(&[0, 32, 64, 96]), size, value, null_mut())
    }),
    ("clGetContextInfo", |s| {
        let (context, (name, size, value)) = (s.get(Context), s.query(CL_CONTEXT_REFERENCE_COUNT));
        context::get_info(context, name, size, value, null_mut())
    }),
    ("clGetMemObjectInfo", |s| {
        let (memory, (name, size, value)) = (s.get(Memory), s.query(CL_MEM_TYPE));
        memory::get_info(memory, name, size, value, null_mut())
    }),
    ("clGetImageInfo", |s| {
        let (memory, (name, size, value)) = (s.get(Memory), s.query(CL_IMAGE_FORMAT));
        image::get_info(memory, name, size, value, null_mut())
    }),
    ("clGetKernelArgInfo", |s| {
        let (kernel, (name, size, value)) = (s.get(Kernel), s.query(CL_KERNEL_ARG_ADDRESS_QUALIFIER));
        kernel_info::get_arg_info(kernel, s.mostly(&[0, 1], &[7]), name, size, value, null_mut())
    }),
    ("clGetKernelWorkGroupInfo", |s| {
        let (kernel, (name, size, value)) = (s.get(Kernel), s.query(CL_KERNEL_WORK_GROUP_SIZE));
        kernel_info::get_work_group_info(kernel, s.device(), name, size, value, null_mut())
    }),
    ("clGetEventInfo", |s| {
        let (event, (name, size, value)) = (s.get(Event), s.query(CL_EVENT_COMMAND_QUEUE));
        event::get_info(event, name, size, value, null_mut())
    }),
    ("clGetEventProfilingInfo", |s| {
        let (event, (name, size, value)) = (s.get(Event), s.query(CL_PROFILING_COMMAND_QUEUED));
        event::get_profiling_info(event, name, size, value, null_mut())
    }),
];

/// Releases a reference.
fn release(kind: Kind, raw: *mut c_void) -> cl_int {
    match kind {
        Context => context::release(raw),
        Queue => queue::release(raw),
        Memory => memory::release(raw),
        Program => program::release(raw),
        Kernel => kernel::release(raw),
        Event => event::release(raw),
        Sampler => sampler::release(raw),
    }
}

/// The maximum number of live objects of each kind. With many contexts, few objects would share one.
const MAX_LIVE: [(Kind, usize); 7] =
    [(Context, 2), (Queue, 4), (Memory, 12), (Program, 3), (Kernel, 6), (Event, 8), (Sampler, 2)];

/// Drops objects of which there are many, and tries to release a wrong handle.
fn tidy(s: &mut Sequence) {
    for (kind, most) in MAX_LIVE {
        while s.held.get(&kind).is_some_and(|held| held.len() > most) {
            // Keeps the oldest, which has the most objects.
            let index = 1 + s.random.usize(..most);
            let raw = s.held.get_mut(&kind).map(|held| held.swap_remove(index)).expect("there are more");
            assert_eq!(release(kind, raw), CL_SUCCESS, "{kind:?}");
        }
    }
    let (stray, (kind, _)) = (s.wrong_handle(), s.pick(&MAX_LIVE));
    if !s.held.values().flatten().chain(&s.open).any(|known| *known == stray) {
        assert_ne!(release(kind, stray), CL_SUCCESS, "{kind:?}");
    }
}

/// The calls that may always fail: no binary is valid, and not every device has shared virtual memory.
const FAILS: [&str; 2] = ["clCreateProgramWithBinary", "clSVMAlloc"];

/// Runs a sequence and returns how often each call succeeded.
fn run(device: cl_device_id, seed: u64, calls: usize) -> BTreeMap<&'static str, usize> {
    let mut s = Sequence::new(device, seed);
    let mut successes = BTreeMap::new();
    for _ in 0..calls {
        let table = s.pick(&[CREATE, ENQUEUE, OTHER]);
        let (name, call) = table[s.random.usize(..table.len())];
        let code = call(&mut s);
        assert!((-72..=0).contains(&code), "{name} returned {code}");
        assert_ne!(code, CL_OUT_OF_HOST_MEMORY, "{name} panicked");
        *successes.entry(name).or_default() += usize::from(code == CL_SUCCESS);
        tidy(&mut s);
    }
    for event in std::mem::take(&mut s.open) {
        assert_eq!(event::set_user_status(event, CL_COMPLETE), CL_SUCCESS);
        event::release(event);
    }
    for (context, at) in std::mem::take(&mut s.shared) {
        svm::free(context, at);
    }
    for queue in s.held.get(&Queue).cloned().unwrap_or_default() {
        assert_eq!(queue::finish(queue), CL_SUCCESS);
    }
    for (kind, handles) in std::mem::take(&mut s.held) {
        for raw in handles {
            assert_eq!(release(kind, raw), CL_SUCCESS, "{kind:?}");
        }
    }
    // The last references can be those of callbacks on another thread.
    let begin = Instant::now();
    let is_left = |raw: &&*mut c_void| **raw != device && object::is_live(**raw);
    while let Some(left) = s.known.iter().find(is_left) {
        assert!(begin.elapsed() < Duration::from_secs(60), "{left:?} of {calls} calls lives");
        std::thread::sleep(Duration::from_millis(1));
    }
    successes
}

/// Whether to run everything. Otherwise, prints what is left out. `cargo xtask test` sets both variables.
pub(crate) fn is_nightly(left_out: &str) -> bool {
    if env::var_os("KILN_NIGHTLY").is_some_and(|value| value == "1") {
        return true;
    }
    if let Some(file) = env::var_os("KILN_SAMPLES") {
        let mut file = OpenOptions::new().append(true).open(file).expect("the file is there");
        writeln!(file, "{left_out}").expect("it can be written");
    }
    false
}

/// The number of calls.
fn calls() -> usize {
    let [sample, all] = CALLS;
    if is_nightly(&format!("{sample} of {all} calls of the OpenCL driver")) { all } else { sample }
}

#[test]
fn wrong_calls_are_errors() {
    let calls = calls();
    let mut platform = null_mut();
    assert_eq!(platform::get_ids(1, &raw mut platform, null_mut()), CL_SUCCESS);
    let (mut devices, mut count) = ([null_mut(); 16], 0);
    for kind in [CL_DEVICE_TYPE_CUSTOM, CL_DEVICE_TYPE_ALL] {
        // Without a Vulkan driver, only the reference device is there.
        let found = device::get_ids(platform, kind, 16, devices.as_mut_ptr(), &raw mut count);
        let found = if found == CL_SUCCESS { &devices[..count.min(1) as usize] } else { &[] };
        for &device in found {
            let successes = run(device, 0x1234_5678_9abc_def1, calls);
            let is_expected = |name: &&str| FAILS.contains(name);
            let never = successes.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name);
            let never: Vec<_> = never.filter(|name| !is_expected(name)).collect();
            assert!(never.is_empty(), "calls that never succeeded: {never:?}");
        }
    }
}
