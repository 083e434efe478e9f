//! Emits a function body: values, basic blocks, and the traversal of the IR's blocks.

use kiln_ir::{ArgumentKind, BlockId, FuncId, Function, Inst, InstId, Type, ValueDef, ValueId, Var, VarId};
use kiln_syntax::Span;
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::Linkage;
use rspirv::{
    dr::{self, Instruction, Operand},
    spirv::{Decoration, FunctionControl, FunctionParameterAttribute, Op, Word},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Emitter, control::Construct, elements::Elements};

/// A function under construction.
pub(super) struct Body<'e, 'm> {
    pub(super) emitter: &'e mut Emitter<'m>,
    pub(super) function: &'m Function,
    values: Vec<Word>,
    blocks: Vec<dr::Block>,
    /// Private variables. SPIR-V requires them at the start of the first block.
    variables: Vec<Instruction>,
    pub(super) variable_ids: FxHashMap<VarId, Word>,
    /// Addresses that are computed by access chains.
    pub(super) elements: Elements,
    /// The pointers visible at this point, by address and pointer type; and in the order of creation.
    pub(super) pointers: FxHashMap<(ValueId, Word), Word>,
    pub(super) pointer_log: Vec<(ValueId, Word)>,
    /// The loaded push constants, if a load is visible at this point.
    pub(super) push_constants: Option<Word>,
    /// The debug scope of the function.
    pub(super) debug_scope: Option<Word>,
    pub(super) constructs: FxHashMap<InstId, Construct>,
    /// Module variables that the body references. Entry points must list them.
    pub(super) interface: FxHashSet<Word>,
    is_terminated: bool,
}

impl<'m> Emitter<'m> {
    /// Assigns an id to a function, so that calls can refer to it.
    pub(super) fn declare_function(&mut self, id: FuncId) {
        let word = self.writer.id();
        self.globals.functions.insert(id, word);
    }

    /// The parameter types of a function, and its struct parameters in memory: index, type and alignment.
    fn parameter_types(
        &mut self,
        function: &Function,
        objects: &[Option<&Var>],
    ) -> (Vec<Word>, Vec<(usize, Word, u64)>) {
        let type_of = |(&param, object): (&ValueId, &Option<&Var>)| match object {
            Some(var) => self.variable_type(var).0,
            None => self.ty(function.values[param].ty),
        };
        let mut types: Vec<Word> = function.params().iter().zip(objects).map(type_of).collect();
        let mut copies = Vec::new();
        if !self.is_vulkan() {
            let arguments = function.kernel.as_ref().map_or(&[][..], |kernel| &kernel.arguments[..]);
            for (index, argument) in arguments.iter().enumerate() {
                if let ArgumentKind::Aggregate { size, align } = argument.kind {
                    copies.push((index, types[index], align));
                    types[index] = self.aggregate_pointer(size, align);
                }
            }
        }
        (types, copies)
    }

    /// Emits a function.
    pub(super) fn function(&mut self, id: FuncId) {
        let module = self.module;
        let function = &module.functions[id];
        let objects = parameter_objects(function);
        let (types, copies) = self.parameter_types(function, &objects);
        let result = function.result.map(|ty| self.ty(ty)).unwrap_or_else(|| self.void());
        let mut signature = vec![Operand::IdRef(result)];
        signature.extend(types.iter().copied().map(Operand::IdRef));
        let signature = self.writer.interned(Op::TypeFunction, None, signature);

        let word = self.globals.functions[&id];
        // Kernels are named by their entry points.
        if function.kernel.is_none() || !self.is_vulkan() {
            self.writer.name(word, &function.name);
        }
        let debug_scope = self.debug_function(id);
        let mut body = Body {
            emitter: self,
            function,
            values: vec![0; function.values.len()],
            blocks: Vec::new(),
            variables: Vec::new(),
            variable_ids: FxHashMap::default(),
            elements: Elements::default(),
            pointers: FxHashMap::default(),
            pointer_log: Vec::new(),
            push_constants: None,
            debug_scope,
            constructs: FxHashMap::default(),
            interface: FxHashSet::default(),
            is_terminated: true,
        };
        let parameters = body.emit_parameters(&types, &objects);
        if body.is_vulkan() {
            body.elements = body.emitter.elements.remove(&id).unwrap_or_default();
        }
        if function.linkage != Linkage::Imported {
            body.start_block();
            body.keep_variables();
            for (index, pointer, align) in copies {
                body.aggregate_parameter(function.params()[index], pointer, align);
            }
            body.block(function.body);
        }
        let head = body.debug_head(word);
        let Body { mut blocks, variables, interface, .. } = body;
        if let Some(first) = blocks.first_mut() {
            first.instructions.splice(0..0, variables.into_iter().chain(head));
        }
        self.globals.interfaces.insert(id, interface);
        self.linkage(word, &function.name, function.linkage);
        let operands = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(signature)];
        self.writer.module.functions.push(dr::Function {
            def: Some(Instruction::new(Op::Function, Some(result), Some(word), operands)),
            end: Some(Instruction::new(Op::FunctionEnd, None, None, Vec::new())),
            parameters,
            blocks,
        });
    }
}

