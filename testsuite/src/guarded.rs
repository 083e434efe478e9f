//! Random programs with variables that only some work-items write. Only these work-items read them, in operands that C does
//! not evaluate for the others, so the reference devices must not report them.

use crate::programs::{dice::Dice, lines::Lines};

/// A variable that has a value where the guard is true.
struct Variable {
    guard: String,
    /// An expression of its value, of type `uint`.
    value: String,
}

struct Generator {
    dice: Dice,
    lines: Lines,
    variables: Vec<Variable>,
}

/// A kernel `k(global const uint *a, global uint *o)` for 8 work-items and buffers of 8 elements.
pub fn program(seed: u64) -> String {
    let mut generator = Generator { dice: Dice::new(seed), lines: Lines::default(), variables: Vec::new() };
    generator.lines.open("kernel void k(global const uint *a, global uint *o) {");
    generator.line("uint i = get_global_id(0), r = 1;");
    for number in 0..2 + generator.dice.below(4) {
        generator.variable(number);
    }
    for number in 0..3 + generator.dice.below(6) {
        generator.statement(number);
    }
    generator.line("o[i] = r;");
    generator.lines.close("}");
    generator.lines.text()
}

impl Generator {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.line(text);
    }

    /// A condition of defined values.
    fn condition(&mut self) -> String {
        let number = 1 + self.dice.below(7);
        match self.dice.below(4) {
            0 => format!("i > {number}u"),
            1 => format!("(i & {number}u) != 0"),
            2 => format!("a[i] > {number}u"),
            _ => format!("i == {number}u"),
        }
    }

    /// Declares a variable, and writes it where its guard is true.
    fn variable(&mut self, number: usize) {
        let (condition, name) = (self.condition(), format!("v{number}"));
        let guard = if self.dice.one_in(2) {
            let ty = self.dice.pick(&["bool", "int"]);
            self.line(format!("{ty} c{number} = {condition};"));
            format!("c{number}")
        } else {
            format!("({condition})")
        };
        let ty =
            *self.dice.pick(&["uint", "int", "ushort", "short", "uchar", "char", "ulong", "long", "float"]);
        let (declaration, element) = match self.dice.below(6) {
            0 => (format!("{ty} {name}[4]"), format!("{name}[i & 3]")),
            1 => (format!("struct {{ uchar other; {ty} member; }} {name}"), format!("{name}.member")),
            2 => (format!("{ty}3 {name}"), format!("{name}.y")),
            3 => (format!("local {ty} {name}[8]"), format!("{name}[get_local_id(0)]")),
            _ => (format!("{ty} {name}"), name),
        };
        let added = self.dice.below(50);
        self.line(format!("{declaration};"));
        self.line(format!("if ({guard}) {element} = ({ty})(a[i] + {added});"));
        self.variables.push(Variable { guard, value: format!("(uint){element}") });
    }

    /// The guard and the value of some variable.
    fn some(&mut self) -> (String, String) {
        let Variable { guard, value } = self.dice.pick(&self.variables);
        (guard.clone(), value.clone())
    }

    /// A condition that reads a variable only where it has a value.
    fn guarded(&mut self) -> String {
        let ((guard, value), other) = (self.some(), self.condition());
        let number = self.dice.below(60);
        let compared = match self.dice.below(3) {
            0 => format!("{value} > {number}u"),
            1 => format!("({value} & {}u) != 0", number | 1),
            _ => format!("{value} == {number}u"),
        };
        match self.dice.below(7) {
            0 => format!("({guard} && {compared})"),
            1 => format!("(!{guard} || {compared})"),
            2 => format!("!({guard} && {compared})"),
            3 => format!("({guard} ? {compared} : i == 3)"),
            4 => format!("(!{guard} ? i == 2 : {compared})"),
            5 => format!("({other} && {guard} && {compared})"),
            _ => format!("({other} || !{guard} || {compared})"),
        }
    }

    fn statement(&mut self, number: usize) {
        let ((guard, value), (second, more)) = (self.some(), self.some());
        let factor = *self.dice.pick(&[3, 5, 7, 31]);
        let (condition, another) = (self.guarded(), self.guarded());
        let line = match self.dice.below(12) {
            0 => format!("r = r * {factor} + ({guard} ? {value} / 3 : {factor});"),
            1 => format!("if ({guard}) r = r * {factor} + a[{value} & 7];"),
            2 => format!("r = r * {factor} + {condition};"),
            3 => format!("if ({condition}) r ^= {factor}; else r += i;"),
            4 => format!("r = r * {factor} + ({condition} && {another} ? 2 : 9);"),
            5 => format!("r = r * {factor} + ({condition} || {another} ? 2 : 9);"),
            6 => format!("for (uint j = 0; {guard} && j < ({value} & 3); j++) r = r * {factor} + j;"),
            7 => format!(
                "switch ({guard} ? {value} & 3 : 7) {{ case 0: r += 5; break; case 1: r *= 3; case 7: r++; }}"
            ),
            8 => format!("while ({condition} && r < 1000) r = r * 2 + {factor};"),
            9 => format!(
                "do {{ r = r * {factor} + 1; if ({condition}) break; }} while (r < 500 && {another});"
            ),
            10 => format!(
                "bool d{number} = {condition}, e{number} = {another}; r = r * {factor} + (d{number} ^ e{number});"
            ),
            _ => format!(
                "r += {guard} && {second} ? {value} + {more} : {guard} ? {value} - 1 : {second} ? {more} : 4;"
            ),
        };
        self.line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_seed_determines_its_program() {
        assert_eq!(program(1), program(1));
        assert_ne!(program(1), program(2));
    }
}
