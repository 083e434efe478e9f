//! Calls of integer built-in functions, with arguments for which the result is defined.

use super::{
    Generator, ProgramKind,
    types::{INTEGERS, Ty},
};

impl Generator {
    /// A call of a built-in function with this result type.
    pub(super) fn builtin(&mut self, ty: Ty, depth: usize) -> String {
        let unsigned = !ty.scalar.is_signed();
        let some = |generator: &mut Self| generator.expression(ty, depth);
        match self.dice.below(22) {
            0..=7 => {
                let functions = ["add_sat", "sub_sat", "mul_hi", "rotate", "hadd", "rhadd", "min", "max"];
                format!("{}({}, {})", self.dice.pick(&functions), some(self), some(self))
            }
            8 if unsigned => {
                let of = ty.with(ty.scalar.with_sign(self.dice.one_in(2)));
                format!("abs_diff({}, {})", self.expression(of, depth), self.expression(of, depth))
            }
            9 => format!("popcount({})", some(self)),
            10 if self.kind == ProgramKind::Generic && self.dice.one_in(2) => format!("ctz({})", some(self)),
            10 => format!("clz({})", some(self)),
            11 if unsigned => {
                format!("abs({})", self.expression(ty.with(ty.scalar.with_sign(true)), depth))
            }
            12 => {
                let condition = ty.with(ty.scalar.with_sign(self.dice.one_in(2)));
                let condition = self.expression(condition, depth);
                format!("select({}, {}, {condition})", some(self), some(self))
            }
            13 if ty.scalar.bits > 8 => {
                let half = INTEGERS
                    .into_iter()
                    .find(|it| it.bits * 2 == ty.scalar.bits && it.kind == ty.scalar.kind)
                    .unwrap_or(ty.scalar);
                let low = ty.with(half.with_sign(false));
                format!(
                    "upsample({}, {})",
                    self.expression(ty.with(half), depth),
                    self.expression(low, depth)
                )
            }
            14 => format!("mad_sat({}, {}, {})", some(self), some(self), some(self)),
            // The sum may overflow.
            15 if unsigned => format!("mad_hi({}, {}, {})", some(self), some(self), some(self)),
            16 => format!("bitselect({}, {}, {})", some(self), some(self), some(self)),
            17 => {
                let low = self.dice.below(64);
                let high = low + self.dice.below(64);
                let name = ty.scalar.name;
                format!("clamp({}, ({name}){low}, ({name}){high})", some(self))
            }
            18 if ty.count > 1 => {
                let name = *self.dice.pick(&["min", "max"]);
                format!("{name}({}, {})", some(self), self.integer(ty.scalar, depth))
            }
            19 if ty.count > 1 && ty.count != 3 => {
                let from = Ty { count: *self.dice.pick(&[2, 4, 8, 16]), ..ty };
                let mask = self.vector(ty.with(ty.scalar.with_sign(false)), depth);
                format!("shuffle2({}, {}, {mask})", self.vector(from, depth), self.vector(from, depth))
            }
            20 if ty.scalar.bits == 32 => {
                format!("mad24({} & 0x7fff, {} & 0x7f, {} & 0xffff)", some(self), some(self), some(self))
            }
            _ if ty.scalar.bits == 32 => {
                let cut = if unsigned { "0xffff" } else { "0x7fff" };
                format!("mul24({} & {cut}, {} & 0x7f)", some(self), some(self))
            }
            _ => format!("max({}, {})", some(self), some(self)),
        }
    }
}
