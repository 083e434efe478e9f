//! Kernels and their arguments, as the host sees them.

use kiln_types::ty::ImageTy;
use kiln_vocabulary::opencl::AddressSpace;

/// The properties that only kernels have.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// `reqd_work_group_size`
    pub required_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub size_hint: Option<[u32; 3]>,
    /// The attributes in the source, for reflection.
    pub attributes: String,
    /// The arguments, one for each parameter of the function.
    pub arguments: Vec<Argument>,
}

impl Kernel {
    /// Whether it is an enqueued block, which the host does not launch.
    pub fn is_block(&self) -> bool {
        matches!(self.arguments.first(), Some(Argument { kind: ArgumentKind::Captures { .. }, .. }))
    }
}

/// An argument of a kernel, as the host sees it.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its kind.
    pub kind: ArgumentKind,
    /// Its name.
    pub name: String,
    /// Its type as written, without address space and qualifiers.
    pub type_name: String,
    /// Whether the pointee is `const`.
    pub is_const: bool,
    /// Whether the pointee is `volatile`.
    pub is_volatile: bool,
    /// Whether the pointer is `restrict`.
    pub is_restrict: bool,
}

impl Kernel {
    /// The kernel of a function that kernels enqueue: its arguments are the captured values, of this size and alignment in bytes,
    /// and pointers to local memory.
    pub fn enqueued(size: u64, align: u64, locals: usize) -> Self {
        let argument = |kind| Argument {
            kind,
            name: String::new(),
            type_name: "void*".to_owned(),
            is_const: false,
            is_volatile: false,
            is_restrict: false,
        };
        let local = argument(ArgumentKind::Local { element_size: 1, align: 16 });
        let mut arguments = vec![argument(ArgumentKind::Captures { size, align })];
        arguments.extend(std::iter::repeat_n(local, locals));
        Self { arguments, ..Self::default() }
    }
}

/// The kind of a kernel argument, which determines how it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A pointer to global or constant memory.
    Pointer {
        /// Global or constant.
        space: AddressSpace,
        /// Alignment of the pointee in bytes.
        align: u64,
    },
    /// A pointer to local memory that the launch allocates.
    Local {
        /// Size of one element in bytes.
        element_size: u64,
        /// Alignment of the pointee in bytes.
        align: u64,
    },
    /// A scalar or vector. The parameter is the value. Size and alignment as in OpenCL C.
    Value {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// A `struct` or `union`. The parameter is a private pointer to a copy.
    Aggregate {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// An image.
    Image(ImageTy),
    /// A sampler. An integer on Vulkan.
    Sampler,
    /// A pipe.
    Pipe {
        /// `write_only`
        is_written: bool,
    },
    /// A queue.
    Queue,
    /// The values that an enqueued block captures, after a header of [`ArgumentKind::CAPTURES`] bytes. The parameter is a
    /// generic pointer to the header. It is the first argument of a kernel that is not launched by the host.
    Captures {
        /// Size in bytes, with the header.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
}

impl ArgumentKind {
    /// The size of the header of captured values.
    pub const CAPTURES: u64 = 16;

    /// The number of bytes that the argument takes in launch memory.
    pub fn passed_size(self) -> u32 {
        match self {
            Self::Pointer { .. } | Self::Pipe { .. } | Self::Queue => 8,
            Self::Captures { size, .. } => u32::try_from(size - Self::CAPTURES).unwrap_or(u32::MAX),
            Self::Value { size, .. } | Self::Aggregate { size, .. } => {
                u32::try_from(size).unwrap_or(u32::MAX)
            }
            Self::Sampler => 4,
            Self::Local { .. } | Self::Image(_) => 0,
        }
    }
}
