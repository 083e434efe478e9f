//! Repairs mistakes that llvm-spirv makes in modules that are otherwise valid.
//!
//! Runs only on a module that the verifier rejects. The result is verified like any other module.
//!
//! - Constants are written before their operands: they are sorted.
//! - OpBitReverse of a Boolean: it is a copy.

use kiln_verify::Finding;
use rspirv::spirv::Op;
use rustc_hash::FxHashSet;

use crate::{
    problem::Problem,
    words::{Instruction, Words},
};

/// The rules of the verifier that modules with these mistakes break.
const RULES: [&str; 2] = ["SPIRV-id-defined", "SPIRV-number-types"];

/// The number of words of the header.
const HEADER: usize = 5;

/// The maximum length of a chain of constants that use each other.
const MAX_DEPTH: u32 = 200;

/// A module with repairs.
pub(crate) struct Repaired {
    pub(crate) words: Vec<u32>,
    /// The offset of each instruction in the repaired and in the original module, in the order of the former.
    offsets: Vec<(usize, usize)>,
}

impl Repaired {
    /// Changes the position of a problem to that in the original module.
    pub(crate) fn relocate(&self, problem: &mut Problem) {
        let Some(position) = &mut problem.position else { return };
        if let Ok(at) = self.offsets.binary_search_by_key(&position.offset, |(new, _)| *new) {
            position.offset = self.offsets[at].1;
        }
    }
}

/// The repaired module. `None` if it has none of these mistakes, by the verifier's findings and its words.
pub(crate) fn repair(words: &[u32], findings: &[Finding]) -> Option<Repaired> {
    if !findings.iter().any(|finding| RULES.contains(&finding.rule)) {
        return None;
    }
    let module = Words::decode(words).ok()?;
    let order = order(&module)?;
    let mut repaired = Repaired { words: words[..HEADER].to_vec(), offsets: Vec::new() };
    let mut is_changed = !order.is_sorted();
    for index in order {
        let inst = &module.instructions[index];
        let start = repaired.words.len();
        repaired.offsets.push((start, inst.offset));
        repaired.words.extend(&words[inst.offset..inst.offset + length(words, inst)]);
        if inst.op == Op::BitReverse && is_boolean(&module, inst.ty) {
            repaired.words[start] = repaired.words[start] & 0xffff_0000 | Op::CopyObject as u32;
            is_changed = true;
        }
    }
    is_changed.then_some(repaired)
}

fn length(words: &[u32], inst: &Instruction<'_>) -> usize {
    (words[inst.offset] >> 16) as usize
}

fn is_boolean(module: &Words<'_>, ty: Option<u32>) -> bool {
    let definition = |id: u32| module.definition(id).ok();
    match ty.and_then(definition) {
        Some(ty) if ty.op == Op::TypeVector => {
            ty.operands.first().and_then(|&part| definition(part)).is_some_and(|part| part.op == Op::TypeBool)
        }
        ty => ty.is_some_and(|ty| ty.op == Op::TypeBool),
    }
}

/// The instructions with each constant, type and variable of the module after those that it uses. `None` if they use each
/// other in a circle.
fn order(module: &Words<'_>) -> Option<Vec<usize>> {
    let forward = module.preamble().iter().filter(|inst| inst.op == Op::TypeForwardPointer);
    let mut sort = Sort {
        module,
        forward: forward.filter_map(|inst| inst.operands.first().copied()).collect(),
        is_begun: vec![false; module.instructions.len()],
        order: Vec::with_capacity(module.instructions.len()),
        is_done: vec![false; module.instructions.len()],
    };
    for index in 0..module.instructions.len() {
        sort.add(index, 0)?;
    }
    Some(sort.order)
}

/// A sort by uses.
struct Sort<'m, 'w> {
    module: &'m Words<'w>,
    /// The pointers that can be used before they are defined.
    forward: FxHashSet<u32>,
    is_begun: Vec<bool>,
    is_done: Vec<bool>,
    order: Vec<usize>,
}

impl Sort<'_, '_> {
    /// Adds an instruction after those that it uses.
    fn add(&mut self, index: usize, depth: u32) -> Option<()> {
        if self.is_done[index] {
            return Some(());
        }
        if self.is_begun[index] || depth > MAX_DEPTH {
            return None;
        }
        self.is_begun[index] = true;
        let module = self.module;
        let inst = &module.instructions[index];
        if index < module.preamble().len() {
            for &id in inst.ty.iter().chain(used(inst)) {
                // An id without a definition remains, for the verifier.
                let Some(at) = module.definition_index(id) else { continue };
                if at < module.preamble().len() && !self.forward.contains(&id) {
                    self.add(at, depth + 1)?;
                }
            }
        }
        self.is_done[index] = true;
        self.order.push(index);
        Some(())
    }
}

