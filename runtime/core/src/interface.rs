//! The interface of a program: its kernels, their arguments, and the location of each value at a launch.
//!
//! Owns the data. `reflection.rs` reads it from a module, and the back ends follow it. Must not depend on how a back
//! end passes a value, nor on the compiler.
//!
//! # Required contents of a module
//!
//! The module itself contains the interface, as `NonSemantic.ClspvReflection.<N>` instructions (SPIRV-Registry,
//! `nonsemantic/NonSemantic.ClspvReflection`). Emit version 5: Debian's spirv-val rejects 6 and 7, which add nothing
//! that Kiln needs. The runtime reads versions 1 to 7. The instructions do not allow forward references, so they
//! follow the last function. Every numeric operand is the id of a 32-bit `OpConstant`, and every text operand the id
//! of an `OpString`.
//!
//! **Kernels.** Each kernel has one `OpEntryPoint GLCompute` and one `Kernel(function, name, NumArguments, Flags,
//! Attributes)`. `name` is the name of the entry point. `Flags` is 0 or `MayUsePrintf`. `Attributes` are the source's
//! attributes, separated by spaces; the operand is omitted if there are no attributes but a required size.
//!
//! **Work-group size.** `SpecConstantWorkgroupSize(x, y, z)` contains the `SpecId`s of the three 32-bit constants
//! that form the object decorated `BuiltIn WorkgroupSize`. The runtime sets them for every dispatch; non-uniform
//! work-groups need them. If every kernel has `PropertyRequiredWorkgroupSize(kernel, x, y, z)`
//! (`reqd_work_group_size`), which the runtime enforces, and none reads the size, the module has a literal
//! `LocalSize` instead, and the runtime adds the constants (`sizing.rs`).
//!
//! **Arguments.** One instruction for each argument, including unused ones (an argument without one is accepted
//! unchecked and dropped). `info` is an `ArgumentInfo(name, typeName, address, access, typeQualifier)` with the
//! numbers of `clGetKernelArgInfo`. The last three operands are present if `-cl-kernel-arg-info` requests them, or if
//! they differ from the defaults that the instruction implies (pointers are to global memory, and nothing is
//! qualified). Identical arguments may share one. The command line finds arguments by that name.
//!
//! | argument | instruction | what the runtime writes |
//! |---|---|---|
//! | pointer to global or constant memory | `ArgumentPointerPushConstant(kernel, ordinal, offset, 8, info)` | the 64-bit device address, little-endian; 0 for a null pointer. The alignment is at least 128 bytes for the start of a buffer |
//! | value (scalar, vector, structure) | `ArgumentPodPushConstant(kernel, ordinal, offset, size, info)` | the `size` bytes of the value in OpenCL's layout (a 3-component vector has the size of four) |
//! | pointer to local memory | `ArgumentWorkgroup(kernel, ordinal, specId, elementSize, info)` | the specialization constant `specId` (32 bits): the number of elements, `ceil(bytes / elementSize)`, at least 1 |
//! | queue | like a value of 8 bytes, of type `queue_t` | 1, or 0 for a null queue |
//! | pipe | like a pointer, with the bit `CL_KERNEL_ARG_TYPE_PIPE` (8) in `typeQualifier` | the address of a ring of packets, which `pipe.rs` of `kiln-vocabulary` describes |
//! | image | `ArgumentSampledImage` (read_only), `ArgumentStorageImage`, `ArgumentUniformTexelBuffer` (read_only `image1d_buffer_t`), `ArgumentStorageTexelBuffer` `(kernel, ordinal, set, binding, info)` | the descriptor; images are in the general layout |
//! | sampler | `ArgumentPodPushConstant` or `ArgumentPodUniform` of 4 bytes, of type `sampler_t`, if no kernel code samples with the device | the bits of OpenCL C (6.15.15.1) |
//! | sampler of the device | `ArgumentSampler(kernel, ordinal, set, binding, info)` | the descriptor, and the bits where the kernel reads them (below) |
//!
//! **Image properties.** `ImageArgumentInfoChannelOrderPushConstant(kernel, ordinal, offset, 4)` and
//! `ImageArgumentInfoChannelDataTypePushConstant` give the offset at which the kernel reads OpenCL's number of the
//! channel order or type of the image argument `ordinal`; `…Uniform(kernel, ordinal, set, binding, offset, 4)` does
//! the same in a uniform buffer. `get_image_channel_order` needs them, and so do a border color that depends on the
//! order and writes to sRGB images: an argument that a kernel writes can be an sRGB image only if the module has its order.
//!
//! **Device samplers.** `ArgumentSampler` is a bound `sampler_t`, and `LiteralSampler(set, binding, mask)` is one that
//! every kernel of the module finds bound there, with the bits of OpenCL C. `NormalizedSamplerMaskPushConstant(kernel,
//! ordinal, offset, 4)` passes the bits of argument `ordinal` to the kernel; `SamplerUniform(kernel, ordinal, set,
//! binding, offset)` (6) of `NonSemantic.Kiln.1` does the same in a uniform buffer. The sampler bound for it always
//! takes normalized coordinates, because the kernel itself normalizes them. Neither devices nor OpenCL have repeating
//! addressing modes for unnormalized coordinates. Kiln's modules use device samplers for reads of floats with
//! normalized coordinates or a linear filter, and bind literal samplers in set 1.
//!
//! **Argument block.** Push constants are one block of at most 128 bytes on every device (offsets count from the
//! start of the block; pointers are at multiples of 8). If execution state and arguments together exceed that, the
//! arguments that do not fit go into a uniform buffer instead: `ArgumentPointerUniform(kernel, ordinal, set, binding,
//! offset, 8, info)` and `ArgumentPodUniform(kernel, ordinal, set, binding, offset, size, info)`, which one kernel
//! may combine with push-constant arguments. Use `set` 0, `binding` 0. The runtime gives each launch its own block,
//! which ends after the last argument, rounded up to 16 bytes; 16,384 bytes are guaranteed to work. Declaring the
//! block as an array of `uvec4` (stride 16) and extracting words makes it independent of layout and 8/16-bit storage
//! features. (`ArgumentPodStorageBuffer`, in a storage buffer, is accepted too.)
//!
//! **Execution state.** Each value is three 32-bit words (size 12) for dimensions 0, 1, 2, and is present only if a
//! kernel of the module reads it. These instructions name no kernel: the offset is the same in *all* kernels of the
//! module, so the state comes first in the block and the arguments of each kernel follow it. Unused dimensions have
//! size 1 and offset 0.
//!
//! | instruction | value | gives |
//! |---|---|---|
//! | `PushConstantGlobalOffset` | the launch's offset | `get_global_offset` |
//! | `PushConstantGlobalSize` | the launch's global size | `get_global_size` |
//! | `PushConstantEnqueuedLocalSize` | the requested or chosen local size, without reduction at the edges | `get_enqueued_local_size` |
//! | `PushConstantNumWorkgroups` | the number of groups of the whole launch, including partial ones | `get_num_groups` |
//! | `PushConstantRegionOffset` | global offset **plus** the first work-item of this region | `get_global_id = RegionOffset + GlobalInvocationId` |
//! | `PushConstantRegionGroupOffset` | the first group of this region | `get_group_id = RegionGroupOffset + WorkgroupId` |
//!
//! `get_local_size` is the `WorkgroupSize` object (the size of this region's groups, which can be partial), and
//! `get_local_id` is `LocalInvocationId`. A launch is one or more *regions*, one dispatch each: up to eight if global
//! sizes are not multiples of the local size, and more if a group count exceeds the device's limit. Therefore never
//! use the SPIR-V built-in `NumWorkgroups`, and use `GlobalInvocationId` and `WorkgroupId` only with the region's
//! offset. A module that uses one of them without declaring the corresponding push constant can be launched only as a
//! single region; other launches are rejected with an error. `SpecConstantWorkDim(id)` is the number of dimensions
//! (`get_work_dim`), `SpecConstantSubgroupMaxSize(id)` the device's sub-group size, and `SpecConstantGlobalOffset(x,
//! y, z)` the offset as constants.
//!
//! **Program-scope variables.** `ProgramScopeVariablePointerPushConstant(offset, 8, data)`: the address of a buffer
//! that the runtime allocates and initializes once for each program, and that keeps its contents between launches;
//! `data` is its initial contents in lower-case hexadecimal, first byte first (its length is the size of the buffer;
//! zeros are written out). `ConstantDataPointerPushConstant(offset, 8, data)` is the same for `__constant` tables. An
//! `OpString` holds at most 65,534 characters (SPIR-V 2.17), which is 32,767 bytes: longer data continues in further
//! instructions of the same kind, with the same offset, in order.
//! `ProgramScopeVariablePointerRelocation(objectOffset, pointerOffset, 8)`: at `pointerOffset` of the variable buffer
//! the runtime stores the address of `objectOffset` of the same buffer. An object whose address is stored is
//! therefore in the variable buffer, even if it is `__constant`. Both addresses belong to the execution state, so
//! their offsets are the same in all kernels. The hidden word of sequentially consistent fences is an ordinary 32-bit
//! zero in the variable buffer. The buffers are aligned to at least 128 bytes.
//!
//! **`printf`.** `PrintfBufferPointerPushConstant(offset, 8, size)`: the address of a buffer of `size` bytes, a
//! multiple of 4, that the runtime allocates for each launch of a kernel whose `Flags` contain `MayUsePrintf` (1).
//! The runtime sets its first word to zero. The address is part of the execution state. The first word counts the
//! words that calls have requested, and can exceed the size of the buffer. The words of each call follow: its number
//! and its arguments, each rounded up to whole words; the components of a vector are contiguous, and a string literal
//! is its number. A call whose arguments do not fit writes only its number, if that fits, and nothing follows it.
//! `PrintfInfo(number, text, size …)` contains the format of a call with the size of each argument in bytes, or a
//! string, without sizes. Integers have 4 or 8 bytes, floats 2, 4 or 8. `PrintfBufferStorageBuffer(set, binding,
//! size)` is the same with the buffer bound.
//!
//! **Bounds checks.** A module that checks its accesses has two instructions of `NonSemantic.Kiln.1`. `Bounds(offset,
//! ranges, arguments)` (1) gives the offset of its table in the buffer of program-scope variables, and the table's
//! capacity of ranges and arguments. A `Site(text, objects)` (2) follows for each checked access, in order; `objects`
//! names the local or private objects that the access must stay in. The table starts with the number of ranges, a
//! word that an out-of-bounds access sets to a non-zero value, and that access's address (64 bits), size and site. At
//! byte 24 follow the ranges, start and end of 64 bits each, and after their capacity the size of the local memory of
//! each argument (32 bits). For local and private memory, the address is the offset from the start of the object. The
//! runtime writes the table before each launch of the program.
//!
//! **Traps.** A module with traps has two more instructions of `NonSemantic.Kiln.1`. `Traps(offset)` (3) is the offset
//! of a record in the printf buffer, after the words of `printf`: a word that the first trap sets to a non-zero value,
//! the number of that trap, and the work-item's global id in three words. The runtime sets the first word to zero. A
//! `Trap(location, message)` (4) for each trap, in order, contains the location and message of the resulting error. In
//! modules for OpenCL a trap is a `printf` whose name is `kiln.trap`.
//!
//! **Workarounds.** `Workaround(name)` (5) of `NonSemantic.Kiln.1`, one for each driver bug that the module works
//! around, with its name in `kiln_vocabulary::driver_bugs`. The runtime ignores unknown names.
//!
//! **Proved launch.** `ProvedLaunch(kernel, lines, global x, y, z, local x, y, z)` (13) of `NonSemantic.Kiln.1`: the synchronization
//! of the kernel with this name is proved for these sizes only, without an offset. `lines` contains the source lines whose operations
//! are weaker than those that hold for every launch, in decimal, separated by spaces. The runtime rejects other launches of the kernel.
//!
//! **Written levels.** `WrittenLevel(kernel, ordinal, set, binding, level)` (12) of `NonSemantic.Kiln.1` is the storage image for
//! a level of the image argument `ordinal` that the kernel writes. The argument's own binding is its first level. The runtime binds
//! any level of an image that has fewer.
//!
//! **Unused arguments.** `UnusedArgument(kernel, ordinal, info)` (7) of `NonSemantic.Kiln.1` describes an argument that
//! has no location because the kernel does not use it.
//!
//! **Device-side enqueue.** `DeviceQueue(offset)` (8) of `NonSemantic.Kiln.1` is the offset of the address of a queue, which
//! the runtime allocates for each launch of a kernel with `UsesQueue(kernel)` (9). `device_queue.rs` of `kiln-vocabulary`
//! describes the queue. `Command(offset)` (11) is the offset of the number of the command that runs the kernel, 64 bits, which
//! the kernel writes to its records. `Block(kernel)` (10) marks a kernel that only kernels enqueue; records name it by its number among
//! such kernels. Its first argument is the values that the block captures, and the others are local memory.
//!
//! **Local memory.** The runtime adds up the local arguments and the Workgroup variables that the kernel's entry
//! point lists (SPIR-V 1.4 and later), and rejects a launch that exceeds the device's local memory.
//!
//! The runtime removes these instructions, their strings and their import before passing the module to a driver.

