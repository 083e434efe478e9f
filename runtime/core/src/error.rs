//! All errors of the runtime: what happened, and what to do about it.
//!
//! Owns the messages. Must not contain a back end's error codes: back ends translate theirs into these errors.

use std::time::Duration;

/// The result type of all fallible functions in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error. Its message says what went wrong and what to do about it.
///
/// ```
/// use kiln_runtime::{Error, Instance, Options, Selector};
/// let instance = Instance::new(Options::default())?;
/// match instance.device(&Selector::Name("no such device".to_owned())) {
///     Err(Error::NoSuchDevice { wanted, found }) => assert!(wanted.starts_with("no such") && !found.is_empty()),
///     Err(error) => eprintln!("{error}"),
///     Ok(device) => println!("{}", device.name()),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The Vulkan loader could not be opened.
    #[error("the Vulkan loader was not found ({detail}); install it, such as libvulkan1 on Debian")]
    NoLoader {
        /// The system's error message.
        detail: String,
    },
    /// The loader found no driver.
    #[error(
        "no Vulkan driver was found; install one, such as mesa-vulkan-drivers on Debian, or name its \
         manifest in VK_DRIVER_FILES"
    )]
    NoDriver,
    /// The validation layer is not installed.
    #[error(
        "the validation layer was requested but is not installed; install it, such as \
         vulkan-validationlayers on Debian, or unset KILN_VALIDATION"
    )]
    NoValidationLayer,
    /// No device can run kernels.
    #[error("no device can run OpenCL kernels: {}; install a newer driver", join(reasons))]
    NoSuitableDevice {
        /// What each device lacks.
        reasons: Vec<String>,
    },
    /// No device matches the selector.
    #[error("no device matches `{wanted}`; there are {}", join(found))]
    NoSuchDevice {
        /// The requested name or index.
        wanted: String,
        /// The available devices.
        found: Vec<String>,
    },
    /// The requested device cannot run kernels.
    #[error("{device} cannot run OpenCL kernels: it lacks {}; choose another device", join(lacks))]
    UnsuitableDevice {
        /// The device's name.
        device: String,
        /// What it lacks.
        lacks: Vec<String>,
    },
    /// The program uses a feature that the device does not have.
    #[error(
        "the program needs {feature}, which {device} does not have; compile it for this device or choose \
         another one"
    )]
    MissingFeature {
        /// The feature, in OpenCL terms.
        feature: String,
        /// The device's name.
        device: String,
    },
    /// Device or host memory is exhausted.
    #[error("out of memory while allocating {bytes} bytes on {device}; free buffers or use smaller ones")]
    OutOfMemory {
        /// The size of the allocation; 0 if unknown.
        bytes: u64,
        /// The device's name.
        device: String,
    },
    /// The device does not support buffers of this size.
    #[error("a buffer of {bytes} bytes is not possible; the size must be 1 to {limit} bytes on this device")]
    BufferSize {
        /// The requested size.
        bytes: u64,
        /// The maximum size.
        limit: u64,
    },
    /// Host memory that cannot be imported as a buffer.
    #[error(
        "{bytes} bytes of the host at {address:#x} cannot be a buffer: address and size must be multiples of \
         {alignment} on this device; align them or copy the bytes to a new buffer"
    )]
    HostMemory {
        /// The address of the memory.
        address: u64,
        /// Its size.
        bytes: u64,
        /// The required alignment of both.
        alignment: u64,
    },
    /// A slice that is outside its buffer.
    #[error("bytes {start}..{end} lie outside the buffer, which has {size}; use a part of the buffer")]
    OutOfBounds {
        /// The first byte.
        start: u64,
        /// One past the last byte.
        end: u64,
        /// The buffer's size in bytes.
        size: u64,
    },
    /// A byte range that is not a whole number of elements.
    #[error(
        "{bytes} bytes at offset {offset} are not whole elements of {element} bytes; use multiples of the \
         element size"
    )]
    PartialElement {
        /// The number of bytes.
        bytes: u64,
        /// The offset of the first byte.
        offset: u64,
        /// The size of an element.
        element: u64,
    },
    /// A copy between overlapping ranges of one buffer.
    #[error(
        "{bytes} bytes cannot be copied from byte {from} to byte {to} of one buffer, as they overlap; \
         copy through another buffer"
    )]
    OverlappingCopy {
        /// The offset of the source.
        from: u64,
        /// The offset of the destination.
        to: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// A box of bytes with impossible sizes or pitches.
    #[error("the box of bytes is not possible: {reason}")]
    Rect {
        /// What is wrong with it.
        reason: String,
    },
    /// A fill pattern of a size that OpenCL does not allow.
    #[error("a fill pattern of {bytes} bytes is not possible; use 1, 2, 4, 8, 16, 32, 64 or 128 bytes")]
    FillPattern {
        /// The size of the pattern.
        bytes: usize,
    },
    /// An image format that the device does not support.
    #[error("{device} has no {what}; `Device::image_support` tells which formats it has")]
    ImageFormat {
        /// The requested shape and format.
        what: String,
        /// The device's name.
        device: String,
    },
    /// The device does not support images of this size.
    #[error("an image of {size:?} texels is not possible; the sizes must be 1 to {limit:?} on this device")]
    ImageSize {
        /// The requested size, layers last.
        size: [u32; 3],
        /// The maximum size.
        limit: [u32; 3],
    },
    /// A region that is outside its image.
    #[error(
        "{size:?} texels from {origin:?} on are outside the image, which has {image:?}; use a region inside it"
    )]
    ImageRegion {
        /// The first texel.
        origin: [u32; 3],
        /// The size of the region.
        size: [u32; 3],
        /// The image's size.
        image: [u32; 3],
    },
    /// A level that an image does not have, or a number of levels that it cannot have.
    #[error("level {level} of an image does not exist: it has up to {levels} levels")]
    ImageLevel {
        /// The level, or the number of levels.
        level: u32,
        /// The number of levels that it has or can have.
        levels: u32,
    },
    /// A command that does not apply to these images.
    #[error("the image cannot be {command}: {reason}")]
    ImageCommand {
        /// The command.
        command: &'static str,
        /// Why it does not apply.
        reason: String,
    },
    /// Objects of different devices were mixed.
    #[error("{object} belongs to another device; create it on the device that uses it")]
    WrongDevice {
        /// What was passed.
        object: String,
    },
    /// The device was lost.
    #[error(
        "the device was lost while running {}; open the device again, and check the kernel for accesses \
         outside its buffers or endless loops",
        or_commands(kernel)
    )]
    DeviceLost {
        /// The kernel that was running.
        kernel: Option<String>,
    },
    /// A command did not finish within the timeout.
    #[error(
        "{} did not finish within {after:?}; check it for endless loops and waits between work-items, or \
         allow more time",
        or_commands(kernel)
    )]
    Timeout {
        /// The kernel whose launch timed out.
        kernel: Option<String>,
        /// The timeout.
        after: Duration,
    },
    /// A command was not submitted to the device within the timeout.
    #[error(
        "a command still waits for a user event or a host command after {after:?}; complete the event, or check the \
         host command"
    )]
    Held {
        /// The timeout.
        after: Duration,
    },
    /// A user event was failed.
    #[error("the user event failed: {reason}; the commands that wait for it have not run")]
    UserEvent {
        /// The reason that the host gave.
        reason: String,
    },
    /// A host command failed.
    #[error("the host command failed: {reason}; the commands that wait for it have not run")]
    HostCommand {
        /// The reason that it gave.
        reason: String,
    },
    /// A command did not run because a command in its wait list failed.
    #[error("the command did not run, because a command in its wait list failed: {cause}")]
    WaitList {
        /// The error of that command.
        #[source]
        cause: Box<Error>,
    },
    /// The module is invalid.
    #[error("the SPIR-V module cannot be used: {reason}; compile it again with `kiln compile`")]
    BadModule {
        /// What is wrong with it.
        reason: String,
    },
    /// The module breaks a rule of SPIR-V or of its environment; no driver has seen it.
    #[error("the SPIR-V module is invalid: {finding}; `kiln verify` lists all violations")]
    InvalidModule {
        /// The first finding, with its location.
        finding: String,
        /// The identifier of the rule.
        rule: &'static str,
        /// The number of other findings.
        others: usize,
    },
    /// The driver rejected the kernel.
    #[error("the driver could not build kernel `{kernel}` ({detail}); check the module with spirv-val")]
    Build {
        /// The kernel.
        kernel: String,
        /// The driver's message.
        detail: String,
    },
    /// The program has no kernel with this name.
    #[error("there is no kernel `{name}`{}", available(name, kernels))]
    NoSuchKernel {
        /// The requested name.
        name: String,
        /// The program's kernels.
        kernels: Vec<String>,
    },
    /// The kernel has no such argument.
    #[error("kernel `{kernel}` has no argument {wanted}; it has {}", arguments(names))]
    NoSuchArgument {
        /// The kernel.
        kernel: String,
        /// The requested name or index.
        wanted: String,
        /// The kernel's arguments.
        names: Vec<String>,
    },
    /// An argument was not set.
    #[error(
        "argument {index}{} of kernel `{kernel}` is not set; set it before the launch",
        name_clause(name)
    )]
    ArgumentNotSet {
        /// The kernel.
        kernel: String,
        /// The argument's index.
        index: usize,
        /// The argument's name.
        name: Option<String>,
    },
    /// An argument has the wrong kind or size.
    #[error("argument {index}{} of kernel `{kernel}` is {found}; pass {expected}", name_clause(name))]
    WrongArgument {
        /// The kernel.
        kernel: String,
        /// The argument's index.
        index: usize,
        /// The argument's name.
        name: Option<String>,
        /// What the kernel takes.
        expected: String,
        /// What was passed.
        found: String,
    },
    /// A kernel with bounds checks accessed memory outside its buffers. The access had no effect.
    #[error(
        "kernel `{kernel}` accesses {bytes} bytes at {address:#x}, outside the buffers passed{}; check its \
         indices, and name buffers that it reaches through stored pointers",
        location_clause("at ", site)
    )]
    OutsideBuffers {
        /// The kernel.
        kernel: String,
        /// The source location, as `file:line:column`. Empty if the module has none.
        site: String,
        /// The address.
        address: u64,
        /// The number of bytes.
        bytes: u32,
    },
    /// A kernel with bounds checks accessed memory outside a local or private object. The access had no effect.
    #[error(
        "kernel `{kernel}` accesses {bytes} bytes at byte {distance} of `{objects}`, outside it{}; check its indices",
        location_clause("at ", site)
    )]
    OutsideObject {
        /// The kernel.
        kernel: String,
        /// The source location, as `file:line:column`. Empty if the module has none.
        site: String,
        /// The object, or the candidates if there are several.
        objects: String,
        /// The byte offset from the start of the object.
        distance: i64,
        /// The number of bytes.
        bytes: u32,
    },
    /// A kernel reached a trap, such as a failed assertion. The work-item stopped there; the others continued.
    #[error(
        "kernel `{kernel}`{}, work-item ({}, {}, {}): {message}; check the kernel's arguments",
        location_clause("", site), work_item[0], work_item[1], work_item[2]
    )]
    Trap {
        /// The kernel.
        kernel: String,
        /// The source location, as `file:line:column`. Empty if the module has none.
        site: String,
        /// The global id of the first work-item that reached a trap.
        work_item: [u64; 3],
        /// The trap's message.
        message: String,
    },
    /// The launch is impossible.
    #[error("kernel `{kernel}` cannot be launched: {reason}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The reference device detected undefined behavior.
    #[error("{0}")]
    Strict(Box<kiln_reference::Report>),
    /// An unexpected driver failure.
    #[error("the driver failed in {operation} ({detail}); set KILN_VALIDATION=1 to learn more")]
    Driver {
        /// The operation that failed.
        operation: String,
        /// The driver's message.
        detail: String,
    },
}

