//! Events: the steps of work-items that other work-items can observe, with the operands of SPIR-V. Must not depend on
//! how events are found, nor on a memory model.

/// A location in memory: an object, and a byte offset in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The object.
    pub object: Object,
    /// The offset in bytes.
    pub offset: u32,
}

/// An object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// The buffer that is this kernel argument, by ordinal.
    Argument(u32),
    /// The program-scope variables of the module, and the hidden words that the compiler adds to them.
    Program,
    /// The local memory of a kernel argument, by ordinal, in a work-group.
    LocalArgument(u32, u32),
    /// A local variable of the module, by id, in a work-group.
    LocalVariable(u32, u32),
    /// Memory that only one work-item accesses, where an atomic operation with an order still makes other memory available
    /// or visible. Each such operation has its own location.
    Unshared(u32, Space),
}

impl Default for Object {
    fn default() -> Self {
        Self::Argument(0)
    }
}

impl Object {
    /// The memory that contains the object.
    pub fn space(self) -> Space {
        match self {
            Self::Argument(_) | Self::Program => Space::Global,
            Self::LocalArgument(..) | Self::LocalVariable(..) => Space::Local,
            Self::Unshared(_, space) => space,
        }
    }
}

/// Global or local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Global memory.
    Global,
    /// Local memory.
    Local,
}

impl Space {
    /// Both memories.
    pub(crate) const ALL: [Self; 2] = [Self::Global, Self::Local];

    /// Its bit in the memory semantics of the OpenCL environment.
    pub(crate) const fn class(self) -> u32 {
        match self {
            Self::Global => semantics::CROSS_WORKGROUP_MEMORY,
            Self::Local => semantics::WORKGROUP_MEMORY,
        }
    }

    /// The name of the address space in OpenCL C.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
        }
    }
}

/// The action of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A load, or a compare-exchange that fails.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Modify,
    /// A fence.
    Fence,
    /// The entry of a barrier: a release fence (OpenCL API 3.3.6.4).
    Arrive,
    /// The exit of a barrier: an acquire fence.
    Leave,
    /// Makes all writes before it available to the device, outside of shaders (Vulkan's device domain).
    MakeAvailable,
    /// Makes all available writes visible to the later events, outside of shaders.
    MakeVisible,
}

/// SPIR-V's scopes (SPIR-V 3.27).
pub mod scope {
    /// All devices.
    pub const CROSS_DEVICE: u32 = 0;
    /// The device.
    pub const DEVICE: u32 = 1;
    /// The work-group.
    pub const WORKGROUP: u32 = 2;
    /// The sub-group.
    pub const SUBGROUP: u32 = 3;
    /// The work-item.
    pub const INVOCATION: u32 = 4;
    /// All queues of a family.
    pub const QUEUE_FAMILY: u32 = 5;

    /// The rank of a scope by the number of work-items that it contains.
    pub(crate) fn width(scope: u32) -> u8 {
        match scope {
            CROSS_DEVICE | DEVICE | QUEUE_FAMILY => 3,
            WORKGROUP => 2,
            SUBGROUP => 1,
            _ => 0,
        }
    }

    /// The name in OpenCL C.
    pub fn opencl_name(scope: u32) -> &'static str {
        match scope {
            CROSS_DEVICE => "all_svm_devices",
            DEVICE | QUEUE_FAMILY => "device",
            WORKGROUP => "work_group",
            SUBGROUP => "sub_group",
            _ => "work_item",
        }
    }
}

/// The bits of SPIR-V's masks of semantics (SPIR-V 3.25).
pub mod semantics {
    use spirv::MemorySemantics;

