//! libkiln: the compiler as a C library.
//!
//! Only [`ffi`] contains unsafe code: it converts pointers of the application and exports the functions. `options` and
//! `compilation` do the work, and `data` has what the application reads. cbindgen generates `include/kiln.h` from these
//! files, and their comments are its documentation.
//!
//! Must not depend on the runtime.

pub mod compilation;
pub mod data;
#[allow(unsafe_code, reason = "pointers of the C interface; each use states why it is sound")]
pub mod ffi;
pub mod options;
mod strings;
