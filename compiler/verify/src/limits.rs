//! The universal limits of SPIR-V (2.17): what every consumer must accept, and no module may exceed.

use rspirv::spirv::{Op, StorageClass, Word};
use rustc_hash::FxHashMap;

use super::{
    Context, Finding, Rule,
    module::{Entry, Function, MAX_BOUND, Module},
    operand::Operand,
};

pub(super) const RULES: &[Rule] = &[
    BOUND, STRING, MEMBERS, STRUCTURES, GLOBALS, LOCALS, MODES, INDEXES, PARAMETERS, ARGUMENTS, CASES,
    NESTING,
];

const BOUND: Rule = Rule { id: "SPIRV-limit-id-bound", text: "the id bound is at most 4194303" };
const STRING: Rule = Rule { id: "SPIRV-limit-string", text: "a literal string has at most 65535 characters" };
const MEMBERS: Rule = Rule { id: "SPIRV-limit-members", text: "a structure has at most 16383 members" };
const STRUCTURES: Rule = Rule {
    id: "SPIRV-limit-structure-nesting",
    text: "structures are nested in structures at most 255 deep",
};
const GLOBALS: Rule = Rule {
    id: "SPIRV-limit-global-variables",
    text: "a module has at most 65535 variables outside functions",
};
const LOCALS: Rule =
    Rule { id: "SPIRV-limit-local-variables", text: "a module has at most 524287 variables in functions" };
const MODES: Rule =
    Rule { id: "SPIRV-limit-execution-modes", text: "an entry point has at most 255 execution modes" };
const INDEXES: Rule = Rule {
    id: "SPIRV-limit-indexes",
    text: "an access chain, OpCompositeExtract or OpCompositeInsert has at most 255 indexes",
};
const PARAMETERS: Rule = Rule { id: "SPIRV-limit-parameters", text: "a function has at most 255 parameters" };
const ARGUMENTS: Rule =
    Rule { id: "SPIRV-limit-arguments", text: "OpFunctionCall and OpExtInst have at most 255 arguments" };
const CASES: Rule = Rule { id: "SPIRV-limit-cases", text: "OpSwitch has at most 16383 cases" };
const NESTING: Rule = Rule {
    id: "SPIRV-limit-nesting",
    text: "at most 1023 selections and loops are open at any point of a function",
};

const MAX_CHARACTERS: usize = 65_535;
const MAX_MEMBERS: usize = 16_383;
const MAX_STRUCTURES: u32 = 255;
const MAX_GLOBALS: usize = 65_535;
const MAX_LOCALS: usize = 524_287;
const MAX_MODES: usize = 255;
const MAX_INDEXES: usize = 255;
const MAX_PARAMETERS: usize = 255;
const MAX_ARGUMENTS: usize = 255;
const MAX_CASES: usize = 16_383;
const MAX_NESTING: usize = 1_023;

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    if module.bound > MAX_BOUND {
        findings.push(Finding::of_module(&BOUND, format!("the id bound is {}", module.bound)));
    }
    for entry in &module.entries {
        if let Some((rule, count, what)) = exceeded(module, entry) {
            findings.push(entry.finding(rule, format!("it has {count} {what}")));
        }
    }
    variables(module, findings);
    execution_modes(module, findings);
    structures(module, findings);
    for function in module.functions {
        nesting(module, function, findings);
    }
}

