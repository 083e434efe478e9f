//! Decoded operands, and the enumerants of the SPIR-V grammar.
//!
//! The parameters and capabilities of an enumerant come from rspirv's tables, which are generated from the grammar.
//! Each enumerant of a module is looked up once.

use rspirv::{
    dr,
    grammar::OperandKind,
    spirv::{self, Word},
};
use rustc_hash::FxHashMap;

/// An operand. Enumerants that no rule needs are `Enumerant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    IdRef(Word),
    IdScope(Word),
    IdMemorySemantics(Word),
    LiteralBit32(u32),
    /// Two words, whose value no rule needs.
    LiteralBit64,
    /// The index of the string's first word in the module.
    LiteralString(u32),
    Capability(spirv::Capability),
    StorageClass(spirv::StorageClass),
    ExecutionModel(spirv::ExecutionModel),
    ExecutionMode(spirv::ExecutionMode),
    AddressingModel(spirv::AddressingModel),
    MemoryModel(spirv::MemoryModel),
    Decoration(spirv::Decoration),
    BuiltIn(spirv::BuiltIn),
    MemoryAccess(spirv::MemoryAccess),
    ImageOperands(spirv::ImageOperands),
    Dim(spirv::Dim),
    ImageFormat(spirv::ImageFormat),
    AccessQualifier(spirv::AccessQualifier),
    Enumerant,
}

impl Operand {
    /// The id in an operand of any kind.
    pub(super) fn id(&self) -> Option<Word> {
        match self {
            Self::IdRef(id) | Self::IdScope(id) | Self::IdMemorySemantics(id) => Some(*id),
            _ => None,
        }
    }
}

/// The grammar's row of an enumerant or mask.
pub(super) struct Enumerant {
    /// The decoded operand.
    pub(super) operand: Operand,
    /// The operand for messages.
    pub(super) shown: dr::Operand,
    /// The kinds of the operands that follow it.
    pub(super) parameters: Vec<OperandKind>,
    /// One of these capabilities is required; if empty, none.
    pub(super) capabilities: Vec<spirv::Capability>,
}

/// The enumerants of a module.
#[derive(Default)]
pub(super) struct Enumerants {
    pub(super) rows: Vec<Enumerant>,
    indices: FxHashMap<(OperandKind, u32), usize>,
}

impl Enumerants {
    /// The row of a value of this kind; `None` if the grammar does not have it.
    pub(super) fn find(&mut self, kind: OperandKind, value: u32) -> Option<usize> {
        if let Some(index) = self.indices.get(&(kind, value)) {
            return Some(*index);
        }
        let row = Enumerant::new(kind, value)?;
        let index = self.rows.len();
        self.rows.push(row);
        self.indices.insert((kind, value), index);
        Some(index)
    }
}

impl Enumerant {
    fn new(kind: OperandKind, value: u32) -> Option<Self> {
        let shown = enumerant(kind, value)?;
        let operand = match &shown {
            dr::Operand::Capability(it) => Operand::Capability(*it),
            dr::Operand::StorageClass(it) => Operand::StorageClass(*it),
            dr::Operand::ExecutionModel(it) => Operand::ExecutionModel(*it),
            dr::Operand::ExecutionMode(it) => Operand::ExecutionMode(*it),
            dr::Operand::AddressingModel(it) => Operand::AddressingModel(*it),
            dr::Operand::MemoryModel(it) => Operand::MemoryModel(*it),
            dr::Operand::Decoration(it) => Operand::Decoration(*it),
            dr::Operand::BuiltIn(it) => Operand::BuiltIn(*it),
            dr::Operand::MemoryAccess(it) => Operand::MemoryAccess(*it),
            dr::Operand::ImageOperands(it) => Operand::ImageOperands(*it),
            dr::Operand::Dim(it) => Operand::Dim(*it),
            dr::Operand::ImageFormat(it) => Operand::ImageFormat(*it),
            dr::Operand::AccessQualifier(it) => Operand::AccessQualifier(*it),
            _ => Operand::Enumerant,
        };
        let capabilities = shown.required_capabilities();
        Some(Self { operand, parameters: parameters(kind, value, &shown), shown, capabilities })
    }
}

/// SPIR-V 2.3.1: the parameters of a mask are in the order of its bits.
fn parameters(kind: OperandKind, value: u32, whole: &dr::Operand) -> Vec<OperandKind> {
    let kinds = |operand: &dr::Operand| {
        operand.additional_operands().into_iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    if !is_mask(kind) {
        return kinds(whole);
    }
    let bits = (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| value & bit != 0);
    bits.filter_map(|bit| enumerant(kind, bit)).flat_map(|bit| kinds(&bit)).collect()
}

/// Defines the conversion of a value to an operand of a kind: `masks` are sets of bits, `values` are lists of enumerants.
macro_rules! enumerants {
    (masks: $($mask:ident),*; values: $($value:ident),*;) => {
        fn enumerant(kind: OperandKind, value: u32) -> Option<dr::Operand> {
            Some(match kind {
                $(OperandKind::$mask => dr::Operand::$mask(spirv::$mask::from_bits(value)?),)*
                $(OperandKind::$value => dr::Operand::$value(spirv::$value::from_u32(value)?),)*
                _ => return None,
            })
        }

        fn is_mask(kind: OperandKind) -> bool {
            matches!(kind, $(OperandKind::$mask)|*)
        }
    };
}

enumerants! {
    masks: ImageOperands, FPFastMathMode, SelectionControl, LoopControl, FunctionControl, MemorySemantics, MemoryAccess,
        KernelProfilingInfo, RayFlags, FragmentShadingRate, RawAccessChainOperands, CooperativeMatrixOperands,
        CooperativeMatrixReduce, TensorAddressingOperands, MatrixMultiplyAccumulateOperands, TensorOperands;
    values: SourceLanguage, ExecutionModel, AddressingModel, MemoryModel, ExecutionMode, StorageClass, Dim,
        SamplerAddressingMode, SamplerFilterMode, ImageFormat, ImageChannelOrder, ImageChannelDataType, FPRoundingMode,
        FPDenormMode, QuantizationModes, FPOperationMode, OverflowModes, LinkageType, AccessQualifier, HostAccessQualifier,
        FunctionParameterAttribute, Decoration, BuiltIn, Scope, GroupOperation, KernelEnqueueFlags, Capability,
        RayQueryIntersection, RayQueryCommittedIntersectionType, RayQueryCandidateIntersectionType, PackedVectorFormat,
        CooperativeMatrixLayout, CooperativeMatrixUse, TensorClampMode, InitializationModeQualifier, LoadCacheControl,
        StoreCacheControl, NamedMaximumNumberOfRegisters, FPEncoding, CooperativeVectorMatrixLayout, ComponentType;
}
