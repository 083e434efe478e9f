//! Kernels: creation, arguments and queries (OpenCL API 5.9).

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kiln_runtime::{ArgValue, Local, Null, Pointer};
use opencl_sys::*;

use crate::build::Build;
use crate::context::Context;
use crate::error::{Code, Result, ensure, fail};
use crate::ffi::{self, Host};
use crate::memory::Memory;
use crate::object::{self, Handle, Object};
use crate::program::Program;
use crate::queue::Queue;
use crate::residence::Access;
use crate::sampler::Sampler;
use crate::signature::{KernelSignature, Kind, Parameter};
use crate::svm::Allocation;

/// A kernel.
pub(crate) struct Kernel {
    pub(crate) handle: Handle,
    pub(crate) program: Arc<Program>,
    /// The executables, by the index of the device in the context.
    pub(crate) builds: Vec<Option<Arc<Build>>>,
    pub(crate) signature: KernelSignature,
    state: Mutex<State>,
    /// Whether the application holds it. Commands may use it longer.
    is_held: AtomicBool,
}

/// The arguments of a kernel.
#[derive(Clone, Default)]
struct State {
    arguments: Vec<Option<Argument>>,
    /// Shared virtual memory that the kernel reaches through pointers in memory.
    reached: Vec<Host>,
    /// The runtime's kernel with these arguments, and the index of its device.
    ready: Option<(usize, kiln_runtime::Kernel)>,
}

/// The value of an argument. A kernel does not keep the objects among its arguments (OpenCL API 5.9.2); its launches do.
#[derive(Clone)]
enum Argument {
    Memory(Weak<Memory>),
    Null,
    Pointer(Host),
    Bytes(Vec<u8>),
    Local(usize),
    Sampler(kiln_runtime::Sampler),
    Queue(kiln_runtime::DeviceQueue),
}

/// The kernel for a launch, and the objects that it uses.
pub(crate) struct PreparedKernel {
    pub(crate) kernel: kiln_runtime::Kernel,
    /// The memory objects among the arguments, and what the kernel does with them.
    pub(crate) memories: Vec<(Arc<Memory>, Access)>,
    /// The shared virtual memory among them.
    pub(crate) allocations: Vec<Arc<Allocation>>,
}

