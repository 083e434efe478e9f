//! The interface of a module with launches: where launches store the arguments of kernels, and the records that they read.

use kiln_syntax::Span;

use crate::{Data, FuncId, ImageAction, VarId};

/// The memory for launch state and kernel arguments, on a target whose entry points have no parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The launch state that kernels read, with its first word in the push constants. Equal in all kernels.
    pub state: Vec<(State, u32)>,
    /// The locations of each kernel's arguments, in order.
    pub arguments: Vec<(FuncId, Vec<ArgumentLocation>)>,
    /// The buffer of program-scope variables: its initial bytes, and the addresses in it.
    pub variables: Data,
    /// The offset of each module variable in that buffer.
    pub offsets: Vec<(VarId, u64)>,
    /// Format strings of `printf`, and strings that they print, by their number in the printf buffer.
    pub formats: Vec<Format>,
    /// The size of the part of the printf buffer that `printf` uses. A trap record follows.
    pub printed: u32,
    /// The program's traps, by their number in the trap record.
    pub traps: Vec<Trap>,
    /// The locations of the image properties that the launch passes to kernels.
    pub image_facts: Vec<ImageFact>,
    /// The locations of the bits of samplers that the launch binds.
    pub sampler_facts: Vec<SamplerFact>,
    /// The images whose levels the launch binds separately, because kernels write to them.
    pub written_levels: Vec<WrittenLevels>,
}

impl Interface {
    /// The first word of a launch state, if a kernel reads it.
    pub fn first_word(&self, state: State) -> Option<u32> {
        self.state.iter().find(|(known, _)| *known == state).map(|(_, word)| *word)
    }
}

/// The size of the printf buffer in bytes (OpenCL API 4.2, `CL_DEVICE_PRINTF_BUFFER_SIZE`: at least a MiB).
pub const PRINTF_BUFFER_SIZE: u32 = 1 << 20;

/// A point at which a work-item stops its kernel with a message, such as a failed `assert`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Its source position.
    pub span: Span,
    /// Its source position as `file:line:column`.
    pub position: String,
    /// Its message.
    pub message: String,
}

impl Trap {
    /// The size of a trap record in the printf buffer: whether it is set, the number of the trap, and the work-item's
    /// global id in three words.
    pub const RECORD: u32 = 20;
}

/// A format string of `printf`, or a string that it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The text, without the terminator.
    pub text: Vec<u8>,
    /// The size of each argument in the printf buffer in bytes.
    pub sizes: Vec<u32>,
}

/// The location of an image property for a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageFact {
    /// The kernel.
    pub kernel: FuncId,
    /// The index of the image argument.
    pub argument: u32,
    /// `ChannelOrder` or `ChannelType`.
    pub what: ImageAction,
    /// The memory that contains it.
    pub memory: LaunchMemory,
    /// The offset of its four bytes.
    pub byte: u32,
}

/// An image whose levels a kernel writes. The descriptors of levels 1 and higher follow the descriptor of the image, up to
/// [`WrittenLevels::COUNT`] levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenLevels {
    /// The kernel.
    pub kernel: FuncId,
    /// The index of the image argument.
    pub argument: u32,
    /// The descriptor of the image.
    pub descriptor: u32,
}

impl WrittenLevels {
    /// The number of levels that are bound.
    pub const COUNT: u32 = kiln_vocabulary::target::IMAGE_LEVELS;
}

/// The location of the bits of a sampler for a kernel that samples with it and also reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerFact {
    /// The kernel.
    pub kernel: FuncId,
    /// The index of the sampler argument.
    pub argument: u32,
    /// The memory that contains the bits.
    pub memory: LaunchMemory,
    /// The offset of the four bytes.
    pub byte: u32,
}

/// The location of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentLocation {
    /// In launch memory, at this byte offset.
    Bytes(LaunchMemory, u32),
    /// The size of this local variable.
    Local(VarId),
    /// Bound as a descriptor with this number.
    Descriptor(u32),
    /// Unused.
    Nowhere,
}

/// The kinds of memory that a launch fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchMemory {
    /// Push constants.
    PushConstants,
    /// A uniform buffer, for arguments that do not fit into the push constants.
    Uniform,
}

/// State that a launch passes to all kernels: three words each, or two for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// `get_global_offset`
    GlobalOffset,
    /// `get_global_size`
    GlobalSize,
    /// `get_enqueued_local_size`
    EnqueuedLocalSize,
    /// `get_num_groups`
    NumGroups,
    /// The offset, plus the first work-item of the dispatched region.
    RegionOffset,
    /// The first work-group of the dispatched region.
    RegionGroupOffset,
    /// The address of the program-scope variables.
    Variables,
    /// The address of the buffer that `printf` writes to.
    Printf,
    /// The address of the queue for device-side enqueue.
    Queue,
    /// The number of the command that runs the kernel, which the commands that it enqueues refer to.
    /// Takes two words, like an address.
    Command,
}

impl State {
    /// Whether it is an address.
    pub const fn is_address(self) -> bool {
        matches!(self, Self::Variables | Self::Printf | Self::Queue | Self::Command)
    }

    /// The number of words.
    pub const fn words(self) -> u32 {
        if self.is_address() { 2 } else { 3 }
    }
}

/// The table of `passes/check_bounds`, filled by the launch. It contains the number of ranges (32 bits); whether an
/// access was out of bounds (32 bits) and, if so, its address (64 bits), its size and the number of its site (32 bits
/// each); then the start and end address of each range; then the size of local memory for each kernel argument (32
/// bits). In local and private memory, the address is the offset from the start of the object.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The table.
    pub table: VarId,
    /// The maximum number of kernel arguments.
    pub locals: u64,
    /// The checked accesses, by number, with the names of the local or private objects that they must stay in.
    pub sites: Vec<(Span, String)>,
    /// The positions of `sites`, as `file:line:column`.
    pub positions: Vec<String>,
}

impl Bounds {
    /// The size of the part before the ranges in bytes.
    pub const HEADER: u64 = 24;
    /// The maximum number of ranges.
    pub const RANGES: u64 = 64;

    /// The offset of an argument's size.
    pub const fn local(argument: u64) -> u64 {
        Self::HEADER + 16 * Self::RANGES + 4 * argument
    }

    /// The size of a table for this number of arguments in bytes.
    pub const fn size(locals: u64) -> u64 {
        Self::local(locals).next_multiple_of(8)
    }
}