fn join(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// A clause with a source location for a message; empty if the location is unknown.
fn location_clause(word: &str, site: &str) -> String {
    if site.is_empty() { String::new() } else { format!(", {word}{site}") }
}

fn or_commands(kernel: &Option<String>) -> String {
    kernel.as_ref().map_or_else(|| "a transfer".to_owned(), |kernel| format!("kernel `{kernel}`"))
}

fn name_clause(name: &Option<String>) -> String {
    name.as_ref().map_or_else(String::new, |name| format!(" (`{name}`)"))
}

fn arguments(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        _ => names
            .iter()
            .enumerate()
            .map(
                |(index, name)| {
                    if name.is_empty() { index.to_string() } else { format!("{index} (`{name}`)") }
                },
            )
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn available(name: &str, kernels: &[String]) -> String {
    let nearest = kernels
        .iter()
        .map(|kernel| (strsim::levenshtein(name, kernel), kernel))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, kernel)| *distance <= kernel.chars().count().div_ceil(3));
    match (nearest, kernels) {
        (_, []) => "; the module has none".to_owned(),
        (Some((_, kernel)), _) => format!("; did you mean `{kernel}`?"),
        (None, _) => format!("; there are {}", kernels.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_kernel_is_named() {
        let kernels = vec!["histogram".to_owned(), "reduce".to_owned()];
        let error = |name: &str| Error::NoSuchKernel { name: name.to_owned(), kernels: kernels.clone() };
        assert_eq!(
            error("histogramm").to_string(),
            "there is no kernel `histogramm`; did you mean `histogram`?"
        );
        assert_eq!(error("scan").to_string(), "there is no kernel `scan`; there are histogram, reduce");
    }
}