impl Object for Kernel {
    const INVALID: cl_int = CL_INVALID_KERNEL;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Kernel {
    fn create(program: &Arc<Program>, name: &str) -> Result<Arc<Self>> {
        let builds = program.builds();
        let executables = || builds.iter().flatten().filter(|build| build.is_executable());
        ensure(executables().next().is_some(), CL_INVALID_PROGRAM_EXECUTABLE)?;
        let signature =
            executables().find_map(|build| build.signatures.iter().find(|signature| signature.name == name));
        let signature = signature.ok_or(Code(CL_INVALID_KERNEL_NAME))?.clone();
        // The definitions for all devices agree (OpenCL API 5.9.1).
        let agrees = |other: &KernelSignature| {
            let kinds = |signature: &KernelSignature| {
                signature.parameters.iter().map(|it| it.kind).collect::<Vec<_>>()
            };
            other.name != name || kinds(other) == kinds(&signature)
        };
        let all_agree = executables().all(|build| build.signatures.iter().all(agrees));
        ensure(all_agree, CL_INVALID_KERNEL_DEFINITION)?;
        let state = State { arguments: vec![None; signature.parameters.len()], ..State::default() };
        Self::new(program, builds, signature, state)
    }

    fn new(
        program: &Arc<Program>,
        builds: Vec<Option<Arc<Build>>>,
        signature: KernelSignature,
        state: State,
    ) -> Result<Arc<Self>> {
        let kernel = object::create(|handle| {
            let (program, state) = (program.clone(), Mutex::new(state));
            Ok(Self { handle, program, builds, signature, state, is_held: AtomicBool::new(true) })
        })?;
        program.kernels().fetch_add(1, Ordering::AcqRel);
        Ok(kernel)
    }

    /// Notes that the application no longer holds it, so that its program can be built again (OpenCL API 5.8.2).
    fn let_go(&self) {
        if self.is_held.swap(false, Ordering::AcqRel) {
            self.program.kernels().fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        self.program.context()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The executable for a device; fails with `CL_INVALID_PROGRAM_EXECUTABLE` without one.
    pub(crate) fn build(&self, index: usize) -> Result<&Arc<Build>> {
        let build = self.builds.get(index).and_then(Option::as_ref);
        let build = build
            .filter(|build| build.signatures.iter().any(|signature| signature.name == self.signature.name));
        build.ok_or(Code(CL_INVALID_PROGRAM_EXECUTABLE))
    }

    /// The runtime's kernel for a device, without arguments.
    pub(crate) fn bare(&self, index: usize) -> Result<kiln_runtime::Kernel> {
        let build = self.build(index)?;
        let program = build.program.as_ref().ok_or(Code(CL_INVALID_PROGRAM_EXECUTABLE))?;
        Ok(program.kernel(&self.signature.name)?)
    }

    /// The kernel for a device, with its arguments; fails with `CL_INVALID_KERNEL_ARGS` if one is not set.
    pub(crate) fn ready(&self, index: usize) -> Result<PreparedKernel> {
        let mut state = self.state();
        let positions = state.arguments.iter().zip(&self.signature.parameters);
        let memories = positions.filter_map(|(argument, parameter)| match argument {
            Some(Argument::Memory(memory)) => {
                let memory = memory.upgrade().ok_or(Code(CL_INVALID_KERNEL_ARGS));
                Some(memory.map(|memory| (parameter.access_to(memory.flags), memory)))
            }
            _ => None,
        });
        let memories = memories.map(|found| found.map(|(access, memory)| (memory, access)));
        let memories: Vec<_> = memories.collect::<Result<_>>()?;
        let svm = self.context().svm();
        let pointers = state.arguments.iter().flatten().filter_map(|argument| match argument {
            Argument::Pointer(pointer) => Some(*pointer),
            _ => None,
        });
        let allocations = pointers.chain(state.reached.iter().copied());
        let allocations = allocations.filter_map(|pointer| svm.find(pointer)).map(|(it, _)| it).collect();
        if let Some((_, kernel)) = state.ready.as_ref().filter(|(device, _)| *device == index) {
            return Ok(PreparedKernel { kernel: kernel.clone(), memories, allocations });
        }
        let mut kernel = self.bare(index)?;
        for (position, argument) in state.arguments.iter().enumerate() {
            let Some(argument) = argument else { return fail(CL_INVALID_KERNEL_ARGS) };
            self.set_inner(&mut kernel, position, argument, index)?;
        }
        for pointer in &state.reached {
            let found = svm.find(*pointer).filter(|(allocation, _)| allocation.device() == index);
            if let Some((allocation, _)) = found {
                kernel.reaches(allocation.buffer());
            }
        }
        state.ready = Some((index, kernel.clone()));
        Ok(PreparedKernel { kernel, memories, allocations })
    }

    /// Sets an argument of the runtime's kernel.
    fn set_inner(
        &self,
        kernel: &mut kiln_runtime::Kernel,
        position: usize,
        argument: &Argument,
        index: usize,
    ) -> Result {
        match argument {
            Argument::Memory(memory) => match memory.upgrade() {
                Some(memory) if memory.is_buffer() => kernel.set(position, &memory.buffer(index)?),
                Some(memory) if memory.pipe_size().is_ok() => kernel.set(position, &memory.pipe(index)?),
                Some(memory) => kernel.set(position, &memory.image(index)?),
                None => return fail(CL_INVALID_KERNEL_ARGS),
            },
            Argument::Null => kernel.set(position, Null),
            Argument::Pointer(_) if self.context().devices()[index].svm() == 0 => {
                return fail(CL_INVALID_OPERATION);
            }
            Argument::Pointer(pointer) => match self.context().svm().find(*pointer) {
                Some((allocation, offset)) if allocation.device() == index => {
                    let rest = allocation.buffer().slice(offset..)?;
                    kernel.set(position, &rest)
                }
                // Software devices reach all memory of the process, others only their own.
                Some(_) if !self.context().devices()[index].capabilities().svm_atomics => {
                    return fail(CL_INVALID_OPERATION);
                }
                _ => kernel.set(position, Pointer(pointer.address() as u64)),
            },
            Argument::Bytes(bytes) => kernel.set(position, ArgValue::Bytes(bytes.clone())),
            // OpenCL 3.1 allows an argument without memory, which modules cannot have.
            Argument::Local(size) => kernel.set(position, Local((*size).max(1))),
            Argument::Sampler(sampler) => kernel.set(position, *sampler),
            Argument::Queue(queue) => kernel.set(position, *queue),
        }
        .map(drop)
        .map_err(Code::from)
    }

    /// The parameter at an index.
    pub(crate) fn parameter(&self, index: cl_uint) -> Result<&Parameter> {
        self.signature.parameters.get(index as usize).ok_or(Code(CL_INVALID_ARG_INDEX))
    }

    /// The bytes of local memory among the arguments.
    pub(crate) fn local_arguments(&self) -> u64 {
        let state = self.state();
        let sizes = state.arguments.iter().flatten().map(|argument| match argument {
            Argument::Local(size) => *size as u64,
            _ => 0,
        });
        sizes.sum()
    }

    fn set(&self, index: cl_uint, argument: Argument) {
        let mut state = self.state();
        let before = state.arguments[index as usize].replace(argument);
        let ready = state.ready.take();
        drop(state);
        // Dropping an object can call back.
        drop((before, ready));
    }

    /// Checks and converts an argument (OpenCL API 5.9.2).
    fn argument(&self, parameter: &Parameter, size: usize, value: *const c_void) -> Result<Argument> {
        let handle = || ffi::load(value.cast::<*mut c_void>());
        match parameter.kind {
            Kind::Local => {
                ensure(value.is_null(), CL_INVALID_ARG_VALUE)?;
                Ok(Argument::Local(size))
            }
            Kind::Memory => {
                ensure(size == size_of::<cl_mem>(), CL_INVALID_ARG_SIZE)?;
                let Some(raw) = handle().filter(|raw| !raw.is_null()) else { return Ok(Argument::Null) };
                let memory = object::get::<Memory>(raw)?;
                memory.check_buffer()?;
                ensure(memory.context().is(self.context()), CL_INVALID_CONTEXT)?;
                Ok(Argument::Memory(Arc::downgrade(&memory)))
            }
            Kind::Image => {
                ensure(size == size_of::<cl_mem>(), CL_INVALID_ARG_SIZE)?;
                let raw = handle().ok_or(Code(CL_INVALID_MEM_OBJECT))?;
                let memory = object::get::<Memory>(raw)?;
                memory.image_info()?;
                ensure(memory.context().is(self.context()), CL_INVALID_CONTEXT)?;
                self.check_image(parameter, &memory)?;
                Ok(Argument::Memory(Arc::downgrade(&memory)))
            }
            Kind::Pipe => {
                ensure(size == size_of::<cl_mem>(), CL_INVALID_ARG_SIZE)?;
                let raw = handle().ok_or(Code(CL_INVALID_MEM_OBJECT))?;
                let memory = object::get::<Memory>(raw)?;
                memory.pipe_size()?;
                ensure(memory.context().is(self.context()), CL_INVALID_CONTEXT)?;
                Ok(Argument::Memory(Arc::downgrade(&memory)))
            }
            Kind::Queue => {
                ensure(size == size_of::<cl_command_queue>(), CL_INVALID_ARG_SIZE)?;
                let raw = handle().ok_or(Code(CL_INVALID_DEVICE_QUEUE))?;
                let queue = object::get::<Queue>(raw).map_err(|_| Code(CL_INVALID_DEVICE_QUEUE))?;
                ensure(queue.context().is(self.context()), CL_INVALID_CONTEXT)?;
                queue.on_device().map(Argument::Queue).ok_or(Code(CL_INVALID_DEVICE_QUEUE))
            }
            Kind::Sampler => {
                ensure(size == size_of::<cl_sampler>(), CL_INVALID_ARG_SIZE)?;
                let raw = handle().ok_or(Code(CL_INVALID_SAMPLER))?;
                let sampler = object::get::<Sampler>(raw)?;
                ensure(sampler.context().is(self.context()), CL_INVALID_CONTEXT)?;
                Ok(Argument::Sampler(sampler.inner()))
            }
            Kind::Value(expected) => {
                ensure(!value.is_null(), CL_INVALID_ARG_VALUE)?;
                ensure(size == expected as usize, CL_INVALID_ARG_SIZE)?;
                Ok(Argument::Bytes(ffi::slice(value.cast(), size).to_vec()))
            }
            Kind::Other => fail(CL_INVALID_ARG_VALUE),
        }
    }

    /// Checks the type of an image and its flags against the parameter's.
    fn check_image(&self, parameter: &Parameter, memory: &Memory) -> Result {
        let is_written = parameter.access != CL_KERNEL_ARG_ACCESS_READ_ONLY;
        let is_read = parameter.access != CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
        let denied = memory.flags & CL_MEM_READ_ONLY != 0 && is_written
            || memory.flags & CL_MEM_WRITE_ONLY != 0 && is_read;
        ensure(!denied, CL_INVALID_ARG_VALUE)?;
        for index in (0..self.builds.len()).filter(|index| self.build(*index).is_ok()) {
            let position = self.signature.parameters.iter().position(|it| std::ptr::eq(it, parameter));
            // Launches on a device without such images fail.
            let Ok(image) = memory.image(index) else { continue };
            let mut kernel = self.bare(index)?;
            kernel.set(position.unwrap_or_default(), &image).map_err(|_| Code(CL_INVALID_MEM_OBJECT))?;
        }
        Ok(())
    }

    /// Sets the shared virtual memory that the kernel reaches.
    fn exec_info(&self, name: cl_kernel_exec_info, size: usize, value: *const c_void) -> Result {
        // An empty list removes the pointers.
        ensure(value.is_null() == (size == 0), CL_INVALID_VALUE)?;
        let has_svm = self.context().devices().iter().any(|device| device.svm() != 0);
        match name {
            CL_KERNEL_EXEC_INFO_SVM_PTRS => {
                ensure(has_svm, CL_INVALID_OPERATION)?;
                let is_list = size.is_multiple_of(size_of::<*mut c_void>());
                ensure(is_list, CL_INVALID_VALUE)?;
                let pointers = ffi::slice(value.cast::<*mut u8>(), size / size_of::<*mut c_void>());
                let mut state = self.state();
                state.reached = pointers.iter().map(|pointer| Host::new(*pointer)).collect();
                state.ready = None;
                Ok(())
            }
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
                ensure(has_svm, CL_INVALID_OPERATION)?;
                ensure(size == size_of::<cl_bool>(), CL_INVALID_VALUE)?;
                let is_wanted = ffi::load(value.cast::<cl_bool>()).unwrap_or_default() != CL_FALSE;
                // No device shares all memory of the host.
                ensure(!is_wanted, CL_INVALID_OPERATION)
            }
            _ => fail(CL_INVALID_VALUE),
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.let_go();
    }
}

pub(crate) extern "C" fn create(program: cl_program, name: *const c_char, error: *mut cl_int) -> cl_kernel {
    ffi::create(error, || {
        let program = object::get::<Program>(program)?;
        let name = ffi::text(name).ok_or(Code(CL_INVALID_VALUE))?;
        Ok(Kernel::create(&program, name)?.handle.raw())
    })
}

pub(crate) extern "C" fn create_all(
    program: cl_program,
    count: cl_uint,
    kernels: *mut cl_kernel,
    available: *mut cl_uint,
) -> cl_int {
    ffi::call(|| {
        let program = object::get::<Program>(program)?;
        let builds = program.builds();
        let build = builds.iter().flatten().find(|build| build.is_executable());
        let build = build.ok_or(Code(CL_INVALID_PROGRAM_EXECUTABLE))?;
        ensure(kernels.is_null() || count as usize >= build.signatures.len(), CL_INVALID_VALUE)?;
        if !kernels.is_null() {
            let create = |signature: &KernelSignature| Kernel::create(&program, &signature.name);
            let created = build.signatures.iter().map(create);
            // If one fails, the application gets none.
            let (made, failed): (Vec<_>, Vec<_>) = created.partition(Result::is_ok);
            for (index, kernel) in made.into_iter().flatten().enumerate() {
                if failed.is_empty() {
                    ffi::store(kernels.wrapping_add(index), kernel.handle.raw());
                } else {
                    object::release::<Kernel>(kernel.handle.raw())?;
                }
            }
            failed.into_iter().find_map(Result::err).map_or(Ok(()), Err)?;
        }
        ffi::store(available, build.signatures.len() as cl_uint);
        Ok(())
    })
}

pub(crate) extern "C" fn clone_kernel(source: cl_kernel, error: *mut cl_int) -> cl_kernel {
    ffi::create(error, || {
        let source = object::get::<Kernel>(source)?;
        let state = source.state().clone();
        let clone = Kernel::new(&source.program, source.builds.clone(), source.signature.clone(), state)?;
        Ok(clone.handle.raw())
    })
}

pub(crate) extern "C" fn retain(kernel: cl_kernel) -> cl_int {
    ffi::call(|| object::retain::<Kernel>(kernel))
}

pub(crate) extern "C" fn release(kernel: cl_kernel) -> cl_int {
    ffi::call(|| {
        let released = object::get::<Kernel>(kernel)?;
        if object::release::<Kernel>(kernel)? == 0 {
            released.let_go();
        }
        Ok(())
    })
}

pub(crate) extern "C" fn set_arg(
    kernel: cl_kernel,
    index: cl_uint,
    size: usize,
    value: *const c_void,
) -> cl_int {
    ffi::call(|| {
        let kernel = object::get::<Kernel>(kernel)?;
        let argument = kernel.argument(kernel.parameter(index)?, size, value)?;
        kernel.set(index, argument);
        Ok(())
    })
}

pub(crate) extern "C" fn set_arg_svm_pointer(
    kernel: cl_kernel,
    index: cl_uint,
    value: *const c_void,
) -> cl_int {
    ffi::call(|| {
        let kernel = object::get::<Kernel>(kernel)?;
        let has_svm = kernel.context().devices().iter().any(|device| device.svm() != 0);
        ensure(has_svm, CL_INVALID_OPERATION)?;
        let parameter = kernel.parameter(index)?;
        ensure(parameter.kind == Kind::Memory, CL_INVALID_ARG_VALUE)?;
        let pointer = Host::new(value.cast::<u8>());
        kernel.set(index, if value.is_null() { Argument::Null } else { Argument::Pointer(pointer) });
        Ok(())
    })
}

pub(crate) extern "C" fn set_exec_info(
    kernel: cl_kernel,
    name: cl_kernel_exec_info,
    size: usize,
    value: *const c_void,
) -> cl_int {
    ffi::call(|| object::get::<Kernel>(kernel)?.exec_info(name, size, value))
}
