//! The vocabulary of OpenCL C: memory orders, scopes, fence flags, address spaces, language versions.
//!
//! Contains only terms with their spelling and numeric values. Must not depend on SPIR-V, on types, or on targets.

use std::fmt;

/// The maximum size of a kernel argument in bytes. Devices allow less (`CL_DEVICE_MAX_PARAMETER_SIZE`): kilobytes.
pub const MAX_ARGUMENT_SIZE: u64 = 1 << 16;

/// The maximum size of an object with an initializer in bytes. The module contains its bytes.
pub const MAX_INITIALIZED_SIZE: u64 = 1 << 26;

/// The largest alignment of a type in bytes: that of `long16`, `ulong16` and `double16` (OpenCL C 6.3.5).
pub const MAX_TYPE_ALIGNMENT: u64 = 128;

/// A language version, as selected by `-cl-std=` (OpenCL C 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LanguageVersion {
    /// OpenCL C 1.0
    Cl10,
    /// OpenCL C 1.1
    Cl11,
    /// OpenCL C 1.2
    Cl12,
    /// OpenCL C 2.0
    #[default]
    Cl20,
    /// OpenCL C 3.0
    Cl30,
    /// OpenCL C 3.1
    Cl31,
}

impl LanguageVersion {
    /// The value of `__OPENCL_C_VERSION__` (OpenCL C 6.12): 120 for 1.2.
    pub const fn macro_value(self) -> u32 {
        match self {
            Self::Cl10 => 100,
            Self::Cl11 => 110,
            Self::Cl12 => 120,
            Self::Cl20 => 200,
            Self::Cl30 => 300,
            Self::Cl31 => 310,
        }
    }

    /// The spelling after `-cl-std=`.
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::Cl10 => "CL1.0",
            Self::Cl11 => "CL1.1",
            Self::Cl12 => "CL1.2",
            Self::Cl20 => "CL2.0",
            Self::Cl30 => "CL3.0",
            Self::Cl31 => "CL3.1",
        }
    }

    /// Parses the value of `-cl-std=`, in upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Cl10, Self::Cl11, Self::Cl12, Self::Cl20, Self::Cl30, Self::Cl31]
            .into_iter()
            .find(|version| version.spelling().eq_ignore_ascii_case(text))
    }
}

/// Whether a module marks signed integer operations (C99 6.5) and indices of arrays in structures (C99 6.5.6), which
/// must not overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// No: devices may lack the extension.
    #[default]
    Unmarked,
    /// Yes, for a device that checks them.
    Marked,
}

/// The linkage of a function or variable (C99 6.2.2) in a program that is compiled in parts (OpenCL API 5.8.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// Visible only in this part: it is `static`, or this is the whole program.
    #[default]
    Internal,
    /// Defined here, visible to other parts.
    Exported,
    /// Declared here, defined in another part.
    Imported,
    /// Defined here and perhaps in other parts, in the same way: a program keeps one definition (SPV_KHR_linkonce_odr).
    LinkOnce,
}

impl Linkage {
    /// Whether it is defined here and visible to other parts.
    pub const fn is_exported(self) -> bool {
        matches!(self, Self::Exported | Self::LinkOnce)
    }
}

/// `memory_order` (OpenCL C 6.15.12.3). The discriminants are the values that programs see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Order {
    /// `memory_order_relaxed`
    Relaxed = 0,
    /// `memory_order_acquire`
    Acquire = 2,
    /// `memory_order_release`
    Release = 3,
    /// `memory_order_acq_rel`
    AcqRel = 4,
    /// `memory_order_seq_cst`
    SeqCst = 5,
}

impl Order {
    /// All orders, weakest first.
    pub const ALL: [Self; 5] = [Self::Relaxed, Self::Acquire, Self::Release, Self::AcqRel, Self::SeqCst];

    /// The enumerator with this value.
    pub fn from_value(value: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|order| *order as i64 == value)
    }

    /// The enumerator's name in OpenCL C.
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::Relaxed => "memory_order_relaxed",
            Self::Acquire => "memory_order_acquire",
            Self::Release => "memory_order_release",
            Self::AcqRel => "memory_order_acq_rel",
            Self::SeqCst => "memory_order_seq_cst",
        }
    }

    /// The enumerator's name without its prefix, such as `acquire`.
    pub const fn short_name(self) -> &'static str {
        self.spelling().split_at("memory_order_".len()).1
    }

    /// Whether an operation of this order acquires.
    pub const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether an operation of this order releases.
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

/// `memory_scope` (OpenCL C 6.15.12.4). The discriminants are the values that programs see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Scope {
    /// `memory_scope_work_item`
    WorkItem = 0,
    /// `memory_scope_work_group`
    WorkGroup = 1,
    /// `memory_scope_device`
    Device = 2,
    /// `memory_scope_all_svm_devices`, and `memory_scope_all_devices` of OpenCL C 3.0, which has the same value
    AllSvmDevices = 3,
    /// `memory_scope_sub_group`
    SubGroup = 4,
}

impl Scope {
    /// All scopes, narrowest first.
    pub const ALL: [Self; 5] =
        [Self::WorkItem, Self::SubGroup, Self::WorkGroup, Self::Device, Self::AllSvmDevices];

