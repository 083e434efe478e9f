//! Group and sub-group instructions.

use spirv::{GroupOperation, Op as Inst_};

use super::body::Body;
use crate::{
    Invalid,
    alu::{self, Lane},
    code::{Collective, CollectiveKind, Op, Scan, Scope, Slot},
    types::{Scalar, Ty},
    words::Inst,
};

impl Body<'_, '_> {
    pub(super) fn collective(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        use CollectiveKind as T;
        match inst.op {
            Inst_::ControlBarrier => {
                let scope = self.scope(inst.word(0)?);
                let memory = self.known(inst.word(1)?)?;
                let semantics = self.known(inst.word(2)?)?;
                self.emit_collective(scope, T::Barrier { memory, semantics }, 0, None, None);
            }
            Inst_::GroupAsyncCopy => self.asynchronous(inst)?,
            Inst_::GroupWaitEvents => {
                let scope = self.scope(inst.word(0)?);
                let (count, _, _) = self.lanes(inst.word(1)?)?;
                let (events, _, _) = self.lanes(inst.word(2)?)?;
                self.emit_collective(scope, T::WaitEvents { count, events }, 0, None, None);
            }
            Inst_::GroupAll | Inst_::GroupNonUniformAll => self.on_value(inst, T::All)?,
            Inst_::GroupAny | Inst_::GroupNonUniformAny => self.on_value(inst, T::Any)?,
            Inst_::GroupNonUniformAllEqual => self.on_value(inst, T::AllEqual)?,
            Inst_::GroupNonUniformElect => {
                let scope = self.scope(inst.word(2)?);
                let to = self.define(inst)?;
                self.emit_collective(scope, T::Elect, to, None, None);
                self.not_uniform();
            }
            Inst_::GroupBroadcast | Inst_::GroupNonUniformBroadcast => self.on_two(inst, T::Broadcast)?,
            Inst_::GroupNonUniformBroadcastFirst => self.on_value(inst, T::BroadcastFirst)?,
            Inst_::GroupNonUniformShuffle => self.on_two(inst, T::Shuffle)?,
            Inst_::GroupNonUniformShuffleXor => self.on_two(inst, T::ShuffleXor)?,
            Inst_::GroupNonUniformShuffleUp => self.on_two(inst, T::ShuffleUp)?,
            Inst_::GroupNonUniformShuffleDown => self.on_two(inst, T::ShuffleDown)?,
            Inst_::GroupNonUniformRotateKHR => {
                let cluster = inst.words.get(5).and_then(|&id| self.decoder.integer_constant(id));
                self.on_two(inst, T::Rotate(cluster.unwrap_or(0) as u32))?;
            }
            Inst_::GroupNonUniformBallot => self.on_value(inst, T::Ballot)?,
            Inst_::GroupNonUniformInverseBallot => self.on_value(inst, T::InverseBallot)?,
            Inst_::GroupNonUniformBallotBitExtract => self.on_two(inst, T::BallotBitExtract)?,
            Inst_::GroupNonUniformBallotBitCount => {
                let scan = scan(inst.word(3)?)?;
                self.on_value_at(inst, 4, T::BallotBitCount(scan))?;
            }
            Inst_::GroupNonUniformBallotFindLSB => self.on_value(inst, T::BallotFindLsb)?,
            Inst_::GroupNonUniformBallotFindMSB => self.on_value(inst, T::BallotFindMsb)?,
            _ => return self.combination(inst),
        }
        Ok(true)
    }

    pub(super) fn emit_collective(
        &mut self,
        scope: Scope,
        kind: CollectiveKind,
        to: Slot,
        value: Option<(Slot, u16)>,
        other: Option<(Slot, Scalar, u16)>,
    ) {
        let (value, count) = value.unwrap_or((0, 0));
        let (other, scalar, other_count) = other.unwrap_or((0, Scalar::I32, 0));
        let scope = if scope == Scope::SubGroup { Scope::SubGroup } else { Scope::WorkGroup };
        self.function.has_collectives = true;
        let size = scalar.size();
        let collective =
            Collective { scope, non_uniform: false, kind, to, value, other, count, other_count, size };
        self.decoder.tables.collectives.push(collective);
        self.emit(Op::Collective(self.decoder.tables.collectives.len() as u32 - 1));
    }

