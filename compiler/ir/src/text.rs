//! The keywords of the text form, shared by printing and parsing.

use super::{
    BinaryOp, CompareKind, Convert, Handle, Input, LaunchMemory, Scalar, State, TexelKind, UnaryOp, WorkItem,
};
use kiln_types::{
    ops::{CompareOp, Rounding},
    ty::{Access as ImageAccess, ImageDim},
};
use kiln_vocabulary::opencl::{AddressSpace, AtomicOp, Order, Scope};

/// A value with a keyword.
pub(super) trait Word: Sized {
    /// The keyword.
    fn word(&self) -> &'static str;
    /// The value for a keyword.
    fn parse(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($ty:ty { $([$($variant:tt)*] $word:literal,)* })*) => {
        $(impl Word for $ty {
            fn word(&self) -> &'static str {
                match self { $($($variant)* => $word,)* }
            }

            fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some($($variant)*),)* _ => None }
            }
        })*
    };
}

impl Word for AtomicOp {
    fn word(&self) -> &'static str {
        self.spelling()
    }

    fn parse(word: &str) -> Option<Self> {
        Self::from_spelling(word)
    }
}

words! {
    Scalar {
        [Self::Bool] "bool",
        [Self::I8] "i8",
        [Self::I16] "i16",
        [Self::I32] "i32",
        [Self::I64] "i64",
        [Self::F16] "f16",
        [Self::F32] "f32",
        [Self::F64] "f64",
    }
    Handle {
        [Self::Event] "event",
        [Self::Pipe { is_written: false }] "read_pipe",
        [Self::Pipe { is_written: true }] "write_pipe",
        [Self::ReserveId] "reserve_id",
        [Self::Queue] "queue",
        [Self::DeviceEvent] "device_event",
        [Self::Function] "function",
    }
    AddressSpace {
        [Self::Private] "private",
        [Self::Local] "local",
        [Self::Global] "global",
        [Self::Constant] "constant",
        [Self::Generic] "generic",
    }
    UnaryOp {
        [Self::Neg] "neg",
        [Self::FNeg] "fneg",
        [Self::Not] "not",
        [Self::BitCount] "bit_count",
    }
    BinaryOp {
        [Self::Add] "add",
        [Self::Sub] "sub",
        [Self::Mul] "mul",
        [Self::UMulHigh] "umul_high",
        [Self::SDiv] "sdiv",
        [Self::UDiv] "udiv",
        [Self::SRem] "srem",
        [Self::URem] "urem",
        [Self::Shl] "shl",
        [Self::AShr] "ashr",
        [Self::LShr] "lshr",
        [Self::And] "and",
        [Self::Or] "or",
        [Self::Xor] "xor",
        [Self::FAdd] "fadd",
        [Self::FSub] "fsub",
        [Self::FMul] "fmul",
        [Self::FDiv] "fdiv",
        [Self::FRem] "frem",
    }
    CompareOp {
        [Self::Less] "less",
        [Self::LessEqual] "less_equal",
        [Self::Greater] "greater",
        [Self::GreaterEqual] "greater_equal",
        [Self::Equal] "equal",
        [Self::NotEqual] "not_equal",
    }
    CompareKind {
        [Self::Signed] "signed",
        [Self::Unsigned] "unsigned",
        [Self::Float] "float",
    }
    Rounding {
        [Self::ToEven] "to_even",
        [Self::ToZero] "to_zero",
        [Self::ToPositive] "to_positive",
        [Self::ToNegative] "to_negative",
    }
    Order {
        [Self::Relaxed] "relaxed",
        [Self::Acquire] "acquire",
        [Self::Release] "release",
        [Self::AcqRel] "acq_rel",
        [Self::SeqCst] "seq_cst",
    }
    Scope {
        [Self::WorkItem] "work_item",
        [Self::SubGroup] "sub_group",
        [Self::WorkGroup] "work_group",
        [Self::Device] "device",
        [Self::AllSvmDevices] "all_svm_devices",
    }
    WorkItem {
        [Self::WorkDim] "work_dim",
        [Self::GlobalSize] "global_size",
        [Self::GlobalId] "global_id",
        [Self::LocalSize] "local_size",
        [Self::EnqueuedLocalSize] "enqueued_local_size",
        [Self::LocalId] "local_id",
        [Self::NumGroups] "num_groups",
        [Self::GroupId] "group_id",
        [Self::GlobalOffset] "global_offset",
        [Self::GlobalLinearId] "global_linear_id",
        [Self::LocalLinearId] "local_linear_id",
        [Self::SubGroupSize] "sub_group_size",
        [Self::MaxSubGroupSize] "max_sub_group_size",
        [Self::NumSubGroups] "num_sub_groups",
        [Self::EnqueuedNumSubGroups] "enqueued_num_sub_groups",
        [Self::SubGroupId] "sub_group_id",
        [Self::SubGroupLocalId] "sub_group_local_id",
    }
    LaunchMemory {
        [Self::PushConstants] "push_constants",
        [Self::Uniform] "uniform",
    }
    State {
        [Self::GlobalOffset] "global_offset",
        [Self::GlobalSize] "global_size",
        [Self::EnqueuedLocalSize] "enqueued_local_size",
        [Self::NumGroups] "num_groups",
        [Self::RegionOffset] "region_offset",
        [Self::RegionGroupOffset] "region_group_offset",
        [Self::Variables] "variables",
        [Self::Printf] "printf",
        [Self::Queue] "queue",
        [Self::Command] "command",
    }
    Input {
        [Self::LocalId] "local_id",
        [Self::LocalSize] "local_size",
        [Self::GroupId] "group_id",
        [Self::GlobalId] "global_id",
        [Self::WorkDim] "work_dim",
        [Self::LocalIndex] "local_index",
        [Self::SubGroupSize] "sub_group_size",
        [Self::SubGroupId] "sub_group_id",
        [Self::SubGroupLocalId] "sub_group_local_id",
    }
    TexelKind {
        [Self::Float] "float",
        [Self::Signed] "signed",
        [Self::Unsigned] "unsigned",
    }
    ImageDim {
        [Self::D1] "1d",
        [Self::Buffer] "buffer",
        [Self::D2] "2d",
        [Self::D3] "3d",
    }
    ImageAccess {
        [Self::ReadOnly] "read_only",
        [Self::WriteOnly] "write_only",
        [Self::ReadWrite] "read_write",
    }
}

/// The keyword of a conversion that has no other properties.
pub(super) const fn convert_word(convert: Convert) -> &'static str {
    match convert {
        Convert::Truncate => "truncate",
        Convert::SignExtend => "sign_extend",
        Convert::ZeroExtend => "zero_extend",
        Convert::Number { .. } => "number",
    }
}
