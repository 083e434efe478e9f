//! Calls the functions as applications do, including invalid calls.

use std::{
    cell::Cell,
    ffi::{CStr, c_int},
};

use super::*;

const KERNEL: &str = "#include \"a.h\"\nkernel void k(global int *p) { *p = A; }\n";

/// Compiles a source with these options and frees the result.
fn compiled<T>(source: &str, options: *const Options, look: impl FnOnce(*const Compilation) -> T) -> T {
    let result = kiln_compile(source.as_ptr().cast(), source.len(), c"k.cl".as_ptr(), options);
    let seen = look(result);
    kiln_result_free(result);
    seen
}

fn string(text: *const c_char) -> String {
    // SAFETY: the library returned it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[test]
fn null_arguments_are_errors() {
    let (none, nothing) = (ptr::null_mut::<Options>(), ptr::null_mut::<Compilation>());
    assert!(kiln_options_clone(none).is_null() && kiln_options_error(none).is_null());
    assert_eq!(kiln_options_set_debug(none, true), Status::InvalidArgument);
    kiln_options_free(none);
    assert_eq!(kiln_result_status(nothing), Status::InvalidArgument);
    assert!(kiln_result_words(nothing).is_null() && kiln_result_messages(nothing).is_null());
    assert_eq!(kiln_result_word_count(nothing) + kiln_result_diagnostic_count(nothing), 0);
    kiln_result_free(nothing);
    let options = kiln_options_new();
    assert_eq!(kiln_options_define(options, ptr::null(), ptr::null()), Status::InvalidArgument);
    assert_eq!(string(kiln_options_error(options)), "an argument is NULL");
    kiln_options_free(options);
    for (source, length, name) in [(ptr::null(), 1, c"k.cl".as_ptr()), (c"".as_ptr(), 0, ptr::null())] {
        let result = kiln_compile(source, length, name, ptr::null());
        assert_eq!(kiln_result_status(result), Status::InvalidArgument);
        assert!(string(kiln_result_messages(result)).contains("NULL"));
        kiln_result_free(result);
    }
}

#[test]
fn texts_and_numbers_are_checked() {
    let options = kiln_options_new();
    assert_eq!(kiln_options_define(options, c"\xff".as_ptr(), ptr::null()), Status::InvalidArgument);
    assert_eq!(string(kiln_options_error(options)), "an argument is not UTF-8");
    assert_eq!(kiln_options_set_output(options, 77), Status::InvalidArgument);
    assert_eq!(string(kiln_options_error(options)), "there is no output 77");
    assert_eq!(kiln_options_set_output(options, 1), Status::Success);
    assert_eq!(string(kiln_options_error(options)), "");
    let text = compiled("kernel void k(void) { }", options, |result| string(kiln_result_text(result)));
    assert!(text.contains("OpEntryPoint"), "{text}");
    kiln_options_free(options);
}

/// Counts the files that it found and that were released.
struct Counts {
    found: Cell<usize>,
    released: Cell<usize>,
}

unsafe extern "C" fn find(data: *mut c_void, path: *const c_char, file: *mut IncludedFile) -> c_int {
    // SAFETY: `data` is that of the test, and the library passes a path and a file.
    let (counts, path, file) = unsafe { (&*data.cast::<Counts>(), CStr::from_ptr(path), &mut *file) };
    if path != c"k/a.h" {
        return 0;
    }
    counts.found.set(counts.found.get() + 1);
    (file.text, file.length, file.handle) = (c"#define A 1\n".as_ptr(), 12, data);
    1
}

unsafe extern "C" fn release(data: *mut c_void, file: *mut IncludedFile) {
    // SAFETY: as above.
    let (counts, file) = unsafe { (&*data.cast::<Counts>(), &*file) };
    assert_eq!(file.handle, data);
    counts.released.set(counts.released.get() + 1);
}

#[test]
fn each_included_file_is_released() {
    let counts = Counts { found: Cell::new(0), released: Cell::new(0) };
    let options = kiln_options_new();
    let missing = compiled(KERNEL, options, |result| kiln_result_error_count(result));
    assert_eq!(missing, 1, "the file, not the macro that it may define");
    kiln_options_add_include_folder(options, c"k".as_ptr());
    kiln_options_set_include_callbacks(
        options,
        Some(find),
        Some(release),
        (&raw const counts).cast_mut().cast(),
    );
    compiled(KERNEL, options, |result| {
        assert_eq!(kiln_result_status(result), Status::Success, "{}", string(kiln_result_messages(result)));
        assert_eq!(kiln_result_dependency_count(result), 1);
        assert_eq!(string(kiln_result_dependency(result, 0)), "k/a.h");
        assert!(kiln_result_dependency(result, 1).is_null() && kiln_result_diagnostic(result, 0).is_null());
        assert!(string(kiln_result_interface(result)).contains("\"k\""));
    });
    assert!(counts.found.get() > 0);
    assert_eq!(counts.found.get(), counts.released.get());
    kiln_options_free(options);
}
