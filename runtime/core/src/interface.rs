//! The interface of a program: its kernels, their arguments, and where each value goes at a launch.
//!
//! Owns the data. `reflection.rs` reads it out of a module; the back ends follow it. It must never know how a back end passes a
//! value, nor that a compiler exists.
//!
//! # What a module must say
//!
//! The interface stands in the module itself, as `NonSemantic.ClspvReflection.<N>` instructions (SPIRV-Registry,
//! `nonsemantic/NonSemantic.ClspvReflection`). Emit version 5: Debian's spirv-val refuses 6 and 7, which add nothing that Kiln
//! needs; the runtime reads 1 to 7. The instructions take no forward references, so they follow the last function. Every number
//! operand is the id of a 32-bit `OpConstant`, every text operand the id of an `OpString`.
//!
//! **Kernels.** One `OpEntryPoint GLCompute` each, and
//! `Kernel(function, name, NumArguments, Flags, Attributes)`; `name` is the entry point's name. `Flags` is 0 or
//! `MayUsePrintf`; `Attributes` are the source's attributes, separated by spaces; they are left out where there are none, or
//! none but a required size.
//!
//! **Size of the work-group.** `SpecConstantWorkgroupSize(x, y, z)`: the `SpecId`s of the three 32-bit constants that make up
//! the object decorated `BuiltIn WorkgroupSize`. The runtime sets them for every dispatch; non-uniform work-groups need them.
//! Where every kernel has `PropertyRequiredWorkgroupSize(kernel, x, y, z)` (`reqd_work_group_size`), which the runtime
//! enforces, and none reads the size, a module has it as literal `LocalSize` instead; the runtime puts the constants to it
//! (`sizing.rs`).
//!
//! **Arguments.** One instruction for each argument, unused ones too (an argument without one is accepted unchecked and
//! dropped). `info` is an `ArgumentInfo(name, typeName, address, access, typeQualifier)` with the numbers of
//! `clGetKernelArgInfo`, the last three where they do not follow from how the argument is passed (a pointer is to global
//! memory, and nothing is qualified) or `-cl-kernel-arg-info` asks for them; arguments that are alike may share one. The
//! command line finds arguments by that name.
//!
//! | argument | instruction | what the runtime writes |
//! |---|---|---|
//! | pointer to global or constant memory | `ArgumentPointerPushConstant(kernel, ordinal, offset, 8, info)` | the 64-bit device address, little-endian; 0 for a null pointer. The alignment is at least 128 bytes for the start of a buffer |
//! | value (scalar, vector, structure) | `ArgumentPodPushConstant(kernel, ordinal, offset, size, info)` | the `size` bytes of the value in OpenCL's layout (a 3-component vector has the size of four) |
//! | pointer to local memory | `ArgumentWorkgroup(kernel, ordinal, specId, elementSize, info)` | the specialisation constant `specId` (32 bits): the number of elements, `ceil(bytes / elementSize)`, at least 1 |
//!
//! | image | `ArgumentSampledImage` (read_only), `ArgumentStorageImage`, `ArgumentUniformTexelBuffer` (read_only `image1d_buffer_t`), `ArgumentStorageTexelBuffer` `(kernel, ordinal, set, binding, info)` | the descriptor; images are in the general layout |
//! | sampler | `ArgumentPodPushConstant` or `ArgumentPodUniform` of 4 bytes, of type `sampler_t` | the bits of OpenCL C (6.15.15.1). Kernels sample in code of their own: exactly as OpenCL defines it, with every addressing mode for unnormalised coordinates, whatever the device's samplers do |
//!
//! **Facts of images.** `ImageArgumentInfoChannelOrderPushConstant(kernel, ordinal, offset, 4)` and
//! `ImageArgumentInfoChannelDataTypePushConstant`: where the kernel finds OpenCL's number of the channel order or type of
//! the image that is argument `ordinal`; `…Uniform(kernel, ordinal, set, binding, offset, 4)` in a uniform buffer. It is there for
//! `get_image_channel_order`, and where the border's colour depends on the order.
//!
//! **Samplers of the device.** Modules of clspv sample with the device's own samplers: `ArgumentSampler(kernel, ordinal, set, binding,
//! info)` is a `sampler_t` that is bound, `LiteralSampler(set, binding, mask)` one that every kernel of the module finds there, with
//! the bits of OpenCL C. `NormalizedSamplerMaskPushConstant(kernel, ordinal, offset, 4)` tells the kernel those of argument
//! `ordinal`; what is bound then takes normalised coordinates, whatever they say: the kernel divides for itself. Devices have no
//! addressing that repeats where coordinates are not normalised, as OpenCL has not.
//!
//! **Argument block.** Push constants are one block of at most 128 bytes on every device (offsets count from the start of the
//! block; pointers lie at multiples of 8). Where execution state and arguments together exceed that, the arguments that do not
//! fit go into a uniform buffer instead: `ArgumentPointerUniform(kernel, ordinal, set, binding, offset, 8, info)` and
//! `ArgumentPodUniform(kernel, ordinal, set, binding, offset, size, info)`, which may stand beside push-constant arguments in one
//! kernel. Use `set` 0, `binding` 0. The runtime gives each launch its own block, sized to the end of the last argument, rounded
//! up to 16 bytes; at most 16,384 bytes are certain to work. Declaring the block as an array of `uvec4` (stride 16) and extracting
//! words makes it independent of layout and 8/16-bit storage features. (`ArgumentPodStorageBuffer` is accepted too, in a storage
//! buffer.)
//!
//! **Execution state.** Each value is three 32-bit words (size 12) for dimensions 0, 1, 2, and appears only if a kernel of the
//! module reads it. These instructions name no kernel: the place is the same in *all* kernels of the module, so the state comes
//! first in the block and the arguments of each kernel after it. Missing dimensions have size 1 and offset 0.
//!
//! | instruction | value | gives |
//! |---|---|---|
//! | `PushConstantGlobalOffset` | the launch's offset | `get_global_offset` |
//! | `PushConstantGlobalSize` | the launch's global size | `get_global_size` |
//! | `PushConstantEnqueuedLocalSize` | the local size asked for (or chosen), not shortened at the edges | `get_enqueued_local_size` |
//! | `PushConstantNumWorkgroups` | groups of the whole launch, partial ones included | `get_num_groups` |
//! | `PushConstantRegionOffset` | global offset **plus** the first work-item of this region | `get_global_id = RegionOffset + GlobalInvocationId` |
//! | `PushConstantRegionGroupOffset` | first group of this region | `get_group_id = RegionGroupOffset + WorkgroupId` |
//!
//! `get_local_size` is the `WorkgroupSize` object (the region's own, shortened size), `get_local_id` is `LocalInvocationId`.
//! A launch is one or more *regions*, each a dispatch of its own: up to eight where global sizes are not multiples of the local
//! size, and more where a group count exceeds the device's limit. Therefore never use the SPIR-V built-in `NumWorkgroups`, and
//! `GlobalInvocationId` and `WorkgroupId` only with the region's offset: a module that uses one of them and does not declare the
//! corresponding push constant is launched only where one region suffices, and is refused with an error otherwise.
//! `SpecConstantWorkDim(id)` is the number of dimensions (`get_work_dim`), `SpecConstantSubgroupMaxSize(id)` the device's sub-group
//! size, `SpecConstantGlobalOffset(x, y, z)` the offset as constants.
//!
//! **Program-scope variables.** `ProgramScopeVariablePointerPushConstant(offset, 8, data)`: the address of a buffer that the
//! runtime allocates and initialises once for each program, and that keeps its contents between launches; `data` is its initial
//! bytes in lower-case hexadecimal, first byte first (so its length is the size of the buffer; zeros are written out).
//! `ConstantDataPointerPushConstant(offset, 8, data)` is the same for `__constant` tables.
//! An `OpString` holds at most 65,534 characters (SPIR-V 2.17), 32,767 bytes: longer data is continued by further instructions of
//! the same kind, with the same offset, in order. `ProgramScopeVariablePointerRelocation(objectOffset, pointerOffset, 8)`: at `pointerOffset` of the
//! variable buffer the runtime stores the address of `objectOffset` of the same buffer; an object whose address is stored
//! therefore lies in the variable buffer, even when it is `__constant`. Both addresses belong to the execution state: the same
//! place in all kernels. The hidden word of sequentially consistent fences is an ordinary 32-bit zero in the variable buffer.
//! The buffers are aligned to at least 128 bytes.
//!
//! **`printf`.** `PrintfBufferPointerPushConstant(offset, 8, size)`: the address of a buffer of `size` bytes, a multiple of 4, that the
//! runtime allocates for each launch of a kernel whose `Flags` have `MayUsePrintf` (1), and whose first word it sets to zero; it is
//! part of the execution state. The first word counts the words that calls have asked for, and grows beyond the size when
//! there is no more room. Behind it, each call's words: its number and its arguments, each rounded up to whole words, the
//! components of a vector one behind the other, a string literal as its number. A call without room for its arguments writes its
//! number alone, if there is room for that; nothing follows it. `PrintfInfo(number, text, size …)` has the format of a call
//! with the bytes of each argument, or a string without. Integers have 4 or 8 bytes, floats 2, 4 or 8. `PrintfBufferStorageBuffer(set, binding,
//! size)` is the same with the buffer bound.
//!
//! **Bounds checks.** A module that checks its accesses says so in `NonSemantic.Kiln.1`: `Bounds(offset, ranges, arguments)` (1), the place
//! of its table in the buffer of program-scope variables and how many ranges and arguments it has room for, then a
//! `Site(text, objects)` (2) for each access that is checked, in order; `objects` names what an access to local or private memory
//! must be in. The table begins with the number of ranges, a word that is not 0 after an access outside them, that
//! access's address (64 bits), size and site; from byte 24 on stand the ranges, start and end of 64 bits each, and behind the room for them the
//! bytes of local memory of each argument (32 bits). In local and private memory, the address is the distance from the beginning
//! of the object. The runtime writes the table before each launch of the program.
//!
//! **Traps.** A module whose kernels can stop says in `NonSemantic.Kiln.1` where: `Traps(offset)` (3) is the place of a record in the printf
//! buffer, behind the words of `printf`: a word that is not 0 once a work-item has come to a trap, the number of the first
//! such trap, and the work-item's global id in three words. The runtime sets the first word to zero; a `Trap(place, message)` (4) for each trap, in order,
//! says what the launch then fails with. In modules for OpenCL a trap is a `printf` whose name is `kiln.trap`.
//!
//! **Workarounds.** `Workaround(name)` (5) of `NonSemantic.Kiln.1`, one for each driver fault that the module works around, by its name
//! in `kiln_vocabulary::faults`. The runtime ignores names that it does not have.
//!
//! **Local memory.** The runtime adds up the module's Workgroup variables that the kernel's entry point lists (SPIR-V 1.4 and
//! later) and the local arguments, and refuses a launch that exceeds the device's local memory.
//!
//! The runtime removes these instructions, their strings and their import before a driver sees the module.