    /// Marks the operation just emitted as non-uniform: inactive work-items need not reach it.
    fn not_uniform(&mut self) {
        if let Some(collective) = self.decoder.tables.collectives.last_mut() {
            collective.non_uniform = true;
        }
    }

    fn on_value(&mut self, inst: &Inst<'_>, kind: CollectiveKind) -> Result<(), Invalid> {
        self.on_value_at(inst, 3, kind)
    }

    fn on_value_at(&mut self, inst: &Inst<'_>, at: usize, kind: CollectiveKind) -> Result<(), Invalid> {
        let scope = self.scope(inst.word(2)?);
        let (value, _, count) = self.lanes(inst.word(at)?)?;
        let to = self.define(inst)?;
        self.emit_collective(scope, kind, to, Some((value, count)), None);
        if !matches!(inst.op, Inst_::GroupAll | Inst_::GroupAny) {
            self.not_uniform();
        }
        Ok(())
    }

    fn on_two(&mut self, inst: &Inst<'_>, kind: CollectiveKind) -> Result<(), Invalid> {
        let scope = self.scope(inst.word(2)?);
        let (value, _, count) = self.lanes(inst.word(3)?)?;
        let other = self.lanes(inst.word(4)?)?;
        let to = self.define(inst)?;
        self.emit_collective(scope, kind, to, Some((value, count)), Some(other));
        if inst.op != Inst_::GroupBroadcast {
            self.not_uniform();
        }
        Ok(())
    }

    /// Reductions and scans.
    fn combination(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        let Some((op, is_uniform)) = combined(inst.op) else { return Ok(false) };
        let scope = self.scope(inst.word(2)?);
        let operation = inst.word(3)?;
        let is_clustered = operation == GroupOperation::ClusteredReduce as u32;
        let scan = if is_clustered { Scan::Reduce } else { scan(operation)? };
        let (value, scalar, count) = self.lanes(inst.word(4)?)?;
        let cluster = if is_clustered { Some(self.lanes(inst.word(5)?)?) } else { None };
        let unknown = || Invalid::new(format!("{:?} is not defined for its operand", inst.op));
        let f = match op {
            Combined::Core(op) => alu::integer_binary(op, scalar)
                .or_else(|| alu::float_binary(op, scalar))
                .ok_or_else(unknown)?,
            Combined::Library(function) => match alu::library(function, scalar, false) {
                Some(Lane::Two(f)) => f,
                _ => return Err(unknown()),
            },
        };
        let to = self.define(inst)?;
        let identity = identity(op, scalar);
        let kind = CollectiveKind::Combine { f, scan, identity, is_clustered };
        self.emit_collective(scope, kind, to, Some((value, count)), cluster);
        if !is_uniform {
            self.not_uniform();
        }
        Ok(true)
    }

    fn asynchronous(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let scope = self.scope(inst.word(2)?);
        let (target, ty) = self.value(inst.word(3)?)?;
        let (from, _, _) = self.lanes(inst.word(4)?)?;
        let (elements, _, _) = self.lanes(inst.word(5)?)?;
        let (stride, _, _) = self.lanes(inst.word(6)?)?;
        let (class, pointee) = self.decoder.pointee(ty)?;
        let bytes = self.decoder.types.get(pointee)?.size as u32;
        let (event, event_type) = self.value(inst.word(7)?)?;
        if !matches!(self.decoder.types.get(event_type)?.ty, Ty::Handle) {
            return Err(Invalid::new("an asynchronous copy has no event"));
        }
        let to = self.define(inst)?;
        self.copy(to, event, 1);
        let to_local = class == spirv::StorageClass::Workgroup;
        let kind = CollectiveKind::Copy { from, elements, stride, bytes, to_local, event: to };
        self.emit_collective(scope, kind, target, None, None);
        Ok(())
    }
}

/// The operation of a reduction or scan.
#[derive(Clone, Copy)]
enum Combined {
    Core(Inst_),
    Library(spirv::OpenclStd100Op),
}

