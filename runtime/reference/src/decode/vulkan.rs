//! The rules of the Vulkan environment: the operations that the decoder adds to detect poison and undefined behavior.
//!
//! Owns the choice of checks. OpenCL's own rules are checked where its instructions are decoded.

use spirv::{ExecutionMode, GlslStd450Op as Glsl, Op as Inst_, StorageClass};

use super::{Decoder, body::Body};
use crate::{
    Checks, Environment, Invalid, Results,
    alu::{self, Imprecise, Operation, Rounding, Tolerance, flushed},
    code::{ImpreciseLanes, Lanes, Op, Slot},
    poison::FLOAT,
    types::{Member, Scalar, Ty},
    words::Inst,
};

/// The floating-point modes that all entry points of a module require, by the size of the type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FloatModes {
    /// `SignedZeroInfNanPreserve`
    preserved: u8,
    /// `DenormPreserve`
    denormals: u8,
    /// `RoundingModeRTE`
    rounded: u8,
}

impl FloatModes {
    /// Collects the execution modes of all entry points.
    pub(super) fn from_module(insts: &[Inst<'_>]) -> Self {
        let entries: Vec<u32> = insts
            .iter()
            .filter(|inst| inst.op == Inst_::EntryPoint)
            .filter_map(|inst| inst.words.get(1).copied())
            .collect();
        let has = |entry: u32, mode: ExecutionMode, size: u8| {
            let words = [entry, mode as u32, 8 * u32::from(size)];
            insts.iter().any(|inst| inst.op == Inst_::ExecutionMode && inst.words == words)
        };
        let sizes = |mode| {
            let all = |size: &u8| entries.iter().all(|&entry| has(entry, mode, *size));
            [2, 4, 8].into_iter().filter(all).fold(0, |sizes, size| sizes | size)
        };
        Self {
            preserved: sizes(ExecutionMode::SignedZeroInfNanPreserve),
            denormals: sizes(ExecutionMode::DenormPreserve),
            rounded: sizes(ExecutionMode::RoundingModeRTE),
        }
    }

    /// Whether NaNs, infinities and the signs of zeros are preserved.
    fn preserves(self, scalar: Scalar) -> bool {
        self.preserved & scalar.size() != 0
    }
}

impl Decoder<'_> {
    /// Whether to check Vulkan's rules.
    pub(super) fn is_strict_vulkan(&self) -> bool {
        self.checks == Checks::On && self.types.environment == Environment::Vulkan
    }
}

impl Body<'_, '_> {
    /// Emits an operation that may deviate from the nearest result, if the module allows deviations. Returns whether it
    /// did.
    pub(super) fn emit_imprecise(
        &mut self,
        (operation, nearest): (Operation, alu::Lane),
        scalar: Scalar,
        id: u32,
        to: Slot,
        operands: &[Slot],
        count: u16,
    ) -> bool {
        let Some(tolerance) = self.tolerance(scalar, id) else { return false };
        let Some(imprecise) = Imprecise::new(operation, nearest, scalar, tolerance) else { return false };
        let operand = |index: usize| operands.get(index).or(operands.last()).copied().unwrap_or(to);
        let operands = [operand(0), operand(1), operand(2)];
        self.decoder.tables.imprecise.push(ImpreciseLanes { imprecise, to, operands, count });
        self.emit(Op::Imprecise(self.decoder.tables.imprecise.len() as u32 - 1));
        true
    }

    /// The deviations that the module allows for the instruction with this result and numbers of this type. `None` if the
    /// nearest results are computed.
    fn tolerance(&self, scalar: Scalar, id: u32) -> Option<Tolerance> {
        let has_tolerance =
            self.decoder.results != Results::Nearest && self.decoder.types.environment == Environment::Vulkan;
        let (modes, size) = (self.decoder.floats, scalar.size());
        has_tolerance.then(|| Tolerance {
            highest: self.decoder.results == Results::Highest,
            rounds_either_way: modes.rounded & size == 0,
            flushes: modes.denormals & size == 0,
            contracts: !self.decoder.decorations.get(&id).is_some_and(|it| it.no_contraction),
        })
    }

    /// The direction in which a conversion to this type rounds, if the module does not require one.
    pub(super) fn free_rounding(&self, scalar: Scalar, id: u32) -> Option<Rounding> {
        let tolerance = self.tolerance(scalar, id).filter(|it| scalar.is_float() && it.rounds_either_way)?;
        Some(if tolerance.highest { Rounding::Up } else { Rounding::Down })
    }

    /// Flushes denormal numbers of this type, if the module does not preserve them. Returns the registers of the result.
    pub(super) fn flush(&mut self, scalar: Scalar, id: u32, from: Slot, count: u16) -> Result<Slot, Invalid> {
        if !scalar.is_float() || !self.tolerance(scalar, id).is_some_and(|it| it.flushes) {
            return Ok(from);
        }
        let f: alu::F1 = match scalar {
            Scalar::F16 => |bits| flushed(Scalar::F16, bits),
            Scalar::F32 => |bits| flushed(Scalar::F32, bits),
            _ => |bits| flushed(Scalar::F64, bits),
        };
        let to = self.allocate_registers(count.into())?;
        self.emit(Op::One { f, to, a: from, count });
        Ok(to)
    }