    /// The enumerator with this value.
    pub fn from_value(value: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| *scope as i64 == value)
    }

    /// The enumerator's name in OpenCL C.
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::WorkItem => "memory_scope_work_item",
            Self::SubGroup => "memory_scope_sub_group",
            Self::WorkGroup => "memory_scope_work_group",
            Self::Device => "memory_scope_device",
            Self::AllSvmDevices => "memory_scope_all_svm_devices",
        }
    }

    /// The enumerator's name without its prefix, such as `device`.
    pub const fn short_name(self) -> &'static str {
        self.spelling().split_at("memory_scope_".len()).1
    }
}

/// `cl_mem_fence_flags`, a set (OpenCL C 6.15.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FenceFlags(u8);

impl FenceFlags {
    /// No memory.
    pub const NONE: Self = Self(0);
    /// `CLK_LOCAL_MEM_FENCE`
    pub const LOCAL: Self = Self(1);
    /// `CLK_GLOBAL_MEM_FENCE`
    pub const GLOBAL: Self = Self(2);
    /// `CLK_IMAGE_MEM_FENCE`
    pub const IMAGE: Self = Self(4);
    /// All flags.
    pub const ALL: Self = Self(7);

    /// The set with these bits, if every bit is a flag.
    pub fn from_value(value: i64) -> Option<Self> {
        (0..=i64::from(Self::ALL.0)).contains(&value).then_some(Self(value as u8))
    }

    /// The value that programs see.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether every flag of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The flags of both sets.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags that are in both sets.
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl fmt::Display for FenceFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::LOCAL, "CLK_LOCAL_MEM_FENCE"),
            (Self::GLOBAL, "CLK_GLOBAL_MEM_FENCE"),
            (Self::IMAGE, "CLK_IMAGE_MEM_FENCE"),
        ];
        let mut first = true;
        for (flag, name) in names {
            if self.contains(flag) {
                write!(f, "{}{name}", if first { "" } else { " | " })?;
                first = false;
            }
        }
        if first { write!(f, "0") } else { Ok(()) }
    }
}

/// An address space (OpenCL C 6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressSpace {
    /// `__private`: memory of one work-item
    Private,
    /// `__local`: memory of one work-group
    Local,
    /// `__global`: memory of the device
    Global,
    /// `__constant`: read-only memory of the device
    Constant,
    /// The unnamed space that private, local and global pointers convert to (OpenCL C 6.7.5)
    Generic,
}

impl AddressSpace {
    /// The keyword, without underscores; `generic` names the space in messages only.
    pub const fn spelling(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Local => "local",
            Self::Global => "global",
            Self::Constant => "constant",
            Self::Generic => "generic",
        }
    }

    /// Whether the spaces overlap (OpenCL C 6.7.9): a pointer to `self` can point into `other` too.
    pub fn overlaps(self, other: Self) -> bool {
        self == other
            || (self == Self::Generic && other != Self::Constant)
            || (other == Self::Generic && self != Self::Constant)
    }
}

/// The atomic operations of OpenCL C 6.15.12.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// `atomic_load`
    Load,
    /// `atomic_store`
    Store,
    /// `atomic_exchange`
    Exchange,
    /// `atomic_compare_exchange_strong`
    CompareExchangeStrong,
    /// `atomic_compare_exchange_weak`
    CompareExchangeWeak,
    /// A read-modify-write: `atomic_fetch_key`
    Fetch(FetchKey),
    /// `atomic_flag_test_and_set`
    FlagTestAndSet,
    /// `atomic_flag_clear`
    FlagClear,
}

impl AtomicOp {
    /// All operations, with the part of the function's name after `atomic_`.
    pub const SPELLINGS: [(Self, &str); 14] = [
        (Self::Load, "load"),
        (Self::Store, "store"),
        (Self::Exchange, "exchange"),
        (Self::CompareExchangeStrong, "compare_exchange_strong"),
        (Self::CompareExchangeWeak, "compare_exchange_weak"),
        (Self::Fetch(FetchKey::Add), "fetch_add"),
        (Self::Fetch(FetchKey::Sub), "fetch_sub"),
        (Self::Fetch(FetchKey::Or), "fetch_or"),
        (Self::Fetch(FetchKey::Xor), "fetch_xor"),
        (Self::Fetch(FetchKey::And), "fetch_and"),
        (Self::Fetch(FetchKey::Min), "fetch_min"),
        (Self::Fetch(FetchKey::Max), "fetch_max"),
        (Self::FlagTestAndSet, "flag_test_and_set"),
        (Self::FlagClear, "flag_clear"),
    ];

    /// The part of the function's name after `atomic_`.
    pub fn spelling(self) -> &'static str {
        let row = Self::SPELLINGS.iter().find(|(op, _)| *op == self);
        row.expect("every operation has a function").1
    }

    /// The operation of a function, from the part of its name after `atomic_`.
    pub fn from_spelling(text: &str) -> Option<Self> {
        Self::SPELLINGS.iter().find(|(_, spelling)| *spelling == text).map(|(op, _)| *op)
    }
}

/// The keys of `atomic_fetch_key` (OpenCL C 6.15.12.7.5). `inc` and `dec` of OpenCL 1.x are `Add` and `Sub` of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchKey {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&`
    And,
    /// The minimum, by the comparison of the object's type
    Min,
    /// The maximum, by the comparison of the object's type
    Max,
}

/// The SPIR-V client environment of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Environment {
    /// Vulkan with the Vulkan memory model and physical storage buffer addresses
    #[default]
    Vulkan,
    /// OpenCL, for clCreateProgramWithIL and the reference device
    OpenCl,
}
