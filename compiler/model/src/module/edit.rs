//! Changes the atomic operations, fences and barriers of a module, and writes it again.

use spirv::Op;

use super::{Instruction, Module, listing::operands, walk::is_atomic};
use crate::event::semantics;

/// The instruction and the operands of an atomic operation, a fence or a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// The instruction; `OpNop` for one that is dropped.
    pub(crate) op: Op,
    /// The memory scope.
    pub(crate) scope: u32,
    /// The semantics; for a compare-exchange, those of success.
    pub(crate) semantics: u32,
    /// The semantics of a compare-exchange that fails.
    pub(crate) failure: Option<u32>,
    /// The execution scope of a barrier.
    pub(crate) execution: Option<u32>,
}

impl Form {
    /// No instruction.
    pub(crate) fn dropped() -> Self {
        Self { op: Op::Nop, scope: 0, semantics: 0, failure: None, execution: None }
    }
}

impl Module {
    /// The value of a constant, if it is an integer of 32 bits that specialization does not change.
    fn word_constant(&self, id: u32) -> Option<u32> {
        let it = self.definition(id).ok().filter(|it| it.op == Op::Constant && it.words.len() == 3)?;
        Some(it.word(2))
    }

    /// The form of the instruction at this position. `None` for other instructions, and if an operand is not a constant.
    pub(crate) fn form(&self, site: usize) -> Option<Form> {
        let it = self.instructions.get(site)?;
        let at = operands(it.op)?;
        let constant = |index: usize| self.word_constant(it.word(index));
        Some(Form {
            op: it.op,
            scope: constant(at.scope)?,
            semantics: constant(at.semantics)?,
            failure: match at.failure {
                Some(failure) => Some(constant(failure)?),
                None => None,
            },
            execution: if it.op == Op::ControlBarrier { Some(constant(0)?) } else { None },
        })
    }

    /// Gives the instruction at this position another form: that of `steps`.
    pub(crate) fn set_form(&mut self, site: usize, form: &Form) {
        let Some(at) = self.instructions.get(site).and_then(|it| operands(it.op)) else { return };
        let old = self.instructions[site].clone();
        let example = old.word(at.scope);
        let mut constant = |value: u32| self.constant_id(example, value);
        let (scope, semantics) = (constant(form.scope), constant(form.semantics));
        let failure = form.failure.map(&mut constant);
        let words = match (old.op, form.op) {
            (_, Op::Nop) => Vec::new(),
            (Op::AtomicExchange, Op::AtomicStore) => vec![old.word(2), scope, semantics, old.word(5)],
            (from, Op::AtomicLoad) if from != Op::AtomicLoad => {
                vec![old.word(0), old.word(1), old.word(2), scope, semantics]
            }
            _ => {
                let mut words = old.words;
                words[at.scope] = scope;
                words[at.semantics] = semantics;
                if let (Some(index), Some(failure)) = (at.failure, failure) {
                    words[index] = failure;
                }
                words
            }
        };
        self.instructions[site] = Instruction { op: form.op, words };
    }

    /// A constant with this value and the type of another one. A new one is behind all functions until the module is written.
    fn constant_id(&mut self, example: u32, value: u32) -> u32 {
        let ty = self.definition(example).map_or(0, |it| it.word(0));
        let is_it = |it: &&Instruction| {
            it.op == Op::Constant && it.words.len() == 3 && it.word(0) == ty && it.word(2) == value
        };
        if let Some(known) = self.instructions.iter().find(is_it) {
            return known.word(1);
        }
        let id = self.definitions.len() as u32;
        self.definitions.push(Some(self.instructions.len()));
        self.slots.push(0);
        self.instructions.push(Instruction { op: Op::Constant, words: vec![ty, id, value] });
        id
    }

    /// Whether the result of the instruction at this position has no use. Numbers that look like its id count as uses.
    pub(crate) fn is_unused(&self, site: usize) -> bool {
        let Some(id) = self.instructions.get(site).and_then(|it| it.words.get(1)) else { return false };
        let mut has_functions = false;
        !self.instructions.iter().enumerate().any(|(at, it)| {
            has_functions |= it.op == Op::Function;
            let is_named = matches!(it.op, Op::Name | Op::Decorate | Op::DecorateId) && it.word(0) == *id;
            let is_operand = has_functions
                && at != site
                && !matches!(it.op, Op::Line | Op::Constant)
                && it.words.contains(id);
            is_named || is_operand
        })
    }

