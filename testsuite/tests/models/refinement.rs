//! Translation validation of the litmus tests: their modules follow their sources in many contexts. Mutants of the modules
//! do not, unless the change is harmless.

use std::collections::BTreeMap;

use kiln_compiler::{opencl::Environment, session::SeqCst};
use kiln_memory_model::{
    Launch, Module,
    refine::{Proved, Unproved, refine},
};
use kiln_testsuite::{
    litmus::{self, Setting, Test, explore, random},
    module::{instructions, opcode},
    nightly,
};

/// The launches of a test, one for each context.
fn launches(test: &Test, setting: Setting, count: usize) -> Vec<Launch> {
    vec![explore::launch(test, setting); count]
}

fn source(test: &Test, setting: Setting) -> Vec<u32> {
    super::module_with(test, setting, Environment::OpenCl, SeqCst::Strict, false)
}

fn compared(
    source: &[u32],
    target: &[u32],
    test: &Test,
    setting: Setting,
    count: usize,
) -> Result<Proved, Unproved> {
    refine(&Module::new(source), &Module::new(target), &launches(test, setting, count))
}

/// The settings with a name for messages.
fn named(test: &Test) -> impl Iterator<Item = (Setting, String)> + '_ {
    test.settings().into_iter().map(|setting| (setting, format!("{}, {}", test.name, setting.name())))
}

#[test]
fn modules_follow_their_sources() {
    let random = nightly::count("random programs are compared with their modules", 100, 20_000);
    let mut complaints = Vec::new();
    let mut all = Proved::default();
    for test in litmus::tests().into_iter().chain((0..random as u64).map(random::test)) {
        for (setting, name) in named(&test) {
            let target = super::module(&test, setting, Environment::Vulkan, SeqCst::Strict);
            match compared(&source(&test, setting), &target, &test, setting, 24) {
                Ok(proved) => {
                    all.runs += proved.runs;
                    all.operations += proved.operations;
                }
                Err(why) => complaints.push(format!("{name}: {why}\n{}", test.plain_source(setting))),
            }
        }
    }
    println!("{} runs with {} operations", all.runs, all.operations);
    assert!(complaints.is_empty(), "{} of them\n{}", complaints.len(), complaints.join("\n"));
    assert!(all.runs > 5000 && all.operations > 10_000, "{all:?}");
}

/// Detects acquire and release in place of seq_cst wherever it changes the outcomes.
#[test]
fn weakened_seq_cst_is_detected() {
    for test in litmus::tests().iter().filter(|test| !test.weak.is_empty()) {
        for (setting, name) in named(test) {
            let target = super::module(test, setting, Environment::Vulkan, SeqCst::AcqRel);
            let result = compared(&source(test, setting), &target, test, setting, 24);
            assert!(matches!(result, Err(Unproved::Differs(_))), "{name}: {result:?}");
        }
    }
}

/// A changed module, and the description of the change.
struct Mutant {
    kind: &'static str,
    words: Vec<u32>,
}

mod op {
    pub(super) const CONSTANT: u32 = 43;
    pub(super) const FUNCTION: u32 = 54;
    pub(super) const LOAD: u32 = 61;
    pub(super) const STORE: u32 = 62;
    pub(super) const CONTROL_BARRIER: u32 = 224;
    pub(super) const MEMORY_BARRIER: u32 = 225;
    pub(super) const ATOMIC_LOAD: u32 = 227;
    pub(super) const ATOMIC_STORE: u32 = 228;
    pub(super) const ATOMIC_EXCHANGE: u32 = 229;
    pub(super) const ATOMIC_COMPARE_EXCHANGE: u32 = 230;
    pub(super) const ATOMIC_ADD: u32 = 234;
    pub(super) const ATOMIC_OR: u32 = 241;
}

/// The number of functions of a module.
pub(super) fn function_count(words: &[u32]) -> usize {
    instructions(words).filter(|&at| opcode(words, at) == op::FUNCTION).count()
}

/// The words of the operands that are a scope and masks of semantics.
fn operands(op: u32) -> Option<(usize, &'static [usize])> {
    match op {
        op::MEMORY_BARRIER => Some((1, &[2])),
        op::CONTROL_BARRIER => Some((2, &[3])),
        op::ATOMIC_STORE => Some((2, &[3])),
        op::ATOMIC_COMPARE_EXCHANGE => Some((4, &[5, 6])),
        op::ATOMIC_LOAD | op::ATOMIC_EXCHANGE..=242 => Some((4, &[5])),
        _ => None,
    }
}

/// The module with an operand that refers to a constant of this value.
fn with_constant(words: &[u32], operand: usize, value: u32) -> Option<Vec<u32>> {
    let old = words[operand];
    let defined =
        instructions(words).find(|&at| opcode(words, at) == op::CONSTANT && words[at + 2] == old)?;
    let (ty, id) = (words[defined + 1], words[3]);
    let mut changed = words.to_vec();
    changed[operand] = id;
    changed[3] += 1;
    let function = instructions(words).find(|&at| opcode(words, at) == op::FUNCTION)?;
    changed.splice(function..function, [4 << 16 | op::CONSTANT, ty, id, value]);
    Some(changed)
}

