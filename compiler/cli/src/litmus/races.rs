//! Finds the data races of small launches for the editor, with OpenCL's memory model and a small budget, and a change
//! of the source that removes each race. Offers a fix only if the changed source has no race.

use std::{collections::BTreeSet, ops::Range};

use kiln_build::compile_deep;
use kiln_compiler::{
    Artifact, Emit,
    interface::Interface,
    opencl::Environment,
    session::{Options as CompilerOptions, Source},
    target::Target,
};
use kiln_lsp::{Fix, Race};
use kiln_memory_model::{
    Model, Module, Skeleton, Space,
    explore::{Options, Outcomes, explore},
};

use super::{names::Names, text::described};
use crate::{
    arguments::LaunchArguments,
    files::Files,
    run::bytes::{self, Bytes},
};

/// The maximum number of work-items, of runs of a work-item, of candidate executions, and of iterations of a loop to explore.
const ITEMS: u32 = 8;
const RUNS: usize = 5_000;
const BUDGET: u64 = 100_000;
const MAX_ITERATIONS: u32 = 2;
/// The number of changed sources that are tried.
const ATTEMPTS: usize = 40;

/// The data races of the launch in a source's comment. Empty if the launch exceeds these limits.
pub(crate) fn races(name: &str, text: &str, options: &CompilerOptions) -> Vec<Race> {
    let Some(explored) = Explored::new(name, text, options) else { return Vec::new() };
    let mut search = FixSearch { name, text, options, attempts: 0 };
    let mut shown = BTreeSet::new();
    let mut races = Vec::new();
    for undefined in explored.found.undefined.values() {
        let Some((a, b)) = undefined.events else { continue };
        let event = |index: usize| &undefined.witness.events[index];
        let lines = (event(a).1.line, event(b).1.line);
        if lines.0 == 0 || lines.1 == 0 || !shown.insert((lines.0.min(lines.1), lines.0.max(lines.1))) {
            continue;
        }
        let message =
            format!("{} (OpenCL API 3.3.6)", described(undefined, &|it| explored.names.location(it)));
        let position = |index: usize| undefined.witness.positions[event(index).0].group;
        let space = event(a).1.space;
        let fix = search.find(lines, (position(a) == position(b)).then_some(space));
        races.push(Race { lines, message, fix });
    }
    races
}

/// The names of a launch, and its outcomes according to OpenCL's memory model.
struct Explored {
    names: Names,
    found: Outcomes,
}

impl Explored {
    fn new(name: &str, text: &str, options: &CompilerOptions) -> Option<Self> {
        let given = bytes::launch(&LaunchArguments::default(), text).ok()?;
        let (module, interface) = module(name, text, options)?;
        let Bytes { mut launch, parameters } = bytes::bytes(&given, &interface).ok()?;
        if launch.global.iter().try_fold(1_u32, |all, size| all.checked_mul(*size))? > ITEMS {
            return None;
        }
        (launch.max_iterations, launch.sub_group, launch.only_consistent) = (MAX_ITERATIONS, 1, true);
        launch.max_runs = Some(RUNS);
        let skeleton: Skeleton = module.skeleton(&launch).ok()?;
        let options = Options { budget: BUDGET, ..Options::default() };
        let found = explore(&skeleton, Model::OpenCl, options).ok()?;
        let names = Names::new(parameters, &skeleton, Vec::new(), Vec::new());
        Some(Self { names, found })
    }
}

/// The module for the OpenCL environment, with its lines.
fn module(name: &str, text: &str, options: &CompilerOptions) -> Option<(Module, Interface)> {
    let mut options = options.clone();
    options.target = Target::full(Environment::OpenCl);
    options.debug = true;
    let source = Source { name: name.to_owned(), text: text.as_bytes().to_vec() };
    let output = compile_deep(source, &options, &Files::default(), &Emit::Spirv);
    match output.artifact {
        Some(Artifact::Module(module)) => {
            Some((Module::new(&module.into_words()), output.interface.unwrap_or_default()))
        }
        _ => None,
    }
}

