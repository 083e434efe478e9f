//! Atomic operations, fences and barriers. `memory` computes their scopes and semantics.

use kiln_ir::{Atomic, Inst, Scalar, Type};
use kiln_memory::{self as memory, Group, Semantics, SpirvScope, Sync};
use kiln_vocabulary::opencl::{AtomicOp, FetchKey};
use rspirv::{
    dr::Operand,
    spirv::{Capability, Op},
};

use super::body::Body;

impl Body<'_, '_> {
    /// `Atomic`
    pub(super) fn atomic(&mut self, inst: &Inst, atomic: &Atomic) {
        let object = self.object_spaces(inst.args[0]);
        let target = self.emitter.target;
        let mut masks = memory::encode_atomic(target, atomic.op.into(), object, atomic.sync(object));
        if atomic.is_volatile {
            masks = masks.on_volatile(target.environment);
        }
        if matches!(atomic.ty, Scalar::I64 | Scalar::F64) {
            self.emitter.writer.require(Capability::Int64Atomics);
        }

        let pointer = self.pointer(inst.args[0], Type::Scalar(atomic.ty));
        let mut operands = vec![Operand::IdRef(pointer)];
        operands.push(self.scope_operand(masks.scope));
        let masks = [Some(masks.semantics), masks.unequal];
        operands.extend(masks.into_iter().flatten().map(|mask| self.semantics_operand(mask)));
        operands.extend(inst.args[1..].iter().map(|&arg| Operand::IdRef(self.value(arg))));
        let op = match atomic.op {
            AtomicOp::Load => Op::AtomicLoad,
            AtomicOp::Store => return self.effect(Op::AtomicStore, operands),
            AtomicOp::FlagClear => return self.effect(Op::AtomicFlagClear, operands),
            AtomicOp::FlagTestAndSet => Op::AtomicFlagTestAndSet,
            AtomicOp::Exchange => Op::AtomicExchange,
            AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => Op::AtomicCompareExchange,
            AtomicOp::Fetch(key) => self.fetch_opcode(key, atomic),
        };
        match inst.results.first() {
            Some(_) => self.result(inst, op, operands),
            None => {
                self.op(op, Type::Scalar(atomic.ty), operands);
            }
        }
    }

    fn fetch_opcode(&mut self, key: FetchKey, atomic: &Atomic) -> Op {
        match (key, atomic.ty.is_float(), atomic.is_signed) {
            (FetchKey::Add, true, _) => {
                let (extension, capability) = match atomic.ty {
                    Scalar::F16 => ("SPV_EXT_shader_atomic_float16_add", Capability::AtomicFloat16AddEXT),
                    Scalar::F64 => ("SPV_EXT_shader_atomic_float_add", Capability::AtomicFloat64AddEXT),
                    _ => ("SPV_EXT_shader_atomic_float_add", Capability::AtomicFloat32AddEXT),
                };
                self.emitter.writer.extension(extension);
                self.emitter.writer.require(capability);
                Op::AtomicFAddEXT
            }
            (FetchKey::Min | FetchKey::Max, true, _) => {
                self.emitter.writer.extension("SPV_EXT_shader_atomic_float_min_max");
                self.emitter.writer.require(match atomic.ty {
                    Scalar::F16 => Capability::AtomicFloat16MinMaxEXT,
                    Scalar::F64 => Capability::AtomicFloat64MinMaxEXT,
                    _ => Capability::AtomicFloat32MinMaxEXT,
                });
                if key == FetchKey::Min { Op::AtomicFMinEXT } else { Op::AtomicFMaxEXT }
            }
            (FetchKey::Add, false, _) => Op::AtomicIAdd,
            (FetchKey::Sub, _, _) => Op::AtomicISub,
            (FetchKey::Or, _, _) => Op::AtomicOr,
            (FetchKey::Xor, _, _) => Op::AtomicXor,
            (FetchKey::And, _, _) => Op::AtomicAnd,
            (FetchKey::Min, _, true) => Op::AtomicSMin,
            (FetchKey::Min, _, false) => Op::AtomicUMin,
            (FetchKey::Max, _, true) => Op::AtomicSMax,
            (FetchKey::Max, _, false) => Op::AtomicUMax,
        }
    }

    /// A fence. Emits no instruction if it needs none.
    pub(super) fn fence(&mut self, sync: Sync) {
        if let Some(fence) = memory::encode_fence(self.emitter.target, sync) {
            let operands = vec![self.scope_operand(fence.scope), self.semantics_operand(fence.semantics)];
            self.effect(Op::MemoryBarrier, operands);
        }
    }

    /// A barrier of a group.
    pub(super) fn barrier(&mut self, group: Group, sync: Sync) {
        let barrier = memory::encode_barrier(self.emitter.target, group, sync);
        let operands = vec![
            self.scope_operand(barrier.execution),
            self.scope_operand(barrier.memory),
            self.semantics_operand(barrier.semantics),
        ];
        self.effect(Op::ControlBarrier, operands);
    }

    fn scope_operand(&mut self, scope: SpirvScope) -> Operand {
        if scope == SpirvScope::Device && self.is_vulkan() {
            self.emitter.writer.require(Capability::VulkanMemoryModelDeviceScope);
        }
        if scope == SpirvScope::Subgroup {
            self.emitter.writer.require(if self.is_vulkan() {
                Capability::GroupNonUniform
            } else {
                Capability::Groups
            });
        }
        Operand::IdScope(self.emitter.u32(scope.value()))
    }

    fn semantics_operand(&mut self, semantics: Semantics) -> Operand {
        Operand::IdMemorySemantics(self.emitter.u32(semantics.value()))
    }
}
