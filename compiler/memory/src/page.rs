//! Renders `docs/memory-model.md`. `encode`, `replacement` and the rules compute every table, so the page always
//! matches the compiler. This file contains the prose.

use std::fmt::Write;

use super::{
    Access, Group, Operation, ProgramFacts, Replacement, Rule, Semantics, Spaces, Sync, check, check_barrier,
    check_fence, encode_atomic, encode_barrier, encode_fence, explained_replacement, failure_orders,
    replacement,
};
use kiln_vocabulary::{
    opencl::{Environment, FenceFlags, Order, Scope},
    target::Target,
};

const ENVIRONMENTS: [Environment; 2] = [Environment::Vulkan, Environment::OpenCl];

const INTRODUCTION: &str = "\
# Memory orders, scopes and fences

This page is rendered from the package `compiler/memory`, which computes every table. After a change there,
`cargo xtask bless` renders the page again.

OpenCL C has atomic operations, fences and barriers with an order and a scope (OpenCL C 6.15.8 and 6.15.12, OpenCL API
3.3.4 to 3.3.6). SPIR-V has two environments for them: `opencl` with the OpenCL memory model, and `vulkan` with the Vulkan
memory model, which has no sequentially consistent operations. The tables show each mask with its value, so that you can
find it in a disassembly.
";