use std::collections::HashMap;
use std::sync::Arc;

use kiln_vocabulary::driver_bugs::Workarounds;
use kiln_vocabulary::reflection::ProvedLaunch;

use crate::capabilities::Environment;
use crate::error::Result;
use crate::module::Module;
use crate::sampler::Sampler;
use crate::{reflection, signature};

/// The interface of all kernels of one module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramInterface {
    /// The kernels, in module order.
    pub kernels: Vec<KernelInterface>,
    /// The blocks that kernels enqueue, in module order.
    pub blocks: Vec<KernelInterface>,
    /// Offset in the push constants, in bytes, of the address of the queue for device-side enqueue.
    pub device_queue: Option<u32>,
    /// Offset in the push constants, in bytes, of the number of the command that runs the kernel.
    pub command: Option<u32>,
    /// Specialization constants of the work-group size.
    pub local_size: Option<[SpecId; 3]>,
    /// Specialization constant of the number of dimensions.
    pub work_dim: Option<SpecId>,
    /// Specialization constants of the global offset.
    pub global_offset: Option<[SpecId; 3]>,
    /// Specialization constant of the maximum sub-group size.
    pub sub_group_size: Option<SpecId>,
    /// Execution state in the push constants, the same for every kernel.
    pub state: Vec<StateField>,
    /// The program-scope variables.
    pub variables: Option<ProgramData>,
    /// The program-scope constants.
    pub constants: Option<ProgramData>,
    /// Pointers in the program-scope variables.
    pub relocations: Vec<Relocation>,
    /// The ids that kernels read without their region's offset.
    pub position: Position,
    /// The bounds table, in a program compiled with bounds checks.
    pub bounds: Option<BoundsTable>,
    /// The printf buffer and formats.
    pub printf: Option<Arc<Printf>>,
    /// Device samplers that are bound for all kernels.
    pub samplers: Vec<LiteralSampler>,
    /// The driver bugs that the module works around.
    pub workarounds: Workarounds,
    /// The only launch for which the module is valid, if there is one.
    pub proved_launch: Option<ProvedLaunch>,
}

