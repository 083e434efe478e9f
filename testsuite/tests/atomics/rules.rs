//! The rules of OpenCL C for atomic functions, fences and barriers, from `data/atomics.tsv` and from the specification.
//! Must not depend on `kiln_compiler::memory`, which is compared with these rules.

use std::collections::BTreeSet;

/// The rows of the table.
const TABLE: &str = include_str!("../../data/atomics.tsv");

/// The orders, as the table spells them.
pub(crate) const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

/// The scopes; `all_devices` is 3.0's name of `all_svm_devices`.
pub(crate) const SCOPES: [&str; 6] =
    ["work_item", "sub_group", "work_group", "device", "all_svm_devices", "all_devices"];

/// An argument that chooses an order or a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This name.
    Named(&'static str),
    /// A variable of the kernel.
    Runtime,
    /// A constant that has no name.
    Wrong,
}

impl Choice {
    /// The argument's text; `prefix` is `memory_order` or `memory_scope`.
    pub(crate) fn text(self, prefix: &str, variable: &str) -> String {
        match self {
            Self::Named(name) => format!("{prefix}_{name}"),
            Self::Runtime => format!("({prefix}){variable}"),
            Self::Wrong => format!("({prefix})77"),
        }
    }

    /// All choices among these names.
    pub(crate) fn all(names: &[&'static str]) -> Vec<Self> {
        names.iter().map(|name| Self::Named(name)).chain([Self::Runtime, Self::Wrong]).collect()
    }
}

/// An atomic function of OpenCL C 2.0: a row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Without `_explicit`.
    pub(crate) name: String,
    /// Whether it returns a value.
    pub(crate) has_result: bool,
    /// Whether it takes an operand.
    pub(crate) has_operand: bool,
    /// The types of the objects, without `atomic_`.
    pub(crate) types: Vec<&'static str>,
    /// The orders that the table allows.
    pub(crate) orders: Vec<&'static str>,
    /// The failure orders, if it compares.
    pub(crate) failures: Option<Vec<&'static str>>,
}

/// The integer types of the table, and its aliases.
const INTEGERS: [&str; 8] = ["int", "uint", "long", "ulong", "intptr_t", "uintptr_t", "size_t", "ptrdiff_t"];

/// The functions of OpenCL C 2.0 that have orders and scopes.
pub(crate) fn functions() -> Vec<Function> {
    rows()
        .filter(|row| row[0].contains("_explicit") || row[0].contains("/ _explicit"))
        .map(function)
        .collect()
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    TABLE.lines().skip(1).map(|line| line.split('\t').collect())
}

fn function(row: Vec<&'static str>) -> Function {
    let orders = |cell: &'static str| -> Vec<&'static str> {
        if cell.contains("all five") {
            return ORDERS.to_vec();
        }
        cell.split([' ', ',']).filter(|word| ORDERS.contains(word)).collect()
    };
    let types = match row[4] {
        flag if flag.starts_with("atomic_flag") => vec!["flag"],
        all if all.contains("float double") => [&INTEGERS[..], &["float", "double"]].concat(),
        with if with.contains("cl_ext_float_atomics") => [&INTEGERS[..], &["float", "double"]].concat(),
        _ => INTEGERS.to_vec(),
    };
    Function {
        name: row[0].split(" / ").next().unwrap_or_default().to_owned(),
        has_result: row[1] != "void",
        has_operand: row[2].contains("desired") || row[2].contains("operand"),
        types,
        orders: orders(row[5]),
        failures: (row[6] != "-").then(|| orders(row[6])),
    }
}

/// The functions of OpenCL C 1.x with their number of operands, and whether they take floats.
pub(crate) fn legacy_functions() -> Vec<(&'static str, usize, bool)> {
    rows()
        .filter_map(|row| {
            let name = row[0].strip_suffix(" (legacy)")?.split(" / ").next()?;
            let operands = row[2].matches("T ").count() - 1;
            Some((name, operands, row[4].contains("float")))
        })
        .collect()
}

/// A call of an atomic function: its arguments, or the defaults of the forms without them.
#[derive(Clone, Debug)]
pub(crate) struct Call<'f> {
    /// The function.
    pub(crate) function: &'f Function,
    /// The order; `None` in the form that is not explicit.
    pub(crate) order: Option<Choice>,
    /// The order of a compare-exchange on failure.
    pub(crate) failure: Option<Choice>,
    /// The scope; `None` in the forms without one.
    pub(crate) scope: Option<Choice>,
}

/// The optional features of a compilation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Has {
    /// OpenCL C 3.0, where the orders and scopes are features.
    pub(crate) features: bool,
    pub(crate) acq_rel: bool,
    pub(crate) seq_cst: bool,
    pub(crate) device: bool,
    pub(crate) all_devices: bool,
    pub(crate) sub_groups: bool,
}