const RULES_INTRODUCTION: &str = "\
Vulkan has no sequentially consistent operations, its release sequences are shorter than OpenCL's, and it orders atomic
operations only through the same reference. The following rules restore OpenCL's guarantees. They were checked
by enumerating more than 20 million small programs in both axiomatic models: no program has an outcome that OpenCL
forbids, or a data race that the source does not have. A number in parentheses is the number of programs, of 505,215, that
are wrong without this part of the rule. The pass `legalize_atomics` applies R1 to R7 and R11; `memory::replacement`
selects the operations of R1 to R7. For a single launch, less can be enough: `kiln litmus --cheapest` finds
[the cheapest sound forms](litmus.md#the-cheapest-forms-for-a-launch).
";

/// The compare-exchange loops of `legalize_atomics`.
const FLOATS: &str = "
### Floating-point operations without an instruction

If the target lacks a floating-point atomic operation, a compare-exchange loop implements it. The rules above determine its
order and scope first. The compare-exchange has them if it succeeds; if it fails, it is a relaxed load of the same scope.
For lavapipe (`early_group_end` in [driver bugs](driver-bugs.md)), the compare-exchange is always relaxed, and a release
fence before the loop and an acquire fence after it give the order. Then an atomic change of a float does not order a plain
access to the same float after it.

### Parts of words

A device without 8- or 16-bit storage accesses 32-bit words. A store to a part of a word is a relaxed atomic `or` and a
relaxed atomic `and`. In kernels with such stores, loads of parts are relaxed atomic loads of the word: otherwise, a load
would race with a store to another part of its word. In other kernels, they are plain loads.

### Local objects with operations of several types

The compiler divides a local object into ranges that no access crosses, and each range is a variable of the type of its atomic
operations. If one range has operations of two widths, or of integers and floats, all of them are compare-exchange loops on
its widest integer. So every atomic operation on the range accesses the same bytes.

The aliased blocks of `VK_KHR_workgroup_memory_explicit_layout` would give a range one variable per type, but they would not
make operations of two widths atomic. Such blocks share memory locations and a reference (Vulkan, Memory Model, Memory Location
and Reference). However, two atomic operations are only mutually ordered if they access the same set of memory locations
(Atomic Operation). An operation of 32 bits and one of 64 bits never do, and must be synchronized as if they were not atomic.
For integers and floats of one width the blocks would be correct, like the loop; they would save the loop of an integer or float
addition, and make all local objects of the module one set of memory locations. Kiln does not use the extension.

### Volatile objects

On Vulkan, an atomic operation on a volatile object has the memory semantics `Volatile` (0x8000). The argument decides, not
the parameter, which is a pointer to volatile in every atomic function. The OpenCL environment has no such semantics.
";

/// The rules, with their reasons.
const RULES: [(&str, &str); 11] = [
    (
        "R1: seq_cst operations are acquire-release read-modify-writes",
        "A load becomes an `or` with 0, a store an exchange, and each orders global and local memory. A load \
         of a global object has device scope, whatever the scope in the source: it is now a write, and two of \
         them in different work-groups must be mutually ordered (8,542). An acquire load is not enough (385), \
         nor is a release store (1,400), nor a read-modify-write that orders only the memory of its own object \
         (5,899). The rule is correct because two neighbors in the modification order of the object \
         synchronize, so this order is part of happens-before. All reads of the object are writes too, so \
         reads-from and from-reads are also part of it. Happens-before has no cycle, so the operations are \
         sequentially consistent.",
    ),
    (
        "R2: other stores to such an object become exchanges",
        "They keep their own order; relaxed stays relaxed (38). A store that may alias such an object becomes \
         an exchange too. Local objects belong to one kernel, and two variables are two objects. A store with \
         work-group or sub-group scope is only affected by seq_cst operations of its own kernel: operations of \
         another kernel belong to another work-group, the scopes do not include each other, and so one of the \
         two happens before the other, or the program has a data race (OpenCL API 3.3.6).",
    ),
    (
        "R3: other loads of such an object stay loads, with the widest scope of its memory",
        "A compare-exchange that fails is such a load, so it gets that scope too.",
    ),
    (
        "R4: a relaxed store after a release is a release store",
        "In OpenCL, a later store of the same work-item continues the release sequence of its own earlier \
         release. On Vulkan only read-modify-writes do. The store releases the memory that the earlier \
         operation released (117). Only releases in the same kernel that can precede the store count: not \
         those after it, nor those in the other branch, unless a loop contains both.",
    ),
    (
        "R5: a compare-exchange that fails with seq_cst reads again",
        "A compare-exchange that fails writes nothing, so it reads again as in R1. If that value is the \
         expected one, the operation starts over, even if it is weak: a failure returns a value that differs \
         from the expected one.",
    ),
    (
        "R6: a seq_cst fence uses a hidden word of global memory",
        "The fence becomes an acquire fence, an acquire-release addition of 0 to one hidden word of the dispatch, \
         and a release fence. All have device scope and both kinds of memory, regardless of the flags and the scope \
         in the source. A plain acquire-release fence is wrong, and so is a narrower scope for the fences (6) or for \
         the word (7,754). The runtime provides the word.",
    ),
    (
        "R7: with seq_cst operations, every operation that orders global or local memory orders both",
        "Acquire, release and acq_rel operations and barriers then order both classes of memory (94), if the program \
         orders both, or has a seq_cst fence. Two seq_cst operations that synchronize in one memory synchronize in \
         the other (OpenCL API 3.3.6.1), so each is an action on both: a barrier of global memory puts a store to a \
         local object before it and one after it into the order S.",
    ),
    (
        "R8: availability, visibility and non-private accesses",
        "A release makes writes available (1,939), and an acquire makes them visible (1,047). Plain accesses \
         to memory that an operation of the kernel orders are non-private (2,860), because Vulkan orders no \
         other accesses.",
    ),
    (
        "R9: one object, one reference",
        "Global pointers are physical addresses, sub-buffers are offsets in one buffer, and a local object is \
         one variable. With two descriptors for one buffer, 256,007 of 285,461 programs race.",
    ),
    (
        "R10: without vulkanMemoryModelAvailabilityVisibilityChains every scope is the device",
        "On such a device, writes cannot be made available step by step, from a sub-group to a work-group to \
         the device.",
    ),
    (
        "R11: plain loads of an object that is loaded with seq_cst are relaxed atomic loads",
        "After R1 and R5, a seq_cst load and a seq_cst compare-exchange that fails are writes, and a plain load \
         of the same object would be a race that the source does not have. The plain load has the size of the object and \
         the widest scope of its memory. Only loads of the same kernel that can read the object are affected: \
         through the same argument or variable, or through a pointer from memory, at offsets that can be those of \
         the object. Loads through another argument stay plain, even if the host passes one buffer twice. So do \
         narrower loads that are not certainly a part of the object: a load of the whole size could race with stores \
         to its neighbors.",
    ),
];

const LEGALITY: &str = "\
The compiler rejects what the specification forbids. If an order, a scope or flags are known only at run time, it checks the
other arguments, and the module uses the strongest value that is legal: for an order `memory_order_seq_cst`, for a scope the
widest that the device has, for flags both kinds of memory. An argument that inlining makes constant counts as a constant.

- A fence with `CLK_IMAGE_MEM_FENCE` is acq_rel with work_item scope and names no other memory (OpenCL C 6.15.15).
- Only that fence can have `memory_scope_work_item` (OpenCL C 6.15.12.4).
- A work-group barrier with `CLK_IMAGE_MEM_FENCE` has work_group scope (OpenCL C 6.15.8).
- The flags of a fence are not empty. A barrier with empty flags only waits.
- In OpenCL C 3.0, the scopes sub_group, device and all_devices require their features, and so do orders other than relaxed;
  fences require a feature only for seq_cst (OpenCL C 6.15.12.10).
- Before OpenCL 3.1, operations that synchronize have the same scope; since 3.1 the scope of each must include the other's
  work-item.
";

/// Renders `docs/memory-model.md`.
pub fn render_markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    examples(&mut page);
    vocabulary(&mut page);
    atomics(&mut page);
    compare_exchange(&mut page);
    fences(&mut page);
    barriers(&mut page);
    rules(&mut page);
    legality(&mut page);
    page
}

