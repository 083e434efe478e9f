//! An operation on one object: a function of OpenCL C 1.x or 2.0 in one of its forms, or a compare-exchange loop, with any
//! legal order and scope.

use super::{
    Generator, Space,
    types::{Cell, Class, Role},
};

/// An object to operate on.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The lvalue.
    pub(super) text: String,
    pub(super) space: Space,
    pub(super) cell: Cell,
    /// Whether only one work-item accesses it between two barriers.
    pub(super) is_own: bool,
}

/// The effect of a function on its object, which decides about its orders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Load,
    Store,
    Update,
}

impl Access {
    /// The pointer for functions of OpenCL C 2.0.
    fn pointer(&self) -> String {
        let Self { text, space, cell, .. } = self;
        if cell.is_atomic {
            return format!("&{text}");
        }
        format!("({}{} *)&{text}", space.name(), cell.scalar.atomic)
    }

    /// The pointer for functions of OpenCL C 1.x.
    fn old_pointer(&self) -> String {
        let Self { text, space, cell, .. } = self;
        if !cell.is_atomic {
            return format!("&{text}");
        }
        format!("(volatile {}{} *)&{text}", space.name(), cell.scalar.value)
    }
}

impl Generator {
    /// A statement that operates on the object.
    pub(super) fn operation(&mut self, access: &Access) -> String {
        let cell = access.cell;
        if cell.role == Role::Plain {
            let (text, ty, value) = (&access.text, cell.scalar.value, self.value(&cell));
            return match *self.dice.pick(&["=", "+="]) {
                // Signed sums must not overflow.
                "+=" if cell.scalar.class == Class::Signed => {
                    format!("{text} = ({ty})(({0}){text} + ({0}){value});", cell.unsigned())
                }
                operator => format!("{text} {operator} {value};"),
            };
        }
        let is_old = self.std == "CL1.2";
        let has_old = access.space != Space::Generic
            && cell.role != Role::Flag
            && matches!(cell.scalar.value, "int" | "uint" | "long" | "ulong");
        let uses_old = if is_old {
            true
        } else if cell.is_float() {
            let has_exchange = cell.role == Role::Chain && cell.scalar.value == "float";
            has_exchange && access.space != Space::Generic && self.dice.one_in(4)
        } else {
            let is_likely = has_old && (!cell.is_atomic || self.dice.one_in(4));
            is_likely && cell.role != Role::Same && self.dice.one_in(2)
        };
        if uses_old { self.old(access) } else { self.modern(access) }
    }

    /// A statement with functions of OpenCL C 1.x.
    fn old(&mut self, access: &Access) -> String {
        let (cell, pointer, acc) = (access.cell, access.old_pointer(), self.acc);
        let value = self.value(&cell);
        let ty = cell.scalar.value;
        let prefix = if cell.scalar.bytes == 8 { "atom" } else { "atomic" };
        let call = |name: &str, value: &str| format!("{prefix}_{name}({pointer}, {value})");
        match cell.role {
            Role::Add if self.dice.one_in(4) => {
                format!("{prefix}_{}({pointer});", self.dice.pick(&["inc", "dec"]))
            }
            Role::Add if self.dice.one_in(4) => format!(
                "{{ {ty} e = {0}, o; do {{ o = e; e = {prefix}_cmpxchg({pointer}, o, ({ty})(({1})o + ({1})({value}))); }} while (e != o); }}",
                call("or", "0"),
                cell.unsigned()
            ),
            Role::Add => format!("{};", call(self.dice.pick::<&str>(&["add", "sub"]), &value)),
            Role::Xor => format!("{};", call("xor", &value)),
            Role::Or => format!("{};", call("or", &value)),
            Role::And => format!("{};", call("and", &value)),
            Role::Min => format!("{};", call("min", &value)),
            Role::Max => format!("{};", call("max", &value)),
            Role::Ticket if self.dice.one_in(2) => format!("{acc} += (uint){prefix}_inc({pointer});"),
            Role::Ticket => format!("{acc} += (uint){};", call("add", "1")),
            Role::Chain if cell.is_float() => format!("{acc} += (uint)(int)({} * 4);", call("xchg", &value)),
            Role::Chain => format!("{acc} += (uint){};", call("xchg", &value)),
            Role::Winner => format!("{acc} += {prefix}_cmpxchg({pointer}, 0, ({value}) | 1) == 0;"),
            Role::Same | Role::Flag | Role::Plain => unreachable!("OpenCL C 1.x has no such function"),
        }
    }