/// A device sampler that the module itself defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiteralSampler {
    /// The sampler's binding.
    pub binding: Binding,
    /// The sampler's state.
    pub sampler: Sampler,
}

/// The printf buffer and its formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printf {
    /// The location of the buffer.
    pub location: DataLocation,
    /// The size of the buffer in bytes.
    pub size: u32,
    /// Formats and strings, by number.
    pub texts: HashMap<u32, PrintedText>,
    /// The traps of the program.
    pub traps: Traps,
}

/// The trap sites of a program, and the record that a trap writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traps {
    /// Byte offset of the trap record in the printf buffer.
    pub offset: u32,
    /// The trap sites, by number.
    pub sites: Vec<TrapSite>,
}

/// A trap site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrapSite {
    /// The source location, as `file:line:column`.
    pub location: String,
    /// The trap's message.
    pub message: String,
}

/// A format string, or a string argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrintedText {
    /// The bytes of the string.
    pub text: Vec<u8>,
    /// The size of each argument in bytes.
    pub sizes: Vec<u32>,
}

/// The table of a program compiled with bounds checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundsTable {
    /// Its byte offset in the program-scope variables.
    pub offset: u32,
    /// Its capacity in ranges.
    pub ranges: u32,
    /// Its capacity in arguments.
    pub arguments: u32,
    /// The checked accesses, by number.
    pub sites: Vec<BoundsSite>,
}

