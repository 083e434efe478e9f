//! Generated programs: up to 4 work-items in any groups, 3 objects and 12 operations, with mixed scopes and orders, orders
//! known at run time only, plain accesses and barriers. OpenCL must allow every outcome that Vulkan permits for the emitted
//! module. The number determines the program.

mod kernel;
mod tally;

use std::collections::{BTreeMap, BTreeSet};

use kiln_compiler::{
    Artifact, Emit,
    opencl::Environment,
    session::{NoFiles, Options, Source},
    target::Target,
    tuning::Tuning,
};
use kiln_memory_model::{
    Launch, Location, Model, Module, Object, Skeleton,
    explore::{self, Outcomes, explore},
};

pub use kernel::program;
pub use tally::{Limit, Tally, check_all};

/// The maximum number of executions to check in one model.
const BUDGET: u64 = 4_000;

/// A generated program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel.
    pub source: String,
    /// Its launch.
    pub launch: Launch,
    /// The number of operations, fences and plain accesses.
    pub operations: usize,
    /// Whether it has a barrier.
    pub has_barrier: bool,
    /// Where its statements are.
    pub statements: Statements,
}

/// Where the statements of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statements {
    /// In the kernel, as after inlining.
    InKernel,
    /// Each in a function, which the compiler does not inline unless an order, a scope or flags are dynamic.
    InFunctions,
}

/// The finding of the models for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There are too many executions.
    Undecided,
    /// It has a data race in OpenCL: its behavior is undefined.
    Racing,
    /// OpenCL allows everything that Vulkan permits; the number of consistent executions, and of outcomes that only OpenCL
    /// allows.
    Sound {
        /// The consistent executions in both models.
        executions: u64,
        /// The number of outcomes that only OpenCL allows.
        lost: usize,
    },
    /// Vulkan permits an outcome that OpenCL forbids, or the module has a data race.
    Unsound(String),
}

impl Program {
    /// Compiles the program for both environments and explores both modules, and that for Vulkan with the passes that run for
    /// some drivers only, if they change it.
    pub fn check(&self) -> Finding {
        let opencl = self.module(Environment::OpenCl);
        let vulkan = self.module(Environment::Vulkan);
        let tuned = self.tuned(Environment::Vulkan, Tuning::ALL);
        let is_changed = tuned != vulkan;
        match self.compare(&opencl, || vulkan, BUDGET) {
            Finding::Sound { .. } if is_changed => self.compare(&opencl, || tuned, BUDGET),
            finding => finding,
        }
    }

    /// Explores a module for OpenCL and one for Vulkan, each up to a number of executions.
    pub fn compare(&self, opencl: &[u32], vulkan: impl FnOnce() -> Vec<u32>, budget: u64) -> Finding {
        let options = explore::Options { budget, ..explore::Options::default() };
        let explored = |words: &[u32], model| {
            let skeleton = Module::new(words).skeleton(&self.launch).ok()?;
            let found = explore(&skeleton, model, options).ok()?;
            Some((skeleton, found))
        };
        let Some((opencl, allowed)) = explored(opencl, Model::OpenCl) else {
            return Finding::Undecided;
        };
        if !allowed.undefined.is_empty() {
            return Finding::Racing;
        }
        let Some((vulkan, permitted)) = explored(&vulkan(), Model::Vulkan) else {
            return Finding::Undecided;
        };
        let parts: Vec<Location> =
            opencl.parts.iter().copied().filter(|it| matches!(it.object, Object::Argument(_))).collect();
        let (before, after) = (outcomes(&opencl, &allowed, &parts), outcomes(&vulkan, &permitted, &parts));
        let more: Vec<String> = after.difference(&before).map(|it| shown(it, &parts)).collect();
        if permitted.undefined.is_empty() && more.is_empty() && !after.is_empty() {
            let executions = allowed.executions + permitted.executions;
            return Finding::Sound { executions, lost: before.difference(&after).count() };
        }
        let races = if permitted.undefined.is_empty() { "" } else { "a data race; " };
        Finding::Unsound(format!("{races}Vulkan permits {more:?} of {} outcomes", after.len()))
    }

    /// The module of the program.
    pub fn module(&self, environment: Environment) -> Vec<u32> {
        self.tuned(environment, Tuning::NONE)
    }

    /// The module of the program for drivers with these properties.
    fn tuned(&self, environment: Environment, tuning: Tuning) -> Vec<u32> {
        let keep_functions = self.statements == Statements::InFunctions;
        let target = Target { tuning, ..Target::full(environment) };
        let options = Options { target, keep_functions, ..Options::default() };
        let source = Source { name: "generated.cl".to_owned(), text: self.source.clone().into_bytes() };
        let output = kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv);
        match output.artifact {
            Some(Artifact::Module(module)) => module.into_words(),
            _ => panic!("{:?}\n{}", output.diagnostics, self.source),
        }
    }
}

/// The outcomes, reduced to these parts.
fn outcomes(skeleton: &Skeleton, found: &Outcomes, parts: &[Location]) -> BTreeSet<Vec<u64>> {
    let initial: BTreeMap<Location, u64> = skeleton.initial.iter().copied().collect();
    let places: Vec<Result<usize, u64>> = parts
        .iter()
        .map(|part| {
            let place = skeleton.parts.binary_search(part);
            place.map_err(|_| initial.get(part).copied().unwrap_or_default())
        })
        .collect();
    let value = |outcome: &[u64], place: &Result<usize, u64>| match place {
        Ok(index) => outcome[*index],
        Err(initial) => *initial,
    };
    found.allowed.keys().map(|outcome| places.iter().map(|place| value(outcome, place)).collect()).collect()
}

