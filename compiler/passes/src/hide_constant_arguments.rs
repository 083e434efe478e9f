//! Makes the arguments of built-in functions depend on the launch, for the driver bug `hide_constant_arguments`.
//!
//! Works around the constant propagation of SPIRV-Tools, which SwiftShader runs on every module. It does not evaluate extended
//! instructions with constant operands, but does not mark their results as unknown either: an `OpPhi` of such a result and a
//! constant becomes the constant, and a branch on such a result is removed. This pass combines the first argument with a zero
//! that is only known at launch.

use kiln_ir::{BinaryOp, Builder, Function, Input, Op, Scalar, Type, ValueId};
use kiln_session::Options;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashSet;

use crate::rewrite::rewrite_only;

pub(super) fn hide_constant_arguments(function: &mut Function, _: &Options) {
    let is_builtin = |op: &Op| matches!(op, Op::Builtin(..));
    rewrite_only(function, is_builtin, |builder, id, _| {
        let args = builder.function.insts[id].args.clone();
        if let Some(&first) = args.first()
            && builder.ty(first).scalar().is_some_and(|scalar| scalar != Scalar::Bool)
            && !depends_on_launch(builder.function, &args)
        {
            builder.function.insts[id].args[0] = hidden(builder, first);
        }
        builder.insert(id);
    });
}

/// Whether constant propagation recognizes that one of the values is not a constant.
fn depends_on_launch(function: &Function, values: &[ValueId]) -> bool {
    let (mut seen, mut open) = (FxHashSet::default(), values.to_vec());
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if function.params().contains(&value) {
            return true;
        }
        // A parameter of another block can be the same constant on all paths.
        let Some(inst) = function.def(value).filter(|inst| !inst.op.is_construct()) else { continue };
        match inst.op {
            Op::Load(_) if function.ty(inst.args[0]) != Type::Pointer(AddressSpace::Private) => return true,
            Op::LaunchWord(..) | Op::Input(_) | Op::Atomic(_) | Op::Image(_) | Op::Call(_) => return true,
            Op::Load(_) | Op::Builtin(..) => {}
            _ => open.extend(&inst.args),
        }
    }
    false
}

/// The value, combined with a zero: the upper bit of the index in the work-group.
fn hidden(builder: &mut Builder<'_>, value: ValueId) -> ValueId {
    let ty = builder.ty(value);
    let int = ty.with_scalar(Scalar::int_of_size(ty.scalar().map_or(4, Scalar::size)));
    let index = builder.value(Op::Input(Input::LocalIndex), &[], Type::I32);
    let zero = builder.binary_bits(BinaryOp::LShr, index, 31);
    let zero = builder.resize(zero, int.scalar().unwrap_or(Scalar::I32), false);
    let zero = builder.splat(zero, int.count());
    let bits = builder.bitcast(value, int);
    let bits = builder.binary(BinaryOp::Or, bits, zero);
    builder.bitcast(bits, ty)
}
