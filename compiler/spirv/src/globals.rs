//! Module-scope declarations: variables, launch memory, built-in inputs.

use kiln_ir::{Const, FuncId, Input, Inst, Scalar, Type, Var, VarId, WorkItem};
use kiln_vocabulary::opencl::{AddressSpace, Linkage};
use rspirv::{
    dr::Operand,
    spirv::{BuiltIn, Capability, Decoration, LinkageType, Op, StorageClass, Word},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Emitter, body::Body, launch::Launch};

/// Ids of module-scope declarations. Each is created at its first use.
#[derive(Default)]
pub(super) struct Globals {
    /// Value types.
    pub(super) types: FxHashMap<Type, Word>,
    pub(super) functions: FxHashMap<FuncId, Word>,
    /// The variables that each function uses.
    pub(super) interfaces: FxHashMap<FuncId, FxHashSet<Word>>,
    variables: FxHashMap<VarId, Word>,
    inputs: FxHashMap<u32, Word>,
    pub(super) launch: Launch,
    /// The `ArgumentInfo` instructions, by the name, type and numbers that they contain.
    pub(super) argument_infos: FxHashMap<(String, String, [u32; 3]), Word>,
    /// Whether the module has a type for `float`.
    pub(super) computes_floats: bool,
    /// Pointer types that are decorated with their stride.
    pub(super) strided: FxHashSet<Word>,
    /// The variables of descriptors, by number and type.
    pub(super) descriptors: FxHashMap<(u32, Word), Word>,
    /// The variables of samplers that a launch binds, by number.
    pub(super) samplers: FxHashMap<u32, Word>,
    /// The bits and the variables of constant samplers, by binding.
    pub(super) literal_samplers: Vec<(u32, Word)>,
    /// The composite decorated `WorkgroupSize`, built from specialization constants.
    local_size: Option<Word>,
    work_dim: Option<Word>,
    /// The `SpecId`s of local arguments.
    pub(super) local_arguments: FxHashMap<VarId, u32>,
    /// The constant that contains the number of elements of each local argument.
    argument_lengths: FxHashMap<VarId, Word>,
}

/// `SpecId`s of the work-group size: 0, 1, 2.
pub(super) const LOCAL_SIZE_IDS: [u32; 3] = [0, 1, 2];
/// `SpecId` of the number of dimensions.
pub(super) const WORK_DIM_ID: u32 = 3;
/// The first `SpecId` of a local argument.
const FIRST_LOCAL_ID: u32 = 4;