fn heading(page: &mut String, text: &str) {
    line(page, format_args!("\n## {text}\n"));
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a string takes everything");
}

fn row(page: &mut String, cells: &[String]) {
    line(page, format_args!("| {} |", cells.join(" | ")));
}

fn table(page: &mut String, head: &[&str]) {
    row(page, &head.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    row(page, &vec!["---".to_owned(); head.len()]);
}

fn environment_name(environment: Environment) -> &'static str {
    match environment {
        Environment::Vulkan => "vulkan",
        Environment::OpenCl => "opencl",
    }
}

fn target_without(environment: Environment, device_scope: bool, chains: bool) -> Target {
    let mut target = Target::full(environment);
    target.features.device_scope = device_scope;
    target.features.availability_chains = chains;
    target
}

/// The SPIR-V operands of an operation as a disassembly shows them, as a cell of a table.
fn operands_cell(target: &Target, operation: Operation, sync: Sync) -> String {
    match check(target, operation, sync) {
        Ok(()) => show_operands(target, operation, sync),
        Err(problem) if problem.rule == Rule::SeqCstUnavailable => {
            let facts = ProgramFacts::default();
            let (_, rules) = explained_replacement(target.environment, operation, sync, &facts);
            format!("see {}", rules.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(" and "))
        }
        Err(_) => "rejected".to_owned(),
    }
}

fn show_operands(target: &Target, operation: Operation, sync: Sync) -> String {
    let mask = |semantics: Semantics| format!("{semantics} ({:#x})", semantics.value());
    match operation {
        Operation::Atomic(access, object) => {
            let atomic = encode_atomic(target, access, object, sync);
            let masks = [Some(atomic.semantics), atomic.unequal].into_iter().flatten().map(mask);
            format!("{}, {}", atomic.scope.name(), masks.collect::<Vec<_>>().join(", "))
        }
        Operation::Fence => match encode_fence(target, sync) {
            Some(fence) => format!("{}, {}", fence.scope.name(), mask(fence.semantics)),
            None => "no instruction".to_owned(),
        },
        Operation::Barrier(group) => {
            let barrier = encode_barrier(target, group, sync);
            let (execution, memory) = (barrier.execution.name(), barrier.memory.name());
            format!("{execution}, {memory}, {}", mask(barrier.semantics))
        }
    }
}

