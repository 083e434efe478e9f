//! The C interface: the exported functions, and the conversion of the application's pointers to references and strings.
//!
//! The application must follow the rules of the header: a handle comes from this library and was not freed, and a string
//! ends with a zero byte. Null pointers are handled here. A panic becomes an error.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

use kiln_compiler::session::{Loader, Source, extension_switch};

use crate::{
    compilation::Compilation,
    data::{Diagnostic, IncludeFind, IncludeRelease, IncludedFile, Status},
    options::Options,
    strings::c_string,
};

// SAFETY of all exported names: they begin with `kiln_`, which no other library uses.

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn kiln_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Creates options: OpenCL C 2.0 for Vulkan, with all features. Free them with kiln_options_free().
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_new() -> *mut Options {
    guarded(ptr::null_mut(), || Box::into_raw(Box::default()))
}

/// Copies options. The copy calls the same callbacks.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_clone(options: *const Options) -> *mut Options {
    guarded(ptr::null_mut(), || {
        get(options).map_or(ptr::null_mut(), |options| Box::into_raw(Box::new(options.clone())))
    })
}

/// Frees options. Results stay valid.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_free(options: *mut Options) {
    free(options);
}

/// Why the last function with these options returned KILN_STATUS_INVALID_ARGUMENT; otherwise "". Valid until the next
/// call with them.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_error(options: *const Options) -> *const c_char {
    get(options).map_or(ptr::null(), |options| options.error.as_ptr())
}

/// Applies options in the spelling of clBuildProgram() and clang, such as "-cl-std=CL3.0 -DN=4 -I include -Werror". If one of
/// them is wrong, none is applied.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_parse(options: *mut Options, text: *const c_char) -> Status {
    set(options, |options| options.parse(required(text)?))
}

/// Sets the language version: a kiln_language.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_language(options: *mut Options, language: u32) -> Status {
    set(options, |options| options.set_language(language))
}

/// Sets the environment of the module: a kiln_environment.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_environment(options: *mut Options, environment: u32) -> Status {
    set(options, |options| options.set_environment(environment))
}

/// Sets the device: "minimal", "swiftshader", "lavapipe", "lavapipe-25", "nvidia", "full", or the path of a file that
/// `kiln devices --profile` wrote. Kiln emulates features that the device lacks, or reports their use.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_profile(options: *mut Options, profile: *const c_char) -> Status {
    set(options, |options| options.set_profile(required(profile)?))
}

/// Defines a macro. NULL as the value means 1. The name can have parameters: "MAX(a, b)".
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_define(
    options: *mut Options,
    name: *const c_char,
    value: *const c_char,
) -> Status {
    set(options, |options| {
        options.define(required(name)?, text(value)?);
        Ok(())
    })
}

/// Removes the definition of a macro.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_undefine(options: *mut Options, name: *const c_char) -> Status {
    set(options, |options| {
        options.undefine(required(name)?);
        Ok(())
    })
}

/// Adds a folder at the end of the search path for included files.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_add_include_folder(options: *mut Options, folder: *const c_char) -> Status {
    set(options, |options| {
        options.compiler.include_dirs.push(required(folder)?.to_owned());
        Ok(())
    })
}

/// Includes a file before the source.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_add_forced_include(options: *mut Options, path: *const c_char) -> Status {
    set(options, |options| {
        options.compiler.forced_includes.push(required(path)?.to_owned());
        Ok(())
    })
}

/// Sets the functions that find included files, instead of the file system, and the `data` that is passed to them.
/// `release` may be NULL. With NULL as `find`, included files are read from the file system again.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_include_callbacks(
    options: *mut Options,
    find: IncludeFind,
    release: IncludeRelease,
    data: *mut c_void,
) -> Status {
    set(options, |options| {
        options.includes = find.is_some().then_some(Callbacks { find, release, data });
        Ok(())
    })
}

/// Enables an extension or a feature, such as "cl_khr_fp64" or "__opencl_c_images"; "-" before it disables it, "all"
/// means all of them.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_add_extension(options: *mut Options, name: *const c_char) -> Status {
    set(options, |options| {
        options.compiler.extensions.push(extension_switch(required(name)?));
        Ok(())
    })
}