impl Emitter<'_> {
    /// The pointer type of a variable, its storage class, and whether it is an array.
    pub(super) fn variable_type(&mut self, var: &Var) -> (Word, StorageClass, bool) {
        let class = self.storage_class(var.space);
        let ty = self.object_type(var);
        (self.pointer_type(class, ty), class, Self::is_array(var))
    }

    /// The type of a variable's object.
    fn object_type(&mut self, var: &Var) -> Word {
        let element = var.element.unwrap_or(Type::Scalar(Scalar::I8));
        let count = var.size.div_ceil(size_of(element).max(1)).max(1);
        let element = self.ty(element);
        if Self::is_array(var) {
            self.array_type(element, u32::try_from(count).unwrap_or(u32::MAX))
        } else {
            element
        }
    }

    /// The null constant of a variable's object.
    pub(super) fn null_object(&mut self, var: &Var) -> Word {
        let ty = self.object_type(var);
        self.writer.interned(Op::ConstantNull, Some(ty), Vec::new())
    }

    /// Whether a variable has more than one element, or a length that the launch decides.
    pub(super) fn is_array(var: &Var) -> bool {
        let element = var.element.unwrap_or(Type::Scalar(Scalar::I8));
        var.argument.is_some() || var.size > size_of(element).max(1)
    }

    /// The pointer to a variable of the module.
    pub(super) fn module_variable(&mut self, id: VarId) -> Word {
        if let Some(&word) = self.globals.variables.get(&id) {
            return word;
        }
        let var = &self.module.vars[id];
        let word =
            if var.argument.is_some() { self.local_argument(id, var) } else { self.static_variable(var) };
        self.writer.name(word, &var.name);
        if var.space == AddressSpace::Local {
            self.debug_global(word, var);
        }
        self.globals.variables.insert(id, word);
        word
    }

    fn static_variable(&mut self, var: &Var) -> Word {
        let class = self.storage_class(var.space);
        let mut operands = vec![Operand::StorageClass(class)];
        let initial = if var.linkage == Linkage::Imported { None } else { self.initializer(var) };
        let pointer = match initial {
            Some((ty, value)) => {
                operands.push(Operand::IdRef(value));
                self.pointer_type(class, ty)
            }
            None => self.variable_type(var).0,
        };
        let word = self.writer.global(Op::Variable, Some(pointer), operands);
        self.linkage(word, &var.name, var.linkage);
        self.alignment(word, var);
        if !self.is_vulkan() && var.space == AddressSpace::Constant {
            self.writer.decorate(word, Decoration::Constant, []);
        }
        word
    }

    /// Decorates a variable with its alignment. The types of the OpenCL environment are bytes and do not imply it.
    pub(super) fn alignment(&mut self, word: Word, var: &Var) {
        if !self.is_vulkan() {
            let align = u32::try_from(var.align).unwrap_or(1);
            self.writer.decorate(word, Decoration::Alignment, [Operand::LiteralBit32(align)]);
        }
    }

    /// Decorates a function or variable with its linkage name.
    pub(super) fn linkage(&mut self, word: Word, name: &str, linkage: Linkage) {
        let linkage = match linkage {
            Linkage::Internal => return,
            Linkage::Exported => LinkageType::Export,
            Linkage::Imported => LinkageType::Import,
            Linkage::LinkOnce => {
                self.writer.extension("SPV_KHR_linkonce_odr");
                LinkageType::LinkOnceODR
            }
        };
        let operands = [Operand::LiteralString(name.to_owned()), Operand::LinkageType(linkage)];
        self.writer.decorate(word, Decoration::LinkageAttributes, operands);
    }

    /// A local argument: an array whose length is a specialization constant (see the runtime's `interface`).
    fn local_argument(&mut self, id: VarId, var: &Var) -> Word {
        let spec_id = FIRST_LOCAL_ID + u32::try_from(self.globals.local_arguments.len()).unwrap_or_default();
        self.globals.local_arguments.insert(id, spec_id);
        let length = self.spec_constant(spec_id);
        self.globals.argument_lengths.insert(id, length);
        let element = self.ty(var.element.unwrap_or(Type::Scalar(Scalar::I32)));
        let operands = vec![Operand::IdRef(element), Operand::IdRef(length)];
        let array = self.writer.global(Op::TypeArray, None, operands);
        let pointer = self.pointer_type(StorageClass::Workgroup, array);
        self.writer.global(Op::Variable, Some(pointer), vec![Operand::StorageClass(StorageClass::Workgroup)])
    }

    /// The number of elements of a local argument.
    pub(super) fn argument_length(&mut self, id: VarId) -> Word {
        self.module_variable(id);
        self.globals.argument_lengths[&id]
    }

    /// A pointer to the null-terminated format string in constant memory.
    pub(super) fn format_string(&mut self, format: &[u8]) -> Word {
        let byte = self.scalar(Scalar::I8);
        let parts: Vec<Operand> = format
            .iter()
            .chain(&[0])
            .map(|&it| self.constant(Type::I8, &Const::scalar(it.into())))
            .map(Operand::IdRef)
            .collect();
        let array = self.array_type(byte, parts.len() as u32);
        let init = self.writer.interned(Op::ConstantComposite, Some(array), parts);
        let pointer = self.pointer_type(StorageClass::UniformConstant, array);
        let operands = vec![Operand::StorageClass(StorageClass::UniformConstant), Operand::IdRef(init)];
        let variable = self.writer.global(Op::Variable, Some(pointer), operands);
        self.writer.decorate(variable, Decoration::Constant, []);
        variable
    }

    fn spec_constant(&mut self, spec_id: u32) -> Word {
        let ty = self.scalar(Scalar::I32);
        let word = self.writer.global(Op::SpecConstant, Some(ty), vec![Operand::LiteralBit32(1)]);
        self.writer.decorate(word, Decoration::SpecId, [Operand::LiteralBit32(spec_id)]);
        word
    }

    /// The work-group size as specialization constants.
    pub(super) fn local_size(&mut self) -> Word {
        if let Some(word) = self.globals.local_size {
            return word;
        }
        let parts = LOCAL_SIZE_IDS.map(|id| self.spec_constant(id)).map(Operand::IdRef);
        let ty = self.ty(Type::Vector(Scalar::I32, 3));
        let word = self.writer.global(Op::SpecConstantComposite, Some(ty), parts.to_vec());
        self.decorate_builtin(word, BuiltIn::WorkgroupSize);
        self.globals.local_size = Some(word);
        word
    }

    /// Whether the module contains the work-group size as constants.
    pub(super) fn has_local_size(&self) -> bool {
        self.globals.local_size.is_some()
    }

    fn work_dim(&mut self) -> Word {
        if let Some(word) = self.globals.work_dim {
            return word;
        }
        let word = self.spec_constant(WORK_DIM_ID);
        self.globals.work_dim = Some(word);
        word
    }

    /// Whether a kernel queries the number of dimensions.
    pub(super) fn uses_work_dim(&self) -> bool {
        self.globals.work_dim.is_some()
    }

    /// The built-in input variables of the module.
    pub(super) fn input_words(&self) -> FxHashSet<Word> {
        self.globals.inputs.values().copied().collect()
    }

    fn decorate_builtin(&mut self, word: Word, builtin: BuiltIn) {
        self.writer.decorate(word, Decoration::BuiltIn, [Operand::BuiltIn(builtin)]);
    }

    fn input_variable(&mut self, builtin: BuiltIn, ty: Type) -> Word {
        if let Some(&word) = self.globals.inputs.get(&(builtin as u32)) {
            return word;
        }
        let ty = self.ty(ty);
        let pointer = self.pointer_type(StorageClass::Input, ty);
        let operands = vec![Operand::StorageClass(StorageClass::Input)];
        let word = self.writer.global(Op::Variable, Some(pointer), operands);
        self.decorate_builtin(word, builtin);
        self.globals.inputs.insert(builtin as u32, word);
        word
    }

    /// A constant with these bits in every component.
    pub(super) fn splat(&mut self, ty: Type, bits: u64) -> Word {
        self.constant(ty, &Const::Bits(std::iter::repeat_n(bits, ty.count().into()).collect()))
    }
}

