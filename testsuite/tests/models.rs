//! Explores the litmus tests in both memory models: OpenCL allows every outcome that Vulkan permits for the emitted module,
//! and the module has no data race that the program does not have. This finds errors that no available processor shows.

#[path = "models/cheapest.rs"]
mod cheapest;
#[path = "models/mistakes.rs"]
mod mistakes;
#[path = "models/refinement.rs"]
mod refinement;

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use kiln_compiler::{
    Artifact, Emit,
    opencl::Environment,
    session::{NoFiles, Options, SeqCst, Source},
    target::Target,
};
use kiln_memory_model::{Action, Event};
use kiln_testsuite::{
    litmus::{
        self, Setting, Space, Test,
        explore::{Model, Outcomes, outcomes},
        generated::{self, Statements},
        matches,
        stress::shown,
    },
    nightly,
};

fn module(test: &Test, setting: Setting, environment: Environment, seq_cst: SeqCst) -> Vec<u32> {
    module_with(test, setting, environment, seq_cst, true)
}

fn module_with(
    test: &Test,
    setting: Setting,
    environment: Environment,
    seq_cst: SeqCst,
    optimize: bool,
) -> Vec<u32> {
    let target = Target::full(environment);
    let options = Options { target, seq_cst, optimize, ..Options::default() };
    let source = Source { name: "litmus.cl".to_owned(), text: test.plain_source(setting).into_bytes() };
    let output = kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv);
    match output.artifact {
        Some(Artifact::Module(module)) => module.into_words(),
        _ => panic!("{}: {:?}\n{}", test.name, output.diagnostics, test.plain_source(setting)),
    }
}

fn explored(test: &Test, setting: Setting, environment: Environment, seq_cst: SeqCst) -> Outcomes {
    with_module_changed(test, setting, environment, seq_cst, &|_| ())
}

fn with_module_changed(
    test: &Test,
    setting: Setting,
    environment: Environment,
    seq_cst: SeqCst,
    change: &dyn Fn(&mut Event),
) -> Outcomes {
    let words = module(test, setting, environment, seq_cst);
    let model = if environment == Environment::Vulkan { Model::Vulkan } else { Model::OpenCl };
    outcomes(test, &words, setting, model, change).unwrap_or_else(|reason| panic!("{}: {reason}", test.name))
}