    /// Adds the poison check after a core instruction.
    pub(super) fn add_poison_check(
        &mut self,
        op: Inst_,
        scalar: Scalar,
        to: Slot,
        operands: &[Slot],
        count: u16,
    ) {
        if !self.decoder.is_strict_vulkan() {
            return;
        }
        if let Some((f, [a, b], why)) = alu::poisoned(op, scalar) {
            self.emit(Op::Taint { f, to, a: operands[a], b: operands[b], count, why });
        }
        self.add_float_poison_check(scalar, to, operands, count, is_truth(op));
    }

    /// Adds the poison check after a GLSL.std.450 function.
    pub(super) fn add_glsl_poison_check(&mut self, function: Glsl, to: Slot, values: &[(Slot, Lanes)]) {
        let (_, Lanes { scalar, count }) = values[0];
        self.add_domain_check(function, to, values);
        let operands: Vec<Slot> = values.iter().map(|value| value.0).collect();
        self.add_float_poison_check(scalar, to, &operands, count, false);
    }

    /// Poisons the result of a GLSL.std.450 function with operands outside its domain. The result has as many lanes
    /// as the first operand.
    pub(super) fn add_domain_check(&mut self, function: Glsl, to: Slot, values: &[(Slot, Lanes)]) {
        let Some(&(_, Lanes { scalar, count })) = values.first() else { return };
        if self.decoder.is_strict_vulkan()
            && let Some((f, [a, b], why)) = alu::poisoned_glsl(function, scalar)
            && let (Some(&(a, _)), Some(&(b, _))) = (values.get(a), values.get(b))
        {
            self.emit(Op::Taint { f, to, a, b, count, why });
        }
    }

    /// Poisons NaN and infinite operands and results without `SignedZeroInfNanPreserve`.
    pub(super) fn add_float_poison_check(
        &mut self,
        scalar: Scalar,
        to: Slot,
        operands: &[Slot],
        count: u16,
        is_truth: bool,
    ) {
        if self.decoder.floats.preserves(scalar) || !self.decoder.is_strict_vulkan() {
            return;
        }
        let Some(f) = alu::is_special(scalar) else { return };
        let result = (!is_truth).then_some(to);
        for slot in operands.iter().copied().chain(result) {
            self.emit(Op::Taint { f, to, a: slot, b: slot, count, why: FLOAT });
        }
    }

    /// Checks an index of an access chain. With logical pointers, it must be within the array or vector (SPIR-V,
    /// `OpAccessChain`). In the OpenCL environment, `OpInBoundsAccessChain` makes the same promise.
    pub(super) fn check_index(
        &mut self,
        op: Inst_,
        id: u32,
        class: StorageClass,
        member: Member,
    ) -> Result<(), Invalid> {
        let Member::Type(ty) = member else { return Ok(()) };
        let length = match self.decoder.types.get(ty)?.ty {
            Ty::Array(_, length) => length,
            Ty::Vector(_, count) => count.into(),
            _ => return Ok(()),
        };
        let is_checked = match self.decoder.types.environment {
            Environment::Vulkan => class != StorageClass::PhysicalStorageBuffer,
            Environment::OpenCl => op == Inst_::InBoundsAccessChain,
        };
        if is_checked && self.decoder.checks == Checks::On {
            let (index, scalar, _) = self.lanes(id)?;
            self.emit(Op::CheckIndex { index, size: scalar.size(), length });
        }
        Ok(())
    }

    /// Checks a dynamic component index of a vector.
    pub(super) fn check_component(&mut self, id: u32, count: u16) -> Result<(), Invalid> {
        if self.decoder.is_strict_vulkan() {
            let (index, scalar, _) = self.lanes(id)?;
            self.emit(Op::CheckIndex { index, size: scalar.size(), length: count.into() });
        }
        Ok(())
    }
}

/// Whether an instruction with floating-point operands produces a boolean.
fn is_truth(op: Inst_) -> bool {
    matches!(
        op,
        Inst_::IsNan
            | Inst_::IsInf
            | Inst_::FOrdEqual
            | Inst_::FUnordEqual
            | Inst_::FOrdNotEqual
            | Inst_::FUnordNotEqual
            | Inst_::FOrdLessThan
            | Inst_::FUnordLessThan
            | Inst_::FOrdGreaterThan
            | Inst_::FUnordGreaterThan
            | Inst_::FOrdLessThanEqual
            | Inst_::FUnordLessThanEqual
            | Inst_::FOrdGreaterThanEqual
            | Inst_::FUnordGreaterThanEqual
    )
}