impl Body<'_, '_> {
    /// `Input`
    pub(super) fn input(&mut self, inst: &Inst, input: Input) {
        let (builtin, capability) = match input {
            Input::LocalSize => {
                let word = self.emitter.local_size();
                return self.define(inst.results[0], word);
            }
            Input::WorkDim => {
                let word = self.emitter.work_dim();
                return self.define(inst.results[0], word);
            }
            Input::LocalId => (BuiltIn::LocalInvocationId, None),
            Input::GroupId => (BuiltIn::WorkgroupId, None),
            Input::GlobalId => (BuiltIn::GlobalInvocationId, None),
            Input::LocalIndex => (BuiltIn::LocalInvocationIndex, None),
            Input::SubGroupSize => (BuiltIn::SubgroupSize, Some(Capability::GroupNonUniform)),
            Input::SubGroupId => (BuiltIn::SubgroupId, Some(Capability::GroupNonUniform)),
            Input::SubGroupLocalId => (BuiltIn::SubgroupLocalInvocationId, Some(Capability::GroupNonUniform)),
        };
        if let Some(capability) = capability {
            self.emitter.writer.require(capability);
        }
        let ty = self.type_of(inst.results[0]);
        self.load_input(inst, builtin, ty);
    }

    fn load_input(&mut self, inst: &Inst, builtin: BuiltIn, ty: Type) {
        let variable = self.emitter.input_variable(builtin, ty);
        self.interface.insert(variable);
        self.result(inst, Op::Load, vec![Operand::IdRef(variable)]);
    }

