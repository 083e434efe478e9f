//! The kernel of a generated program: between barriers, each work-item has its own statements.

use std::fmt::Write as _;

use kiln_memory_model::{Argument, Launch};

use super::{super::explore::PARAMETERS, Program, Statements};
use crate::random::Random;

/// The names of the objects.
pub(super) const NAMES: [&str; 3] = ["x", "y", "z"];

const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const OF_LOADS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const OF_STORES: [&str; 3] = ["relaxed", "release", "seq_cst"];
const SCOPES: [&str; 4] = ["sub_group", "work_group", "device", "all_svm_devices"];
const FLAGS: [&str; 3] =
    ["CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE"];

/// The scope of a barrier as its last argument.
const BARRIER_SCOPES: [&str; 4] = ["", "", "", ", memory_scope_device"];

/// A shared object.
#[derive(Clone, Copy)]
struct Object {
    name: &'static str,
    is_local: bool,
    is_atomic: bool,
}

/// Generates statements.
struct Generator {
    chance: Random,
    objects: Vec<Object>,
    /// The scope of most operations, which includes all work-items.
    scope: &'static str,
    /// The percentage of operations with another scope.
    narrow: usize,
    /// Whether some orders are parameters of the kernel.
    is_dynamic: bool,
    /// Whether seq_cst operations are on one kind of memory, and all others order only the other kind: `Some(true)` if
    /// the seq_cst operations are on local objects.
    apart: Option<bool>,
    /// The next value to write. All written values are distinct.
    value: u32,
    registers: u32,
    /// Where the statements are.
    statements: Statements,
    /// The parameters of the kernel except the first: their declarations, and their names.
    parameters: [String; 2],
    /// The functions that contain statements.
    functions: String,
}

/// Generates the program with this number.
pub fn program(number: u64, statements: Statements) -> Program {
    let mut chance = Random::new(number);
    let count = 2 + chance.below(5).min(2) as u32;
    let sizes: Vec<u32> = (1..=count).filter(|size| count.is_multiple_of(*size)).collect();
    let size = *chance.pick(&sizes);
    let mut objects = objects(&mut chance, size == count, size > 1);
    let apart = (size > 1 && chance.below(4) == 0).then(|| chance.below(2) == 0);
    if let Some(seq_cst_on_local) = apart {
        keep_apart(&mut objects, seq_cst_on_local);
    }
    let scope = if size == count { *chance.pick(&["work_group", "device"]) } else { "device" };
    let narrow = *chance.pick(&[0, 0, 10, 30]);
    let is_dynamic = chance.below(5) == 0;
    let operations = 2 + (0..3).map(|_| chance.below(11)).min().unwrap_or(0).max(chance.below(6));
    let phases = if size > 1 && chance.below(3) == 0 { 2 + chance.below(2) } else { 1 };
    let sub_group = if chance.below(4) == 0 { size } else { 1 };
    let parameters = parameters(&objects);
    let mut generator = Generator {
        chance,
        objects,
        scope,
        narrow,
        is_dynamic,
        apart,
        value: 0,
        registers: 0,
        statements,
        parameters,
        functions: String::new(),
    };
    let body = generator.body(count, operations, phases);
    let Generator { objects, registers, parameters: [parameters, _], functions, .. } = generator;
    let source = format!("{functions}kernel void test(global int *result, {parameters}) {{\n{body}}}\n");
    let mut arguments = vec![Argument::Buffer(vec![0; 4 * registers.max(1) as usize])];
    arguments.extend(objects.iter().map(|it| match it.is_local {
        true => Argument::Local(4),
        false => Argument::Buffer(vec![0; 4]),
    }));
    arguments.extend(PARAMETERS.map(|value| Argument::Value(value.to_le_bytes().to_vec())));
    let launch = Launch {
        kernel: "test".to_owned(),
        global: [count, 1, 1],
        local: [size, 1, 1],
        sub_group,
        arguments,
        max_iterations: 2,
        only_consistent: true,
        ..Launch::default()
    };
    Program { source, launch, operations, has_barrier: phases > 1, statements }
}

/// The parameters of the kernel except the first: their declarations, and their names.
fn parameters(objects: &[Object]) -> [String; 2] {
    let (mut typed, mut names) = (String::new(), String::new());
    for Object { name, is_local, is_atomic } in objects {
        let space = if *is_local { "local" } else { "global" };
        let ty = if *is_atomic { "atomic_int" } else { "int" };
        let _ = write!(typed, "{space} {ty} *{name}, ");
        let _ = write!(names, "{name}, ");
    }
    [typed + "int seq_cst, int acq_rel, int scope, int flags", names + "seq_cst, acq_rel, scope, flags"]
}

