//! Programs: creation, queries, and the state of their builds (OpenCL API 5.8).

use std::ffi::{c_char, c_uchar, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use opencl_sys::*;

use crate::binary;
use crate::build::{self, Build, Source};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::ffi::{self, Notify};
use crate::il;
use crate::info::{Answer, answer};
use crate::object::{self, Handle, Object};

/// A program.
pub(crate) struct Program {
    handle: Handle,
    context: Arc<Context>,
    /// The devices of the program, as indices in the context.
    devices: Vec<usize>,
    origin: Origin,
    /// The newest build for each device of the context.
    builds: Mutex<Vec<Option<Arc<Build>>>>,
    /// The number of kernels that the application holds.
    kernels: AtomicUsize,
}

/// What a program was created from.
pub(crate) enum Origin {
    /// OpenCL C.
    Source(Vec<u8>),
    /// SPIR-V.
    Il(il::Module),
    /// Binaries, or other programs.
    Builds,
}

impl Object for Program {
    const INVALID: cl_int = CL_INVALID_PROGRAM;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Program {
    /// Creates a program.
    pub(crate) fn create(
        context: Arc<Context>,
        devices: Vec<usize>,
        origin: Origin,
        builds: Vec<Option<Arc<Build>>>,
    ) -> Result<Arc<Self>> {
        object::create(|handle| {
            Ok(Self {
                handle,
                context,
                devices,
                origin,
                builds: Mutex::new(builds),
                kernels: AtomicUsize::new(0),
            })
        })
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// What it was created from.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The number of kernels that the application holds.
    pub(crate) fn kernels(&self) -> &AtomicUsize {
        &self.kernels
    }

    /// The newest builds, by the index of the device in the context.
    pub(crate) fn builds(&self) -> Vec<Option<Arc<Build>>> {
        self.builds.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The newest build for a device.
    pub(crate) fn build(&self, index: usize) -> Option<Arc<Build>> {
        self.builds().get(index).cloned().flatten()
    }

    /// Replaces the build for a device.
    pub(crate) fn set_build(&self, index: usize, build: Build) {
        let build = Arc::new(build);
        let before = self.builds.lock().unwrap_or_else(PoisonError::into_inner)[index].replace(build);
        drop(before);
    }

    /// The devices of a list, which must be devices of the program; all of them without a list.
    pub(crate) fn select(&self, count: cl_uint, list: *const cl_device_id) -> Result<Vec<usize>> {
        if count == 0 && list.is_null() {
            return Ok(self.devices.clone());
        }
        let wanted = self.context.select(count, list)?;
        ensure(wanted.iter().all(|index| self.devices.contains(index)), CL_INVALID_DEVICE)?;
        Ok(wanted)
    }

    /// The builds of executables.
    fn executables(&self) -> Result<Vec<Arc<Build>>> {
        let found: Vec<_> = self.builds().into_iter().flatten().filter(|it| it.is_executable()).collect();
        if found.is_empty() { fail(CL_INVALID_PROGRAM_EXECUTABLE) } else { Ok(found) }
    }

    fn binaries(&self) -> Vec<Vec<u8>> {
        let builds = self.builds();
        self.devices
            .iter()
            .map(|&index| builds[index].as_deref().map(binary::write).unwrap_or_default())
            .collect()
    }

    fn info(&self, name: cl_program_info) -> Result<Answer> {
        Ok(match name {
            CL_PROGRAM_REFERENCE_COUNT => Answer::from_value(object::count(&self.handle)),
            CL_PROGRAM_CONTEXT => Answer::pointer(self.context.handle().raw()),
            CL_PROGRAM_NUM_DEVICES => Answer::from_value(self.devices.len() as cl_uint),
            CL_PROGRAM_DEVICES => {
                let devices = self.context.devices();
                Answer::pointers(self.devices.iter().map(|&index| devices[index].handle().raw()))
            }
            CL_PROGRAM_SOURCE => match &self.origin {
                Origin::Source(text) => Answer::list(&[text.as_slice(), &[0]].concat()),
                _ => Answer::text(""),
            },
            CL_PROGRAM_IL => match &self.origin {
                Origin::Il(module) => Answer::list(module.words()),
                _ => Answer::default(),
            },
            CL_PROGRAM_BINARY_SIZES => {
                Answer::list(&self.binaries().iter().map(Vec::len).collect::<Vec<usize>>())
            }
            CL_PROGRAM_NUM_KERNELS => Answer::from_value(self.executables()?[0].signatures.len()),
            CL_PROGRAM_KERNEL_NAMES => {
                let builds = self.executables()?;
                let names: Vec<&str> =
                    builds[0].signatures.iter().map(|kernel| kernel.name.as_str()).collect();
                Answer::text(&names.join(";"))
            }
            CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => {
                Answer::flag(false)
            }
            _ => return fail(CL_INVALID_VALUE),
        })
    }

    fn build_info(&self, device: &Arc<Device>, name: cl_program_build_info) -> Result<Answer> {
        let index = self.context.index_of(device)?;
        ensure(self.devices.contains(&index), CL_INVALID_DEVICE)?;
        let build = self.build(index);
        let build = build.as_deref();
        Ok(match name {
            CL_PROGRAM_BUILD_STATUS => Answer::from_value(build.map_or(CL_BUILD_NONE, |build| build.status)),
            CL_PROGRAM_BUILD_OPTIONS => Answer::text(build.map_or("", |build| &build.options)),
            CL_PROGRAM_BUILD_LOG => Answer::text(build.map_or("", |build| &build.log)),
            CL_PROGRAM_BINARY_TYPE => {
                Answer::from_value(build.map_or(CL_PROGRAM_BINARY_TYPE_NONE, |build| build.binary_type))
            }
            CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
                let program = build.and_then(|build| build.program.as_ref());
                let variables = program.and_then(|program| program.interface().variables.as_ref());
                Answer::from_value(variables.map_or(0, |variables| variables.bytes.len()))
            }
            _ => return fail(CL_INVALID_VALUE),
        })
    }
}

/// The empty list of builds of a new program.
fn unbuilt(context: &Context) -> Vec<Option<Arc<Build>>> {
    vec![None; context.devices().len()]
}

fn all(context: &Context) -> Vec<usize> {
    (0..context.devices().len()).collect()
}

pub(crate) extern "C" fn create_with_source(
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
    error: *mut cl_int,
) -> cl_program {
    ffi::create(error, || {
        let context = object::get::<Context>(context)?;
        ensure(count > 0 && !strings.is_null(), CL_INVALID_VALUE)?;
        let mut text = Vec::new();
        for (index, &string) in ffi::slice(strings.cast_const(), count as usize).iter().enumerate() {
            ensure(!string.is_null(), CL_INVALID_VALUE)?;
            let length = ffi::slice(lengths, if lengths.is_null() { 0 } else { count as usize });
            text.extend_from_slice(ffi::bytes(string, length.get(index).copied().unwrap_or(0)));
        }
        let (devices, builds) = (all(&context), unbuilt(&context));
        let program = Program::create(context, devices, Origin::Source(text), builds)?;
        Ok(program.handle.raw())
    })
}

pub(crate) extern "C" fn create_with_il(
    context: cl_context,
    il: *const c_void,
    length: usize,
    error: *mut cl_int,
) -> cl_program {
    ffi::create(error, || {
        let context = object::get::<Context>(context)?;
        ensure(!il.is_null() && length > 0, CL_INVALID_VALUE)?;
        let words = binary::words(ffi::slice(il.cast::<u8>(), length)).ok_or(Code(CL_INVALID_VALUE))?;
        let (devices, builds) = (all(&context), unbuilt(&context));
        Ok(Program::create(context, devices, Origin::Il(il::Module::new(words)), builds)?.handle.raw())
    })
}

pub(crate) extern "C" fn create_with_binary(
    context: cl_context,
    count: cl_uint,
    list: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const c_uchar,
    statuses: *mut cl_int,
    error: *mut cl_int,
) -> cl_program {
    ffi::create(error, || {
        let context = object::get::<Context>(context)?;
        ensure(count > 0 && !list.is_null() && !lengths.is_null() && !binaries.is_null(), CL_INVALID_VALUE)?;
        let devices = context.select(count, list)?;
        let mut builds = unbuilt(&context);
        let mut failure = None;
        let lengths = ffi::slice(lengths, count as usize);
        let binaries = ffi::slice(binaries.cast_const(), count as usize);
        for (at, (&index, (&length, &first))) in devices.iter().zip(lengths.iter().zip(binaries)).enumerate()
        {
            let loaded = if first.is_null() || length == 0 {
                fail(CL_INVALID_VALUE)
            } else {
                let device = &context.devices()[index];
                binary::read(ffi::slice(first, length), device).ok_or(Code(CL_INVALID_BINARY))
            };
            let status = loaded.as_ref().map_or_else(|Code(code)| *code, |_| CL_SUCCESS);
            if !statuses.is_null() {
                ffi::store(statuses.wrapping_add(at), status);
            }
            match loaded {
                Ok(build) => builds[index] = Some(Arc::new(build)),
                Err(code) => failure = failure.or(Some(code)),
            }
        }
        match failure {
            Some(code) => Err(code),
            None => Ok(Program::create(context, devices, Origin::Builds, builds)?.handle.raw()),
        }
    })
}

/// No device has built-in kernels.
pub(crate) extern "C" fn create_with_built_in_kernels(
    context: cl_context,
    count: cl_uint,
    list: *const cl_device_id,
    names: *const c_char,
    error: *mut cl_int,
) -> cl_program {
    ffi::create(error, || {
        let context = object::get::<Context>(context)?;
        ensure(count > 0 && !list.is_null(), CL_INVALID_VALUE)?;
        context.select(count, list)?;
        ffi::text(names).map_or_else(|| fail(CL_INVALID_VALUE), |_| fail(CL_INVALID_VALUE))
    })
}

pub(crate) extern "C" fn retain(program: cl_program) -> cl_int {
    ffi::call(|| object::retain::<Program>(program))
}

pub(crate) extern "C" fn release(program: cl_program) -> cl_int {
    ffi::call(|| object::release::<Program>(program).map(drop))
}

/// The options of a build; fails with this code if they are not text.
pub(crate) fn options<'a>(options: *const c_char, code: cl_int) -> Result<&'a str> {
    if options.is_null() { Ok("") } else { ffi::text(options).ok_or(Code(code)) }
}

pub(crate) extern "C" fn build(
    program: cl_program,
    count: cl_uint,
    list: *const cl_device_id,
    text: *const c_char,
    notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    ffi::call(|| {
        let program = object::get::<Program>(program)?;
        ensure((count == 0) == list.is_null(), CL_INVALID_VALUE)?;
        let notify = Notify::new(notify, data)?;
        let devices = program.select(count, list)?;
        ensure(program.kernels.load(Ordering::Acquire) == 0, CL_INVALID_OPERATION)?;
        let text = options(text, CL_INVALID_BUILD_OPTIONS)?;
        let mut result = Ok(());
        for index in devices {
            let device = &program.context.devices()[index];
            let parsed = crate::options::parse(text, device)
                .filter(|parsed| !parsed.is_for_linking())
                .ok_or(Code(CL_INVALID_BUILD_OPTIONS))?;
            let built = match (&program.origin, program.build(index)) {
                (Origin::Source(source), _) => {
                    let source = Source { text: source.clone(), headers: Vec::new() };
                    build::executable(&source, text, &parsed, device)?
                }
                (Origin::Il(module), _) => {
                    let parsed = parsed.with_partial_groups();
                    module.executable(text, &parsed, device)?
                }
                // A binary of an executable is built already.
                (Origin::Builds, Some(loaded)) => build::rebuild(&loaded, text, &parsed, device)?,
                (Origin::Builds, None) => return fail(CL_INVALID_BINARY),
            };
            if built.status != CL_BUILD_SUCCESS {
                result = fail(CL_BUILD_PROGRAM_FAILURE);
            }
            program.set_build(index, built);
        }
        if let Some(notify) = notify {
            notify.call(program.handle.raw());
        }
        result
    })
}

pub(crate) extern "C" fn get_info(
    program: cl_program,
    name: cl_program_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    if name != CL_PROGRAM_BINARIES {
        return answer(size, value, size_ret, || object::get::<Program>(program)?.info(name));
    }
    ffi::call(|| {
        let binaries = object::get::<Program>(program)?.binaries();
        let bytes = binaries.len() * size_of::<*mut c_void>();
        if !value.is_null() {
            ensure(size >= bytes, CL_INVALID_VALUE)?;
            // The application passes memory for each binary, or null to skip it.
            for (target, binary) in ffi::slice(value.cast::<*mut u8>(), binaries.len()).iter().zip(&binaries)
            {
                if !target.is_null() {
                    ffi::Host::new(*target).write(binary);
                }
            }
        }
        ffi::store(size_ret, bytes);
        Ok(())
    })
}

pub(crate) extern "C" fn get_build_info(
    program: cl_program,
    device: cl_device_id,
    name: cl_program_build_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    answer(size, value, size_ret, || {
        let program = object::get::<Program>(program)?;
        program.build_info(&object::get::<Device>(device)?, name)
    })
}

/// Deprecated: no device runs constructors or destructors of programs.
pub(crate) extern "C" fn set_release_callback(
    program: cl_program,
    _notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    _data: *mut c_void,
) -> cl_int {
    ffi::call(|| {
        object::get::<Program>(program)?;
        fail(CL_INVALID_OPERATION)
    })
}

pub(crate) extern "C" fn set_specialization_constant(
    program: cl_program,
    id: cl_uint,
    size: usize,
    value: *const c_void,
) -> cl_int {
    ffi::call(|| {
        let program = object::get::<Program>(program)?;
        let Origin::Il(module) = &program.origin else { return fail(CL_INVALID_PROGRAM) };
        ensure(!value.is_null() && (1..=8).contains(&size), CL_INVALID_VALUE)?;
        module.set(id, ffi::slice(value.cast::<u8>(), size))
    })
}

pub(crate) extern "C" fn unload_compiler() -> cl_int {
    CL_SUCCESS
}
