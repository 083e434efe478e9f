//! Group operations: copies by a work-group, and functions of work-groups and sub-groups.

use kiln_builtins::{Arithmetic, AsyncCopy, Collective, Participants};
use kiln_ir::{BuiltinParam, Handle, Inst, Scalar, Type, ValueId};
use kiln_types::ty;
use kiln_vocabulary::{
    opencl::{Environment, Scope},
    target::Target,
};
use rspirv::{
    dr::Operand,
    spirv::{Capability, GroupOperation, Op, Word},
};

use super::body::Body;

/// The first version of SPIR-V with non-uniform group operations.
const NON_UNIFORM_SINCE: (u8, u8) = (1, 3);

/// Whether the target has an instruction for the operation. Vulkan has them for sub-groups only, and only for types
/// that the device supports.
pub(crate) fn has_group_instruction(
    scope: Scope,
    collective: Collective,
    target: &Target,
    params: &[BuiltinParam],
) -> bool {
    match (target.environment, scope) {
        (Environment::Vulkan, _) => {
            let is_native = params.iter().all(|param| match *param {
                BuiltinParam::Value(scalar, count) => {
                    has_arithmetic(target, Type::scalar_or_vector(scalar, count))
                }
                _ => true,
            });
            scope == Scope::SubGroup
                && is_native
                && non_uniform(collective).is_some_and(|it| it != Capability::GroupNonUniformClustered)
        }
        (Environment::OpenCl, Scope::SubGroup) => non_uniform(collective).is_some(),
        (Environment::OpenCl, _) => is_uniform(collective),
    }
}

/// Whether the device supports arithmetic on this type.
fn has_arithmetic(target: &Target, ty: Type) -> bool {
    let features = &target.features;
    match ty.scalar() {
        Some(Scalar::I8) => features.int8,
        Some(Scalar::I16) => features.int16,
        Some(Scalar::I64) => features.int64,
        Some(Scalar::F16) => features.fp16,
        _ => true,
    }
}

/// Whether there is an instruction for all work-items of the group.
const fn is_uniform(collective: Collective) -> bool {
    match collective {
        Collective::All | Collective::Any | Collective::Broadcast => true,
        Collective::Reduce(arithmetic)
        | Collective::ScanInclusive(arithmetic)
        | Collective::ScanExclusive(arithmetic) => {
            matches!(arithmetic, Arithmetic::Add | Arithmetic::Min | Arithmetic::Max)
        }
        _ => false,
    }
}

/// The capability for the operation on active work-items of a sub-group.
const fn non_uniform(collective: Collective) -> Option<Capability> {
    Some(match collective {
        Collective::Elect => Capability::GroupNonUniform,
        Collective::All | Collective::Any | Collective::AllEqual => Capability::GroupNonUniformVote,
        Collective::Broadcast
        | Collective::BroadcastFirst
        | Collective::Ballot
        | Collective::InverseBallot
        | Collective::BallotBitExtract
        | Collective::BallotBitCount
        | Collective::BallotScanInclusive
        | Collective::BallotScanExclusive
        | Collective::BallotFindLsb
        | Collective::BallotFindMsb => Capability::GroupNonUniformBallot,
        Collective::Reduce(_) | Collective::ScanInclusive(_) | Collective::ScanExclusive(_) => {
            Capability::GroupNonUniformArithmetic
        }
        Collective::ClusteredReduce(_) => Capability::GroupNonUniformClustered,
        Collective::Shuffle | Collective::ShuffleXor => Capability::GroupNonUniformShuffle,
        Collective::ShuffleUp | Collective::ShuffleDown => Capability::GroupNonUniformShuffleRelative,
        Collective::Mask(_)
        | Collective::ShuffleDownPair
        | Collective::ShuffleUpPair
        | Collective::Rotate
        | Collective::ClusteredRotate
        | Collective::BlockRead
        | Collective::BlockWrite => return None,
    })
}

