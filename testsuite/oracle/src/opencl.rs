//! Calls OpenCL's C interface. No other file does.

#![allow(unsafe_code, reason = "OpenCL's interface is one of C")]

use std::{collections::HashMap, ptr, rc::Rc};

use opencl3::{
    command_queue::{
        CL_QUEUE_ON_DEVICE, CL_QUEUE_ON_DEVICE_DEFAULT, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue,
        enqueue_nd_range_kernel,
    },
    context::Context,
    device::{CL_DEVICE_TYPE_ALL, Device},
    event::Event,
    kernel::{Kernel, set_kernel_arg},
    memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_HOST_NO_ACCESS, CL_MEM_READ_WRITE, ClMem as _, Pipe},
    platform::get_platforms,
    program::Program as Built,
};

use crate::{exit::Failure, names};

/// An OpenCL device.
pub(crate) struct Platform {
    device: Device,
    context: Context,
}

/// A program built for the device.
pub(crate) struct Program<'p> {
    program: Built,
    context: &'p Context,
    queue: CommandQueue,
    /// The parameter names of a module's kernels.
    parameters: HashMap<String, Vec<String>>,
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure(error.to_string())
}

impl Platform {
    /// The first device of the platform whose name contains this.
    pub(crate) fn find(name: &str) -> Result<Self, Failure> {
        for platform in get_platforms().map_err(failure)? {
            if !platform.name().map_err(failure)?.contains(name) {
                continue;
            }
            if let Some(device) = platform.get_devices(CL_DEVICE_TYPE_ALL).map_err(failure)?.first() {
                let device = Device::new(*device);
                let context = Context::from_device(&device).map_err(failure)?;
                return Ok(Self { device, context });
            }
        }
        Err(Failure(format!("no OpenCL platform has `{name}` in its name")))
    }

    pub(crate) fn compile(&self, source: &str, options: &str) -> Result<Program<'_>, Failure> {
        let program = Built::create_from_source(&self.context, source).map_err(failure)?;
        self.build(program, &format!("-cl-kernel-arg-info {options}"), HashMap::new())
    }

    pub(crate) fn load(&self, module: &[u8], options: &str) -> Result<Program<'_>, Failure> {
        let program = Built::create_from_il(&self.context, module).map_err(failure)?;
        self.build(program, options, names::parameters(module))
    }

    fn build(
        &self,
        mut program: Built,
        options: &str,
        parameters: HashMap<String, Vec<String>>,
    ) -> Result<Program<'_>, Failure> {
        if let Err(error) = program.build(&[self.device.id()], options) {
            let log = program.get_build_log(self.device.id()).unwrap_or_default();
            return Err(Failure(format!("the program does not build: {error}\n{log}")));
        }
        let queue = CommandQueue::create_default_with_properties(&self.context, 0, 0).map_err(failure)?;
        Ok(Program { program, context: &self.context, queue, parameters })
    }
}

/// A buffer and its size in bytes.
pub(crate) type Memory = Rc<(Buffer<u8>, usize)>;

/// An argument of a kernel.
pub(crate) enum Value {
    /// A null pointer.
    Null,
    /// A buffer.
    Buffer(Memory),
    /// A pipe.
    Pipe(Pipe),
    /// A queue of the device.
    Queue(CommandQueue),
    /// Local memory of this many bytes.
    Local(usize),
    /// The bytes of a value.
    Bytes(Vec<u8>),
}

impl Program<'_> {
    /// The names of a kernel's parameters; unnamed parameters have their index as name.
    pub(crate) fn parameters(&self, kernel: &str) -> Result<Vec<String>, Failure> {
        if let Some(names) = self.parameters.get(kernel) {
            return Ok(names.clone());
        }
        let kernel = Kernel::create(&self.program, kernel).map_err(failure)?;
        let count = kernel.num_args().map_err(failure)?;
        let name = |index| kernel.get_arg_name(index).ok().filter(|name| !name.is_empty());
        Ok((0..count).map(|index| name(index).unwrap_or_else(|| index.to_string())).collect())
    }

    /// Creates a buffer with these bytes.
    pub(crate) fn buffer(&self, bytes: &[u8]) -> Result<Memory, Failure> {
        // OpenCL does not allow empty buffers.
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().max(1), 0);
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        // SAFETY: the call copies the bytes before it returns, and the length is theirs.
        let buffer = unsafe { Buffer::create(self.context, flags, bytes.len(), bytes.as_mut_ptr().cast()) };
        Ok(Rc::new((buffer.map_err(failure)?, bytes.len())))
    }

    /// Creates a pipe.
    pub(crate) fn pipe(&self, packet_size: u32, max_packets: u32) -> Result<Pipe, Failure> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
        // SAFETY: the context is valid, and the call takes numbers only.
        unsafe { Pipe::create(self.context, flags, packet_size, max_packets) }.map_err(failure)
    }

    /// Creates a queue of the device with this size, which is the default queue.
    pub(crate) fn device_queue(&self, size: u32) -> Result<CommandQueue, Failure> {
        let bits = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        CommandQueue::create_default_with_properties(self.context, bits, size).map_err(failure)
    }

    /// Reads the bytes of a buffer.
    pub(crate) fn read(&self, buffer: &Memory) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; buffer.1];
        // SAFETY: the call blocks until all bytes of the buffer are written to the vector of the same size.
        unsafe { self.queue.enqueue_read_buffer(&buffer.0, 1, 0, &mut bytes, &[]) }.map_err(failure)?;
        Ok(bytes)
    }

    /// Launches a kernel and waits until it is complete.
    pub(crate) fn launch(
        &self,
        name: &str,
        arguments: &[Value],
        global: &[usize],
        local: Option<&[usize]>,
    ) -> Result<(), Failure> {
        if local.is_some_and(|local| local.len() != global.len()) {
            return Err(Failure("the global and the local size have other dimensions".to_owned()));
        }
        let kernel = Kernel::create(&self.program, name).map_err(failure)?;
        for (index, argument) in (0..).zip(arguments) {
            let memory = match argument {
                Value::Buffer(buffer) => buffer.0.get(),
                Value::Pipe(pipe) => pipe.get(),
                Value::Queue(queue) => queue.get(),
                _ => ptr::null_mut(),
            };
            let (size, pointer) = match argument {
                Value::Null | Value::Buffer(_) | Value::Pipe(_) | Value::Queue(_) => {
                    (size_of_val(&memory), ptr::from_ref(&memory).cast())
                }
                Value::Local(bytes) => (*bytes, ptr::null()),
                Value::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
            };
            // SAFETY: the pointer is null, or points to this many bytes that outlive the call.
            unsafe { set_kernel_arg(kernel.get(), index, size, pointer) }.map_err(|error| {
                Failure(format!("argument {index}: {}", opencl3::error_codes::ClError(error)))
            })?;
        }
        // SAFETY: the arrays have an element for each dimension and outlive the call. The author of the test
        // guarantees that the kernel stays within its buffers.
        let event = unsafe {
            enqueue_nd_range_kernel(
                self.queue.get(),
                kernel.get(),
                global.len() as u32,
                ptr::null(),
                global.as_ptr(),
                local.map_or(ptr::null(), <[usize]>::as_ptr),
                0,
                ptr::null(),
            )
        };
        let event = event.map_err(|error| Failure(opencl3::error_codes::ClError(error).to_string()))?;
        Event::new(event).wait().map_err(failure)?;
        self.queue.finish().map_err(failure)
    }
}
