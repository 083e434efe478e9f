//! Rewrites kernel modules with untyped pointers (SPV_KHR_untyped_pointers), which few compilers emit.

use std::collections::{BTreeMap, HashMap, HashSet};

use rspirv::{
    binary::Assemble as _,
    dr::{self, Instruction, Module, Operand},
    spirv::{Capability, Decoration, FunctionParameterAttribute, Op, StorageClass, Word},
};

/// The pointer types of a module that become untyped.
struct Pointers {
    /// Their storage classes and pointees.
    types: HashMap<Word, (StorageClass, Word)>,
    /// The pointees of all pointer types.
    pointees: HashMap<Word, Word>,
    /// The one type of each storage class.
    untyped: BTreeMap<u32, Word>,
    /// The types of all values.
    values: HashMap<Word, Word>,
    /// The constants that are the sizes of elements of asynchronous copies, by their type.
    sizes: HashMap<Word, Word>,
}

/// The module with untyped pointers, except to built-in variables and of parameters with ByVal.
pub fn untyped(words: &[Word]) -> Vec<Word> {
    let mut module = dr::load_words(words).expect("a module");
    let mut pointers = Pointers::of(&module);
    module.capabilities.push(Instruction::new(
        Op::Capability,
        None,
        None,
        vec![Operand::Capability(Capability::UntypedPointersKHR)],
    ));
    let name = Operand::LiteralString("SPV_KHR_untyped_pointers".to_owned());
    module.extensions.push(Instruction::new(Op::Extension, None, None, vec![name]));
    declare_sizes(&mut module, &mut pointers);
    let pointers = pointers;
    let is_dropped =
        |id: Word| pointers.types.get(&id).is_some_and(|(class, _)| pointers.untyped[&(*class as u32)] != id);
    let target = |inst: &Instruction| match inst.operands.first() {
        Some(&Operand::IdRef(id)) => is_dropped(id),
        _ => false,
    };
    module.debug_names.retain(|inst| !target(inst));
    module.annotations.retain(|inst| !target(inst));
    module.types_global_values.retain(|inst| {
        let id = match (inst.class.opcode, inst.operands.first()) {
            (Op::TypeForwardPointer, Some(&Operand::IdRef(id))) => Some(id),
            (Op::TypePointer, _) => inst.result_id,
            _ => None,
        };
        id.is_none_or(|id| !pointers.types.contains_key(&id))
    });
    let declared = pointers.untyped.iter().map(|(&class, &id)| {
        let class = StorageClass::from_u32(class).expect("a storage class");
        Instruction::new(Op::TypeUntypedPointerKHR, None, Some(id), vec![Operand::StorageClass(class)])
    });
    module.types_global_values = declared.chain(module.types_global_values).collect();
    module.all_inst_iter_mut().for_each(|inst| pointers.rewrite(inst));
    module.assemble()
}

/// Adds a constant for the size of each type whose elements are copied asynchronously.
fn declare_sizes(module: &mut Module, pointers: &mut Pointers) {
    let copies = module.all_inst_iter().filter(|inst| inst.class.opcode == Op::GroupAsyncCopy);
    let elements: HashSet<Word> =
        copies.filter_map(|inst| pointers.pointee(inst.operands[1].id_ref_any()?)).collect();
    let number = |inst: &Instruction, at: usize| match inst.operands.get(at) {
        Some(Operand::LiteralBit32(number)) => u64::from(*number),
        _ => 1,
    };
    let definition = |id: Word| module.types_global_values.iter().find(|inst| inst.result_id == Some(id));
    let size = |ty: Word| {
        let ty = definition(ty).expect("a type");
        match (ty.class.opcode, ty.operands.first().and_then(Operand::id_ref_any)) {
            (Op::TypeVector, Some(component)) => {
                number(ty, 1).next_power_of_two() * number(definition(component).expect("a type"), 0) / 8
            }
            _ => number(ty, 0) / 8,
        }
    };
    let sizes: Vec<(Word, u64)> = elements.into_iter().map(|ty| (ty, size(ty))).collect();
    let is_long = |inst: &&Instruction| inst.class.opcode == Op::TypeInt && number(inst, 0) == 64;
    let Some(long) = module.types_global_values.iter().find(is_long).and_then(|inst| inst.result_id) else {
        return;
    };
    let header = module.header.as_mut().expect("a header");
    for (ty, bytes) in sizes {
        let value = vec![Operand::LiteralBit64(bytes)];
        module.types_global_values.push(Instruction::new(
            Op::Constant,
            Some(long),
            Some(header.bound),
            value,
        ));
        pointers.sizes.insert(ty, header.bound);
        header.bound += 1;
    }
}

