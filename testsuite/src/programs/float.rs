//! Floating-point expressions. All numbers are small integers, so that results are exact in every implementation;
//! halves are rounded to integers immediately.

use super::{
    Generator,
    types::{INT, LONG, Ty},
};

impl Generator {
    /// An integer below 2^24; stored values are reduced below 2048.
    pub(super) fn float(&mut self, ty: Ty, depth: usize) -> String {
        let object = self.readable(|object| object.ty == ty).filter(|_| !self.dice.one_in(3));
        if let Some(object) = object
            && (depth == 0 || self.dice.one_in(3))
        {
            return self.element(&object, depth.min(1));
        }
        if depth == 0 {
            return self.small(ty, 0);
        }
        let half = if ty.scalar.bits == 64 { "0.5" } else { "0.5f" };
        let one = if ty.scalar.bits == 64 { "1.0" } else { "1.0f" };
        let first = self.operand(ty, depth);
        match self.dice.below(16) {
            0 => self.small(ty, depth - 1),
            1 => {
                let functions = ["fmin", "fmax", "fdim", "maxmag", "minmag", "max", "min", "step"];
                format!("{}({first}, {})", self.dice.pick(&functions), self.operand(ty, depth))
            }
            2 | 3 => {
                let function = *self.dice.pick(&["fma", "fma", "mad"]);
                format!("{function}({first}, {}, {})", self.operand(ty, depth), self.operand(ty, depth))
            }
            4 => format!("(-{first})"),
            5 | 6 => {
                let function = *self.dice.pick(&["floor", "ceil", "trunc", "rint", "round"]);
                let sign = *self.dice.pick(&["", "-"]);
                format!("{function}({sign}{first} * {half})")
            }
            7 => {
                let function = *self.dice.pick(&["fmod", "remainder"]);
                format!("{function}({first}, {} + {one})", self.operand(ty, depth))
            }
            8 => format!("copysign({first}, -{one} - {})", self.operand(ty, depth)),
            9 => format!("{}({first} - {})", self.dice.pick(&["fabs", "sign"]), self.operand(ty, depth)),
            10 => format!("ldexp({first}, {})", self.dice.below(9)),
            11 => {
                let bits = ty.with(if ty.scalar.bits == 64 { LONG } else { INT });
                let condition = self.expression(bits, depth - 1);
                format!("select({first}, {}, {condition})", self.operand(ty, depth))
            }
            12 if ty.count == 1 => {
                let vector = Ty { count: *self.dice.pick(&[2, 3, 4]), ..ty };
                format!("dot({}, {})", self.operand(vector, depth), self.operand(vector, depth))
            }
            _ => {
                let op = *self.dice.pick(&["+", "-", "*"]);
                format!("({first} {op} {})", self.operand(ty, depth))
            }
        }
    }

    /// A value from 0 to 2047.
    fn small(&mut self, ty: Ty, depth: usize) -> String {
        if ty.count == 1 {
            format!("(({})({} & 2047))", ty.scalar.name, self.integer(INT, depth))
        } else {
            format!("convert_{}({} & 2047)", ty.name(), self.vector(ty.with(INT), depth))
        }
    }

    /// A value from 0 to 2047, possibly from a variable.
    pub(super) fn operand(&mut self, ty: Ty, depth: usize) -> String {
        match self.readable(|object| object.ty == ty).filter(|_| !self.dice.one_in(3)) {
            Some(object) => self.element(&object, 0),
            None => self.small(ty, depth.saturating_sub(1)),
        }
    }

    /// An expression whose value can be stored: floats are reduced to the exact range.
    pub(super) fn stored(&mut self, ty: Ty, depth: usize) -> String {
        let text = self.expression(ty, depth);
        match (ty.scalar.is_float(), ty.count) {
            (false, _) => text,
            (true, 1) => format!("({})((int)({text}) & 2047)", ty.scalar.name),
            (true, count) => format!("convert_{}(convert_int{count}({text}) & 2047)", ty.name()),
        }
    }

    /// An integer computed from a floating-point number.
    pub(super) fn measured(&mut self, depth: usize) -> String {
        let ty = Ty::scalar(self.some_float());
        let first = self.operand(ty, depth);
        match self.dice.below(4) {
            0 => {
                let functions =
                    ["isequal", "isnotequal", "isless", "isgreater", "islessequal", "isgreaterequal"];
                format!("{}({first}, {})", self.dice.pick(&functions), self.operand(ty, depth))
            }
            1 => format!("ilogb({first} + ({})1)", ty.scalar.name),
            2 => format!("signbit({first} - ({}){})", ty.scalar.name, self.dice.below(2048)),
            _ => format!("{}({first})", self.dice.pick(&["isnan", "isinf", "isfinite"])),
        }
    }
}
