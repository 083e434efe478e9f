//! The data that the application reads and writes: numbers of enumerations, and structures with pointers into a result.

use std::ffi::{c_char, c_int, c_void};

/// The outcome of a function.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It succeeded. A compilation may have warnings.
    Success = 0,
    /// The source has errors, which are the diagnostics of the result.
    Errors = 1,
    /// An argument is wrong; see kiln_options_error() and kiln_result_messages().
    InvalidArgument = 2,
    /// The compiler has a bug, which kiln_result_messages() describes. Please report it.
    InternalError = 3,
}

/// The version of OpenCL C, with the values of __OPENCL_C_VERSION__.
#[repr(C)]
pub enum Language {
    /// OpenCL C 1.0
    Cl10 = 100,
    /// OpenCL C 1.1
    Cl11 = 110,
    /// OpenCL C 1.2
    Cl12 = 120,
    /// OpenCL C 2.0, the default
    Cl20 = 200,
    /// OpenCL C 3.0
    Cl30 = 300,
    /// OpenCL C 3.1
    Cl31 = 310,
}

/// The environment of a module.
#[repr(C)]
pub enum Environment {
    /// Vulkan 1.2 with the Vulkan memory model, the default
    Vulkan = 0,
    /// OpenCL, for clCreateProgramWithIL()
    Opencl = 1,
}

/// The optimization of a module.
#[repr(C)]
pub enum Optimization {
    /// No passes that only improve speed, as -O0
    None = 0,
    /// All passes, the default
    Speed = 1,
}

/// The implementation of memory_order_seq_cst on Vulkan, which has no such order.
#[repr(C)]
pub enum SeqCst {
    /// Sequentially consistent, the default
    Strict = 0,
    /// Acquire-release, as in other compilers, with a warning
    AcqRel = 1,
}

/// The kind of output of a compilation.
#[repr(C)]
pub enum Output {
    /// A module, the default: kiln_result_words()
    Spirv = 0,
    /// The assembly text of a module: kiln_result_text()
    Assembly = 1,
    /// The source after preprocessing: kiln_result_text()
    Preprocessed = 2,
    /// Diagnostics only
    Nothing = 3,
}

/// The format of kiln_result_messages().
#[repr(C)]
pub enum Format {
    /// With source lines, the default
    Rich = 0,
    /// `file:line:column: error[code]: message`
    Short = 1,
    /// `file:line:column: error: message [-Wname]`
    Gcc = 2,
    /// One JSON object per line
    Json = 3,
    /// A SARIF log
    Sarif = 4,
}

/// The severity of a diagnostic.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// There is a module.
    Warning = 0,
    /// There is no module.
    Error = 1,
}

/// A range of a file.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Location {
    /// The name of the source or of an included file, or of a #line directive; NULL for a message without location.
    pub file: *const c_char,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the end.
    pub end_column: u32,
    /// The offset of the first byte in the file.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

/// Another location that a diagnostic refers to.
#[repr(C)]
#[derive(Debug)]
pub struct Label {
    /// The location.
    pub location: Location,
    /// The text of the label.
    pub text: *const c_char,
}

/// A change of a file that repairs a mistake.
#[repr(C)]
#[derive(Debug)]
pub struct Fix {
    /// A short description.
    pub title: *const c_char,
    /// The text that it replaces, perhaps in a different file from the mistake. May be empty.
    pub location: Location,
    /// The new text.
    pub replacement: *const c_char,
}

/// A message about the source. Later versions of the library may add members at the end.
#[repr(C)]
#[derive(Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The code, such as "undeclared-name"; `kiln explain CODE` explains it.
    pub code: *const c_char,
    /// The message: one sentence without a full stop.
    pub message: *const c_char,
    /// The location of the mistake.
    pub location: Location,
    /// The label of this location; may be "".
    pub label: *const c_char,
    /// Other locations.
    pub labels: *const Label,
    /// The number of other locations.
    pub label_count: usize,
    /// Suggestions.
    pub help: *const *const c_char,
    /// The number of suggestions.
    pub help_count: usize,
    /// Reasons, with the section of the specification.
    pub notes: *const *const c_char,
    /// The number of reasons.
    pub note_count: usize,
    /// A change that repairs the mistake, or NULL.
    pub fix: *const Fix,
}

/// An included file, as the application passes it.
#[repr(C)]
#[derive(Debug)]
pub struct IncludedFile {
    /// The bytes. They must stay valid until the file is released.
    pub text: *const c_char,
    /// The number of bytes.
    pub length: usize,
    /// For the application.
    pub handle: *mut c_void,
}

/// Finds an included file. The path is an include folder, or the folder of the including file, joined with the name in the
/// directive. Returns 0 if there is no such file; the compiler then tries the next folder.
///
/// Kiln calls it on another thread while kiln_compile() waits, never concurrently for one compilation. It must not
/// throw exceptions.
pub type IncludeFind =
    Option<unsafe extern "C" fn(data: *mut c_void, path: *const c_char, file: *mut IncludedFile) -> c_int>;

/// Releases an included file, which the compiler has copied. Called once for each file that was found.
pub type IncludeRelease = Option<unsafe extern "C" fn(data: *mut c_void, file: *mut IncludedFile)>;
