//! Statements.

use super::{
    Function, Generator, Parameter, ProgramKind,
    scope::{Object, Space},
    types::{INT, INTEGERS, LONG, Returned, Ty, UINT, ULONG},
};

impl Generator {
    /// Generates up to `count` statements.
    pub(super) fn statements(&mut self, count: usize) {
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement();
        }
    }

    fn statement(&mut self) {
        match self.dice.below(42) {
            0..=3 => self.declare_value(),
            4 | 5 => self.declare_array(),
            6 | 7 => self.declare_struct(),
            8 => self.declare_pointer(),
            9 => self.through_array_of_pointers(),
            10 => self.through_other_type(),
            11..=18 => self.assignment(),
            19 => self.pointer_assignment(),
            20 => self.struct_assignment(),
            21..=23 => self.conditional(),
            24..=26 => self.loop_statement(),
            27 => self.switch(),
            28 => self.jump(),
            29 => self.forward_goto(),
            30 => self.backward_goto(),
            31 => self.store_vector(),
            32 => self.declare_rows(),
            33 => self.declare_structs(),
            34 | 35 => self.declare_struct_pointer(),
            36 => self.walk(),
            37 => self.effects(),
            38 => self.parts(),
            39 => self.count_globally(),
            _ => self.call_statement(),
        }
    }

    /// A writable lvalue.
    fn writable(&mut self) -> Option<Object> {
        let found: Vec<Object> =
            self.scopes.objects().iter().filter(|object| object.is_writable).cloned().collect();
        (!found.is_empty()).then(|| self.dice.pick(&found).clone())
    }

    fn assignment(&mut self) {
        let Some(object) = self.writable() else { return self.declare_value() };
        let target = self.element(&object, 1);
        let ty = object.ty;
        if ty.scalar.is_float() {
            let value = self.stored(ty, 3);
            return self.line(format!("{target} = {value};"));
        }
        match self.dice.below(8) {
            // Small integers are promoted to `int`, in which the product of unsigned 16-bit numbers can overflow.
            0 | 1 if !ty.scalar.is_signed() && (ty.count > 1 || ty.scalar.bits != 16) => {
                let op = *self.dice.pick(&["+", "-", "*", "/", "%"]);
                let mut value = self.expression(ty, 3);
                if matches!(op, "/" | "%") {
                    value = format!("({value} | ({})1)", ty.scalar.name);
                } else if ty.count > 1 && self.dice.one_in(4) {
                    value = self.integer(ty.scalar, 3);
                }
                self.line(format!("{target} {op}= {value};"));
            }
            0 | 1 if ty.count == 1 && ty.scalar.bits < 32 => {
                let op = *self.dice.pick(&["+", "-"]);
                let value = self.expression(ty, 3);
                self.line(format!("{target} {op}= {value};"));
            }
            2 => {
                let op = *self.dice.pick(&["&", "|", "^", "<<", ">>"]);
                let value = self.expression(ty, 3);
                self.line(format!("{target} {op}= {value};"));
            }
            3 if ty.count == 1 && (!ty.scalar.is_signed() || ty.scalar.bits < 32) => {
                let op = *self.dice.pick(&["++", "--"]);
                if self.dice.one_in(2) {
                    self.line(format!("{op}{target};"));
                } else {
                    self.line(format!("{target}{op};"));
                }
            }
            4 | 5 if ty.count > 1 => self.component_assignment(&target, ty),
            _ => {
                let value = self.expression(ty, 4);
                self.line(format!("{target} = {value};"));
            }
        }
    }

    /// `v.s31 = …`, `v.lo = …`
    fn component_assignment(&mut self, target: &str, ty: Ty) {
        let halves = ty.count != 3 && self.dice.one_in(3);
        if halves {
            let half = *self.dice.pick(&["lo", "hi", "even", "odd"]);
            let value = self.expression(Ty { count: ty.count / 2, ..ty }, 2);
            return self.line(format!("{target}.{half} = {value};"));
        }
        if ty.count >= 4 && self.dice.one_in(6) {
            let [one, other] = [(); 2].map(|()| *self.dice.pick(&["lo", "hi", "even", "odd"]));
            let value = self.expression(Ty { count: ty.count / 4, ..ty }, 2);
            return self.line(format!("{target}.{one}.{other} = {value};"));
        }
        if !ty.scalar.is_signed() && ty.scalar.bits > 16 && self.dice.one_in(4) {
            let component = char::from(b"0123456789abcdef"[self.dice.below(ty.count)]);
            let op = *self.dice.pick(&["+=", "-=", "*=", "^=", "|=", "<<="]);
            let value = self.integer(ty.scalar, 2);
            return self.line(format!("{target}.s{component} {op} {value};"));
        }
        let mut components: Vec<usize> = (0..ty.count).collect();
        for index in 0..ty.count {
            let other = self.dice.below(ty.count);
            components.swap(index, other);
        }
        let fitting: Vec<usize> = [1, 1, 2, 3, 4, 8].into_iter().filter(|&it| it <= ty.count).collect();
        let count = *self.dice.pick(&fitting);
        let names: String =
            components[..count].iter().map(|&it| char::from(b"0123456789abcdef"[it])).collect();
        let value = self.expression(Ty { count, ..ty }, 2);
        self.line(format!("{target}.s{names} = {value};"));
    }

    fn struct_assignment(&mut self) {
        let all = self.scopes.structs().to_vec();
        let pairs: Vec<(String, String)> = all
            .iter()
            .filter(|to| to.space != Space::Constant)
            .flat_map(|to| {
                all.iter()
                    .filter(|from| from.number == to.number)
                    .map(|from| (to.text.clone(), from.text.clone()))
            })
            // An object must not be assigned to a part of itself.
            .filter(|(to, from)| to != from)
            .collect();
        if pairs.is_empty() {
            return self.declare_struct();
        }
        let (to, from) = self.dice.pick(&pairs).clone();
        if self.dice.one_in(4) {
            let number = all.iter().find(|it| it.text == to).map_or(0, |it| it.number);
            let value = self.struct_value(number);
            self.line(format!("{to} = {value};"));
        } else if self.dice.one_in(4) {
            let condition = self.condition(2);
            self.line(format!("{to} = {condition} ? {to} : {from};"));
        } else {
            self.line(format!("{to} = {from};"));
        }
    }

    fn nested(&mut self) {
        let count = 1 + self.dice.below(4);
        if self.lines.depth() > 6 {
            self.assignment();
        } else {
            self.statements(count);
        }
    }

    fn conditional(&mut self) {
        let condition = self.condition(3);
        self.open(format!("if {condition} {{"));
        self.nested();
        if self.dice.one_in(2) {
            self.lines.reopen("} else {");
            self.scopes.close();
            self.scopes.open();
            self.nested();
        }
        self.close("}");
    }

    /// A loop that ends after a few iterations, whatever its body does.
    fn loop_statement(&mut self) {
        if self.around.loops >= 2 {
            return self.conditional();
        }
        if self.kind == ProgramKind::Counting && self.dice.one_in(2) {
            return self.counted_loop();
        }
        let before = self.around;
        self.around.is_in_loop = true;
        self.around.is_in_switch = false;
        self.around.loops += 1;
        let counter = self.name('i');
        let rounds = 1 + self.dice.below(5);
        let unroll = if self.dice.one_in(8) { "__attribute__((opencl_unroll_hint)) " } else { "" };
        let object = |text: String| Object {
            text,
            ty: Ty::scalar(INT),
            space: Space::Private,
            length: None,
            is_writable: false,
            is_pointer: false,
            has_address: false,
        };
        match self.dice.below(5) {
            3 => {
                self.open("{");
                self.line(format!("int {counter} = 0;"));
                let condition = self.condition(2);
                self.open(format!("while ({counter}++ < {rounds} && {condition}) {{"));
                self.scopes.add(object(counter));
                self.nested();
                self.close("}");
                self.close("}");
            }
            0 | 1 => {
                self.open(format!("{unroll}for (int {counter} = 0; {counter} < {rounds}; ++{counter}) {{"));
                self.scopes.add(object(counter));
                self.nested();
                self.close("}");
            }
            2 => {
                let condition = self.condition(2);
                self.open(format!("for (int {counter} = 0; {counter}++ < {rounds} && {condition}; ) {{"));
                self.scopes.add(object(counter));
                self.nested();
                self.close("}");
            }
            _ => {
                self.open("{");
                self.line(format!("int {counter} = {rounds};"));
                self.open("do {");
                self.scopes.add(object(counter.clone()));
                self.nested();
                // The condition is outside the scope of the body.
                self.scopes.close();
                self.scopes.open();
                let condition = if self.dice.one_in(2) { self.condition(1) } else { "1".to_owned() };
                self.close(format!("}} while (--{counter} > 0 && {condition});"));
                self.close("}");
            }
        }
        self.around = before;
    }

    /// A loop whose start, bound and step are values. They are small, so that the counter does not overflow, and the step is never
    /// zero, even if the loop computes it again.
    fn counted_loop(&mut self) {
        let before = self.around;
        self.around.is_in_loop = true;
        self.around.is_in_switch = false;
        self.around.loops += 1;
        let scalar = *self.dice.pick(&[INT, INT, UINT, LONG, ULONG]);
        let counter = self.name('i');
        let [first, last] = [4, 13].map(|limit| format!("({})({})", scalar.name, self.index(limit, 2)));
        let step = format!("({})(1 + ({}))", scalar.name, self.index(3, 2));
        self.open("{");
        let mut named = |value: String| {
            if self.dice.one_in(2) {
                return value;
            }
            let name = self.name('b');
            self.line(format!("{} {name} = {value};", scalar.name));
            name
        };
        let [first, last, step] = [first, last, step].map(&mut named);
        let ty = scalar.name;
        let or_equal = if self.dice.one_in(3) { "=" } else { "" };
        // An unsigned counter could pass zero.
        if scalar.is_signed() && self.dice.one_in(3) {
            self.open(format!(
                "for ({ty} {counter} = {last}; {counter} >{or_equal} {first}; {counter} -= {step}) {{"
            ));
        } else {
            self.open(format!(
                "for ({ty} {counter} = {first}; {counter} <{or_equal} {last}; {counter} += {step}) {{"
            ));
        }
        self.scopes.add(Object {
            text: counter,
            ty: Ty::scalar(scalar),
            space: Space::Private,
            length: None,
            is_writable: false,
            is_pointer: false,
            has_address: false,
        });
        match self.dice.one_in(2) {
            true => self.assignment(),
            false => self.nested(),
        }
        self.close("}");
        self.close("}");
        self.around = before;
    }

    fn switch(&mut self) {
        let before = self.around;
        self.around.is_in_switch = true;
        let count = 2 + self.dice.below(4);
        let scalar = *self.dice.pick(&INTEGERS);
        let value = self.index(count + 1, 2);
        let value = if self.dice.one_in(3) { format!("({})({value})", scalar.name) } else { value };
        // Labels can be large and far apart.
        let (first, step, value) = match self.dice.below(4) {
            0 => (-3, 5, format!("(int)({value}) * 5 - 3")),
            1 => (1 << 40, 1 << 33, format!("(long)({value}) * (1L << 33) + (1L << 40)")),
            _ => (0, 1, value),
        };
        self.open(format!("switch ({value}) {{"));
        let default = self.dice.below(count + 2);
        for case in 0..count {
            if case == default {
                self.case("default");
            }
            self.case(&format!("case {}", first + step * case as i64));
        }
        self.close("}");
        self.around = before;
    }

    fn case(&mut self, label: &str) {
        self.open(format!("{label}: {{"));
        self.nested();
        if !self.dice.one_in(3) {
            self.line("break;");
        }
        self.close("}");
    }

    /// A conditional `break`, `continue` or `return`.
    fn jump(&mut self) {
        let condition = self.condition(2);
        let mut choices = Vec::new();
        if self.around.is_in_loop {
            choices.push("continue;".to_owned());
        }
        if self.around.is_in_loop || self.around.is_in_switch {
            choices.push("break;".to_owned());
        }
        match self.around.returns {
            Some(Returned::Value(ty)) => choices.push(format!("return {};", self.stored(ty, 2))),
            Some(Returned::Struct(number)) => {
                choices.push(format!("return {};", self.struct_value(number)));
            }
            None => {}
        }
        if choices.is_empty() {
            return self.conditional();
        }
        let choice = self.dice.pick(&choices).clone();
        self.line(format!("if {condition} {choice}"));
    }

    /// A forward `goto` out of nested constructs.
    fn forward_goto(&mut self) {
        let label = self.name('l');
        self.open("{");
        self.nested();
        let condition = self.condition(2);
        if self.dice.one_in(2) && self.around.loops < 2 {
            let counter = self.name('i');
            self.line(format!("for (int {counter} = 0; {counter} < 3; ++{counter}) {{ if ({counter} == 2 || {condition}) goto {label}; }}"));
        } else {
            self.line(format!("if {condition} goto {label};"));
        }
        self.nested();
        self.close("}");
        self.line(format!("{label}: ;"));
    }

    /// A backward `goto`, a limited number of times.
    fn backward_goto(&mut self) {
        if self.around.loops >= 2 {
            return self.assignment();
        }
        let before = self.around;
        // This is a loop too, so its iterations multiply.
        self.around.loops += 1;
        let (label, counter) = (self.name('l'), self.name('i'));
        self.open("{");
        self.line(format!("int {counter} = 0;"));
        self.line(format!("{label}: ;"));
        self.open("{");
        self.nested();
        self.close("}");
        let condition = self.condition(1);
        self.line(format!("if (++{counter} < 3 && {condition}) goto {label};"));
        self.close("}");
        self.around = before;
    }

    fn store_vector(&mut self) {
        let objects: Vec<Object> = self
            .scopes
            .objects()
            .iter()
            .filter(|it| {
                it.has_address
                    && it.is_writable
                    && it.ty.count == 1
                    && !it.ty.scalar.is_float()
                    && it.length.is_some_and(|it| it >= 2)
            })
            .cloned()
            .collect();
        if objects.is_empty() {
            return self.assignment();
        }
        let object = self.dice.pick(&objects).clone();
        let length = object.length.unwrap_or(2);
        let counts: Vec<usize> = [2, 3, 4, 8, 16].into_iter().filter(|&it| it <= length).collect();
        let count = *self.dice.pick(&counts);
        let value = self.expression(Ty { count, ..object.ty }, 2);
        let index = self.index(length / count, 1);
        self.line(format!("vstore{count}({value}, {index}, {});", object.text));
    }

    /// A call of a function that may write through pointers.
    fn call_statement(&mut self) {
        if self.functions.is_empty() || self.around.loops > 1 {
            return self.assignment();
        }
        let function = self.dice.pick(&self.functions.clone()).clone();
        let Some(arguments) = self.arguments(&function) else { return self.declare_struct() };
        let call = format!("{}({})", function.name, arguments.join(", "));
        match function.result {
            Returned::Value(ty) => {
                let name = self.name('v');
                self.line(format!("{} {name} = {call};", ty.name()));
                self.add(name, ty, None, Space::Private, true);
            }
            Returned::Struct(number) => {
                let name = self.name('s');
                self.line(format!("{} {name} = {call};", self.structs[number].name));
                self.add_struct(&name, number, Space::Private);
            }
        }
    }

    /// The arguments of a call, if there are targets for its pointers.
    fn arguments(&mut self, function: &Function) -> Option<Vec<String>> {
        let mut arguments = Vec::new();
        for parameter in &function.parameters {
            arguments.push(match parameter {
                Parameter::Value(ty) => self.stored(*ty, 2),
                Parameter::Struct(number) => self.struct_value(*number),
                Parameter::StructPointer(space, number) => {
                    let wholes = self.scopes.structs().iter();
                    let fits = wholes.filter(|it| it.number == *number && it.has_address);
                    let fits: Vec<String> =
                        fits.filter(|it| space.has(it.space)).map(|it| it.text.clone()).collect();
                    if fits.is_empty() {
                        return None;
                    }
                    format!("&{}", self.dice.pick(&fits))
                }
                Parameter::Pointer(space, ty, length) => {
                    let targets = self.targets(*space, *ty, *length);
                    if targets.is_empty() {
                        return None;
                    }
                    let target = self.dice.pick(&targets).clone();
                    self.pointer_to(&target, *length)
                }
            });
        }
        Some(arguments)
    }

    /// Assignments and increments within expressions, of variables that the expressions do not use otherwise.
    fn effects(&mut self) {
        let is_simple = |object: &&Object| {
            let is_name = object.text.chars().all(|c| c.is_ascii_alphanumeric());
            let is_number = object.ty.count == 1 && !object.ty.scalar.is_float();
            object.is_writable && object.length.is_none() && is_name && is_number
        };
        let simple: Vec<Object> = self.scopes.objects().iter().filter(is_simple).cloned().collect();
        let unsigned: Vec<&Object> = simple.iter().filter(|it| !it.ty.scalar.is_signed()).collect();
        if simple.len() < 2 || unsigned.is_empty() {
            return self.declare_value();
        }
        let other = (*self.dice.pick(&unsigned)).clone();
        let one = self.dice.pick(&simple).clone();
        if one.text == other.text {
            return self.assignment();
        }
        let (text, name) = (&other.text, one.ty.scalar.name);
        let value = self.expression(other.ty, 3);
        let number = self.dice.below(100);
        let effect = match self.dice.below(5) {
            0 => format!("{text}++"),
            1 => format!("--{text}"),
            2 => format!("({text} ^= {value})"),
            3 => format!("({text} = {value})"),
            _ => format!("({text} <<= 1, {text})"),
        };
        let line = match self.dice.below(3) {
            0 => format!("{} = {effect};", one.text),
            1 => format!("{} = ({name})({effect} ^ {number}u);", one.text),
            _ => format!("{} |= {effect} & {number}u;", one.text),
        };
        self.line(line);
    }

    /// Results that functions return through pointers.
    fn parts(&mut self) {
        let ty = Ty { count: *self.dice.pick(&[1, 1, 2, 3, 4]), scalar: self.some_float() };
        let first = self.operand(ty, 2);
        let (name, part) = (self.name('v'), self.name('v'));
        let float = ty.name();
        let (integers, cut) = (ty.with(INT).name(), ty.scalar.name);
        // Scales fractions to integers: quarters by 4, and 11-bit mantissas by 2048.
        if self.dice.one_in(2) {
            self.line(format!("{float} {part}, {name} = modf({first} * ({cut})0.25f, &{part}) * ({cut})4;"));
            self.add(part, ty, None, Space::Private, true);
        } else {
            self.line(format!("{integers} {part}; {float} {name} = frexp({first}, &{part}) * ({cut})2048;"));
            self.add(part, ty.with(INT), None, Space::Private, true);
        }
        self.add(name, ty, None, Space::Private, true);
    }
}