/// Bytes to replace, and their replacements, in order.
type Edits = Vec<(Range<usize>, String)>;

/// The search for a change that removes the races.
struct FixSearch<'t> {
    name: &'t str,
    text: &'t str,
    options: &'t CompilerOptions,
    attempts: usize,
}

impl FixSearch<'_> {
    /// A change that removes the race between accesses in these lines. If both are in one work-group, which accesses
    /// this memory, tries a barrier first, and then stronger orders and wider scopes of the atomic operations.
    fn find(&mut self, lines: (u32, u32), shared: Option<Space>) -> Option<Fix> {
        if let Some(space) = shared {
            let flag = match space {
                Space::Global => "CLK_GLOBAL_MEM_FENCE",
                Space::Local => "CLK_LOCAL_MEM_FENCE",
            };
            for line in [lines.0.max(lines.1), lines.0.min(lines.1)] {
                let edits = vec![self.before(line, &format!("barrier({flag});"))];
                if self.is_free(&edits) {
                    return Some(Fix {
                        title: format!("Insert `barrier({flag})` before line {line}"),
                        edits,
                    });
                }
            }
        }
        let orders = replacements(self.text, stronger);
        let scopes = replacements(self.text, wider);
        let both: Edits = orders.iter().chain(&scopes).cloned().collect();
        let enough = [orders, scopes, both].into_iter().find(|it| !it.is_empty() && self.is_free(it))?;
        let edits = self.reduced(enough);
        let mut words: Vec<&str> = edits.iter().map(|(_, word)| word.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
        Some(Fix { title: format!("Use {}", words.join(" and ")), edits })
    }

    /// Inserts a statement before a line.
    fn before(&self, line: u32, statement: &str) -> (Range<usize>, String) {
        let lines = self.text.split_inclusive('\n').take(line.saturating_sub(1) as usize);
        let start = lines.map(str::len).sum::<usize>();
        let text = &self.text[start..];
        let indent = &text[..text.len() - text.trim_start_matches([' ', '\t']).len()];
        (start..start, format!("{indent}{statement}\n"))
    }

    /// Leaves out the changes that are not needed, one by one.
    fn reduced(&mut self, mut edits: Edits) -> Edits {
        let mut index = 0;
        while index < edits.len() {
            let mut fewer = edits.clone();
            fewer.remove(index);
            match !fewer.is_empty() && self.is_free(&fewer) {
                true => edits = fewer,
                false => index += 1,
            }
        }
        edits
    }

    /// Whether the changed source has no race, and no barrier that only some work-items reach.
    fn is_free(&mut self, edits: &Edits) -> bool {
        self.attempts += 1;
        if self.attempts > ATTEMPTS {
            return false;
        }
        let mut edits = edits.clone();
        edits.sort_by_key(|(range, _)| range.start);
        let mut text = self.text.to_owned();
        for (range, new) in edits.iter().rev() {
            text.replace_range(range.clone(), new);
        }
        let explored = Explored::new(self.name, &text, self.options);
        explored.is_some_and(|it| it.found.undefined.is_empty() && !it.found.is_cut)
    }
}

/// The words of a source that have a replacement, given the call that contains them.
fn replacements(text: &str, replacement: fn(&str, &str) -> Option<&'static str>) -> Edits {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut edits, mut call, mut at) = (Edits::new(), "", 0);
    while let Some(begin) = text[at..].find(is_word).map(|it| at + it) {
        let end = text[begin..].find(|c| !is_word(c)).map_or(text.len(), |it| begin + it);
        let word = &text[begin..end];
        if word.starts_with("atomic_") && text[end..].trim_start().starts_with('(') {
            call = word;
        }
        edits.extend(replacement(call, word).map(|new| (begin..end, new.to_owned())));
        at = end;
    }
    edits
}