/// A checked access.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundsSite {
    /// The source location, as `file:line:column`.
    pub location: String,
    /// The local or private objects that the access must stay in; empty for global memory.
    pub objects: String,
}

/// The `SpecId` of a specialization constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpecId(pub u32);

/// The ids that a kernel reads without adding the region's offset. Such a kernel can run only as a single region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Reads global ids relative to the dispatch.
    pub raw_global_id: bool,
    /// Reads group ids relative to the dispatch.
    pub raw_group_id: bool,
    /// Reads the number of groups of the dispatch.
    pub raw_num_groups: bool,
}

/// A value of the execution state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateField {
    /// The kind of value.
    pub value: StateValue,
    /// Offset in the push constants, in bytes; three 32-bit words follow.
    pub offset: u32,
}

/// The values of the execution state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateValue {
    /// `get_global_offset`
    GlobalOffset,
    /// `get_global_size`
    GlobalSize,
    /// `get_enqueued_local_size`
    EnqueuedLocalSize,
    /// `get_num_groups`
    NumGroups,
    /// Global offset plus the region's first work-item.
    RegionOffset,
    /// The region's first work-group.
    RegionGroupOffset,
}

/// A buffer of the program: its location and its initial contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramData {
    /// The location of the buffer.
    pub location: DataLocation,
    /// The initial contents.
    pub bytes: Vec<u8>,
}

