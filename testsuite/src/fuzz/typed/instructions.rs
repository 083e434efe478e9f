//! Instructions of one shape: the opcode of one can replace that of another.

use rspirv::{
    dr::{Instruction, Operand},
    grammar::OPENCL_STD_100_INSTRUCTION_TABLE,
    spirv::Op,
};

use super::Mutant;

/// Families whose instructions take operands of the same types.
const FAMILIES: &[&[Op]] = &[
    &[
        Op::IAdd,
        Op::ISub,
        Op::IMul,
        Op::UDiv,
        Op::SDiv,
        Op::UMod,
        Op::SRem,
        Op::SMod,
        Op::BitwiseOr,
        Op::BitwiseXor,
        Op::BitwiseAnd,
        Op::ShiftLeftLogical,
        Op::ShiftRightLogical,
        Op::ShiftRightArithmetic,
    ],
    &[Op::SNegate, Op::Not, Op::BitCount, Op::BitReverse, Op::CopyObject, Op::UConvert, Op::SConvert],
    &[Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FRem, Op::FMod],
    &[Op::FNegate, Op::CopyObject, Op::FConvert],
    &[Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended],
    &[Op::ConvertFToU, Op::ConvertFToS, Op::Bitcast],
    &[Op::ConvertSToF, Op::ConvertUToF, Op::Bitcast],
    &[Op::UConvert, Op::SConvert, Op::SatConvertSToU, Op::SatConvertUToS],
    &[
        Op::IEqual,
        Op::INotEqual,
        Op::UGreaterThan,
        Op::SGreaterThan,
        Op::UGreaterThanEqual,
        Op::SGreaterThanEqual,
        Op::ULessThan,
        Op::SLessThan,
        Op::ULessThanEqual,
        Op::SLessThanEqual,
    ],
    &[
        Op::FOrdEqual,
        Op::FUnordEqual,
        Op::FOrdNotEqual,
        Op::FUnordNotEqual,
        Op::FOrdLessThan,
        Op::FUnordLessThan,
        Op::FOrdGreaterThan,
        Op::FUnordGreaterThan,
        Op::FOrdLessThanEqual,
        Op::FUnordLessThanEqual,
        Op::FOrdGreaterThanEqual,
        Op::FUnordGreaterThanEqual,
        Op::LessOrGreater,
        Op::Ordered,
        Op::Unordered,
    ],
    &[Op::IsNan, Op::IsInf, Op::IsFinite, Op::IsNormal, Op::SignBitSet],
    &[Op::LogicalAnd, Op::LogicalOr, Op::LogicalEqual, Op::LogicalNotEqual],
    &[Op::Any, Op::All],
    &[
        Op::AtomicIAdd,
        Op::AtomicISub,
        Op::AtomicSMin,
        Op::AtomicUMin,
        Op::AtomicSMax,
        Op::AtomicUMax,
        Op::AtomicAnd,
        Op::AtomicOr,
        Op::AtomicXor,
        Op::AtomicExchange,
    ],
    &[Op::AtomicLoad, Op::AtomicIIncrement, Op::AtomicIDecrement],
    &[Op::AtomicFAddEXT, Op::AtomicFMinEXT, Op::AtomicFMaxEXT, Op::AtomicExchange],
    &[Op::GroupAll, Op::GroupAny, Op::GroupNonUniformAll, Op::GroupNonUniformAny],
    &[Op::GroupIAdd, Op::GroupUMin, Op::GroupSMin, Op::GroupUMax, Op::GroupSMax],
    &[Op::GroupFAdd, Op::GroupFMin, Op::GroupFMax],
    &[
        Op::GroupNonUniformIAdd,
        Op::GroupNonUniformIMul,
        Op::GroupNonUniformSMin,
        Op::GroupNonUniformUMin,
        Op::GroupNonUniformSMax,
        Op::GroupNonUniformUMax,
        Op::GroupNonUniformBitwiseAnd,
        Op::GroupNonUniformBitwiseOr,
        Op::GroupNonUniformBitwiseXor,
    ],
    &[Op::GroupNonUniformFAdd, Op::GroupNonUniformFMul, Op::GroupNonUniformFMin, Op::GroupNonUniformFMax],
    &[
        Op::GroupNonUniformShuffle,
        Op::GroupNonUniformShuffleXor,
        Op::GroupNonUniformShuffleUp,
        Op::GroupNonUniformShuffleDown,
        Op::GroupNonUniformBroadcast,
    ],
    &[Op::AccessChain, Op::InBoundsAccessChain],
    &[Op::PtrAccessChain, Op::InBoundsPtrAccessChain],
    &[Op::PtrEqual, Op::PtrNotEqual],
    &[Op::PtrCastToGeneric, Op::GenericCastToPtr, Op::Bitcast, Op::CopyObject],
    &[Op::Return, Op::Unreachable],
];

impl Mutant<'_> {
    /// Replaces an instruction by another of its family.
    pub(super) fn replace_opcode(&mut self) {
        let Some(at) = self.position() else { return };
        let instruction = self.instruction(at).clone();
        let op = instruction.class.opcode;
        let families: Vec<_> = FAMILIES.iter().filter(|family| family.contains(&op)).collect();
        if op == Op::ExtInst {
            let count = instruction.operands.len() - 2;
            let rows = OPENCL_STD_100_INSTRUCTION_TABLE.iter().filter(|row| row.operands.len() == count);
            let numbers: Vec<u32> = rows.map(|row| row.opcode.into()).collect();
            if !numbers.is_empty() {
                let number = *self.random.pick(&numbers);
                self.instruction(at).operands[1] = Operand::LiteralExtInstInteger(number);
            }
        } else if !families.is_empty() {
            let family = *self.random.pick(&families);
            let other = *self.random.pick(family);
            *self.instruction(at) =
                Instruction::new(other, instruction.result_type, instruction.result_id, instruction.operands);
        }
    }
}