/// The limit that an instruction exceeds: the rule, the count, and what is counted.
fn exceeded(module: &Module<'_>, entry: &Entry<'_>) -> Option<(&'static Rule, usize, &'static str)> {
    let operands = entry.operands().len();
    let (rule, count, limit, what): (&Rule, _, _, _) = match entry.op() {
        Op::TypeStruct => (&MEMBERS, operands, MAX_MEMBERS, "members"),
        Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain
        | Op::CompositeExtract => (&INDEXES, operands - 1, MAX_INDEXES, "indexes"),
        Op::CompositeInsert => (&INDEXES, operands - 2, MAX_INDEXES, "indexes"),
        Op::TypeFunction => (&PARAMETERS, operands - 1, MAX_PARAMETERS, "parameters"),
        Op::FunctionCall => (&ARGUMENTS, operands - 1, MAX_ARGUMENTS, "arguments"),
        Op::ExtInst => (&ARGUMENTS, operands - 2, MAX_ARGUMENTS, "arguments"),
        // The selector and the default come first.
        Op::Switch => (&CASES, (operands - 2) / 2, MAX_CASES, "cases"),
        _ if module.operand_words(entry).len() * 4 > MAX_CHARACTERS => {
            let length = |operand: &Operand| match operand {
                Operand::LiteralString(at) => Some(module.text(*at).chars().count()),
                _ => None,
            };
            let longest = entry.operands().iter().filter_map(length).max().unwrap_or(0);
            (&STRING, longest, MAX_CHARACTERS, "characters in a string")
        }
        _ => return None,
    };
    (count > limit).then_some((rule, count, what))
}

fn variables(module: &Module<'_>, findings: &mut Vec<Finding>) {
    let (mut globals, mut locals) = (0, 0);
    for entry in module.entries.iter().filter(|entry| entry.op() == Op::Variable) {
        let is_local = entry.operands().first() == Some(&Operand::StorageClass(StorageClass::Function));
        let (count, limit, rule) = match is_local {
            true => (&mut locals, MAX_LOCALS, &LOCALS),
            false => (&mut globals, MAX_GLOBALS, &GLOBALS),
        };
        *count += 1;
        if *count == limit + 1 {
            findings.push(entry.finding(rule, "this variable exceeds the limit"));
        }
    }
}

fn execution_modes(module: &Module<'_>, findings: &mut Vec<Finding>) {
    let mut modes: FxHashMap<Word, usize> = FxHashMap::default();
    for entry in module.preamble() {
        if let (Op::ExecutionMode | Op::ExecutionModeId, Some(id)) = (entry.op(), entry.id(0)) {
            let count = modes.entry(id).or_default();
            *count += 1;
            if *count == MAX_MODES + 1 {
                findings.push(
                    entry.finding(&MODES, format!("this mode of {} exceeds the limit", module.name(id))),
                );
            }
        }
    }
}

/// Computes how deep structures nest. One pass is enough, because a type is defined before its use as a member, except behind a
/// pointer.
fn structures(module: &Module<'_>, findings: &mut Vec<Finding>) {
    let mut depths: FxHashMap<Word, u32> = FxHashMap::default();
    for entry in module.preamble() {
        let members = match entry.op() {
            Op::TypeStruct => entry.operands(),
            Op::TypeArray | Op::TypeRuntimeArray => &entry.operands()[..1],
            _ => continue,
        };
        let inner = members.iter().filter_map(Operand::id).filter_map(|member| depths.get(&member)).max();
        let depth = inner.copied().unwrap_or(0) + u32::from(entry.op() == Op::TypeStruct);
        // One finding for each chain of structures.
        if depth == MAX_STRUCTURES + 1 && entry.op() == Op::TypeStruct {
            findings.push(entry.finding(&STRUCTURES, format!("it contains structures {depth} deep")));
        }
        if let Some(id) = entry.result_id.filter(|_| depth > 0) {
            depths.insert(id, depth);
        }
    }
}

/// Counts, in the order of the words, the merge instructions whose merge block has not begun.
fn nesting(module: &Module<'_>, function: &Function, findings: &mut Vec<Finding>) {
    let mut open: FxHashMap<Word, usize> = FxHashMap::default();
    let mut depth = 0;
    for entry in module.body(function) {
        match (entry.op(), entry.id(0), entry.result_id) {
            (Op::SelectionMerge | Op::LoopMerge, Some(block), _) => {
                *open.entry(block).or_default() += 1;
                depth += 1;
                if depth == MAX_NESTING + 1 {
                    findings.push(entry.finding(&NESTING, "this construct exceeds the limit"));
                    return;
                }
            }
            (Op::Label, _, Some(block)) => depth -= open.remove(&block).unwrap_or(0),
            _ => {}
        }
    }
}