use std::collections::HashMap;
use std::sync::Arc;

use kiln_vocabulary::faults::Workarounds;

use crate::capabilities::Environment;
use crate::error::Result;
use crate::module::Module;
use crate::sampler::Sampler;
use crate::{reflection, signature};

/// The interface of all kernels of one module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramInterface {
    /// The kernels, in the order of the module.
    pub kernels: Vec<KernelInterface>,
    /// Specialisation constants of the work-group's size.
    pub local_size: Option<[SpecId; 3]>,
    /// Specialisation constant of the number of dimensions.
    pub work_dim: Option<SpecId>,
    /// Specialisation constants of the global offset.
    pub global_offset: Option<[SpecId; 3]>,
    /// Specialisation constant of the largest sub-group.
    pub sub_group_size: Option<SpecId>,
    /// Execution state in the push constants, the same for every kernel.
    pub state: Vec<StateField>,
    /// The program-scope variables.
    pub variables: Option<ProgramData>,
    /// The program-scope constants.
    pub constants: Option<ProgramData>,
    /// Pointers inside the program-scope variables.
    pub relocations: Vec<Relocation>,
    /// How the kernels find their place in the launch.
    pub position: Position,
    /// What accesses are checked against, in a program compiled with bounds checks.
    pub bounds: Option<BoundsTable>,
    /// What `printf` needs.
    pub printf: Option<Arc<Printf>>,
    /// Samplers of the device that all kernels find bound.
    pub samplers: Vec<LiteralSampler>,
    /// The faults of drivers that the module works around.
    pub workarounds: Workarounds,
}

