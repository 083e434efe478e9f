//! The structure of a module: ids, the order of sections, functions and blocks (SPIR-V 2.4 and 2.16.1).

use rspirv::{
    grammar::reflect,
    spirv::{Op, StorageClass, Word},
};
use rustc_hash::FxHashSet;

use super::{
    Context, Finding, Rule,
    extended::Sets,
    module::{Entry, Function, Module},
    operand::Operand,
};

pub(super) const RULES: &[Rule] = &[
    BOUND, ONCE, DEFINED, ORDER, TYPE, OPERAND, BLOCK, FUNCTION, VARIABLE, MERGE, CONTROL, LABEL, SAME_TYPE,
];

const BOUND: Rule = Rule { id: "SPIRV-id-bound", text: "ids are above 0 and below the bound" };
const ONCE: Rule = Rule { id: "SPIRV-id-once", text: "an id is defined once" };
pub(super) const DEFINED: Rule = Rule {
    id: "SPIRV-id-defined",
    text: "a used id is defined, before its use unless forward references are allowed",
};
const ORDER: Rule = Rule { id: "SPIRV-layout", text: "the sections of a module are in order" };
const TYPE: Rule = Rule { id: "SPIRV-result-type", text: "a result type is a type" };
const OPERAND: Rule = Rule {
    id: "SPIRV-operand",
    text: "the operands of the instructions in a block are values, except where they name labels or functions",
};
const BLOCK: Rule = Rule {
    id: "SPIRV-block",
    text: "a block begins with a label and ends with its only termination instruction",
};
const FUNCTION: Rule = Rule {
    id: "SPIRV-function",
    text: "a function has its parameters, then its blocks, then an end, and has the parameters of its type",
};
const VARIABLE: Rule = Rule {
    id: "SPIRV-OpVariable-function",
    text: "Function variables are at the beginning of the first block, other variables outside functions",
};
const MERGE: Rule = Rule {
    id: "SPIRV-merge",
    text: "a merge instruction is immediately before a branch, OpSelectionMerge before a conditional branch",
};
const CONTROL: Rule = Rule {
    id: "SPIRV-merge-control",
    text: "a merge instruction does not have a control and its opposite, such as Unroll and DontUnroll",
};
const LABEL: Rule = Rule {
    id: "SPIRV-branch",
    text: "branches and merge instructions name blocks of the same function, but not its first",
};
const SAME_TYPE: Rule =
    Rule { id: "SPIRV-type-once", text: "types other than aggregates and pointers are declared once" };

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    ids(module, &context.sets, findings);
    sections(module, findings);
    types_once(module, findings);
    for function in module.functions {
        check_function(module, function, findings);
    }
}

fn ids(module: &Module<'_>, sets: &Sets, findings: &mut Vec<Finding>) {
    for (index, entry) in module.entries.iter().enumerate() {
        if let Some(result) = entry.result_id {
            if result == 0 || result >= module.bound {
                let message = format!("%{result} is not below the bound {}", module.bound);
                findings.push(entry.finding(&BOUND, message));
            }
            if module.definition_index(result) != Some(index) {
                findings.push(entry.finding(&ONCE, format!("{} is already defined", module.name(result))));
            }
        }
        if let Some(ty) = entry.result_type {
            match module.definition_index(ty) {
                Some(at) if at < index => {
                    if !is_type(&module.entries[at]) {
                        findings.push(entry.finding(&TYPE, format!("{} is not a type", module.name(ty))));
                    }
                }
                Some(_) | None => {
                    findings.push(entry.finding(&DEFINED, format!("{} is not defined", module.name(ty))));
                }
            }
        }
        let known = sets.known_ids(entry);
        for (position, operand) in entry.operands().iter().enumerate().take(known) {
            let Some(id) = operand.id() else { continue };
            let at = module.definition_index(id);
            let missing = match at {
                None => true,
                Some(at) => at >= index && !allows_forward_reference(module, entry, position, at),
            };
            if missing {
                findings.push(entry.finding(&DEFINED, format!("{} is not defined", module.name(id))));
            } else if let Some(what) = at.and_then(|at| not_a_value(entry, &module.entries[at])) {
                findings.push(entry.finding(&OPERAND, format!("{} is {what}", module.name(id))));
            }
        }
    }
}