fn combined(op: Inst_) -> Option<(Combined, bool)> {
    use spirv::OpenclStd100Op as Cl;
    let (combined, is_uniform) = match op {
        Inst_::GroupIAdd => (Combined::Core(Inst_::IAdd), true),
        Inst_::GroupFAdd => (Combined::Core(Inst_::FAdd), true),
        Inst_::GroupFMin => (Combined::Library(Cl::fmin), true),
        Inst_::GroupUMin => (Combined::Library(Cl::u_min), true),
        Inst_::GroupSMin => (Combined::Library(Cl::s_min), true),
        Inst_::GroupFMax => (Combined::Library(Cl::fmax), true),
        Inst_::GroupUMax => (Combined::Library(Cl::u_max), true),
        Inst_::GroupSMax => (Combined::Library(Cl::s_max), true),
        Inst_::GroupIMulKHR => (Combined::Core(Inst_::IMul), true),
        Inst_::GroupFMulKHR => (Combined::Core(Inst_::FMul), true),
        Inst_::GroupBitwiseAndKHR => (Combined::Core(Inst_::BitwiseAnd), true),
        Inst_::GroupBitwiseOrKHR => (Combined::Core(Inst_::BitwiseOr), true),
        Inst_::GroupBitwiseXorKHR => (Combined::Core(Inst_::BitwiseXor), true),
        Inst_::GroupLogicalAndKHR => (Combined::Core(Inst_::LogicalAnd), true),
        Inst_::GroupLogicalOrKHR => (Combined::Core(Inst_::LogicalOr), true),
        Inst_::GroupLogicalXorKHR => (Combined::Core(Inst_::LogicalNotEqual), true),
        Inst_::GroupNonUniformIAdd => (Combined::Core(Inst_::IAdd), false),
        Inst_::GroupNonUniformFAdd => (Combined::Core(Inst_::FAdd), false),
        Inst_::GroupNonUniformIMul => (Combined::Core(Inst_::IMul), false),
        Inst_::GroupNonUniformFMul => (Combined::Core(Inst_::FMul), false),
        Inst_::GroupNonUniformSMin => (Combined::Library(Cl::s_min), false),
        Inst_::GroupNonUniformUMin => (Combined::Library(Cl::u_min), false),
        Inst_::GroupNonUniformFMin => (Combined::Library(Cl::fmin), false),
        Inst_::GroupNonUniformSMax => (Combined::Library(Cl::s_max), false),
        Inst_::GroupNonUniformUMax => (Combined::Library(Cl::u_max), false),
        Inst_::GroupNonUniformFMax => (Combined::Library(Cl::fmax), false),
        Inst_::GroupNonUniformBitwiseAnd => (Combined::Core(Inst_::BitwiseAnd), false),
        Inst_::GroupNonUniformBitwiseOr => (Combined::Core(Inst_::BitwiseOr), false),
        Inst_::GroupNonUniformBitwiseXor => (Combined::Core(Inst_::BitwiseXor), false),
        Inst_::GroupNonUniformLogicalAnd => (Combined::Core(Inst_::LogicalAnd), false),
        Inst_::GroupNonUniformLogicalOr => (Combined::Core(Inst_::LogicalOr), false),
        Inst_::GroupNonUniformLogicalXor => (Combined::Core(Inst_::LogicalNotEqual), false),
        _ => return None,
    };
    Some((combined, is_uniform))
}

/// The identity element: the first value of an exclusive scan (OpenCL C 6.15.16).
fn identity(combined: Combined, scalar: Scalar) -> u64 {
    use spirv::OpenclStd100Op as Cl;
    let bits = 8 * u32::from(scalar.size());
    let ones = u64::MAX >> (64 - bits);
    let float = |value| alu::from_f64(scalar, value);
    match combined {
        Combined::Core(Inst_::IMul) => 1,
        Combined::Core(Inst_::FMul) => float(1.0),
        Combined::Core(Inst_::BitwiseAnd) => ones,
        Combined::Core(Inst_::LogicalAnd) => 1,
        Combined::Library(Cl::fmin) => float(f64::INFINITY),
        Combined::Library(Cl::fmax) => float(f64::NEG_INFINITY),
        Combined::Library(Cl::u_min) => ones,
        Combined::Library(Cl::s_min) => ones >> 1,
        Combined::Library(Cl::s_max) => 1 << (bits - 1),
        _ => 0,
    }
}

fn scan(operation: u32) -> Result<Scan, Invalid> {
    match GroupOperation::from_u32(operation) {
        Some(GroupOperation::Reduce) => Ok(Scan::Reduce),
        Some(GroupOperation::InclusiveScan) => Ok(Scan::Inclusive),
        Some(GroupOperation::ExclusiveScan) => Ok(Scan::Exclusive),
        _ => Err(Invalid::new("an operation of a group is unknown")),
    }
}