/// A sampler that the module itself chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiteralSampler {
    /// Where it is bound.
    pub binding: Binding,
    /// Which it is.
    pub sampler: Sampler,
}

/// Where kernels write what they print, and with what it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printf {
    /// Where kernels find the buffer.
    pub place: DataPlace,
    /// The size of the buffer in bytes.
    pub size: u32,
    /// Formats and strings by their number.
    pub texts: HashMap<u32, PrintedText>,
    /// The traps of the program.
    pub traps: Traps,
}

/// Where kernels stop, and what they say then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traps {
    /// Where in the buffer of `printf` the record of a trap is, in bytes.
    pub offset: u32,
    /// The traps, by number.
    pub sites: Vec<TrapSite>,
}

/// A trap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrapSite {
    /// Where in the source, as `file:line:column`.
    pub place: String,
    /// What it says.
    pub message: String,
}

/// A format, or a string that a format prints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrintedText {
    /// As written.
    pub text: Vec<u8>,
    /// Bytes of each argument.
    pub sizes: Vec<u32>,
}

/// The table of a program that checks its accesses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundsTable {
    /// Where it lies among the program-scope variables, in bytes.
    pub offset: u32,
    /// How many ranges it has room for.
    pub ranges: u32,
    /// How many arguments it has room for.
    pub arguments: u32,
    /// The accesses that are checked, by number.
    pub sites: Vec<BoundsSite>,
}

