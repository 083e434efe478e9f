//! Lowers the divisions in a program on Vulkan. Vulkan's division has an error of up to 2.5 ulp, and is
//! defined only for divisors with a magnitude between 2^-126 and 2^126 (Vulkan, appendix "Precision of Individual
//! Operations"). Divisions in library functions are unchanged.

use kiln_ir::{
    BinaryOp, Builder, CompareKind, Const, Convert, FuncId, Function, Inst, Op, Scalar, Type, ValueId,
};
use kiln_syntax::Span;
use kiln_types::ops::{CompareOp, Conversion};
use kiln_vocabulary::opencl::Environment;

use super::{Pass, rewrite};

/// The bits of 2^-126 and 2^126.
const MIN_DIVISOR: u64 = 0x0080_0000;
const MAX_DIVISOR: u64 = 0x7e80_0000;
/// The bits of 2^24, 1 and 2^-2, the factors that scale every divisor into this range.
const SCALE_UP: u64 = 0x4b80_0000;
const ONE: u64 = 0x3f80_0000;
const SCALE_DOWN: u64 = 0x3e80_0000;

impl Pass<'_> {
    /// Gives `x / y` the precision of OpenCL C 7.4: 2.5 ulp for `float`, 1 ulp for `half` and correct rounding for `double`,
    /// for all operands; or correct rounding of `float` with `-cl-fp32-correctly-rounded-divide-sqrt` (OpenCL API 5.8.6.3).
    pub(super) fn divisions(&mut self, id: FuncId) {
        let math = &self.options.math;
        let is_rounded = math.correctly_rounded_divide_sqrt;
        let is_free = math.unsafe_optimizations && !is_rounded;
        if self.options.target.environment != Environment::Vulkan || is_free {
            return;
        }
        let division = |function: &Function, inst: &Inst| {
            (inst.op == Op::Binary(BinaryOp::FDiv)).then(|| function.ty(inst.results[0]).scalar()).flatten()
        };
        let function = &self.module.functions[id];
        let is_double_rounded = self.options.target.precision.is_double_division_rounded;
        let is_lowered = |scalar| scalar != Scalar::F64 || !is_double_rounded;
        if !function.insts.iter().any(|inst| division(function, inst).is_some_and(is_lowered)) {
            return;
        }
        let empty = Function::new(String::new(), &[], None, Span::default());
        let mut function = std::mem::replace(&mut self.module.functions[id], empty);
        rewrite(&mut function, |builder, id, replaced| {
            let inst = builder.function.insts[id].clone();
            let (ty, args) = match division(builder.function, &inst) {
                Some(scalar) if is_lowered(scalar) => {
                    (builder.ty(inst.results[0]), [inst.args[0], inst.args[1]])
                }
                _ => return builder.insert(id),
            };
            let result = match ty.scalar() {
                // Every `half` is a normal `float` or zero, and the quotient is rounded at most once more.
                Some(Scalar::F16) => {
                    let wide = ty.with_scalar(Scalar::F32);
                    let [x, y] = args.map(|it| builder.convert(NUMBER, it, wide));
                    let quotient = builder.binary(BinaryOp::FDiv, x, y);
                    Some(builder.convert(NUMBER, quotient, ty))
                }
                Some(Scalar::F64) => self.rounded(builder, args, ty, "double"),
                _ if is_rounded => self.rounded(builder, args, ty, "float"),
                _ => self.scaled(builder, args, ty),
            };
            match result {
                Some(result) => drop(replaced.insert(inst.results[0], result)),
                None => builder.insert(id),
            }
        });
        self.module.functions[id] = function;
    }

    /// The quotient, correctly rounded.
    fn rounded(
        &mut self,
        builder: &mut Builder<'_>,
        args: [ValueId; 2],
        ty: Type,
        name: &str,
    ) -> Option<ValueId> {
        let callee = self.callee("rounded_divide", name, builder.span)?;
        let parts: Vec<ValueId> = (0..ty.count())
            .filter_map(|component| {
                let parts = args.map(|arg| match ty.is_vector() {
                    true => builder.extract(arg, component),
                    false => arg,
                });
                builder.call(callee, &parts, Some(ty.with_count(1)))
            })
            .collect();
        Some(if ty.is_vector() { builder.construct(&parts, ty) } else { parts[0] })
    }

    /// The quotient of operands scaled by the same factor, so that the device's division is defined. Scaling up can overflow
    /// only if the quotient is infinite anyway, and scaling down can underflow only if it is zero. `None` if the divisor is
    /// known to be in range.
    fn scaled(&self, builder: &mut Builder<'_>, [x, y]: [ValueId; 2], ty: Type) -> Option<ValueId> {
        if let Some(Const::Bits(bits)) = builder.function.constant(y)
            && bits.iter().all(|it| (MIN_DIVISOR..=MAX_DIVISOR).contains(&(it & 0x7fff_ffff)))
        {
            return None;
        }
        let whole = ty.with_scalar(Scalar::I32);
        let size = builder.bitcast(y, whole);
        let size = builder.binary_bits(BinaryOp::And, size, 0x7fff_ffff);
        let greatest = builder.bits(whole, MAX_DIVISOR);
        let is_large = builder.compare(CompareOp::Greater, CompareKind::Unsigned, size, greatest);
        let [one, down] = [ONE, SCALE_DOWN].map(|it| builder.bits(ty, it));
        let mut scale = builder.select(is_large, down, one);
        // Without denormals, a divisor below the range is zero anyway.
        if self.options.target.features.float_controls_denorm_preserve32 {
            let min = builder.bits(whole, MIN_DIVISOR);
            let is_small = builder.compare(CompareOp::Less, CompareKind::Unsigned, size, min);
            let up = builder.bits(ty, SCALE_UP);
            scale = builder.select(is_small, up, scale);
        }
        let [x, y] = [x, y].map(|it| builder.value(Op::Exact(BinaryOp::FMul), &[it, scale], ty));
        Some(builder.binary(BinaryOp::FDiv, x, y))
    }
}

/// From one floating-point format to another.
pub(super) const NUMBER: Convert = Convert::Number {
    conversion: Conversion { rounding: None, saturate: false },
    from_signed: false,
    to_signed: false,
};