/// The operands of a declaration that are ids and must be defined before it.
fn used<'w>(inst: &Instruction<'w>) -> &'w [u32] {
    let to = |end: usize| inst.operands.get(..end).unwrap_or(inst.operands);
    match inst.op {
        Op::TypeVector | Op::TypeRuntimeArray | Op::TypeSampledImage | Op::TypeImage => to(1),
        Op::TypeArray => to(2),
        Op::TypeStruct | Op::TypeFunction | Op::ConstantComposite | Op::SpecConstantComposite => {
            inst.operands
        }
        // After the storage class.
        Op::TypePointer | Op::Variable => inst.words(1),
        // After the operation. Literal numbers follow some operands.
        Op::SpecConstantOp => match inst.operands.first().and_then(|&op| Op::from_u32(op)) {
            Some(Op::CompositeExtract) => inst.operands.get(1..2).unwrap_or_default(),
            Some(Op::CompositeInsert | Op::VectorShuffle) => inst.operands.get(1..3).unwrap_or_default(),
            _ => inst.words(1),
        },
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_verify::verify;

    /// The words of a kernel module with these declarations, as opcodes and operands, and these instructions in a function.
    fn module(declarations: &[(Op, &[u32])], body: &[(Op, &[u32])]) -> Vec<u32> {
        let begin: [(Op, &[u32]); 9] = [
            (Op::Capability, &[4]),
            (Op::Capability, &[5]),
            (Op::Capability, &[6]),
            (Op::Capability, &[22]),
            (Op::Capability, &[6025]),
            (Op::Extension, &EXTENSION),
            (Op::MemoryModel, &[2, 2]),
            (Op::TypeVoid, &[1]),
            (Op::TypeFunction, &[2, 1]),
        ];
        let function: [(Op, &[u32]); 2] = [(Op::Function, &[1, 3, 0, 2]), (Op::Label, &[4])];
        let end: [(Op, &[u32]); 2] = [(Op::Return, &[]), (Op::FunctionEnd, &[])];
        let mut words = vec![0x0723_0203, 0x0001_0400, 0, 50, 0];
        let all = begin.iter().chain(declarations).chain(&function).chain(body).chain(&end);
        for (op, operands) in all {
            words.push((operands.len() as u32 + 1) << 16 | *op as u32);
            words.extend(*operands);
        }
        words
    }

    /// `SPV_KHR_bit_instructions`
    const EXTENSION: [u32; 7] =
        [0x5f56_5053, 0x5f52_484b, 0x5f74_6962, 0x7473_6e69, 0x7463_7572, 0x736e_6f69, 0];

    fn errors(words: &[u32]) -> Vec<Finding> {
        verify(words, None).into_iter().filter(Finding::is_error).collect()
    }

    #[test]
    fn constants_are_sorted() {
        let words = module(
            &[
                (Op::TypeInt, &[10, 16, 0]),
                (Op::TypeVector, &[11, 10, 2]),
                (Op::SpecConstantOp, &[10, 12, Op::CompositeExtract as u32, 14, 1]),
                (Op::SpecConstantOp, &[10, 13, Op::Not as u32, 12]),
                (Op::ConstantComposite, &[11, 14, 15, 15]),
                (Op::Constant, &[10, 15, 7]),
            ],
            &[],
        );
        let findings = errors(&words);
        assert!(!findings.is_empty());
        let repaired = repair(&words, &findings).expect("a repair");
        assert_eq!(errors(&repaired.words), []);
        // The constant that moved to the front has its old position in messages.
        let offset = |op: Op, id: u32, words: &[u32]| {
            let module = Words::decode(words).expect("a module");
            module.instructions.iter().find(|inst| inst.op == op && inst.id == Some(id)).map(|it| it.offset)
        };
        let module = Words::decode(&repaired.words).expect("a module");
        let moved = module.definition(15).expect("a constant");
        let mut problem = Problem::new("wrong").at(moved);
        repaired.relocate(&mut problem);
        assert_eq!(problem.position.map(|it| it.offset), offset(Op::Constant, 15, &words));
    }

    #[test]
    fn circles_are_kept() {
        let words = module(
            &[
                (Op::TypeInt, &[10, 16, 0]),
                (Op::SpecConstantOp, &[10, 12, Op::Not as u32, 13]),
                (Op::SpecConstantOp, &[10, 13, Op::Not as u32, 12]),
            ],
            &[],
        );
        assert!(repair(&words, &errors(&words)).is_none());
    }

    #[test]
    fn reversed_booleans_are_copied() {
        for (ty, constant) in [(10, 12), (11, 13)] {
            let words = module(
                &[
                    (Op::TypeBool, &[10]),
                    (Op::TypeVector, &[11, 10, 2]),
                    (Op::ConstantTrue, &[10, 12]),
                    (Op::ConstantComposite, &[11, 13, 12, 12]),
                ],
                &[(Op::BitReverse, &[ty, 14, constant])],
            );
            let findings = errors(&words);
            assert_eq!(findings.iter().map(|it| it.rule).collect::<Vec<_>>(), ["SPIRV-number-types"]);
            let repaired = repair(&words, &findings).expect("a repair");
            assert_eq!(errors(&repaired.words), []);
        }
    }

    #[test]
    fn other_modules_are_kept() {
        let words = module(&[(Op::TypeInt, &[10, 16, 0])], &[(Op::CopyObject, &[10, 14, 30])]);
        let findings = errors(&words);
        assert!(!findings.is_empty());
        assert!(repair(&words, &findings).is_none());
    }
}
