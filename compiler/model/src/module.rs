//! Decodes SPIR-V modules, and reads their types, constants and kernel interfaces for a launch.
//!
//! Supports modules of any compiler for the OpenCL environment. A Vulkan module must describe its arguments with
//! `NonSemantic.ClspvReflection`, as modules of Kiln and clspv do.

mod alu;
mod annotated;
mod atomic;
mod built_in;
pub(crate) mod edit;
mod extended;
mod interface;
mod layout;
mod listing;
mod memory;
mod observe;
mod skeleton;
mod values;
mod walk;

use std::{collections::BTreeMap, fmt};

use spirv::{Decoration, Op};

pub use annotated::{AnnotatedTest, TestOptions, Undefined};
pub use listing::Synchronization;
pub(crate) use listing::{scope_name, semantics_name};
pub(crate) use observe::{Observer, Prepared};

/// A launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The kernel; empty for the only one.
    pub kernel: String,
    /// The number of work-items in each dimension.
    pub global: [u32; 3],
    /// The number of work-items of a group in each dimension.
    pub local: [u32; 3],
    /// The number of work-items of a sub-group.
    pub sub_group: u32,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// The maximum number of iterations of a loop with accesses to shared memory. Longer runs are cut.
    pub max_iterations: u32,
    /// Whether to keep the events of runs with longer loops.
    pub keeps_cut: bool,
    /// Whether to keep the runs that repeat an iteration of a loop forever, which [`progress`](crate::progress) needs.
    pub keeps_spins: bool,
    /// The initial bytes of variables and parameters by id, instead of arguments: for a module that does not describe its
    /// arguments.
    pub objects: Option<BTreeMap<u32, Vec<u8>>>,
    /// Whether reads can return values out of thin air: those that a store writes only in runs that read such values.
    pub thin_air: bool,
    /// With `thin_air`: values that reads of atomic objects can return, besides the constants of the module.
    pub assumed: Vec<i64>,
    /// The device of each work-group; empty if there is one.
    pub devices: Vec<u32>,
    /// For herd's litmus tests, where a name is one object: all work-groups share the local memory of arguments, and atomic
    /// operations on it have this scope.
    pub shared_local: Option<u32>,
    /// Whether to skip runs with values that no consistent execution has. The forbidden outcomes are not complete then.
    pub only_consistent: bool,
    /// The maximum number of runs of a work-item, if it is not the usual one.
    pub max_runs: Option<usize>,
}

impl Launch {
    /// The number of dimensions with more than one work-item, at least 1.
    pub fn dimensions(&self) -> u32 {
        self.global.iter().rposition(|size| *size > 1).map_or(1, |last| last as u32 + 1)
    }
}

/// An argument of the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A buffer with these bytes.
    Buffer(Vec<u8>),
    /// The bytes of a value.
    Value(Vec<u8>),
    /// Local memory of this size.
    Local(u32),
}