/// How kernels find a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataLocation {
    /// By its address, at this offset of the push constants.
    Address {
        /// Offset in the push constants, in bytes.
        offset: u32,
    },
    /// By a binding of the whole buffer.
    Bound(Binding),
}

/// A pointer in the program-scope variables, which is set when the program is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// Byte offset of the object pointed to.
    pub object: u32,
    /// Byte offset of the stored pointer.
    pub pointer: u32,
}

/// A kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInterface {
    /// The name of the kernel and its entry point.
    pub name: String,
    /// The arguments, by ordinal.
    pub arguments: Vec<Argument>,
    /// `reqd_work_group_size`.
    pub required_local_size: Option<[u32; 3]>,
    /// The kernel's attributes as written, separated by spaces.
    pub attributes: String,
    /// Image properties passed to the kernel.
    pub image_facts: Vec<ImageFact>,
    /// Bits of bound samplers passed to the kernel.
    pub sampler_facts: Vec<SamplerFact>,
    /// The levels of images that the kernel writes and that are bound separately.
    pub written_levels: Vec<WrittenLevel>,
    /// Whether it may call `printf`.
    pub prints: bool,
    /// Whether it uses the queue for device-side enqueue.
    pub uses_queue: bool,
    /// The size in bytes of the local memory of the program's own variables, if the module contains it.
    pub static_local_size: u32,
}

/// An image property passed to a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageFact {
    /// The ordinal of the image argument.
    pub argument: u32,
    /// The property.
    pub what: ImageFactKind,
    /// The location of its four bytes.
    pub location: ArgumentLocation,
}

