//! Lists the atomic operations, fences and barriers of a module, without running it.

use std::fmt;

use spirv::{MemorySemantics, Op, Scope};

use super::Module;

/// An atomic operation, a fence or a barrier of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synchronization {
    /// The source file; empty if the module does not contain it.
    pub file: String,
    /// The source line; 0 if the module does not contain it.
    pub line: u32,
    /// The name of the instruction, such as `OpAtomicLoad`.
    pub name: String,
    /// The SPIR-V scope.
    pub scope: u32,
    /// The SPIR-V semantics; for a compare-exchange, those of success.
    pub semantics: u32,
    /// The semantics of a compare-exchange that fails.
    pub failure: Option<u32>,
}

/// The operation with the names of SPIR-V: `OpAtomicLoad: Device, Acquire + UniformMemory + MakeVisible`.
impl fmt::Display for Synchronization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.name, scope_name(self.scope), semantics_name(self.semantics))?;
        match self.failure {
            Some(failure) => write!(f, ", {} if it fails", semantics_name(failure)),
            None => Ok(()),
        }
    }
}

pub(crate) fn scope_name(scope: u32) -> String {
    Scope::from_u32(scope).map_or_else(|| scope.to_string(), |it| format!("{it:?}"))
}

/// The names of the bits of a mask, in the spelling of the specification.
pub(crate) fn semantics_name(mask: u32) -> String {
    let word = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        format!("{first}{}", rest.to_lowercase())
    };
    let name = |name: &str| name.split('_').map(word).collect::<String>();
    let names: Vec<String> =
        MemorySemantics::from_bits_retain(mask).iter_names().map(|(it, _)| name(it)).collect();
    if names.is_empty() { "Relaxed".to_owned() } else { names.join(" + ") }
}

/// The indexes of the operands of an atomic operation, a fence or a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandIndexes {
    pub(crate) scope: usize,
    pub(crate) semantics: usize,
    pub(crate) failure: Option<usize>,
}

/// The indexes of the operands of this instruction. `None` for other instructions.
pub(crate) fn operands(op: Op) -> Option<OperandIndexes> {
    let (scope, semantics, failure) = match op {
        Op::AtomicStore | Op::AtomicFlagClear | Op::ControlBarrier => (1, 2, None),
        Op::MemoryBarrier => (0, 1, None),
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => (3, 4, Some(5)),
        op if super::walk::is_atomic(op) => (3, 4, None),
        _ => return None,
    };
    Some(OperandIndexes { scope, semantics, failure })
}

impl Module {
    /// The atomic operations, fences and barriers, in the order of the module.
    pub fn synchronization(&self) -> Vec<Synchronization> {
        self.synchronization_by_site().into_iter().map(|(_, it)| it).collect()
    }

    /// The atomic operations, fences and barriers, with the positions of their instructions.
    pub(crate) fn synchronization_by_site(&self) -> Vec<(usize, Synchronization)> {
        let mut all = Vec::new();
        let (mut file, mut line) = (0, 0);
        for (site, instruction) in self.instructions.iter().enumerate() {
            if instruction.op == Op::Line {
                (file, line) = (instruction.word(0), instruction.word(1));
            }
            let Some(operands) = operands(instruction.op) else { continue };
            // The operands are constants in the modules of most compilers; others are not known.
            let constant = |index: usize| {
                let definition = self.definition(instruction.word(index)).ok();
                definition.filter(|it| it.op == Op::Constant).map_or(0, |it| it.word(2))
            };
            let operation = Synchronization {
                file: self.definition(file).map_or_else(|_| String::new(), |it| it.text(1)),
                line,
                name: format!("Op{:?}", instruction.op),
                scope: constant(operands.scope),
                semantics: constant(operands.semantics),
                failure: operands.failure.map(constant),
            };
            all.push((site, operation));
        }
        all
    }
}
