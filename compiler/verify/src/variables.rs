//! Vulkan's rules for variables of each storage class, for pointers into them, and for entry points that use
//! work-groups (standalone SPIR-V validation).

use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    operand::Operand,
};
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[
    WORKGROUP_NULL,
    PUSH_STRUCT,
    PUSH_BLOCK,
    UNIFORM_BLOCK,
    BOUND,
    UNIFORM_STORE,
    BUILTIN_TWICE,
    WORKGROUP_MODEL,
    EXECUTION_MODEL,
    MEMORY_MODEL,
    LOCAL_SIZE,
    CHAIN_CLASS,
    CHAIN_WORKGROUP,
    CHAIN_STORAGE,
    CLOCK,
];

const WORKGROUP_NULL: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpVariable-04734",
    text: "the initializer of a Workgroup variable is OpConstantNull",
};
const PUSH_STRUCT: Rule =
    Rule { id: "VUID-StandaloneSpirv-PushConstant-06808", text: "a PushConstant variable is a structure" };
const PUSH_BLOCK: Rule = Rule {
    id: "VUID-StandaloneSpirv-PushConstant-06675",
    text: "PushConstant and StorageBuffer variables are decorated Block",
};
const UNIFORM_BLOCK: Rule = Rule {
    id: "VUID-StandaloneSpirv-Uniform-06676",
    text: "Uniform variables are decorated Block or BufferBlock",
};
const BOUND: Rule = Rule {
    id: "VUID-StandaloneSpirv-UniformConstant-06677",
    text: "UniformConstant, StorageBuffer and Uniform variables have DescriptorSet and Binding",
};
const UNIFORM_STORE: Rule = Rule {
    id: "VUID-StandaloneSpirv-Uniform-06925",
    text: "no instruction stores to a Uniform variable decorated Block",
};
const BUILTIN_TWICE: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpEntryPoint-09658",
    text: "the Input interface of an entry point has each BuiltIn at most once",
};
const WORKGROUP_MODEL: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-04645",
    text: "only task, mesh and compute entry points use Workgroup variables",
};
const EXECUTION_MODEL: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-04637",
    text: "only task, mesh, tessellation control and compute entry points use Workgroup as execution scope",
};
const MEMORY_MODEL: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-07321",
    text: "only task, mesh, tessellation control and compute entry points use Workgroup as memory scope",
};
const LOCAL_SIZE: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-10685",
    text: "a compute entry point has LocalSize or LocalSizeId, or an object is decorated WorkgroupSize",
};
const CHAIN_CLASS: Rule = Rule {
    id: "VUID-StandaloneSpirv-Base-07650",
    text: "the base of OpPtrAccessChain is in Workgroup, StorageBuffer or PhysicalStorageBuffer",
};
const CHAIN_WORKGROUP: Rule = Rule {
    id: "VUID-StandaloneSpirv-Base-07651",
    text: "OpPtrAccessChain into Workgroup needs VariablePointers",
};
const CHAIN_STORAGE: Rule = Rule {
    id: "VUID-StandaloneSpirv-Base-07652",
    text: "OpPtrAccessChain into StorageBuffer needs VariablePointers or VariablePointersStorageBuffer",
};
const CLOCK: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpReadClockKHR-04652",
    text: "the scope of OpReadClockKHR is Subgroup or Device",
};

/// The numbers of SPIR-V's scopes.
mod scope {
    pub(super) const DEVICE: u32 = 1;
    pub(super) const WORKGROUP: u32 = 2;
    pub(super) const SUBGROUP: u32 = 3;
}

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.environment != Environment::Vulkan {
        return;
    }
    let module = context.module;
    let decorations = Decorations::from_module(module);
    for entry in &module.entries {
        match entry.op() {
            Op::Variable => variable(module, &decorations, entry, findings),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => chain(module, entry, findings),
            Op::Store => store(module, &decorations, entry, findings),
            Op::ReadClockKHR => {
                let scope = entry.id(0).and_then(|scope| module.constant(scope));
                if scope.is_some_and(|scope| !matches!(scope, scope::DEVICE | scope::SUBGROUP)) {
                    findings.push(entry.finding(&CLOCK, "it has a different scope"));
                }
            }
            _ => {}
        }
    }
    let entry_points = module.preamble().iter().filter(|entry| entry.op() == Op::EntryPoint);
    for entry in entry_points {
        entry_point(context, &decorations, entry, findings);
    }
}