fn vocabulary(page: &mut String) {
    heading(page, "Scopes");
    line(
        page,
        format_args!(
            "On a local object, scopes wider than the work-group mean the work-group (OpenCL API 3.3.5)."
        ),
    );
    line(
        page,
        format_args!(
            "On Vulkan, all_svm_devices means the device, because Vulkan has no scope that includes the host.\n"
        ),
    );
    table(
        page,
        &[
            "scope",
            "opencl, global",
            "opencl, local",
            "vulkan, global",
            "vulkan, local",
            "vulkan without device scope",
            "vulkan without chains (R10)",
        ],
    );
    let plain = |environment| target_without(environment, true, true);
    for scope in Scope::ALL {
        let of = |target: &Target, object| {
            let load = Operation::Atomic(Access::Load, object);
            let sync = Sync::atomic(object, Order::Relaxed, scope);
            match check(target, load, sync) {
                Ok(()) => encode_atomic(target, Access::Load, object, sync).scope.name().to_owned(),
                Err(_) => "only in image fences".to_owned(),
            }
        };
        row(
            page,
            &[
                format!("`{}`", scope.spelling()),
                of(&plain(Environment::OpenCl), Spaces::GLOBAL),
                of(&plain(Environment::OpenCl), Spaces::LOCAL),
                of(&plain(Environment::Vulkan), Spaces::GLOBAL),
                of(&plain(Environment::Vulkan), Spaces::LOCAL),
                of(&target_without(Environment::Vulkan, false, true), Spaces::GLOBAL),
                of(&target_without(Environment::Vulkan, true, false), Spaces::GLOBAL),
            ],
        );
    }
}

fn atomics(page: &mut String) {
    heading(page, "Atomic operations");
    line(
        page,
        format_args!(
            "The tables are for device scope. An atomic operation orders the memory of its object; seq_cst orders \
             global and local memory.\nThe functions of OpenCL C 1.x are relaxed, with device scope on global objects."
        ),
    );
    for environment in ENVIRONMENTS {
        for (object, name) in [(Spaces::GLOBAL, "global"), (Spaces::LOCAL, "local")] {
            line(page, format_args!("\n### `{}`, {name} object\n", environment_name(environment)));
            table(page, &["order", "load", "store, flag_clear", "read-modify-write, exchange, test_and_set"]);
            for order in Order::ALL {
                let target = Target::full(environment);
                let of = |access| {
                    let sync = Sync::atomic(object, order, Scope::Device);
                    operands_cell(&target, Operation::Atomic(access, object), sync)
                };
                let accesses = [Access::Load, Access::Store, Access::Modify];
                let mut cells = vec![format!("`{}`", order.spelling())];
                cells.extend(accesses.map(of));
                row(page, &cells);
            }
        }
    }
}

fn compare_exchange(page: &mut String) {
    heading(page, "Compare-exchange");
    line(
        page,
        format_args!(
            "For a global object with device scope. The cells contain scope, semantics if equal, and semantics if not \
             equal. A weak operation is emitted as a strong one.\nEvery other pair of orders is rejected.\n"
        ),
    );
    table(page, &["success", "failure", "vulkan", "opencl"]);
    let operation = Operation::Atomic(Access::CompareExchange, Spaces::GLOBAL);
    for order in Order::ALL {
        for failure in failure_orders(order) {
            let sync = Sync::compare_exchange(Spaces::GLOBAL, order, *failure, Scope::Device);
            let mut cells = vec![format!("`{}`", order.spelling()), format!("`{}`", failure.spelling())];
            cells.extend(
                ENVIRONMENTS.map(|environment| operands_cell(&Target::full(environment), operation, sync)),
            );
            row(page, &cells);
        }
    }
}

fn flag_sets() -> impl Iterator<Item = FenceFlags> {
    (0..8).filter_map(FenceFlags::from_value)
}

fn fences(page: &mut String) {
    heading(page, "Fences");
    line(
        page,
        format_args!(
            "The table shows `atomic_work_item_fence`. `mem_fence`, `read_mem_fence` and `write_mem_fence` are \
             acq_rel, acquire and release\nwith work_group scope. A fence for local memory only has work-group \
             scope.\n"
        ),
    );
    table(page, &["flags", "order", "scope", "vulkan", "opencl"]);
    for flags in flag_sets().filter(|flags| !flags.is_empty()) {
        for order in Order::ALL {
            for scope in [Scope::WorkItem, Scope::Device] {
                if check_fence(Some(flags), Some(order), Some(scope)).is_err() {
                    continue;
                }
                let sync = Sync::fence(flags, order, scope);
                let mut cells = vec![
                    format!("`{flags}`").replace(" | ", "` and `"),
                    format!("`{}`", order.spelling()),
                    format!("`{}`", scope.spelling()),
                ];
                cells
                    .extend(ENVIRONMENTS.map(|environment| {
                        operands_cell(&Target::full(environment), Operation::Fence, sync)
                    }));
                row(page, &cells);
            }
        }
    }
}