impl Pointers {
    fn of(module: &Module) -> Self {
        let parameters: HashMap<Word, Word> = module
            .functions
            .iter()
            .flat_map(|function| &function.parameters)
            .filter_map(|inst| inst.result_id.zip(inst.result_type))
            .collect();
        let by_value = Operand::FunctionParameterAttribute(FunctionParameterAttribute::ByVal);
        let kept: HashSet<Word> = module
            .annotations
            .iter()
            .filter(|inst| {
                inst.operands.get(1) == Some(&Operand::Decoration(Decoration::FuncParamAttr))
                    && inst.operands.get(2) == Some(&by_value)
            })
            .filter_map(|inst| match inst.operands.first() {
                Some(Operand::IdRef(id)) => parameters.get(id).copied(),
                _ => None,
            })
            .collect();
        let mut types = HashMap::new();
        let mut untyped = BTreeMap::new();
        let mut pointees = HashMap::new();
        for inst in &module.types_global_values {
            if let (Op::TypePointer, Some(id), [Operand::StorageClass(class), Operand::IdRef(pointee)]) =
                (inst.class.opcode, inst.result_id, &inst.operands[..])
            {
                pointees.insert(id, *pointee);
                if *class == StorageClass::Input || kept.contains(&id) {
                    continue;
                }
                types.insert(id, (*class, *pointee));
                untyped.entry(*class as u32).or_insert(id);
            }
        }
        let values = module.all_inst_iter().filter_map(|inst| inst.result_id.zip(inst.result_type)).collect();
        Self { types, pointees, untyped, values, sizes: HashMap::new() }
    }

    /// The pointee of a pointer.
    fn pointee(&self, pointer: Word) -> Option<Word> {
        self.pointees.get(self.values.get(&pointer)?).copied()
    }

    fn rewrite(&self, inst: &mut Instruction) {
        let result = inst.result_type.and_then(|ty| self.types.get(&ty));
        let is_constant = inst.class.opcode == Op::SpecConstantOp;
        let op = match inst.operands.first() {
            Some(Operand::LiteralSpecConstantOpInteger(op)) if is_constant => *op,
            _ => inst.class.opcode,
        };
        let first = usize::from(is_constant);
        if let (Op::Variable, Some((_, pointee))) = (op, result) {
            inst.operands.insert(1, Operand::IdRef(*pointee));
            *inst = renamed(Op::UntypedVariableKHR, inst);
        }
        let chain = match op {
            Op::AccessChain => Some(Op::UntypedAccessChainKHR),
            Op::InBoundsAccessChain => Some(Op::UntypedInBoundsAccessChainKHR),
            Op::PtrAccessChain => Some(Op::UntypedPtrAccessChainKHR),
            Op::InBoundsPtrAccessChain => Some(Op::UntypedInBoundsPtrAccessChainKHR),
            _ => None,
        };
        if let (Some(chain), Some(_), Some(Operand::IdRef(base))) =
            (chain, result, inst.operands.get(first).cloned())
            && let Some(pointee) = self.pointee(base)
        {
            inst.operands.insert(first, Operand::IdRef(pointee));
            if is_constant {
                inst.operands[0] = Operand::LiteralSpecConstantOpInteger(chain);
            } else {
                *inst = renamed(chain, inst);
            }
        }
        if op == Op::GroupAsyncCopy
            && let Some(size) =
                inst.operands[1].id_ref_any().and_then(|to| self.sizes.get(&self.pointee(to)?))
        {
            inst.operands.insert(3, Operand::IdRef(*size));
            *inst = renamed(Op::UntypedGroupAsyncCopyKHR, inst);
        }
        // The types became the same.
        if let (Op::Bitcast, Some((class, _)), Some(Operand::IdRef(source))) =
            (inst.class.opcode, result, inst.operands.first())
            && self.types.get(&self.values[source]).is_some_and(|(from, _)| from == class)
        {
            *inst = renamed(Op::CopyObject, inst);
        }
        let operands = inst.operands.iter_mut().filter_map(|operand| match operand {
            Operand::IdRef(id) => Some(id),
            _ => None,
        });
        for id in operands.chain(inst.result_type.iter_mut()) {
            if let Some((class, _)) = self.types.get(id) {
                *id = self.untyped[&(*class as u32)];
            }
        }
    }
}

fn renamed(op: Op, inst: &Instruction) -> Instruction {
    Instruction::new(op, inst.result_type, inst.result_id, inst.operands.clone())
}
