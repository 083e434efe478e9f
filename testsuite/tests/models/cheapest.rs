//! The cheapest forms that a search finds are sound, and each cheaper one that it rejects is not. The comparison of generated
//! programs checks both, without the code of the search.

use kiln_compiler::{opencl::Environment, target::Target, verify::VerifiedModule};
use kiln_memory_model::{
    Model, Module,
    cheapen::{Cheapest, Unchanged, cheapest, objection, one_step_cheaper},
    explore::Options,
};
use kiln_testsuite::{
    litmus::{
        self, explore,
        generated::{self, Finding, Statements},
    },
    nightly,
};

use super::module;

/// The maximum number of executions of a search.
const BUDGET: u64 = 60_000;

/// The maximum number of executions to check in one model.
const COMPARISON: u64 = 100_000;

fn options() -> Options {
    Options { budget: BUDGET, ..Options::default() }
}

/// Checks the words that a search has written.
fn check(name: &str, found: &Cheapest) {
    let target = Target::full(Environment::Vulkan);
    if let Err(invalid) = VerifiedModule::new(found.words.clone(), Some(&target)) {
        panic!("{name}: {invalid}");
    }
    for it in found.operations.iter().filter(|it| it.is_changed()) {
        assert!(it.cost.1 < it.cost.0 || !it.reasons.is_empty(), "{name}: {it:?}");
        assert!(it.is_reached && !it.reasons.is_empty(), "{name}: {it:?}");
    }
}

#[test]
fn cheapest_forms_of_generated_programs_are_sound() {
    let count = nightly::count("generated programs with their cheapest forms", 120, 2000) as u64;
    let (mut decided, mut changed, mut mutants, mut killed) = (0, 0, 0, 0);
    for number in 0..count {
        let program = generated::program(number, Statements::InKernel);
        let name = format!("program {number}\n{}", program.source);
        let (opencl, vulkan) = (program.module(Environment::OpenCl), program.module(Environment::Vulkan));
        let found = match cheapest(&Module::new(&opencl), &vulkan, &program.launch, Model::Vulkan, options())
        {
            Ok(found) => found,
            Err(
                Unchanged::Undefined | Unchanged::Explore(_) | Unchanged::Unsupported(_) | Unchanged::Cut,
            ) => {
                continue;
            }
            Err(why) => panic!("{name}: {why}"),
        };
        check(&name, &found);
        let compared = |words: Vec<u32>| program.compare(&opencl, || words, COMPARISON);
        match compared(found.words.clone()) {
            Finding::Sound { .. } => decided += 1,
            Finding::Undecided => continue,
            finding => panic!("{name}: {finding:?}"),
        }
        changed += found.operations.iter().filter(|it| it.is_changed()).count();
        let left: Vec<_> = found.operations.iter().filter(|it| it.to.is_some()).collect();
        for mutant in one_step_cheaper(&found.words, &program.launch.kernel) {
            if !left[mutant.operation].is_reached {
                continue;
            }
            mutants += 1;
            match compared(mutant.words) {
                Finding::Unsound(_) => killed += 1,
                finding => println!("{name}: {:?} of {:?}: {finding:?}", mutant.step, left[mutant.operation]),
            }
        }
    }
    println!(
        "{decided} decided programs, {changed} changed operations, {killed} of {mutants} mutants killed"
    );
    assert!(decided * 4 > count && changed > 0, "{decided} programs, {changed} changes");
    assert!(killed == mutants && mutants > decided, "{killed} of {mutants} mutants killed");
}

#[test]
fn cheapest_forms_of_litmus_tests_are_sound() {
    let (mut decided, mut changed) = (0, 0);
    for test in litmus::tests() {
        let setting = test.settings()[0];
        let words = |environment| module(&test, setting, environment, kiln_compiler::session::SeqCst::Strict);
        let (opencl, vulkan) = (Module::new(&words(Environment::OpenCl)), words(Environment::Vulkan));
        let launch = explore::launch(&test, setting);
        let Ok(found) = cheapest(&opencl, &vulkan, &launch, Model::Vulkan, options()) else { continue };
        check(&test.name, &found);
        let again =
            objection(&opencl, &Module::new(&found.words), &launch, Model::Vulkan, Options::default());
        assert_eq!(again, Ok(None), "{}", test.name);
        decided += 1;
        changed += found.operations.iter().filter(|it| it.is_changed()).count();
    }
    println!("{decided} decided tests, {changed} changed operations");
    assert!(decided > 20 && changed > decided, "{decided} tests, {changed} changes");
}
