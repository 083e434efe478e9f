//! Atomic operations, fences and barriers. `memory` computes their scopes and semantics.

use kiln_ir::{Atomic, Inst, Known, Scalar, Type};
use kiln_memory::{self as memory, Encoded, Operation, Semantics, Spaces, SpirvScope, Sync};
use kiln_vocabulary::opencl::{AtomicOp, FenceFlags, FetchKey, Order, Scope};
use rspirv::{
    dr::Operand,
    spirv::{Capability, Op, Word},
};

use super::body::Body;

impl Body<'_, '_> {
    pub(super) fn atomic(&mut self, inst: &Inst, atomic: &Atomic) {
        let object = self.object_spaces(inst.args[0]);
        let (order, scope) = (known(atomic.order), known(atomic.scope));
        let plain = match atomic.failure {
            Some(failure) => Sync::compare_exchange(object, order, known(failure), scope),
            None => Sync::atomic(object, order, scope),
        };
        let sync = Sync { spaces: atomic.spaces.map_or(plain.spaces, Spaces::from), ..plain };
        let operation = Operation::Atomic(atomic.op.into(), object);
        let mut encoded = self.encode(operation, sync);
        if atomic.is_volatile {
            encoded = encoded.on_volatile(self.emitter.target.environment);
        }
        self.widths(atomic.ty, object);

        let pointer = self.pointer(inst.args[0], Type::Scalar(atomic.ty));
        let mut operands = vec![Operand::IdRef(pointer)];
        match encoded {
            Encoded::Atomic { scope, semantics } => operands.extend(self.masks(scope, &[semantics])),
            Encoded::CompareExchange { scope, equal, unequal } => {
                operands.extend(self.masks(scope, &[equal, unequal]));
            }
            Encoded::Nothing | Encoded::MemoryBarrier { .. } | Encoded::ControlBarrier { .. } => {
                unreachable!("an atomic operation is encoded as one")
            }
        }
        operands.extend(inst.args[1..].iter().map(|&arg| Operand::IdRef(self.value(arg))));
        let op = match atomic.op {
            AtomicOp::Load => Op::AtomicLoad,
            AtomicOp::Store => return self.effect(Op::AtomicStore, operands),
            AtomicOp::FlagClear => return self.effect(Op::AtomicFlagClear, operands),
            AtomicOp::FlagTestAndSet => Op::AtomicFlagTestAndSet,
            AtomicOp::Exchange => Op::AtomicExchange,
            AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => Op::AtomicCompareExchange,
            AtomicOp::Fetch(key) => self.fetch(key, atomic),
        };
        match inst.results.first() {
            Some(_) => self.result(inst, op, operands),
            None => {
                self.op(op, Type::Scalar(atomic.ty), operands);
            }
        }
    }

    fn fetch(&mut self, key: FetchKey, atomic: &Atomic) -> Op {
        let is_float = matches!(atomic.ty, Scalar::F16 | Scalar::F32 | Scalar::F64);
        match (key, is_float, atomic.is_signed) {
            (FetchKey::Add, true, _) => {
                let (extension, capability) = match atomic.ty {
                    Scalar::F16 => ("SPV_EXT_shader_atomic_float16_add", Capability::AtomicFloat16AddEXT),
                    Scalar::F64 => ("SPV_EXT_shader_atomic_float_add", Capability::AtomicFloat64AddEXT),
                    _ => ("SPV_EXT_shader_atomic_float_add", Capability::AtomicFloat32AddEXT),
                };
                self.emitter.writer.extension(extension);
                self.emitter.writer.need(capability);
                Op::AtomicFAddEXT
            }
            (FetchKey::Min | FetchKey::Max, true, _) => {
                self.emitter.writer.extension("SPV_EXT_shader_atomic_float_min_max");
                self.emitter.writer.need(match atomic.ty {
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

    pub(super) fn fence(&mut self, flags: Known<FenceFlags>, order: Known<Order>, scope: Known<Scope>) {
        let sync = Sync::fence(known(flags), known(order), known(scope));
        match self.encode(Operation::Fence, sync) {
            Encoded::Nothing => {}
            Encoded::MemoryBarrier { scope, semantics } => {
                let operands = self.masks(scope, &[semantics]);
                self.effect(Op::MemoryBarrier, operands);
            }
            Encoded::Atomic { .. } | Encoded::CompareExchange { .. } | Encoded::ControlBarrier { .. } => {
                unreachable!("a fence is encoded as one")
            }
        }
    }

    pub(super) fn barrier(&mut self, execution: Scope, flags: Known<FenceFlags>, scope: Known<Scope>) {
        let operation = if execution == Scope::SubGroup {
            Operation::SubGroupBarrier
        } else {
            Operation::WorkGroupBarrier
        };
        match self.encode(operation, Sync::barrier(known(flags), known(scope))) {
            Encoded::ControlBarrier { execution, memory, semantics } => {
                let mut operands = self.masks(execution, &[]);
                operands.extend(self.masks(memory, &[semantics]));
                self.effect(Op::ControlBarrier, operands);
            }
            Encoded::Nothing
            | Encoded::Atomic { .. }
            | Encoded::CompareExchange { .. }
            | Encoded::MemoryBarrier { .. } => unreachable!("a barrier is encoded as one"),
        }
    }

    /// The type checker and the passes have rejected operations without an encoding.
    fn encode(&mut self, operation: Operation, sync: Sync) -> Encoded {
        memory::encode(self.emitter.target, operation, sync)
            .unwrap_or_else(|problem| unreachable!("{problem:?} reached the emitter"))
    }

    fn masks(&mut self, scope: SpirvScope, semantics: &[Semantics]) -> Vec<Operand> {
        if scope == SpirvScope::Device && self.is_structured() {
            self.emitter.writer.need(Capability::VulkanMemoryModelDeviceScope);
        }
        if scope == SpirvScope::Subgroup {
            self.emitter.writer.need(if self.is_structured() {
                Capability::GroupNonUniform
            } else {
                Capability::Groups
            });
        }
        let scope: Word = self.emitter.u32(scope.value());
        let mut operands = vec![Operand::IdScope(scope)];
        for mask in semantics {
            operands.push(Operand::IdMemorySemantics(self.emitter.u32(mask.value())));
        }
        operands
    }

    fn widths(&mut self, ty: Scalar, _object: Spaces) {
        if matches!(ty, Scalar::I64 | Scalar::F64) {
            self.emitter.writer.need(Capability::Int64Atomics);
        }
    }
}

/// Returns the constant. `legalize_atomics` has replaced dynamic operands by the strongest legal constants.
fn known<T>(value: Known<T>) -> T {
    match value {
        Known::Constant(value) => value,
        Known::Dynamic => unreachable!("a dynamic order, scope or flag reached the emitter"),
    }
}
