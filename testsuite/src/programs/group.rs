//! Cooperation of work-items: exchange through local memory, commutative atomic operations, work-group functions.
//! Each is generated on one line, so that reduction removes it as a whole.

use super::{
    Generator, ProgramKind,
    scope::Space,
    types::{INT, LONG, Ty, UINT, ULONG},
};

const WAIT: &str = "barrier(CLK_LOCAL_MEM_FENCE);";

/// The number of cells that all work-items of a launch update.
pub(super) const CELLS: usize = 8;

/// The operation on each cell; all of them are commutative.
const COUNTED: [&str; CELLS] = ["add", "or", "and", "xor", "max", "min", "sub", "inc"];

impl Generator {
    /// A collective operation of all work-items of a group, once or in a loop with a uniform number of iterations.
    pub(super) fn group_operation(&mut self, group: usize) {
        let is_loop = self.dice.one_in(4);
        if is_loop {
            let counter = self.name('i');
            let rounds = 1 + self.dice.below(3);
            self.open(format!("for (uint {counter} = 0; {counter} < {rounds}; ++{counter}) {{"));
        }
        self.exchange(group);
        match self.dice.below(if self.kind == ProgramKind::Generic { 8 } else { 6 }) {
            0 | 1 => self.reduce(group),
            2 => self.conserve(group),
            3 => self.copy(group),
            6 | 7 => self.collective(),
            _ => {}
        }
        if is_loop {
            self.close("}");
        }
    }

    fn keep(&mut self, name: String, ty: Ty) {
        self.add(name, ty, None, Space::Private, true);
    }

    /// Each work-item writes its word, and then reads another's.
    fn exchange(&mut self, group: usize) {
        let value = self.expression(Self::WORD, 3);
        let name = self.name('v');
        let step = 1 + self.dice.below(group - 1);
        self.line(format!(
            "{WAIT} shared[lid] = {value}; {WAIT} uint {name} = shared[(lid + {step}) % size]; {WAIT}"
        ));
        self.keep(name, Self::WORD);
    }

    /// All work-items combine their values.
    fn reduce(&mut self, group: usize) {
        let operation = *self.dice.pick(&["add", "sub", "or", "and", "xor", "max", "min"]);
        let start = if matches!(operation, "and" | "min") { "~0u" } else { "0" };
        let cell = format!("shared[{}]", group + self.dice.below(group));
        let value = self.expression(Ty::scalar(UINT), 2);
        let name = self.name('v');
        let line = if self.kind == ProgramKind::Generic {
            let space = *self.dice.pick(&["local ", ""]);
            let order = *self.dice.pick(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]);
            let scope = *self.dice.pick(&["work_group", "device"]);
            format!(
                "{{ {space}atomic_uint *c = ({space}atomic_uint *)&{cell}; if (lid == 0) atomic_init(c, {start}); {WAIT} \
                 atomic_fetch_{operation}_explicit(c, {value}, memory_order_{order}, memory_scope_{scope}); }} {WAIT} \
                 uint {name} = {cell}; {WAIT}"
            )
        } else {
            format!(
                "if (lid == 0) {cell} = {start}; {WAIT} atomic_{operation}(&{cell}, {value}); {WAIT} uint {name} = {cell}; {WAIT}"
            )
        };
        self.line(line);
        self.keep(name, Self::WORD);
    }

    /// Exchanges in any order, which must preserve all values.
    fn conserve(&mut self, group: usize) {
        let (one, other) = (format!("shared[{group}]"), format!("shared[{}]", group + 1));
        let value = self.expression(Ty::scalar(UINT), 2);
        let name = self.name('v');
        let both = if self.dice.one_in(2) {
            format!("atomic_add(&{other}, atomic_xchg(&{one}, {value}));")
        } else {
            // A failed compare-exchange retries with the new value.
            format!(
                "for (uint o = atomic_or(&{one}, 0u), e = ~o; o != e; ) {{ e = o; o = atomic_cmpxchg(&{one}, e, e + {value}); }}"
            )
        };
        self.line(format!(
            "if (lid == 0) {{ {one} = 1; {other} = 2; }} {WAIT} {both} {WAIT} uint {name} = {one} + {other}; {WAIT}"
        ));
        self.keep(name, Self::WORD);
    }

    /// An asynchronous copy from global memory.
    fn copy(&mut self, group: usize) {
        let (name, event) = (self.name('v'), self.name('e'));
        let from = self.dice.below(64 - group);
        self.line(format!(
            "event_t {event} = async_work_group_copy(shared, in + {from}, {group}, 0); wait_group_events(1, &{event}); \
             uint {name} = shared[(lid + 1) % {group}]; {WAIT}"
        ));
        self.keep(name, Self::WORD);
    }

    /// A work-group function.
    fn collective(&mut self) {
        let name = self.name('v');
        let scalar = *self.dice.pick(&[INT, UINT, LONG, ULONG]);
        let value = self.integer(scalar, 2);
        let (ty, call) = match self.dice.below(4) {
            0 => {
                let which = *self.dice.pick(&["all", "any"]);
                (INT, format!("work_group_{which}({})", self.condition(2)))
            }
            1 => {
                let dimensions = self.dimensions;
                let object = ["0", "0, 0", "0, 0, 0"][dimensions - 1];
                (scalar, format!("work_group_broadcast({value}, {object})"))
            }
            _ => {
                // A signed sum may overflow.
                let operations =
                    if scalar.is_signed() { ["min", "max", "max"] } else { ["add", "min", "max"] };
                let operation = *self.dice.pick(&operations);
                let which = *self.dice.pick(&["reduce", "scan_inclusive", "scan_exclusive"]);
                // Scans are in the order of dimension 0 only in one-dimensional groups.
                let which = if self.dimensions > 1 { "reduce" } else { which };
                (scalar, format!("work_group_{which}_{operation}({value})"))
            }
        };
        self.line(format!("{} {name} = {call}; {WAIT}", ty.name));
        self.keep(name, Ty::scalar(ty));
    }

    /// An atomic operation on one of the launch's cells.
    pub(super) fn count_globally(&mut self) {
        if !self.is_in_kernel {
            return self.declare_value();
        }
        let cell = self.dice.below(CELLS);
        let operation = COUNTED[cell];
        let value = self.expression(Self::WORD, 2);
        if operation == "inc" {
            let operation = *self.dice.pick(&["inc", "dec"]);
            return self.line(format!("atomic_{operation}(&sums[{cell}]);"));
        }
        if self.kind == ProgramKind::Generic && self.dice.one_in(2) {
            let order = *self.dice.pick(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]);
            let scope = *self.dice.pick(&["device", "all_svm_devices"]);
            let space = *self.dice.pick(&["global ", ""]);
            return self.line(format!(
                "atomic_fetch_{operation}_explicit(({space}atomic_uint *)&sums[{cell}], {value}, memory_order_{order}, memory_scope_{scope});"
            ));
        }
        self.line(format!("atomic_{operation}(&sums[{cell}], {value});"));
    }
}