/// Why the runs of a module cannot be enumerated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// The module does not contain the kernel.
    Kernel(String),
    /// This instruction is not supported.
    Instruction(String),
    /// Every run of a work-item has loops with more iterations than are explored, or without an end.
    Long,
    /// Another reason, as a message.
    Other(String),
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(name) if name.is_empty() => {
                f.write_str("the module does not have exactly one kernel")
            }
            Self::Kernel(name) => write!(f, "the module has no kernel `{name}`"),
            Self::Instruction(name) => write!(f, "the explorer does not support {name}"),
            Self::Long => {
                f.write_str("every run of a work-item has loops with more iterations than are explored")
            }
            Self::Other(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Unsupported {}

#[derive(Clone, Debug)]
struct Instruction {
    op: Op,
    words: Vec<u32>,
}

impl Instruction {
    fn word(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or_default()
    }

    /// The literal string at this word.
    fn text(&self, from: usize) -> String {
        let bytes = self.words.iter().skip(from).flat_map(|word| word.to_le_bytes());
        String::from_utf8_lossy(&bytes.take_while(|byte| *byte != 0).collect::<Vec<_>>()).into_owned()
    }
}

/// A decoded SPIR-V module, whose kernels can be run and explored.
#[derive(Clone, Debug)]
pub struct Module {
    instructions: Vec<Instruction>,
    /// The instruction that defines an id.
    definitions: Vec<Option<usize>>,
    /// The number of the value of an id that a function computes, from 1; 0 for other ids.
    slots: Vec<u32>,
    /// The number of these values.
    slot_count: u32,
    /// The values of `BuiltIn` and `SpecId` decorations.
    built_ins: BTreeMap<u32, u32>,
    spec_ids: BTreeMap<u32, u32>,
    /// The byte offsets of members, and the strides of arrays.
    offsets: BTreeMap<(u32, u32), u32>,
    strides: BTreeMap<u32, u32>,
    is_vulkan: bool,
    /// Whether a function has begun.
    has_functions: bool,
}

/// The index of the operand word that contains the result id of an instruction.
fn result(op: Op) -> Option<usize> {
    // Below 320, the opcodes of types and annotations are contiguous. Comparing names is slow.
    let is_type = match op as u32 {
        number @ 0..320 => (Op::TypeVoid as u32..=Op::TypePipe as u32).contains(&number),
        _ => format!("{op:?}").starts_with("Type"),
    };
    let is_annotation = match op as u32 {
        number @ 0..320 => (Op::Decorate as u32..=Op::GroupMemberDecorate as u32).contains(&number),
        _ => format!("{op:?}").contains("Decorate"),
    };
    match op {
        Op::Label | Op::String | Op::ExtInstImport | Op::DecorationGroup => Some(0),
        Op::TypeForwardPointer => None,
        _ if is_type => Some(0),
        Op::Nop
        | Op::Name
        | Op::MemberName
        | Op::Line
        | Op::NoLine
        | Op::Extension
        | Op::MemoryModel
        | Op::EntryPoint
        | Op::ExecutionMode
        | Op::ExecutionModeId
        | Op::Capability
        | Op::ModuleProcessed
        | Op::FunctionEnd
        | Op::Store
        | Op::CopyMemory
        | Op::CopyMemorySized
        | Op::ImageWrite
        | Op::ControlBarrier
        | Op::MemoryBarrier
        | Op::AtomicStore
        | Op::AtomicFlagClear
        | Op::LoopMerge
        | Op::SelectionMerge
        | Op::Branch
        | Op::BranchConditional
        | Op::Switch
        | Op::Kill
        | Op::Return
        | Op::ReturnValue
        | Op::Unreachable
        | Op::LifetimeStart
        | Op::LifetimeStop
        | Op::AssumeTrueKHR => None,
        Op::Source | Op::SourceContinued | Op::SourceExtension => None,
        _ if is_annotation => None,
        _ => Some(1),
    }
}

impl Module {
    /// Decodes the words of a valid module. An invalid module leads to errors later, but never to a panic.
    pub fn new(words: &[u32]) -> Self {
        let mut module = Self {
            instructions: Vec::new(),
            definitions: Vec::new(),
            slots: Vec::new(),
            slot_count: 0,
            has_functions: false,
            built_ins: BTreeMap::new(),
            spec_ids: BTreeMap::new(),
            offsets: BTreeMap::new(),
            strides: BTreeMap::new(),
            is_vulkan: false,
        };
        let mut rest = words.get(5..).unwrap_or_default();
        while let Some(&first) = rest.first() {
            let length = (first >> 16).max(1) as usize;
            let op = Op::from_u32(first & 0xffff).unwrap_or(Op::Nop);
            let Some(operands) = rest.get(1..length) else { break };
            module.add(Instruction { op, words: operands.to_vec() });
            rest = &rest[length..];
        }
        module
    }

    fn add(&mut self, instruction: Instruction) {
        let word = |index: usize| instruction.word(index);
        let is = |decoration: Decoration, at: usize| word(at) == decoration as u32;
        match instruction.op {
            Op::MemoryModel => self.is_vulkan = word(1) == spirv::MemoryModel::Vulkan as u32,
            Op::Decorate if is(Decoration::BuiltIn, 1) => drop(self.built_ins.insert(word(0), word(2))),
            Op::Decorate if is(Decoration::SpecId, 1) => drop(self.spec_ids.insert(word(0), word(2))),
            Op::Decorate if is(Decoration::ArrayStride, 1) => drop(self.strides.insert(word(0), word(2))),
            Op::MemberDecorate if is(Decoration::Offset, 2) => {
                self.offsets.insert((word(0), word(1)), word(3));
            }
            _ => {}
        }
        if let Some(id) = result(instruction.op).and_then(|at| instruction.words.get(at)) {
            let id = *id as usize;
            // The bound of ids is at most this in any environment's limits.
            if id < 0x40_0000 {
                if self.definitions.len() <= id {
                    self.definitions.resize(id + 1, None);
                    self.slots.resize(id + 1, 0);
                }
                self.has_functions |= instruction.op == Op::Function;
                if self.has_functions && self.slots[id] == 0 {
                    self.slot_count += 1;
                    self.slots[id] = self.slot_count;
                }
                self.definitions[id] = Some(self.instructions.len());
            }
        }
        self.instructions.push(instruction);
    }

    fn position(&self, id: u32) -> Option<usize> {
        self.definitions.get(id as usize).copied().flatten()
    }

    fn definition(&self, id: u32) -> Result<&Instruction, Unsupported> {
        let at = self.position(id);
        at.map(|at| &self.instructions[at])
            .ok_or_else(|| Unsupported::Other(format!("the module does not define id {id}")))
    }

    /// The type of a value.
    fn type_of(&self, id: u32) -> Result<u32, Unsupported> {
        Ok(self.definition(id)?.word(0))
    }

    /// The function of a kernel.
    fn entry(&self, name: &str) -> Result<u32, Unsupported> {
        let all = self.instructions.iter().filter(|it| it.op == Op::EntryPoint);
        let mut found = all.filter(|it| name.is_empty() || it.text(2) == name).map(|it| it.word(1));
        match (found.next(), found.next()) {
            (Some(function), None) => Ok(function),
            _ => Err(Unsupported::Kernel(name.to_owned())),
        }
    }

    /// The names of the kernels.
    pub fn kernels(&self) -> Vec<String> {
        let all = self.instructions.iter().filter(|it| it.op == Op::EntryPoint);
        all.map(|it| it.text(2)).collect()
    }
}