/// An access that is checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundsSite {
    /// Where in the source, as `file:line:column`.
    pub place: String,
    /// The local or private objects that it must be in; empty for global memory.
    pub objects: String,
}

/// The `SpecId` of a specialisation constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpecId(pub u32);

/// What a kernel reads of its position without adding the region's offset: such a kernel runs only as one region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Global ids are those of the dispatch.
    pub raw_global_id: bool,
    /// Group ids are those of the dispatch.
    pub raw_group_id: bool,
    /// The number of groups is that of the dispatch.
    pub raw_num_groups: bool,
}

/// One value of the execution state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateField {
    /// Which value.
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

/// A buffer of the program: where its address goes and what it contains at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramData {
    /// Where kernels find the buffer.
    pub place: DataPlace,
    /// The initial contents.
    pub bytes: Vec<u8>,
}

/// Where kernels find a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPlace {
    /// Its address is in the push constants at this offset.
    Address {
        /// Offset in the push constants, in bytes.
        offset: u32,
    },
    /// It is bound whole.
    Bound(Binding),
}

/// A pointer inside the program-scope variables, set when the program is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// Where the object is that is pointed to.
    pub object: u32,
    /// Where the pointer is stored.
    pub pointer: u32,
}

/// One kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInterface {
    /// The name of the kernel and of its entry point.
    pub name: String,
    /// The arguments, by ordinal.
    pub arguments: Vec<Argument>,
    /// `reqd_work_group_size`.
    pub required_local_size: Option<[u32; 3]>,
    /// The kernel's attributes as written, separated by spaces.
    pub attributes: String,
    /// What the launch tells of images.
    pub image_facts: Vec<ImageFact>,
    /// What the launch tells of samplers that are bound.
    pub sampler_facts: Vec<SamplerFact>,
    /// Whether it may call `printf`.
    pub prints: bool,
    /// Local memory used by variables of the program, in bytes, as far as the module tells.
    pub static_local_size: u32,
}

