//! Makes numbers of global addresses (design: global memory is reached by physical addresses).
//!
//! A pointer to global or constant memory becomes an I64, its arithmetic integer arithmetic. Pointers to local
//! and private memory are gone by now.

use crate::{
    diag::Sink,
    index::Id as _,
    ir::{BinaryOp, Module, Op, Scalar, Type, ValueId},
    opencl::AddressSpace,
    passes::rewrite::rewrite,
    session::Options,
};

pub(super) fn lower_addresses(module: &mut Module, _: &Options, _: &mut Sink) {
    for function in module.functions.iter_mut() {
        for index in 0..function.values.len() {
            let value = &mut function.values[ValueId::from_index(index)];
            if let Type::Pointer(AddressSpace::Global | AddressSpace::Constant | AddressSpace::Generic) =
                value.ty
            {
                value.ty = Type::I64;
            }
        }
        if function.result.is_some_and(Type::is_pointer) {
            function.result = Some(Type::I64);
        }
        rewrite(function, |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            let is_address = inst.args.first().is_some_and(|&arg| builder.ty(arg) == Type::I64);
            let value = match inst.op {
                Op::Offset { stride } if is_address => {
                    let mut offset = builder.resize(inst.args[1], Scalar::I64, true);
                    if stride != 1 {
                        offset = builder.binary_bits(BinaryOp::Mul, offset, stride);
                    }
                    builder.binary(BinaryOp::Add, inst.args[0], offset)
                }
                Op::PointerCast | Op::PointerToInt | Op::IntToPointer if is_address => inst.args[0],
                _ => return builder.insert(id),
            };
            replaced.insert(inst.results[0], value);
        });
    }
}