    /// Later accesses stay after the operation.
    pub const ACQUIRE: u32 = MemorySemantics::ACQUIRE.bits();
    /// Earlier accesses stay before the operation.
    pub const RELEASE: u32 = MemorySemantics::RELEASE.bits();
    /// Both.
    pub const ACQUIRE_RELEASE: u32 = MemorySemantics::ACQUIRE_RELEASE.bits();
    /// Both, in one total order with all such operations.
    pub const SEQUENTIALLY_CONSISTENT: u32 = MemorySemantics::SEQUENTIALLY_CONSISTENT.bits();
    /// Storage buffers and physical addresses, on Vulkan.
    pub const UNIFORM_MEMORY: u32 = MemorySemantics::UNIFORM_MEMORY.bits();
    /// Local memory.
    pub const WORKGROUP_MEMORY: u32 = MemorySemantics::WORKGROUP_MEMORY.bits();
    /// Global memory, in the OpenCL environment.
    pub const CROSS_WORKGROUP_MEMORY: u32 = MemorySemantics::CROSS_WORKGROUP_MEMORY.bits();
    /// Images.
    pub const IMAGE_MEMORY: u32 = MemorySemantics::IMAGE_MEMORY.bits();
    /// Atomic counters, which only litmus tests use.
    pub const ATOMIC_COUNTER_MEMORY: u32 = MemorySemantics::ATOMIC_COUNTER_MEMORY.bits();
    /// Makes earlier writes available.
    pub const MAKE_AVAILABLE: u32 = MemorySemantics::MAKE_AVAILABLE.bits();
    /// Makes available writes visible to later reads.
    pub const MAKE_VISIBLE: u32 = MemorySemantics::MAKE_VISIBLE.bits();
    /// Every order that acquires.
    pub const ACQUIRES: u32 = ACQUIRE | ACQUIRE_RELEASE | SEQUENTIALLY_CONSISTENT;
    /// Every order that releases.
    pub const RELEASES: u32 = RELEASE | ACQUIRE_RELEASE | SEQUENTIALLY_CONSISTENT;
    /// Every order.
    pub const ORDERS: u32 = ACQUIRES | RELEASES;

    /// The name of the order in OpenCL C.
    pub fn order_name(mask: u32) -> &'static str {
        match mask & ORDERS {
            0 => "relaxed",
            ACQUIRE => "acquire",
            RELEASE => "release",
            ACQUIRE_RELEASE => "acq_rel",
            _ => "seq_cst",
        }
    }
}

/// An observable step of a work-item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The action.
    pub action: Action,
    /// The location; `None` for fences and barriers.
    pub location: Option<Location>,
    /// The memory of the location.
    pub space: Space,
    /// The value read.
    pub read: u64,
    /// The value written.
    pub written: u64,
    /// Whether it is an atomic operation.
    pub is_atomic: bool,
    /// The SPIR-V scope.
    pub scope: u32,
    /// The SPIR-V semantics.
    pub semantics: u32,
    /// Whether Vulkan's memory model orders it with other work-items (non-private).
    pub is_shared: bool,
    /// Whether a plain access itself makes its write available, or its location visible, in its scope.
    pub is_coherent: bool,
    /// The storage class on Vulkan, as its bit in masks of semantics; 0 for that of `space`.
    pub class: u32,
    /// The number of the reference that it uses for its location (Vulkan, Memory Location and Reference).
    pub reference: u32,
    /// The scope whose work-items a barrier synchronizes.
    pub execution: u32,
    /// The instruction, which is the same in all work-items.
    pub site: u32,
    /// The source line; 0 if the module does not contain it.
    pub line: u32,
}

impl Event {
    /// A fence, or a half of a barrier: everything but the operands is empty.
    pub fn fence(action: Action, scope: u32, semantics: u32) -> Self {
        Self {
            action,
            location: None,
            space: Space::Global,
            read: 0,
            written: 0,
            is_atomic: false,
            scope,
            semantics,
            is_shared: true,
            is_coherent: false,
            class: 0,
            reference: 0,
            execution: scope::WORKGROUP,
            site: 0,
            line: 0,
        }
    }

