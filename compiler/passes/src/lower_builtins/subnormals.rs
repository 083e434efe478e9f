//! Lowers `floor` and `ceil` of `half` and `double` in a program on Vulkan. A driver may treat a subnormal operand of
//! these functions as zero, even with `DenormPreserve` (Vulkan, "Precision and Operation of SPIR-V Instructions"). OpenCL C 7.5.3
//! requires subnormal numbers for both types. Sums, products, comparisons and conversions keep them.

use kiln_builtins as builtins;
use kiln_ir::{BinaryOp, Builder, BuiltinParam, CompareKind, FuncId, Function, Inst, Op, Scalar, ValueId};
use kiln_syntax::Span;
use kiln_types::{ops::CompareOp, ty};
use kiln_vocabulary::opencl::Environment;

use super::{Pass, divisions::NUMBER, rewrite};

/// The bits of 1 as a double.
const ONE: u64 = 0x3ff0_0000_0000_0000;

impl Pass<'_> {
    /// Makes `floor` and `ceil` of subnormal numbers correct.
    pub(super) fn floors_of_subnormals(&mut self, id: FuncId) {
        let target = &self.options.target;
        if target.environment != Environment::Vulkan || target.precision.keeps_subnormal_operands {
            return;
        }
        let function = &self.module.functions[id];
        if !function.insts.iter().any(|inst| is_lowered(function, inst)) {
            return;
        }
        let empty = Function::new(String::new(), &[], None, Span::default());
        let mut function = std::mem::replace(&mut self.module.functions[id], empty);
        rewrite(&mut function, |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            if !is_lowered(builder.function, &inst) {
                return builder.insert(id);
            }
            let result = match builder.ty(inst.args[0]).scalar() {
                Some(Scalar::F16) => round_half(builder, &inst),
                _ => round_double(builder, &inst),
            };
            replaced.insert(inst.results[0], result);
        });
        self.module.functions[id] = function;
    }
}

/// Whether this is `floor` or `ceil` of `half` or `double`.
fn is_lowered(function: &Function, inst: &Inst) -> bool {
    let Op::Builtin(builtin, _) = &inst.op else { return false };
    matches!(builtins::row(*builtin).name, "floor" | "ceil")
        && matches!(function.ty(inst.args[0]).scalar(), Some(Scalar::F16 | Scalar::F64))
}

/// Rounds a `half` as a `float`, where it is a normal number or zero.
fn round_half(builder: &mut Builder<'_>, inst: &Inst) -> ValueId {
    let Op::Builtin(builtin, _) = &inst.op else { unreachable!("a call of a built-in function") };
    let ty = builder.ty(inst.args[0]);
    let wide = ty.with_scalar(Scalar::F32);
    let value = builder.convert(NUMBER, inst.args[0], wide);
    let param = BuiltinParam::Value(ty::Scalar::Float, ty.count());
    let rounded = builder.value(Op::Builtin(*builtin, [param].into_iter().collect()), &[value], wide);
    builder.convert(NUMBER, rounded, ty)
}

/// Rounds a `double`. A result on the wrong side of the operand, such as zero for a subnormal number, is corrected by 1.
fn round_double(builder: &mut Builder<'_>, inst: &Inst) -> ValueId {
    let Op::Builtin(builtin, _) = &inst.op else { unreachable!("a call of a built-in function") };
    let (value, ty) = (inst.args[0], builder.ty(inst.args[0]));
    let rounded = builder.value(inst.op.clone(), &[value], ty);
    let (order, step) = match builtins::row(*builtin).name {
        "floor" => (CompareOp::Greater, BinaryOp::FSub),
        _ => (CompareOp::Less, BinaryOp::FAdd),
    };
    let is_wrong = builder.compare(order, CompareKind::Float, rounded, value);
    let one = builder.bits(ty, ONE);
    let stepped = builder.value(Op::Exact(step), &[rounded, one], ty);
    builder.select(is_wrong, stepped, rounded)
}
