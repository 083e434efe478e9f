//! Everything that can go wrong, as one type: what happened, and what to do about it.
//!
//! Owns the texts. It must never know a back end's own error codes: back ends translate theirs into these.

use std::time::Duration;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, in a sentence that says what to do about it.
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
        /// What the system said.
        detail: String,
    },
    /// There is a loader, but no driver.
    #[error(
        "no Vulkan driver was found; install one, such as mesa-vulkan-drivers on Debian, or name its \
         manifest in VK_DRIVER_FILES"
    )]
    NoDriver,
    /// The layer that checks the use of the driver is not installed.
    #[error(
        "the validation layer was asked for but is not installed; install it, such as \
         vulkan-validationlayers on Debian, or unset KILN_VALIDATION"
    )]
    NoValidationLayer,
    /// No device can run kernels.
    #[error("no device can run OpenCL kernels: {}; install a newer driver", join(reasons))]
    NoSuitableDevice {
        /// For each device, what it lacks.
        reasons: Vec<String>,
    },
    /// No device matches the choice.
    #[error("no device matches `{wanted}`; there are {}", join(found))]
    NoSuchDevice {
        /// The name or index asked for.
        wanted: String,
        /// The devices there are.
        found: Vec<String>,
    },
    /// The device asked for cannot run kernels.
    #[error("{device} cannot run OpenCL kernels: it lacks {}; choose another device", join(lacks))]
    UnsuitableDevice {
        /// The device's name.
        device: String,
        /// What it lacks.
        lacks: Vec<String>,
    },
    /// The program uses something that the device does not have.
    #[error(
        "the program needs {feature}, which {device} does not have; compile it for this device or choose \
         another one"
    )]
    MissingFeature {
        /// The feature in OpenCL's words.
        feature: String,
        /// The device's name.
        device: String,
    },
    /// Memory of the device or the host is used up.
    #[error("out of memory while allocating {bytes} bytes on {device}; free buffers or use smaller ones")]
    OutOfMemory {
        /// The size of the allocation; 0 where unknown.
        bytes: u64,
        /// The device's name.
        device: String,
    },
    /// A buffer of a size that the device does not offer.
    #[error("a buffer of {bytes} bytes is not possible; the size must be 1 to {limit} bytes on this device")]
    BufferSize {
        /// The size asked for.
        bytes: u64,
        /// The largest possible.
        limit: u64,
    },
    /// Memory of the host that cannot be a buffer where it lies.
    #[error(
        "{bytes} bytes of the host at {address:#x} cannot be a buffer: address and size must be multiples of \
         {alignment} on this device; align them or copy the bytes to a new buffer"
    )]
    HostMemory {
        /// Where the memory begins.
        address: u64,
        /// Its size.
        bytes: u64,
        /// What both must be multiples of.
        alignment: u64,
    },
    /// A part of a buffer that lies outside it.
    #[error("bytes {start}..{end} lie outside the buffer, which has {size}; use a part of the buffer")]
    OutOfBounds {
        /// First byte.
        start: u64,
        /// One past the last byte.
        end: u64,
        /// The buffer's size in bytes.
        size: u64,
    },
    /// Bytes that do not make whole elements.
    #[error(
        "{bytes} bytes at offset {offset} are not whole elements of {element} bytes; use multiples of the \
         element size"
    )]
    PartialElement {
        /// The number of bytes.
        bytes: u64,
        /// Where they start.
        offset: u64,
        /// The size of an element.
        element: u64,
    },
    /// A copy from a buffer to an overlapping part of it.
    #[error(
        "{bytes} bytes cannot be copied from byte {from} to byte {to} of one buffer, as they overlap; \
         copy through another buffer"
    )]
    OverlappingCopy {
        /// Where the source begins.
        from: u64,
        /// Where the target begins.
        to: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// A fill pattern that OpenCL does not allow.
    #[error("a fill pattern of {bytes} bytes is not possible; use 1, 2, 4, 8, 16, 32, 64 or 128 bytes")]
    FillPattern {
        /// The pattern's size.
        bytes: usize,
    },
    /// An image of a format that the device has not.
    #[error("{device} has no {what}; ask `Device::image_support` for formats that it has")]
    ImageFormat {
        /// The shape and the format asked for.
        what: String,
        /// The device's name.
        device: String,
    },
    /// An image of a size that the device does not offer.
    #[error("an image of {size:?} texels is not possible; the sizes must be 1 to {limit:?} on this device")]
    ImageSize {
        /// The sizes asked for, layers last.
        size: [u32; 3],
        /// The largest possible.
        limit: [u32; 3],
    },
    /// A part of an image that lies outside it.
    #[error(
        "{size:?} texels from {origin:?} on lie outside the image, which has {image:?}; use a part of it"
    )]
    ImageRegion {
        /// The first texel.
        origin: [u32; 3],
        /// How many.
        size: [u32; 3],
        /// The image's size.
        image: [u32; 3],
    },
    /// A command on images that do not go together with it.
    #[error("the image cannot be {command}: {reason}")]
    ImageCommand {
        /// What was to be done.
        command: &'static str,
        /// Why it is not possible.
        reason: String,
    },
    /// Objects of two devices were mixed.
    #[error("{object} belongs to another device; create it on the device that uses it")]
    WrongDevice {
        /// What was passed.
        object: String,
    },
    /// The device stopped working.
    #[error(
        "the device was lost while running {}; open the device again, and check the kernel for accesses \
         outside its buffers or endless loops",
        or_commands(kernel)
    )]
    DeviceLost {
        /// The kernel that ran.
        kernel: Option<String>,
    },
    /// A command did not finish in time.
    #[error(
        "{} did not finish within {after:?}; check it for endless loops and waits between work-items, or \
         allow more time",
        or_commands(kernel)
    )]
    Timeout {
        /// The kernel that was waited for.
        kernel: Option<String>,
        /// How long was waited.
        after: Duration,
    },
    /// A command did not get to the device in time.
    #[error("a command still waits for a user event after {after:?}; complete the event")]
    Held {
        /// How long was waited.
        after: Duration,
    },
    /// A user event was failed.
    #[error("the user event failed: {reason}; the commands that wait for it have not run")]
    UserEvent {
        /// What its owner said.
        reason: String,
    },
    /// A command did not run, because one that it waits for failed.
    #[error("the command did not run, for one in its wait list failed: {cause}")]
    WaitList {
        /// Why that failed.
        #[source]
        cause: Box<Error>,
    },
    /// The module is not what it should be.
    #[error("the SPIR-V module cannot be used: {reason}; compile it again with `kiln compile`")]
    BadModule {
        /// What is wrong with it.
        reason: String,
    },
    /// The driver refused the kernel.
    #[error("the driver could not build kernel `{kernel}` ({detail}); check the module with spirv-val")]
    Build {
        /// The kernel.
        kernel: String,
        /// What the driver said.
        detail: String,
    },
    /// There is no such kernel.
    #[error("there is no kernel `{name}`{}", available(name, kernels))]
    NoSuchKernel {
        /// The name asked for.
        name: String,
        /// The kernels there are.
        kernels: Vec<String>,
    },
    /// There is no such argument.
    #[error("kernel `{kernel}` has no argument {wanted}; it has {}", arguments(names))]
    NoSuchArgument {
        /// The kernel.
        kernel: String,
        /// The name or index asked for.
        wanted: String,
        /// The arguments there are.
        names: Vec<String>,
    },
    /// An argument was not set.
    #[error("argument {index}{} of kernel `{kernel}` is not set; set it before the launch", named(name))]
    ArgumentNotSet {
        /// The kernel.
        kernel: String,
        /// The argument's index.
        index: usize,
        /// The argument's name.
        name: Option<String>,
    },
    /// An argument has the wrong kind or size.
    #[error("argument {index}{} of kernel `{kernel}` is {found}; pass {expected}", named(name))]
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
    /// A kernel with bounds checks touched memory that it was not given; the access had no effect.
    #[error(
        "kernel `{kernel}` accesses {bytes} bytes at {address:#x}, outside the buffers passed, at {site}; check its \
         indices, and name buffers that it reaches through stored pointers"
    )]
    OutsideBuffers {
        /// The kernel.
        kernel: String,
        /// Where in the source, as `file:line:column`.
        site: String,
        /// The address.
        address: u64,
        /// The number of bytes.
        bytes: u32,
    },
    /// A kernel with bounds checks touched what lies outside a local or private object; the access had no effect.
    #[error(
        "kernel `{kernel}` accesses {bytes} bytes at byte {distance} of `{objects}`, outside it, at {site}; check its indices"
    )]
    OutsideObject {
        /// The kernel.
        kernel: String,
        /// Where in the source, as `file:line:column`.
        site: String,
        /// The object, or those that it could have been.
        objects: String,
        /// How far from the beginning of the object, in bytes.
        distance: i64,
        /// The number of bytes.
        bytes: u32,
    },
    /// A kernel came to a trap, such as an assertion that does not hold. The work-item stopped there; the others went on.
    #[error(
        "kernel `{kernel}`, {site}, work-item ({}, {}, {}): {message}; check what the kernel is given",
        work_item[0], work_item[1], work_item[2]
    )]
    Trap {
        /// The kernel.
        kernel: String,
        /// Where in the source, as `file:line:column`.
        site: String,
        /// The global id of the first work-item that came to a trap.
        work_item: [u64; 3],
        /// What the trap says.
        message: String,
    },
    /// The launch is not possible.
    #[error("kernel `{kernel}` cannot be launched so: {reason}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The reference device found something that OpenCL leaves undefined.
    #[error("{0}")]
    Strict(Box<kiln_reference::Report>),
    /// The driver failed in a way that it should not.
    #[error("the driver failed in {operation} ({detail}); set KILN_VALIDATION=1 to learn more")]
    Driver {
        /// What was being done.
        operation: String,
        /// What the driver said.
        detail: String,
    },
}

fn join(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

fn or_commands(kernel: &Option<String>) -> String {
    kernel.as_ref().map_or_else(|| "a transfer".to_owned(), |kernel| format!("kernel `{kernel}`"))
}

fn named(name: &Option<String>) -> String {
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
        .map(|kernel| (distance(name, kernel), kernel))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, kernel)| *distance <= kernel.chars().count().div_ceil(3));
    match (nearest, kernels) {
        (_, []) => "; the module has none".to_owned(),
        (Some((_, kernel)), _) => format!("; did you mean `{kernel}`?"),
        (None, _) => format!("; there are {}", kernels.join(", ")),
    }
}

/// The number of single-character edits between two words (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != *y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
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

    #[test]
    fn edits_are_counted() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
