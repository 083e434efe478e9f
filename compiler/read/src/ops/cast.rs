//! Address spaces of pointers (SPIR-V 3.49.11): casts to and from generic, and queries.

use kiln_ir::{BinaryOp, Builder, Op as IrOp, Type, ValueId};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::spirv::Op;

use super::{Lowered, Operation, call, one};

/// `WorkgroupMemory` is this bit; `CrossWorkgroupMemory` is the next. The fence flags begin with bit 0.
const WORKGROUP_MEMORY_BIT: u64 = 8;

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    Some(match operation.op {
        Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::PtrCastToCrossWorkgroupINTEL => {
            cast(builder, operation)
        }
        Op::CrossWorkgroupCastToPtrINTEL => cast(builder, operation),
        Op::GenericCastToPtrExplicit => explicit(builder, operation),
        Op::GenericPtrMemSemantics => semantics(builder, operation),
        _ => return None,
    })
}

fn cast(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [pointer] = operation.args()?;
    let to = operation.result()?;
    if builder.ty(pointer) == to {
        return one(pointer);
    }
    one(builder.value(IrOp::PointerCast, &[pointer], to))
}

/// `to_global` and similar functions (OpenCL C 6.15.10): null if the pointer is to another space.
fn explicit(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [pointer] = operation.args()?;
    let result = operation.result()?;
    let name = match result {
        Type::Pointer(AddressSpace::Global) => "to_global",
        Type::Pointer(AddressSpace::Local) => "to_local",
        Type::Pointer(AddressSpace::Private) => "to_private",
        _ => return Err("its result is not a global, local or private pointer".to_owned()),
    };
    let value = call::call(builder, name, &[pointer], &operation.pointees, None, Some(result))?;
    value.map_or_else(|| Err(format!("`{name}` has no result")), one)
}

/// `get_fence`, as a mask.
fn semantics(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [pointer] = operation.args()?;
    let flags = call::call(builder, "get_fence", &[pointer], &operation.pointees, None, Some(Type::I32))?;
    let flags: ValueId = flags.ok_or("`get_fence` has no result")?;
    one(builder.binary_bits(BinaryOp::Shl, flags, WORKGROUP_MEMORY_BIT))
}
