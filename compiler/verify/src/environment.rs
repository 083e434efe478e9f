//! Rules of the client environment for the whole module: models, entry points, types, storage classes.
//!
//! Vulkan: standalone SPIR-V validation. OpenCL: the validation rules of the OpenCL SPIR-V environment.

use rspirv::spirv::{AddressingModel, ExecutionModel, ImageFormat, MemoryModel, Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Context, Finding, Rule,
    module::{Entry, Module},
    operand::Operand,
};
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[
    MODEL,
    TARGET,
    VK_ADDRESSING,
    VK_ENTRY,
    VK_RECURSION,
    VK_STORAGE,
    VK_OUTPUT,
    VK_FORWARD,
    VK_INITIALIZER,
    VK_PUSH_INTERFACE,
    VK_PUSH_USE,
    CL_ADDRESSING,
    CL_MODEL,
    CL_EXECUTION,
    CL_RECURSION,
    CL_INT,
    CL_IMAGE,
    INTERFACE,
];

const MODEL: Rule = Rule { id: "SPIRV-OpMemoryModel", text: "a module has exactly one OpMemoryModel" };
const TARGET: Rule =
    Rule { id: "Kiln-environment", text: "the memory model is that of the target environment" };
const VK_ADDRESSING: Rule = Rule {
    id: "VUID-StandaloneSpirv-None-04635",
    text: "the addressing model is Logical or PhysicalStorageBuffer64",
};
const VK_ENTRY: Rule =
    Rule { id: "VUID-StandaloneSpirv-None-04633", text: "entry points return nothing and take no arguments" };
const VK_RECURSION: Rule =
    Rule { id: "VUID-StandaloneSpirv-None-04634", text: "the call graph of an entry point has no cycles" };
const VK_STORAGE: Rule =
    Rule { id: "VUID-StandaloneSpirv-None-04643", text: "only the storage classes of Vulkan are used" };
const VK_OUTPUT: Rule =
    Rule { id: "VUID-StandaloneSpirv-None-04644", text: "GLCompute has no Output variables" };
const VK_FORWARD: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpTypeForwardPointer-04711",
    text: "the storage class of OpTypeForwardPointer is PhysicalStorageBuffer",
};
const VK_INITIALIZER: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpVariable-04651",
    text: "only Output, Private, Function and Workgroup variables have initializers",
};
const VK_PUSH_INTERFACE: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpVariable-06673",
    text: "an entry point lists at most one PushConstant variable",
};
const VK_PUSH_USE: Rule = Rule {
    id: "VUID-StandaloneSpirv-OpEntryPoint-06674",
    text: "an entry point statically uses at most one PushConstant variable",
};
const CL_ADDRESSING: Rule =
    Rule { id: "OpenCL-addressing-model", text: "the addressing model is Physical32 or Physical64" };
const CL_MODEL: Rule = Rule { id: "OpenCL-execution-model", text: "the execution model is Kernel" };
const CL_EXECUTION: Rule =
    Rule { id: "OpenCL-entry-point-call", text: "entry points are not called and return nothing" };
const CL_RECURSION: Rule =
    Rule { id: "OpenCL-recursion", text: "the call graph of an entry point has no cycles" };
const CL_INT: Rule = Rule { id: "OpenCL-OpTypeInt", text: "the signedness of integer types is 0" };
const CL_IMAGE: Rule = Rule {
    id: "OpenCL-OpTypeImage",
    text: "image types have the sampled type void, Sampled 0, MS 0, no format and an access qualifier; \
           arrays are 1D or 2D",
};
const INTERFACE: Rule = Rule {
    id: "SPIRV-OpEntryPoint-interface",
    text: "since SPIR-V 1.4 an entry point lists every module-scope variable that it uses; before, only Input and Output",
};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    models(context, findings);
    for entry in &module.entries {
        match context.environment {
            Environment::Vulkan => vulkan_entry(entry, findings),
            Environment::OpenCl => opencl_entry(module, entry, findings),
        }
        if entry.op() == Op::EntryPoint {
            entry_point(context, entry, findings);
        }
    }
}

fn models(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    let mut models = module.entries.iter().filter(|entry| entry.op() == Op::MemoryModel);
    let Some(model) = models.next() else {
        findings.push(Finding::of_module(&MODEL, "the module has no OpMemoryModel"));
        return;
    };
    for other in models {
        findings.push(other.finding(&MODEL, "the module has another OpMemoryModel"));
    }
    if let Some(target) = context.target
        && target.environment != context.environment
    {
        let message =
            format!("the module is for {:?}, but {:?} is expected", context.environment, target.environment);
        findings.push(model.finding(&TARGET, message));
    }
    let Some((addressing, _)) = module.memory_model() else { return };
    use AddressingModel::*;
    match (context.environment, addressing) {
        (Environment::Vulkan, Logical | PhysicalStorageBuffer64)
        | (Environment::OpenCl, Physical32 | Physical64) => {}
        (Environment::Vulkan, Physical32 | Physical64) => {
            findings.push(model.finding(&VK_ADDRESSING, format!("it is {addressing:?}")));
        }
        (Environment::OpenCl, Logical | PhysicalStorageBuffer64) => {
            findings.push(model.finding(&CL_ADDRESSING, format!("it is {addressing:?}")));
        }
    }
}