/// The arithmetic of a reduction or a scan, and the work-items whose values it combines.
const fn arithmetic_and_kind(collective: Collective) -> Option<(Arithmetic, GroupOperation)> {
    Some(match collective {
        Collective::Reduce(arithmetic) => (arithmetic, GroupOperation::Reduce),
        Collective::ScanInclusive(arithmetic) => (arithmetic, GroupOperation::InclusiveScan),
        Collective::ScanExclusive(arithmetic) => (arithmetic, GroupOperation::ExclusiveScan),
        Collective::ClusteredReduce(arithmetic) => (arithmetic, GroupOperation::ClusteredReduce),
        _ => return None,
    })
}

/// The result of an instruction.
enum Returns {
    /// A truth value.
    Bool,
    /// A value with the type of the function's result.
    Value,
    /// The number of bits in the ballots of these work-items.
    Count(GroupOperation),
}

/// The instruction for the active work-items of a sub-group, if its operands are the arguments.
const fn non_uniform_operation(collective: Collective) -> Option<(Op, Returns)> {
    Some(match collective {
        Collective::Elect => (Op::GroupNonUniformElect, Returns::Bool),
        Collective::AllEqual => (Op::GroupNonUniformAllEqual, Returns::Bool),
        Collective::InverseBallot => (Op::GroupNonUniformInverseBallot, Returns::Bool),
        Collective::BallotBitExtract => (Op::GroupNonUniformBallotBitExtract, Returns::Bool),
        Collective::BroadcastFirst => (Op::GroupNonUniformBroadcastFirst, Returns::Value),
        Collective::BallotFindLsb => (Op::GroupNonUniformBallotFindLSB, Returns::Value),
        Collective::BallotFindMsb => (Op::GroupNonUniformBallotFindMSB, Returns::Value),
        Collective::Shuffle => (Op::GroupNonUniformShuffle, Returns::Value),
        Collective::ShuffleXor => (Op::GroupNonUniformShuffleXor, Returns::Value),
        Collective::ShuffleUp => (Op::GroupNonUniformShuffleUp, Returns::Value),
        Collective::ShuffleDown => (Op::GroupNonUniformShuffleDown, Returns::Value),
        Collective::BallotBitCount => {
            (Op::GroupNonUniformBallotBitCount, Returns::Count(GroupOperation::Reduce))
        }
        Collective::BallotScanInclusive => {
            (Op::GroupNonUniformBallotBitCount, Returns::Count(GroupOperation::InclusiveScan))
        }
        Collective::BallotScanExclusive => {
            (Op::GroupNonUniformBallotBitCount, Returns::Count(GroupOperation::ExclusiveScan))
        }
        _ => return None,
    })
}

impl Body<'_, '_> {
    /// Async copies in the OpenCL environment. A 3-component vector is copied as 4 components (OpenCL C 6.15.11).
    pub(super) fn asynchronous(&mut self, inst: &Inst, copy: AsyncCopy, params: &[BuiltinParam]) {
        let scope = Operand::IdRef(self.scope(Scope::WorkGroup));
        match copy {
            AsyncCopy::Prefetch => self.prefetch(inst, params),
            AsyncCopy::Wait => {
                let count = self.value(inst.args[0]);
                let events = self.pointer(inst.args[1], Type::Handle(Handle::Event));
                self.effect(Op::GroupWaitEvents, vec![scope, Operand::IdRef(count), Operand::IdRef(events)]);
            }
            _ => {
                let [to, from] = [0, 1].map(|index| {
                    let BuiltinParam::Pointer(scalar, count) = params[index] else {
                        unreachable!("an async copy has pointer operands")
                    };
                    let count = if count == 3 { 4 } else { count };
                    Operand::IdRef(self.pointer(inst.args[index], Type::scalar_or_vector(scalar, count)))
                });
                let count = Operand::IdRef(self.value(inst.args[2]));
                let (stride, event) = if copy == AsyncCopy::Strided {
                    (self.value(inst.args[3]), inst.args[4])
                } else {
                    (self.emitter.splat(Type::I64, 1), inst.args[3])
                };
                let event = Operand::IdRef(self.value(event));
                let operands = vec![scope, to, from, count, Operand::IdRef(stride), event];
                self.result(inst, Op::GroupAsyncCopy, operands);
            }
        }
    }