#[test]
fn vulkan_permits_nothing_that_opencl_forbids() {
    let (mut complaints, mut executions) = (Vec::new(), 0);
    for test in litmus::tests() {
        for setting in test.settings() {
            let mut complain =
                |what: String| complaints.push(format!("{}, {}: {what}", test.name, setting.name()));
            let opencl = explored(&test, setting, Environment::OpenCl, SeqCst::Strict);
            let vulkan = explored(&test, setting, Environment::Vulkan, SeqCst::Strict);
            executions += opencl.executions + vulkan.executions;
            // The declared outcomes match the program.
            if opencl.has_race {
                complain("a data race in OpenCL".to_owned());
            }
            for outcome in
                opencl.outcomes.iter().filter(|it| test.forbidden.iter().any(|pattern| matches(it, pattern)))
            {
                complain(format!("OpenCL allows {}", shown(outcome)));
            }
            for pattern in
                test.allowed.iter().filter(|pattern| !opencl.outcomes.iter().any(|it| matches(it, pattern)))
            {
                complain(format!("OpenCL does not allow {}", shown(pattern)));
            }
            // The module permits only outcomes of the program.
            if vulkan.has_race {
                complain("a data race in Vulkan".to_owned());
            }
            for outcome in vulkan.outcomes.difference(&opencl.outcomes) {
                complain(format!("Vulkan permits {}", shown(outcome)));
            }
            if vulkan.outcomes.is_empty() {
                complain("nothing can happen".to_owned());
            }
        }
    }
    println!("{executions} executions");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn weakened_seq_cst_permits_more() {
    let mut complaints = Vec::new();
    for test in litmus::tests().iter().filter(|test| !test.weak.is_empty()) {
        for setting in test.settings() {
            let found = explored(test, setting, Environment::Vulkan, SeqCst::AcqRel);
            for pattern in
                test.weak.iter().filter(|pattern| !found.outcomes.iter().any(|it| matches(it, pattern)))
            {
                complaints.push(format!(
                    "{}, {}: {} is not permitted",
                    test.name,
                    setting.name(),
                    shown(pattern)
                ));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Removes each requirement of the rules in docs/memory-model.md. The models detect each change.
#[test]
fn each_rule_is_needed() {
    const WORK_GROUP: u32 = 2;
    const MAKE_AVAILABLE: u32 = 0x2000;
    const MAKE_VISIBLE: u32 = 0x4000;
    const BOTH_CLASSES: u32 = 0x140;
    const ACQUIRE: u32 = 0x4142;
    type Change = fn(&mut Event);
    let one_class: Change = |event| {
        if event.is_atomic {
            let other = if event.space == Space::Global { 0x100 } else { 0x40 };
            event.semantics &= !other;
        }
    };
    let spoils: &[(&str, &str, Change)] = &[
        ("R1, a load that stays a load", "seq_cst: Store buffering", |event| {
            if event.action == Action::Modify && event.read == event.written {
                (event.action, event.semantics) = (Action::Read, ACQUIRE);
            }
        }),
        ("R1, a store that stays a store", "seq_cst: Store buffering", |event| {
            if event.action == Action::Modify && event.read != event.written {
                (event.action, event.semantics) = (Action::Write, 0x2144);
            }
        }),
        ("R1, both classes", "breaking: Seq_cst in both spaces", one_class),
        ("R1, the scope of loads", "breaking: Narrow seq_cst loads", |event| event.scope = WORK_GROUP),
        ("R2", "breaking: A relaxed store between two seq_cst operations", |event| {
            if event.written == 3 {
                event.action = Action::Write;
            }
        }),
        ("R4", "breaking: A relaxed store after a release", |event| {
            if event.is_atomic && event.written == 2 {
                event.semantics = 0;
            }
        }),
        ("R5", "breaking: A failing seq_cst compare-exchange", |event| {
            if event.action == Action::Modify && event.read == event.written {
                (event.action, event.semantics) = (Action::Read, ACQUIRE);
            }
        }),
        ("R6, the word", "breaking: A seq_cst fence mixed with seq_cst operations", |event| {
            if event.action == Action::Modify && event.written == 0 {
                event.semantics = 0;
            }
        }),
        ("R6, the scope of the word", "breaking: A narrow seq_cst fence", |event| {
            if event.action == Action::Modify {
                event.scope = WORK_GROUP;
            }
        }),
        (
            "R6, the scope of the fence after the word",
            "order: Message passing from a seq_cst fence to a load",
            |event| {
                if event.action == Action::Fence {
                    event.scope = WORK_GROUP;
                }
            },
        ),
        (
            "R6, the classes of the fence before the word",
            "order: Message passing from a store to a seq_cst fence",
            |event| {
                if event.action == Action::Fence {
                    event.semantics &= !0x40;
                }
            },
        ),
        ("R8, availability", "order: Message passing", |event| event.semantics &= !MAKE_AVAILABLE),
        ("R8, visibility", "order: Message passing", |event| event.semantics &= !MAKE_VISIBLE),
        ("R8, non-private accesses", "order: Message passing", |event| event.is_shared = event.is_atomic),
        ("the classes of fences", "breaking: A message in local memory about global memory", |event| {
            event.semantics &= if event.space == Space::Global { !0x40 } else { !BOTH_CLASSES };
        }),
    ];
    let mut complaints = Vec::new();
    for (rule, name, change) in spoils {
        let test = litmus::tests().into_iter().find(|test| test.name == *name).expect("a test of this name");
        let setting = test.settings()[0];
        let opencl = explored(&test, setting, Environment::OpenCl, SeqCst::Strict);
        let spoilt = with_module_changed(&test, setting, Environment::Vulkan, SeqCst::Strict, change);
        if !spoilt.has_race && spoilt.outcomes.is_subset(&opencl.outcomes) {
            complaints.push(format!("{rule}: {name} does not detect the change"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Up to 4 work-items, 3 objects and 12 operations; `cargo xtask models` checks any number.
#[test]
fn generated_programs_follow_the_model_of_opencl() {
    check_generated(Statements::InKernel, 1);
}

/// The same for programs whose functions stay functions.
#[test]
fn functions_that_synchronize_follow_the_model_of_opencl() {
    // Most functions stay: those without dynamic operands.
    let (mut steps, mut kept) = (0, 0);
    for program in (1..=40).map(|number| generated::program(number, Statements::InFunctions)) {
        steps += refinement::function_count(&program.module(Environment::OpenCl)) - 1;
        kept += refinement::function_count(&program.module(Environment::Vulkan)) - 1;
    }
    assert!(kept * 3 > steps * 2, "{kept} of {steps} functions stay");
    check_generated(Statements::InFunctions, 100_000);
}

fn check_generated(statements: Statements, first: u64) {
    let count = nightly::count("generated programs in the memory models", 120, 5000) as u64;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let tally = generated::check_all(generated::Limit { first, count, threads, time: None, statements });
    println!("{tally:?}");
    assert!(tally.unsound.is_empty(), "{:?}", tally.unsound);
    assert!(tally.compared * 2 > tally.checked, "hardly any program was compared");
}

/// Random programs.
#[test]
fn random_programs_follow_the_model_of_opencl() {
    let count = nightly::count("random programs in the memory models", 60, 5000) as u64;
    let next = AtomicU64::new(1);
    let totals = Mutex::new(([0_u64; 3], Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number > count {
                        return;
                    }
                    let test = litmus::random::test(number);
                    let settings = test.settings();
                    let setting = settings[number as usize % settings.len()];
                    let explore = |environment, model| {
                        let words = module(&test, setting, environment, SeqCst::Strict);
                        outcomes(&test, &words, setting, model, &|_| ()).ok()
                    };
                    // Skips programs with a data race, which have no defined outcome, and programs with too many
                    // executions.
                    let opencl = explore(Environment::OpenCl, Model::OpenCl).filter(|it| !it.has_race);
                    let both = opencl.and_then(|it| Some((it, explore(Environment::Vulkan, Model::Vulkan)?)));
                    let (counts, complaints) = &mut *totals.lock().expect("no worker panics with the lock");
                    counts[0] += 1;
                    let Some((opencl, vulkan)) = both else { continue };
                    counts[1] += 1;
                    counts[2] += opencl.executions + vulkan.executions;
                    let more: Vec<String> = vulkan.outcomes.difference(&opencl.outcomes).map(shown).collect();
                    if vulkan.has_race || !more.is_empty() {
                        complaints.push(format!(
                            "{number}, {}: race {}, permits {more:?}\n{}",
                            setting.name(),
                            vulkan.has_race,
                            test.plain_source(setting)
                        ));
                    }
                }
            });
        }
    });
    let ([tried, compared, executions], complaints) = totals.into_inner().expect("no worker panicked");
    println!("{tried} programs, {compared} compared, {executions} executions");
    assert!(
        complaints.is_empty(),
        "{} programs:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(3)].join("\n")
    );
    assert!(compared * 5 > tried, "hardly any program was compared");
}
