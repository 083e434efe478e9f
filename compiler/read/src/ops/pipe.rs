//! Pipes (OpenCL C 6.15.18), asynchronous copies (6.15.11) and device-side events.

use kiln_builtins::BuiltinId;
use kiln_ir::{Builder, BuiltinParam, Handle, Op as IrOp, Type, ValueId};
use kiln_types::ty::Scalar;
use kiln_vocabulary::opencl::{AddressSpace, Scope};
use rspirv::spirv::Op;
use smallvec::SmallVec;

use super::{Lowered, Operation, call, none, one, semantics};

/// The function for a pipe instruction, the index among the rows of its name, and whether it is a group function.
const fn function(op: Op) -> Option<(&'static str, usize, bool)> {
    Some(match op {
        Op::ReadPipe => ("read_pipe", 0, false),
        Op::ReservedReadPipe => ("read_pipe", 1, false),
        Op::WritePipe => ("write_pipe", 0, false),
        Op::ReservedWritePipe => ("write_pipe", 1, false),
        Op::ReserveReadPipePackets => ("reserve_read_pipe", 0, false),
        Op::ReserveWritePipePackets => ("reserve_write_pipe", 0, false),
        Op::CommitReadPipe => ("commit_read_pipe", 0, false),
        Op::CommitWritePipe => ("commit_write_pipe", 0, false),
        Op::GroupReserveReadPipePackets => ("reserve_read_pipe", 0, true),
        Op::GroupReserveWritePipePackets => ("reserve_write_pipe", 0, true),
        Op::GroupCommitReadPipe => ("commit_read_pipe", 0, true),
        Op::GroupCommitWritePipe => ("commit_write_pipe", 0, true),
        Op::IsValidReserveId => ("is_valid_reserve_id", 0, false),
        Op::GetNumPipePackets => ("get_pipe_num_packets", 0, false),
        Op::GetMaxPipePackets => ("get_pipe_max_packets", 0, false),
        _ => return None,
    })
}

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    if let Some(function) = function(operation.op) {
        return Some(pipe(builder, operation, function));
    }
    Some(match operation.op {
        Op::GroupAsyncCopy | Op::UntypedGroupAsyncCopyKHR => copy(builder, operation),
        Op::GroupWaitEvents => wait(builder, operation),
        Op::CreateUserEvent => event(builder, operation, "create_user_event"),
        Op::RetainEvent => event(builder, operation, "retain_event"),
        Op::ReleaseEvent => event(builder, operation, "release_event"),
        Op::IsValidEvent => event(builder, operation, "is_valid_event"),
        Op::SetUserEventStatus => event(builder, operation, "set_user_event_status"),
        Op::CaptureEventProfilingInfo => event(builder, operation, "capture_event_profiling_info"),
        Op::GetDefaultQueue => event(builder, operation, "get_default_queue"),
        _ => return None,
    })
}

/// The operands are those of the function, followed by the size and alignment of a packet, as in the IR.
fn pipe(
    builder: &mut Builder<'_>,
    operation: &Operation,
    (name, row, is_of_group): (&str, usize, bool),
) -> Lowered {
    let (name, args) = match (is_of_group, operation.args.split_first()) {
        (true, Some((&scope, rest))) => (format!("{}_{name}", group(builder, scope)?), rest),
        _ => (name.to_owned(), operation.args.as_slice()),
    };
    check_pipe(builder, &name, args)?;
    let generic = Type::Pointer(AddressSpace::Generic);
    let mut values = Vec::new();
    let mut params: SmallVec<[BuiltinParam; 4]> = SmallVec::new();
    let sizes = if name == "is_valid_reserve_id" { args.len() } else { args.len().saturating_sub(2) };
    for (index, &arg) in args.iter().enumerate() {
        let is_cast = matches!(builder.ty(arg), ty @ Type::Pointer(_) if ty != generic);
        values.push(if is_cast { builder.value(IrOp::PointerCast, &[arg], generic) } else { arg });
        params.push(if index < sizes { BuiltinParam::Other } else { BuiltinParam::Value(Scalar::UInt, 1) });
    }
    let builtin = BuiltinId::from_name(&name, row).ok_or_else(|| format!("there is no `{name}`"))?;
    finish(builder, IrOp::Builtin(builtin, params), &values, operation.result)
}

