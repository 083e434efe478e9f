//! Lowers pipe functions on Vulkan (OpenCL C 6.15.18). A pipe is an address: `pipe.rs` of `kiln-vocabulary` describes the
//! memory there, and `library/lib/pipe.cl` has its operations. A reservation is a 64-bit integer: its first packet is in the
//! low half, and its number of packets in the high half.

use kiln_builtins::PipeOp;
use kiln_ir::{Access, BinaryOp, Builder, CompareKind, Function, Handle, InstId, Op, Scalar, Type, ValueId};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::{AddressSpace, Scope};

use super::{Pass, groups};

/// A claim: the first packet, and the number of packets.
const CLAIM: Type = Type::Vector(Scalar::I32, 2);
const FAILED: i32 = -1;

/// Replaces the types of pipes and reservations.
pub(super) fn number_pipes(function: &mut Function) {
    let plain = |ty: Type| match ty {
        Type::Handle(Handle::Pipe { .. }) => Type::Pointer(AddressSpace::Global),
        Type::Handle(Handle::ReserveId) => Type::I64,
        other => other,
    };
    for value in function.values.iter_mut() {
        value.ty = plain(value.ty);
    }
    function.result = function.result.map(plain);
}

impl Pass<'_> {
    /// Lowers a pipe function. Returns its result, or `None` if the device lacks sub-groups.
    pub(super) fn pipe(
        &mut self,
        builder: &mut Builder<'_>,
        inst: InstId,
        op: PipeOp,
        scope: Scope,
    ) -> Option<Option<ValueId>> {
        if scope == Scope::SubGroup && !self.options.target.features.subgroups {
            return None;
        }
        let args = builder.function.insts[inst].args.to_vec();
        let end = match op {
            PipeOp::Read | PipeOp::ReserveRead | PipeOp::CommitRead => "read",
            _ => "write",
        };
        Some(match op {
            // The pipe, the packet, and its size and alignment.
            PipeOp::Read | PipeOp::Write if args.len() == 4 => Some(self.transfer(builder, end, &args)?),
            PipeOp::Read | PipeOp::Write => Some(self.reserved_transfer(builder, end, &args)?),
            PipeOp::ReserveRead | PipeOp::ReserveWrite => {
                let (pipe, count) = (args[0], args[1]);
                let (name, values) = match scope {
                    Scope::WorkItem => ("reserve", vec![pipe, count]),
                    Scope::SubGroup => ("sub_group_reserve", vec![pipe, count]),
                    _ => {
                        let scratch = self.scratch(Type::I64, builder);
                        let item = groups::local_id(builder);
                        ("work_group_reserve", vec![pipe, count, scratch, item])
                    }
                };
                Some(self.library_call(
                    builder,
                    "pipe",
                    &format!("{name}_{end}"),
                    &values,
                    Some(Type::I64),
                )??)
            }
            PipeOp::CommitRead | PipeOp::CommitWrite => {
                let (name, mut values) = match scope {
                    Scope::WorkItem => ("commit", vec![]),
                    Scope::SubGroup => ("sub_group_commit", vec![]),
                    _ => {
                        let (item, items) = (groups::local_id(builder), groups::group_size(builder));
                        ("work_group_commit", vec![item, items])
                    }
                };
                values.splice(0..0, [args[0], args[1]]);
                self.library_call(builder, "pipe", &format!("{name}_{end}"), &values, None)?
            }
            PipeOp::IsValidReserveId => {
                let zero = builder.i64(0);
                Some(builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, args[0], zero))
            }
            PipeOp::NumPackets => {
                Some(self.library_call(builder, "pipe", "num_packets", &args[..1], Some(Type::I32))??)
            }
            PipeOp::MaxPackets => {
                Some(self.library_call(builder, "pipe", "max_packets", &args[..1], Some(Type::I32))??)
            }
        })
    }

    /// `read_pipe`, `write_pipe`: claims a packet, copies it and publishes it.
    fn transfer(&mut self, builder: &mut Builder<'_>, end: &str, args: &[ValueId]) -> Option<ValueId> {
        let (pipe, object) = (args[0], args[1]);
        let [zero, one] = [0, 1].map(|number| builder.i32(number));
        let claim =
            self.library_call(builder, "pipe", &format!("claim_{end}"), &[pipe, one], Some(CLAIM))??;
        let count = builder.extract(claim, 1);
        let is_claimed = builder.compare(CompareOp::NotEqual, CompareKind::Unsigned, count, zero);
        let packet = builder.extract(claim, 0);
        let result = self.status_if(builder, is_claimed, |pass, builder| {
            pass.copy(builder, end, (pipe, packet), object, &args[2..])
        })?;
        // If no packet was claimed, only the fence in this call has an effect.
        self.library_call(builder, "pipe", &format!("publish_{end}"), &[pipe, claim, zero, one], None)?;
        Some(result)
    }

    /// `read_pipe`, `write_pipe` with a reservation and an index: fails if the index is too large.
    fn reserved_transfer(
        &mut self,
        builder: &mut Builder<'_>,
        end: &str,
        args: &[ValueId],
    ) -> Option<ValueId> {
        let (pipe, index, object) = (args[0], args[2], args[3]);
        let claim = builder.bitcast(args[1], CLAIM);
        let (first, count) = (builder.extract(claim, 0), builder.extract(claim, 1));
        let is_inside = builder.compare(CompareOp::Less, CompareKind::Unsigned, index, count);
        let packet = builder.binary(BinaryOp::Add, first, index);
        self.status_if(builder, is_inside, |pass, builder| {
            pass.copy(builder, end, (pipe, packet), object, &args[4..])
        })
    }

    /// Builds `act` under a condition. The result is 0, or -1 if the condition is false.
    fn status_if(
        &mut self,
        builder: &mut Builder<'_>,
        condition: ValueId,
        act: impl FnOnce(&mut Self, &mut Builder<'_>) -> Option<()>,
    ) -> Option<ValueId> {
        let [zero, failed] = [0, FAILED].map(|number| builder.i32(number));
        let open = builder.open_if(condition, &[Type::I32]);
        let after = builder.insertion_point();
        builder.at_end(open.then);
        act(self, builder)?;
        builder.exit(open.inst, &[zero]);
        builder.at_end(open.otherwise);
        builder.exit(open.inst, &[failed]);
        builder.at(after.0, after.1);
        Some(builder.function.result(open.inst))
    }

    /// Copies a packet from or to an object. `layout` is its size and alignment.
    fn copy(
        &mut self,
        builder: &mut Builder<'_>,
        end: &str,
        (pipe, packet): (ValueId, ValueId),
        object: ValueId,
        layout: &[ValueId],
    ) -> Option<()> {
        let [size, align] = [0, 1].map(|index| builder.function.constant_bits(layout[index]));
        let (size, align) = (size?, align? as u32);
        let slot_and_start = self.library_call(builder, "pipe", "place", &[pipe, packet], Some(CLAIM))??;
        let (slot, start) = (builder.extract(slot_and_start, 0), builder.extract(slot_and_start, 1));
        let [slot, start] = [slot, start].map(|number| builder.resize(number, Scalar::I64, false));
        let first = builder.offset(pipe, start, 1);
        let address = builder.offset(first, slot, size);
        let generic = Type::Pointer(AddressSpace::Generic);
        let address = builder.value(Op::PointerCast, &[address], generic);
        let (to, from) = if end == "write" { (address, object) } else { (object, address) };
        let access = Access { is_shared: false, align, is_volatile: false };
        builder.inst(Op::Copy { size, access }, &[to, from], &[]);
        Some(())
    }
}