impl Call<'_> {
    /// The calls of a function, in every form.
    pub(crate) fn all(function: &Function) -> Vec<Call<'_>> {
        let mut calls = vec![Call { function, order: None, failure: None, scope: None }];
        let scopes: Vec<Option<Choice>> = Choice::all(&SCOPES).into_iter().map(Some).chain([None]).collect();
        for order in Choice::all(&ORDERS) {
            let failures = match &function.failures {
                Some(_) => Choice::all(&ORDERS).into_iter().map(Some).collect(),
                None => vec![None],
            };
            for failure in failures {
                for &scope in &scopes {
                    calls.push(Call { function, order: Some(order), failure, scope });
                }
            }
        }
        calls
    }

    /// The statement, with the object at `p`.
    pub(crate) fn text(&self, value: &str) -> String {
        let mut arguments = vec!["p".to_owned()];
        if self.function.failures.is_some() {
            arguments.push("&e".to_owned());
        }
        if self.function.has_operand {
            arguments.push("v".to_owned());
        }
        arguments.extend(self.order.map(|order| order.text("memory_order", "o")));
        arguments.extend(self.failure.map(|failure| failure.text("memory_order", "f")));
        arguments.extend(self.scope.map(|scope| scope.text("memory_scope", "s")));
        let suffix = if self.order.is_some() { "_explicit" } else { "" };
        let result = if self.function.has_result { format!("*r += ({value})") } else { String::new() };
        format!("{result}{}{suffix}({});", self.function.name, arguments.join(", "))
    }

    /// Whether it may be seq_cst.
    pub(crate) fn may_be_seq_cst(&self) -> bool {
        let may = |order| matches!(order, Choice::Named("seq_cst") | Choice::Runtime);
        self.order.is_none_or(may) || self.failure.is_some_and(may)
    }

    /// The codes of the diagnostics that may reject it; empty if it is legal (OpenCL C 6.15.12.3, 6.15.12.4, 6.15.12.7,
    /// 6.15.12.10).
    pub(crate) fn rejections(&self, has: &Has) -> BTreeSet<&'static str> {
        let mut codes = BTreeSet::new();
        let order = self.order.unwrap_or(Choice::Named("seq_cst"));
        let scope = self.scope.unwrap_or(Choice::Named("device"));
        match order {
            Choice::Wrong => {
                codes.insert("order-value");
            }
            Choice::Named(name) if !self.function.orders.contains(&name) => {
                let is_store = !self.function.orders.contains(&"acquire");
                codes.insert(if is_store { "atomic-order-store" } else { "atomic-order-load" });
            }
            Choice::Named(name) => codes.extend(has.rejects_order(name)),
            Choice::Runtime => {}
        }
        if let (Some(failures), Some(failure)) = (&self.function.failures, self.failure) {
            match failure {
                Choice::Wrong => {
                    codes.insert("order-value");
                }
                Choice::Named(name) => {
                    if !failures.contains(&name) || is_stronger(name, order) {
                        codes.insert("atomic-order-failure");
                    }
                    codes.extend(has.rejects_order(name));
                }
                Choice::Runtime => {}
            }
        }
        match scope {
            Choice::Wrong => {
                codes.insert("scope-value");
            }
            Choice::Named("work_item") => {
                codes.insert("scope-work-item");
            }
            Choice::Named(name) => codes.extend(has.rejects_scope(name)),
            Choice::Runtime => {}
        }
        codes
    }
}

/// Whether a failure order is stronger than the order on success (OpenCL C 6.15.12.7.4); `false` if either is known
/// only at run time.
fn is_stronger(failure: &str, success: Choice) -> bool {
    match (failure, success) {
        (_, Choice::Runtime | Choice::Wrong) | ("relaxed", _) => false,
        ("acquire", Choice::Named(success)) => success == "relaxed",
        ("seq_cst", Choice::Named(success)) => success != "seq_cst",
        _ => true,
    }
}

impl Has {
    /// OpenCL C 6.15.12.10: in 3.0 orders and scopes need their features; in 2.0 only sub-groups do.
    pub(crate) fn rejects_order(&self, name: &str) -> impl Iterator<Item = &'static str> {
        let is_there = match name {
            "relaxed" => true,
            "seq_cst" => self.seq_cst,
            _ => self.acq_rel,
        };
        // Without the feature, the name of the order is undeclared too.
        ["order-unsupported", "missing-extension"].into_iter().filter(move |_| self.features && !is_there)
    }

    /// The codes that may reject a scope. `memory_scope_all_devices` is not a name before 3.0.
    pub(crate) fn rejects_scope(&self, name: &str) -> impl Iterator<Item = &'static str> {
        let is_there = match name {
            "sub_group" => self.sub_groups,
            "device" => !self.features || self.device,
            "all_svm_devices" => !self.features || self.all_devices,
            "all_devices" => self.features && self.all_devices,
            _ => true,
        };
        ["scope-unsupported", "missing-extension"].into_iter().filter(move |_| !is_there)
    }
}