    /// A statement with functions of OpenCL C 2.0.
    fn modern(&mut self, access: &Access) -> String {
        let (cell, acc) = (access.cell, self.acc);
        let (ty, value) = (cell.scalar.value, self.value(&cell));
        // Loads of one object by one work-item never go backward (C11 5.1.2.4, read-read coherence).
        if matches!(cell.role, Role::Max | Role::Ticket) && !cell.has_float_bits && self.dice.one_in(8) {
            let (one, two) =
                (self.call("load", access, &[], Effect::Load), self.call("load", access, &[], Effect::Load));
            return format!("{{ {ty} one = {one}, two = {two}; {acc} += two < one; }}");
        }
        let is_loop = !matches!(cell.role, Role::Same | Role::Winner | Role::Flag)
            && ty != "narrow"
            && self.dice.one_in(5);
        if is_loop {
            return self.compare_exchange_loop(access, &value);
        }
        let mut update = |name: &str, value: &str| self.call(name, access, &[value], Effect::Update);
        match cell.role {
            Role::Add | Role::Min | Role::Max if cell.is_float() => {
                let name = match cell.role {
                    Role::Add => "add",
                    Role::Min => "min",
                    _ => "max",
                };
                let (order, scope) = (self.order(Effect::Update), self.scope(access));
                format!("{name}_{ty}({}, {value}, {order}, {scope})", access.pointer())
            }
            Role::Add => {
                let name = *self.dice.pick(&["fetch_add", "fetch_sub"]);
                format!("{};", self.call(name, access, &[&value], Effect::Update))
            }
            Role::Xor => format!("{};", update("fetch_xor", &value)),
            Role::Or => format!("{};", update("fetch_or", &value)),
            Role::And => format!("{};", update("fetch_and", &value)),
            Role::Min => format!("{};", update("fetch_min", &value)),
            Role::Max => format!("{};", update("fetch_max", &value)),
            Role::Ticket => format!("{acc} += (uint){};", update("fetch_add", "1")),
            Role::Chain if cell.is_float() => {
                format!("{acc} += (uint)(int)({} * 4);", update("exchange", &value))
            }
            Role::Chain => format!("{acc} += (uint){};", update("exchange", &value)),
            Role::Same if self.dice.one_in(3) => {
                let load = self.call("load", access, &[], Effect::Load);
                format!("{{ {ty} one = {load}; {acc} += one != 0 && one != {}; }}", cell.constant)
            }
            Role::Same => {
                let constant = format!("({ty}){}", cell.constant);
                format!("{};", self.call("store", access, &[&constant], Effect::Store))
            }
            Role::Winner => {
                let won = self.compare_exchange("strong", access, &format!("({value}) | 1"));
                format!("{{ {ty} e = 0; {acc} += {won}; }}")
            }
            Role::Flag => {
                let set = self.call("flag_test_and_set", access, &[], Effect::Update);
                format!("{acc} += !{set};")
            }
            Role::Plain => unreachable!("a plain object has no atomic operations"),
        }
    }

    fn compare_exchange_loop(&mut self, access: &Access, value: &str) -> String {
        let (cell, acc) = (access.cell, self.acc);
        let ty = cell.scalar.value;
        let next = match cell.role {
            // Signed sums must not overflow.
            Role::Add if !cell.is_float() => format!("({ty})(({0})e + ({0})({value}))", cell.unsigned()),
            Role::Add => format!("e + {value}"),
            Role::Xor => format!("e ^ {value}"),
            Role::Or => format!("e | {value}"),
            Role::And => format!("e & {value}"),
            Role::Min => format!("min(e, {value})"),
            Role::Max => format!("max(e, {value})"),
            Role::Ticket => "e + 1".to_owned(),
            _ => value.to_owned(),
        };
        let end = match cell.role {
            Role::Ticket => format!("{acc} += (uint)e; "),
            Role::Chain if cell.is_float() => format!("{acc} += (uint)(int)(e * 4); "),
            Role::Chain => format!("{acc} += (uint)e; "),
            _ => String::new(),
        };
        let load = self.call("load", access, &[], Effect::Load);
        let strength = *self.dice.pick(&["strong", "weak"]);
        let exchange = self.compare_exchange(strength, access, &next);
        format!("{{ {ty} e = {load}; while (!{exchange}) {{}} {end}}}")
    }

    /// A compare-exchange with the variable `e`.
    fn compare_exchange(&mut self, strength: &str, access: &Access, value: &str) -> String {
        let name = format!("atomic_compare_exchange_{strength}");
        let pointer = access.pointer();
        if self.has_seq_cst && self.dice.one_in(3) {
            return format!("{name}({pointer}, &e, {value})");
        }
        let order = self.order(Effect::Update);
        let failures: &[&str] = match order.as_str() {
            "memory_order_acquire" | "memory_order_acq_rel" => &["relaxed", "acquire"],
            "memory_order_seq_cst" => &["relaxed", "acquire", "seq_cst"],
            _ => &["relaxed"],
        };
        let failure = *self.dice.pick(failures);
        let scope = self.optional_scope(access);
        format!("{name}_explicit({pointer}, &e, {value}, {order}, memory_order_{failure}{scope})")
    }

