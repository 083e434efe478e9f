//! SPIR-V's scopes and memory semantics (SPIR-V 3.27 and 3.25): values and names. `encode` selects them.

use std::fmt;

/// A SPIR-V scope. The discriminants are the operands' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum SpirvScope {
    /// All devices.
    CrossDevice = 0,
    /// The device.
    Device = 1,
    /// The work-group.
    Workgroup = 2,
    /// The sub-group.
    Subgroup = 3,
    /// The work-item itself.
    Invocation = 4,
    /// All work on queues of one family.
    QueueFamily = 5,
}

impl SpirvScope {
    /// The operand.
    pub const fn value(self) -> u32 {
        self as u32
    }

    /// The name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CrossDevice => "CrossDevice",
            Self::Device => "Device",
            Self::Workgroup => "Workgroup",
            Self::Subgroup => "Subgroup",
            Self::Invocation => "Invocation",
            Self::QueueFamily => "QueueFamily",
        }
    }
}

/// A SPIR-V memory semantics mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Semantics(u32);

impl Semantics {
    /// No order and no storage class.
    pub const RELAXED: Self = Self(0);
    /// Later accesses stay after the operation.
    pub const ACQUIRE: Self = Self(0x2);
    /// Earlier accesses stay before the operation.
    pub const RELEASE: Self = Self(0x4);
    /// Acquire and release.
    pub const ACQUIRE_RELEASE: Self = Self(0x8);
    /// Acquire and release, in one total order.
    pub const SEQUENTIALLY_CONSISTENT: Self = Self(0x10);
    /// Storage buffers and physical addresses (and uniform buffers).
    pub const UNIFORM_MEMORY: Self = Self(0x40);
    /// Workgroup memory.
    pub const WORKGROUP_MEMORY: Self = Self(0x100);
    /// CrossWorkgroup memory.
    pub const CROSS_WORKGROUP_MEMORY: Self = Self(0x200);
    /// Images.
    pub const IMAGE_MEMORY: Self = Self(0x800);
    /// Makes earlier writes available to the scope.
    pub const MAKE_AVAILABLE: Self = Self(0x2000);
    /// Makes writes that are available to the scope visible to later reads.
    pub const MAKE_VISIBLE: Self = Self(0x4000);
    /// The access must not be merged with others or removed.
    pub const VOLATILE: Self = Self(0x8000);

    /// The operand.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The bits of both masks.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every bit of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(Semantics, &str); 11] = [
            (Semantics::ACQUIRE, "Acquire"),
            (Semantics::RELEASE, "Release"),
            (Semantics::ACQUIRE_RELEASE, "AcquireRelease"),
            (Semantics::SEQUENTIALLY_CONSISTENT, "SequentiallyConsistent"),
            (Semantics::UNIFORM_MEMORY, "UniformMemory"),
            (Semantics::WORKGROUP_MEMORY, "WorkgroupMemory"),
            (Semantics::CROSS_WORKGROUP_MEMORY, "CrossWorkgroupMemory"),
            (Semantics::IMAGE_MEMORY, "ImageMemory"),
            (Semantics::MAKE_AVAILABLE, "MakeAvailable"),
            (Semantics::MAKE_VISIBLE, "MakeVisible"),
            (Semantics::VOLATILE, "Volatile"),
        ];
        let names: Vec<&str> =
            NAMES.iter().filter(|(bit, _)| self.contains(*bit)).map(|(_, name)| *name).collect();
        if names.is_empty() { write!(f, "Relaxed") } else { write!(f, "{}", names.join(" + ")) }
    }
}