/// A call of a fence or a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    /// The function's name.
    pub(crate) name: &'static str,
    /// The flags: bits of LOCAL, GLOBAL and IMAGE, unknown, or with an invalid bit.
    pub(crate) flags: Flags,
    pub(crate) order: Option<Choice>,
    pub(crate) scope: Option<Choice>,
}

/// Fence flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    Bits(u32),
    Runtime,
    Wrong,
}

impl Flags {
    const NAMES: [&str; 3] = ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_IMAGE_MEM_FENCE"];

    fn all() -> Vec<Self> {
        (0..8).map(Self::Bits).chain([Self::Runtime, Self::Wrong]).collect()
    }

    fn text(self) -> String {
        match self {
            Self::Bits(0) => "0".to_owned(),
            Self::Bits(bits) => {
                let names = (0..3).filter(|bit| bits >> bit & 1 != 0).map(|bit| Self::NAMES[bit]);
                names.collect::<Vec<_>>().join(" | ")
            }
            Self::Runtime => "(cl_mem_fence_flags)w".to_owned(),
            Self::Wrong => "0x40".to_owned(),
        }
    }

    fn has_image(self) -> bool {
        matches!(self, Self::Bits(bits) if bits & 4 != 0)
    }
}

impl Fence {
    /// Every call of every fence and barrier.
    pub(crate) fn all() -> Vec<Self> {
        let mut calls = Vec::new();
        for flags in Flags::all() {
            for name in ["mem_fence", "read_mem_fence", "write_mem_fence", "barrier"] {
                calls.push(Self { name, flags, order: None, scope: None });
            }
            for name in ["work_group_barrier", "sub_group_barrier"] {
                calls.push(Self { name, flags, order: None, scope: None });
                for scope in Choice::all(&SCOPES) {
                    calls.push(Self { name, flags, order: None, scope: Some(scope) });
                }
            }
            for order in Choice::all(&ORDERS) {
                for scope in Choice::all(&SCOPES) {
                    let name = "atomic_work_item_fence";
                    calls.push(Self { name, flags, order: Some(order), scope: Some(scope) });
                }
            }
        }
        calls
    }

    /// The statement.
    pub(crate) fn text(&self) -> String {
        let mut arguments = vec![self.flags.text()];
        arguments.extend(self.order.map(|order| order.text("memory_order", "o")));
        arguments.extend(self.scope.map(|scope| scope.text("memory_scope", "s")));
        format!("{}({});", self.name, arguments.join(", "))
    }

    /// Whether it may be seq_cst.
    pub(crate) fn may_be_seq_cst(&self) -> bool {
        matches!(self.order, Some(Choice::Named("seq_cst") | Choice::Runtime))
    }

    /// The codes of the diagnostics that may reject it (OpenCL C 6.15.8, 6.15.12.4, 6.15.12.5, 6.15.15).
    pub(crate) fn rejections(&self, has: &Has) -> BTreeSet<&'static str> {
        let mut codes = BTreeSet::new();
        if self.flags == Flags::Wrong {
            codes.insert("fence-flags-value");
        }
        let is_barrier = self.name.ends_with("barrier");
        if let Some(order) = self.order {
            match order {
                Choice::Wrong => {
                    codes.insert("order-value");
                }
                Choice::Named(name) => {
                    if self.flags.has_image() && name != "acq_rel" {
                        codes.insert("fence-image");
                    }
                    // Fences need no feature for acquire, release and acq_rel.
                    if name == "seq_cst" {
                        codes.extend(has.rejects_order(name));
                    }
                }
                Choice::Runtime => {}
            }
        }
        match self.scope {
            Some(Choice::Wrong) => {
                codes.insert("scope-value");
            }
            Some(Choice::Named("work_item")) if is_barrier => {
                codes.insert("scope-work-item");
            }
            Some(Choice::Named("work_item")) => {
                if matches!(self.flags, Flags::Bits(bits) if bits != 4) {
                    codes.insert("scope-work-item");
                }
            }
            Some(Choice::Named(name)) => {
                if self.flags.has_image() && self.name == "work_group_barrier" && name != "work_group" {
                    codes.insert("barrier-image-scope");
                }
                if self.flags.has_image() && !is_barrier {
                    codes.insert("fence-image");
                }
                codes.extend(has.rejects_scope(name));
            }
            Some(Choice::Runtime) | None => {}
        }
        if self.name == "sub_group_barrier" && !has.sub_groups {
            codes.insert("missing-extension");
        }
        codes
    }
}