/// Sets the optimization: a kiln_optimization.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_optimization(options: *mut Options, optimization: u32) -> Status {
    set(options, |options| options.set_optimization(optimization))
}

/// Sets whether the module has debug information, as -g.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_debug(options: *mut Options, debug: bool) -> Status {
    set(options, |options| {
        options.compiler.debug = debug;
        Ok(())
    })
}

/// Sets the implementation of memory_order_seq_cst on Vulkan: a kiln_seq_cst.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_seq_cst(options: *mut Options, seq_cst: u32) -> Status {
    set(options, |options| options.set_seq_cst(seq_cst))
}

/// Changes a warning, as -W: "NAME", "no-NAME", "error", "error=NAME", "no-error=NAME". A name is a code or a group:
/// "all", "extra", "pedantic".
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_add_warning(options: *mut Options, warning: *const c_char) -> Status {
    set(options, |options| {
        options.set_warning(required(warning)?);
        Ok(())
    })
}

/// Sets the maximum number of errors to report; further errors are only counted. 0 means no limit; the
/// default is 20.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_error_limit(options: *mut Options, limit: usize) -> Status {
    set(options, |options| {
        options.compiler.warnings.error_limit = limit;
        Ok(())
    })
}

/// Sets the kind of output of a compilation: a kiln_output.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_output(options: *mut Options, output: u32) -> Status {
    set(options, |options| options.set_output(output))
}

/// Sets the format of kiln_result_messages(): a kiln_format, and whether it has colors for terminals.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_options_set_format(options: *mut Options, format: u32, colors: bool) -> Status {
    set(options, |options| options.set_format(format, colors))
}

/// Compiles a source of `length` bytes. `name` is its name in messages and in __FILE__; files that it includes with
/// quotes are searched first in the folder of `name`. With NULL as `options`, uses those of kiln_options_new().
///
/// Returns a result even if the source has errors; free it with kiln_result_free().
#[unsafe(no_mangle)]
pub extern "C" fn kiln_compile(
    source: *const c_char,
    length: usize,
    name: *const c_char,
    options: *const Options,
) -> *mut Compilation {
    let result = || {
        let name = match required(name) {
            Ok(name) => name.to_owned(),
            Err(why) => return Compilation::without_module(Status::InvalidArgument, &why),
        };
        if source.is_null() && length != 0 {
            return Compilation::without_module(Status::InvalidArgument, "the source is NULL");
        }
        let source = Source { name, text: bytes(source, length).to_vec() };
        let standard = Options::default();
        let options = get(options).unwrap_or(&standard);
        match &options.includes {
            Some(callbacks) => Compilation::run(source, options, callbacks),
            None => Compilation::run(source, options, &Files),
        }
    };
    guarded(ptr::null_mut(), || {
        let failed = || Compilation::without_module(Status::InternalError, "internal error");
        let result = catch_unwind(AssertUnwindSafe(result)).unwrap_or_else(|_| failed());
        Box::into_raw(Box::new(result))
    })
}

/// Frees a result and everything that the functions below returned for it.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_free(result: *mut Compilation) {
    free(result);
}

/// The outcome.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_status(result: *const Compilation) -> Status {
    get(result).map_or(Status::InvalidArgument, |result| result.status)
}

/// The words of the module, in the byte order of this machine; NULL if there is no module.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_words(result: *const Compilation) -> *const u32 {
    let words = get(result).map_or(&[][..], |result| &result.words);
    if words.is_empty() { ptr::null() } else { words.as_ptr() }
}

/// The number of words of the module; 0 if there is no module.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_word_count(result: *const Compilation) -> usize {
    get(result).map_or(0, |result| result.words.len())
}

/// The assembly text or the preprocessed source; NULL if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_text(result: *const Compilation) -> *const c_char {
    pointer(get(result).and_then(|result| result.text.as_ref()))
}

/// The interface as JSON, as `kiln compile --emit json` writes it: kernels, parameters, types; NULL if the source has errors.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_interface(result: *const Compilation) -> *const c_char {
    pointer(get(result).and_then(|result| result.interface.as_ref()))
}

/// All diagnostics as text; "" if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_messages(result: *const Compilation) -> *const c_char {
    pointer(get(result).map(|result| &result.messages))
}

