//! The litmus tests of `kiln devices --litmus`: the classic shapes, each with several orders of its accesses and several
//! placements of its work-items and objects. The memory models determine the forbidden outcomes.

use std::fmt::Write as _;

/// The shapes: the accesses of each work-item. `Wx1` writes 1 to `x`, `Rx` reads it, `Ax1` adds 1, `Xx1` exchanges; `Dd1` writes
/// 1 to `d`, which is not atomic, and `Gd2` reads it if the read before it returned 2.
const SHAPES: &[(&str, &[&str])] = &[
    ("CoRR", &["Wx1", "Rx Rx"]),
    ("CoRW", &["Rx Wx1", "Wx2"]),
    ("CoWR", &["Wx1 Rx", "Wx2"]),
    ("CoWW", &["Wx1 Wx2", "Rx Rx"]),
    ("MP", &["Wx1 Wy1", "Ry Rx"]),
    ("MP with data", &["Dd1 Wy1", "Ry Gd1"]),
    ("MP with exchanges", &["Dd1 Xy1", "Xy2 Gd1"]),
    ("MP through an addition", &["Dd1 Wy1", "Ay1", "Ry Gd2"]),
    ("SB", &["Wx1 Ry", "Wy1 Rx"]),
    ("SB with exchanges", &["Xx1 Ry", "Xy1 Rx"]),
    ("LB", &["Rx Wy1", "Ry Wx1"]),
    ("S", &["Wx2 Wy1", "Ry Wx1"]),
    ("R", &["Wx1 Wy1", "Wy2 Rx"]),
    ("2+2W", &["Wx1 Wy2", "Wy1 Wx2"]),
    ("additions", &["Ax1 Ry", "Ax1 Wy1"]),
    ("WRC", &["Wx1", "Rx Wy1", "Ry Rx"]),
    ("RWC", &["Wx1", "Rx Ry", "Wy1 Rx"]),
    ("WWC", &["Wx2", "Rx Wy1", "Ry Wx1"]),
    ("ISA2", &["Wx1 Wy1", "Ry Wz1", "Rz Rx"]),
    ("W+RWC", &["Wx1 Wy1", "Ry Rz", "Wz1 Rx"]),
    ("IRIW", &["Wx1", "Wy1", "Rx Ry", "Ry Rx"]),
];

/// The orders of the accesses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ordering {
    Relaxed,
    ReleaseAcquire,
    Fences,
    SeqCst,
}

/// The placement of work-items and objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placement {
    Groups,
    Group,
    Local,
}

/// A test: a kernel with its launch, and the names of the elements of its last parameter.
pub(super) struct Test {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) registers: Vec<String>,
}

/// All tests.
pub(super) fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (shape, items) in SHAPES {
        for ordering in [Ordering::Relaxed, Ordering::ReleaseAcquire, Ordering::Fences, Ordering::SeqCst] {
            // Data that a relaxed flag publishes is a race.
            let has_data = items.iter().any(|item| item.contains('G'));
            if has_data && ordering == Ordering::Relaxed {
                continue;
            }
            for placement in [Placement::Groups, Placement::Group, Placement::Local] {
                tests.push(test(shape, items, ordering, placement));
            }
        }
    }
    tests
}

impl Ordering {
    fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::ReleaseAcquire => "release and acquire",
            Self::Fences => "fences",
            Self::SeqCst => "seq_cst",
        }
    }

    /// The order argument of an access. A load acquires, a store releases, and a read-modify-write does both.
    fn argument(self, acquires: bool, releases: bool) -> &'static str {
        match (self, acquires, releases) {
            (Self::Relaxed | Self::Fences, ..) => "relaxed",
            (Self::SeqCst, ..) => "seq_cst",
            (Self::ReleaseAcquire, true, true) => "acq_rel",
            (Self::ReleaseAcquire, true, false) => "acquire",
            (Self::ReleaseAcquire, false, _) => "release",
        }
    }
}

impl Placement {
    fn name(self) -> &'static str {
        match self {
            Self::Groups => "several groups",
            Self::Group => "one group",
            Self::Local => "local memory",
        }
    }

    fn scope(self) -> &'static str {
        if self == Self::Groups { "device" } else { "work_group" }
    }

    fn flags(self) -> &'static str {
        if self == Self::Local { "CLK_LOCAL_MEM_FENCE" } else { "CLK_GLOBAL_MEM_FENCE" }
    }
}

