//! Launch memory on Vulkan: a block of push constants, and a uniform buffer for arguments that do not fit there.
//!
//! The members of the push constants are those that kernels read, with one type for all kernels. The uniform buffer
//! is an array of vectors. This module is independent of how a launch fills them.

use std::collections::{BTreeMap, BTreeSet};

use kiln_ir::{ArgumentLocation, Inst, LaunchMemory, Op as IrOp, Scalar, Type, ValueId};
use rspirv::{
    dr::Operand,
    spirv::{Decoration, Op, StorageClass, Word},
};

use super::{Emitter, body::Body};

/// The variables, each created at its first use, and the contents of the push constants.
#[derive(Default)]
pub(super) struct Launch {
    members: Members,
    /// The variable for the push constants, and its type.
    push_constants: Option<(Word, Word)>,
    uniform: Option<Word>,
}

/// The member index and the member at each word of the push constants.
type Members = BTreeMap<u32, (u32, Member)>;

#[derive(Clone, Copy)]
enum Member {
    Number(Type),
    /// A pointer to global memory, with its pointee.
    Pointer(Type),
}

impl Emitter<'_> {
    fn push_constants(&mut self) -> (Word, Word) {
        if let Some(known) = self.globals.launch.push_constants {
            return known;
        }
        let members = self.globals.launch.members.clone();
        let types = members.values().map(|&(_, member)| Operand::IdRef(self.member_type(member))).collect();
        let block = self.writer.global(Op::TypeStruct, None, types);
        for (&word, &(number, _)) in &members {
            self.member_offset(block, number, 4 * word);
        }
        let variable = self.launch_variable(block, StorageClass::PushConstant);
        self.globals.launch.push_constants = Some((variable, block));
        (variable, block)
    }

    fn member_type(&mut self, member: Member) -> Word {
        match member {
            Member::Number(ty) => self.ty(ty),
            Member::Pointer(ty) => {
                let pointee = self.ty(ty);
                self.pointer_type(StorageClass::PhysicalStorageBuffer, pointee)
            }
        }
    }

    /// Collects the members of the push constants: the words that kernels read. A 64-bit value is one member, unless a
    /// kernel reads half of it. It is a pointer if all its uses are accesses. A word that is read with different types
    /// is an integer.
    pub(super) fn collect_push_constants(&mut self) {
        let module = self.module;
        let mut pointees: BTreeMap<u32, Option<Type>> = BTreeMap::new();
        let mut reads: BTreeSet<(u32, bool)> = BTreeSet::new();
        let mut integers: BTreeSet<u32> = BTreeSet::new();
        for (name, function) in module.functions.entries() {
            for id in function.inst_order() {
                let inst = &function.insts[id];
                if let IrOp::LaunchWord(LaunchMemory::PushConstants, word) = inst.op {
                    let ty = function.ty(inst.results[0]);
                    reads.insert((word, ty == Type::I64));
                    let pointee = self.elements[&name].pointee(inst.results[0]);
                    let known = pointees.entry(word).or_insert(pointee);
                    *known = known.filter(|_| pointee.is_some());
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
                let pointee = pointees.get(&word).copied().flatten();
                members.insert(word, pointee.map_or(Member::Number(Type::I64), Member::Pointer));
                continue;
            }
            let is_integer = is_wide || integers.contains(&word);
            let ty = Type::Scalar(if is_integer { Scalar::I32 } else { Scalar::F32 });
            members.entry(word).or_insert(Member::Number(ty));
            if is_wide {
                members.extend([word, word + 1].map(|half| (half, Member::Number(Type::I32))));
            }
        }
        self.globals.launch.members =
            (0..).zip(members).map(|(number, (word, member))| (word, (number, member))).collect();
    }

    /// Vectors of four words.
    fn uniform_block(&mut self) -> Word {
        if let Some(word) = self.globals.launch.uniform {
            return word;
        }
        let element = self.ty(Type::Vector(Scalar::I32, 4));
        let count = self.u32(self.uniform_words().max(1).div_ceil(4));
        let operands = vec![Operand::IdRef(element), Operand::IdRef(count)];
        let array = self.writer.global(Op::TypeArray, None, operands);
        self.writer.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(16)]);
        let block = self.writer.global(Op::TypeStruct, None, vec![Operand::IdRef(array)]);
        self.member_offset(block, 0, 0);
        let variable = self.launch_variable(block, StorageClass::Uniform);
        for decoration in [Decoration::DescriptorSet, Decoration::Binding] {
            self.writer.decorate(variable, decoration, [Operand::LiteralBit32(0)]);
        }
        self.globals.launch.uniform = Some(variable);
        variable
    }

    fn launch_variable(&mut self, block: Word, class: StorageClass) -> Word {
        self.writer.decorate(block, Decoration::Block, []);
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

    /// The number of words in the uniform buffer.
    fn uniform_words(&self) -> u32 {
        let interface = &self.module.interface;
        let mut end = 0;
        for fact in interface.image_facts.iter().filter(|fact| fact.memory == LaunchMemory::Uniform) {
            end = end.max(fact.byte / 4 + 1);
        }
        for fact in interface.sampler_facts.iter().filter(|fact| fact.memory == LaunchMemory::Uniform) {
            end = end.max(fact.byte / 4 + 1);
        }
        for (function, locations) in &interface.arguments {
            let kernel = self.module.functions[*function].kernel.as_ref();
            let arguments = kernel.map_or(&[][..], |kernel| &kernel.arguments[..]);
            for (location, argument) in locations.iter().zip(arguments) {
                if let ArgumentLocation::Bytes(LaunchMemory::Uniform, byte) = location {
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
            LaunchMemory::Uniform => self.uniform_word(word),
        };
        self.define(inst.results[0], result);
    }

    fn push_constant(&mut self, word: u32, wanted: Type) -> Word {
        let (number, member) = self.emitter.globals.launch.members[&word];
        let read = self.load_member(number, member);
        if !matches!(member, Member::Number(ty) if ty != wanted) {
            return read;
        }
        if wanted != Type::I64 {
            return self.op(Op::Bitcast, wanted, vec![Operand::IdRef(read)]);
        }
        let high = self.load_member(number + 1, member);
        let halves = [read, high].map(Operand::IdRef).to_vec();
        let pair = self.op(Op::CompositeConstruct, Type::Vector(Scalar::I32, 2), halves);
        self.op(Op::Bitcast, wanted, vec![Operand::IdRef(pair)])
    }

    /// The pointee of an address that is passed as a pointer.
    pub(super) fn passed_pointee(&self, address: ValueId) -> Option<Type> {
        let IrOp::LaunchWord(LaunchMemory::PushConstants, word) = self.function.def(address)?.op else {
            return None;
        };
        match self.emitter.globals.launch.members.get(&word)? {
            (_, Member::Pointer(ty)) => Some(*ty),
            _ => None,
        }
    }

    /// Loads a member of the push constants. They are loaded together, unless the block contains words of other
    /// kernels: a host may provide only those of the launched kernel.
    fn load_member(&mut self, number: u32, member: Member) -> Word {
        let ty = self.emitter.member_type(member);
        let (variable, block) = self.emitter.push_constants();
        self.interface.insert(variable);
        if self.emitter.module.interface.arguments.len() > 1 {
            let pointer = self.emitter.pointer_type(StorageClass::PushConstant, ty);
            let path = [variable, self.emitter.u32(number)].map(Operand::IdRef).to_vec();
            let element = self.typed(Op::AccessChain, pointer, path);
            return self.typed(Op::Load, ty, vec![Operand::IdRef(element)]);
        }
        let whole = match self.push_constants {
            Some(known) => known,
            None => self.typed(Op::Load, block, vec![Operand::IdRef(variable)]),
        };
        self.push_constants = Some(whole);
        let operands = vec![Operand::IdRef(whole), Operand::LiteralBit32(number)];
        self.typed(Op::CompositeExtract, ty, operands)
    }

    /// Loads a word of the uniform buffer.
    fn uniform_word(&mut self, word: u32) -> Word {
        let variable = self.emitter.uniform_block();
        self.interface.insert(variable);
        let ty = self.emitter.scalar(Scalar::I32);
        let pointer = self.emitter.pointer_type(StorageClass::Uniform, ty);
        let path = [0, word / 4, word % 4].map(|index| self.emitter.u32(index));
        let operands = std::iter::once(variable).chain(path).map(Operand::IdRef).collect();
        let pointer = self.typed(Op::AccessChain, pointer, operands);
        self.typed(Op::Load, ty, vec![Operand::IdRef(pointer)])
    }
}
