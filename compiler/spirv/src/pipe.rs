//! Pipe operations of the OpenCL environment, with operands in SPIR-V's order.

use kiln_builtins::PipeOp;
use kiln_ir::Inst;
use kiln_vocabulary::opencl::Scope;
use rspirv::{
    dr::Operand,
    spirv::{Capability, Op},
};

use super::body::Body;

impl Body<'_, '_> {
    /// Emits a pipe operation of a work-item or of a group.
    pub(super) fn pipe(&mut self, inst: &Inst, pipe: PipeOp, scope: Scope) {
        self.emitter.writer.require(Capability::Pipes);
        let mut operands: Vec<Operand> =
            inst.args.iter().map(|&arg| Operand::IdRef(self.value(arg))).collect();
        let by_group = |op, group| if scope == Scope::WorkItem { op } else { group };
        // The operand after the pipe is a packet, or a reservation and the index of a packet in it.
        let is_reserved = inst.args.len() > 4;
        let op = match pipe {
            PipeOp::Read if is_reserved => Op::ReservedReadPipe,
            PipeOp::Read => Op::ReadPipe,
            PipeOp::Write if is_reserved => Op::ReservedWritePipe,
            PipeOp::Write => Op::WritePipe,
            PipeOp::ReserveRead => by_group(Op::ReserveReadPipePackets, Op::GroupReserveReadPipePackets),
            PipeOp::ReserveWrite => by_group(Op::ReserveWritePipePackets, Op::GroupReserveWritePipePackets),
            PipeOp::CommitRead => by_group(Op::CommitReadPipe, Op::GroupCommitReadPipe),
            PipeOp::CommitWrite => by_group(Op::CommitWritePipe, Op::GroupCommitWritePipe),
            PipeOp::IsValidReserveId => Op::IsValidReserveId,
            PipeOp::NumPackets => Op::GetNumPipePackets,
            PipeOp::MaxPackets => Op::GetMaxPipePackets,
        };
        if scope != Scope::WorkItem {
            operands.insert(0, Operand::IdRef(self.scope(scope)));
        }
        match inst.results.first() {
            Some(_) => self.result(inst, op, operands),
            None => self.effect(op, operands),
        }
    }
}