/// The objects of a shape, in order.
fn objects(items: &[&str]) -> Vec<char> {
    let accesses = items.iter().flat_map(|item| item.split(' '));
    let mut all: Vec<char> = accesses.filter_map(|access| access.chars().nth(1)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn test(shape: &str, items: &[&str], ordering: Ordering, placement: Placement) -> Test {
    let objects = objects(items);
    let (mut body, mut registers) = (String::new(), Vec::new());
    for (item, accesses) in items.iter().enumerate() {
        let _ = writeln!(body, "    case {item}:");
        let mut read = 0;
        for (number, access) in accesses.split(' ').enumerate() {
            if number > 0 && ordering == Ordering::Fences {
                let _ = writeln!(
                    body,
                    "        atomic_work_item_fence({}, memory_order_acq_rel, memory_scope_{});",
                    placement.flags(),
                    placement.scope()
                );
            }
            let register = access.starts_with(['R', 'A', 'X', 'G']).then(|| {
                registers.push(format!("{item}:r{read}"));
                read += 1;
                registers.len() - 1
            });
            let _ = writeln!(body, "        {};", statement(access, register, ordering, placement));
        }
        body.push_str("        break;\n");
    }
    let (count, local) = (items.len(), if placement == Placement::Groups { 1 } else { items.len() });
    let mut after = String::new();
    if placement == Placement::Local {
        // The host sees no local memory.
        let _ = writeln!(after, "    barrier(CLK_LOCAL_MEM_FENCE);\n    if (get_global_id(0) == 0) {{");
        for &object in &objects {
            let value = match object {
                'd' => "*d".to_owned(),
                _ => format!("atomic_load_explicit({object}, memory_order_relaxed, memory_scope_work_group)"),
            };
            let _ = writeln!(after, "        r[{}] = {value};", registers.len());
            registers.push(object.to_string());
        }
        after.push_str("    }\n");
    }
    let mut source = format!("// kiln run --global {count} --local {local}");
    let space = if placement == Placement::Local { "local" } else { "global" };
    let mut parameters = String::new();
    for &object in &objects {
        source.push_str(if placement == Placement::Local { " --arg local:4" } else { " --arg buf:int[1]=0" });
        let ty = if object == 'd' { "int" } else { "atomic_int" };
        let _ = write!(parameters, "{space} {ty} *{object}, ");
    }
    let _ = write!(
        source,
        " --arg buf:int[{}]=0\nkernel void litmus({parameters}global int *r) {{\n    switch (get_global_id(0)) {{\n{body}    }}\n{after}}}\n",
        registers.len().max(1)
    );
    Test { name: format!("{shape}, {}, {}", ordering.name(), placement.name()), source, registers }
}

/// The statement of an access.
fn statement(access: &str, register: Option<usize>, ordering: Ordering, placement: Placement) -> String {
    let (kind, rest) = access.split_at(1);
    let (object, value) = rest.split_at(1);
    let scope = placement.scope();
    let with = |order: &str| format!("memory_order_{order}, memory_scope_{scope}");
    let set = register.map_or_else(String::new, |register| format!("r[{register}] = "));
    match kind {
        "W" => {
            format!("atomic_store_explicit({object}, {value}, {})", with(ordering.argument(false, true)))
        }
        "R" => format!("{set}atomic_load_explicit({object}, {})", with(ordering.argument(true, false))),
        "A" => {
            format!(
                "{set}atomic_fetch_add_explicit({object}, {value}, {})",
                with(ordering.argument(true, true))
            )
        }
        "X" => {
            format!(
                "{set}atomic_exchange_explicit({object}, {value}, {})",
                with(ordering.argument(true, true))
            )
        }
        "D" => format!("*{object} = {value}"),
        // Reads of a register that was just written: only this work-item accesses it.
        _ => format!("if (r[{}] == {value}) {set}*{object}", register.unwrap_or(1) - 1),
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_test_becomes_a_kernel_and_its_launch() {
        let Test { source, registers, .. } =
            test("MP with data", &["Dd1 Wy1", "Ry Gd1"], Ordering::Fences, Placement::Local);
        assert_eq!(registers, ["1:r0", "1:r1", "d", "y"]);
        for part in [
            "// kiln run --global 2 --local 2 --arg local:4 --arg local:4 --arg buf:int[4]=0\n",
            "kernel void litmus(local int *d, local atomic_int *y, global int *r) {",
            "        *d = 1;\n        atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);\n",
            "r[0] = atomic_load_explicit(y, memory_order_relaxed, memory_scope_work_group);",
            "if (r[0] == 1) r[1] = *d;",
            "r[2] = *d;\n",
        ] {
            assert!(source.contains(part), "{part}\n{source}");
        }
        let tests = tests();
        assert_eq!(tests.len(), 12 * SHAPES.len() - 9);
    }
}
