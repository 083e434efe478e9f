//! Expressions without side effects, of a given type. Signed arithmetic that could overflow uses unsigned operands;
//! divisors are never zero; indices are in bounds.

use super::{
    Generator, Parameter,
    scope::Object,
    types::{INTEGERS, Kind, Returned, Scalar, Ty, UINT},
};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl Generator {
    /// An expression of exactly this type.
    pub(super) fn expression(&mut self, ty: Ty, depth: usize) -> String {
        match (ty.scalar.is_float(), ty.count) {
            (true, _) => self.float(ty, depth),
            (false, 1) => self.integer(ty.scalar, depth),
            (false, _) => self.vector(ty, depth),
        }
    }

    /// An index below the length.
    pub(super) fn index(&mut self, length: usize, depth: usize) -> String {
        if length.is_power_of_two() && self.dice.one_in(2) {
            let scalar = *self.dice.pick(&INTEGERS);
            return format!("{} & {}", self.integer(scalar, depth), length - 1);
        }
        if self.dice.one_in(3) {
            return self.dice.below(length).to_string();
        }
        let scalar = self.dice.pick(&INTEGERS).with_sign(false);
        format!("{} % {length}", self.integer(scalar, depth))
    }

    /// An access to an object.
    pub(super) fn element(&mut self, object: &Object, depth: usize) -> String {
        match object.length {
            None => object.text.clone(),
            Some(length) if object.is_pointer && (length == 1 || self.dice.one_in(6)) => {
                format!("(*{})", object.text)
            }
            Some(length) => {
                let index = self.index(length, depth);
                // Members of packed structures can be misaligned.
                let all = if object.has_address { 16 } else { 1 };
                match 16 - all + self.dice.below(all) {
                    0 => format!("(*({} + ({index})))", object.text),
                    1 => format!("({index})[{}]", object.text),
                    _ => format!("{}[{index}]", object.text),
                }
            }
        }
    }

    pub(super) fn readable(&mut self, wanted: impl Fn(&Object) -> bool) -> Option<Object> {
        let found: Vec<&Object> = self.scopes.objects().iter().filter(|object| wanted(object)).collect();
        if found.is_empty() {
            return None;
        }
        // Prefers recent declarations.
        let index = found.len() - 1 - self.dice.below(found.len()).min(self.dice.below(found.len()));
        Some(found[index].clone())
    }

    fn constant(&mut self, scalar: Scalar) -> String {
        let bits = self.dice.bits();
        let value = match self.dice.below(6) {
            0 => bits % 3,
            1 => bits % 100,
            2 => 1 << (bits % u64::from(scalar.bits)),
            3 => (1u64 << (bits % u64::from(scalar.bits))).wrapping_sub(1),
            _ => bits,
        };
        let value = if scalar.bits == 64 { value } else { value & ((1 << scalar.bits) - 1) };
        let suffix = if scalar.bits == 64 { "ul" } else { "u" };
        match self.dice.below(8) {
            0 => format!("(({}){value}{suffix})", scalar.name),
            1 => format!("(({})0{value:o}{suffix})", scalar.name),
            2 => format!("(({})-{})", scalar.name, value & 0x7f),
            3 => format!("(({})'{}')", scalar.name, char::from(b'a' + (value % 26) as u8)),
            _ => format!("(({})0x{value:x}{suffix})", scalar.name),
        }
    }

    fn leaf(&mut self, scalar: Scalar, depth: usize) -> String {
        let Some(object) = self.readable(|_| true).filter(|_| !self.dice.one_in(5)) else {
            return self.constant(scalar);
        };
        let mut text = self.element(&object, depth.saturating_sub(1).min(1));
        if object.ty.count > 1 {
            text = format!("{text}.s{}", char::from(DIGITS[self.dice.below(object.ty.count)]));
        }
        match object.ty.scalar {
            same if same == scalar => text,
            // Values can exceed 8 bits, for which the conversion from float is undefined.
            it if it.is_float() && scalar.bits == 8 => format!("(({})(int){text})", scalar.name),
            _ => format!("(({}){text})", scalar.name),
        }
    }

    /// An integer expression of this type.
    pub(super) fn integer(&mut self, scalar: Scalar, depth: usize) -> String {
        if depth == 0 || self.dice.one_in(6) {
            return self.leaf(scalar, depth);
        }
        let depth = depth - 1;
        let name = scalar.name;
        let other = *self.dice.pick(&INTEGERS);
        match self.dice.below(25) {
            0..=4 => self.arithmetic(scalar, depth),
            5 | 6 => {
                let third = *self.dice.pick(&INTEGERS);
                let op = *self.dice.pick(&["&", "|", "^"]);
                format!("(({name})({} {op} {}))", self.integer(other, depth), self.integer(third, depth))
            }
            7 => {
                let op = *self.dice.pick(&["<<", ">>"]);
                format!("(({name})({} {op} {}))", self.integer(scalar, depth), self.integer(other, depth))
            }
            8 | 9 => format!("(({name}){})", self.condition(depth)),
            10 => {
                let condition = self.condition(depth);
                format!(
                    "(({name})({condition} ? {} : {}))",
                    self.integer(scalar, depth),
                    self.integer(other, depth)
                )
            }
            11 => format!("(({name})~{})", self.integer(other, depth)),
            12 => format!("(({name})!{})", self.integer(other, depth)),
            13 => format!("convert_{name}_sat({})", self.integer(other, depth)),
            14 => format!("(({name})(bool){})", self.integer(other, depth)),
            15 => self.builtin(Ty::scalar(scalar), depth),
            16 => {
                let count = *self.dice.pick(&[2, 4]);
                match INTEGERS.iter().find(|it| it.bits as usize * count == scalar.bits as usize) {
                    Some(&part) => format!("as_{name}({})", self.vector(Ty { scalar: part, count }, depth)),
                    None => self.integer(scalar, depth),
                }
            }
            17 => {
                let count = *self.dice.pick(&[2, 3, 4, 8, 16]);
                let which = *self.dice.pick(&["any", "all"]);
                let signed = other.with_sign(true);
                format!("(({name}){which}({}))", self.vector(Ty { scalar: signed, count }, depth))
            }
            18 => {
                let ty = Ty::scalar(self.some_float());
                let half = if ty.scalar.bits == 64 { "0.5" } else { "0.5f" };
                match self.dice.below(3) {
                    0 => {
                        let mode = *self.dice.pick(&["rte", "rtz", "rtp", "rtn"]);
                        let sign = *self.dice.pick(&["", "-"]);
                        format!("convert_{name}_sat_{mode}({sign}{} * {half})", self.operand(ty, depth))
                    }
                    1 => format!("(({name}){})", self.measured(depth)),
                    _ => format!("(({name})(int){})", self.float(ty, depth)),
                }
            }
            22 => self.between_addresses(scalar, depth),
            23 => {
                let ty = match self.structs.len() {
                    0 => self.some_type().name(),
                    count => self.structs[self.dice.below(count)].name.clone(),
                };
                format!("(({name})sizeof({ty}))")
            }
            19 | 20 => self.call(Ty::scalar(scalar), depth),
            _ => {
                let (first, second) = (self.integer(scalar, depth), self.integer(other, depth));
                format!("({second}, {first})")
            }
        }
    }

    /// Arithmetic; operations that could overflow are unsigned.
    fn arithmetic(&mut self, scalar: Scalar, depth: usize) -> String {
        let name = scalar.name;
        let ty = *self.dice.pick(&INTEGERS);
        let (left, right) = (self.integer(ty, depth), self.integer(ty, depth));
        if self.dice.one_in(4) {
            let op = *self.dice.pick(&["/", "%"]);
            return if ty.is_signed() {
                format!("(({name})({left} {op} (({right} & 15) - {})))", 17 + self.dice.below(3))
            } else {
                format!("(({name})({left} {op} ({right} | 1)))")
            };
        }
        let op = *self.dice.pick(&["+", "-", "*"]);
        let wide = if ty.bits == 64 { "ulong" } else { "uint" };
        // Small signed numbers are promoted to `int`, which cannot overflow here.
        if ty.bits < 32 && (ty.is_signed() || op != "*") {
            format!("(({name})({left} {op} {right}))")
        } else {
            format!("(({name})(({wide}){left} {op} ({wide}){right}))")
        }
    }

    /// An `int` that is 0 or 1.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        match self.dice.below(8) {
            0 => {
                let op = *self.dice.pick(&["&&", "||"]);
                format!("({} {op} {})", self.condition(depth), self.condition(depth))
            }
            1 => format!("(!{})", self.condition(depth)),
            2 => {
                let op = *self.dice.pick(&["<", ">", "<=", ">=", "==", "!="]);
                let ty = Ty::scalar(self.some_float());
                format!("({} {op} {})", self.float(ty, depth), self.float(ty, depth))
            }
            _ => {
                let op = *self.dice.pick(&["<", ">", "<=", ">=", "==", "!="]);
                let (left, right) = (*self.dice.pick(&INTEGERS), *self.dice.pick(&INTEGERS));
                format!("({} {op} {})", self.integer(left, depth), self.integer(right, depth))
            }
        }
    }

    /// A vector of integers.
    pub(super) fn vector(&mut self, ty: Ty, depth: usize) -> String {
        let (name, Ty { scalar, count }) = (ty.name(), ty);
        let object = self.readable(|object| object.ty == ty);
        if let Some(object) = object
            && (depth == 0 || self.dice.one_in(4))
        {
            return self.element(&object, depth.min(1));
        }
        if depth == 0 {
            return format!("(({name})({}))", self.leaf(scalar, 0));
        }
        let depth = depth - 1;
        let unsigned = scalar.with_sign(false);
        match self.dice.below(21) {
            0 | 1 => self.literal(ty, depth),
            2..=5 => {
                let operands = ty.with(unsigned);
                let (left, right) = (self.vector(operands, depth), self.vector(operands, depth));
                let right = if self.dice.one_in(5) { self.integer(unsigned, depth) } else { right };
                let op = *self.dice.pick(&["+", "-", "*", "&", "|", "^", "<<", ">>"]);
                self.read_as(ty, format!("({left} {op} {right})"), unsigned)
            }
            6 => {
                let op = *self.dice.pick(&["/", "%"]);
                let operands = ty.with(unsigned);
                let (left, right) = (self.vector(operands, depth), self.vector(operands, depth));
                self.read_as(ty, format!("({left} {op} ({right} | ({})1))", unsigned.name), unsigned)
            }
            7 | 8 => {
                let float = self.some_float();
                let compared = if scalar.bits == float.bits && self.dice.one_in(3) {
                    float
                } else {
                    scalar.with_sign(self.dice.one_in(2))
                };
                let operands = ty.with(compared);
                let op = *self.dice.pick(&["<", ">", "<=", ">=", "==", "!="]);
                let (left, right) = (self.expression(operands, depth), self.expression(operands, depth));
                self.read_as(ty, format!("({left} {op} {right})"), scalar.with_sign(true))
            }
            9 => {
                let condition = self.vector(ty.with(scalar.with_sign(true)), depth);
                format!("({condition} ? {} : {})", self.vector(ty, depth), self.vector(ty, depth))
            }
            10 => format!("(~{})", self.vector(ty, depth)),
            11 => {
                let from = *self.dice.pick(&INTEGERS);
                let saturate = if self.dice.one_in(2) { "_sat" } else { "" };
                format!("convert_{name}{saturate}({})", self.vector(ty.with(from), depth))
            }
            12 => self.builtin(ty, depth),
            13 => self.swizzled(ty),
            14 => self.reinterpreted(ty, depth),
            15 => {
                let from = *self.dice.pick(&[2, 4, 8, 16]);
                // The mask has one element for each result element, of the same width.
                if count == 3 {
                    return self.literal(ty, depth);
                }
                let source = Ty { scalar, count: from };
                let mask = self.vector(ty.with(unsigned), depth);
                format!("shuffle({}, {mask})", self.vector(source, depth))
            }
            16 => {
                let object = self.readable(|object| {
                    let fits = object.length.is_some_and(|length| length >= count);
                    object.ty == Ty::scalar(scalar) && fits && object.has_address
                });
                match object {
                    Some(object) => {
                        let length = object.length.unwrap_or(count);
                        let index = self.index(length / count, depth.min(1));
                        format!("vload{count}({index}, {})", object.text)
                    }
                    None => self.vector(ty, depth),
                }
            }
            17 => {
                let op = *self.dice.pick(&["&&", "||"]);
                let operands = ty.with(scalar.with_sign(self.dice.one_in(2)));
                let (left, right) = (self.vector(operands, depth), self.vector(operands, depth));
                self.read_as(ty, format!("({left} {op} {right})"), scalar.with_sign(true))
            }
            18 => {
                let text = format!("(!{})", self.vector(ty, depth));
                self.read_as(ty, text, scalar.with_sign(true))
            }
            19 => {
                let condition = self.condition(depth);
                format!("({condition} ? {} : {})", self.vector(ty, depth), self.vector(ty, depth))
            }
            _ => self.call(ty, depth),
        }
    }

    /// The distance and order of elements of an object.
    fn between_addresses(&mut self, scalar: Scalar, depth: usize) -> String {
        let object = self.readable(|object| object.has_address && object.length.is_some());
        let Some(Object { text, length: Some(length), .. }) = object else { return self.leaf(scalar, depth) };
        let op = *self.dice.pick(&["-", "-", "<", ">=", "==", "!="]);
        let (one, other) = (self.index(length, 1), self.index(length, 1));
        format!("(({})(&{text}[{one}] {op} &{text}[{other}]))", scalar.name)
    }

    /// Reinterprets a vector with components of the same width.
    fn read_as(&mut self, ty: Ty, text: String, scalar: Scalar) -> String {
        if scalar == ty.scalar { text } else { format!("as_{}({text})", ty.name()) }
    }

    /// `(int4)(a, v.xy, b)`
    pub(super) fn literal(&mut self, ty: Ty, depth: usize) -> String {
        if self.dice.one_in(4) {
            return format!("(({})({}))", ty.name(), self.integer(ty.scalar, depth));
        }
        let mut parts = Vec::new();
        let mut missing = ty.count;
        while missing > 0 {
            let fitting: Vec<usize> =
                [1, 1, 2, 3, 4, 8].into_iter().filter(|&it| it <= missing && it < ty.count).collect();
            let count = *self.dice.pick(&fitting);
            missing -= count;
            parts.push(self.expression(Ty { count, ..ty }, depth.min(1)));
        }
        format!("(({})({}))", ty.name(), parts.join(", "))
    }

    /// A swizzle of an existing vector.
    fn swizzled(&mut self, ty: Ty) -> String {
        let object = self.readable(|object| object.ty.scalar == ty.scalar && object.ty.count > 1);
        let Some(object) = object else { return self.literal(ty, 1) };
        let text = self.element(&object, 0);
        const HALVES: [&str; 4] = ["lo", "hi", "even", "odd"];
        if object.ty.count == 2 * ty.count && self.dice.one_in(2) {
            return format!("{text}.{}", self.dice.pick(&HALVES));
        }
        if object.ty.count == 4 * ty.count && self.dice.one_in(2) {
            return format!("{text}.{}.{}", self.dice.pick(&HALVES), self.dice.pick(&HALVES));
        }
        let letters = self.dice.one_in(2) && object.ty.count <= 4 && ty.count <= 4;
        let components: String = (0..ty.count)
            .map(|_| {
                let index = self.dice.below(object.ty.count);
                char::from(if letters { b"xyzw"[index] } else { DIGITS[index] })
            })
            .collect();
        format!("{text}.{}{components}", if letters { "" } else { "s" })
    }

    /// Reinterprets the bytes of a vector of another shape.
    fn reinterpreted(&mut self, ty: Ty, depth: usize) -> String {
        // The fourth component of a 3-component vector is undefined.
        if ty.count == 3 {
            let from = ty.with(ty.scalar.with_sign(self.dice.one_in(2)));
            return format!("as_{}({})", ty.name(), self.vector(from, depth));
        }
        let bits = ty.scalar.bits as usize * ty.count;
        let shapes: Vec<Ty> = INTEGERS
            .iter()
            .flat_map(|&scalar| [1, 2, 4, 8, 16].map(|count| Ty { scalar, count }))
            .filter(|shape| shape.scalar.bits as usize * shape.count == bits)
            .collect();
        let from = *self.dice.pick(&shapes);
        format!("as_{}({})", ty.name(), self.expression(from, depth))
    }

    /// A call of a pure function.
    fn call(&mut self, ty: Ty, depth: usize) -> String {
        let fitting: Vec<_> = self
            .functions
            .iter()
            .filter(|function| {
                let plain = |it: &Parameter| matches!(it, Parameter::Value(_));
                function.result == Returned::Value(ty) && function.parameters.iter().all(plain)
            })
            .cloned()
            .collect();
        // Limits the run time: calls in nested loops can multiply.
        if fitting.is_empty() || self.around.loops > 1 {
            return self.expression(ty, depth.min(1));
        }
        let function = self.dice.pick(&fitting).clone();
        let arguments: Vec<String> = function
            .parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::Value(ty) => self.stored(*ty, depth.min(1)),
                _ => unreachable!("only values are chosen"),
            })
            .collect();
        format!("{}({})", function.name, arguments.join(", "))
    }

    /// Converts any scalar or vector to numbers for the result.
    pub(super) fn mixed(text: &str, ty: Ty) -> Vec<String> {
        let one = |text: String| match ty.scalar.kind {
            Kind::Float => format!("(ulong)(int){text}"),
            Kind::Signed | Kind::Unsigned => format!("(ulong){text}"),
        };
        if ty.count == 1 {
            return vec![one(text.to_owned())];
        }
        (0..ty.count).map(|it| one(format!("{text}.s{}", char::from(DIGITS[it])))).collect()
    }

    /// The element type of shared memory.
    pub(super) const WORD: Ty = Ty::scalar(UINT);
}