/// The value of the constant that an operand refers to.
fn constant(words: &[u32], operand: usize) -> Option<u32> {
    let is_it = |at: &usize| opcode(words, *at) == op::CONSTANT && words[*at + 2] == words[operand];
    instructions(words).find(is_it).map(|at| words[at + 3])
}

/// Every change of one operation: it is dropped, is doubled, or changes places with the next; it is weaker, has a narrower scope,
/// orders less memory or other values; a read-modify-write is a load or a store.
fn mutants(words: &[u32]) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for at in instructions(words) {
        let (op, length) = (words[at] & 0xffff, (words[at] >> 16) as usize);
        let mut push = |kind, words: Option<Vec<u32>>| {
            mutants.extend(words.map(|words| Mutant { kind, words }));
        };
        let replaced = |by: &[u32]| {
            let mut changed = words.to_vec();
            changed.splice(at..at + length, by.iter().copied());
            Some(changed)
        };
        if matches!(op, op::MEMORY_BARRIER | op::CONTROL_BARRIER | op::ATOMIC_STORE | op::STORE) {
            push("dropped", replaced(&[]));
            push("doubled", replaced(&words[at..at + length].repeat(2)));
            let next_start = at + length;
            let next = (words.get(next_start).copied().unwrap_or_default() >> 16) as usize;
            if operands(words.get(next_start).copied().unwrap_or_default() & 0xffff).is_some() {
                let mut changed = words.to_vec();
                changed[at..next_start + next].rotate_left(length);
                push("moved", Some(changed));
            }
        }
        let flags = if op == op::LOAD { 4 } else { 3 };
        if matches!(op, op::LOAD | op::STORE) && length > flags && words[at + flags] & 0x20 != 0 {
            let mut changed = words.to_vec();
            changed[at + flags] &= !0x20;
            push("private", Some(changed));
        }
        let Some((scope, masks)) = operands(op) else { continue };
        for narrower in [2, 4] {
            if constant(words, at + scope).is_some_and(|scope| scope < narrower || scope == 5) {
                push("narrower", with_constant(words, at + scope, narrower));
            }
        }
        for mask in masks {
            let Some(old) = constant(words, at + mask).filter(|old| *old != 0) else { continue };
            let weaker = [
                ("relaxed", 0),
                ("only acquire", if old & 8 != 0 { old & !0x2008 | 2 } else { old }),
                ("only release", if old & 8 != 0 { old & !0x4008 | 4 } else { old }),
                ("not available", old & !0x2000),
                ("not visible", old & !0x4000),
                ("without global memory", old & !0x40),
                ("without local memory", old & !0x100),
            ];
            for (kind, new) in weaker.into_iter().filter(|(_, new)| *new != old) {
                push(kind, with_constant(words, at + mask, new));
            }
        }
        match op {
            op::ATOMIC_OR | op::ATOMIC_ADD => {
                let mut load = words[at..at + 6].to_vec();
                load[0] = 6 << 16 | op::ATOMIC_LOAD;
                push("a load", replaced(&load));
            }
            op::ATOMIC_EXCHANGE => {
                let [pointer, scope, mask, value] = [3, 4, 5, 6].map(|word| words[at + word]);
                push("a store", replaced(&[5 << 16 | op::ATOMIC_STORE, pointer, scope, mask, value]));
            }
            _ => {}
        }
    }
    mutants
}

/// Whether the outcomes of a changed module are allowed by OpenCL, in this test: the change is harmless there.
fn is_harmless(test: &Test, setting: Setting, mutant: &[u32]) -> bool {
    let opencl = super::explored(test, setting, Environment::OpenCl, SeqCst::Strict);
    let found = explore::outcomes(test, mutant, setting, explore::Model::Vulkan, &|_| ());
    found.is_ok_and(|found| !found.has_race && found.outcomes.is_subset(&opencl.outcomes))
}

#[test]
fn mutants_of_modules_are_detected() {
    let tests = litmus::tests();
    let step = if nightly::tests_all("the mutants of a third of the litmus tests") { 1 } else { 3 };
    let (mut killed, mut harmless) = (BTreeMap::<&str, usize>::new(), 0);
    let mut survivors = Vec::new();
    for test in tests.iter().step_by(step) {
        for (setting, name) in named(test) {
            let original = source(test, setting);
            let target = super::module(test, setting, Environment::Vulkan, SeqCst::Strict);
            for Mutant { kind, words } in mutants(&target) {
                match compared(&original, &words, test, setting, 24) {
                    Err(_) => *killed.entry(kind).or_default() += 1,
                    // A change without an effect on any execution is equivalent.
                    Ok(_) if is_harmless(test, setting, &words) => harmless += 1,
                    Ok(_) => survivors.push(format!("{name}: {kind}")),
                }
            }
        }
    }
    let total: usize = killed.values().sum();
    println!("{total} mutants are killed, {harmless} are harmless: {killed:?}");
    assert!(survivors.is_empty(), "{} of them\n{}", survivors.len(), survivors.join("\n"));
    assert!(total >= 100 && killed.len() >= 14, "{killed:?}");
}
