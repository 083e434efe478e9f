//! Error codes of the API, and their mapping from errors of the runtime.

use kiln_runtime::Error;
use opencl_sys::*;

/// An error code of OpenCL, never `CL_SUCCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) cl_int);

/// The result of every function that implements the C interface.
pub(crate) type Result<T = ()> = std::result::Result<T, Code>;

/// Fails with this code.
pub(crate) fn fail<T>(code: cl_int) -> Result<T> {
    Err(Code(code))
}

/// Fails with this code unless the condition holds.
pub(crate) fn ensure(holds: bool, code: cl_int) -> Result {
    if holds { Ok(()) } else { fail(code) }
}

impl From<Error> for Code {
    fn from(error: Error) -> Self {
        log(&error.to_string());
        Self(code(&error))
    }
}

/// Prints a message if `KILN_LOG` is set. OpenCL's error codes say little about the cause.
pub(crate) fn log(message: &str) {
    if std::env::var_os("KILN_LOG").is_some_and(|value| !value.is_empty() && value != "0") {
        eprintln!("kiln-opencl: {message}");
    }
}

/// The code for an error of the runtime.
pub(crate) fn code(error: &Error) -> cl_int {
    match error {
        Error::NoLoader { .. }
        | Error::NoDriver
        | Error::NoSuitableDevice { .. }
        | Error::UnsuitableDevice { .. }
        | Error::NoSuchDevice { .. } => CL_DEVICE_NOT_AVAILABLE,
        Error::OutOfMemory { .. } => CL_MEM_OBJECT_ALLOCATION_FAILURE,
        Error::BufferSize { .. } => CL_INVALID_BUFFER_SIZE,
        Error::HostMemory { .. } => CL_INVALID_HOST_PTR,
        Error::OutOfBounds { .. }
        | Error::PartialElement { .. }
        | Error::FillPattern { .. }
        | Error::ImageRegion { .. }
        | Error::ImageCommand { .. } => CL_INVALID_VALUE,
        Error::OverlappingCopy { .. } => CL_MEM_COPY_OVERLAP,
        Error::ImageFormat { .. } => CL_IMAGE_FORMAT_NOT_SUPPORTED,
        Error::ImageSize { .. } => CL_INVALID_IMAGE_SIZE,
        Error::ImageLevel { .. } => CL_INVALID_MIP_LEVEL,
        Error::WrongDevice { .. } => CL_INVALID_CONTEXT,
        Error::UserEvent { .. } | Error::WaitList { .. } => CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        Error::BadModule { .. } | Error::InvalidModule { .. } => CL_INVALID_BINARY,
        Error::MissingFeature { .. } | Error::Build { .. } => CL_BUILD_PROGRAM_FAILURE,
        Error::NoSuchKernel { .. } => CL_INVALID_KERNEL_NAME,
        Error::NoSuchArgument { .. } => CL_INVALID_ARG_INDEX,
        Error::ArgumentNotSet { .. } => CL_INVALID_KERNEL_ARGS,
        Error::WrongArgument { .. } => CL_INVALID_ARG_VALUE,
        _ => CL_OUT_OF_RESOURCES,
    }
}