/// One to three objects, at least one of them atomic. Most local ones are in programs of one group; others have a copy in
/// each group.
fn objects(chance: &mut Random, is_one_group: bool, has_groups: bool) -> Vec<Object> {
    let count = 1 + chance.below(5).min(2);
    let space = chance.below(3);
    let can_be_local = is_one_group || (has_groups && chance.below(3) == 0);
    let mut object = |index: usize| Object {
        name: NAMES[index],
        is_local: can_be_local && (space == 1 || (space == 2 && chance.below(2) == 0)),
        is_atomic: index == 0 || chance.below(3) > 0,
    };
    (0..count).map(&mut object).collect()
}

/// Gives the objects an atomic one for seq_cst operations, and one in the other kind of memory.
fn keep_apart(objects: &mut Vec<Object>, seq_cst_on_local: bool) {
    objects[0].is_local = seq_cst_on_local;
    match objects.get_mut(1) {
        Some(second) => second.is_local = !seq_cst_on_local,
        None => {
            objects.push(Object { name: NAMES[1], is_local: !seq_cst_on_local, is_atomic: true });
        }
    }
}

/// Whether a text contains a word.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|it| it == word)
}

impl Generator {
    /// The statements of all work-items: a `switch` for each phase, with a barrier between them.
    fn body(&mut self, count: u32, operations: usize, phases: usize) -> String {
        let mut steps: Vec<Vec<Vec<String>>> = vec![vec![Vec::new(); count as usize]; phases];
        let mut known: Vec<Option<u32>> = vec![None; count as usize];
        for number in 0..operations {
            // Each work-item has an operation, if there are enough.
            let item = if number < count as usize { number } else { self.chance.below(count as usize) };
            let phase = self.chance.below(phases);
            steps[phase][item].push(String::new());
        }
        for phase in &mut steps {
            for (item, statements) in phase.iter_mut().enumerate() {
                for statement in statements {
                    let text = self.statement(&mut known[item]);
                    *statement = self.in_function(text);
                }
            }
        }
        let mut body = String::new();
        for register in 0..self.registers {
            let _ = writeln!(body, "    int r{register} = 0;");
        }
        for (number, phase) in steps.iter().enumerate() {
            if number > 0 {
                let (flags, scope) = (self.flags(), *self.chance.pick(&BARRIER_SCOPES));
                let barrier = self.in_function(format!("work_group_barrier({flags}{scope});"));
                let _ = writeln!(body, "    {barrier}");
            }
            body.push_str("    switch (get_global_id(0)) {\n");
            for (item, statements) in phase.iter().enumerate() {
                let _ = writeln!(
                    body,
                    "    case {item}:\n        {}\n        break;",
                    statements.join("\n        ")
                );
            }
            body.push_str("    }\n");
        }
        body + &self.results(&steps)
    }

    /// Each work-item stores its registers.
    fn results(&self, steps: &[Vec<Vec<String>>]) -> String {
        let mut text = "    switch (get_global_id(0)) {\n".to_owned();
        for item in 0..steps[0].len() {
            let _ = writeln!(text, "    case {item}:");
            for register in 0..self.registers {
                let sets = |text: &String| text.contains(&format!("r{register} ="));
                if steps.iter().flat_map(|phase| &phase[item]).any(sets) {
                    let _ = writeln!(text, "        result[{register}] = r{register};");
                }
            }
            text.push_str("        break;\n");
        }
        text + "    }\n"
    }

    /// A statement, or the call of a function that contains it. The function returns the register that the statement sets.
    fn in_function(&mut self, statement: String) -> String {
        if self.statements == Statements::InKernel {
            return statement;
        }
        let registers = (0..self.registers).map(|number| format!("r{number}"));
        let used: Vec<String> = registers.filter(|it| has_word(&statement, it)).collect();
        let set = used.iter().find(|it| statement.contains(&format!("{it} =")));
        let name = format!("step{}", self.functions.lines().count());
        let [mut parameters, mut arguments] = self.parameters.clone();
        for register in &used {
            let _ = write!(parameters, ", int {register}");
            let _ = write!(arguments, ", {register}");
        }
        let (ty, end) = set.map_or(("void", String::new()), |it| ("int", format!(" return {it};")));
        let _ = writeln!(self.functions, "{ty} {name}({parameters}) {{ {statement}{end} }}");
        let call = format!("{name}({arguments});");
        set.map_or(call.clone(), |register| format!("{register} = {call}"))
    }

    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    fn next_value(&mut self) -> u32 {
        self.value += 1;
        self.value
    }