/// The objects that the parameters of a function refer to, by the number of the parameter.
fn parameter_objects(function: &Function) -> Vec<Option<&Var>> {
    let mut objects = vec![None; function.params().len()];
    for var in function.vars.iter() {
        if let Some(number) = var.parameter {
            objects[number as usize] = Some(var);
        }
    }
    objects
}

impl<'m> Body<'_, 'm> {
    /// Creates the parameters, with names and decorations.
    fn emit_parameters(&mut self, types: &[Word], objects: &[Option<&Var>]) -> Vec<Instruction> {
        let function = self.function;
        let arguments = function.kernel.as_ref().map_or(&[][..], |kernel| &kernel.arguments[..]);
        let mut parameters = Vec::new();
        for (index, (&param, &ty)) in function.params().iter().zip(types).enumerate() {
            let word = self.emitter.writer.id();
            if let Some(argument) = arguments.get(index) {
                self.emitter.writer.name(word, &argument.name);
            }
            self.values[param.index()] = word;
            // Two parameters may refer to the same object of the caller.
            if objects[index].is_some() && types.iter().filter(|&&other| other == ty).count() > 1 {
                self.emitter.writer.decorate(word, Decoration::Aliased, []);
            }
            parameters.push(Instruction::new(Op::FunctionParameter, Some(ty), Some(word), Vec::new()));
        }
        parameters
    }

    /// A struct that is passed by value is a pointer to a copy (OpenCL SPIR-V Environment 2.5).
    fn aggregate_parameter(&mut self, param: ValueId, pointer: Word, align: u64) {
        let word = self.values[param.index()];
        let by_value = Operand::FunctionParameterAttribute(FunctionParameterAttribute::ByVal);
        self.emitter.writer.decorate(word, Decoration::FuncParamAttr, [by_value]);
        self.emitter.writer.decorate(word, Decoration::Alignment, [Operand::LiteralBit32(align as u32)]);
        self.values[param.index()] = self.typed(Op::Bitcast, pointer, vec![Operand::IdRef(word)]);
    }

    /// Emits the instructions of an IR block into the current basic block and those that follow it.
    pub(super) fn block(&mut self, block: BlockId) {
        let function = self.function;
        self.in_scope(|this| this.instructions(&function.blocks[block].insts));
    }

    /// Emits code in a nested scope: pointers created and push constants loaded in it are not visible after it.
    pub(super) fn in_scope(&mut self, emit: impl FnOnce(&mut Self)) {
        let (visible, push_constants) = (self.pointer_log.len(), self.push_constants);
        emit(self);
        self.push_constants = push_constants;
        for key in self.pointer_log.drain(visible..) {
            self.pointers.remove(&key);
        }
    }

    /// Emits instructions, up to a terminator.
    pub(super) fn instructions(&mut self, insts: &[InstId]) {
        let function = self.function;
        for &inst in insts {
            if self.is_terminated {
                return;
            }
            if !self.elements.is_implied(inst) {
                self.emit_line(function.insts[inst].span);
                self.instruction(inst, &function.insts[inst]);
            }
        }
    }

    /// Emits `OpLine` if the line has changed in this basic block.
    fn emit_line(&mut self, span: Span) {
        let Some(position) = self.emitter.positions.and_then(|positions| positions(span)) else { return };
        let file = self.emitter.writer.string(&position.0);
        let operands =
            vec![Operand::IdRef(file), Operand::LiteralBit32(position.1), Operand::LiteralBit32(position.2)];
        let line = self.emitter.writer.instruction(Op::Line, None, None, operands);
        let instructions = self.blocks.last().map_or(&[][..], |block| &block.instructions);
        let last = instructions.iter().rev().find(|inst| inst.class.opcode == Op::Line);
        if last != Some(&line) {
            let is_first = last.is_none();
            self.push(line);
            self.debug_line(&position, is_first);
        }
    }

    /// Whether the module is for Vulkan.
    pub(super) fn is_vulkan(&self) -> bool {
        self.emitter.is_vulkan()
    }

    /// The id of a value.
    pub(super) fn value(&mut self, value: ValueId) -> Word {
        let known = self.values[value.index()];
        if known != 0 {
            return known;
        }
        let function = self.function;
        let data = &function.values[value];
        let ValueDef::Const(constant) = &data.def else {
            unreachable!("the IR verifier rejects a use of a value that is not visible")
        };
        let word = self.emitter.constant(data.ty, constant);
        self.values[value.index()] = word;
        word
    }

    /// The type of a value.
    pub(super) fn type_of(&self, value: ValueId) -> Type {
        self.function.values[value].ty
    }

    /// Sets the id of a value.
    pub(super) fn define(&mut self, value: ValueId, word: Word) {
        self.values[value.index()] = word;
    }

    /// Emits an operation for the instruction's only result.
    pub(super) fn result(&mut self, inst: &Inst, op: Op, operands: Vec<Operand>) {
        let result = inst.results[0];
        let ty = self.type_of(result);
        let word = self.op(op, ty, operands);
        self.define(result, word);
    }

    /// Emits an operation with the instruction's arguments.
    pub(super) fn plain(&mut self, inst: &Inst, op: Op) {
        let operands = inst.args.iter().map(|&arg| Operand::IdRef(self.value(arg))).collect();
        self.result(inst, op, operands);
    }

    /// Emits an operation with a result of this type.
    pub(super) fn op(&mut self, op: Op, ty: Type, operands: Vec<Operand>) -> Word {
        let ty = self.emitter.ty(ty);
        self.typed(op, ty, operands)
    }

    /// Emits an operation with a result type given by id.
    pub(super) fn typed(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let word = self.emitter.writer.id();
        let instruction = self.emitter.writer.instruction(op, Some(ty), Some(word), operands);
        self.push(instruction);
        word
    }

    /// Emits an operation without a result.
    pub(super) fn effect(&mut self, op: Op, operands: Vec<Operand>) {
        let instruction = self.emitter.writer.instruction(op, None, None, operands);
        self.push(instruction);
    }

    /// Emits the terminator of the current basic block.
    pub(super) fn terminate(&mut self, op: Op, operands: Vec<Operand>) {
        self.effect(op, operands);
        self.is_terminated = true;
    }

    /// Completes a phi when its predecessors are known. Its basic block, which has this number, may be finished.
    pub(super) fn patch(&mut self, number: usize, phi: Word, operands: Vec<Operand>) {
        let block = self.blocks.get_mut(number);
        let found =
            block.and_then(|block| block.instructions.iter_mut().find(|inst| inst.result_id == Some(phi)));
        if let Some(inst) = found {
            inst.operands.extend(operands);
        }
    }

    /// Appends an instruction to the current basic block.
    pub(super) fn push(&mut self, instruction: Instruction) {
        debug_assert!(!self.is_terminated, "an instruction follows a terminator");
        if let Some(block) = self.blocks.last_mut() {
            block.instructions.push(instruction);
        }
    }

    /// Starts a basic block and returns its label.
    pub(super) fn start_block(&mut self) -> Word {
        let label = self.emitter.writer.id();
        self.start_labeled(label);
        label
    }

    /// Starts a basic block whose label has already been referenced.
    pub(super) fn start_labeled(&mut self, label: Word) {
        let label = Some(self.emitter.writer.instruction(Op::Label, None, Some(label), Vec::new()));
        self.blocks.push(dr::Block { label, instructions: Vec::new() });
        self.is_terminated = false;
    }

    /// The number of the current basic block.
    pub(super) fn block_number(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// The label of the current basic block.
    pub(super) fn current(&self) -> Word {
        self.blocks.last().map_or(0, label_of)
    }

    /// Emits all variables of the source, in their order, if a debugger needs them.
    fn keep_variables(&mut self) {
        if self.emitter.keeps_variables {
            let function = self.function;
            for (var, data) in function.vars.entries().filter(|(_, data)| !data.name.is_empty()) {
                if data.parameter.is_none() {
                    self.private_variable(var);
                }
            }
        }
    }

    /// The pointer to a private variable.
    pub(super) fn private_variable(&mut self, var: VarId) -> Word {
        if let Some(&word) = self.variable_ids.get(&var) {
            return word;
        }
        let data = &self.function.vars[var];
        if let Some(number) = data.parameter {
            return self.values[self.function.params()[number as usize].index()];
        }
        let (pointer, class, _) = self.emitter.variable_type(data);
        let word = self.emitter.writer.id();
        self.emitter.writer.name(word, &data.name);
        self.emitter.alignment(word, data);
        let mut operands = vec![Operand::StorageClass(class)];
        if data.init.is_some() {
            operands.push(Operand::IdRef(self.emitter.null_object(data)));
        }
        self.variables.push(Instruction::new(Op::Variable, Some(pointer), Some(word), operands));
        self.variable_ids.insert(var, word);
        word
    }
}

fn label_of(block: &dr::Block) -> Word {
    block.label.as_ref().and_then(|label| label.result_id).unwrap_or_default()
}