    /// Emits a group operation.
    pub(super) fn collective(
        &mut self,
        inst: &Inst,
        scope: Scope,
        collective: Collective,
        participants: Participants,
        params: &[BuiltinParam],
    ) {
        let is_uniform = !self.is_vulkan() && participants == Participants::All && is_uniform(collective);
        if is_uniform {
            self.emitter.writer.require(Capability::Groups);
        } else if let Some(capability) = non_uniform(collective) {
            self.emitter.writer.require_version(NON_UNIFORM_SINCE);
            self.emitter.writer.require(capability);
        }
        let scope = Operand::IdRef(self.scope(scope));
        if let Some((arithmetic, kind)) = arithmetic_and_kind(collective) {
            let element = match params.first() {
                Some(BuiltinParam::Value(scalar, _)) => *scalar,
                _ => ty::Scalar::Int,
            };
            return if is_uniform {
                self.work_group_arithmetic(inst, arithmetic, element, scope, kind)
            } else {
                self.sub_group_arithmetic(inst, arithmetic, element, scope, kind)
            };
        }
        match collective {
            Collective::All => {
                let op = if is_uniform { Op::GroupAll } else { Op::GroupNonUniformAll };
                self.emit_vote(inst, op, scope);
            }
            Collective::Any => {
                let op = if is_uniform { Op::GroupAny } else { Op::GroupNonUniformAny };
                self.emit_vote(inst, op, scope);
            }
            Collective::Broadcast => {
                let value = Operand::IdRef(self.value(inst.args[0]));
                let index = self.broadcaster_id(&inst.args[1..]);
                let op = if is_uniform { Op::GroupBroadcast } else { Op::GroupNonUniformBroadcast };
                self.result(inst, op, vec![scope, value, Operand::IdRef(index)]);
            }
            Collective::Ballot => {
                let predicate = self.is_nonzero(inst.args[0]);
                self.result(inst, Op::GroupNonUniformBallot, vec![scope, Operand::IdRef(predicate)]);
            }
            _ => match non_uniform_operation(collective) {
                Some((op, Returns::Bool)) => {
                    let operands = self.group_operands(inst, scope, None);
                    self.emit_boolean(inst, op, operands);
                }
                Some((op, Returns::Value)) => self.emit_group_operation(inst, op, scope, None),
                Some((op, Returns::Count(kind))) => self.emit_group_operation(inst, op, scope, Some(kind)),
                None => unreachable!("passes reject operations without an instruction"),
            },
        }
    }

    /// The constant for the scope of a group operation.
    pub(super) fn scope(&mut self, scope: Scope) -> Word {
        let number = if scope == Scope::SubGroup {
            rspirv::spirv::Scope::Subgroup
        } else {
            rspirv::spirv::Scope::Workgroup
        };
        self.emitter.u32(number as u32)
    }

    /// The scope, the group operation if any, and the arguments.
    fn group_operands(&mut self, inst: &Inst, scope: Operand, kind: Option<GroupOperation>) -> Vec<Operand> {
        let mut operands = vec![scope];
        operands.extend(kind.map(Operand::GroupOperation));
        operands.extend(inst.args.iter().map(|&arg| Operand::IdRef(self.value(arg))));
        operands
    }

    /// Emits an operation on the arguments.
    fn emit_group_operation(&mut self, inst: &Inst, op: Op, scope: Operand, kind: Option<GroupOperation>) {
        let operands = self.group_operands(inst, scope, kind);
        self.result(inst, op, operands);
    }

    fn emit_vote(&mut self, inst: &Inst, op: Op, scope: Operand) {
        let predicate = Operand::IdRef(self.is_nonzero(inst.args[0]));
        self.emit_boolean(inst, op, vec![scope, predicate]);
    }

    /// Whether a number is nonzero.
    fn is_nonzero(&mut self, value: ValueId) -> Word {
        let ty = self.type_of(value);
        let [value, zero] = [self.value(value), self.emitter.splat(ty, 0)].map(Operand::IdRef);
        self.op(Op::INotEqual, Type::BOOL, vec![value, zero])
    }

