//! Selects the single-lane operations that the interpreter loop executes without a function call.

use spirv::Op as Inst_;

use crate::{
    code::{Lane, Op},
    types::Scalar,
};

/// The specialized operation for frequently used instructions.
pub(super) fn specialized_op(op: Inst_, scalar: Scalar) -> Option<fn(Lane) -> Op> {
    Some(match (op, scalar) {
        (Inst_::IAdd, Scalar::I32) => Op::AddI32,
        (Inst_::ISub, Scalar::I32) => Op::SubI32,
        (Inst_::IMul, Scalar::I32) => Op::MulI32,
        (Inst_::IAdd, Scalar::I64) => Op::AddI64,
        (Inst_::ISub, Scalar::I64) => Op::SubI64,
        (Inst_::IMul, Scalar::I64) => Op::MulI64,
        (Inst_::ShiftLeftLogical, Scalar::I32) => Op::ShiftLeftI32,
        (Inst_::ShiftRightLogical, Scalar::I32) => Op::ShiftRightI32,
        (Inst_::ShiftLeftLogical, Scalar::I64) => Op::ShiftLeftI64,
        (Inst_::ShiftRightLogical, Scalar::I64) => Op::ShiftRightI64,
        (Inst_::BitwiseAnd | Inst_::LogicalAnd, _) => Op::And,
        (Inst_::BitwiseOr, _) => Op::Or,
        (Inst_::LogicalOr, _) => Op::LogicalOr,
        (Inst_::BitwiseXor, _) => Op::Xor,
        (Inst_::IEqual | Inst_::PtrEqual, _) => Op::Equal,
        (Inst_::INotEqual | Inst_::PtrNotEqual, _) => Op::NotEqual,
        (Inst_::ULessThan, _) => Op::LessU,
        (Inst_::ULessThanEqual, _) => Op::LessEqualU,
        (Inst_::UGreaterThan, _) => |lane: Lane| Op::LessU(lane.swapped()),
        (Inst_::UGreaterThanEqual, _) => |lane: Lane| Op::LessEqualU(lane.swapped()),
        (Inst_::SLessThan, Scalar::I32) => Op::LessI32,
        (Inst_::SLessThanEqual, Scalar::I32) => Op::LessEqualI32,
        (Inst_::SGreaterThan, Scalar::I32) => |lane: Lane| Op::LessI32(lane.swapped()),
        (Inst_::SGreaterThanEqual, Scalar::I32) => |lane: Lane| Op::LessEqualI32(lane.swapped()),
        (Inst_::FAdd, Scalar::F32) => Op::AddF32,
        (Inst_::FSub, Scalar::F32) => Op::SubF32,
        (Inst_::FMul, Scalar::F32) => Op::MulF32,
        _ => return None,
    })
}