/// The order that replaces relaxed: acquire, release, or both, depending on the operation.
fn stronger(call: &str, word: &str) -> Option<&'static str> {
    if word != "memory_order_relaxed" {
        return None;
    }
    Some(match call {
        _ if call.starts_with("atomic_store") || call.starts_with("atomic_flag_clear") => {
            "memory_order_release"
        }
        _ if call.starts_with("atomic_load") => "memory_order_acquire",
        _ if call.starts_with("atomic_work_item_fence") => "memory_order_acq_rel",
        // The order of a compare-exchange that fails cannot release.
        _ if call.starts_with("atomic_compare_exchange") => "memory_order_acquire",
        _ => "memory_order_acq_rel",
    })
}

/// The device scope, for a narrower one.
fn wider(_: &str, word: &str) -> Option<&'static str> {
    ["memory_scope_work_group", "memory_scope_sub_group"].contains(&word).then_some("memory_scope_device")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: &str =
        "// kiln run --global 2 --local 1 --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[1]=0\n";

    fn message(store: &str, load: &str, scope: &str) -> String {
        format!(
            "{LAUNCH}kernel void message(global int *data, global atomic_int *flag, global int *seen) {{\n    if \
             (get_global_id(0) == 0) {{\n        *data = 1;\n        atomic_store_explicit(flag, 1, memory_order_{store}, \
             memory_scope_{scope});\n    }} else if (atomic_load_explicit(flag, memory_order_{load}, \
             memory_scope_{scope})) {{\n        *seen = *data;\n    }}\n}}\n"
        )
    }

    fn found(text: &str) -> Vec<Race> {
        races("a.cl", text, &CompilerOptions::default())
    }

    fn title(text: &str) -> Option<String> {
        let races = found(text);
        races.first().and_then(|race| race.fix.as_ref()).map(|fix| fix.title.clone())
    }

    #[test]
    fn the_weakest_change_of_orders_and_scopes_is_a_fix() {
        assert!(found(&message("release", "acquire", "device")).is_empty());
        let races = found(&message("relaxed", "acquire", "device"));
        assert_eq!(races.len(), 1);
        assert_eq!(races[0].lines, (4, 7));
        assert!(races[0].message.starts_with("data race: work-item 0, line 4 (data = 1), and"), "{races:?}");
        for (store, load, scope, fix) in [
            ("relaxed", "acquire", "device", "Use `memory_order_release`"),
            ("release", "relaxed", "device", "Use `memory_order_acquire`"),
            ("relaxed", "relaxed", "device", "Use `memory_order_acquire` and `memory_order_release`"),
            ("release", "acquire", "work_group", "Use `memory_scope_device`"),
        ] {
            assert_eq!(title(&message(store, load, scope)).as_deref(), Some(fix));
        }
    }

    #[test]
    fn a_missing_barrier_is_a_fix() {
        let source = |barrier: &str| {
            format!(
                "// kiln run --global 2 --local 2 --arg buf:int[2]=0\nkernel void neighbor(global int *out) {{\n    local \
                 int tile[2];\n    int i = get_local_id(0);\n    tile[i] = i + 1;\n{barrier}    out[i] = tile[1 - i];\n}}\n"
            )
        };
        assert!(found(&source("    barrier(CLK_LOCAL_MEM_FENCE);\n")).is_empty());
        let text = source("");
        let races = found(&text);
        let fix = races[0].fix.as_ref().expect("a fix");
        assert_eq!(fix.title, "Insert `barrier(CLK_LOCAL_MEM_FENCE)` before line 6");
        let mut changed = text.clone();
        for (range, new) in fix.edits.iter().rev() {
            changed.replace_range(range.clone(), new);
        }
        assert_eq!(changed, source("    barrier(CLK_LOCAL_MEM_FENCE);\n"));
    }

    #[test]
    fn large_launches_and_sources_without_a_launch_are_not_explored() {
        let race = "kernel void k(global int *x) { *x = get_global_id(0); }\n";
        assert_eq!(found(&format!("// kiln run --global 4 --arg buf:int[1]=0\n{race}")).len(), 1);
        assert!(found(&format!("// kiln run --global 64 --arg buf:int[1]=0\n{race}")).is_empty());
        assert!(found(race).is_empty());
    }
}