/// The environment of a module, from its memory model.
pub(super) fn environment_of(module: &Module<'_>) -> Environment {
    match module.memory_model() {
        Some((_, MemoryModel::OpenCL)) => Environment::OpenCl,
        Some((_, MemoryModel::Simple | MemoryModel::GLSL450 | MemoryModel::Vulkan)) | None => {
            Environment::Vulkan
        }
    }
}

fn vulkan_entry(entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    for operand in entry.operands() {
        if let Operand::StorageClass(class) = operand
            && matches!(
                class,
                StorageClass::CrossWorkgroup | StorageClass::Generic | StorageClass::AtomicCounter
            )
        {
            findings.push(entry.finding(&VK_STORAGE, format!("the storage class is {class:?}")));
        }
    }
    match (entry.op(), entry.operands()) {
        (Op::TypeForwardPointer, [_, Operand::StorageClass(class)])
            if *class != StorageClass::PhysicalStorageBuffer =>
        {
            findings.push(entry.finding(&VK_FORWARD, format!("the storage class is {class:?}")));
        }
        (Op::Variable, [Operand::StorageClass(class), _, ..]) => {
            use StorageClass::*;
            if !matches!(class, Output | Private | Function | Workgroup) {
                findings.push(entry.finding(&VK_INITIALIZER, format!("the variable is in {class:?}")));
            }
        }
        _ => {}
    }
}

fn opencl_entry(module: &Module<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    match (entry.op(), entry.operands()) {
        (Op::TypeInt, [_, Operand::LiteralBit32(signedness)]) if *signedness != 0 => {
            findings.push(entry.finding(&CL_INT, "the type is signed"));
        }
        (Op::TypeImage, operands) => {
            let void =
                entry.id(0).and_then(|ty| module.definition(ty)).is_some_and(|ty| ty.op() == Op::TypeVoid);
            let numbers = |index: usize| entry.literal(index);
            use rspirv::spirv::Dim;
            let one_or_two = matches!(operands.get(1), Some(Operand::Dim(Dim::Dim1D | Dim::Dim2D)));
            let lawful = void
                && (numbers(3) != Some(1) || one_or_two)
                && numbers(4) == Some(0)
                && numbers(5) == Some(0)
                && matches!(operands.get(6), Some(Operand::ImageFormat(ImageFormat::Unknown)))
                && matches!(operands.get(7), Some(Operand::AccessQualifier(_)));
            if !lawful {
                findings.push(entry.finding(&CL_IMAGE, "OpenCL has no such image type"));
            }
        }
        _ => {}
    }
}

fn entry_point(context: &Context<'_>, entry: &Entry<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    let (Some(Operand::ExecutionModel(model)), Some(id)) = (entry.operands().first(), entry.id(1)) else {
        return;
    };
    let Some(function) = module.function(id) else { return };
    let body = module.body(function);
    let takes = body.iter().any(|entry| entry.op() == Op::FunctionParameter);
    let returns = body[0].result_type.and_then(|ty| module.definition(ty));
    let returns = returns.is_some_and(|ty| ty.op() != Op::TypeVoid);
    let name = || module.name(id);
    let (reached, recursive) = context.calls.reachable_functions(id);
    match context.environment {
        Environment::Vulkan => {
            if takes || returns {
                findings.push(entry.finding(&VK_ENTRY, format!("{} has parameters or a result", name())));
            }
            if recursive {
                findings
                    .push(entry.finding(&VK_RECURSION, format!("{} reaches a recursive function", name())));
            }
        }
        Environment::OpenCl => {
            if *model != ExecutionModel::Kernel {
                findings.push(entry.finding(&CL_MODEL, format!("{} is {model:?}", name())));
            }
            if returns || context.calls.is_called(id) {
                findings.push(entry.finding(&CL_EXECUTION, format!("{} has a result or is called", name())));
            }
            if recursive {
                findings
                    .push(entry.finding(&CL_RECURSION, format!("{} reaches a recursive function", name())));
            }
        }
    }
    interface(context, *model, entry, &reached, findings);
}