    /// A call in one of the three forms: with default order and scope, with an order, with both.
    fn call(&mut self, name: &str, access: &Access, values: &[&str], effect: Effect) -> String {
        let mut arguments = vec![access.pointer()];
        arguments.extend(values.iter().map(|&value| value.to_owned()));
        let arguments = arguments.join(", ");
        if self.has_seq_cst && self.dice.one_in(3) {
            return format!("atomic_{name}({arguments})");
        }
        let order = self.order(effect);
        let scope = self.optional_scope(access);
        format!("atomic_{name}_explicit({arguments}, {order}{scope})")
    }

    /// An increment, as a value.
    pub(super) fn next_ticket(&mut self, access: &Access) -> String {
        self.call("fetch_add", access, &["1"], Effect::Update)
    }

    /// A load of the value; a plain object is read.
    pub(super) fn load(&mut self, access: &Access) -> String {
        if access.cell.is_atomic { self.call("load", access, &[], Effect::Load) } else { access.text.clone() }
    }

    fn order(&mut self, effect: Effect) -> String {
        let mut orders = match effect {
            _ if !self.has_orders => vec!["relaxed"],
            Effect::Load => vec!["relaxed", "acquire"],
            Effect::Store => vec!["relaxed", "release"],
            Effect::Update => vec!["relaxed", "acquire", "release", "acq_rel"],
        };
        if self.has_seq_cst {
            orders.push("seq_cst");
        }
        format!("memory_order_{}", self.dice.pick(&orders))
    }

    /// A scope that includes all work-items that access the object.
    fn scope(&mut self, access: &Access) -> String {
        let mut scopes = vec!["device", "all_svm_devices"];
        if self.std == "CL3.0" {
            scopes.push("all_devices");
        }
        if access.space == Space::Local || access.is_own || self.is_one_group && access.space == Space::Global
        {
            scopes.extend(["work_group", "work_group"]);
        }
        if access.is_own && self.has_sub_groups {
            scopes.push("sub_group");
        }
        format!("memory_scope_{}", self.dice.pick(&scopes))
    }

    fn optional_scope(&mut self, access: &Access) -> String {
        // The default is `memory_scope_device`.
        if self.dice.one_in(4) { String::new() } else { format!(", {}", self.scope(access)) }
    }

    /// A fence, which changes no result.
    pub(super) fn fence(&mut self) -> String {
        let flags = *self.dice.pick(&[
            "CLK_LOCAL_MEM_FENCE",
            "CLK_GLOBAL_MEM_FENCE",
            "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE",
        ]);
        if !self.has_orders || self.dice.one_in(4) {
            let name = *self.dice.pick(&["mem_fence", "read_mem_fence", "write_mem_fence"]);
            return format!("{name}({flags});");
        }
        let order = self.order(Effect::Update);
        let scope = *self.dice.pick(&["work_group", "device", "all_svm_devices"]);
        format!("atomic_work_item_fence({flags}, {order}, memory_scope_{scope});")
    }

    /// An operand for operations on this object.
    fn value(&mut self, cell: &Cell) -> String {
        let number = self.unsigned_number();
        let ty = cell.scalar.value;
        if cell.has_float_bits {
            return format!("({ty})as_int((float)((({number}) & 7u) + 1u))");
        }
        match cell.scalar.class {
            // Small multiples of a quarter, whose sums are exact; positive where the bits are ordered.
            Class::Float if cell.role == Role::Max => format!("(({ty})((({number}) & 7u) + 1u))"),
            Class::Float if ty == "narrow" => format!("(({ty})(({number}) & 3u))"),
            Class::Float => format!("(({ty})((int)(({number}) & 15u) - 7) * ({ty})0.25f)"),
            _ if cell.scalar.bytes == 8 && self.dice.one_in(2) => {
                format!("({ty})((ulong)({number}) * 0x{:x}UL)", self.dice.bits() >> 30 | 1 << 32)
            }
            _ => format!("({ty})({number})"),
        }
    }

    /// An unsigned number that depends only on the work-item.
    pub(super) fn unsigned_number(&mut self) -> String {
        let (id, constant) = (self.id, self.dice.below(64));
        let input = if self.is_in_kernel { "in" } else { "" };
        match self.dice.below(6) {
            0 => format!("{id} + {constant}u"),
            1 => format!("{id} * {}u", 2 * constant + 1),
            2 => format!("{constant}u"),
            3 if !input.is_empty() => format!("{input}[({id} + {constant}u) & 63u]"),
            4 if !input.is_empty() => format!("{input}[{constant}] ^ {id}"),
            _ => format!("1u << ({id} & 31u)"),
        }
    }
}