/// The decorations of each id, and its built-in.
struct Decorations {
    plain: FxHashSet<(Word, u32)>,
    builtins: FxHashMap<Word, BuiltIn>,
}

impl Decorations {
    fn from_module(module: &Module<'_>) -> Self {
        let mut all = Self { plain: FxHashSet::default(), builtins: FxHashMap::default() };
        for entry in module.preamble().iter().filter(|entry| entry.op() == Op::Decorate) {
            if let (Some(id), Some(Operand::Decoration(decoration))) = (entry.id(0), entry.operands().get(1))
            {
                all.plain.insert((id, *decoration as u32));
                if let Some(Operand::BuiltIn(builtin)) = entry.operands().get(2) {
                    all.builtins.insert(id, *builtin);
                }
            }
        }
        all
    }

    fn has(&self, id: Word, decoration: Decoration) -> bool {
        self.plain.contains(&(id, decoration as u32))
    }
}

/// The storage class of a variable.
fn class_of(entry: &Entry<'_>) -> Option<StorageClass> {
    match entry.operands().first() {
        Some(Operand::StorageClass(class)) if entry.op() == Op::Variable => Some(*class),
        _ => None,
    }
}

/// The pointee of a variable's type, without enclosing arrays.
fn pointee(module: &Module<'_>, pointer: Word) -> Option<Word> {
    let (_, mut ty) = module.pointer(pointer)?;
    while let Some(array) =
        module.definition(ty).filter(|it| matches!(it.op(), Op::TypeArray | Op::TypeRuntimeArray))
    {
        let element = array.id(0)?;
        // In an invalid module, an array can be an element of itself.
        if module.definition_index(element) >= module.definition_index(ty) {
            return None;
        }
        ty = element;
    }
    Some(ty)
}

fn variable(module: &Module<'_>, decorations: &Decorations, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let (Some(class), Some(id), Some(pointer)) = (class_of(entry), entry.result_id, entry.result_type) else {
        return;
    };
    let has = |decoration| pointee(module, pointer).is_some_and(|ty| decorations.has(ty, decoration));
    let name = || module.name(id);
    match class {
        StorageClass::Workgroup => {
            let initializer = entry.id(1).and_then(|value| module.definition(value));
            if initializer.is_some_and(|value| value.op() != Op::ConstantNull) {
                findings
                    .push(entry.finding(&WORKGROUP_NULL, format!("{} has a different initializer", name())));
            }
        }
        StorageClass::PushConstant => {
            let ty = module.pointer(pointer).and_then(|(_, ty)| module.definition(ty));
            if ty.is_some_and(|ty| ty.op() != Op::TypeStruct) {
                findings.push(entry.finding(&PUSH_STRUCT, format!("{} is not a structure", name())));
            }
        }
        _ => {}
    }
    let is_block = has(Decoration::Block);
    if matches!(class, StorageClass::PushConstant | StorageClass::StorageBuffer) && !is_block {
        findings.push(entry.finding(&PUSH_BLOCK, format!("{} is not decorated Block", name())));
    }
    if class == StorageClass::Uniform && !is_block && !has(Decoration::BufferBlock) {
        findings.push(entry.finding(&UNIFORM_BLOCK, format!("{} has neither decoration", name())));
    }
    let is_resource =
        matches!(class, StorageClass::UniformConstant | StorageClass::StorageBuffer | StorageClass::Uniform);
    let is_bound = [Decoration::DescriptorSet, Decoration::Binding].iter().all(|&it| decorations.has(id, it));
    if is_resource && !is_bound && !decorations.has(id, Decoration::BuiltIn) {
        findings.push(entry.finding(&BOUND, format!("{} does not have both", name())));
    }
}

fn chain(module: &Module<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let base = entry.id(0).and_then(|base| module.type_of(base)).and_then(|ty| module.pointer(ty));
    let Some((class, _)) = base else { return };
    match class {
        StorageClass::PhysicalStorageBuffer => {}
        StorageClass::Workgroup => {
            if !module.has(Capability::VariablePointers) {
                findings.push(entry.finding(&CHAIN_WORKGROUP, "VariablePointers is not declared"));
            }
        }
        StorageClass::StorageBuffer => {
            if !module.has(Capability::VariablePointers)
                && !module.has(Capability::VariablePointersStorageBuffer)
            {
                findings.push(entry.finding(&CHAIN_STORAGE, "neither capability is declared"));
            }
        }
        _ => findings.push(entry.finding(&CHAIN_CLASS, format!("it is in {class:?}"))),
    }
}