    /// `WorkItem`, which remains only in the OpenCL environment: a component of a built-in variable.
    pub(super) fn work_item(&mut self, inst: &Inst, query: WorkItem) {
        let (builtin, is_vector) = match query {
            WorkItem::WorkDim => (BuiltIn::WorkDim, false),
            WorkItem::GlobalSize => (BuiltIn::GlobalSize, true),
            WorkItem::GlobalId => (BuiltIn::GlobalInvocationId, true),
            WorkItem::LocalSize => (BuiltIn::WorkgroupSize, true),
            WorkItem::EnqueuedLocalSize => (BuiltIn::EnqueuedWorkgroupSize, true),
            WorkItem::LocalId => (BuiltIn::LocalInvocationId, true),
            WorkItem::NumGroups => (BuiltIn::NumWorkgroups, true),
            WorkItem::GroupId => (BuiltIn::WorkgroupId, true),
            WorkItem::GlobalOffset => (BuiltIn::GlobalOffset, true),
            WorkItem::GlobalLinearId => (BuiltIn::GlobalLinearId, false),
            WorkItem::LocalLinearId => (BuiltIn::LocalInvocationIndex, false),
            WorkItem::SubGroupSize => (BuiltIn::SubgroupSize, false),
            WorkItem::MaxSubGroupSize => (BuiltIn::SubgroupMaxSize, false),
            WorkItem::NumSubGroups => (BuiltIn::NumSubgroups, false),
            WorkItem::EnqueuedNumSubGroups => (BuiltIn::NumEnqueuedSubgroups, false),
            WorkItem::SubGroupId => (BuiltIn::SubgroupId, false),
            WorkItem::SubGroupLocalId => (BuiltIn::SubgroupLocalInvocationId, false),
        };
        if !is_vector {
            let ty = self.type_of(inst.results[0]);
            return self.load_input(inst, builtin, ty);
        }
        let ty = Type::Vector(Scalar::I64, 3);
        let variable = self.emitter.input_variable(builtin, ty);
        self.interface.insert(variable);
        let vector = self.op(Op::Load, ty, vec![Operand::IdRef(variable)]);
        // The result for a dimension beyond the third: 1 for sizes, 0 for ids (OpenCL C 6.15.1).
        let beyond = match query {
            WorkItem::GlobalSize
            | WorkItem::LocalSize
            | WorkItem::EnqueuedLocalSize
            | WorkItem::NumGroups => 1,
            _ => 0,
        };
        if let Some(known) = self.function.constant_bits(inst.args[0]) {
            if known < 3 {
                let operands = vec![Operand::IdRef(vector), Operand::LiteralBit32(known as u32)];
                return self.result(inst, Op::CompositeExtract, operands);
            }
            let word = self.emitter.splat(self.type_of(inst.results[0]), beyond);
            return self.define(inst.results[0], word);
        }
        let dimension = Operand::IdRef(self.value(inst.args[0]));
        let [limit, first] = [3, 0].map(|it| Operand::IdRef(self.emitter.splat(Type::I32, it)));
        let beyond = Operand::IdRef(self.emitter.splat(self.type_of(inst.results[0]), beyond));
        let is_real = Operand::IdRef(self.op(Op::ULessThan, Type::BOOL, vec![dimension.clone(), limit]));
        let dimension = self.op(Op::Select, Type::I32, vec![is_real.clone(), dimension, first]);
        let operands = vec![Operand::IdRef(vector), Operand::IdRef(dimension)];
        let found = self.op(Op::VectorExtractDynamic, self.type_of(inst.results[0]), operands);
        self.result(inst, Op::Select, vec![is_real, Operand::IdRef(found), beyond]);
    }
}

/// The size of a value in memory in bytes.
pub(super) fn size_of(ty: Type) -> u64 {
    match ty {
        Type::Vector(scalar, 3) => 4 * scalar.size(),
        _ => ty.size().unwrap_or(8),
    }
}
