//! What a launch passes, on Vulkan: a block of push constants, and a uniform buffer for what finds no room there.
//!
//! The members of the first are what kernels read, each of the type that all of them read there; the second is an
//! array of vectors. How a launch fills them it does not know.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::{
    dr::Operand,
    spirv::{Decoration, Op, StorageClass, Word},
};

use super::{Emitter, body::Body};
use crate::ir::{Inst, LaunchMemory, Op as IrOp, Place, Scalar, Type};

/// The variables, each made when first used.
#[derive(Default)]
pub(super) struct Launch {
    push_constants: Option<(Word, Members)>,
    uniform: Option<Word>,
}

/// The number and the type of the member at a word of the push constants.
type Members = BTreeMap<u32, (u32, Type)>;

impl Emitter<'_> {
    fn push_constants(&mut self) -> Word {
        if let Some((word, _)) = self.globals.launch.push_constants {
            return word;
        }
        let members = self.members();
        let types: Vec<Operand> = members.values().map(|&(_, ty)| Operand::IdRef(self.ty(ty))).collect();
        let block = self.writer.global(Op::TypeStruct, None, types);
        for (&word, &(number, _)) in &members {
            self.member_offset(block, number, 4 * word);
        }
        let variable = self.launch_variable(block, StorageClass::PushConstant);
        self.globals.launch.push_constants = Some((variable, members));
        variable
    }

    /// What kernels read: 64 bits are one member unless some kernel reads half of them, and a word that they read as
    /// different things is an integer.
    fn members(&self) -> Members {
        let module = self.module;
        let mut reads: BTreeSet<(u32, bool)> = BTreeSet::new();
        let mut integers: BTreeSet<u32> = BTreeSet::new();
        for function in module.functions.iter() {
            for id in function.inst_order() {
                let inst = &function.insts[id];
                if let IrOp::LaunchWord(LaunchMemory::PushConstants, word) = inst.op {
                    let ty = function.ty(inst.results[0]);
                    reads.insert((word, ty == Type::I64));
                    integers.extend((ty == Type::I32).then_some(word));
                }
            }
        }
        let narrow: BTreeSet<u32> =
            reads.iter().filter(|(_, is_wide)| !is_wide).map(|(word, _)| *word).collect();
        let mut members = BTreeMap::new();
        for (word, is_wide) in reads {
            let is_split = [word, word + 1].iter().any(|half| narrow.contains(half));
            if is_wide && !is_split {
                members.insert(word, Type::I64);
                continue;
            }
            let is_integer = is_wide || integers.contains(&word);
            members.entry(word).or_insert(Type::Scalar(if is_integer { Scalar::I32 } else { Scalar::F32 }));
            if is_wide {
                members.extend([(word, Type::I32), (word + 1, Type::I32)]);
            }
        }
        (0..).zip(members).map(|(number, (word, ty))| (word, (number, ty))).collect()
    }

    /// Vectors of four words.
    fn uniform(&mut self) -> Word {
        if let Some(word) = self.globals.launch.uniform {
            return word;
        }
        let element = self.ty(Type::Vector(Scalar::I32, 4));
        let count = self.u32(self.uniform_words().max(1).div_ceil(4));
        let operands = vec![Operand::IdRef(element), Operand::IdRef(count)];
        let array = self.writer.global(Op::TypeArray, None, operands);
        self.decorate(array, Decoration::ArrayStride, &[16]);
        let block = self.writer.global(Op::TypeStruct, None, vec![Operand::IdRef(array)]);
        self.member_offset(block, 0, 0);
        let variable = self.launch_variable(block, StorageClass::Uniform);
        for decoration in [Decoration::DescriptorSet, Decoration::Binding] {
            self.decorate(variable, decoration, &[0]);
        }
        self.globals.launch.uniform = Some(variable);
        variable
    }

    fn launch_variable(&mut self, block: Word, class: StorageClass) -> Word {
        self.decorate(block, Decoration::Block, &[]);
        let pointer = self.pointer_type(class, block);
        self.writer.global(Op::Variable, Some(pointer), vec![Operand::StorageClass(class)])
    }

    fn member_offset(&mut self, block: Word, number: u32, byte: u32) {
        let operands = vec![
            Operand::IdRef(block),
            Operand::LiteralBit32(number),
            Operand::Decoration(Decoration::Offset),
            Operand::LiteralBit32(byte),
        ];
        self.writer.annotate(Op::MemberDecorate, operands);
    }

    fn decorate(&mut self, word: Word, decoration: Decoration, numbers: &[u32]) {
        let mut operands = vec![Operand::IdRef(word), Operand::Decoration(decoration)];
        operands.extend(numbers.iter().copied().map(Operand::LiteralBit32));
        self.writer.annotate(Op::Decorate, operands);
    }

    /// Words up to the end of the last thing in the uniform buffer.
    fn uniform_words(&self) -> u32 {
        let interface = &self.module.interface;
        let mut end = 0;
        for fact in interface.image_facts.iter().filter(|fact| fact.memory == LaunchMemory::Uniform) {
            end = end.max(fact.byte / 4 + 1);
        }
        for (function, places) in &interface.arguments {
            let kernel = self.module.functions[*function].kernel.as_ref();
            let arguments = kernel.map_or(&[][..], |kernel| &kernel.arguments[..]);
            for (place, argument) in places.iter().zip(arguments) {
                if let Place::Bytes(LaunchMemory::Uniform, byte) = place {
                    end = end.max((byte + argument.kind.passed_size()).div_ceil(4));
                }
            }
        }
        end
    }
}

impl Body<'_, '_> {
    /// `LaunchWord`
    pub(super) fn launch_word(&mut self, inst: &Inst, memory: LaunchMemory, word: u32) {
        let wanted = self.type_of(inst.results[0]);
        let result = match memory {
            LaunchMemory::PushConstants => self.push_constant(word, wanted),
            LaunchMemory::Uniform => {
                let variable = self.emitter.uniform();
                let path = [0, word / 4, word % 4];
                self.launch_member(variable, StorageClass::Uniform, &path, Type::I32)
            }
        };
        self.define(inst.results[0], result);
    }

    fn push_constant(&mut self, word: u32, wanted: Type) -> Word {
        let variable = self.emitter.push_constants();
        let members = self.emitter.globals.launch.push_constants.as_ref().map(|(_, members)| members);
        let Some(&(number, ty)) = members.and_then(|members| members.get(&word)) else {
            unreachable!("every word that is read is a member")
        };
        let read = self.launch_member(variable, StorageClass::PushConstant, &[number], ty);
        if ty == wanted {
            return read;
        }
        if wanted != Type::I64 {
            return self.op(Op::Bitcast, wanted, vec![Operand::IdRef(read)]);
        }
        let high = self.launch_member(variable, StorageClass::PushConstant, &[number + 1], ty);
        let halves = [read, high].map(Operand::IdRef).to_vec();
        let pair = self.op(Op::CompositeConstruct, Type::Vector(Scalar::I32, 2), halves);
        self.op(Op::Bitcast, wanted, vec![Operand::IdRef(pair)])
    }

    fn launch_member(&mut self, variable: Word, class: StorageClass, path: &[u32], ty: Type) -> Word {
        self.interface.insert(variable);
        let member = self.emitter.ty(ty);
        let pointer = self.emitter.pointer_type(class, member);
        let path = path.iter().map(|&index| self.emitter.u32(index));
        let operands = std::iter::once(variable).chain(path).map(Operand::IdRef).collect();
        let pointer = self.typed(Op::AccessChain, pointer, operands);
        self.op(Op::Load, ty, vec![Operand::IdRef(pointer)])
    }
}