fn barriers(page: &mut String) {
    heading(page, "Barriers");
    line(
        page,
        format_args!(
            "The cells contain execution scope, memory scope and semantics. The memory scope includes at least the work-items that wait.\n"
        ),
    );
    table(page, &["barrier", "flags", "scope", "vulkan", "opencl"]);
    let barriers = [
        (Group::Work, "work_group_barrier", [Scope::WorkGroup, Scope::Device]),
        (Group::Sub, "sub_group_barrier", [Scope::SubGroup, Scope::Device]),
    ];
    for (group, name, scopes) in barriers {
        for flags in flag_sets() {
            for scope in scopes {
                if check_barrier(group, Some(flags), Some(scope)).is_err() {
                    continue;
                }
                let sync = Sync::barrier(flags, scope);
                let mut cells = vec![
                    format!("`{name}`"),
                    format!("`{flags}`").replace(" | ", "` and `"),
                    format!("`{}`", scope.spelling()),
                ];
                cells.extend(ENVIRONMENTS.map(|environment| {
                    operands_cell(&Target::full(environment), Operation::Barrier(group), sync)
                }));
                row(page, &cells);
            }
        }
    }
}

fn rules(page: &mut String) {
    heading(page, "Sequential consistency and release sequences on Vulkan");
    page.push_str(RULES_INTRODUCTION);
    for (name, reason) in RULES {
        line(page, format_args!("\n### {name}\n\n{reason}"));
    }
    page.push_str(FLOATS);
    line(page, format_args!("\n### Replacements\n"));
    line(page, format_args!("For a global object, with work_group scope in the source.\n"));
    table(page, &["operation", "order", "other operations", "on Vulkan"]);
    let alone = ProgramFacts::default();
    let mixed = ProgramFacts { seq_cst_on_object: true, ..alone };
    let after = ProgramFacts { released: Spaces::GLOBAL, ..alone };
    let both = ProgramFacts { orders_both: true, ..alone };
    let rows: [(&str, Access, Order, &str, ProgramFacts); 8] = [
        ("load", Access::Load, Order::SeqCst, "", alone),
        ("store", Access::Store, Order::SeqCst, "", alone),
        ("read-modify-write", Access::Modify, Order::SeqCst, "", alone),
        ("compare-exchange", Access::CompareExchange, Order::SeqCst, "", alone),
        ("store", Access::Store, Order::Relaxed, "seq_cst on the object", mixed),
        ("load", Access::Load, Order::Acquire, "seq_cst on the object", mixed),
        ("store", Access::Store, Order::Relaxed, "after a release store to the object", after),
        ("store", Access::Store, Order::Release, "seq_cst, and both memories are ordered", both),
    ];
    for (name, access, order, where_, facts) in rows {
        let operation = Operation::Atomic(access, Spaces::GLOBAL);
        let sync = Sync::atomic(Spaces::GLOBAL, order, Scope::WorkGroup);
        let cells = [
            name.to_owned(),
            format!("`{}`", order.spelling()),
            where_.to_owned(),
            show_replacement(operation, sync, &facts),
        ];
        row(page, &cells);
    }
    let fence = Sync::fence(FenceFlags::GLOBAL, Order::SeqCst, Scope::WorkGroup);
    let cells = [
        "fence".to_owned(),
        format!("`{}`", Order::SeqCst.spelling()),
        String::new(),
        show_replacement(Operation::Fence, fence, &alone),
    ];
    row(page, &cells);
}

