//! `kiln explain --mapping`: what the atomic operations, fences and barriers of a source become on Vulkan, and why.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use clap::ArgMatches;
use kiln_compiler::{opencl::Environment, session::Source, target::Target};
use kiln_memory_model::{Module, Synchronization, scope, semantics};

use crate::{
    compile,
    exit::{Failure, Outcome},
    files::{Files, write_output},
    options::CompileOptions,
};

/// The operations of each line, without repetitions.
type Lines = BTreeMap<(String, u32), Vec<Synchronization>>;

/// Prints the mapping of a source.
pub(super) fn show(
    path: &str,
    shown: &CompileOptions,
    matches: &ArgMatches,
    files: &Files,
) -> Result<Outcome, Failure> {
    let source = files.source(path)?;
    let lines = |environment| lines(&source, environment, (shown, matches), files);
    let both = lines(Environment::OpenCl).and_then(|opencl| Ok((opencl, lines(Environment::Vulkan)?)));
    let (opencl, vulkan) = match both {
        Ok(both) => both,
        Err(outcome) => return Ok(outcome),
    };
    write_output("-", table(&source, &opencl, &vulkan).as_bytes())?;
    Ok(Outcome::Success)
}

fn lines(
    source: &Source,
    environment: Environment,
    (shown, matches): (&CompileOptions, &ArgMatches),
    files: &Files,
) -> Result<Lines, Outcome> {
    let mut options = shown.to_options(Target::full(environment), matches);
    options.debug = true;
    options.warnings.none |= environment == Environment::Vulkan;
    let (module, _) = compile::module(source.clone(), &options, files, shown)?;
    let mut lines = Lines::new();
    for it in Module::new(&module.into_words()).synchronization() {
        let known = lines.entry((it.file.clone(), it.line)).or_default();
        if !known.contains(&it) {
            known.push(it);
        }
    }
    Ok(lines)
}

/// The source lines with operations, the instructions that they become, and the rules for that.
fn table(source: &Source, opencl: &Lines, vulkan: &Lines) -> String {
    let text = String::from_utf8_lossy(&source.text);
    let text: Vec<&str> = text.lines().collect();
    let mut table = String::new();
    let positions: BTreeSet<&(String, u32)> = opencl.keys().chain(vulkan.keys()).collect();
    for position in positions {
        let of = |lines: &Lines| lines.get(position).cloned().unwrap_or_default();
        let (before, after) = (of(opencl), of(vulkan));
        let (file, number) = position;
        let _ = match text.get((*number as usize).wrapping_sub(1)).filter(|_| *file == source.name) {
            Some(line) => writeln!(table, "line {number}: {}", line.trim()),
            None => writeln!(table, "{file}, line {number}"),
        };
        for it in &after {
            let _ = writeln!(table, "    {it}");
        }
        for (name, why) in rules(&before, &after) {
            let _ = writeln!(table, "    {name}: {why}");
        }
    }
    match table.is_empty() {
        true => table.push_str("The source has no atomic operations, fences or barriers.\n"),
        false => table.push_str("\ndocs/memory-model.md contains the rules.\n"),
    }
    table
}

/// The rules that explain the difference between the operations of a line in OpenCL and on Vulkan.
fn rules(before: &[Synchronization], after: &[Synchronization]) -> Vec<(&'static str, &'static str)> {
    let has = |all: &[Synchronization], name: &str| all.iter().any(|it| it.name == name);
    let has_seq_cst = before.iter().any(Synchronization::is_seq_cst);
    let is_seq_cst_fence = |it: &Synchronization| it.is_seq_cst() && it.name == "OpMemoryBarrier";
    let is_narrow = |it: &Synchronization| matches!(it.scope, scope::WORKGROUP | scope::SUBGROUP);
    let orders_one = |it: &Synchronization| {
        let memory = it.semantics & (semantics::CROSS_WORKGROUP_MEMORY | semantics::WORKGROUP_MEMORY);
        it.is_ordered() && !it.is_seq_cst() && memory.count_ones() == 1
    };
    let both = semantics::UNIFORM_MEMORY | semantics::WORKGROUP_MEMORY;
    let orders_both = |it: &Synchronization| it.is_ordered() && it.semantics & both == both;
    let loads = has(before, "OpAtomicLoad") && has(after, "OpAtomicLoad");
    let exchanges = has(before, "OpAtomicStore") && has(after, "OpAtomicExchange");
    let stores = exchanges || has(before, "OpAtomicStore") && has(after, "OpAtomicStore");
    let compares = has(before, "OpAtomicCompareExchange") || has(before, "OpAtomicCompareExchangeWeak");
    let all = [
        (
            before.iter().any(|it| it.is_seq_cst() && !is_seq_cst_fence(it)),
            "R1",
            "Vulkan has no total order S; read-modify-writes that acquire and release have one",
        ),
        (exchanges && !has_seq_cst, "R2", "a seq_cst operation can access the same object"),
        (
            loads && before.iter().any(is_narrow) && !after.iter().all(is_narrow),
            "R3",
            "a seq_cst load of the same object is a write on Vulkan, so each load has the widest scope",
        ),
        (
            stores
                && !before.iter().all(Synchronization::is_ordered)
                && after.iter().all(Synchronization::is_ordered),
            "R4",
            "only read-modify-writes continue a release sequence on Vulkan, so this store releases too",
        ),
        (
            compares && has(after, "OpAtomicOr"),
            "R5",
            "a compare-exchange that fails writes nothing, so it reads again",
        ),
        (
            before.iter().any(is_seq_cst_fence),
            "R6",
            "a seq_cst fence is a read-modify-write of a word that all work-items share",
        ),
        (
            before.iter().any(orders_one) && after.iter().any(orders_both),
            "R7",
            "the program has seq_cst operations and orders both memories, so this operation orders both",
        ),
        (
            before.is_empty() && has(after, "OpAtomicLoad"),
            "R11",
            "a seq_cst load of the same object is a write on Vulkan, so this plain load is atomic",
        ),
    ];
    all.into_iter().filter(|it| it.0).map(|(_, name, why)| (name, why)).collect()
}
