//! Pipes.

use spirv::Op as Inst_;

use super::body::Body;
use crate::{
    Invalid,
    code::{CollectiveKind, Op, Pipe, PipeAction, Slot},
    pipe::End,
    words::Inst,
};

impl Body<'_, '_> {
    pub(super) fn pipe(&mut self, inst: &Inst<'_>) -> Result<bool, Invalid> {
        use PipeAction as A;
        let Some((action, by_group)) = action(inst.op) else { return Ok(false) };
        // The index of the first operand: after the result and, for group functions, the scope.
        let gives = !matches!(action, A::Commit(_));
        let scope_at = if gives { 2 } else { 0 };
        let mut at = scope_at + usize::from(by_group);
        let mut next = |body: &mut Self| -> Result<Slot, Invalid> {
            at += 1;
            let (slot, _, count) = body.lanes(inst.word(at - 1)?)?;
            if count == 1 { Ok(slot) } else { Err(Invalid::new("an operand of a pipe is not a scalar")) }
        };
        let mut op =
            Pipe { action, to: 0, pipe: None, reservation: None, index: None, pointer: None, size: None };
        if action == A::IsValid {
            op.reservation = Some(next(self)?);
        } else {
            op.pipe = Some(next(self)?);
            if matches!(action, A::ReadReserved | A::WriteReserved | A::Commit(_)) {
                op.reservation = Some(next(self)?);
            }
            if matches!(action, A::ReadReserved | A::WriteReserved | A::Reserve(_)) {
                op.index = Some(next(self)?);
            }
            if matches!(action, A::Read | A::Write | A::ReadReserved | A::WriteReserved) {
                op.pointer = Some(next(self)?);
            }
            op.size = Some(next(self)?);
        }
        if gives {
            op.to = self.define(inst)?;
        }
        if by_group {
            let scope = self.scope(inst.word(scope_at)?);
            self.emit_collective(scope, CollectiveKind::Pipe(op), op.to, None, None);
        } else {
            self.decoder.tables.pipes.push(op);
            self.emit(Op::Pipe(self.decoder.tables.pipes.len() as u32 - 1));
        }
        Ok(true)
    }
}

/// The pipe operation of an instruction, and whether it is a group function.
const fn action(op: Inst_) -> Option<(PipeAction, bool)> {
    use PipeAction as A;
    Some(match op {
        Inst_::ReadPipe => (A::Read, false),
        Inst_::WritePipe => (A::Write, false),
        Inst_::ReservedReadPipe => (A::ReadReserved, false),
        Inst_::ReservedWritePipe => (A::WriteReserved, false),
        Inst_::ReserveReadPipePackets => (A::Reserve(End::Read), false),
        Inst_::ReserveWritePipePackets => (A::Reserve(End::Write), false),
        Inst_::CommitReadPipe => (A::Commit(End::Read), false),
        Inst_::CommitWritePipe => (A::Commit(End::Write), false),
        Inst_::IsValidReserveId => (A::IsValid, false),
        Inst_::GetNumPipePackets => (A::Ready, false),
        Inst_::GetMaxPipePackets => (A::MaxPackets, false),
        Inst_::GroupReserveReadPipePackets => (A::Reserve(End::Read), true),
        Inst_::GroupReserveWritePipePackets => (A::Reserve(End::Write), true),
        Inst_::GroupCommitReadPipe => (A::Commit(End::Read), true),
        Inst_::GroupCommitWritePipe => (A::Commit(End::Write), true),
        _ => return None,
    })
}