/// The replacement of an operation, with its operands.
fn show_replacement(operation: Operation, sync: Sync, facts: &ProgramFacts) -> String {
    let target = Target::full(Environment::Vulkan);
    let modify = Operation::Atomic(Access::Modify, Spaces::GLOBAL);
    match replacement(target.environment, operation, sync, facts) {
        Replacement::Same(same) => format!("the same: {}", operands_cell(&target, operation, same)),
        Replacement::LoadAsModify(sync) => format!("OpAtomicOr 0: {}", operands_cell(&target, modify, sync)),
        Replacement::StoreAsExchange(sync) => {
            format!("OpAtomicExchange: {}", operands_cell(&target, modify, sync))
        }
        Replacement::CompareExchange { attempt, reread } => format!(
            "OpAtomicCompareExchange: {}; if it fails, OpAtomicOr 0: {}",
            operands_cell(&target, operation, attempt),
            operands_cell(&target, modify, reread)
        ),
        Replacement::FenceThroughWord { before, word, after } => format!(
            "OpMemoryBarrier: {}; OpAtomicIAdd 0: {}; OpMemoryBarrier: {}",
            operands_cell(&target, Operation::Fence, before),
            operands_cell(&target, modify, word),
            operands_cell(&target, Operation::Fence, after)
        ),
    }
}

fn legality(page: &mut String) {
    heading(page, "Legal orders");
    table(page, &["operation", "orders"]);
    let names = [
        ("load", Access::Load),
        ("store, flag_clear", Access::Store),
        ("read-modify-write, exchange, test_and_set", Access::Modify),
        ("compare-exchange", Access::CompareExchange),
    ];
    for (name, access) in names {
        let orders: Vec<String> =
            access.orders().iter().map(|order| format!("`{}`", order.spelling())).collect();
        row(page, &[name.to_owned(), orders.join(", ")]);
    }
    for order in Order::ALL {
        let orders: Vec<String> =
            failure_orders(order).iter().map(|order| format!("`{}`", order.spelling())).collect();
        let name = format!("compare-exchange of `{}` that fails", order.spelling());
        row(page, &[name, orders.join(", ")]);
    }
    line(page, format_args!("\n{LEGALITY}"));
    page.pop();
}

fn examples(page: &mut String) {
    heading(page, "Three examples on Vulkan");
    let target = Target::full(Environment::Vulkan);
    let global = |access, order| {
        let operation = Operation::Atomic(access, Spaces::GLOBAL);
        operands_cell(&target, operation, Sync::atomic(Spaces::GLOBAL, order, Scope::Device))
    };
    line(
        page,
        format_args!(
            "A message through a global flag:\n\n```c\ndata[0] = 42;                    // \
             non-private store (R8)\natomic_store_explicit(flag, 1, memory_order_release, \
             memory_scope_device);\n// OpAtomicStore: {}\n\nwhile (!atomic_load_explicit(flag, \
             memory_order_acquire, memory_scope_device));\n// OpAtomicLoad: {}\nint x = data[0];                 // \
             non-private load: 42\n```",
            global(Access::Store, Order::Release),
            global(Access::Load, Order::Acquire)
        ),
    );
    let flags = FenceFlags::LOCAL;
    line(
        page,
        format_args!(
            "\nA tile in local memory:\n\n```c\ntile[get_local_id(0)] = in[get_global_id(0)];\n\
             work_group_barrier(CLK_LOCAL_MEM_FENCE);\n// OpControlBarrier: {}\n```",
            operands_cell(&target, Operation::Barrier(Group::Work), Sync::barrier(flags, Scope::WorkGroup))
        ),
    );
    let facts = ProgramFacts { seq_cst_on_object: true, ..ProgramFacts::default() };
    let strict = |access| {
        let operation = Operation::Atomic(access, Spaces::GLOBAL);
        show_replacement(operation, Sync::atomic(Spaces::GLOBAL, Order::SeqCst, Scope::Device), &facts)
    };
    line(
        page,
        format_args!(
            "\nStore buffering: with seq_cst, at least one of the two work-items reads 1.\n\n```c\n\
             atomic_store(x, 1);\n// {}\nint r = atomic_load(y);          // the other: store y, load x\n// {}\n```",
            strict(Access::Store),
            strict(Access::Load)
        ),
    );
}
