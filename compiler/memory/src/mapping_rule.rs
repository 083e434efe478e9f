//! The rules of docs/memory-model.md that replace operations for Vulkan.

/// A rule that changed an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MappingRule {
    /// R1: a seq_cst operation is a read-modify-write that acquires and releases.
    SeqCstModifies,
    /// R2: another store to such an object is an exchange.
    StoresExchange,
    /// R3: another load of such an object has the widest scope of its memory.
    WidestScope,
    /// R4: a relaxed store after a release is a release store.
    ReleaseSequence,
    /// R5: a compare-exchange that fails with seq_cst reads again.
    FailureRereads,
    /// R6: a seq_cst fence uses a hidden word of global memory.
    FenceThroughWord,
    /// R7: an operation that orders global or local memory orders both.
    OrdersBoth,
    /// R11: a plain load of an object that is loaded with seq_cst is atomic.
    AtomicLoads,
}

impl MappingRule {
    /// The name in docs/memory-model.md.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SeqCstModifies => "R1",
            Self::StoresExchange => "R2",
            Self::WidestScope => "R3",
            Self::ReleaseSequence => "R4",
            Self::FailureRereads => "R5",
            Self::FenceThroughWord => "R6",
            Self::OrdersBoth => "R7",
            Self::AtomicLoads => "R11",
        }
    }

    /// Why the operation changes, as a clause.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::SeqCstModifies => {
                "Vulkan has no total order of seq_cst operations, but read-modify-writes that acquire and release have one"
            }
            Self::StoresExchange => "a seq_cst operation can access the same object",
            Self::WidestScope => {
                "a seq_cst load of the same object is a write on Vulkan, so each load has the widest scope"
            }
            Self::ReleaseSequence => {
                "only read-modify-writes continue a release sequence on Vulkan, so this store releases too"
            }
            Self::FailureRereads => "a compare-exchange that fails writes nothing, so it reads again",
            Self::FenceThroughWord => {
                "a seq_cst fence is a read-modify-write of a word that all work-items share"
            }
            Self::OrdersBoth => {
                "the program has seq_cst operations and orders both memories, so this operation orders both"
            }
            Self::AtomicLoads => {
                "a seq_cst load of the same object is a write on Vulkan, so this plain load is atomic"
            }
        }
    }
}
