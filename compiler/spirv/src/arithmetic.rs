//! Selects the SPIR-V instruction for each arithmetic operation.

use kiln_ir::{BinaryOp, Compare, CompareKind, Convert, Inst, Scalar, Type, UnaryOp};
use kiln_types::ops::{CompareOp, Conversion, Rounding};
use rspirv::{
    dr::Operand,
    spirv::{Decoration, FPFastMathMode, FPRoundingMode, Op},
};

use super::body::Body;

impl Body<'_, '_> {
    /// A vector of scalars and vectors. LLVM-based consumers of the OpenCL environment accept only scalars.
    pub(super) fn emit_construct(&mut self, inst: &Inst) {
        let count_of = |ty: Type| u32::from(ty.count());
        if self.is_vulkan() || inst.args.iter().all(|&arg| count_of(self.type_of(arg)) == 1) {
            return self.plain(inst, Op::CompositeConstruct);
        }
        let mut operands = Vec::new();
        if let [left, right] = inst.args[..]
            && self.type_of(left) == self.type_of(right)
        {
            operands.extend([left, right].map(|arg| Operand::IdRef(self.value(arg))));
            operands.extend((0..2 * count_of(self.type_of(left))).map(Operand::LiteralBit32));
            return self.result(inst, Op::VectorShuffle, operands);
        }
        for &arg in &inst.args {
            let word = self.value(arg);
            let Type::Vector(scalar, count) = self.type_of(arg) else {
                operands.push(Operand::IdRef(word));
                continue;
            };
            for index in 0..u32::from(count) {
                let part = vec![Operand::IdRef(word), Operand::LiteralBit32(index)];
                operands.push(Operand::IdRef(self.op(Op::CompositeExtract, Type::Scalar(scalar), part)));
            }
        }
        self.result(inst, Op::CompositeConstruct, operands);
    }

    fn is_bool(&self, inst: &Inst) -> bool {
        self.type_of(inst.args[0]).scalar() == Some(Scalar::Bool)
    }

    pub(super) fn emit_unary(&mut self, inst: &Inst, op: UnaryOp) {
        let op = match op {
            UnaryOp::Neg => Op::SNegate,
            UnaryOp::FNeg => Op::FNegate,
            UnaryOp::Not if self.is_bool(inst) => Op::LogicalNot,
            UnaryOp::Not => Op::Not,
            UnaryOp::BitCount => Op::BitCount,
        };
        self.plain(inst, op);
    }