    /// Converts a boolean result to 0 or 1.
    fn emit_boolean(&mut self, inst: &Inst, op: Op, operands: Vec<Operand>) {
        let holds = self.op(op, Type::BOOL, operands);
        let ty = self.type_of(inst.results[0]);
        let [one, zero] = [1, 0].map(|bit| self.emitter.splat(ty, bit));
        self.result(inst, Op::Select, [holds, one, zero].into_iter().map(Operand::IdRef).collect());
    }

    /// The id of the broadcasting work-item: one number, or one for each dimension.
    fn broadcaster_id(&mut self, ids: &[ValueId]) -> Word {
        let words: Vec<Word> = ids.iter().map(|&id| self.value(id)).collect();
        if let [word] = words[..] {
            return word;
        }
        let ty = Type::vector(Scalar::I64, words.len() as u8);
        self.op(Op::CompositeConstruct, ty, words.into_iter().map(Operand::IdRef).collect())
    }

    /// Arithmetic over all work-items of a group.
    fn work_group_arithmetic(
        &mut self,
        inst: &Inst,
        arithmetic: Arithmetic,
        element: ty::Scalar,
        scope: Operand,
        kind: GroupOperation,
    ) {
        let op = match arithmetic {
            Arithmetic::Min => by_kind(element, [Op::GroupFMin, Op::GroupSMin, Op::GroupUMin]),
            Arithmetic::Max => by_kind(element, [Op::GroupFMax, Op::GroupSMax, Op::GroupUMax]),
            _ => by_kind(element, [Op::GroupFAdd, Op::GroupIAdd, Op::GroupIAdd]),
        };
        self.emit_group_operation(inst, op, scope, Some(kind));
    }

    /// Arithmetic over the active work-items of a sub-group. For clusters, the size is the last argument.
    fn sub_group_arithmetic(
        &mut self,
        inst: &Inst,
        arithmetic: Arithmetic,
        element: ty::Scalar,
        scope: Operand,
        kind: GroupOperation,
    ) {
        let op = match arithmetic {
            Arithmetic::Add => {
                by_kind(element, [Op::GroupNonUniformFAdd, Op::GroupNonUniformIAdd, Op::GroupNonUniformIAdd])
            }
            Arithmetic::Multiply => {
                by_kind(element, [Op::GroupNonUniformFMul, Op::GroupNonUniformIMul, Op::GroupNonUniformIMul])
            }
            Arithmetic::Min => {
                by_kind(element, [Op::GroupNonUniformFMin, Op::GroupNonUniformSMin, Op::GroupNonUniformUMin])
            }
            Arithmetic::Max => {
                by_kind(element, [Op::GroupNonUniformFMax, Op::GroupNonUniformSMax, Op::GroupNonUniformUMax])
            }
            Arithmetic::And => Op::GroupNonUniformBitwiseAnd,
            Arithmetic::Or => Op::GroupNonUniformBitwiseOr,
            Arithmetic::Xor => Op::GroupNonUniformBitwiseXor,
            Arithmetic::LogicalAnd => Op::GroupNonUniformLogicalAnd,
            Arithmetic::LogicalOr => Op::GroupNonUniformLogicalOr,
            Arithmetic::LogicalXor => Op::GroupNonUniformLogicalXor,
        };
        if matches!(arithmetic, Arithmetic::LogicalAnd | Arithmetic::LogicalOr | Arithmetic::LogicalXor) {
            let mut operands =
                vec![scope, Operand::GroupOperation(kind), Operand::IdRef(self.is_nonzero(inst.args[0]))];
            operands.extend(inst.args[1..].iter().map(|&size| Operand::IdRef(self.value(size))));
            return self.emit_boolean(inst, op, operands);
        }
        self.emit_group_operation(inst, op, scope, Some(kind));
    }
}

/// Selects the instruction for floats, signed or unsigned integers.
const fn by_kind(element: ty::Scalar, [float, signed, unsigned]: [Op; 3]) -> Op {
    match (element.is_float(), element.is_signed()) {
        (true, _) => float,
        (false, true) => signed,
        (false, false) => unsigned,
    }
}