pub(super) fn is_type(entry: &Entry<'_>) -> bool {
    entry.result_type.is_none() && entry.class.opname.starts_with("Type")
}

/// What an operand of an instruction in a block is, if it must be a value and is none.
fn not_a_value(entry: &Entry<'_>, operand: &Entry<'_>) -> Option<&'static str> {
    use Op::*;
    if !takes_values(entry) {
        return None;
    }
    if is_type(operand) {
        return Some("a type");
    }
    match (entry.op(), operand.op()) {
        // `branch` checks these.
        (Branch | BranchConditional | Switch | LoopMerge | SelectionMerge | Phi, _) => None,
        (_, Label) => Some("a label"),
        (op, Function) if !names_functions(op) => Some("a function"),
        (op, String) if op != Line => Some("a string"),
        (_, ExtInstImport) => Some("a set of instructions"),
        _ => None,
    }
}

fn names_functions(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        FunctionCall
            | EnqueueKernel
            | GetKernelWorkGroupSize
            | GetKernelPreferredWorkGroupSizeMultiple
            | GetKernelNDrangeSubGroupCount
            | GetKernelNDrangeMaxSubGroupSize
            | GetKernelLocalSizeForSubgroupCount
            | GetKernelMaxNumSubgroups
    )
}

/// Whether the instruction is in a block and takes no types. Extended instructions can take types, as debug information does.
fn takes_values(entry: &Entry<'_>) -> bool {
    use Op::*;
    entry.block > 0
        && !matches!(
            entry.op(),
            Function
                | ExtInst
                | CooperativeMatrixLengthKHR
                | CooperativeMatrixLengthNV
                | UntypedVariableKHR
                | UntypedAccessChainKHR
                | UntypedInBoundsAccessChainKHR
                | UntypedPtrAccessChainKHR
                | UntypedInBoundsPtrAccessChainKHR
                | UntypedArrayLengthKHR
        )
}

/// Whether an operand can be a forward reference (SPIR-V 2.4, last paragraphs). Blocks need not be in execution order, so
/// within functions this rejects only a use before the definition in the same block.
fn allows_forward_reference(
    module: &Module<'_>,
    entry: &Entry<'_>,
    position: usize,
    definition: usize,
) -> bool {
    use Op::*;
    match entry.op() {
        EntryPoint | ExecutionMode | ExecutionModeId | Name | MemberName | Decorate | DecorateId
        | DecorateString | MemberDecorate | MemberDecorateString | GroupDecorate | GroupMemberDecorate
        | TypeForwardPointer => true,
        TypeStruct | TypePointer | TypeArray | TypeRuntimeArray => {
            module.entries[definition].op() == TypePointer
        }
        FunctionCall => position == 0 || !same_block(module, entry, definition),
        Phi | Branch | BranchConditional | Switch | LoopMerge | SelectionMerge => true,
        ExtInst => true,
        op if names_functions(op) => true,
        _ => !same_block(module, entry, definition),
    }
}

/// Whether an entry and a later definition are in the same block, or outside functions.
fn same_block(module: &Module<'_>, entry: &Entry<'_>, definition: usize) -> bool {
    entry.op() != Op::Label && module.entries[definition].block == entry.block
}

