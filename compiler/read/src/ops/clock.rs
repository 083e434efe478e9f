//! Clocks (SPV_KHR_shader_clock): the built-in functions of cl_khr_kernel_clock.

use kiln_ir::{Builder, Scalar, Type};
use rspirv::spirv::{Op, Scope};

use super::{Lowered, Operation, call, one};

pub(super) fn lower(builder: &mut Builder<'_>, operation: &Operation) -> Option<Lowered> {
    (operation.op == Op::ReadClockKHR).then(|| read(builder, operation))
}

fn read(builder: &mut Builder<'_>, operation: &Operation) -> Lowered {
    let [scope] = operation.args()?;
    let number = builder.function.constant_bits(scope).and_then(|bits| Scope::from_u32(bits as u32));
    let scope = match number {
        Some(Scope::Device) => "device",
        Some(Scope::Workgroup) => "work_group",
        Some(Scope::Subgroup) => "sub_group",
        _ => {
            return Err("the scope of a clock must be the device, the work-group or the sub-group".to_owned());
        }
    };
    let halves = Type::Vector(Scalar::I32, 2);
    let time = call::value(builder, &format!("clock_read_hilo_{scope}"), &[], None, halves)?;
    match operation.result()? {
        ty if ty == halves => one(time),
        Type::I64 => one(builder.bitcast(time, Type::I64)),
        _ => {
            Err("the type of a clock must be a 64-bit integer, or a vector of two 32-bit integers".to_owned())
        }
    }
}