/// The first operand is a pipe, and the last two are the size and the alignment of a packet.
fn check_pipe(builder: &Builder<'_>, name: &str, args: &[ValueId]) -> Result<(), String> {
    if name == "is_valid_reserve_id" {
        return Ok(());
    }
    let is_pipe = |&pipe: &ValueId| matches!(builder.ty(pipe), Type::Handle(Handle::Pipe { .. }));
    if !args.first().is_some_and(is_pipe) {
        return Err("its operand is not a pipe".to_owned());
    }
    // SPIR-V, OpReadPipe: the pointer to a packet is generic. Constant memory has no generic addresses.
    if args.iter().any(|&arg| builder.ty(arg) == Type::Pointer(AddressSpace::Constant)) {
        return Err("its packet is in constant memory".to_owned());
    }
    let layout = args.last_chunk::<2>().map(|layout| layout.map(|it| builder.function.constant_bits(it)));
    match layout {
        Some([Some(size), Some(align)]) if align.is_power_of_two() && size > 0 && size % align == 0 => Ok(()),
        _ => Err("the size and the alignment of its packets are not valid".to_owned()),
    }
}

fn finish(builder: &mut Builder<'_>, op: IrOp, values: &[ValueId], result: Option<Type>) -> Lowered {
    let inst = builder.inst(op, values, result.as_slice());
    builder.function.insts[inst].results.first().map_or_else(none, |&result| one(result))
}

/// The prefix of functions of a group.
fn group(builder: &mut Builder<'_>, scope: ValueId) -> Result<&'static str, String> {
    match semantics::constant_scope(builder, scope, "scope")? {
        Scope::WorkGroup => Ok("work_group"),
        Scope::SubGroup => Ok("sub_group"),
        other => Err(format!("a group operation cannot have the scope {}", other.spelling())),
    }
}

/// A copy between global and local memory. The stride applies to the global side.
fn copy(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let (to, from, count, stride, event, pointees);
    if operation.op == Op::UntypedGroupAsyncCopyKHR {
        let bytes;
        [_, to, from, bytes, count, stride, event] = operation.args()?;
        let element = builder.function.constant_bits(bytes).and_then(element_of_size);
        let element = element.ok_or("no type of OpenCL C has the size of its elements")?;
        pointees = [Some(element), Some(element), None, None, None];
    } else {
        [_, to, from, count, stride, event] = operation.args()?;
        pointees = [operation.pointee(1), operation.pointee(2), None, None, None];
    }
    let [count, stride] = [count, stride].map(|it| builder.resize(it, kiln_ir::Scalar::I64, false));
    let is_strided = builder.function.constant_bits(stride) != Some(1);
    let result = operation.result;
    let value = if is_strided {
        let args = [to, from, count, stride, event];
        call::call(builder, "async_work_group_strided_copy", &args, &pointees, None, result)?
    } else {
        let args = [to, from, count, event];
        call::call(builder, "async_work_group_copy", &args, &pointees, None, result)?
    };
    value.map_or_else(none, one)
}

/// A type with this number of bytes in memory.
fn element_of_size(bytes: u64) -> Option<Type> {
    use kiln_ir::Scalar;
    Some(match bytes {
        1 => Type::Scalar(Scalar::I8),
        2 => Type::Scalar(Scalar::I16),
        4 => Type::Scalar(Scalar::I32),
        8 => Type::Scalar(Scalar::I64),
        16 | 32 | 64 | 128 => Type::Vector(Scalar::I64, (bytes / 8) as u8),
        _ => return None,
    })
}

fn wait(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [_, count, events] = operation.args()?;
    call::call(builder, "wait_group_events", &[count, events], &[], None, None)?;
    none()
}

fn event(builder: &mut Builder<'_>, operation: &Operation, name: &str) -> Lowered {
    let value =
        call::call(builder, name, &operation.args, &operation.pointees, Some(true), operation.result)?;
    value.map_or_else(none, one)
}