/// SPIR-V 2.4: the section numbers. `None` for instructions that are allowed anywhere.
fn section(op: Op) -> Option<u8> {
    use Op::*;
    Some(match op {
        Capability => 1,
        Extension => 2,
        ExtInstImport => 3,
        MemoryModel => 4,
        EntryPoint => 5,
        ExecutionMode | ExecutionModeId => 6,
        String | SourceExtension | Source | SourceContinued => 7,
        Name | MemberName => 8,
        ModuleProcessed => 9,
        Decorate | DecorateId | DecorateString | MemberDecorate | MemberDecorateString | DecorationGroup
        | GroupDecorate | GroupMemberDecorate => 10,
        // A non-semantic OpExtInst can be here; others are in blocks.
        Line | NoLine | ExtInst | Undef | Nop => return None,
        // SPV_INTEL_memory_access_aliasing does not specify a section.
        AliasDomainDeclINTEL | AliasScopeDeclINTEL | AliasScopeListDeclINTEL => return None,
        Function => 12,
        _ if op as u32 >= TypeVoid as u32 && op as u32 <= TypeForwardPointer as u32 => 11,
        TypeUntypedPointerKHR
        | ConstantTrue
        | ConstantFalse
        | Constant
        | ConstantComposite
        | ConstantSampler
        | ConstantNull
        | SpecConstantTrue
        | SpecConstantFalse
        | SpecConstant
        | SpecConstantComposite
        | SpecConstantOp => 11,
        _ => return None,
    })
}

fn sections(module: &Module<'_>, findings: &mut Vec<Finding>) {
    let mut reached = 0;
    let mut inside = false;
    for entry in &module.entries {
        if inside && entry.op() == Op::Function {
            findings.push(entry.finding(&FUNCTION, "the function before it has no end"));
        }
        if !inside && entry.op() == Op::FunctionEnd {
            findings.push(entry.finding(&ORDER, "it is outside a function"));
        }
        inside = match entry.op() {
            Op::Function => true,
            Op::FunctionEnd => false,
            _ => inside,
        };
        match section(entry.op()) {
            Some(section) if section < reached => {
                findings.push(entry.finding(&ORDER, "it comes after a later section"));
            }
            Some(12) => reached = 12,
            Some(section) => reached = section,
            None => {
                let anywhere = matches!(
                    entry.op(),
                    Op::Line
                        | Op::NoLine
                        | Op::ExtInst
                        | Op::Undef
                        | Op::Nop
                        | Op::FunctionEnd
                        | Op::AliasDomainDeclINTEL
                        | Op::AliasScopeDeclINTEL
                        | Op::AliasScopeListDeclINTEL
                );
                // Variables are the only instructions without their own section that are allowed outside functions.
                let is_variable = matches!(entry.op(), Op::Variable | Op::UntypedVariableKHR);
                if !anywhere && !inside && (!is_variable || reached > 11) {
                    findings.push(entry.finding(&ORDER, "it is outside a function"));
                }
            }
        }
    }
    if inside && let Some(last) = module.entries.last() {
        findings.push(last.finding(&FUNCTION, "the last function has no end"));
    }
}

fn types_once(module: &Module<'_>, findings: &mut Vec<Finding>) {
    use Op::*;
    let mut seen = FxHashSet::default();
    for entry in &module.entries {
        let op = entry.op();
        let is_type = section(op) == Some(11) && entry.class.opname.starts_with("Type");
        let may_repeat =
            matches!(op, TypeStruct | TypeArray | TypeRuntimeArray | TypePointer | TypeForwardPointer);
        if is_type && !may_repeat && !seen.insert((op, &module.operand_words(entry)[1..])) {
            findings.push(entry.finding(&SAME_TYPE, "the type is already declared"));
        }
    }
}

