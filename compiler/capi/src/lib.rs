//! libkiln: the compiler as a C library.
//!
//! Only [`ffi`] contains unsafe code: it converts pointers of the application and exports the functions. `options` and
//! `compilation` do the work, and `data` has what the application reads. cbindgen generates `include/kiln.h` from these
//! files, and their comments are its documentation.
//!
//! ```
//! use kiln::{data::Status, ffi};
//!
//! let source = c"kernel void zero(global int *x) { *x = 0; }";
//! let (length, name) = (source.count_bytes(), c"zero.cl");
//! let result = ffi::kiln_compile(source.as_ptr(), length, name.as_ptr(), std::ptr::null());
//! assert_eq!(ffi::kiln_result_status(result), Status::Success);
//! assert!(ffi::kiln_result_word_count(result) > 0);
//! ffi::kiln_result_free(result);
//! ```
//!
//! Must not depend on the runtime.

pub mod compilation;
pub mod data;
#[allow(unsafe_code, reason = "pointers of the C interface; each use states why it is sound")]
pub mod ffi;
pub mod options;
mod strings;