    pub(super) fn emit_binary(&mut self, inst: &Inst, op: BinaryOp) {
        let is_bool = self.is_bool(inst);
        let op = match op {
            BinaryOp::UMulHigh => return self.upper_product(inst),
            BinaryOp::Add => Op::IAdd,
            BinaryOp::Sub => Op::ISub,
            BinaryOp::Mul => Op::IMul,
            BinaryOp::SDiv => Op::SDiv,
            BinaryOp::UDiv => Op::UDiv,
            BinaryOp::SRem => Op::SRem,
            BinaryOp::URem => Op::UMod,
            BinaryOp::Shl => Op::ShiftLeftLogical,
            BinaryOp::AShr => Op::ShiftRightArithmetic,
            BinaryOp::LShr => Op::ShiftRightLogical,
            BinaryOp::And if is_bool => Op::LogicalAnd,
            BinaryOp::Or if is_bool => Op::LogicalOr,
            BinaryOp::Xor if is_bool => Op::LogicalNotEqual,
            BinaryOp::And => Op::BitwiseAnd,
            BinaryOp::Or => Op::BitwiseOr,
            BinaryOp::Xor => Op::BitwiseXor,
            BinaryOp::FAdd => Op::FAdd,
            BinaryOp::FSub => Op::FSub,
            BinaryOp::FMul => Op::FMul,
            BinaryOp::FDiv => Op::FDiv,
            BinaryOp::FRem => Op::FRem,
        };
        self.plain(inst, op);
        if matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem) {
            self.relax(inst);
        }
    }

    /// The upper half of a product: the second member of the result of `OpUMulExtended`.
    fn upper_product(&mut self, inst: &Inst) {
        let ty = self.emitter.ty(self.type_of(inst.results[0]));
        let pair = self.emitter.writer.interned(Op::TypeStruct, None, vec![Operand::IdRef(ty); 2]);
        let factors = inst.args.iter().map(|&arg| Operand::IdRef(self.value(arg))).collect();
        let product = self.typed(Op::UMulExtended, pair, factors);
        self.result(inst, Op::CompositeExtract, vec![Operand::IdRef(product), Operand::LiteralBit32(1)]);
    }

    /// Decorates an operation with the fast-math modes that the options allow (OpenCL API 5.8.6.4).
    pub(super) fn relax(&mut self, inst: &Inst) {
        let math = self.emitter.math;
        let mode = [
            (math.finite_only, FPFastMathMode::NOT_NAN | FPFastMathMode::NOT_INF),
            (math.no_signed_zeros, FPFastMathMode::NSZ),
            (math.unsafe_optimizations, FPFastMathMode::ALLOW_RECIP),
            (math.fast_relaxed, FPFastMathMode::FAST),
        ]
        .into_iter()
        .filter_map(|(is_set, mode)| is_set.then_some(mode))
        .fold(FPFastMathMode::NONE, |all, mode| all | mode);
        let is_real =
            inst.results.first().is_some_and(|&it| self.type_of(it).scalar().is_some_and(Scalar::is_float));
        // Vulkan does not support this decoration.
        if self.is_vulkan() || mode.is_empty() || !is_real {
            return;
        }
        let word = self.value(inst.results[0]);
        self.emitter.writer.decorate(word, Decoration::FPFastMathMode, [Operand::FPFastMathMode(mode)]);
    }

    /// Emits an integer operation that does not overflow, or a floating-point operation that is not contracted. For the latter, the
    /// OpenCL environment has only an execution mode, and no decoration.
    pub(super) fn emit_exact(&mut self, inst: &Inst, op: BinaryOp) {
        self.emit_binary(inst, op);
        let word = self.value(inst.results[0]);
        if self.type_of(inst.args[0]).scalar().is_some_and(Scalar::is_int) {
            self.emitter.writer.decorate(word, Decoration::NoSignedWrap, []);
            // Core since SPIR-V 1.4. Vulkan, whose modules have at least 1.5, does not accept the extension.
            if !self.is_vulkan() {
                self.emitter.writer.extension("SPV_KHR_no_integer_wrap_decoration");
            }
        } else if self.is_vulkan() {
            self.emitter.writer.decorate(word, Decoration::NoContraction, []);
        } else {
            self.emitter.contracts = false;
        }
    }

    pub(super) fn emit_compare(&mut self, inst: &Inst, compare: Compare) {
        use CompareKind::{Float, Signed, Unsigned};
        let is_bool = self.is_bool(inst);
        let op = match (compare.op, compare.kind) {
            (CompareOp::Equal, Signed | Unsigned) if is_bool => Op::LogicalEqual,
            (CompareOp::NotEqual, Signed | Unsigned) if is_bool => Op::LogicalNotEqual,
            (CompareOp::Equal, Signed | Unsigned) => Op::IEqual,
            (CompareOp::NotEqual, Signed | Unsigned) => Op::INotEqual,
            (CompareOp::Less, Signed) => Op::SLessThan,
            (CompareOp::LessEqual, Signed) => Op::SLessThanEqual,
            (CompareOp::Greater, Signed) => Op::SGreaterThan,
            (CompareOp::GreaterEqual, Signed) => Op::SGreaterThanEqual,
            (CompareOp::Less, Unsigned) => Op::ULessThan,
            (CompareOp::LessEqual, Unsigned) => Op::ULessThanEqual,
            (CompareOp::Greater, Unsigned) => Op::UGreaterThan,
            (CompareOp::GreaterEqual, Unsigned) => Op::UGreaterThanEqual,
            (CompareOp::Equal, Float) => Op::FOrdEqual,
            (CompareOp::NotEqual, Float) => Op::FUnordNotEqual,
            (CompareOp::Less, Float) => Op::FOrdLessThan,
            (CompareOp::LessEqual, Float) => Op::FOrdLessThanEqual,
            (CompareOp::Greater, Float) => Op::FOrdGreaterThan,
            (CompareOp::GreaterEqual, Float) => Op::FOrdGreaterThanEqual,
        };
        if !matches!(self.type_of(inst.args[0]), Type::Pointer(_)) {
            return self.plain(inst, op);
        }
        let wide = Type::Scalar(Scalar::I64);
        let operands = [inst.args[0], inst.args[1]].map(|arg| {
            let pointer = self.value(arg);
            Operand::IdRef(self.op(Op::ConvertPtrToU, wide, vec![Operand::IdRef(pointer)]))
        });
        self.result(inst, op, operands.to_vec());
    }

    /// SPIR-V 1.2 requires a condition for each component.
    pub(super) fn emit_select(&mut self, inst: &Inst) {
        let (condition, result) = (self.type_of(inst.args[0]), self.type_of(inst.results[0]));
        let (Type::Scalar(_), Type::Vector(_, count)) = (condition, result) else {
            return self.plain(inst, Op::Select);
        };
        let [condition, then, otherwise] =
            [inst.args[0], inst.args[1], inst.args[2]].map(|arg| self.value(arg));
        let ty = Type::Vector(Scalar::Bool, count);
        let condition = self.op(Op::CompositeConstruct, ty, vec![Operand::IdRef(condition); count.into()]);
        let operands = [condition, then, otherwise].into_iter().map(Operand::IdRef).collect();
        self.result(inst, Op::Select, operands);
    }

    pub(super) fn emit_bitcast(&mut self, inst: &Inst) {
        if self.type_of(inst.args[0]) == self.type_of(inst.results[0]) {
            let word = self.value(inst.args[0]);
            return self.define(inst.results[0], word);
        }
        self.plain(inst, Op::Bitcast);
    }

    pub(super) fn emit_convert(&mut self, inst: &Inst, convert: Convert) {
        match convert {
            Convert::Truncate => self.plain(inst, Op::UConvert),
            Convert::SignExtend => self.plain(inst, Op::SConvert),
            Convert::ZeroExtend if self.is_bool(inst) => self.from_bool(inst),
            Convert::ZeroExtend => self.plain(inst, Op::UConvert),
            Convert::Number { conversion, from_signed, to_signed } => {
                let from = self.type_of(inst.args[0]).scalar().is_some_and(Scalar::is_float);
                let to = self.type_of(inst.results[0]).scalar().is_some_and(Scalar::is_float);
                let op = match (from, to) {
                    (true, true) => Op::FConvert,
                    (true, false) if to_signed => Op::ConvertFToS,
                    (true, false) => Op::ConvertFToU,
                    (false, true) if from_signed => Op::ConvertSToF,
                    (false, true) => Op::ConvertUToF,
                    (false, false) if from_signed && !to_signed => Op::SatConvertSToU,
                    (false, false) => Op::SatConvertUToS,
                };
                self.plain(inst, op);
                self.decorate_conversion(inst, conversion, !to);
            }
        }
    }

    fn decorate_conversion(&mut self, inst: &Inst, conversion: Conversion, to_integer: bool) {
        let word = self.value(inst.results[0]);
        if let Some(rounding) = conversion.rounding {
            let mode = Operand::FPRoundingMode(rounding_mode(rounding));
            self.emitter.writer.decorate(word, Decoration::FPRoundingMode, [mode]);
        }
        if conversion.saturate && to_integer {
            self.emitter.writer.decorate(word, Decoration::SaturatedConversion, []);
        }
    }

    fn from_bool(&mut self, inst: &Inst) {
        let ty = self.type_of(inst.results[0]);
        let condition = self.value(inst.args[0]);
        let [one, zero] = [1, 0].map(|bit| self.emitter.splat(ty, bit));
        let operands = [condition, one, zero].into_iter().map(Operand::IdRef).collect();
        self.result(inst, Op::Select, operands);
    }
}

/// The SPIR-V rounding mode.
pub(super) const fn rounding_mode(rounding: Rounding) -> FPRoundingMode {
    match rounding {
        Rounding::ToEven => FPRoundingMode::RTE,
        Rounding::ToZero => FPRoundingMode::RTZ,
        Rounding::ToPositive => FPRoundingMode::RTP,
        Rounding::ToNegative => FPRoundingMode::RTN,
    }
}