fn shown(outcome: &[u64], parts: &[Location]) -> String {
    let part = |(part, value): (&Location, &u64)| match part.object {
        Object::Argument(0) => format!("r{}={value}", part.offset / 4),
        Object::Argument(number) => {
            let name = kernel::NAMES.get(number as usize - 1).copied();
            format!("{}={value}", name.unwrap_or("object"))
        }
        _ => String::new(),
    };
    parts.iter().zip(outcome).map(part).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod unit {
    use kiln_memory_model::Argument;

    use super::{kernel::NAMES, *};

    /// Checks a program of a work-group with two work-items and one global atomic object, `z`.
    fn check_pair(body: &str, operations: usize) -> Finding {
        let source = format!("kernel void test(global int *result, global atomic_int *z) {{\n{body}\n}}");
        let launch = Launch {
            kernel: String::new(),
            global: [2, 1, 1],
            local: [2, 1, 1],
            sub_group: 1,
            arguments: vec![Argument::Buffer(vec![0; 4]), Argument::Buffer(vec![0; 4])],
            max_iterations: 2,
            ..Launch::default()
        };
        Program { source, launch, operations, has_barrier: true, statements: Statements::InKernel }.check()
    }

    /// Rule R7: the barrier puts the fence and the store into the order S, and the load reads before the fence.
    #[test]
    fn barriers_of_local_memory_order_seq_cst_fences_and_global_stores() {
        let finding = check_pair(
            "int r0 = 0;
            if (get_global_id(0) == 0) {
                r0 = atomic_load_explicit(z, memory_order_relaxed, memory_scope_device);
                atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
            }
            work_group_barrier(CLK_LOCAL_MEM_FENCE);
            if (get_global_id(0) == 1) {
                atomic_store_explicit(z, 6, memory_order_seq_cst, memory_scope_device);
            }
            if (get_global_id(0) == 0) result[0] = r0;",
            3,
        );
        assert_eq!(finding, Finding::Sound { executions: 2, lost: 0 });
    }

    /// Rule R7: the store to `x` precedes that to `y` in the order S through the global memory that the barrier or the
    /// flag orders. If the load of `y` saw that store, happens-before of local memory would order them the other way.
    #[test]
    fn synchronization_of_global_memory_orders_seq_cst_stores_to_local_objects() {
        let barrier = ("", "work_group_barrier(CLK_GLOBAL_MEM_FENCE);", "");
        let flag = (
            "atomic_store_explicit(z, 1, memory_order_release, memory_scope_work_group);",
            "",
            "if (atomic_load_explicit(z, memory_order_acquire, memory_scope_work_group) == 1)",
        );
        for (signal, between, wait) in [flag, barrier] {
            let finding = check_pair(
                &format!(
                    "local atomic_int x, y;
                    int r0 = 0;
                    if (get_global_id(0) == 0) {{ atomic_init(&x, 0); atomic_init(&y, 0); }}
                    work_group_barrier(CLK_LOCAL_MEM_FENCE);
                    if (get_global_id(0) == 0) {{
                        r0 = atomic_load_explicit(&y, memory_order_acquire, memory_scope_work_group);
                        atomic_store_explicit(&x, 1, memory_order_seq_cst, memory_scope_work_group);
                        {signal}
                    }}
                    {between}
                    if (get_global_id(0) == 1) {{
                        {wait} atomic_store_explicit(&y, 2, memory_order_seq_cst, memory_scope_work_group);
                    }}
                    if (get_global_id(0) == 0) result[0] = r0;"
                ),
                3,
            );
            assert!(matches!(finding, Finding::Sound { .. }), "{signal}{between}: {finding:?}");
        }
    }

    #[test]
    fn programs_contain_each_kind_of_operation() {
        let programs: Vec<Program> =
            (0..10_000).map(|number| program(number, Statements::InKernel)).collect();
        let has = |words: &str| programs.iter().any(|it| it.source.contains(words));
        for words in [
            "memory_scope_sub_group",
            "memory_scope_work_group",
            "memory_scope_device",
            "(memory_order)",
            "barrier(",
            "atomic_work_item_fence",
            "compare_exchange",
            "fetch_add",
            "local atomic_int",
            "local int",
            "= *",
        ] {
            assert!(has(words), "{words}");
        }
        // Seq_cst operations on one kind of memory, and barriers and fences that order only the other.
        let apart = |program: &&Program, seq_cst: &str, flags: &str| {
            let lines = || program.source.lines().filter(|line| line.contains("memory_order"));
            let is_local = |line: &str| {
                program.launch.arguments[1..].iter().zip(NAMES).any(|(argument, name)| {
                    matches!(argument, Argument::Local(_)) && line.contains(&format!("explicit({name},"))
                })
            };
            let of = |line: &str| if is_local(line) { "local" } else { "global" };
            let is_seq_cst = |line: &str| line.contains("memory_order_seq_cst");
            program.source.contains(&format!("work_group_barrier({flags}"))
                && lines().any(is_seq_cst)
                && lines().filter(|line| is_seq_cst(line)).all(|line| of(line) == seq_cst)
                && lines().any(|line| !is_seq_cst(line) && line.contains("explicit(") && of(line) != seq_cst)
        };
        for (seq_cst, flags) in [("local", "CLK_GLOBAL_MEM_FENCE)"), ("global", "CLK_LOCAL_MEM_FENCE)")] {
            let count = programs.iter().filter(|program| apart(program, seq_cst, flags)).count();
            assert!(count >= 10, "{seq_cst}: {count}");
        }
        let max = programs.iter().map(|it| it.operations).max();
        assert_eq!(max, Some(12));
        assert!(programs.iter().any(|it| it.launch.global[0] == 4 && it.launch.local[0] == 2));
    }
}
