//! Separate compilation and linking (OpenCL API 5.8.3, 5.8.4).

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use opencl_sys::*;

use crate::build::{self, Build, Source};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::ffi::{self, Notify};
use crate::object::{self, Object};
use crate::options;
use crate::program::{self, Origin, Program};

/// The headers of `clCompileProgram`: sources of programs, with the names for `#include`.
fn headers(
    context: &Context,
    count: cl_uint,
    programs: *const cl_program,
    names: *mut *const c_char,
) -> Result<Vec<(String, Vec<u8>)>> {
    let programs = ffi::list(programs, count as usize, CL_INVALID_VALUE)?;
    let names = ffi::list(names.cast_const(), count as usize, CL_INVALID_VALUE)?;
    let mut headers = Vec::new();
    for (&raw, &name) in programs.iter().zip(names) {
        let program = object::get::<Program>(raw)?;
        ensure(program.context().is(context), CL_INVALID_CONTEXT)?;
        let Origin::Source(text) = program.origin() else { return fail(CL_INVALID_OPERATION) };
        let name = ffi::text(name).ok_or(Code(CL_INVALID_VALUE))?;
        headers.push((name.to_owned(), text.clone()));
    }
    Ok(headers)
}

pub(crate) extern "C" fn compile(
    program: cl_program,
    count: cl_uint,
    list: *const cl_device_id,
    text: *const c_char,
    header_count: cl_uint,
    header_programs: *const cl_program,
    header_names: *mut *const c_char,
    notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    data: *mut c_void,
) -> cl_int {
    ffi::call(|| {
        let program = object::get::<Program>(program)?;
        ensure((count == 0) == list.is_null(), CL_INVALID_VALUE)?;
        let notify = Notify::new(notify, data)?;
        let devices = program.select(count, list)?;
        let headers = headers(program.context(), header_count, header_programs, header_names)?;
        ensure(program.kernels().load(Ordering::Acquire) == 0, CL_INVALID_OPERATION)?;
        let text = program::options(text, CL_INVALID_COMPILER_OPTIONS)?;
        let mut result = Ok(());
        for index in devices {
            let device = &program.context().devices()[index];
            let parsed = options::parse(text, device).ok_or(Code(CL_INVALID_COMPILER_OPTIONS))?;
            ensure(!parsed.is_for_linking(), CL_INVALID_COMPILER_OPTIONS)?;
            let built = match program.origin() {
                Origin::Source(source) => {
                    let source = Source { text: source.clone(), headers: headers.clone() };
                    build::object(&source, text, parsed)?
                }
                Origin::Il(module) => module.object(text, &parsed.with_partial_groups())?,
                // A program of binaries has no source (OpenCL API 5.8.3).
                Origin::Builds => return fail(CL_INVALID_OPERATION),
            };
            if built.status != CL_BUILD_SUCCESS {
                result = fail(CL_COMPILE_PROGRAM_FAILURE);
            }
            program.set_build(index, built);
        }
        if let Some(notify) = notify {
            notify.call(program.handle().raw());
        }
        result
    })
}

/// The objects and libraries of the input programs for a device; `None` if no program has any.
fn inputs(programs: &[Arc<Program>], index: usize) -> Result<Option<Vec<Arc<Build>>>> {
    let is_object = |build: &Arc<Build>| {
        let types = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT | CL_PROGRAM_BINARY_TYPE_LIBRARY;
        build.binary_type & types != 0 && build.status == CL_BUILD_SUCCESS
    };
    let found: Vec<_> = programs.iter().filter_map(|it| it.build(index).filter(is_object)).collect();
    match found.len() {
        0 => Ok(None),
        count if count == programs.len() => Ok(Some(found)),
        // Every program or none has an object for a device (OpenCL API 5.8.4).
        _ => fail(CL_INVALID_OPERATION),
    }
}

/// Links objects for a device.
fn link_for(device: &Device, objects: &[Arc<Build>], text: &str) -> Result<Build> {
    let parts: Vec<_> = objects.iter().flat_map(|build| build.parts.iter().cloned()).collect();
    let mut parsed = options::parse(text, device).ok_or(Code(CL_INVALID_LINKER_OPTIONS))?;
    // Work-groups may differ in size if all objects allow it.
    parsed.has_partial_groups = objects.iter().all(|build| build.has_partial_groups);
    build::link(&parts, text, &parsed, device)
}

pub(crate) extern "C" fn link(
    context: cl_context,
    count: cl_uint,
    list: *const cl_device_id,
    text: *const c_char,
    program_count: cl_uint,
    programs: *const cl_program,
    notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    data: *mut c_void,
    error: *mut cl_int,
) -> cl_program {
    let mut code = CL_SUCCESS;
    let link_failed = Cell::new(false);
    let program = ffi::create(&raw mut code, || {
        let context = object::get::<Context>(context)?;
        ensure((count == 0) == list.is_null(), CL_INVALID_VALUE)?;
        ensure(program_count > 0 && !programs.is_null(), CL_INVALID_VALUE)?;
        let notify = Notify::new(notify, data)?;
        let handles = ffi::slice(programs, program_count as usize);
        let inputs_of: Vec<Arc<Program>> =
            handles.iter().map(|&raw| object::get(raw)).collect::<Result<_>>()?;
        ensure(inputs_of.iter().all(|program| program.context().is(&context)), CL_INVALID_PROGRAM)?;
        let devices = context.select(count, list)?;
        let text = program::options(text, CL_INVALID_LINKER_OPTIONS)?;
        ensure(options::are_linker_options(text), CL_INVALID_LINKER_OPTIONS)?;
        let mut builds = vec![None; context.devices().len()];
        let mut has_failed = false;
        for &index in &devices {
            let Some(objects) = inputs(&inputs_of, index)? else { continue };
            let built = link_for(&context.devices()[index], &objects, text)?;
            has_failed |= built.status != CL_BUILD_SUCCESS;
            builds[index] = Some(Arc::new(built));
        }
        ensure(builds.iter().any(Option::is_some), CL_INVALID_OPERATION)?;
        let linked = Program::create(context, devices, Origin::Builds, builds)?;
        if let Some(notify) = notify {
            notify.call(linked.handle().raw());
        }
        link_failed.set(has_failed);
        Ok(linked.handle().raw())
    });
    // The application gets the program, and its log, even if linking failed (OpenCL API 5.8.4).
    let has_failed = code == CL_SUCCESS && link_failed.get();
    ffi::store(error, if has_failed { CL_LINK_PROGRAM_FAILURE } else { code });
    program
}