/// The maximum number of access chains to follow from a store to its variable.
const MAX_CHAINS: usize = 1024;

/// Rejects stores to a uniform block, direct or through access chains.
fn store(module: &Module<'_>, decorations: &Decorations, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let mut base = entry.id(0);
    // In an invalid module, chains can be a cycle.
    for _ in 0..MAX_CHAINS {
        let chain = base.and_then(|id| module.definition(id));
        let chain =
            chain.filter(|it| matches!(it.op(), Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject));
        let Some(chain) = chain else { break };
        base = chain.id(0);
    }
    let variable = base.and_then(|id| module.definition(id));
    if let Some(variable) = variable
        && class_of(variable) == Some(StorageClass::Uniform)
        && let Some(ty) = variable.result_type.and_then(|pointer| pointee(module, pointer))
        && decorations.has(ty, Decoration::Block)
    {
        findings.push(entry.finding(&UNIFORM_STORE, "it stores to such a variable"));
    }
}

fn entry_point(
    context: &Context<'_>,
    decorations: &Decorations,
    entry: &Entry<'_>,
    findings: &mut Vec<Finding>,
) {
    let module = context.module;
    let (Some(Operand::ExecutionModel(model)), Some(id)) = (entry.operands().first(), entry.id(1)) else {
        return;
    };
    let mut inputs: Vec<u32> = Vec::new();
    for variable in
        entry.operands().iter().skip(3).filter_map(Operand::id).filter_map(|id| module.definition(id))
    {
        let builtin = variable.result_id.and_then(|id| decorations.builtins.get(&id));
        if let (Some(StorageClass::Input), Some(&builtin)) = (class_of(variable), builtin) {
            if inputs.contains(&(builtin as u32)) {
                findings.push(entry.finding(&BUILTIN_TWICE, format!("{builtin:?} appears twice")));
            }
            inputs.push(builtin as u32);
        }
    }
    use ExecutionModel::*;
    if *model == GLCompute && !has_size(module, decorations, id) {
        findings.push(entry.finding(&LOCAL_SIZE, format!("{} has no work-group size", module.name(id))));
    }
    if matches!(model, GLCompute | TaskNV | MeshNV | TaskEXT | MeshEXT) {
        return;
    }
    let (reached, _) = context.calls.reachable_functions(id);
    let functions = reached.iter().filter_map(|id| module.function(*id));
    for inside in functions.flat_map(|function| module.body(function)) {
        let is_shared = |id: Word| module.definition(id).and_then(class_of) == Some(StorageClass::Workgroup);
        if inside.operands().iter().filter_map(Operand::id).any(is_shared) {
            findings.push(inside.finding(&WORKGROUP_MODEL, format!("the execution model is {model:?}")));
        }
        if *model != TessellationControl {
            scopes(module, inside, *model, findings);
        }
    }
}

/// Rejects the Workgroup scope in entry points without work-groups. Checks the execution scope first, if there is one.
fn scopes(module: &Module<'_>, entry: &Entry<'_>, model: ExecutionModel, findings: &mut Vec<Finding>) {
    let is_memory = |number: usize| match entry.op() {
        Op::ControlBarrier => number > 0,
        Op::MemoryBarrier | Op::Load | Op::Store => true,
        _ => entry.class.opname.starts_with("Atomic"),
    };
    let scopes = entry.operands().iter().filter_map(|operand| match operand {
        Operand::IdScope(scope) => Some(*scope),
        _ => None,
    });
    for (number, scope) in scopes.enumerate() {
        if module.constant(scope) == Some(scope::WORKGROUP) {
            let rule = if is_memory(number) { &MEMORY_MODEL } else { &EXECUTION_MODEL };
            findings.push(entry.finding(rule, format!("the execution model is {model:?}")));
        }
    }
}

fn has_size(module: &Module<'_>, decorations: &Decorations, id: Word) -> bool {
    let is_mode = |entry: &&Entry<'_>| {
        let mode = entry.operands().get(1);
        matches!(entry.op(), Op::ExecutionMode | Op::ExecutionModeId)
            && entry.id(0) == Some(id)
            && matches!(
                mode,
                Some(Operand::ExecutionMode(ExecutionMode::LocalSize | ExecutionMode::LocalSizeId))
            )
    };
    decorations.builtins.values().any(|builtin| *builtin == BuiltIn::WorkgroupSize)
        || module.preamble().iter().any(|entry| is_mode(&entry))
}