    /// An atomic access.
    pub fn atomic(action: Action, location: Location, scope: u32, semantics: u32) -> Self {
        Self {
            location: Some(location),
            space: location.object.space(),
            is_atomic: true,
            ..Self::fence(action, scope, semantics)
        }
    }

    /// A plain access.
    pub fn plain(action: Action, location: Location, is_shared: bool) -> Self {
        Self { is_atomic: false, is_shared, ..Self::atomic(action, location, scope::INVOCATION, 0) }
    }

    /// Whether a loop can repeat it without an effect: a load of an atomic object or a fence, and with `writes_back` a
    /// read-modify-write that writes the value that it reads.
    pub(crate) fn changes_nothing(&self, writes_back: bool) -> bool {
        match self.action {
            Action::Fence => true,
            Action::Read => self.is_atomic,
            Action::Modify => writes_back && self.read == self.written,
            _ => false,
        }
    }

    /// Whether it reads a location.
    pub fn reads(&self) -> bool {
        matches!(self.action, Action::Read | Action::Modify)
    }

    /// Whether it writes a location.
    pub fn writes(&self) -> bool {
        matches!(self.action, Action::Write | Action::Modify)
    }

    /// Whether it is a fence, or a half of a barrier.
    pub fn is_fence(&self) -> bool {
        self.location.is_none()
    }

    /// Whether it is an acquire operation.
    pub fn acquires(&self) -> bool {
        self.semantics & semantics::ACQUIRES != 0 && (self.is_fence() || self.reads())
    }

    /// Whether it is a release operation.
    pub fn releases(&self) -> bool {
        self.semantics & semantics::RELEASES != 0 && (self.is_fence() || self.writes())
    }

    /// Whether it is sequentially consistent.
    pub fn is_seq_cst(&self) -> bool {
        self.semantics & semantics::SEQUENTIALLY_CONSISTENT != 0
    }
}

/// The position of a work-item in the index space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The work-group.
    pub group: u32,
    /// The sub-group, counted over all work-groups.
    pub sub_group: u32,
    /// The family of the queue.
    pub family: u32,
    /// The device.
    pub device: u32,
}

/// A run of a work-item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The observable events, in program order.
    pub events: Vec<Event>,
    /// The last values written to locations that no other work-item accesses.
    pub results: Vec<(Location, u64)>,
    /// How the run ends.
    pub end: End,
    /// Whether it reads values out of thin air: no run without such values writes them.
    pub is_assumed: bool,
}

impl Trace {
    /// Whether it has all events of a run, or all until loops are cut.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.end, End::Done | End::Cut)
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The work-item ends.
    #[default]
    Done,
    /// It continues, with more iterations of a loop than are explored.
    Cut,
    /// It repeats the events from this one forever, if they read the same values in each iteration.
    Spin(usize),
    /// It waits at a barrier, or the scheduler runs it no further.
    Paused,
}

/// All runs of all work-items of a launch, for all values that reads can return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skeleton {
    /// The position of each work-item.
    pub positions: Vec<Position>,
    /// The runs of each work-item.
    pub traces: Vec<Vec<Trace>>,
    /// Pairs of work-items where the first system-synchronizes-with the second: the host or the driver orders them.
    pub system: Vec<(usize, usize)>,
    /// The initial values of the locations in `traces` that are not zero.
    pub initial: Vec<(Location, u64)>,
    /// The locations that the launch writes, in order: the parts of an outcome.
    pub parts: Vec<Location>,
    /// The size of each part in bytes.
    pub sizes: Vec<u64>,
    /// Whether loops were cut after the bound: longer runs are missing.
    pub is_cut: bool,
    /// Whether a work-item can repeat an iteration of a loop that changes nothing: it waits for another one. In a Vulkan test, such
    /// a loop counts as cut if no runs are kept of it.
    pub has_spins: bool,
}

impl Skeleton {
    /// All events.
    pub fn events_mut(&mut self) -> impl Iterator<Item = &mut Event> {
        self.traces.iter_mut().flatten().flat_map(|trace| &mut trace.events)
    }
}