    fn flags(&mut self) -> &'static str {
        match self.apart {
            Some(seq_cst_on_local) if self.chance.below(6) > 0 => FLAGS[usize::from(!seq_cst_on_local)],
            _ => FLAGS[self.chance.below(FLAGS.len())],
        }
    }

    /// The order of an operation on an object, or of a fence.
    fn order(&mut self, of: &[&str], object: Option<&str>) -> String {
        let seq_cst = of.iter().find(|order| **order == "seq_cst");
        let is_apart = |generator: &Self| {
            let is_local = object.map(|name| generator.is_local(name));
            generator.apart.map(|on_local| is_local == Some(on_local))
        };
        let order = match (is_apart(self), seq_cst) {
            (Some(true), Some(seq_cst)) if self.chance.below(4) > 0 => *seq_cst,
            (Some(false), Some(_)) if of.len() > 1 => {
                let others: Vec<&str> = of.iter().copied().filter(|order| *order != "seq_cst").collect();
                *self.chance.pick(&others)
            }
            _ => *self.chance.pick(of),
        };
        match order {
            "seq_cst" | "acq_rel" if self.is_dynamic && self.chance.below(2) == 0 => {
                format!("(memory_order){order}")
            }
            _ => format!("memory_order_{order}"),
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.objects.iter().any(|object| object.name == name && object.is_local)
    }

    fn scope(&mut self) -> String {
        if self.is_dynamic && self.scope == "device" && self.chance.below(4) == 0 {
            return "(memory_scope)scope".to_owned();
        }
        let is_other = self.chance.below(100) < self.narrow;
        format!("memory_scope_{}", if is_other { *self.chance.pick(&SCOPES) } else { self.scope })
    }

    /// The next statement of a work-item. `known` is the register that it read last.
    fn statement(&mut self, known: &mut Option<u32>) -> String {
        if self.chance.below(6) == 0 {
            let (flags, order, scope) = (self.flags(), self.order(&ORDERS[1..], None), self.scope());
            return format!("atomic_work_item_fence({flags}, {order}, {scope});");
        }
        let objects = self.objects.clone();
        let object = *self.chance.pick(&objects);
        match object.is_atomic {
            true => self.atomic(object.name, known),
            false => self.plain(object.name, *known),
        }
    }

    /// A plain access. Most reads depend on an earlier read, as in message passing.
    fn plain(&mut self, object: &str, known: Option<u32>) -> String {
        if self.chance.below(2) == 0 {
            return format!("*{object} = {};", self.next_value());
        }
        let register = self.register();
        match known {
            Some(before) if self.chance.below(4) > 0 => {
                format!("if (r{before}) r{register} = *{object};")
            }
            _ => format!("r{register} = *{object};"),
        }
    }

    fn atomic(&mut self, object: &str, known: &mut Option<u32>) -> String {
        let choice = self.chance.below(12);
        let scope = self.scope();
        if choice < 4 {
            let (value, order) = (self.next_value(), self.order(&OF_STORES, Some(object)));
            return format!("atomic_store_explicit({object}, {value}, {order}, {scope});");
        }
        let register = self.register();
        *known = Some(register);
        if choice < 8 {
            let order = self.order(&OF_LOADS, Some(object));
            return format!("r{register} = atomic_load_explicit({object}, {order}, {scope});");
        }
        let value = self.next_value();
        match choice {
            8 => {
                let order = self.order(&ORDERS, Some(object));
                format!("r{register} = atomic_exchange_explicit({object}, {value}, {order}, {scope});")
            }
            9 => {
                let order = self.order(&ORDERS, Some(object));
                format!("r{register} = atomic_fetch_add_explicit({object}, 16, {order}, {scope});")
            }
            _ => {
                let pairs = [
                    ("relaxed", "relaxed"),
                    ("acquire", "acquire"),
                    ("release", "relaxed"),
                    ("release", "acquire"),
                    ("acq_rel", "relaxed"),
                    ("acq_rel", "acquire"),
                    ("seq_cst", "relaxed"),
                    ("seq_cst", "acquire"),
                    ("seq_cst", "seq_cst"),
                ];
                let (success, failure) = match self.apart {
                    Some(on_local) if self.is_local(object) == on_local => *self.chance.pick(&pairs[6..]),
                    Some(_) => *self.chance.pick(&pairs[..6]),
                    None => *self.chance.pick(&pairs),
                };
                let kind = *self.chance.pick(&["strong", "strong", "weak"]);
                let (success, failure) = (self.order(&[success], None), self.order(&[failure], None));
                format!(
                    "r{register} = {}; atomic_compare_exchange_{kind}_explicit({object}, &r{register}, {value}, \
                     {success}, {failure}, {scope});",
                    self.chance.below(2)
                )
            }
        }
    }
}