/// The number of errors, including those beyond the limit.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_error_count(result: *const Compilation) -> usize {
    get(result).map_or(0, |result| result.errors)
}

/// The number of warnings.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_warning_count(result: *const Compilation) -> usize {
    get(result).map_or(0, |result| result.warnings)
}

/// The number of diagnostics.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_diagnostic_count(result: *const Compilation) -> usize {
    get(result).map_or(0, |result| result.diagnostics.len())
}

/// The diagnostic with this index, in source order; NULL if the index is too large.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_diagnostic(result: *const Compilation, index: usize) -> *const Diagnostic {
    get(result).and_then(|result| result.diagnostics.get(index)).map_or(ptr::null(), ptr::from_ref)
}

/// The number of files that the source includes, directly or indirectly.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_dependency_count(result: *const Compilation) -> usize {
    get(result).map_or(0, |result| result.dependencies.len())
}

/// The path of the included file with this index, in the order of first use; NULL if the index is too large.
#[unsafe(no_mangle)]
pub extern "C" fn kiln_result_dependency(result: *const Compilation, index: usize) -> *const c_char {
    pointer(get(result).and_then(|result| result.dependencies.get(index)))
}

/// The file system.
struct Files;

impl Loader for Files {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }
}

/// The application's functions for included files.
#[derive(Clone, Copy)]
pub(crate) struct Callbacks {
    find: IncludeFind,
    release: IncludeRelease,
    data: *mut c_void,
}

// SAFETY: the header states that the functions are called on other threads. One compilation makes one call at a time.
unsafe impl Send for Callbacks {}
// SAFETY: as above; an application that compiles with the same options on several threads must supply functions that
// allow it.
unsafe impl Sync for Callbacks {}

impl Loader for Callbacks {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        let path = CString::new(path).ok()?;
        let mut file = IncludedFile { text: ptr::null(), length: 0, handle: ptr::null_mut() };
        // SAFETY: the arguments are valid during the call.
        let is_found = unsafe { self.find?(self.data, path.as_ptr(), &raw mut file) } != 0;
        is_found.then(|| {
            let text = bytes(file.text, file.length).to_vec();
            if let Some(release) = self.release {
                // SAFETY: as above.
                unsafe { release(self.data, &raw mut file) };
            }
            text
        })
    }
}

/// Runs a function and catches its panic. Returns `otherwise` after a panic.
fn guarded<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Changes options, and keeps the message if that fails.
fn set(options: *mut Options, change: impl FnOnce(&mut Options) -> Result<(), String>) -> Status {
    // SAFETY: the application passes options that it has not freed and that no other thread uses, or null.
    let Some(options) = (unsafe { options.as_mut() }) else { return Status::InvalidArgument };
    guarded(Status::InternalError, || {
        let outcome = change(options);
        options.error = c_string(outcome.as_ref().err().map_or("", String::as_str));
        if outcome.is_ok() { Status::Success } else { Status::InvalidArgument }
    })
}

/// The object of a handle; `None` for null.
fn get<'a, T>(handle: *const T) -> Option<&'a T> {
    // SAFETY: the application passes a handle that it has not freed and that no thread changes, or null.
    unsafe { handle.as_ref() }
}

/// Frees the object of a handle. Null is ignored.
fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the application passes a handle of `Box::into_raw` that it has not freed.
        guarded((), || drop(unsafe { Box::from_raw(handle) }));
    }
}

/// Converts a C string. `None` for null.
fn text<'a>(text: *const c_char) -> Result<Option<&'a str>, String> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the application passes a string that ends with a zero byte.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| "an argument is not UTF-8".to_owned())
}

/// Converts a C string that must not be null.
fn required<'a>(pointer: *const c_char) -> Result<&'a str, String> {
    text(pointer)?.ok_or_else(|| "an argument is NULL".to_owned())
}

/// The bytes at a pointer of the application. Empty for null.
fn bytes<'a>(first: *const c_char, length: usize) -> &'a [u8] {
    if first.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: the application passes this many bytes.
    unsafe { std::slice::from_raw_parts(first.cast(), length) }
}

/// The pointer to a string that is returned to the application; null for `None`.
fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(ptr::null(), |text| text.as_ptr())
}

#[cfg(test)]
mod tests;
