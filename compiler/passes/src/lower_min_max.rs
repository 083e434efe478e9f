//! Lowers integer `min`, `max` and `clamp` (OpenCL C 6.15.3) to comparisons and selections.
//!
//! The extended instructions for them encode the sign in the opcode, and integers in the IR have none. The constant
//! folding of SPIRV-Tools, which drivers run, treats such operands as unsigned. Comparisons are folded correctly.

use kiln_builtins as builtins;
use kiln_ir::{Builder, BuiltinParam, CompareKind, Function, Inst, Op, ValueId};
use kiln_session::Options;
use kiln_types::ops::CompareOp;

use crate::rewrite::rewrite_only;

pub(super) fn lower_min_max(function: &mut Function, _: &Options) {
    rewrite_only(
        function,
        |op| matches!(op, Op::Builtin(..)),
        |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            match compare_and_select(builder, &inst) {
                Some(value) => {
                    builder.function.is_simplified = false;
                    replaced.insert(inst.results[0], value);
                }
                None => builder.insert(id),
            }
        },
    );
}

fn compare_and_select(builder: &mut Builder<'_>, inst: &Inst) -> Option<ValueId> {
    let Op::Builtin(builtin, params) = &inst.op else { return None };
    let &BuiltinParam::Value(scalar, _) = params.first()? else { return None };
    let ty = builder.ty(*inst.results.first()?);
    let is_uniform = inst.args.iter().all(|&arg| builder.ty(arg) == ty);
    if !ty.scalar()?.is_int() || !is_uniform {
        return None;
    }
    let kind = if scalar.is_signed() { CompareKind::Signed } else { CompareKind::Unsigned };
    let mut extreme = |op: CompareOp, left: ValueId, right: ValueId| {
        let is_left = builder.compare(op, kind, left, right);
        builder.select(is_left, left, right)
    };
    match (builtins::row(*builtin).name, &inst.args[..]) {
        ("min", &[left, right]) => Some(extreme(CompareOp::Less, left, right)),
        ("max", &[left, right]) => Some(extreme(CompareOp::Greater, left, right)),
        ("clamp", &[value, low, high]) => {
            let value = extreme(CompareOp::Greater, value, low);
            Some(extreme(CompareOp::Less, value, high))
        }
        _ => None,
    }
}