    /// Whether the instruction at this position is a read-modify-write that writes what it reads.
    pub(crate) fn writes_back(&self, site: usize) -> bool {
        let Some(it) = self.instructions.get(site).filter(|it| is_atomic(it.op)) else { return false };
        let Ok(value) = self.definition(it.word(5)) else { return false };
        let is_all = |word: u32| {
            value.op == Op::Constant && value.words.len() > 2 && value.words[2..].iter().all(|it| *it == word)
        };
        match it.op {
            Op::AtomicOr | Op::AtomicXor | Op::AtomicIAdd | Op::AtomicISub => {
                is_all(0) || value.op == Op::ConstantNull
            }
            Op::AtomicAnd => is_all(u32::MAX),
            _ => false,
        }
    }

    /// Whether another instruction between these two, which are in one block, accesses memory or is unknown.
    pub(crate) fn has_access_between(&self, first: usize, second: usize) -> bool {
        let between = self.instructions.get(first + 1..second).unwrap_or_default();
        !between.iter().all(|it| match it.op {
            Op::Nop | Op::Line | Op::NoLine => true,
            Op::ExtInst => self.definition(it.word(2)).is_ok_and(|it| it.text(1).starts_with("NonSemantic")),
            _ => false,
        })
    }

    /// Whether the module can use sub-groups.
    pub fn uses_sub_groups(&self) -> bool {
        self.has_capability(spirv::Capability::GroupNonUniform)
    }

    /// Whether the module declares a capability.
    pub(crate) fn has_capability(&self, capability: spirv::Capability) -> bool {
        self.instructions.iter().any(|it| it.op == Op::Capability && it.word(0) == capability as u32)
    }

    /// The positions of the atomic operations, fences and barriers that may change for a kernel: those of its own function if
    /// other kernels can call the other functions.
    pub(crate) fn sites(&self, kernel: &str) -> Vec<usize> {
        let own = self.entry(kernel).ok();
        let is_only = self.kernels().len() == 1;
        let mut is_inside = false;
        let mut sites = Vec::new();
        for (site, it) in self.instructions.iter().enumerate() {
            match it.op {
                Op::Function => is_inside = is_only || Some(it.word(1)) == own,
                op if is_inside && operands(op).is_some() => sites.push(site),
                _ => {}
            }
        }
        sites
    }

    /// The words of the module, which had these words before it was changed.
    pub(crate) fn write(&self, original: &[u32]) -> Vec<u32> {
        let (header, mut rest) = original.split_at(original.len().min(5));
        let mut words = header.to_vec();
        let mut count = 0;
        let mut lengths = Vec::new();
        while let Some(&first) = rest.first() {
            let length = ((first >> 16).max(1) as usize).min(rest.len());
            lengths.push(&rest[..length]);
            rest = &rest[length..];
        }
        let added = self.instructions.get(lengths.len()..).unwrap_or_default();
        let used = |id: u32| {
            self.instructions.iter().take(lengths.len()).any(|it| {
                operands(it.op).is_some_and(|at| {
                    [Some(at.scope), Some(at.semantics), at.failure]
                        .into_iter()
                        .flatten()
                        .any(|at| it.word(at) == id)
                })
            })
        };
        let mut bound = header.get(3).copied().unwrap_or_default();
        for (old, new) in lengths.iter().zip(&self.instructions) {
            let is_function = old[0] & 0xffff == Op::Function as u32;
            if is_function && count == 0 {
                count += 1;
                for constant in added.iter().filter(|it| used(it.word(1))) {
                    bound = bound.max(constant.word(1) + 1);
                    words.push(Op::Constant as u32 | 4 << 16);
                    words.extend(&constant.words);
                }
            }
            let was = Op::from_u32(old[0] & 0xffff).unwrap_or(Op::Nop);
            match (was, new.op) {
                _ if was == new.op && old[1..] == new.words[..] => words.extend(*old),
                (_, Op::Nop) => {}
                (_, op) => {
                    words.push(op as u32 | (new.words.len() as u32 + 1) << 16);
                    words.extend(&new.words);
                }
            }
        }
        if let Some(word) = words.get_mut(3) {
            *word = bound;
        }
        words
    }
}

/// The bits of the orders and of availability and visibility.
pub(crate) const ORDERING: u32 = semantics::ORDERS | semantics::MAKE_AVAILABLE | semantics::MAKE_VISIBLE;