/// Where a kernel finds a fact of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageFact {
    /// The ordinal of the image.
    pub argument: u32,
    /// What is told.
    pub what: ImageFactKind,
    /// Where four bytes go.
    pub place: Place,
}

/// Where a kernel finds the bits of a sampler. What is bound takes normalised coordinates: the kernel divides for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplerFact {
    /// The ordinal of the sampler.
    pub argument: u32,
    /// Where four bytes go.
    pub place: Place,
}

/// What a launch tells of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFactKind {
    /// The number of its channel order.
    ChannelOrder,
    /// The number of its channels' type.
    ChannelType,
}

/// One argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Name and type, where the module tells.
    pub info: Option<ArgumentInfo>,
    /// What the argument is and where it goes.
    pub kind: ArgumentKind,
}

/// What `clGetKernelArgInfo` tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentInfo {
    /// The parameter's name.
    pub name: String,
    /// The type as written, such as `uint4*`; empty where unknown.
    pub type_name: String,
    /// `CL_KERNEL_ARG_ADDRESS_*`.
    pub address: Option<u32>,
    /// `CL_KERNEL_ARG_ACCESS_*`.
    pub access: Option<u32>,
    /// `CL_KERNEL_ARG_TYPE_*`, a set of bits.
    pub type_qualifier: Option<u32>,
}

/// What an argument is and where its value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// The kernel does not use it.
    Unused,
    /// The address of a buffer, 64 bits.
    Pointer(Place),
    /// A plain value.
    Value {
        /// Where it goes.
        place: Place,
        /// Its size in bytes.
        size: u32,
    },
    /// Local memory, sized at the launch.
    Local {
        /// The constant that holds the number of elements.
        count: SpecId,
        /// The size of an element in bytes.
        element_size: u32,
    },
    /// A buffer bound whole, as clspv does without physical addressing.
    Buffer(Binding),
    /// An image.
    Image(Binding),
    /// A sampler of the device, as clspv has them. Kiln's own modules take samplers as values.
    Sampler(Binding),
    /// A pipe, 64 bits.
    Pipe(Place),
    /// A kind that the runtime does not offer yet, in OpenCL's words.
    Unsupported(&'static str),
}

/// Where bytes of an argument go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Into the push constants at this offset.
    PushConstants {
        /// Offset in bytes.
        offset: u32,
    },
    /// Into an argument block at this offset.
    Block {
        /// Where the block is bound.
        binding: Binding,
        /// Offset in bytes.
        offset: u32,
    },
}

/// A place where a buffer is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// How the kernel declares the buffer.
    pub class: BindingClass,
}

/// How a kernel declares a bound buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BindingClass {
    /// Read-only and small.
    Uniform,
    /// Read and written.
    Storage,
    /// An image that is read.
    SampledImage,
    /// An image that is written, or both.
    StorageImage,
    /// A buffer of texels that is read.
    UniformTexels,
    /// A buffer of texels that is written, or both.
    StorageTexels,
    /// A sampler of the device.
    Sampler,
}

impl ProgramInterface {
    /// Reads the interface out of a module, without a device.
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
    /// The parameter's name, where the module tells.
    pub fn name(&self) -> Option<&str> {
        self.info.as_ref().map(|info| info.name.as_str()).filter(|name| !name.is_empty())
    }
}