/// A level of an image that a kernel writes. The image's own binding is its first level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenLevel {
    /// The ordinal of the image argument.
    pub argument: u32,
    /// The level.
    pub level: u32,
    /// The binding of the level.
    pub binding: Binding,
}

/// The bits of a sampler, passed to a kernel. The bound sampler takes normalized coordinates: the kernel itself
/// normalizes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplerFact {
    /// The ordinal of the sampler argument.
    pub argument: u32,
    /// The location of its four bytes.
    pub location: ArgumentLocation,
}

/// An image property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFactKind {
    /// The number of its channel order.
    ChannelOrder,
    /// The number of its channel type.
    ChannelType,
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Name and type, if the module contains them.
    pub info: Option<ArgumentInfo>,
    /// The kind of the argument and its location.
    pub kind: ArgumentKind,
}

/// The contents of `clGetKernelArgInfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentInfo {
    /// The parameter's name.
    pub name: String,
    /// The type as written, such as `uint4*`; empty if unknown.
    pub type_name: String,
    /// `CL_KERNEL_ARG_ADDRESS_*`.
    pub address: Option<u32>,
    /// `CL_KERNEL_ARG_ACCESS_*`.
    pub access: Option<u32>,
    /// `CL_KERNEL_ARG_TYPE_*`, a set of bits.
    pub type_qualifier: Option<u32>,
}

/// The kind of an argument, and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// The kernel does not use it.
    Unused,
    /// The address of a buffer, 64 bits.
    Pointer(ArgumentLocation),
    /// A plain value.
    Value {
        /// Its location.
        location: ArgumentLocation,
        /// Its size in bytes.
        size: u32,
    },
    /// Local memory, sized by the launch.
    Local {
        /// The constant that contains the number of elements.
        count: SpecId,
        /// The size of an element in bytes.
        element_size: u32,
    },
    /// A whole buffer, bound as clspv does without physical addressing.
    Buffer(Binding),
    /// An image.
    Image(Binding),
    /// A device sampler, as in clspv's modules. Kiln's own modules take samplers as values.
    Sampler(Binding),
    /// A pipe: its address, or a handle in the OpenCL environment, 64 bits.
    Pipe(ArgumentLocation),
    /// A queue for device-side enqueue, 64 bits: not zero unless it is null.
    Queue(ArgumentLocation),
    /// A kind that the runtime does not support yet, in OpenCL terms.
    Unsupported(&'static str),
}

/// The location of an argument's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentLocation {
    /// In the push constants.
    PushConstants {
        /// Offset in bytes.
        offset: u32,
    },
    /// In an argument block.
    Block {
        /// The binding of the block.
        binding: Binding,
        /// Offset in bytes.
        offset: u32,
    },
}

/// A descriptor binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// The kind of descriptor.
    pub class: BindingClass,
}

/// The kind of descriptor that a kernel declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BindingClass {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer.
    Storage,
    /// A sampled image.
    SampledImage,
    /// A storage image.
    StorageImage,
    /// A uniform texel buffer.
    UniformTexels,
    /// A storage texel buffer.
    StorageTexels,
    /// A sampler.
    Sampler,
}

impl ProgramInterface {
    /// The kernels and blocks of the module. Blocks follow the kernels.
    pub(crate) fn entry_points(&self) -> impl Iterator<Item = &KernelInterface> {
        self.kernels.iter().chain(&self.blocks)
    }

    /// Reads the interface from a module, without a device.
    pub fn from_spirv(words: &[u32]) -> Result<Self> {
        let module = Module::new(words)?;
        match module.environment() {
            Environment::Vulkan => reflection::read(&module),
            Environment::OpenCl => signature::read(words),
        }
    }
}

impl KernelInterface {
    /// The ordinal of the argument with this name.
    pub fn argument(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.name() == Some(name))
    }
}

impl Argument {
    /// The parameter's name, if the module contains it.
    pub fn name(&self) -> Option<&str> {
        self.info.as_ref().map(|info| info.name.as_str()).filter(|name| !name.is_empty())
    }
}
