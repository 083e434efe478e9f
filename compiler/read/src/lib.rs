//! Reads SPIR-V modules of the OpenCL environment, of any compiler, into Kiln's IR.
//!
//! The verifier checks the module, and `repair` corrects known mistakes of llvm-spirv. `words` decodes the verified module;
//! `types`, `constants` and `globals` read its declarations; `functions` declares the functions. `body` is the state of a
//! function being read, `flow` reads its blocks, and `instruction` lists the families of instructions; those that compute are
//! in `ops`. A mistake in the module is a [`Problem`], never a panic.
//!
//! Independent of the target: the passes legalize what the instructions need. Must not depend on the front end.
//!
//! ```
//! let mut sources = kiln_session::source::SourceMap::default();
//! let problems = kiln_read::read(&[], &kiln_read::Options::default(), &mut sources).expect_err("no module");
//! assert_eq!(problems[0].to_string(), "word 0: this is not a SPIR-V module [SPIRV-header]");
//! ```

mod aggregates;
mod body;
mod computed;
mod constants;
mod enqueue;
mod flow;
mod fold;
mod functions;
mod globals;
mod inputs;
mod instruction;
mod kernels;
mod memory;
mod ops;
mod pointers;
mod positions;
mod problem;
mod repair;
mod types;
mod words;

pub use problem::Problem;

use kiln_ir::{self as ir, FuncId, Module};
use kiln_session::source::SourceMap;
use kiln_syntax::Span;
use rspirv::spirv::{BuiltIn, ExecutionMode, Op, StorageClass};
use rustc_hash::FxHashMap;

use crate::{
    constants::Constant,
    functions::Signature,
    positions::Positions,
    problem::Outcome,
    types::Types,
    words::{Instruction, Words},
};

/// The options for reading a module.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The bits of specialization constants, by `SpecId`. Others have their default value.
    pub specialization: Vec<(u32, u64)>,
}

/// The state of reading a module.
pub(crate) struct Reader<'w> {
    pub(crate) words: &'w Words<'w>,
    pub(crate) options: &'w Options,
    pub(crate) types: Types,
    pub(crate) constants: FxHashMap<u32, Constant>,
    /// The built-in variables, by id.
    pub(crate) inputs: FxHashMap<u32, BuiltIn>,
    /// The variables of the module that are constants in private memory. Each function has a copy.
    pub(crate) private_constants: Vec<Instruction<'w>>,
    /// The functions that can be called, by id.
    pub(crate) signatures: FxHashMap<u32, Signature>,
    /// The kernels of enqueued functions, by function and number of bytes.
    pub(crate) enqueued: FxHashMap<(u32, u64), FuncId>,
    /// The extended instruction sets, by id.
    pub(crate) sets: FxHashMap<u32, String>,
    pub(crate) module: Module,
    positions: Positions<'w>,
}

/// Reads a module of the OpenCL environment. The result is valid IR, as it is after lowering. The files that it was compiled
/// from are added to the source map.
pub fn read(words: &[u32], options: &Options, sources: &mut SourceMap) -> Result<Module, Vec<Problem>> {
    let findings = errors(words);
    if findings.is_empty() {
        return verified(words, options, sources);
    }
    match repair::repair(words, &findings).filter(|repaired| errors(&repaired.words).is_empty()) {
        Some(repaired) => verified(&repaired.words, options, sources).map_err(|mut problems| {
            problems.iter_mut().for_each(|problem| repaired.relocate(problem));
            problems
        }),
        None => Err(findings.into_iter().map(Problem::from).collect()),
    }
}

/// Whether a module has features that only the reader supports or rejects: mistakes that it repairs, untyped pointers, vectors
/// of lengths that OpenCL C lacks, private variables at module scope, and modes such as other roundings. A device that executes
/// modules of the OpenCL environment then needs a translation.
pub fn needs_reader(words: &[u32]) -> bool {
    let findings = errors(words);
    if !findings.is_empty() {
        return repair::repair(words, &findings).is_some_and(|repaired| errors(&repaired.words).is_empty());
    }
    let is_unusual = |inst: &Instruction<'_>| match inst.op {
        Op::TypeUntypedPointerKHR => true,
        Op::TypeVector => !matches!(inst.operands.get(1), Some(2..=4 | 8 | 16)),
        Op::Variable => inst.operands.first() == Some(&(StorageClass::Function as u32)),
        Op::ExecutionMode => inst
            .operands
            .get(1)
            .and_then(|&mode| ExecutionMode::from_u32(mode))
            .is_some_and(kernels::is_unsupported),
        _ => false,
    };
    Words::decode(words).is_ok_and(|module| module.preamble().iter().any(is_unusual))
}

/// The verifier's findings for which a module is rejected.
fn errors(words: &[u32]) -> Vec<kiln_verify::Finding> {
    let mut findings = kiln_verify::verify(words, None);
    findings.retain(kiln_verify::Finding::is_error);
    findings
}

fn verified(words: &[u32], options: &Options, sources: &mut SourceMap) -> Result<Module, Vec<Problem>> {
    let words = Words::decode(words).map_err(|problem| vec![problem])?;
    decoded(&words, options, sources).map_err(|mut problems| {
        for position in problems.iter_mut().filter_map(|problem| problem.position.as_mut()) {
            position.line = positions::source_line(&words, position.offset);
        }
        problems
    })
}

fn decoded<'w>(
    words: &'w Words<'w>,
    options: &'w Options,
    sources: &'w mut SourceMap,
) -> Result<Module, Vec<Problem>> {
    let mut reader = Reader {
        words,
        options,
        types: Types::default(),
        constants: FxHashMap::default(),
        inputs: FxHashMap::default(),
        private_constants: Vec::new(),
        signatures: FxHashMap::default(),
        enqueued: FxHashMap::default(),
        sets: FxHashMap::default(),
        module: Module::default(),
        positions: Positions::new(words, sources),
    };
    reader.declarations().map_err(|problem| vec![problem])?;
    let problems = reader.functions();
    if !problems.is_empty() {
        return Err(problems);
    }
    // The SPIR-V verifier does not check all types, so an accepted module can become invalid IR.
    match ir::verify(&reader.module).into_iter().next() {
        None => Ok(reader.module),
        Some(problem) => Err(vec![Problem::new(format!("the module is not valid: {problem}"))]),
    }
}

impl<'w> Reader<'w> {
    /// Reads everything before the functions.
    fn declarations(&mut self) -> Outcome<()> {
        let words = self.words;
        for inst in words.preamble() {
            self.declaration(inst).map_err(|problem| problem.at(inst))?;
        }
        Ok(())
    }

    fn declaration(&mut self, inst: &Instruction<'w>) -> Outcome<()> {
        match inst.op {
            Op::ExtInstImport => {
                self.sets.insert(inst.result()?, inst.text(0).0);
                Ok(())
            }
            Op::MemoryModel => kernels::check_model(inst),
            Op::Variable | Op::UntypedVariableKHR => self.global(inst),
            // Alias scopes are hints.
            Op::AliasDomainDeclINTEL | Op::AliasScopeDeclINTEL | Op::AliasScopeListDeclINTEL => Ok(()),
            _ => {
                let constants = &self.constants;
                let constant = |id| match constants.get(&id)? {
                    Constant::Value(_, value) => value.as_scalar(),
                    _ => None,
                };
                if !self.types.declare(inst, self.words, constant)? {
                    self.declare_constant(inst)?;
                }
                Ok(())
            }
        }
    }

    /// The position of an instruction.
    pub(crate) fn span(&self, inst: &Instruction<'_>) -> Span {
        self.positions.span(self.words, inst)
    }
}