/// Compares the variables that an entry point lists with those that its functions use.
fn interface(
    context: &Context<'_>,
    model: ExecutionModel,
    entry: &Entry<'_>,
    reached: &[Word],
    findings: &mut Vec<Finding>,
) {
    let module = context.module;
    let class = |id: Word| -> Option<StorageClass> {
        let variable = module.definition(id).filter(|entry| entry.op() == Op::Variable)?;
        match variable.operands().first() {
            Some(Operand::StorageClass(class)) if *class != StorageClass::Function => Some(*class),
            _ => None,
        }
    };
    let listed: Vec<Word> = entry.operands().iter().skip(3).filter_map(Operand::id).collect();
    let variables = reached.iter().flat_map(|id| context.calls.variables(*id)).copied();
    let mut used: Vec<Word> = variables.filter(|id| class(*id).is_some()).collect();
    used.sort_unstable();
    used.dedup();
    let whole = module.version >= (1, 4);
    for id in &used {
        let counts = whole || matches!(class(*id), Some(StorageClass::Input | StorageClass::Output));
        if counts && !listed.contains(id) {
            findings.push(entry.finding(&INTERFACE, format!("{} is used but not listed", module.name(*id))));
        }
    }
    for id in &listed {
        let lawful = match class(*id) {
            Some(StorageClass::Input | StorageClass::Output) => true,
            Some(_) => whole,
            None => false,
        };
        if !lawful {
            findings.push(entry.finding(&INTERFACE, format!("{} may not be listed", module.name(*id))));
        }
    }
    if context.environment == Environment::Vulkan {
        let pushed =
            |ids: &[Word]| ids.iter().filter(|id| class(**id) == Some(StorageClass::PushConstant)).count();
        if pushed(&listed) > 1 {
            findings.push(entry.finding(&VK_PUSH_INTERFACE, "it lists several PushConstant variables"));
        }
        if pushed(&used) > 1 {
            findings.push(entry.finding(&VK_PUSH_USE, "it uses several PushConstant variables"));
        }
        let output = listed.iter().any(|id| class(*id) == Some(StorageClass::Output));
        if model == ExecutionModel::GLCompute && output {
            findings.push(entry.finding(&VK_OUTPUT, "it lists an Output variable"));
        }
    }
}

/// The call graph, and the module-scope variables that each function uses.
pub(super) struct Calls {
    functions: FxHashMap<Word, Node>,
    called: FxHashSet<Word>,
}

#[derive(Default)]
struct Node {
    callees: Vec<Word>,
    variables: Vec<Word>,
}

impl Calls {
    /// Collects the calls of a module.
    pub(super) fn collect(module: &Module<'_>) -> Self {
        let mut calls = Self { functions: FxHashMap::default(), called: FxHashSet::default() };
        let end = module.preamble().len();
        let is_variable = |id: Word| {
            let index = module.definition_index(id).filter(|index| *index < end);
            index.is_some_and(|index| module.entries[index].op() == Op::Variable)
        };
        for function in module.functions {
            let mut node = Node::default();
            for entry in module.body(function) {
                let callee = entry.id(0).filter(|_| entry.op() == Op::FunctionCall);
                node.callees.extend(callee);
                node.variables
                    .extend(entry.operands().iter().filter_map(Operand::id).filter(|id| is_variable(*id)));
            }
            for list in [&mut node.callees, &mut node.variables] {
                list.sort_unstable();
                list.dedup();
            }
            calls.called.extend(&node.callees);
            calls.functions.insert(function.id, node);
        }
        calls
    }

    fn is_called(&self, id: Word) -> bool {
        self.called.contains(&id)
    }

    /// The module-scope variables that the function itself uses.
    fn variables(&self, function: Word) -> &[Word] {
        self.functions.get(&function).map_or(&[], |node| &node.variables)
    }

    /// The functions reachable from an entry point, and whether the call graph has a cycle.
    pub(super) fn reachable_functions(&self, entry: Word) -> (Vec<Word>, bool) {
        let mut reached = vec![entry];
        let mut state: FxHashMap<Word, bool> = FxHashMap::default();
        let mut path: Vec<(Word, usize)> = vec![(entry, 0)];
        let mut recursive = false;
        state.insert(entry, true);
        while let Some((function, next)) = path.last_mut() {
            let callee = self.functions.get(function).and_then(|node| node.callees.get(*next)).copied();
            *next += 1;
            match callee {
                None => {
                    state.insert(*function, false);
                    path.pop();
                }
                Some(callee) => match state.get(&callee) {
                    Some(open) => recursive |= open,
                    None => {
                        state.insert(callee, true);
                        reached.push(callee);
                        path.push((callee, 0));
                    }
                },
            }
        }
        (reached, recursive)
    }
}