fn check_function(module: &Module<'_>, function: &Function, findings: &mut Vec<Finding>) {
    let body = module.body(function);
    signature(module, body, findings);
    let first = body.iter().position(|entry| entry.op() == Op::Label).map(|at| function.entries.start + at);
    let mut open = false;
    let mut leading = true;
    let mut blocks = 0;
    for (index, entry) in body.iter().enumerate().skip(1) {
        let op = entry.op();
        match op {
            Op::Line | Op::NoLine => continue,
            Op::FunctionParameter => {
                if blocks > 0 {
                    findings.push(entry.finding(&FUNCTION, "a parameter after the first block"));
                }
                continue;
            }
            Op::FunctionEnd => {
                if open {
                    findings.push(entry.finding(&BLOCK, "the last block has no termination instruction"));
                }
                continue;
            }
            Op::Label => {
                if open {
                    findings.push(entry.finding(&BLOCK, "the previous block has no termination instruction"));
                }
                open = true;
                leading = blocks == 0;
                blocks += 1;
                continue;
            }
            _ if !open => {
                findings.push(entry.finding(&BLOCK, "it is not in a block"));
                continue;
            }
            Op::Variable | Op::UntypedVariableKHR => {
                let function_class =
                    entry.operands().first() == Some(&Operand::StorageClass(StorageClass::Function));
                if !leading || !function_class {
                    findings.push(entry.finding(&VARIABLE, "it is not at the beginning of the first block"));
                }
                continue;
            }
            Op::LoopMerge | Op::SelectionMerge => {
                merge(module, entry, body.get(index + 1), findings);
                branch(module, entry, function, first, findings);
            }
            Op::Branch | Op::BranchConditional | Op::Switch => {
                branch(module, entry, function, first, findings);
                open = false;
            }
            _ if reflect::is_block_terminator(op) => open = false,
            _ => {}
        }
        leading &= matches!(op, Op::ExtInst | Op::Nop | Op::Undef);
    }
}

fn signature(module: &Module<'_>, body: &[Entry<'_>], findings: &mut Vec<Finding>) {
    let parameters: Vec<Option<Word>> = body
        .iter()
        .filter(|entry| entry.op() == Op::FunctionParameter)
        .map(|entry| entry.result_type)
        .collect();
    let ty = body[0].id(1).and_then(|ty| module.definition(ty)).filter(|ty| ty.op() == Op::TypeFunction);
    let Some(ty) = ty else {
        findings.push(body[0].finding(&FUNCTION, "its type is not a function type"));
        return;
    };
    let declared: Vec<Option<Word>> = (1..ty.operands().len()).map(|index| ty.id(index)).collect();
    if declared != parameters || ty.id(0) != body[0].result_type {
        findings.push(body[0].finding(&FUNCTION, "its parameters or its result differ from its type"));
    }
}

fn merge(module: &Module<'_>, entry: &Entry<'_>, next: Option<&Entry<'_>>, findings: &mut Vec<Finding>) {
    let next = next.map(Entry::op);
    let lawful = match entry.op() {
        Op::LoopMerge => matches!(next, Some(Op::Branch | Op::BranchConditional)),
        _ => matches!(next, Some(Op::BranchConditional | Op::Switch)),
    };
    if !lawful {
        findings.push(entry.finding(&MERGE, "no branch of this kind follows"));
    }
    // Bit 0 is Unroll or Flatten, and bit 1 the opposite.
    let control = if entry.op() == Op::LoopMerge { 2 } else { 1 };
    let is_contrary = module.operand_words(entry).get(control).is_some_and(|bits| bits & 3 == 3);
    if is_contrary {
        findings.push(entry.finding(&CONTROL, "it has both"));
    }
}

/// The labels that a terminator can branch to, or that a merge instruction names.
pub(super) fn branch_targets(entry: &Entry<'_>) -> impl Iterator<Item = Word> {
    let (taken, skipped) = match entry.op() {
        Op::Branch | Op::LoopMerge | Op::SelectionMerge => (usize::MAX, 0),
        // The first id is the condition or the selector.
        Op::BranchConditional | Op::Switch => (usize::MAX, 1),
        _ => (0, 0),
    };
    entry.operands().iter().filter_map(Operand::id).skip(skipped).take(taken)
}

fn branch(
    module: &Module<'_>,
    entry: &Entry<'_>,
    function: &Function,
    first: Option<usize>,
    findings: &mut Vec<Finding>,
) {
    for target in branch_targets(entry) {
        let label = module.definition_index(target);
        let label = label.filter(|at| function.entries.contains(at) && module.entries[*at].op() == Op::Label);
        if label.is_none() {
            let message = format!("{} is not a block of this function", module.name(target));
            findings.push(entry.finding(&LABEL, message));
        } else if label == first {
            findings.push(entry.finding(&LABEL, "the target is the first block"));
        }
    }
}
